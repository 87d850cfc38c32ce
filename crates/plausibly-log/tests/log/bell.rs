//! Logs with outcomes that scatter like a bell curve, by an amount that is not known.

use super::{Memory, open};
use plausibly::Stream;
use plausibly_log::certificate::{Alarm, Certificate, Standing};
use plausibly_log::event::Outcomes;
use plausibly_log::policy::Noise;
use plausibly_log::recipe::{Context, Recipe};
use plausibly_log::state::StepError;
use plausibly_log::table::Table;
use plausibly_log::{Log, LogError, Opening, Reward};

const ARMS: &str = "name\na\nb\nc\n";
const ROWS: &str = "name,x\na,1\nb,2\nc,4\n";

fn table(text: &str) -> Table {
    Table::read(text.as_bytes()).unwrap().with_label(Some("name")).unwrap()
}

fn opening(text: &str) -> Opening {
    let recipe = Recipe::infer(&table(text), &Context::default()).unwrap();
    Opening::new(recipe, (0.0, 10.0), 1)
}

fn begun(text: &str) -> Log<Memory> {
    let mut log = open(&Memory::default());
    log.begin(1, opening(text).scattering(Noise::Bell).unwrap()).unwrap();
    log
}

fn decided(log: &mut Log<Memory>, text: &str) -> Result<Certificate, LogError> {
    log.decide(2, &table(text), &Context::default(), 100)
}

fn refused(result: Result<impl std::fmt::Debug, LogError>) -> StepError {
    match result.unwrap_err() {
        LogError::Step(refused) => refused,
        other => panic!("{other}"),
    }
}

#[test]
fn yes_and_no_and_counts_are_no_bell_curve() {
    for outcomes in [Outcomes::YesNo, Outcomes::Counts] {
        let said = Opening { outcomes, ..opening(ARMS) };
        let error = refused(said.scattering(Noise::Bell));
        assert_eq!(error, StepError::BellOfYesNo { outcomes });
        assert!(error.to_string().contains("leave the noise out"), "{error}");
    }
    let mut log = begun(ARMS);
    decided(&mut log, ARMS).unwrap();
    assert!(matches!(
        refused(log.reward(3, 1, Reward::counts(2, 10))),
        StepError::OtherKind { .. }
    ));
    assert!(matches!(
        refused(log.change_outcomes(3, Outcomes::YesNo)),
        StepError::BellOfYesNo { .. }
    ));
    // A log that has counted cannot go over to a bell curve.
    let mut log = open(&Memory::default());
    log.begin(1, Opening { outcomes: Outcomes::Counts, ..opening(ARMS) }).unwrap();
    decided(&mut log, ARMS).unwrap();
    log.reward(3, 1, Reward::counts(2, 10)).unwrap();
    log.change_outcomes(3, Outcomes::Number).unwrap();
    let bell = opening(ARMS).scattering(Noise::Bell).unwrap().policy;
    assert_eq!(refused(log.change_policy(4, &bell, None)), StepError::BellOfCounts);
}

#[test]
fn an_action_unlike_those_of_the_first_decision_is_refused() {
    let narrow = "name,kind,x\na,red,1\nb,red,2\nc,blue,4\nd,blue,3\n";
    let mut log = begun(narrow);
    decided(&mut log, narrow).unwrap();
    let lines = log.state().unwrap().count_decisions();
    let wide = format!("{narrow}e,green,3\n");
    let error = refused(decided(&mut log, &wide));
    assert_eq!(error, StepError::OutsideFirst { label: "e".into() });
    assert_eq!(log.state().unwrap().count_decisions(), lines, "nothing was written");
    // One that lies among the others joins.
    decided(&mut log, &format!("{narrow}e,red,3.5\n")).unwrap();
    // Without the assumption it joins as well.
    log.change_policy(5, &opening(narrow).policy, None).unwrap();
    let tried = decided(&mut log, &wide).unwrap().findings.chosen.label == "e";
    let bell = opening(narrow).scattering(Noise::Bell).unwrap().policy;
    // Only if it was tried does it stand in the way.
    assert_eq!(log.change_policy(7, &bell, None).is_err(), tried);
}

