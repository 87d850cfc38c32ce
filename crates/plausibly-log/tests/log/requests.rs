//! Who asks, with which key and for what; pauses; and how far a recipe may grow.

use super::{Memory, open};
use plausibly_log::event::Event;
use plausibly_log::journal::{Checkpoint, Entry, JournalError, read};
use plausibly_log::recipe::{Context, Recipe, RecipeError};
use plausibly_log::state::StepError;
use plausibly_log::table::Table;
use plausibly_log::{Among, Answer, Asked, Log, LogError, Opening, Recorded, Request};

pub(super) fn rows() -> Table {
    Table::read("name,price\nmug,4\nbowl,6\njug,9\n".as_bytes()).unwrap()
}

fn begun() -> (Memory, Log<Memory>) {
    let recipe = Recipe::infer(&rows(), &Context::default()).unwrap();
    begun_with(Opening::new(recipe, (0.0, 1.0), 7))
}

pub(super) fn begun_with(opening: Opening) -> (Memory, Log<Memory>) {
    let disk = Memory::default();
    let mut log = open(&disk);
    log.begin(1, opening).unwrap();
    (disk, log)
}

/// The events of a log.
pub(super) fn events(disk: &Memory) -> Vec<Event> {
    let mut events = Vec::new();
    read(disk, &Checkpoint::START, |entry: Entry<'_>| {
        events.push(serde_json::from_str(entry.body).unwrap());
        Ok::<(), JournalError>(())
    })
    .unwrap();
    events
}

#[test]
fn a_key_is_for_one_request() {
    let (disk, mut log) = begun();
    let (table, none) = (rows(), Context::default());
    let [one, other] = ["a", "b"].map(|digit| digit.repeat(64));
    let asked = |key, request| {
        let asked = Asked::among(Among::Table(&table), &none);
        Asked { key: Some(key), request, by: Some("the shop"), ..asked }
    };
    assert_eq!(log.take(2, &asked("said", Some(&one))).unwrap().recorded, Recorded::Now);
    assert_eq!(log.take(2, &asked("unsaid", None)).unwrap().recorded, Recorded::Now);
    let before = disk.bytes();
    for again in [&mut log, &mut open(&disk)] {
        for (key, request, decision) in
            [("said", Some(&*one), 1), ("said", None, 1), ("unsaid", Some(&*one), 2)]
        {
            let taken = again.take(3, &asked(key, request)).unwrap();
            assert_eq!((taken.decision, taken.recorded), (decision, Recorded::Before));
        }
        let reused = again.take(3, &asked("said", Some(&other)));
        let Err(LogError::Step(StepError::KeyReused { decision: 1, key })) = reused else {
            panic!("{reused:?}")
        };
        assert_eq!(key, "said");
    }
    assert_eq!(disk.bytes(), before);
    let decided = events(&disk);
    let said =
        |event: &Event| matches!(event, Event::Decided { request: Some(own), .. } if *own == one);
    assert_eq!(decided.iter().filter(|event| said(event)).count(), 1);
    assert_eq!(decided.iter().filter(|event| event.by() == Some("the shop")).count(), 2);
}

#[test]
fn every_outcome_says_who_said_so() {
    let (disk, mut log) = begun();
    let (table, none, by) = (rows(), Context::default(), Some("Ada"));
    let decide = Asked::among(Among::Table(&table), &none);
    let requests = [
        Request::Decide(Asked { by, ..decide }),
        Request::Reward { decision: 1, reward: 0.25.into(), by },
        Request::Correct { decision: 1, reward: 0.5.into(), by },
        Request::Retract { decision: 1, by },
        Request::Drop { decision: 1, by },
        Request::Undrop { decision: 1, by },
    ];
    for answer in log.batch(2, &requests).unwrap() {
        assert!(!matches!(answer.unwrap(), Answer::Recorded(Recorded::Before)));
    }
    log.pause(3, by).unwrap();
    log.resume(3, by).unwrap();
    let said = events(&disk);
    let named = said.iter().filter(|event| event.by() == by).count();
    assert_eq!(named, requests.len() + 2, "{said:?}");
    assert_eq!(log.state(), open(&disk).state());
}

#[test]
fn a_paused_log_takes_outcomes_and_no_decisions() {
    let (disk, mut log) = begun();
    let (table, none) = (rows(), Context::default());
    log.decide_once("k", 2, &table, &none, 10).unwrap();
    assert_eq!(log.pause(3, None).unwrap(), Recorded::Now);
    let paused = disk.bytes();
    assert_eq!(log.pause(3, None).unwrap(), Recorded::Before);
    for log in [&mut log, &mut open(&disk)] {
        assert!(log.state().unwrap().is_paused());
        let refused = log.decide(4, &table, &none, 10);
        assert!(matches!(refused, Err(LogError::Step(StepError::Paused))), "{refused:?}");
        // What was decided before can still be asked for.
        assert_eq!(log.decide_once("k", 4, &table, &none, 10).unwrap().1, Recorded::Before);
    }
    assert_eq!(disk.bytes(), paused);
    let mut log = open(&disk);
    assert_eq!(log.reward(5, 1, 0.5).unwrap(), Recorded::Now);
    assert_eq!(log.resume(6, None).unwrap(), Recorded::Now);
    assert_eq!(log.resume(6, None).unwrap(), Recorded::Before);
    assert!(log.decide(7, &table, &none, 10).is_ok());
    assert_eq!(log.state(), open(&disk).state());
}

/// A table of rows with this many colours, which are as many features besides the intercept.
fn colours(count: usize) -> Table {
    let rows: Vec<String> = (0..2 * count).map(|at| format!("a{at},c{:03}", at % count)).collect();
    Table::read(format!("name,colour\n{}\n", rows.join("\n")).as_bytes()).unwrap()
}

#[test]
fn a_recipe_grows_as_far_as_its_log_says() {
    let none = Context::default();
    // What the log says, the features at first, and how many it may have.
    for (growth, first, most) in [(64, 4, 64), (0, 4, 4), (10, 4, 10), (1000, 4, 256), (8, 21, 21)]
    {
        let table = colours(first - 1);
        let recipe = Recipe::infer(&table, &none).unwrap();
        assert_eq!(recipe.dim(), first);
        let opening = Opening { growth, ..Opening::new(recipe, (0.0, 1.0), 7) };
        let (disk, mut log) = begun_with(opening);
        assert_eq!(log.state().unwrap().most_features(), most);
        log.decide(2, &table, &none, 1).unwrap();
        if most > first {
            log.decide(3, &colours(most - 1), &none, 1).unwrap();
        }
        assert_eq!(log.state().unwrap().recipe().dim(), most);
        let before = (log.state().cloned(), disk.bytes());
        let strange = Table::read("name,colour\nn,strange\n".as_bytes()).unwrap();
        let refused = log.decide(4, &strange, &none, 1);
        let Err(LogError::Recipe(error @ RecipeError::NoRoom { .. })) = refused else {
            panic!("{refused:?}")
        };
        let expected =
            format!("has {most} features, and with `colour = strange` it would have more");
        assert!(error.to_string().contains(&expected), "{error}");
        assert_eq!((log.state().cloned(), disk.bytes()), before);
        assert_eq!(log.state(), open(&disk).state());
    }
}
