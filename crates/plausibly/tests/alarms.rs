//! Alarms: a scale of the noise that rewards contradict opens the set, and one that they do not
//! contradict hardly ever does.

use plausibly::{
    Action, ActionSet, Additive, ArmMeans, Code, ConfidenceRadius, Doubt, Estimator, Evidence,
    Exclusion, Explain, Explanation, Glm, GlmPrior, Likelihood, Link, Mixture, Policy, Reach,
    Ridge, Standing, Stitched, Stream, Union,
};
use plausibly_testkit::{most_events, tail_above};
use std::cell::Cell;

const FALSE_ALARM: f64 = 1e-6;
const ROUNDS: u64 = 300;

fn rows(run: u64) -> ActionSet {
    let rng = &mut Stream::new(81, run, "problem");
    let rows: Vec<Vec<f64>> = (0..6).map(|_| (0..3).map(|_| rng.normal()).collect()).collect();
    ActionSet::from_rows(&rows).unwrap()
}

/// Whether the set ever opens while CODE chooses. `noise` is the noise of a round; the truth is
/// zero, so nothing hides it.
fn alarms<E: Estimator + Clone, R: ConfidenceRadius + Copy>(
    set: &ActionSet,
    fresh: &E,
    radius: R,
    run: u64,
    noise: impl Fn(&mut Stream) -> f64,
) -> Option<(u64, Doubt)> {
    let (mut model, mut code) = (fresh.clone(), Code::new(fresh.clone(), radius));
    let mut rng = Stream::new(82, run, "noise");
    (1..=ROUNDS).find_map(|round| {
        let action = set.view().get(code.select(set.view(), &mut rng.clone()));
        let reward = noise(&mut rng);
        model.update(action, reward);
        code.update(action, reward);
        radius.reach(&model.evidence()).doubt().map(|doubt| (round, doubt))
    })
}

/// At the declared scale the alarm is false in at most δ/10 of the runs: at a rate of δ/10 more
/// than `limit` of them would come with a probability below one in a million. The mutant knows only
/// what the residuals are on average.
fn rarely_false(name: &str, delta: f64, alarm: impl Fn(u64) -> bool, mutant: impl Fn(u64) -> bool) {
    let runs = 2000;
    let limit = most_events(runs, delta / 10.0, FALSE_ALARM);
    let count = |alarm: &dyn Fn(u64) -> bool| (0..runs).filter(|run| alarm(*run)).count() as u64;
    let (found, caught) = (count(&alarm), count(&mutant));
    let power = 100.0 * tail_above(runs, 4.0 * delta / 10.0, limit);
    println!("| {name} | {found} of {runs} | {limit} | {power:.0} % at four times | {caught} |");
    assert!(found <= limit, "{name}: {found} false alarms of {runs}; at most {limit} are allowed");
    assert!(caught > limit, "{name}: the mutant alarmed {caught} times of {runs}");
}

/// Scale of the noise in the runs without a contradiction.
const SCALE: f64 = 0.05;

/// The alarm with its threshold at zero: it is not the supermartingale that is small, only its
/// start.
fn without_threshold(evidence: &Evidence, scale: f64) -> bool {
    let residual = evidence.squares.unwrap().residual();
    residual > 1.16 * evidence.observations as f64 * scale * scale
}

#[test]
fn false_alarms_are_rare_with_features() {
    // δ this large, so that a tenth of it can be seen in 2,000 runs.
    let (delta, model) = (0.5, Ridge::new(3, 1.0).unwrap());
    let radius = Additive { delta, noise_scale: SCALE, theta_norm_bound: 0.0 };
    let normal = |rng: &mut Stream| SCALE * rng.normal();
    rarely_false(
        "additive",
        delta,
        |run| alarms(&rows(run), &model, radius, run, normal).is_some(),
        |run| {
            let mut model = model.clone();
            let (set, mut rng) = (rows(run), Stream::new(82, run, "noise"));
            (0..ROUNDS).any(|_| {
                model.update(set.view().get(rng.index(6)), normal(&mut rng));
                without_threshold(&model.evidence(), SCALE)
            })
        },
    );
}

#[test]
fn false_alarms_are_rare_with_arms() {
    let (delta, set, model) = (0.5, ActionSet::arms(3).unwrap(), ArmMeans::new(3));
    let coin = |rng: &mut Stream| if rng.index(2) == 0 { SCALE } else { -SCALE };
    for (name, noise) in [
        (
            "mixture, normal noise",
            (|rng: &mut Stream| SCALE * rng.normal()) as fn(&mut Stream) -> f64,
        ),
        ("mixture, coins", coin),
    ] {
        let radius = Mixture { delta, noise_scale: SCALE };
        let found = (0..500).filter(|run| alarms(&set, &model, radius, *run, noise).is_some());
        let (found, limit) = (found.count() as u64, most_events(500, delta / 10.0, FALSE_ALARM));
        assert!(found <= limit, "{name}: {found}");
    }
    rarely_false(
        "mixture",
        delta,
        |run| {
            let radius = Mixture { delta, noise_scale: SCALE };
            alarms(&set, &model, radius, run, |rng| SCALE * rng.normal()).is_some()
        },
        |run| {
            let mut model = model.clone();
            let mut rng = Stream::new(82, run, "noise");
            (0..ROUNDS).any(|_| {
                model.update(Action::new(rng.index(3), &[]), SCALE * rng.normal());
                without_threshold(&model.evidence(), SCALE)
            })
        },
    );
}

