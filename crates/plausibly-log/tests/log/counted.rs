//! Counts of outcomes: as many single outcomes, to the bit.

use super::{Memory, open};
use plausibly_log::event::Outcomes;
use plausibly_log::recipe::{Context, Recipe};
use plausibly_log::state::StepError;
use plausibly_log::table::Table;
use plausibly_log::{Log, LogError, Opening, Recorded, Reward, fold};
use serde_json::json;

fn rows(text: &str) -> Table {
    Table::read(text.as_bytes()).unwrap().with_label(Some("name")).unwrap()
}

/// A log with one action on offer, whose outcomes are of this kind.
fn begun(table: &Table, outcomes: Outcomes) -> Log<Memory> {
    begun_on(&Memory::default(), table, outcomes)
}

fn begun_on(disk: &Memory, table: &Table, outcomes: Outcomes) -> Log<Memory> {
    let recipe = Recipe::infer(table, &Context::default()).unwrap();
    let mut log = open(disk);
    let opening = Opening { outcomes, ..Opening::new(recipe, (-1.0, 3.0), 7) };
    log.begin(1, opening).unwrap();
    log
}

fn decide(log: &mut Log<Memory>, table: &Table) -> u64 {
    log.decide(2, table, &Context::default(), 10).unwrap().grounds.decision
}

#[test]
fn a_count_is_as_many_single_outcomes() {
    let table = rows("name\nbowl\n");
    let (mut counted, mut single) =
        (begun(&table, Outcomes::Counts), begun(&table, Outcomes::YesNo));
    for (yes, of) in [(7, 10), (0, 3), (1, 1)] {
        let decision = decide(&mut counted, &table);
        counted.reward(3, decision, Reward::counts(yes, of)).unwrap();
        for outcome in 0..of {
            let decision = decide(&mut single, &table);
            single.reward(3, decision, if outcome < yes { 3.0 } else { -1.0 }).unwrap();
        }
    }
    assert_eq!(counted.state().unwrap().statistics(), single.state().unwrap().statistics());
    assert_eq!(counted.state().unwrap().digest(), single.state().unwrap().digest());
}

#[test]
fn a_count_that_is_taken_back_leaves_no_trace_in_the_sums() {
    for text in ["name\nbowl\nmug\n", "name,price\nbowl,1\nmug,2\nvase,9\n"] {
        let table = rows(text);
        let disk = Memory::default();
        let mut log = begun_on(&disk, &table, Outcomes::Counts);
        let first = decide(&mut log, &table);
        log.reward(3, first, Reward::counts(21, 1000)).unwrap();
        let decision = decide(&mut log, &table);
        let pending = log.state().unwrap().statistics().clone();
        let count = Reward::counts(2_100_000, 1_000_000_000);
        assert_eq!(log.reward(4, decision, count).unwrap(), Recorded::Now);
        assert_eq!(log.reward(4, decision, count).unwrap(), Recorded::Before);
        let settled = log.state().unwrap().statistics().clone();
        assert_ne!(settled, pending);
        assert!(log.reward(4, decision, Reward::counts(1, 2)).is_err(), "another one is refused");
        log.correct(5, decision, Reward::counts(1, 2)).unwrap();
        log.correct(5, decision, count).unwrap();
        assert_eq!(log.state().unwrap().statistics(), &settled);
        log.retract(6, decision).unwrap();
        assert_eq!(log.state().unwrap().statistics(), &pending);
        let again = fold(&disk, |_| Ok(())).unwrap().0.unwrap();
        assert_eq!(log.state(), Some(&again));
    }
}

#[test]
fn counts_and_single_outcomes_are_told_apart() {
    let table = rows("name\nbowl\nmug\n");
    let refused = |log: &mut Log<Memory>, reward: Reward| {
        let decision = decide(log, &table);
        let before = log.state().unwrap().clone();
        let error = match log.reward(3, decision, reward).unwrap_err() {
            LogError::Step(error) => error,
            other => panic!("{other}"),
        };
        assert_eq!(log.state(), Some(&before), "nothing was written");
        error.to_string()
    };
    let mut counted = begun(&table, Outcomes::Counts);
    let error = refused(&mut counted, 0.5.into());
    assert!(error.contains("counts of yes") && error.contains("2100 --of 10000"), "{error}");
    for (yes, of) in [(11, 10), (0, 0)] {
        let error = refused(&mut counted, Reward::counts(yes, of));
        assert!(error.contains(&of.to_string()), "{error}");
    }
    let mut numbers = begun(&table, Outcomes::Number);
    let error = refused(&mut numbers, Reward::counts(1, 10));
    assert!(error.contains("--outcomes counts"), "{error}");
    let mut yes_no = begun(&table, Outcomes::YesNo);
    let error = refused(&mut yes_no, 0.5.into());
    assert!(error.contains("smallest reward for a no"), "{error}");
    // What an outcome is can change, unless an earlier one contradicts it.
    yes_no.reward(4, 1, 3.0).unwrap();
    yes_no.change_outcomes(4, Outcomes::Counts).unwrap();
    let decision = decide(&mut yes_no, &table);
    yes_no.reward(5, decision, Reward::counts(3, 9)).unwrap();
    numbers.reward(4, 1, 0.25).unwrap();
    let error = numbers.change_outcomes(5, Outcomes::Counts).unwrap_err();
    assert!(matches!(
        error,
        LogError::Step(StepError::Contradicted { decision: 1, outcomes: Outcomes::Counts, .. })
    ));
    // Phased elimination needs single plays.
    let policy = json!({"kind": "elimination"});
    let features = rows("name,price\nbowl,1\nmug,2\nvase,9\n");
    let recipe = Recipe::infer(&features, &Context::default()).unwrap();
    let mut opening = Opening::new(recipe, (0.0, 1.0), 7);
    opening.outcomes = Outcomes::Counts;
    opening.policy.clone_from(policy.as_object().unwrap());
    assert!(matches!(opening.check(), Err(LogError::Step(StepError::CountedPhases))));
}
