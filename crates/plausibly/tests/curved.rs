//! Models on a curved scale: the bounds of `docs/concepts/yes-no.md` on the good event, and
//! mistakes that they must notice. The true parameter is put on the edge of the set, so bounds are
//! tried where they are tightest.

use plausibly::{
    ActionSet, Code, ConfidenceRadius, Curved, Estimator, Evidence, Exclusion, Explain,
    Explanation, Glm, GlmPrior, Likelihood, Link, Plausible, Policy, Reach, RowSums, Scores,
    Standing, Stream, Tally, Target,
};

/// A set of its own in the place of the model's.
#[derive(Clone, Copy, Debug)]
struct Just(Curved);

impl ConfidenceRadius for Just {
    fn sqrt_beta(&self, _: &Evidence) -> f64 {
        self.0.radius
    }

    fn reach(&self, _: &Evidence) -> Reach {
        Reach::Curved(self.0)
    }
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

/// A model at a refit of a run, and a true parameter on the edge of an ellipsoid of its shape.
struct Case {
    rows: Vec<Vec<f64>>,
    set: ActionSet,
    model: Glm,
    curved: Curved,
    theta_star: Vec<f64>,
}

/// The model of one run after each of its refits, played by CODE at this greed, with radii that are
/// those of the set and smaller ones.
fn cases(run: u64, link: Link) -> Vec<Case> {
    let rng = &mut Stream::new(81, run, link.name());
    let dim = 1 + rng.index(3);
    let rows: Vec<Vec<f64>> = (0..2 + rng.index(9))
        .map(|_| (0..dim).map(|_| 2.0 * rng.uniform() - 1.0).collect())
        .collect();
    let set = ActionSet::from_rows(&rows).unwrap();
    let usual = if link == Link::Logistic { [0.02, 0.2, 0.5][rng.index(3)] } else { 0.7 };
    let factor = [3.0, 20.0][rng.index(2)];
    let prior =
        GlmPrior::around(link, link.reward_range(), usual, factor, (dim, 1.0), 0.05).unwrap();
    let greed = [0.0, 0.3, 1.0][rng.index(3)];
    let model = Glm::new(dim, prior).unwrap();
    let mut code = Code::new(model.clone(), Likelihood::default()).tempered(greed).unwrap();
    let (mut model, mut cases) = (model, Vec::new());
    let truth: Vec<f64> = (0..dim).map(|_| rng.normal()).collect();
    for round in 0..120 {
        let chosen = code.select(set.view(), rng);
        let mean = link.mean(prior.offset + dot(&rows[chosen], &truth).clamp(-2.0, 2.0));
        let reward = match link {
            Link::Logistic => f64::from(u8::from(rng.uniform() < mean)),
            Link::Poisson => rng.poisson(mean) as f64,
        };
        code.update(set.view().get(chosen), reward);
        model.update(set.view().get(chosen), reward);
        let reach = Likelihood::default().reach(&model.evidence());
        let (Reach::Curved(curved), true) = (reach, round % 6 == 0) else { continue };
        let direction: Vec<f64> = (0..dim).map(|_| rng.normal()).collect();
        let share = [0.05, 0.3, 1.0][rng.index(3)];
        let at = |scale: f64| -> Vec<f64> {
            model.theta_hat().iter().zip(&direction).map(|(c, by)| c + scale * by).collect()
        };
        let theta_star = at(share * curved.radius / model.deviation(&at(1.0)));
        // Just outside of the truth in doubles.
        let curved = Curved { radius: model.deviation(&theta_star) * (1.0 + 1e-9), ..curved };
        cases.push(Case {
            rows: rows.clone(),
            set: set.clone(),
            model: model.clone(),
            curved,
            theta_star,
        });
    }
    cases
}

/// What is known of the actions of a round.
pub(crate) struct Round {
    scores: Scores,
    plausible: Plausible,
    left: Vec<usize>,
    /// `v_a` and `ω_a`.
    v: Vec<f64>,
    omega: Vec<f64>,
    truth: Vec<f64>,
    best: f64,
}

impl Case {
    fn round(&self, exclusion: Exclusion) -> Round {
        Round::of(&self.model, &self.set, self.curved, &self.theta_star, exclusion)
    }
}

impl Round {
    /// The round that follows where this set is in force.
    pub(crate) fn of(
        model: &Glm,
        set: &ActionSet,
        curved: Curved,
        theta_star: &[f64],
        exclusion: Exclusion,
    ) -> Self {
        let scores = crate::scores(model, set.view());
        let mut plausible = Plausible::new();
        plausible.assess_by(exclusion, model, set.view(), &scores, Reach::Curved(curved));
        let truth: Vec<f64> = set
            .view()
            .iter()
            .map(|action| curved.mean(dot(action.features(), theta_star)))
            .collect();
        Self {
            left: (0..truth.len()).filter(|a| plausible.contains(*a)).collect(),
            v: scores.mean().iter().map(|moved| curved.variance(*moved)).collect(),
            omega: scores.width_sq().iter().map(|sq| curved.radius * sq.sqrt()).collect(),
            best: truth.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            truth,
            scores,
            plausible,
        }
    }

