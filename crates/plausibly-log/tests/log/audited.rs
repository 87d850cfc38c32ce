//! An audit derives every line of a log, and names the first that does not follow.

use super::{Memory, open, plan, play, policies};
use crate::journal::disk::Disk;
use crate::journal::newlines;
use plausibly::Stream;
use plausibly_log::event::Event;
use plausibly_log::journal::{Checkpoint, FileStorage, Journal, JournalError, Storage, read};
use plausibly_log::policy::PolicyTable;
use plausibly_log::recipe::{Context, Recipe};
use plausibly_log::table::Table;
use plausibly_log::{
    Among, Asked, AuditError, LineField, Log, LogError, Opening, Request, Reward, WrongLine, audit,
    fold,
};

fn table() -> Table {
    let text = "name,x,y\na,1,0.5\nb,2,-1\nc,0,3\nd,-1,1\ne,0.5,0.25\n";
    Table::read(text.as_bytes()).unwrap().with_label(Some("name")).unwrap()
}

/// Takes decisions, each with the outcome of the one before it.
fn decide<S: Storage>(log: &mut Log<S>, count: u64) {
    let (table, context) = (table(), Context::default());
    for _ in 0..count {
        let decision = log.state().unwrap().count_decisions();
        let among = Among::Table(&table);
        let asked = Asked::among(among, &context);
        let reward = Reward::from((decision % 7) as f64 / 7.0);
        let requests = [Request::Reward { decision, reward, by: None }, Request::Decide(asked)];
        let wanted = &requests[usize::from(decision == 0)..];
        for answer in log.batch(2, wanted).unwrap() {
            answer.unwrap();
        }
    }
}

fn begun<S: Storage>(storage: S) -> Log<S> {
    let mut log = Log::open(storage).unwrap();
    let recipe = Recipe::infer(&table(), &Context::default()).unwrap();
    log.begin(1, Opening::new(recipe, (0.0, 1.0), 5)).unwrap();
    log
}

fn log_of(decisions: u64) -> Memory {
    let disk = Memory::default();
    decide(&mut begun(disk.clone()), decisions);
    disk
}

/// A log that is only read.
fn shown(bytes: &[u8]) -> Memory {
    let mut disk = Memory::default();
    disk.append(bytes).unwrap();
    disk
}

fn wrong_line(storage: &impl Storage) -> WrongLine {
    match audit(storage) {
        Err(AuditError::Line(wrong)) => wrong,
        other => panic!("{other:?}"),
    }
}

/// Flips one bit at each of many places of a log of 1,000 decisions.
fn flipped_bytes_are_named(flips: usize) {
    let log = log_of(1_000).bytes();
    assert_eq!(audit(&shown(&log)).unwrap().decisions, 1_000);
    let mut rng = Stream::new(8, 0, "flips");
    for _ in 0..flips {
        let (at, bit) = (rng.index(log.len()), rng.index(8));
        let mut bytes = log.clone();
        bytes[at] ^= 1 << bit;
        let wrong = wrong_line(&shown(&bytes));
        assert_eq!(wrong.line, newlines(&log[..at]) as u64 + 1, "bit {bit} of byte {at}: {wrong}");
        assert_eq!(wrong.decision, None, "what a damaged line says is not believed");
    }
}

#[test]
fn the_line_of_a_flipped_byte_is_named() {
    flipped_bytes_are_named(50);
}

/// Each part of a line that is damaged has its name.
#[test]
fn the_part_of_a_damaged_line_is_named() {
    let log = String::from_utf8(log_of(3).bytes()).unwrap();
    let lines: Vec<&str> = log.split_inclusive('\n').collect();
    let at = 4;
    for (from, to, field) in [
        ("{\"v\":1", "{\"v\":2", LineField::V),
        ("{\"v\":1", "{ \"v\":1", LineField::Line),
        ("\"action\":", "\"actiom\":", LineField::Body),
        ("1970-", "1971-", LineField::Hash),
    ] {
        let changed = lines[at].replacen(from, to, 1);
        assert_ne!(changed, lines[at]);
        let bytes = [lines[..at].concat(), changed, lines[at + 1..].concat()].concat();
        let wrong = wrong_line(&shown(bytes.as_bytes()));
        assert_eq!((wrong.line, wrong.field), (at as u64 + 1, field), "{wrong}");
    }
    // A line left out, a line from another log, and one earlier than the line before.
    let without = [lines[..at].concat(), lines[at + 1..].concat()].concat();
    assert_eq!(wrong_line(&shown(without.as_bytes())).field, LineField::Seq);
    let other = String::from_utf8(forged(&log_of(3), |events| events[1].0 = 7).bytes()).unwrap();
    let other = other.split_inclusive('\n').nth(at).unwrap();
    let mixed = lines[..at].concat() + other;
    assert_eq!(wrong_line(&shown(mixed.as_bytes())).field, LineField::Prev);
}