/// Rewards in a range with R half of it can never contradict it, whatever they are.
#[test]
fn half_the_range_never_alarms() {
    let set = ActionSet::arms(3).unwrap();
    let radius = Mixture { delta: 0.9, noise_scale: 0.5 };
    for run in 0..50 {
        let (rate, kind) = (Stream::new(83, run, "rate").uniform(), run % 3);
        let reward = |rng: &mut Stream| match kind {
            0 => f64::from(u8::from(rng.uniform() < rate)),
            1 => rng.uniform(),
            _ => f64::from(u8::from(rng.index(2) == 0)),
        };
        assert_eq!(alarms(&set, &ArmMeans::new(3), radius, run, reward), None);
        let additive = Additive { delta: 0.9, noise_scale: 0.5, theta_norm_bound: 0.0 };
        let centred = |rng: &mut Stream| reward(rng) - 0.5;
        assert_eq!(alarms(&rows(run), &Ridge::new(3, 1.0).unwrap(), additive, run, centred), None);
    }
}

/// The case of the issue: a noise of 0.001 declared where it is 0.05.
#[test]
fn a_scale_that_is_far_too_small_is_found_and_a_better_one_suggested() {
    let noise = |rng: &mut Stream| SCALE * rng.normal();
    let arms = (ActionSet::arms(6).unwrap(), ArmMeans::new(6));
    let ridge = Ridge::new(3, 1.0).unwrap();
    for run in 0..50 {
        // Six rewards are one of each arm and explain themselves. Of the three after them, one is
        // off by more than 0.007, which is enough, but in one run of 10⁸.
        let declared = 0.001;
        let mixture = Mixture { delta: 0.05, noise_scale: declared };
        let (round, _) = alarms(&arms.0, &arms.1, mixture, run, noise).unwrap();
        assert!(round <= 12, "run {run}: round {round}");
        let stitched = Stitched { delta: 0.05, noise_scale: declared };
        assert_eq!(alarms(&arms.0, &arms.1, stitched, run, noise).unwrap().0, round);
        let union = Union { delta: 0.05, noise_scale: declared };
        assert_eq!(alarms(&arms.0, &arms.1, union, run, noise).unwrap().0, round);
        let additive = Additive { delta: 0.05, noise_scale: declared, theta_norm_bound: 0.01 };
        let (round, _) = alarms(&rows(run), &ridge, additive, run, noise).unwrap();
        assert!(round <= 12, "run {run}: round {round}");
    }
}

/// What an explanation says before and after, and with the scale that it suggests.
#[test]
fn an_explanation_says_why_and_the_suggestion_mends_it() {
    let (set, means) = (ActionSet::arms(6).unwrap(), [0.2, 0.23, 0.25, 0.27, 0.3, 0.34]);
    let declared = Mixture { delta: 0.05, noise_scale: 0.001 };
    let mut code = Code::new(ArmMeans::new(6), declared);
    let (mut rng, mut shown) = (Stream::new(84, 0, "noise"), Explanation::new());
    for round in 0..600 {
        let chosen = code.select(set.view(), &mut rng.clone());
        code.update(set.view().get(chosen), means[chosen] + SCALE * rng.normal());
        code.explain(set.view(), &declared, Exclusion::Differences, &mut shown);
        if round < 12 {
            continue;
        }
        assert!(shown.standings().iter().all(|standing| *standing == Standing::Plausible));
        let Some(Doubt::Noise { declared, suggested }) = shown.doubt() else {
            panic!("round {round}: {:?}", shown.doubt());
        };
        assert_eq!(declared, 0.001);
        // 594 squares of normal noise have a mean within 0.28 of theirs but in one case of 10⁶.
        if round == 599 {
            assert!((0.7 * SCALE..1.3 * SCALE).contains(&suggested), "{suggested}");
            let mended = Mixture { delta: 0.05, noise_scale: suggested };
            code.explain(set.view(), &mended, Exclusion::Differences, &mut shown);
            assert_eq!(shown.doubt(), None);
            assert!(shown.plausible().count() < 6);
        }
    }
    // Widths decide while nothing is ruled out, so plays are spread evenly.
    let counts: Vec<f64> = shown.width_sq().iter().map(|width_sq| 1.0 / width_sq).collect();
    assert!(counts.iter().all(|count| (98.9..101.1).contains(count)), "{counts:?}");
}

