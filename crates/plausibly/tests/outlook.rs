//! Outlooks: how many outcomes until the first action is out, forecast from the outcomes so far.

use plausibly::spec::{Facts, PolicyKind, PolicySpec, RadiusKind, RadiusSpec, Setting};
use plausibly::{
    ActionSet, Additive, ArmMeans, Code, ConfidenceRadius, Estimator, Exclusion, Explain,
    Explanation, Ridge, Stream, TwoPoint,
};

/// A run: how many outcomes it took until the first action was out, and what outlooks said before.
struct Run {
    first_out: u64,
    /// Outcomes so far, and the forecast of all of them.
    told: Vec<(u64, Option<f64>)>,
}

impl Run {
    /// The forecast at a third of the way, divided by the truth.
    fn ratio(&self) -> Option<f64> {
        let third = self.first_out / 3;
        let (_, told) = self.told.iter().rev().find(|(outcomes, _)| *outcomes <= third)?;
        Some((*told)? / self.first_out as f64)
    }
}

/// CODE as it is in logs.
fn code<E: Estimator + Clone + 'static, R: ConfidenceRadius + 'static>(
    model: E,
    radius: R,
    exclusion: Exclusion,
) -> Box<dyn Explain> {
    Box::new(Code::new(model, radius).excluding(exclusion).tempered(0.3).unwrap())
}

fn play(
    set: &ActionSet,
    mut policy: Box<dyn Explain>,
    reward: &mut dyn FnMut(usize) -> f64,
) -> Run {
    let (mut rng, mut explanation) = (Stream::new(1, 0, "policy"), Explanation::new());
    let (mut told, mut next) = (Vec::new(), 8.0);
    // One of 200 random tables has averages so close that it takes 223,251 outcomes.
    for outcomes in 1..1_000_000_u64 {
        let chosen = policy.select(set.view(), &mut rng);
        let action = set.view().get(chosen);
        policy.decided(action);
        policy.update(action, reward(chosen));
        if outcomes as f64 >= next {
            next *= 1.04;
            let radius = policy.radius().expect("CODE decides by a radius");
            policy.explain(set.view(), radius, policy.exclusion(), &mut explanation);
            if explanation.plausible().count() < set.view().len() {
                return Run { first_out: outcomes, told };
            }
            let outlook = explanation.outlook(policy.model(), radius);
            told.push((
                outcomes,
                outlook.map(|outlook| outcomes as f64 + outlook.further(outcomes)),
            ));
        }
    }
    panic!("no action was ruled out");
}

impl Run {
    /// Wrong on purpose: as if widths fell with the outcomes, and not with their root.
    fn mutant(mut self) -> Self {
        for (outcomes, told) in &mut self.told {
            let n = *outcomes as f64;
            *told = told.map(|told| (n * told).sqrt());
        }
        self
    }
}

/// The median over runs of the forecast at a third of the way divided by the truth, the share of
/// runs with a forecast then, and the quartiles.
fn calibration(runs: u64, run: impl Fn(u64) -> Run) -> (f64, f64, [f64; 2]) {
    let mut ratios: Vec<f64> = (0..runs).filter_map(|seed| run(seed).ratio()).collect();
    ratios.sort_by(f64::total_cmp);
    let at = |share: usize| ratios[ratios.len() * share / 4];
    (at(2), ratios.len() as f64 / runs as f64, [at(1), at(3)])
}

fn arms(means: &'static [f64], noise: Option<f64>) -> impl Fn(u64) -> Run {
    move |seed| {
        let mut rng = Stream::new(seed, 0, "rewards");
        let set = ActionSet::arms(means.len()).unwrap();
        let radius = TwoPoint { delta: 0.05, low: 0.0, high: 1.0, pairs: true };
        let mut reward = |arm: usize| match noise {
            Some(noise) => (means[arm] + noise * rng.normal()).clamp(0.0, 1.0),
            None => f64::from(u8::from(rng.uniform() < means[arm])),
        };
        let policy = code(ArmMeans::new(means.len()), radius, Exclusion::Intervals);
        play(&set, policy, &mut reward)
    }
}

fn linear(dim: usize, actions: usize, noise: f64) -> impl Fn(u64) -> Run {
    move |seed| {
        let mut rng = Stream::new(seed, 0, "problem");
        let rows: Vec<Vec<f64>> =
            (0..actions).map(|_| (0..dim).map(|_| rng.normal()).collect()).collect();
        let theta: Vec<f64> = (0..dim).map(|_| 0.03 * rng.normal()).collect();
        let set = ActionSet::from_rows(&rows).unwrap();
        let radius = Additive { delta: 0.05, noise_scale: noise, theta_norm_bound: 0.2 };
        let model = Ridge::new(dim, dim as f64 * noise * noise / 0.04).unwrap();
        let mut reward = |action: usize| {
            let mean: f64 = rows[action].iter().zip(&theta).map(|(x, t)| x * t).sum();
            mean + noise * rng.normal()
        };
        play(&set, code(model, radius, Exclusion::Differences), &mut reward)
    }
}