/// The same events after a change, with right hashes.
fn forged(disk: &Memory, change: impl FnOnce(&mut Vec<(i64, Event)>)) -> Memory {
    let mut events = Vec::new();
    read(disk, &Checkpoint::START, |entry| {
        events.push((entry.at_us, serde_json::from_str(entry.body).unwrap()));
        Ok::<(), JournalError>(())
    })
    .unwrap();
    change(&mut events);
    let forged = Memory::default();
    let mut journal = Journal::open(forged.clone()).unwrap();
    for (at, event) in &events {
        journal.append(*at, &[&serde_json::to_string(event).unwrap()]).unwrap();
    }
    forged
}

/// Changes a decision, the field that must be named, and whether the events follow as events.
type Forgery = (fn(&mut Event), LineField, bool);

const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];

const FORGERIES: [Forgery; 8] = [
    (
        |event| {
            let Event::Decided { chosen, label, .. } = event else { panic!() };
            *chosen = (*chosen + 1) % 5;
            *label = NAMES[usize::try_from(*chosen).unwrap()].into();
        },
        LineField::Chosen,
        true,
    ),
    (
        |event| {
            let Event::Decided { chosen, .. } = event else { panic!() };
            *chosen = 99;
        },
        LineField::Chosen,
        false,
    ),
    (
        |event| {
            let Event::Decided { label, .. } = event else { panic!() };
            label.push('!');
        },
        LineField::Label,
        false,
    ),
    (
        |event| {
            let Event::Decided { forecasts: Some(own), .. } = event else { panic!() };
            own.steps[2] += 1;
        },
        LineField::Forecasts,
        true,
    ),
    (
        |event| {
            let Event::Decided { forecasts: Some(own), .. } = event else { panic!() };
            own.counts = (own.counts + 1) % 3;
        },
        LineField::Forecasts,
        true,
    ),
    (
        |event| {
            let Event::Decided { forecasts, .. } = event else { panic!() };
            *forecasts = None;
        },
        LineField::Forecasts,
        false,
    ),
    (
        |event| {
            let Event::Decided { set, .. } = event else { panic!() };
            *set = 7;
        },
        LineField::Event,
        false,
    ),
    (
        |event| {
            let Event::Decided { key, .. } = event else { panic!() };
            *key = Some(String::new());
        },
        LineField::Event,
        false,
    ),
];

#[test]
fn a_decision_that_does_not_follow_is_named_although_all_hashes_are_right() {
    let disk = log_of(120);
    let mut rng = Stream::new(9, 0, "forged");
    for (kind, (forge, field, folds)) in FORGERIES.iter().enumerate() {
        for _ in 0..12 {
            let decision = 1 + rng.below(120);
            let mut line = 0;
            let forged = forged(&disk, |events| {
                let of = |event: &Event| match event {
                    Event::Decided { decision: own, .. } => *own == decision,
                    _ => false,
                };
                let at = events.iter().position(|(_, event)| of(event)).unwrap();
                forge(&mut events[at].1);
                line = at as u64 + 1;
            });
            let wrong = wrong_line(&forged);
            let found = (wrong.line, wrong.decision, wrong.field);
            assert_eq!(found, (line, Some(decision), *field), "forgery {kind}: {wrong}");
            assert_eq!(fold(&forged, |_| Ok(())).is_ok(), *folds, "forgery {kind}");
        }
    }
}

