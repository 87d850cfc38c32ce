//! Logs with outcomes that are yes or no, under the set of their rates.

use super::certificates::from_log;
use super::{Memory, open, play, rates};
use plausibly::{RowSums, Stream};
use plausibly_log::certificate::{Alarm, Certificate, Standing};
use plausibly_log::event::Outcomes;
use plausibly_log::policy::Rates;
use plausibly_log::recipe::{Context, Recipe};
use plausibly_log::state::StepError;
use plausibly_log::table::Table;
use plausibly_log::{Log, LogError, Opening, Reward, replay};
use serde_json::json;

const ROWS: &str = "name,x,kind\na,1,red\nb,2,blue\nc,4,blue\nd,3,red\n";

fn table(text: &str) -> Table {
    Table::read(text.as_bytes()).unwrap().with_label(Some("name")).unwrap()
}

fn opening(text: &str, outcomes: Outcomes) -> Opening {
    let recipe = Recipe::infer(&table(text), &Context::default()).unwrap();
    Opening::new(recipe, (0.0, 1.0), 1).about(outcomes)
}

fn begun(opening: Opening) -> Log<Memory> {
    let mut log = open(&Memory::default());
    log.begin(1, opening).unwrap();
    log
}

fn decided(log: &mut Log<Memory>, text: &str) -> Certificate {
    let taken = log.decide(2, &table(text), &Context::default(), 100).unwrap();
    taken.check().unwrap();
    taken
}

fn refused(result: Result<impl std::fmt::Debug, LogError>) -> String {
    result.unwrap_err().to_string()
}

/// The certificate of the next decision as text, with what depends on the way there removed: the
/// place in the log, the time, and how often outcomes were taken back.
fn stripped(log: &mut Log<Memory>) -> serde_json::Value {
    let taken = decided(log, ROWS);
    let mut value: serde_json::Value = serde_json::from_str(&taken.to_json()).unwrap();
    value["seal"].take();
    for name in ["log", "at", "amended"] {
        value["grounds"][name].take();
    }
    value
}

#[test]
fn any_order_correction_and_retraction_give_the_same_bits() {
    let mut rng = Stream::new(5, 0, "orders");
    for outcomes in [Outcomes::Counts, Outcomes::Number] {
        for run in 0..6 {
            let kind = json!({"kind": "code", "radius": {"kind": "logistic", "usual": 0.2}});
            let policy = kind.as_object().unwrap().clone();
            let two = || {
                let mut log = begun(Opening { policy: policy.clone(), ..opening(ROWS, outcomes) });
                for _ in 0..12 {
                    decided(&mut log, ROWS);
                }
                log
            };
            let came: Vec<Reward> = (0..12)
                .map(|_| match outcomes {
                    Outcomes::Counts => Reward::counts(rng.index(9) as u64, 8),
                    _ => Reward::from(rng.uniform()),
                })
                .collect();
            // All of these decisions were taken before the first outcome, so both logs have the
            // same.
            let (mut one, mut other) = (two(), two());
            for (reward, number) in came.iter().zip(1..).take(9) {
                one.reward(3, number, *reward).unwrap();
            }
            let mut order: Vec<usize> = (0..12).collect();
            for i in (1..order.len()).rev() {
                order.swap(i, rng.index(i + 1));
            }
            for at in order {
                let (number, wrong) = (at as u64 + 1, came[(at + 4) % 12]);
                other.reward(3, number, wrong).unwrap();
                if at >= 9 {
                    other.retract(3, number).unwrap();
                } else {
                    other.correct(3, number, came[at]).unwrap();
                }
            }
            other.drop_decision(4, 12).unwrap();
            other.undrop(4, 12).unwrap();
            let (first, second) = (stripped(&mut one), stripped(&mut other));
            assert_eq!(first, second, "run {run}");
            assert!(first["grounds"]["glm"]["rows"].as_array().unwrap().len() >= 2);
        }
    }
}

