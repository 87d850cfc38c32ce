//! Requests that are repeated, drops that are undone, and logs of the first format, which have
//! neither.

use super::{Memory, open};
use plausibly_log::event::{Event, FIRST_FORMAT, FORMAT, LONGEST_KEY};
use plausibly_log::journal::{Checkpoint, Journal, JournalError, read};
use plausibly_log::recipe::{Context, Recipe};
use plausibly_log::state::{Outcome, StepError};
use plausibly_log::table::Table;
use plausibly_log::{Log, LogError, Opening, Recorded, certificate};

fn table(text: &str) -> Table {
    Table::read(text.as_bytes()).unwrap().with_label(Some("name")).unwrap()
}

fn rows() -> Table {
    table("name,price\nbowl,1\nmug,2\njug,4\n")
}

fn begun(disk: &Memory, policy: &str) -> Log<Memory> {
    let recipe = Recipe::infer(&rows(), &Context::default()).unwrap();
    let mut opening = Opening::new(recipe, (0.0, 1.0), 7);
    opening.policy.clone_from(serde_json::json!({"kind": policy}).as_object().unwrap());
    let mut log = open(disk);
    log.begin(1, opening).unwrap();
    log
}

fn lines(disk: &Memory) -> Vec<String> {
    let mut bodies = Vec::new();
    read(disk, &Checkpoint::START, |entry| {
        bodies.push(entry.body.to_string());
        Ok::<(), JournalError>(())
    })
    .unwrap();
    bodies
}

/// The same log as the version before keys wrote it.
fn of_first_format(disk: &Memory) -> Memory {
    let first = Memory::default();
    let mut journal = Journal::open(first.clone()).unwrap();
    for body in lines(disk) {
        let mut event: Event = serde_json::from_str(&body).unwrap();
        if let Event::Opened { format, policy, growth, .. } = &mut event {
            (*format, *growth) = (FIRST_FORMAT, None);
            policy.remove("exclusion");
        }
        if let Event::Decided { forecasts, .. } = &mut event {
            *forecasts = None;
        }
        journal.append(2, &[&serde_json::to_string(&event).unwrap()]).unwrap();
    }
    first
}

#[test]
fn a_repeated_request_gets_the_same_decision_and_writes_nothing() {
    let disk = Memory::default();
    let mut log = begun(&disk, "code");
    let none = Context::default();
    let (first, now) = log.decide_once("visit 1", 2, &rows(), &none, 10).unwrap();
    let (second, _) = log.decide_once("visit 2", 2, &rows(), &none, 10).unwrap();
    assert_eq!((now, second.grounds.decision), (Recorded::Now, 2));
    log.reward(3, 1, 0.5).unwrap();
    let written = lines(&disk);
    // Also with other rows, and after the log was opened again.
    for _ in 0..2 {
        let other = table("name,price\nvase,9\n");
        let (again, before) = log.decide_once("visit 1", 4, &other, &none, 10).unwrap();
        assert_eq!((&again, before), (&first, Recorded::Before));
        assert_eq!(lines(&disk), written);
        drop(log);
        log = open(&disk);
    }
    assert_eq!(log.state().unwrap().decision_with_key("visit 2"), Some(2));
    assert_eq!(certificate(&disk, 1, 10).unwrap(), first);
    // Without a key every request is a new one.
    assert_eq!(log.decide(5, &rows(), &none, 10).unwrap().grounds.decision, 3);
}

#[test]
fn keys_that_cannot_be_kept_are_refused_and_leave_no_trace() {
    let disk = Memory::default();
    let mut log = begun(&disk, "code");
    let written = lines(&disk);
    for key in ["", "two\nlines", "\u{7f}", &"k".repeat(LONGEST_KEY + 1)] {
        let refused = log.decide_once(key, 2, &rows(), &Context::default(), 10);
        assert!(matches!(refused, Err(LogError::Step(StepError::Key { .. }))), "{key:?}");
        assert_eq!(lines(&disk), written);
    }
    let longest = "é".repeat(LONGEST_KEY / 2);
    assert!(log.decide_once(&longest, 2, &rows(), &Context::default(), 10).is_ok());
    // A line that repeats a key cannot follow.
    let mut bodies = lines(&disk);
    let again = bodies.last().unwrap().replace("\"decision\":1", "\"decision\":2");
    bodies.push(again);
    let forged = Memory::default();
    let mut journal = Journal::open(forged.clone()).unwrap();
    for body in &bodies {
        journal.append(2, &[body]).unwrap();
    }
    drop(journal);
    let error = Log::open(forged).unwrap_err().to_string();
    assert!(error.contains("already belongs to decision 1"), "{error}");
}