/// A table of an intercept and nine columns, judged as in logs: forecasts, and pairs of actions.
/// Without noise outcomes are yes or no.
fn table(actions: usize, noise: Option<f64>) -> impl Fn(u64) -> Run {
    const DIM: usize = 10;
    move |seed| {
        let mut rng = Stream::new(seed, 0, "problem");
        let mut row = || -> Vec<f64> {
            (0..DIM).map(|at| if at == 0 { 1.0 } else { 2.0 * rng.uniform() - 1.0 }).collect()
        };
        let rows: Vec<Vec<f64>> = (0..actions).map(|_| row()).collect();
        // Nine columns of variance 1/3: averages differ by about 0.07.
        let theta: Vec<f64> =
            (0..DIM).map(|at| if at == 0 { -0.2 } else { 0.04 * rng.normal() }).collect();
        let set = ActionSet::from_rows(&rows).unwrap();
        let facts = Facts {
            setting: Setting::Fixed,
            dim: DIM,
            actions,
            horizon: 1,
            noise_scale: 0.5,
            theta_norm_bound: 1.0,
            action_norm_bound: 4.0,
            reward_range: Some((-0.5, 0.5)),
        };
        let kind = PolicyKind::Code {
            ridge: None,
            radius: RadiusSpec { pairs: true, ..RadiusSpec::new(RadiusKind::Forecast) },
            exclusion: Exclusion::Differences,
            greed: 0.3,
            target: None,
            randomise: 0.0,
            count_pending: true,
        };
        let spec = PolicySpec { label: "table".into(), kind };
        let mut reward = |action: usize| {
            let mean: f64 = rows[action].iter().zip(&theta).map(|(x, t)| x * t).sum();
            match noise {
                Some(noise) => (mean + noise * rng.normal()).clamp(-0.5, 0.5),
                None => f64::from(u8::from(rng.uniform() < mean + 0.5)) - 0.5,
            }
        };
        play(&set, spec.build(&facts).unwrap(), &mut reward)
    }
}

const QUIET: &[f64] = &[0.20, 0.21, 0.24, 0.27, 0.31, 0.34];
const RATES: &[f64] = &[0.01, 0.02, 0.03, 0.05, 0.08, 0.10];
const EVEN: &[f64] = &[0.40, 0.45, 0.50, 0.55];

const MANY: &[f64] = &[0.3, 0.31, 0.33, 0.35, 0.36, 0.4, 0.41, 0.44, 0.45, 0.5, 0.52, 0.55];
const CLOSE: &[f64] = &[0.20, 0.23, 0.26];

type Problem = (&'static str, Box<dyn Fn(u64) -> Run>);

/// The constants of the outlook were chosen with the first five problems in view, and the others
/// were added afterwards.
fn problems() -> [Problem; 12] {
    [
        ("6 arms, noise 0.03", Box::new(arms(QUIET, Some(0.03)))),
        ("6 arms, yes/no at 1 to 10 %", Box::new(arms(RATES, None))),
        ("4 arms, yes/no at 40 to 55 %", Box::new(arms(EVEN, None))),
        ("d = 5, K = 20, noise 0.3", Box::new(linear(5, 20, 0.3))),
        ("d = 10, K = 7, noise 0.3", Box::new(linear(10, 7, 0.3))),
        ("12 arms, noise 0.12", Box::new(arms(MANY, Some(0.12)))),
        ("3 arms, yes/no at 20 to 26 %", Box::new(arms(CLOSE, None))),
        ("d = 8, K = 50, noise 0.2", Box::new(linear(8, 50, 0.2))),
        ("d = 3, K = 6, noise 0.1", Box::new(linear(3, 6, 0.1))),
        ("table of 7, d = 10, yes/no", Box::new(table(7, None))),
        ("table of 7, d = 10, noise 0.03", Box::new(table(7, Some(0.03)))),
        ("table of 40, d = 10, yes/no", Box::new(table(40, None))),
    ]
}

/// Prints the figures of `docs/results/outlook.md`, and holds the median to a factor of two.
fn medians_are_within_a_factor_of_two(runs: u64) {
    for (name, problem) in problems() {
        let (median, told, [low, high]) = calibration(runs, problem);
        println!("| {name} | {median:.2} | {low:.2} to {high:.2} | {:.0} % |", 100.0 * told);
        assert!((0.5..=2.0).contains(&median), "{name}: {median}");
        assert!(told > 0.3, "{name}: only {told} of the runs had a forecast");
    }
}

#[test]
fn at_a_third_of_the_way_the_median_is_within_a_factor_of_two() {
    medians_are_within_a_factor_of_two(12);
}

#[test]
fn a_wrong_rate_is_noticed() {
    let medians = problems().map(|(_, problem)| calibration(6, |seed| problem(seed).mutant()).0);
    assert!(medians.iter().any(|median| !(0.5..=2.0).contains(median)), "{medians:?}");
}

#[test]
fn nothing_is_forecast_without_outcomes_or_rivals() {
    let set = ActionSet::arms(2).unwrap();
    let radius = TwoPoint { delta: 0.05, low: 0.0, high: 1.0, pairs: true };
    let mut explanation = Explanation::new();
    for (plays, totals) in [([0, 0], [0.0, 0.0]), ([5, 0], [2.0, 0.0]), ([9, 9], [4.0, 4.0])] {
        let model = ArmMeans::from_statistics(&plays, &totals).with_squares(&totals);
        explanation.fill(&model, &radius, Exclusion::Intervals, set.view());
        assert_eq!(explanation.outlook(&model, &radius), None, "{plays:?}");
    }
    // One is left.
    let model = ArmMeans::from_statistics(&[500, 500], &[50.0, 450.0]).with_squares(&[50.0, 450.0]);
    explanation.fill(&model, &radius, Exclusion::Intervals, set.view());
    assert_eq!((explanation.plausible().count(), explanation.outlook(&model, &radius)), (1, None));
}

mod full {
    #[test]
    fn at_a_third_of_the_way_the_median_is_within_a_factor_of_two() {
        super::medians_are_within_a_factor_of_two(200);
    }
}