#[test]
fn fewer_than_five_values_rule_nothing_out_and_are_named() {
    for text in [ARMS, ROWS] {
        let mut log = begun(text);
        for decision in 1..=60 {
            let taken = decided(&mut log, text).unwrap();
            let value = if taken.findings.chosen.label == "a" { 9.0 } else { 1.0 };
            log.reward(3, decision, value + 0.25 * (decision % 2) as f64).unwrap();
        }
        let found = decided(&mut log, text).unwrap();
        assert_eq!(found.findings.alarm, Some(Alarm::FewValues { values: 4 }));
        assert_eq!(found.findings.plausible, 3);
        assert!(found.words().to_string().contains("only 4 different values"));
        // A fifth value lifts that, and without its outcome the alarm is back.
        log.reward(4, 61, 5.0).unwrap();
        let lifted = decided(&mut log, text).unwrap();
        assert!(lifted.findings.alarm.is_none() && lifted.findings.plausible < 3);
        log.retract(5, 61).unwrap();
        assert_eq!(decided(&mut log, text).unwrap().findings.alarm, found.findings.alarm);
    }
}

#[test]
fn an_arm_that_joins_is_unknown_and_tried_first() {
    let mut log = begun(ARMS);
    for decision in 1..=40 {
        let chosen = decided(&mut log, ARMS).unwrap().findings.chosen.label;
        let level = [("a", 3.0), ("b", 4.0), ("c", 6.0)].iter().find(|(arm, _)| *arm == chosen);
        let wobble = 0.07 * (decision * 5 % 11) as f64;
        log.reward(3, decision, level.unwrap().1 + wobble).unwrap();
    }
    let found = decided(&mut log, "name\na\nb\nc\nd\n").unwrap();
    assert_eq!(found.findings.chosen.label, "d");
    let new = found.findings.actions.last().unwrap();
    assert_eq!((new.mean, new.lower, new.upper, new.rank), (None, 0.0, 10.0, Some(1)));
    let bounds = found.findings.actions.iter().flat_map(|one| [one.lower, one.upper]);
    assert!(bounds.into_iter().all(f64::is_finite));
    assert!(found.findings.plausible < 4, "what was ruled out stays so");
    found.check().unwrap();
}

/// Whether in this run the truth is ever outside of what a certificate says. All averages are 5,
/// and each outcome is entered this many times.
fn misses(text: &str, decisions: u64, times: u64, run: u64) -> bool {
    let mut log = begun(text);
    let mut rng = Stream::new(91, run, "noise");
    let mut number = 0;
    (0..decisions).any(|_| {
        let reward = (5.0 + 0.5 * rng.normal()).clamp(0.0, 10.0);
        let mut outside = false;
        for _ in 0..times {
            number += 1;
            let taken = decided(&mut log, text).unwrap();
            outside |= taken.findings.actions.iter().any(|one| {
                one.lower > 5.0
                    || one.upper < 5.0
                    || one.id == 0 && one.standing != Standing::Plausible
            });
            log.reward(3, number, reward).unwrap();
        }
        outside
    })
}

fn the_truth_is_kept(runs: u64, decisions: u64) {
    for text in [ARMS, ROWS] {
        let count = |runs: u64, decisions, times| {
            (0..runs).filter(|run| misses(text, decisions, times, *run)).count() as u64
        };
        // At δ = 0.05 the truth is missed in at most 5 % of runs.
        let limit = |runs| plausibly_testkit::most_events(runs, 0.05, 1e-6);
        let missed = count(runs, decisions, 1);
        assert!(missed <= limit(runs), "{missed} of {runs}, limit {}", limit(runs));
        // Each outcome entered sixteen times makes every set too small.
        let mutant = count(25, 20, 16);
        assert!(mutant > limit(25), "the mutant missed {mutant} times, limit {}", limit(25));
    }
}

#[test]
fn what_is_said_about_bell_curves_is_kept() {
    the_truth_is_kept(60, 40);
}

mod full {
    #[test]
    fn what_is_said_about_bell_curves_is_kept() {
        super::the_truth_is_kept(1_000, 150);
    }
}