    /// Asserts the theorem for the choice of CODE at four greeds: its regret, and the widths of all
    /// plausible actions. Returns the largest regret, in `w'_A/(1 + c)`; the theorem allows 4.
    pub(crate) fn assert_theorem(&self) -> f64 {
        let slack = 1e-9 * (1.0 + self.best);
        let mut most = 0.0_f64;
        for greed in [0.0, 0.3, 0.7, 1.0] {
            let taken = if greed == 0.0 {
                self.plausible.widest(&self.scores)
            } else {
                self.plausible.tempered(&self.scores, greed)
            };
            let width = self.score_width(greed, taken);
            let bound = 4.0 / (1.0 + greed) * width;
            assert!(self.regret(taken) <= bound * ROUNDING + slack, "greed {greed}");
            if width > 1e-6 {
                most = most.max(self.regret(taken) * (1.0 + greed) / width);
            }
            for &a in &self.left {
                let own = self.score_width(greed, a);
                assert!(self.half(a) <= own * ROUNDING + 1e-12);
                assert!((1.0 - greed) * own <= (1.0 + greed) * width * ROUNDING + 1e-12, "{greed}");
                if greed == 0.0 {
                    let estimate = self.plausible.interval(&self.scores, a).mean;
                    let error = (estimate - self.truth[a]).abs();
                    assert!(error <= width * ROUNDING + slack);
                }
            }
        }
        most
    }

    fn most(&self, value: impl Fn(usize) -> f64) -> f64 {
        self.left.iter().map(|a| value(*a)).fold(0.0, f64::max)
    }

    fn half(&self, action: usize) -> f64 {
        self.plausible.half_widths()[action]
    }

    fn middle(&self, action: usize) -> f64 {
        let interval = self.plausible.interval(&self.scores, action);
        0.5 * (interval.lower + interval.upper)
    }

    /// `w'` at a greed: the score width of the theorem.
    fn score_width(&self, greed: f64, action: usize) -> f64 {
        let steepest = self.most(|a| self.v[a]);
        let by_gain = (steepest * self.v[action]).sqrt() * self.omega[action];
        if greed == 0.0 {
            self.most(|a| self.omega[a]).exp() * by_gain
        } else if greed < 1.0 {
            self.half(action).max(by_gain)
        } else {
            self.half(action)
        }
    }

