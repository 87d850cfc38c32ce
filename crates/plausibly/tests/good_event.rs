//! Bounded arms and pairs: the bounds of `docs/concepts/verdicts.md`, on a good event that is
//! computed here from every single reward, and mistakes that they must notice.

use plausibly::{
    ActionSet, ArmMeans, Bounds, ConfidenceRadius, Earnings, Estimator, Evidence, Exclusion,
    Interval, PairRule, Plausible, Reach, Ridge, Stream, Tabled, TwoPoint,
};

const ACTIONS: usize = 4;
/// Rewards lie between this and its negative.
const LOW: f64 = -0.5;
const CASES: u64 = 1_500;

/// The rewards of each action, and the true means.
struct History {
    set: ActionSet,
    rewards: Vec<Vec<f64>>,
    truth: Vec<f64>,
    theta_star: Vec<f64>,
}

/// What the rewards would need to be at the edge of the good event.
#[derive(Clone, Copy)]
struct Edge {
    /// The largest evidence against a true mean, in nats.
    alone: f64,
    /// The largest evidence that the worse of two actions is the better one.
    pair: f64,
}

/// `log Σ ω·Π(1 − c + c·y/m)` for rewards scaled to [0, 1]: the fortune itself, where the library
/// has a bound on it.
fn log_fortune(rewards: &[f64], mean: f64) -> f64 {
    let log = |j: i32| {
        let odds = (0.5 * f64::from(j)).exp2();
        let weight: f64 = if j >= -18 { 0.9 / 29.0 } else { 0.1 / 26.0 };
        let factor = |y: &f64| ((1.0 + odds * y / mean) / (1.0 + odds)).ln();
        weight.ln() + rewards.iter().map(factor).sum::<f64>()
    };
    let logs: Vec<f64> = (-44..=10).map(log).collect();
    let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    largest + logs.iter().map(|log| (log - largest).exp()).sum::<f64>().ln()
}

impl History {
    /// True means are those of a linear rule; rewards have means of their own, so the truth is far
    /// out in the set that just holds it.
    fn new(number: u64) -> Self {
        let rng = &mut Stream::new(20, number, "good event");
        let mut rows: Vec<Vec<f64>> =
            (0..ACTIONS).map(|_| vec![1.0, rng.normal(), rng.normal()]).collect();
        let length = |row: &Vec<f64>| row.iter().map(|x| x * x).sum::<f64>().sqrt();
        for row in &mut rows {
            let length = length(row);
            for x in row {
                *x /= length;
            }
        }
        // Rows have norm 1, so true means are within 0.44.
        let direction: Vec<f64> = (0..3).map(|_| rng.normal()).collect();
        let scale = 0.44 / length(&direction);
        let theta_star: Vec<f64> = direction.iter().map(|x| scale * x).collect();
        let linear = |row: &Vec<f64>| row.iter().zip(&theta_star).map(|(x, t)| x * t).sum::<f64>();
        let truth: Vec<f64> = rows.iter().map(linear).collect();
        let (style, shift) = (rng.index(3), 0.1 * rng.normal());
        let rewards = truth.iter().map(|mean| {
            let apparent = (mean - LOW + shift + 0.1 * rng.normal()).clamp(0.02, 0.98);
            let count = [2, 10, 40, 400][rng.index(4)];
            let scaled = |rng: &mut Stream| match style {
                0 => f64::from(u8::from(rng.uniform() < apparent)),
                1 => (apparent + 0.03 * rng.normal()).clamp(0.0, 1.0),
                _ => (apparent + 0.3 * rng.normal()).clamp(0.0, 1.0),
            };
            (0..count).map(|_| LOW + scaled(rng)).collect()
        });
        let rewards = rewards.collect();
        let set = ActionSet::from_rows(&rows).unwrap();
        Self { set, rewards, truth, theta_star }
    }