#[test]
fn a_policy_that_comes_later_and_new_features_find_the_same_rows() {
    // From the beginning, and after outcomes.
    let logistic = opening(ROWS, Outcomes::Counts).policy;
    let forecast = json!({"kind": "code"}).as_object().unwrap().clone();
    let wider = format!("{ROWS}e,3,green\n");
    let play = |disk: &Memory, first: &serde_json::Map<String, serde_json::Value>| {
        let mut log = open(disk);
        let policy = first.clone();
        log.begin(1, Opening { policy, ..opening(ROWS, Outcomes::Counts) }).unwrap();
        for number in 1..=8 {
            decided(&mut log, ROWS);
            log.reward(3, number, Reward::counts(number % 4, 9)).unwrap();
        }
        log
    };
    let disk = Memory::default();
    let mut early = play(&disk, &logistic);
    let before = early.state().unwrap().recipe().dim();
    let precision = decided(&mut early, ROWS).grounds.glm.unwrap().precision;
    let taken = decided(&mut early, &wider);
    let glm = taken.grounds.glm.as_ref().unwrap();
    assert!(early.state().unwrap().recipe().dim() > before);
    assert_eq!(glm.point.len(), taken.grounds.dim());
    assert!(glm.rows.iter().all(|row| row.features.len() == taken.grounds.dim()));
    // The prior stays that of the beginning, and the bound grows with the features.
    assert_eq!(glm.precision.to_bits(), precision.to_bits());
    let first = from_log(&disk, 100)[0].findings.likelihood.unwrap();
    let now = taken.findings.likelihood.unwrap();
    assert!(now.theta_norm_bound > first.theta_norm_bound);
    assert!(now.budget.distance > first.budget.distance);
    let mut late = play(&Memory::default(), &forecast);
    late.change_policy(4, &logistic, None).unwrap();
    let rows = decided(&mut late, ROWS).grounds.glm.unwrap().rows;
    let mut sums = RowSums::new(before);
    for (decision, number) in late.state().unwrap().decisions().zip(1_u64..).take(8) {
        let at = usize::try_from(decision.action).unwrap();
        let features = late.state().unwrap().recipe().clone();
        let record = &late.state().unwrap().actions()[at];
        let row = features.encode(&record.label, &record.cells, &Context::default()).unwrap();
        let tally = plausibly::Tally::yes_no(number % 4, 9, 0.0, 1.0).unwrap();
        sums.add(&row, &tally).unwrap();
    }
    let paid: Vec<_> = rows.iter().filter(|row| row.plays > 0).collect();
    assert_eq!(paid.len(), sums.len());
    for (row, (features, tally)) in paid.iter().zip(sums.iter()) {
        assert_eq!((&row.features, row.plays), (&features, tally.count()));
        assert_eq!(row.paid.to_bits(), tally.reward_sum().to_bits());
    }
}

#[test]
fn any_point_verifies_alone_and_only_the_best_one_with_the_log() {
    let disk = Memory::default();
    play(&mut open(&disk), &rates(9, 120));
    let genuine = from_log(&disk, 100).pop().unwrap();
    let mut wider = genuine.grounds.clone();
    wider.glm.as_mut().unwrap().point[0] += 0.25;
    let wider = Certificate::new(wider).unwrap();
    wider.check().unwrap();
    assert!(wider.check_against(&genuine).is_err());
    let length = |one: &Certificate| -> f64 {
        one.findings.actions.iter().map(|action| action.upper - action.lower).sum()
    };
    assert!(length(&wider) > length(&genuine));
    // Without deriving the findings again, the other point alone is enough to be found.
    let mut forged = genuine.clone();
    forged.grounds.glm.as_mut().unwrap().point[0] += 0.25;
    forged.seal = forged.expected_seal();
    assert!(forged.check().is_err());
}

