//! Actions replaced without a decision, decisions looked up, and lines copied.

use super::requests::{begun_with, events, rows};
use super::{Memory, open};
use plausibly_log::event::{Event, Unreported, Window};
use plausibly_log::recipe::{Context, Recipe};
use plausibly_log::state::Outcome;
use plausibly_log::table::Table;
use plausibly_log::{Among, Asked, Log, LogError, Opening, Request, keep_milestones, lines};

fn table(rows: &str) -> Table {
    Table::read(rows.as_bytes()).unwrap()
}

fn opening() -> Opening {
    Opening::new(Recipe::infer(&rows(), &Context::default()).unwrap(), (0.0, 1.0), 7)
}

fn live(log: &Log<Memory>) -> Vec<String> {
    let actions = log.state().unwrap().actions().iter();
    actions.filter(|action| !action.retired).map(|action| action.label.clone()).collect()
}

#[test]
fn the_rows_of_a_table_become_the_actions() {
    let (disk, mut log) = begun_with(opening());
    let first = log.replace_actions(2, &rows()).unwrap();
    assert_eq!(first.added, ["mug", "bowl", "jug"]);
    assert_eq!((first.retired, first.line), (vec![], log.last()));
    // The same rows in another order, with a number written in another way, change nothing.
    let before = disk.bytes();
    let again = log.replace_actions(3, &table("name,price\njug,9.0\nmug,4\nbowl,6\n")).unwrap();
    assert_eq!((again.added.len(), again.retired.len()), (0, 0));
    assert_eq!(disk.bytes(), before);
    // A changed row, a new one, and one that is gone.
    let changed = log.replace_actions(4, &table("name,price\nmug,5\nbowl,6\ncup,2\n")).unwrap();
    assert_eq!(changed.added, ["mug", "cup"]);
    assert_eq!(changed.retired, ["mug", "jug"]);
    assert_eq!(live(&log), ["bowl", "mug", "cup"]);
    let none = Context::default();
    let taken = log.take(5, &Asked::among(Among::All, &none)).unwrap();
    assert!(live(&log).contains(&taken.label));
    assert_eq!(open(&disk).state(), log.state());
}

#[test]
fn refused_rows_change_nothing() {
    let (disk, mut log) = begun_with(opening());
    log.replace_actions(2, &rows()).unwrap();
    let before = disk.bytes();
    for wrong in ["name,cost\nmug,4\n", "name,price\nmug,cheap\n", "name,price\nmug,1e300\n"] {
        assert!(matches!(log.replace_actions(3, &table(wrong)), Err(LogError::Recipe(_))));
    }
    assert_eq!((disk.bytes(), live(&log).len()), (before, 3));
}

/// A table for all decisions, or the same rows as actions and decisions among all of them: the
/// lines are the same.
#[test]
fn actions_in_advance_make_the_same_lines_as_a_table() {
    let none = Context::default();
    let (by_table, mut log) = begun_with(opening());
    for at in 2..9 {
        log.take(at, &Asked::among(Among::Table(&rows()), &none)).unwrap();
    }
    let (in_advance, mut log) = begun_with(opening());
    log.replace_actions(2, &rows()).unwrap();
    for at in 2..9 {
        log.take(at, &Asked::among(Among::All, &none)).unwrap();
    }
    assert_eq!(by_table.bytes(), in_advance.bytes());
}

#[test]
fn a_context_that_cannot_be_encoded_leaves_no_trace() {
    let context = Context::parse(["hour=3"]).unwrap();
    let recipe = Recipe::infer(&rows(), &context).unwrap();
    let (disk, mut log) = begun_with(Opening::new(recipe, (0.0, 1.0), 7));
    log.replace_actions(2, &rows()).unwrap();
    let before = disk.bytes();
    let far = Context::parse(["hour=1e300"]).unwrap();
    let refused = log.take(3, &Asked::among(Among::All, &far));
    assert!(matches!(refused, Err(LogError::Recipe(_))), "{refused:?}");
    // Nothing of it comes with the next line either.
    assert_eq!(disk.bytes(), before);
    log.take(4, &Asked::among(Among::All, &context)).unwrap();
    let sets =
        events(&disk).iter().filter(|event| matches!(event, Event::SetOffered { .. })).count();
    assert_eq!(sets, 1);
}

#[test]
fn a_decision_can_be_looked_up_whatever_became_of_it() {
    let window = Window { seconds: 60, unreported: Unreported::Drop };
    let (disk, mut log) = begun_with(Opening { window: Some(window), ..opening() });
    log.replace_actions(2, &rows()).unwrap();
    let none = Context::default();
    let asked = Asked { by: Some("the shop"), ..Asked::among(Among::All, &none) };
    let taken = log.take(5, &asked).unwrap();
    let looked = log.look(1).unwrap();
    assert_eq!((looked.seq, looked.hash), (taken.line.seq, taken.line.hash));
    assert_eq!((looked.label, looked.by.as_deref()), (taken.label, Some("the shop")));
    assert_eq!((looked.outcome, looked.reported), (Outcome::Pending, None));
    log.batch(6, &[Request::Reward { decision: 1, reward: 0.5.into(), by: None }])
        .unwrap()
        .remove(0)
        .unwrap();
    assert_eq!(log.look(1).unwrap().reported.map(|reward| reward.value()), Some(0.5));
    log.settle_due(60_000_006).unwrap();
    for mut log in [log, open(&disk)] {
        let looked = log.look(1).unwrap();
        let Outcome::Settled { reward, .. } = looked.outcome else { panic!("{looked:?}") };
        assert_eq!(reward, 0.5.into());
        assert_eq!(looked.deadline.unwrap().micros(), 60_000_005);
        assert!(log.look(2).is_err());
    }
}

#[test]
fn copied_lines_make_the_log() {
    let (disk, mut log) = begun_with(opening());
    log.replace_actions(2, &rows()).unwrap();
    let none = Context::default();
    let asked = Request::Decide(Asked::among(Among::All, &none));
    for _ in 0..50 {
        log.batch(3, &[asked; 100]).unwrap();
    }
    for milestones in [false, true] {
        let mut disk = disk.clone();
        if milestones {
            assert!(keep_milestones(&mut disk).unwrap().milestones > 0);
        }
        for most in [1, 10_000, u64::MAX] {
            // One line at a time only at the end.
            let mut from = if most == 1 { 5_000 } else { 1 };
            let begin = lines(&disk, 1, from - 1, u64::MAX).unwrap().bytes;
            assert_eq!(begin.is_empty(), from == 1);
            let mut copied = begin;
            loop {
                let piece = lines(&disk, from, u64::MAX, most).unwrap();
                if piece.bytes.is_empty() {
                    assert_eq!(piece.next, from);
                    break;
                }
                let count = String::from_utf8(piece.bytes.clone()).unwrap().lines().count() as u64;
                assert!(count == 1 || piece.bytes.len() as u64 <= most);
                assert_eq!(piece.next, from + count);
                from = piece.next;
                copied.extend(piece.bytes);
            }
            assert!(copied == disk.bytes(), "most {most}, milestones {milestones}");
        }
        // Not beyond the last line that was acknowledged.
        assert_eq!(lines(&disk, 100, 102, u64::MAX).unwrap().next, 103);
        assert!(lines(&disk, 103, 102, u64::MAX).unwrap().bytes.is_empty());
    }
}
