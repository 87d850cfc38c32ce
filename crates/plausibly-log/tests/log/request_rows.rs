//! Rows that belong to one request: they count as the rows of a table would, and are not kept.

use super::Memory;
use super::open;
use super::requests::{begun_with, events};
use plausibly::Stream;
use plausibly_log::event::{Event, RequestRows};
use plausibly_log::recipe::{Context, Recipe};
use plausibly_log::state::{Line, StepError};
use plausibly_log::table::Table;
use plausibly_log::{
    Among, Asked, Log, LogError, Opening, certificate, check_forecasts, compare, replay, status,
};
use serde_json::json;
use std::fmt::Write;

/// A table of actions with columns that differ each time, and perhaps with a colour of its own.
fn rows(rng: &mut Stream, actions: usize, columns: usize, colour: &str) -> Table {
    let mut text = String::from("name,colour");
    for column in 0..columns {
        write!(text, ",x{column}").unwrap();
    }
    for action in 0..actions {
        write!(text, "\naction {action},{}", if action == 0 { colour } else { "red" }).unwrap();
        for _ in 0..columns {
            write!(text, ",{:.3}", rng.uniform()).unwrap();
        }
    }
    Table::read_labelled(text.as_bytes(), "name").unwrap()
}

fn hours(hour: usize) -> Context {
    Context::parse([format!("hour={hour}")]).unwrap()
}

fn opening(policy: &serde_json::Value, context: &Context) -> Opening {
    let first = rows(&mut Stream::new(1, 0, "first"), 4, 3, "blue");
    let recipe = Recipe::infer(&first, context).unwrap();
    let policy = policy.as_object().unwrap().clone();
    Opening { policy, ..Opening::new(recipe, (0.0, 1.0), 7) }
}

/// One history, with rows of the requests and with a table whose rows change.
struct Pair([(Memory, Log<Memory>); 2]);

impl Pair {
    fn both<T: PartialEq + std::fmt::Debug>(
        &mut self,
        mut each: impl FnMut(&mut Log<Memory>, bool) -> T,
    ) -> T {
        let [one, other] = &mut self.0;
        let (one, other) = (each(&mut one.1, true), each(&mut other.1, false));
        assert_eq!(one, other);
        one
    }
}

fn play(policy: &serde_json::Value, seed: u64) -> Pair {
    let mut rng = Stream::new(seed, 0, "request rows");
    let mut pair = Pair([0, 1].map(|_| begun_with(opening(policy, &hours(8)))));
    for step in 0..40 {
        // A category that is new in the middle of the log.
        let colour = if step < 20 { "blue" } else { "green" };
        let (table, context) = (rows(&mut rng, 4, 3, colour), hours(rng.index(2)));
        pair.both(|log, own| {
            let among = if own { Among::Rows(&table) } else { Among::Table(&table) };
            let asked = Asked { certificate: Some(10), ..Asked::among(among, &context) };
            let taken = log.take(2, &asked).unwrap();
            let found = *taken.certificate.unwrap();
            found.check().unwrap();
            let features: Vec<_> =
                found.grounds.actions.iter().map(|action| action.features.clone()).collect();
            (
                taken.label,
                taken.derived,
                features,
                found.grounds.statistics,
                found.grounds.forecasts,
            )
        });
        let (decision, reward) = (1 + rng.index(step + 1) as u64, rng.uniform());
        let what = rng.index(5);
        let _ = pair.both(|log, _| {
            let done = match what {
                0 => log.correct(3, decision, reward),
                1 => log.retract(3, decision),
                2 => log.drop_decision(3, decision),
                _ => log.reward(3, decision, reward),
            };
            done.map_err(|error| error.to_string())
        });
        pair.both(|log, _| log.state().unwrap().digest());
    }
    pair
}

#[test]
fn rows_of_requests_count_as_rows_of_a_table_and_every_derivation_sees_them() {
    let logistic = json!({"kind": "code", "radius": {"kind": "logistic"}});
    for (seed, policy) in (0..).zip([
        json!({"kind": "code"}),
        json!({"kind": "lin-ucb"}),
        json!({"kind": "insured"}),
        logistic,
    ]) {
        let Pair([(disk, log), (table, _)]) = play(&policy, seed);
        assert_eq!(log.state().unwrap().actions().len(), 4);
        assert!(open(&disk).state() == log.state());
        for decision in [1, 20, 21, 40] {
            for most in [2, 10] {
                let found = certificate(&disk, decision, most).unwrap();
                found.check().unwrap();
                let same = certificate(&table, decision, most).unwrap();
                assert_eq!(found.findings.chosen.label, same.findings.chosen.label);
                assert_eq!(found.findings.known_within, same.findings.known_within);
            }
        }
        check_forecasts(&disk, u64::MAX).unwrap();
        let own = log.state().unwrap().policy().1.clone();
        assert_eq!(replay(&disk, &own, None, |one| assert!(!one.differs())).unwrap(), 40);
        let now = status(&disk, 4, 50).unwrap();
        assert_eq!((now.checked, now.now.grounds.actions.len()), (40, 4));
        compare(&disk, 4, ["action 0", "action 1"]).unwrap();
    }
}