    /// The regret of an action.
    fn regret(&self, action: usize) -> f64 {
        self.best - self.truth[action]
    }
}

/// What was seen over all cases.
#[derive(Debug, Default)]
struct Seen {
    rounds: u64,
    ruled_out: u64,
    /// The largest regret at a greed above 0, in `w'_A/(1 + c)`.
    regret: f64,
    /// Rounds that would break a bound if a mistake were made.
    best_lost: u64,
    too_wide: u64,
}

/// Slack for rounding, relative to what is compared.
const ROUNDING: f64 = 1.0 + 1e-7;

fn assert_round(case: &Case, exclusion: Exclusion, seen: &mut Seen) {
    let round = case.round(exclusion);
    let Round { left, v, omega, truth, .. } = &round;
    seen.rounds += 1;
    for &a in left {
        let interval = round.plausible.interval(&round.scores, a);
        let slack = 1e-9 * (1.0 + truth[a]);
        assert!(interval.lower <= truth[a] + slack && truth[a] <= interval.upper + slack);
        for &b in left {
            let other = round.plausible.interval(&round.scores, b);
            assert!(interval.lower <= other.upper + slack, "intervals overlap");
        }
        // (3), and the error of an estimate.
        assert!(round.half(a) <= v[a] * omega[a].sinh() * ROUNDING + 1e-12);
        let error = (interval.mean - truth[a]).abs();
        assert!(error <= v[a] * omega[a].exp_m1() * ROUNDING + slack);
        assert!(error <= 2.0 * round.half(a) * ROUNDING + slack);
    }
    assert!(left.iter().any(|a| round.regret(*a) <= 0.0), "a best action is plausible");
    seen.regret = seen.regret.max(round.assert_theorem());
    assert_mistakes(&round, seen);
    assert_verdicts(case, exclusion, &round, seen);
}

/// Counts the rounds in which mistakes would break a bound.
fn assert_mistakes(round: &Round, seen: &mut Seen) {
    let all = || 0..round.truth.len();
    let lower = |a: usize| round.plausible.interval(&round.scores, a).lower;
    let best_lower = all().map(lower).fold(f64::NEG_INFINITY, f64::max);
    // Plausible if the middle of the interval, and not its end, is above the best lower bound.
    let lost = all().filter(|a| round.regret(*a) <= 0.0).all(|a| round.middle(a) <= best_lower);
    seen.best_lost += u64::from(lost);
    // The widest in `z`, with the score width of the gain.
    let wider = |best: usize, next: &usize| {
        if round.omega[*next] > round.omega[best] { *next } else { best }
    };
    let taken = round.left[1..].iter().fold(round.left[0], wider);
    let width = round.score_width(0.0, taken) * ROUNDING;
    seen.too_wide += u64::from(round.left.iter().any(|a| round.score_width(0.0, *a) > width));
}

fn assert_verdicts(case: &Case, exclusion: Exclusion, round: &Round, seen: &mut Seen) {
    let radius = Just(case.curved);
    let (code, mut shown) = (Code::new(case.model.clone(), radius), Explanation::new());
    code.explain(case.set.view(), &radius, exclusion, &mut shown);
    for (action, standing) in shown.standings().iter().enumerate() {
        let Standing::RuledOut { by, margin, at_most } = *standing else { continue };
        seen.ruled_out += 1;
        let ahead = round.truth[by] - round.truth[action];
        let slack = 1e-9 * (1.0 + round.best);
        assert!(margin >= 0.0 && margin <= ahead + slack && ahead <= at_most + slack);
        assert!(round.truth[action] < round.best);
    }
}

/// `V_all⁻¹`: that of the set, with these actions added by rank-one steps.
fn with_pending(case: &Case, pending: &[usize]) -> Vec<Vec<f64>> {
    let dim = case.model.dim();
    let unit = |i: usize, j: usize| {
        let mut row = vec![0.0; dim];
        (row[i], row[j]) = (1.0, 1.0);
        row
    };
    let rows: Vec<Vec<f64>> = (0..dim * dim).map(|at| unit(at / dim, at % dim)).collect();
    let scores = crate::scores(&case.model, ActionSet::from_rows(&rows).unwrap().view());
    let square = |i: usize, j: usize| scores.width_sq()[i * dim + j];
    let entry = |i: usize, j: usize| {
        if i == j { square(i, i) } else { 0.5 * (square(i, j) - square(i, i) - square(j, j)) }
    };
    let mut inverse: Vec<Vec<f64>> =
        (0..dim).map(|i| (0..dim).map(|j| entry(i, j)).collect()).collect();
    for action in pending {
        let row = &case.rows[*action];
        let weight = case.curved.variance(dot(row, case.model.theta_hat()));
        let product: Vec<f64> = inverse.iter().map(|line| dot(line, row)).collect();
        let scale = weight / (1.0 + weight * dot(row, &product));
        for (line, left) in inverse.iter_mut().zip(&product) {
            line.iter_mut().zip(&product).for_each(|(entry, right)| *entry -= scale * left * right);
        }
    }
    inverse
}

/// What pending decisions did over all cases.
#[derive(Debug, Default)]
struct SeenPending {
    rounds: u64,
    /// Rounds of a target that did not explore.
    met: u64,
    /// Rounds in which the bounds would break without `ϱ`.
    unaware: u64,
    /// Rounds in which a target would be judged otherwise by rewards alone.
    miscounted: u64,
}

/// The bounds of a round with pending decisions.
fn assert_pending(case: &Case, rng: &mut Stream, seen: &mut SeenPending) {
    let round = case.round(Exclusion::Differences);
    let pending: Vec<usize> = (0..=rng.index(60)).map(|_| rng.index(case.rows.len())).collect();
    let inverse = with_pending(case, &pending);
    let counted = |a: usize| {
        let row = &case.rows[a];
        let product: Vec<f64> = inverse.iter().map(|line| dot(line, row)).collect();
        case.curved.radius * dot(row, &product).max(0.0).sqrt()
    };
    let u: Vec<f64> = (0..case.rows.len()).map(counted).collect();
    let omega = &round.omega;
    let inflation = round.most(|a| if omega[a] > 0.0 { omega[a] / u[a] } else { 1.0 }).max(1.0);
    let shorter = |a: usize| if omega[a] > 0.0 { u[a] / omega[a] } else { 1.0 };
    let choice = |code: Code<Glm, Just>| {
        let mut code = code;
        for action in &pending {
            code.decided(case.set.view().get(*action));
        }
        code.select(case.set.view(), &mut Stream::new(0, 0, "unused"))
    };
    let code = || Code::new(case.model.clone(), Just(case.curved));
    let slack = 1e-9 * (1.0 + round.best);
    for greed in [0.0, 0.3, 0.7, 1.0] {
        let taken = choice(code().tempered(greed).unwrap());
        // By the design, every part of a score width is shorter by the same share.
        let width = |a: usize| round.score_width(greed, a) * shorter(a);
        let capped = (greed * inflation).min(1.0);
        let bound = 4.0 * inflation / (1.0 + capped) * width(taken);
        assert!(round.regret(taken) <= bound * ROUNDING + slack, "greed {greed}");
        let wider = |factor: f64, capped: f64| {
            let most = factor * (1.0 + capped) * width(taken) * ROUNDING + 1e-12;
            round.left.iter().any(|a| (1.0 - capped) * round.half(*a) > most)
        };
        assert!(!wider(inflation, capped), "greed {greed}");
        seen.unaware += u64::from(wider(1.0, greed));
        seen.rounds += 1;
    }
    let rewards = case.model.evidence().observations as f64;
    let (dim, rounds) = (case.model.dim() as f64, rewards + pending.len() as f64 + 1.0);
    let gain = round.most(|a| round.v[a] * (u[a] / case.curved.radius).powi(2));
    let kappa = gain * rounds / dim * (0.3 + 1.5 * rng.uniform());
    let (wanted, by_rewards) = (kappa * dim / rounds, kappa * dim / (rewards + 1.0));
    seen.miscounted += u64::from(gain > wanted && gain <= by_rewards);
    let taken = choice(code().to_target(Target::Kappa(kappa)).unwrap());
    if gain > wanted {
        let gain_of = |a: usize| round.v[a] * u[a] * u[a];
        assert!(gain_of(taken) * ROUNDING >= round.most(gain_of), "it explores");
        return;
    }
    let widest = round.most(|a| omega[a]);
    let ratio = if widest > 0.0 { widest.sinh() / widest } else { 1.0 };
    let most = inflation * round.most(|a| round.v[a]).sqrt() * ratio;
    let most = most * case.curved.radius * wanted.sqrt() * ROUNDING + 1e-12;
    assert!(round.left.iter().all(|a| round.half(*a) <= most), "known as the target says");
    assert!(round.regret(taken) <= 4.0 * most + slack);
    seen.met += 1;
}

#[test]
fn a_round_with_pending_decisions_keeps_every_bound() {
    let (mut seen, mut rng) = (SeenPending::default(), Stream::new(82, 0, "pending"));
    for run in 0..100 {
        for link in [Link::Logistic, Link::Poisson] {
            for case in cases(run, link) {
                assert_pending(&case, &mut rng, &mut seen);
            }
        }
    }
    assert!(seen.rounds > 5_000 && seen.met > 500, "{seen:?}");
    // Mistakes: decisions that shrink widths without a price; a target judged by rewards alone.
    assert!(seen.unaware > 10 && seen.miscounted > 100, "{seen:?}");
}

#[test]
fn a_round_keeps_every_bound_and_mistakes_do_not() {
    let mut seen = Seen::default();
    for run in 0..150 {
        for link in [Link::Logistic, Link::Poisson] {
            for case in cases(run, link) {
                for exclusion in [Exclusion::Differences, Exclusion::Intervals] {
                    assert_round(&case, exclusion, &mut seen);
                }
            }
        }
    }
    assert!(seen.rounds > 5_000 && seen.ruled_out > 1_000, "{seen:?}");
    // Half of the constant would be too small.
    assert!(seen.regret > 2.0, "{seen:?}");
    assert!(seen.best_lost > 10 && seen.too_wide > 10, "{seen:?}");
}

/// The `p` at which `n·kl(share, p)` reaches a level, on the side of `end`.
fn kl_end(share: f64, n: f64, level: f64, end: f64) -> f64 {
    let spent = |p: f64| {
        let part = |a: f64, b: f64| if a > 0.0 { a * (a / b).ln() } else { 0.0 };
        n * (part(share, p) + part(1.0 - share, 1.0 - p))
    };
    let (mut inside, mut outside) = (share, end);
    for _ in 0..200 {
        let middle = 0.5 * (inside + outside);
        if spent(middle) <= level { inside = middle } else { outside = middle }
    }
    inside
}

/// The intervals of three actions that share nothing, with this number of rewards each, beside
/// those by relative entropy with the same budget: the largest quotient of lengths, and that of the
/// budget by `½·log det(H̃/λ) + d/2 + log(1/δ)`.
fn beside_relative_entropy(count: u64) -> (f64, f64) {
    let shares = [0.01, 0.2, 0.7];
    let rows = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let link = Link::Logistic;
    let prior = GlmPrior::around(link, (0.0, 1.0), 0.2, 40.0, (3, 1.0), 0.05).unwrap();
    let mut sums = RowSums::new(3);
    for (row, share) in rows.iter().zip(shares) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole")]
        let yes = (share * count as f64).round() as u64;
        sums.add(row, &Tally::yes_no(yes, count, 0.0, 1.0).unwrap()).unwrap();
    }
    let model = Glm::from_rows(sums, prior).unwrap();
    let evidence = model.evidence();
    let Reach::Curved(curved) = Likelihood::default().reach(&evidence) else { panic!() };
    let scores = crate::scores(&model, ActionSet::from_rows(&rows).unwrap().view());
    let budget = model.budget().total();
    let longer = shares.iter().enumerate().map(|(action, share)| {
        let (low, high) = curved.interval(scores.mean()[action], scores.width_sq()[action]);
        let end = |end: f64| kl_end(*share, count as f64, budget, end);
        let (from, to) = (end(0.0), end(1.0));
        // The prior moves estimates to the usual rate, by less than a hundredth of a length.
        let slack = 0.01 * (to - from);
        assert!(low <= from + slack && to <= high + slack, "{low} {from} {to} {high}");
        (high - low) / (to - from)
    });
    let plain = 0.5 * evidence.log_det_ratio() + 1.5 - 0.05_f64.ln();
    (longer.fold(0.0, f64::max), budget / plain)
}

#[test]
fn many_rewards_give_intervals_by_relative_entropy_and_the_budget_of_a_linear_model() {
    let quotients = [1_000, 100_000, 10_000_000].map(beside_relative_entropy);
    assert!(quotients.is_sorted_by(|a, b| a.0 > b.0), "{quotients:?}");
    let (longer, budget) = quotients[2];
    assert!((1.0..1.01).contains(&longer) && (budget - 1.0).abs() < 0.01, "{quotients:?}");
}