#[test]
fn an_undone_drop_is_as_if_it_never_was() {
    for policy in ["code", "lin-ucb", "epsilon-greedy"] {
        let (dropped, straight) = (Memory::default(), Memory::default());
        let mut states = Vec::new();
        for disk in [&dropped, &straight] {
            let recipe = Recipe::infer(&rows(), &Context::default()).unwrap();
            let mut opening = Opening::new(recipe, (0.0, 1.0), 7);
            opening.policy.clone_from(serde_json::json!({"kind": policy}).as_object().unwrap());
            opening.horizon = Some(20);
            let mut log = open(disk);
            log.begin(1, opening).unwrap();
            for decision in 1..=4 {
                log.decide(2, &rows(), &Context::default(), 10).unwrap();
                if decision < 4 {
                    log.reward(2, decision, 0.25).unwrap();
                }
            }
            if disk_is(disk, &dropped) {
                assert_eq!(log.drop_decision(3, 4).unwrap(), Recorded::Now);
                assert!(matches!(log.reward(3, 4, 0.5), Err(LogError::Step(_))));
                assert_eq!(log.undrop(3, 4).unwrap(), Recorded::Now);
                assert_eq!(log.undrop(3, 4).unwrap(), Recorded::Before);
            }
            let outcome = log.state().unwrap().decision(4).unwrap().outcome;
            assert_eq!(outcome, Outcome::Pending);
            log.reward(3, 4, 0.5).unwrap();
            states.push(log.state().unwrap().statistics().clone());
        }
        assert_eq!(states[0], states[1], "{policy}");
    }
}

fn disk_is(one: &Memory, other: &Memory) -> bool {
    std::ptr::eq(one, other)
}

#[test]
fn a_drop_that_elimination_has_replaced_stays() {
    let mut log = begun(&Memory::default(), "elimination");
    log.decide(2, &rows(), &Context::default(), 10).unwrap();
    log.drop_decision(3, 1).unwrap();
    let refused = log.undrop(4, 1);
    assert!(matches!(refused, Err(LogError::Step(StepError::Replaced { decision: 1 }))));
    assert!(matches!(log.state().unwrap().decision(1).unwrap().outcome, Outcome::Dropped { .. }));
}

#[test]
fn a_log_of_the_first_format_goes_on_in_it() {
    let disk = Memory::default();
    let mut log = open(&disk);
    let recipe = Recipe::infer(&rows(), &Context::default()).unwrap();
    let mut opening = Opening::new(recipe, (0.0, 1.0), 7);
    // As the first format decides.
    let policy = serde_json::json!({
        "kind": "code", "exclusion": "intervals", "radius": {"kind": "determinant"}
    });
    opening.policy.clone_from(policy.as_object().unwrap());
    log.begin(1, opening).unwrap();
    for decision in 1..=6 {
        log.decide(2, &rows(), &Context::default(), 10).unwrap();
        log.reward(2, decision, 0.125 * decision as f64).unwrap();
    }
    log.decide(2, &rows(), &Context::default(), 10).unwrap();
    let first = of_first_format(&disk);
    let mut old = open(&first);
    assert_eq!((old.state().unwrap().format(), log.state().unwrap().format()), (1, FORMAT));
    let written = lines(&first);
    // It has neither keys nor undone drops, and says so.
    old.drop_decision(3, 7).unwrap();
    for refused in [
        old.decide_once("k", 3, &rows(), &Context::default(), 10).map(drop),
        old.undrop(3, 7).map(drop),
    ] {
        let error = refused.unwrap_err().to_string();
        assert!(error.contains("needs a log of format 2"), "{error}");
    }
    assert_eq!(lines(&first).len(), written.len() + 1);
    // Everything else goes on, and decides as a log of the present format does.
    log.drop_decision(3, 7).unwrap();
    let (one, other) = (
        old.decide(4, &rows(), &Context::default(), 10).unwrap(),
        log.decide(4, &rows(), &Context::default(), 10).unwrap(),
    );
    // Only the forecasts are new.
    let mut findings = other.findings;
    assert!(findings.chosen.forecasts.take().is_some());
    assert_eq!(one.findings, findings);
    one.check().unwrap();
    let error = old.reward(5, 7, 0.5).unwrap_err().to_string();
    assert!(error.contains("drops are final"), "{error}");
    // A format that does not exist yet is refused by its number.
    let opened = lines(&disk)[0].replace("\"format\":2", "\"format\":3");
    let later = Memory::default();
    Journal::open(later.clone()).unwrap().append(1, &[&opened]).unwrap();
    let error = Log::open(later).unwrap_err().to_string();
    assert!(error.contains("format 3, and this version reads 1 and 2"), "{error}");
}