#[test]
fn settings_that_no_log_can_have_are_refused_by_name() {
    let yes_no = || opening(ROWS, Outcomes::YesNo);
    for (usual, factor, words) in [
        (Some(0.0), None, "between 0 and 1"),
        (Some(1.0), None, "between 0 and 1"),
        (Some(f64::NAN), None, "between 0 and 1"),
        (None, Some(1.0), "above 1"),
        (None, Some(f64::INFINITY), "above 1"),
    ] {
        let said = refused(yes_no().usually(Rates { usual, factor }));
        assert!(said.contains(words), "{said}");
    }
    let arms = opening("name\na\nb\n", Outcomes::YesNo);
    assert!(refused(arms.usually(Rates { usual: Some(0.1), factor: None })).contains("features"));
    let with = |policy: serde_json::Value| {
        let policy = policy.as_object().unwrap().clone();
        Opening { policy, ..yes_no() }.check()
    };
    let logistic = json!({"kind": "logistic"});
    for (policy, words) in [
        (json!({"kind": "code", "radius": {"kind": "poisson"}}), "counts without a largest one"),
        (json!({"kind": "code", "radius": {"kind": "logistic", "usual": 1.0}}), "always or never"),
        (
            json!({"kind": "code", "radius": {"kind": "logistic", "action_norm_bound": 1.0}}),
            "leave out action_norm_bound",
        ),
        (
            json!({"kind": "insured", "radius": logistic, "inside": {"kind": "lin-ts"}}),
            "must have such a model too inside",
        ),
        (json!({"kind": "insured", "inside": {"kind": "laplace-ts"}}), "inside an insured one"),
    ] {
        let said = refused(with(policy));
        assert!(said.contains(words), "{said}");
    }
    // Vectors as given imply no bound.
    let given = Recipe::given(&table("name,x\na,0.5\nb,2\n"), &[], 1.0).unwrap();
    let mut opening = Opening::new(given, (0.0, 1.0), 1).about(Outcomes::YesNo);
    opening.check().unwrap();
    opening.policy = json!({"kind": "code", "radius": logistic}).as_object().unwrap().clone();
    assert!(refused(opening.check()).contains("theta_norm_bound"));
}

#[test]
fn a_reward_outside_the_range_is_refused_and_changes_nothing() {
    let mut log = begun(Opening { outcomes: Outcomes::Number, ..opening(ROWS, Outcomes::YesNo) });
    decided(&mut log, ROWS);
    let before = log.state().unwrap().clone();
    assert!(matches!(log.reward(3, 1, 1.5), Err(LogError::Step(StepError::Reward { .. }))));
    assert_eq!(log.state().unwrap(), &before);
}

#[test]
fn separated_outcomes_zeros_and_copies_give_wide_intervals_and_numbers() {
    let copies = "name,x,y\na,1,1\nb,1,1\nc,4,4\nd,4,4\n";
    for text in [ROWS, copies] {
        for pays in [|_: &str| 0_u64, |_: &str| 50, |label: &str| u64::from(label < "c") * 50] {
            let mut log = begun(opening(text, Outcomes::Counts));
            for number in 1..=12 {
                let taken = decided(&mut log, text);
                let yes = pays(&taken.findings.chosen.label);
                log.reward(3, number, Reward::counts(yes, 50)).unwrap();
            }
            let last = decided(&mut log, text);
            assert_eq!(last.findings.alarm, None);
            let words = last.words().to_string();
            assert!(!words.contains("NaN"), "{words}");
            for action in &last.findings.actions {
                let mean = action.mean.unwrap();
                assert!(mean.is_finite() && action.lower <= mean && mean <= action.upper);
                // No set of logarithms of odds holds 0 or 1 itself.
                let own = (pays(&action.label) as f64 / 50.0).clamp(0.002, 0.998);
                assert!((action.lower..=action.upper).contains(&own), "{action:?} {own}");
                assert!(action.upper - action.lower > 1e-3, "{action:?}");
            }
        }
    }
}

/// A log of ten decisions with this many yes of a hundred each, where 1 % is usual.
fn after_ten(factor: f64, yes: u64) -> Certificate {
    let rates = Rates { usual: Some(0.01), factor: Some(factor) };
    let mut log = begun(opening(ROWS, Outcomes::Counts).usually(rates).unwrap());
    for number in 1..=10 {
        decided(&mut log, ROWS);
        log.reward(3, number, Reward::counts(yes, 100)).unwrap();
    }
    decided(&mut log, ROWS)
}

#[test]
fn odds_beyond_what_was_said_are_a_warning_and_then_an_alarm() {
    let leaning = |one: &Certificate| one.findings.likelihood.unwrap().leaning;
    let warned = |one: &Certificate| one.words().to_string().contains("--odds-factor");
    let usual = after_ten(3.0, 1);
    assert!(leaning(&usual).unwrap() < 0.5 && !warned(&usual), "{:?}", leaning(&usual));
    let far = after_ten(3.0, 6);
    assert!(leaning(&far).unwrap() > 0.5 && warned(&far), "{:?}", leaning(&far));
    assert_eq!(far.findings.alarm, None);
    let beyond = after_ten(1.5, 30);
    assert_eq!(beyond.findings.alarm, Some(Alarm::Refuted {}));
    assert!(leaning(&beyond).is_none() && beyond.findings.sqrt_beta.is_none() && warned(&beyond));
    for one in &beyond.findings.actions {
        assert_eq!(one.standing, Standing::Plausible);
        let mean = one.mean.unwrap();
        assert!((one.lower, one.upper) == (0.0, 1.0) && mean > 0.0 && mean < 1.0, "{one:?}");
    }
}