#[test]
fn a_changed_row_or_choice_does_not_follow() {
    let Pair([(disk, _), _]) = play(&json!({"kind": "lin-ucb"}), 3);
    let mut all = events(&disk);
    let mut state = plausibly_log::state::State::open(&all[0]).unwrap();
    state.keep_details();
    for (seq, event) in (2..).zip(&all[1..]) {
        let line = Line { seq, at_us: 2, begin: 0 };
        if let Event::Decided { rows: Some(rows), .. } = event {
            let refuses = |rows: RequestRows| {
                let mut forged = event.clone();
                let Event::Decided { rows: own, .. } = &mut forged else { panic!() };
                *own = Some(rows);
                state.clone().step(line, &forged).unwrap_err()
            };
            let RequestRows { columns, cells } = rows.clone();
            let fewer = RequestRows { columns: columns.clone(), cells: cells[1..].to_vec() };
            assert!(matches!(refuses(fewer), StepError::RowsOfOthers { rows: 3, actions: 4 }));
            let lost = RequestRows {
                columns: columns[1..].to_vec(),
                cells: cells.iter().map(|row| row[1..].to_vec()).collect(),
            };
            assert!(matches!(refuses(lost), StepError::Features(_)));
        }
        state.step(line, event).unwrap();
    }
    // A row that makes another action look best.
    let at = all.iter().rposition(|event| matches!(event, Event::Decided { .. })).unwrap();
    let Event::Decided { rows: Some(rows), chosen, .. } = &mut all[at] else { panic!() };
    let chosen = usize::try_from(*chosen).unwrap();
    let far = rows.cells[chosen].iter().map(|_| Some("red".to_string()));
    rows.cells[(chosen + 1) % 4] = far
        .zip(&rows.columns)
        .map(|(cell, column)| if column == "colour" { cell } else { Some("50".into()) })
        .collect();
    let forged = Memory::default();
    let mut journal = plausibly_log::journal::Journal::open(forged.clone()).unwrap();
    for event in &all {
        journal.append(2, &[&serde_json::to_string(event).unwrap()]).unwrap();
    }
    let wrong = certificate(&forged, 40, 10);
    assert!(matches!(wrong, Err(LogError::Choice { .. })), "{wrong:?}");
}

#[test]
fn a_decision_among_50_rows_is_a_short_line_and_leaves_one_row() {
    let mut rng = Stream::new(1, 0, "fifty");
    let none = hours(3);
    let first = rows(&mut rng, 50, 6, "blue");
    let recipe = Recipe::infer(&first, &none).unwrap();
    let (disk, mut log) = begun_with(Opening::new(recipe, (0.0, 1.0), 7));
    let take = |log: &mut Log<Memory>, table: &Table| {
        log.take(2, &Asked::among(Among::Rows(table), &none)).unwrap();
    };
    take(&mut log, &first);
    let before = disk.bytes().len();
    for _ in 0..20 {
        take(&mut log, &rows(&mut rng, 50, 6, "blue"));
    }
    let each = (disk.bytes().len() - before) / 20;
    assert!(each < 4_000, "{each} bytes");
    let said = format!("{:?}", log.state().unwrap());
    // The chosen rows alone: 20 lines of 50 rows would be far longer.
    assert!(said.len() < 100_000, "{} characters", said.len());
}

#[test]
fn rows_of_requests_are_refused_where_they_mean_nothing() {
    let (none, hour) = (Context::default(), hours(8));
    let table = rows(&mut Stream::new(2, 0, "other"), 4, 3, "blue");
    let refused = |log: &mut Log<Memory>, disk: &Memory, context: &Context, words: &str| {
        let before = disk.bytes();
        let error = log.take(3, &Asked::among(Among::Rows(&table), context)).unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
        assert!(disk.bytes() == before && open(disk).state() == log.state());
    };
    let code = json!({"kind": "code"});
    let (disk, mut log) = begun_with(opening(&json!({"kind": "elimination"}), &none));
    refused(&mut log, &disk, &none, "phased elimination needs the same rows");
    let bell = json!({"kind": "code", "radius": {"kind": "bell"}});
    let (disk, mut log) = begun_with(opening(&bell, &none));
    refused(&mut log, &disk, &none, "a bell curve is judged by the rows");
    // What each action has paid was judged before: it has no single average any more.
    let (disk, mut log) = begun_with(opening(&code, &none));
    log.decide(2, &table, &none, 1).unwrap();
    refused(&mut log, &disk, &none, "begin a new log");
    // From the first decision on, it never is.
    let (_, mut log) = begun_with(opening(&code, &none));
    for _ in 0..3 {
        let asked = Asked { certificate: Some(9), ..Asked::among(Among::Rows(&table), &none) };
        let found = log.take(3, &asked).unwrap().certificate.unwrap();
        found.check().unwrap();
        assert!(found.grounds.earned.is_empty() && found.grounds.pairs_sharing.is_none());
    }
    let bell = bell.as_object().unwrap();
    let changed = log.change_policy(4, bell, None).unwrap_err().to_string();
    assert!(changed.contains("a bell curve is judged by the rows"), "{changed}");
    // An action that never had a row to keep.
    let (disk, mut log) = begun_with(opening(&code, &hour));
    log.take(2, &Asked::among(Among::Rows(&table), &hour)).unwrap();
    let before = disk.bytes();
    for among in [Among::All, Among::Named(&["action 1"])] {
        let error = log.take(3, &Asked::among(among, &hour)).unwrap_err().to_string();
        assert!(error.contains("has only had rows that belonged to one request"), "{error}");
    }
    assert!(disk.bytes() == before);
    // A table gives it one.
    log.decide(3, &table, &hour, 1).unwrap();
    log.take(4, &Asked::among(Among::All, &hour)).unwrap();
    // Plain arms have no rows that could differ.
    let arms = Table::read("name\na\nb\n".as_bytes()).unwrap();
    let recipe = Recipe::infer(&arms, &none).unwrap();
    let (disk, mut log) = begun_with(Opening::new(recipe, (0.0, 1.0), 7));
    log.take(2, &Asked::among(Among::Rows(&arms), &none)).unwrap();
    assert!(
        events(&disk).iter().all(|event| !matches!(event, Event::Decided { rows: Some(_), .. }))
    );
}