/// A large truth that the ridge shrinks leaves residuals that are not noise; `λ·S²` is for them.
#[test]
fn what_the_ridge_shrinks_is_no_noise() {
    let (truth, noise_scale) = (6.0, 0.01);
    let set = ActionSet::from_rows(&[[1.0]]).unwrap();
    let (mut false_alarms, mut caught) = (0, 0);
    for run in 0..200 {
        let mut model = Ridge::new(1, 1.0).unwrap();
        let mut rng = Stream::new(85, run, "noise");
        let radius = Additive { delta: 0.05, noise_scale, theta_norm_bound: truth };
        let mutant = Additive { theta_norm_bound: 0.0, ..radius };
        let opens = |radius: Additive, evidence: &Evidence| {
            matches!(radius.reach(evidence), Reach::Open(_))
        };
        let (mut alarmed, mut mutant_alarmed) = (false, false);
        for _ in 0..50 {
            model.update(set.view().get(0), truth + noise_scale * rng.normal());
            alarmed |= opens(radius, &model.evidence());
            mutant_alarmed |= opens(mutant, &model.evidence());
        }
        false_alarms += u64::from(alarmed);
        caught += u64::from(mutant_alarmed);
    }
    let limit = most_events(200, 0.005, FALSE_ALARM);
    assert!(false_alarms <= limit, "{false_alarms}");
    assert!(caught > 190, "{caught}");
}

/// When the alarm came while CODE chose among six rows with means of about five. `count` draws a
/// count of a mean.
fn count_alarm(
    delta: f64,
    run: u64,
    count: impl Fn(&mut Stream, f64) -> u64,
) -> Option<(u64, Doubt)> {
    let (set, theta) = (rows(run), [0.5, -0.3, 0.2]);
    let prior = GlmPrior::around(Link::Poisson, (0.0, 1024.0), 5.0, 3.0, (3, 2.0), delta).unwrap();
    let mut code = Code::new(Glm::new(3, prior).unwrap(), Likelihood::default());
    let (mut shown, mut rng) = (Explanation::new(), Stream::new(86, run, "counts"));
    (1..=ROUNDS).find_map(|round| {
        let action = set.view().get(code.select(set.view(), &mut rng.clone()));
        let z: f64 = action.features().iter().zip(theta).map(|(x, theta)| x * theta).sum();
        code.update(action, count(&mut rng, (5.0 * z.exp()).min(15.0)) as f64);
        code.explain(set.view(), &Likelihood::default(), Exclusion::Differences, &mut shown);
        let scatters = |doubt: &Doubt| matches!(doubt, Doubt::Scatter { .. });
        shown.doubt().filter(scatters).map(|doubt| (round, doubt))
    })
}

#[test]
fn false_alarms_about_counts_are_rare() {
    let delta = 0.5;
    // The mutant knows only how much counts scatter on average, as one would see with all means
    // known.
    let mutant = |run: u64| {
        let mut rng = Stream::new(87, run, "counts");
        let (mut squares, mut expected) = (0.0, 0.0);
        (0..ROUNDS).any(|_| {
            let count = rng.poisson(5.0) as f64;
            (squares, expected) = (squares + (count - 5.0) * (count - 5.0), expected + 5.0);
            squares > 1.2 * expected + 8.0
        })
    };
    let poisson = |rng: &mut Stream, mean: f64| rng.poisson(mean);
    let alarm = |run| count_alarm(delta, run, poisson).is_some();
    rarely_false("Poisson counts", delta, alarm, mutant);
    // The sum of yes/no outcomes scatters less.
    let of_twenty = |rng: &mut Stream, mean: f64| rng.binomial(20, mean / 20.0);
    for run in 0..200 {
        assert_eq!(count_alarm(delta, run, of_twenty), None);
    }
}

/// Counts of days: a day is good or bad for everything alike, by a factor of mean one.
#[test]
fn counts_with_day_effects_raise_an_alarm() {
    for (spread, most_rounds) in [(0.5_f64, 300), (1.0, 120)] {
        let (mut late, mut times) = (0, Vec::new());
        for run in 0..100 {
            let days = Cell::new(0_u64);
            let count = |rng: &mut Stream, mean: f64| {
                days.set(days.get() + 1);
                let day = Stream::new(88, 1_000 * run + days.get(), "day").normal();
                rng.poisson(mean * (spread * day - 0.5 * spread * spread).exp())
            };
            match count_alarm(0.05, run, count) {
                Some((round, Doubt::Scatter { times: found })) if round <= most_rounds => {
                    assert!(found > 1.2, "{found}");
                    times.push(round);
                }
                _ => late += 1,
            }
        }
        times.sort_unstable();
        let median = times.get(50);
        println!("| day effects {spread} | {late} of 100 later than {most_rounds} | {median:?} |");
        assert!(late <= 2, "{spread}: {late}");
    }
}