    /// The evidence that the true mean of each action is higher, and that it is lower.
    fn sides(&self) -> Vec<(f64, f64)> {
        let side = |a: usize, sign: f64| {
            let scaled: Vec<f64> = self.rewards[a].iter().map(|y| sign * y - LOW).collect();
            log_fortune(&scaled, sign * self.truth[a] - LOW)
        };
        (0..ACTIONS).map(|a| (side(a, 1.0), side(a, -1.0))).collect()
    }

    fn edge(&self) -> Edge {
        let sides = self.sides();
        let wrong = pairs().filter(|(a, b)| self.truth[*a] <= self.truth[*b]);
        Edge {
            alone: edge(sides.iter().map(|(up, down)| up.max(*down))),
            pair: edge(wrong.map(|(a, b)| sides[a].0 + sides[b].1)),
        }
    }

    fn earnings(&self, action: usize) -> Earnings {
        let rewards = &self.rewards[action];
        Earnings {
            count: rewards.len() as u64,
            total: rewards.iter().sum(),
            squares: rewards.iter().map(|y| y * y).sum(),
        }
    }

    fn taught<E: Estimator>(&self, mut model: E) -> E {
        for (action, rewards) in self.rewards.iter().enumerate() {
            for reward in rewards {
                model.update(self.set.view().get(action), *reward);
            }
        }
        model
    }

    fn best(&self) -> f64 {
        self.truth.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    }
}

/// Just above all of these. A verdict needs some evidence also where the truth is in the middle.
fn edge(evidence: impl Iterator<Item = f64>) -> f64 {
    evidence.fold(0.5, f64::max) + 1e-6
}

fn pairs() -> impl Iterator<Item = (usize, usize)> {
    (0..ACTIONS).flat_map(|a| (0..ACTIONS).map(move |b| (a, b))).filter(|(a, b)| a != b)
}

fn rule(edge: Edge) -> PairRule {
    PairRule::TwoPoint {
        low: LOW,
        range: 1.0,
        needed: edge.pair,
        aside: edge.alone,
        allowance: 0.0,
    }
}

/// Intervals of bounded arms that need this much evidence.
fn boxes(edge: Edge, evidence: &Evidence) -> Reach {
    let delta = 2.0 * ACTIONS as f64 * (-edge.alone).exp();
    TwoPoint { delta, low: LOW, high: -LOW, pairs: false }.reach(evidence)
}

/// What was seen over all cases.
#[derive(Debug, Default)]
struct Seen {
    /// Actions out by pairs alone.
    beaten: usize,
    /// The largest regret of the widest action, in its half-widths.
    regret: f64,
}

/// Asserts every bound of a round, with estimates at most `off` half-widths away from the truth.
fn assert_round(
    history: &History,
    plausible: &Plausible,
    scores: &plausibly::Scores,
    off: f64,
    seen: &mut Seen,
) {
    let left: Vec<usize> = (0..ACTIONS).filter(|a| plausible.contains(*a)).collect();
    let interval = |a: usize| plausible.interval(scores, a);
    let half = |a: usize| plausible.half_widths()[a];
    let regret = |a: usize| history.best() - history.truth[a];
    let truth = |a: usize| history.truth[a];
    let best = (0..ACTIONS).find(|a| regret(*a) <= 0.0).unwrap();
    assert!(left.contains(&best), "the best action is plausible");
    for &a in &left {
        let Interval { lower, upper, mean } = interval(a);
        assert!(lower <= truth(a) + 1e-9 && truth(a) <= upper + 1e-9, "on the good event");
        assert!((mean - truth(a)).abs() <= off * half(a) + 1e-9, "the error of an estimate");
        assert!(left.iter().all(|b| lower <= interval(*b).upper + 1e-9), "intervals overlap");
        assert!(regret(a) <= 2.0 * (half(a) + half(best)) + 1e-9, "any plausible action");
    }
    for greed in [0.0, 0.3, 0.7, 1.0] {
        let taken =
            if greed == 0.0 { plausible.widest(scores) } else { plausible.tempered(scores, greed) };
        assert!(regret(taken) <= 4.0 / (1.0 + greed) * half(taken) + 1e-9, "greed {greed}");
        let wider = |a: &usize| (1.0 - greed) * half(*a) > (1.0 + greed) * half(taken) + 1e-9;
        assert!(!left.iter().any(wider), "widths at greed {greed}");
        if greed == 0.0 {
            seen.regret = seen.regret.max(regret(taken) / half(taken));
        }
    }
}