#[test]
fn a_replay_derives_rates_from_the_lines_of_a_log_without_them() {
    let text = "name,kind\na,p\nb,q\nc,r\n";
    let logistic = opening(text, Outcomes::Counts).policy;
    for first in [json!({"kind": "code"}).as_object().unwrap().clone(), logistic.clone()] {
        let disk = Memory::default();
        let mut log = open(&disk);
        let policy = first.clone();
        log.begin(1, Opening { policy, ..opening(text, Outcomes::Counts) }).unwrap();
        for number in 1..=20 {
            let chosen = decided(&mut log, text).findings.chosen.label;
            let yes = if chosen == "c" { 20 } else { 3 };
            log.reward(3, number, Reward::counts(yes, 50)).unwrap();
        }
        let mut all = Vec::new();
        replay(&disk, &logistic, None, |one| all.push(one)).unwrap();
        // The same decision, if the policy had changed right before it.
        log.change_policy(4, &logistic, None).unwrap();
        let last = decided(&mut log, text);
        log.change_policy(5, &first, None).unwrap();
        let mut again = Vec::new();
        replay(&disk, &logistic, None, |one| again.push(one)).unwrap();
        assert_eq!(again[..20], all[..]);
        let found = again.last().unwrap();
        assert_eq!(found.would_choose, last.findings.chosen.label);
        assert_eq!(found.would_be_known_within, last.findings.known_within);
        assert!(!found.differs() && (first != logistic || all.iter().all(|one| !one.differs())));
    }
}

/// Whether in this run a certificate ever says something wrong: true rates are between 2 % and
/// 15 %. Each outcome is entered this many times.
fn misses(run: u64, decisions: u64, times: u64) -> bool {
    let truth = |label: &str| match label {
        "a" => 0.02,
        "b" => 0.04,
        "c" => 0.15,
        _ => 0.07,
    };
    // A column of categories gives each action a rate of its own, so the model holds.
    let text = "name,kind\na,p\nb,q\nc,r\nd,s\n";
    let said = Rates { usual: Some(0.05), factor: Some(10.0) };
    let opening = Opening { seed: run, ..opening(text, Outcomes::Counts).usually(said).unwrap() };
    let mut log = begun(opening);
    let mut rng = Stream::new(17, run, "clicks");
    (1..=decisions).any(|number| {
        let taken = log.decide(2, &table(text), &Context::default(), 100).unwrap();
        let rate = truth(&taken.findings.chosen.label);
        let yes = (0..50).filter(|_| rng.uniform() < rate).count() as u64;
        log.reward(3, number, Reward::counts(yes * times, 50 * times)).unwrap();
        taken.findings.actions.iter().any(|one| {
            let own = truth(&one.label);
            !(one.lower..=one.upper).contains(&own)
                || one.label == "c" && one.standing != Standing::Plausible
        })
    })
}

fn the_truth_is_kept(runs: u64, decisions: u64) {
    let count = |runs: u64, times| (0..runs).filter(|run| misses(*run, decisions, times)).count();
    // At δ = 0.05 the truth is missed in at most 5 % of runs.
    let limit = |runs| plausibly_testkit::most_events(runs, 0.05, 1e-6);
    let missed = count(runs, 1) as u64;
    assert!(missed <= limit(runs), "{missed} of {runs}, limit {}", limit(runs));
    // Each outcome entered sixteen times makes every set too small.
    let mutant = count(30, 16) as u64;
    assert!(mutant > limit(30), "the mutant missed {mutant} times, limit {}", limit(30));
}

#[test]
fn what_is_said_about_rates_is_kept() {
    the_truth_is_kept(60, 40);
}

mod full {
    #[test]
    fn what_is_said_about_rates_is_kept() {
        super::the_truth_is_kept(1_000, 80);
    }
}