#[test]
fn an_event_that_cannot_follow_is_named() {
    let twice = forged(&log_of(5), |events| {
        let rewarded = |event: &Event| matches!(event, Event::Rewarded { decision: 2, .. });
        let at = events.iter().position(|(_, event)| rewarded(event)).unwrap();
        let event = events[at].clone();
        events.insert(at + 1, event);
    });
    let wrong = wrong_line(&twice);
    assert_eq!((wrong.decision, wrong.field), (Some(2), LineField::Event), "{wrong}");
    // A set without actions would have no share of δ.
    let nothing = forged(&log_of(1), |events| {
        let offered = events.iter_mut().find_map(|(_, event)| match event {
            Event::SetOffered { actions, .. } => Some(actions),
            _ => None,
        });
        offered.unwrap().clear();
    });
    let wrong = wrong_line(&nothing);
    assert_eq!((wrong.decision, wrong.field), (None, LineField::Event), "{wrong}");
    let unknown = Memory::default();
    Journal::open(unknown.clone()).unwrap().append(1, &["{\"unheard\":{}}"]).unwrap();
    let wrong = wrong_line(&unknown);
    assert_eq!((wrong.line, wrong.decision, wrong.field), (1, None, LineField::Event), "{wrong}");
    assert!(matches!(audit(&Memory::default()), Err(AuditError::Log(LogError::Empty))));
}

/// Logs of every policy pass, and what is counted is true.
fn clean_logs_pass(seeds: std::ops::Range<u64>) {
    let mut missing: Vec<PolicyTable> = [policies(false), policies(true)].concat();
    for seed in seeds {
        let (disk, plan) = (Memory::default(), plan(seed, (8, 12), 40));
        let taken = play(&mut open(&disk), &plan);
        let found = audit(&disk).unwrap_or_else(|error| panic!("{plan:?}: {error}"));
        let (state, end) = fold(&disk, |_| Ok(())).unwrap();
        let state = state.unwrap();
        assert_eq!((found.lines, found.hash), (end.last.seq, end.last.hash.to_string()));
        assert_eq!(found.decisions, taken.len() as u64);
        assert_eq!(found.decisions, found.settled + found.pending + found.dropped);
        assert_eq!(found.pending, state.statistics().pending());
        assert_eq!(found.statistics, state.digest());
        assert_eq!(found.forecasts, if state.recipe().dim() > 0 { found.decisions } else { 0 });
        assert_eq!((found.actions, found.unfinished), (state.actions().len() as u64, 0));
        missing.retain(|policy| *policy != plan.policy);
    }
    assert!(missing.is_empty(), "no log of these was drawn: {missing:?}");
}

#[test]
fn a_log_of_any_policy_passes() {
    clean_logs_pass(0..400);
}

mod full {
    #[test]
    fn the_line_of_each_of_a_thousand_flipped_bytes_is_named() {
        super::flipped_bytes_are_named(1_000);
    }

    #[test]
    fn a_log_of_any_policy_passes() {
        super::clean_logs_pass(1_000..6_000);
    }
}

#[test]
fn what_an_interrupted_write_left_is_counted_and_no_fault() {
    let log = log_of(4).bytes();
    let whole = audit(&shown(&log)).unwrap();
    let begins = log[..log.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    for cut in begins + 1..log.len() {
        let found = audit(&shown(&log[..cut])).unwrap();
        let expected = (whole.lines - 1, (cut - begins) as u64);
        assert_eq!((found.lines, found.unfinished), expected, "cut at {cut}");
    }
}

#[test]
fn an_audit_beside_a_writer_passes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.log");
    let mut log = begun(FileStorage::new(&path));
    decide(&mut log, 1);
    std::thread::scope(|scope| {
        let writing = scope.spawn(|| decide(&mut log, 150));
        let mut before = 0;
        while !writing.is_finished() {
            let found = audit(&FileStorage::new(&path)).unwrap();
            assert!(found.lines >= before);
            before = found.lines;
        }
    });
    assert_eq!(audit(&FileStorage::new(&path)).unwrap().decisions, 151);
}

/// A writer may append as fast as an audit reads; the audit ends nevertheless.
#[test]
fn an_audit_ends_where_the_log_ended_when_it_began() {
    let log = log_of(40).bytes();
    for end in [1, log.len() / 3, log.len() / 2, log.len() - 1] {
        let disk = Disk::with_log(&log[..end]);
        disk.replace_while_read(&log);
        let whole = newlines(&log[..end]) as u64;
        match audit(&disk.storage()) {
            Ok(found) => assert_eq!(found.lines, whole),
            Err(AuditError::Log(LogError::Empty)) => assert_eq!(whole, 0),
            Err(other) => panic!("{other}"),
        }
        assert_eq!(disk.log(), log, "it has grown meanwhile");
    }
}
