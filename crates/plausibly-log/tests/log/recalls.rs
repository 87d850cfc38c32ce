//! What a state has forgotten is read again in the log, also while the log is being opened.

use super::{Memory, open};
use plausibly_log::event::Outcomes;
use plausibly_log::journal::FileStorage;
use plausibly_log::recipe::{Context, Recipe};
use plausibly_log::state::StepError;
use plausibly_log::table::Table;
use plausibly_log::{
    Among, Asked, Log, LogError, Opening, Request, Reward, audit, fold, keep_milestones,
};
use serde_json::json;

fn table() -> Table {
    Table::read(b"name,size\nsmall,1\nmiddle,4\nlarge,9\n".as_slice()).unwrap()
}

fn begun(mut log: Log<impl plausibly_log::journal::Storage>, outcomes: Outcomes) {
    let recipe = Recipe::infer(&table(), &Context::default()).unwrap();
    log.begin(1, Opening::new(recipe, (0.0, 1.0), 1).about(outcomes)).unwrap();
}

/// Takes decisions, and settles them with rewards that differ.
fn settle(log: &mut Log<impl plausibly_log::journal::Storage>, decisions: u64) {
    let (table, none) = (table(), Context::default());
    let first = log.state().unwrap().count_decisions();
    for start in (first..first + decisions).step_by(50) {
        let decide = Request::Decide(Asked::among(Among::Table(&table), &none));
        let rewards = (start + 1..=start + 50).map(|decision| Request::Reward {
            decision,
            reward: ((decision % 11) as f64 / 10.0).into(),
            by: None,
        });
        let requests: Vec<_> = std::iter::repeat_n(decide, 50).chain(rewards).collect();
        log.batch(2, &requests).unwrap().into_iter().for_each(|answer| drop(answer.unwrap()));
    }
}

fn policy(policy: &serde_json::Value) -> plausibly_log::policy::PolicyTable {
    policy.as_object().unwrap().clone()
}

#[test]
fn opening_a_long_file_reads_lines_again_and_keeps_every_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.log");
    begun(Log::open(FileStorage::new(&path)).unwrap(), Outcomes::Number);
    let mut log = Log::open(FileStorage::new(&path)).unwrap();
    settle(&mut log, 100);
    // Each needs the line of its decision, and the policy needs all of them.
    for decision in 1..=50 {
        log.correct(2, decision, 0.25).unwrap();
    }
    let logistic = json!({"kind": "code", "radius": {"kind": "logistic"}});
    log.change_policy(2, &policy(&logistic), None).unwrap();
    log.change_policy(2, &policy(&json!({"kind": "code"})), None).unwrap();
    settle(&mut log, 4_000);
    for decision in [3, 3_000, 4_090] {
        log.retract(2, decision).unwrap();
    }
    let (length, digest) = (std::fs::metadata(&path).unwrap().len(), {
        let digest = log.state().unwrap().digest();
        drop(log);
        digest
    });
    assert!(length > 2 << 20, "{length} bytes are not more than two pieces");
    for _ in 0..2 {
        let log = Log::open(FileStorage::new(&path)).unwrap();
        assert!(log.recovery().is_none());
        assert_eq!(log.state().unwrap().digest(), digest);
    }
    assert_eq!(std::fs::metadata(&path).unwrap().len(), length);
    assert_eq!(audit(&FileStorage::new(&path)).unwrap().statistics, digest);
}

#[test]
fn a_refused_correction_keeps_the_reward() {
    let disk = Memory::default();
    begun(open(&disk), Outcomes::Counts);
    let mut log = open(&disk);
    log.decide(1, &table(), &Context::default(), 1).unwrap();
    log.reward(1, 1, Reward::counts(3, 9)).unwrap();
    let before = (log.state().unwrap().clone(), disk.bytes());
    let refused = log.correct(1, 1, Reward::counts(0, 1 << 57));
    assert!(matches!(refused, Err(LogError::Step(StepError::Statistics(_)))), "{refused:?}");
    assert_eq!((log.state().unwrap().clone(), disk.bytes()), before);
}

#[test]
fn a_line_that_cannot_be_written_stops_nothing() {
    let disk = Memory::default();
    begun(open(&disk), Outcomes::Number);
    let mut log = open(&disk);
    settle(&mut log, 50);
    log.retract(2, 1).unwrap();
    let before = (log.state().unwrap().clone(), disk.bytes());
    assert!(matches!(log.reward(-1, 1, 0.5), Err(LogError::Journal(_))));
    assert_eq!((log.state().unwrap().clone(), disk.bytes()), before);
    log.reward(2, 1, 0.5).unwrap();
}

#[test]
fn changes_that_look_back_are_the_same_after_a_snapshot() {
    let mut disk = Memory::default();
    begun(open(&disk), Outcomes::Number);
    settle(&mut open(&disk), 3_000);
    keep_milestones(&mut disk).unwrap();
    let bell = json!({"kind": "code", "radius": {"kind": "bell"}});
    // Behind the snapshot, and in a log that was opened from it.
    for live in [true, false] {
        let (short, whole) = (disk.copied(), disk.copied());
        for (disk, from_snapshot) in [(&short, true), (&whole, false)] {
            let opened = |from_snapshot: bool| {
                if from_snapshot {
                    Log::open_from_snapshot(disk.clone()).unwrap()
                } else {
                    open(disk)
                }
            };
            let mut log = opened(from_snapshot && live);
            let yes_no = log.change_outcomes(3, Outcomes::YesNo);
            assert!(matches!(
                yes_no,
                Err(LogError::Step(StepError::Contradicted { decision: 1, .. }))
            ));
            log.change_policy(3, &policy(&bell), None).unwrap();
            drop(log);
            settle(&mut opened(from_snapshot), 100);
        }
        assert!(short.bytes() == whole.bytes());
        assert!(fold(&short, |_| Ok(())).unwrap().0.unwrap().policy().0.is_bell());
        audit(&short).unwrap();
    }
}

#[test]
fn a_damaged_block_is_found_before_an_outcome_needs_it() {
    let mut disk = Memory::default();
    begun(open(&disk), Outcomes::Number);
    settle(&mut open(&disk), 7_000);
    keep_milestones(&mut disk).unwrap();
    let mut file = disk.beside("milestones").unwrap();
    let second = file.iter().position(|byte| *byte == b'\n').unwrap() + 400;
    file[second] ^= 1;
    disk.set_beside("milestones", Some(file));
    let mut log = Log::open_from_snapshot(disk.clone()).unwrap();
    log.correct(3, 2_500, 0.75).unwrap();
    log.retract(3, 1).unwrap();
    drop(log);
    assert_eq!(keep_milestones(&mut disk).unwrap().milestones, 3);
    let mut log = Log::open_from_snapshot(disk.clone()).unwrap();
    assert_eq!(log.state().unwrap().decisions().count(), 0);
    log.correct(3, 2_500, 0.25).unwrap();
    drop(log);
    audit(&disk).unwrap();
}