/// How many pairs are decided the wrong way, each at the edge of its own good event.
fn wrong(changed: impl Fn(Edge) -> Edge) -> usize {
    let in_history = |history: History| {
        let sides = history.sides();
        let is_wrong = |(a, b): &(usize, usize)| {
            let (up, down) = (sides[*a].0, sides[*b].1);
            let at =
                Edge { alone: edge([up, down].into_iter()), pair: edge([up + down].into_iter()) };
            let [ahead, behind] = [*a, *b].map(|action| history.earnings(action));
            history.truth[*a] <= history.truth[*b]
                && rule(changed(at)).rules_out(ahead, behind).is_some()
        };
        pairs().filter(is_wrong).count()
    };
    (0..CASES).map(History::new).map(in_history).sum()
}

#[test]
fn bounded_arms_with_pairs_keep_every_bound_of_a_round() {
    let mut seen = Seen::default();
    for history in (0..CASES).map(History::new) {
        let edge = history.edge();
        let model = history.taught(ArmMeans::new(ACTIONS));
        let reach = boxes(edge, &model.evidence());
        let scores = crate::scores(&model, history.set.view());
        let (mut plausible, mut by_intervals) = (Plausible::new(), Plausible::new());
        let actions = history.set.view();
        let bounds = Bounds { reach, pairs: Some(rule(edge)) };
        plausible.assess_by(Exclusion::Differences, &model, actions, &scores, bounds);
        by_intervals.assess_by(Exclusion::Intervals, &model, actions, &scores, reach);
        // An average lies in its interval, so it is off by at most two half-widths.
        assert_round(&history, &plausible, &scores, 2.0, &mut seen);
        let by_pairs = |a: &usize| by_intervals.contains(*a) && !plausible.contains(*a);
        seen.beaten += (0..ACTIONS).filter(by_pairs).count();
    }
    // Mutant: half of the constant would be too small.
    assert!(seen.beaten > 100 && seen.regret > 2.0, "{seen:?}");
}

#[test]
fn small_tables_keep_every_bound_of_a_round() {
    let mut seen = Seen::default();
    for history in (0..CASES).map(History::new) {
        let model = history.taught(Tabled::new(Ridge::new(3, 0.5).unwrap(), ACTIONS));
        let sqrt_beta = model.deviation(&history.theta_star).max(1e-3);
        let reach = Reach::Ellipsoid { sqrt_beta };
        let edge = history.edge();
        let scores = crate::scores(&model, history.set.view());
        for exclusion in [Exclusion::Differences, Exclusion::Intervals] {
            let (mut plausible, mut alone) = (Plausible::new(), Plausible::new());
            let bounds = Bounds { reach, pairs: Some(rule(edge)) };
            plausible.assess_by(exclusion, &model, history.set.view(), &scores, bounds);
            alone.assess_by(exclusion, &model, history.set.view(), &scores, reach);
            assert_round(&history, &plausible, &scores, 1.0, &mut seen);
            let by_pairs = |a: &usize| alone.contains(*a) && !plausible.contains(*a);
            seen.beaten += (0..ACTIONS).filter(by_pairs).count();
        }
    }
    assert!(seen.beaten > 100 && seen.regret > 2.0, "{seen:?}");
}

#[test]
fn wrong_rules_for_pairs_are_noticed() {
    assert_eq!(wrong(|edge| edge), 0);
    // Half of the evidence.
    let half = wrong(|edge| Edge { pair: 0.5 * edge.pair, ..edge });
    assert!(half > 10, "{half}");
}
