//! A snapshot makes opening faster, and nothing else.

use super::{Memory, open, plan, play, steady};
use plausibly_log::fold;
use plausibly_log::journal::Storage;

/// The state that the log's lines give, from the first on.
fn told(disk: &Memory) -> Option<plausibly_log::state::State> {
    fold(disk, |_| Ok(())).unwrap().0
}

#[test]
fn decisions_are_the_same_with_and_without() {
    for seed in 0..150 {
        let plan = if seed % 10 == 0 { steady(seed, 300) } else { plan(seed, (8, 12), 40) };
        let (with, without) = (Memory::default(), Memory::default());
        let (mut cached, mut plain) = (open(&with), open(&without));
        play(&mut cached, &plan);
        play(&mut plain, &plan);
        cached.save_snapshot().unwrap();
        let behind = usize::from(seed % 3 == 0) * 10;
        if behind > 0 {
            // Lines behind it are read.
            let more = super::Plan { steps: behind, ..plan.clone() };
            play(&mut cached, &more);
            play(&mut plain, &more);
        }
        drop((cached, plain));
        let (mut cached, mut plain) = (open(&with), open(&without));
        assert!(cached.read_on_opening() <= 4 * behind as u64 && plain.read_on_opening() > 0);
        assert_eq!(cached.state(), told(&with).as_ref(), "{plan:?}");
        assert_eq!(cached.state(), plain.state(), "{plan:?}");
        assert_eq!(play(&mut cached, &plan), play(&mut plain, &plan), "{plan:?}");
        assert_eq!(cached.state(), told(&with).as_ref());
    }
}

#[test]
fn what_is_damaged_foreign_or_of_another_version_is_ignored() {
    let disk = Memory::default();
    let plan = plan(3, (4, 6), 40);
    let mut log = open(&disk);
    play(&mut log, &plan);
    log.save_snapshot().unwrap();
    let saved = disk.read_side("snapshot").unwrap().unwrap();
    drop(log);
    let opened = |disk: &Memory| {
        let log = open(disk);
        assert_eq!(log.state(), told(disk).as_ref());
        log.read_on_opening()
    };
    let lines = told(&disk).map(|_| opened_lines(&disk)).unwrap();
    assert_eq!(opened(&disk), 0);
    let mut writer = disk.clone();
    for at in (0..saved.len()).step_by(saved.len() / 200 + 1) {
        let mut damaged = saved.clone();
        damaged[at] ^= 1;
        writer.write_side("snapshot", &damaged).unwrap();
        assert_eq!(opened(&disk), lines, "byte {at}");
        writer.write_side("snapshot", &saved[..at]).unwrap();
        assert_eq!(opened(&disk), lines, "cut at {at}");
    }
    // That of another log, at a line that this one has too.
    let other = Memory::default();
    let mut log = open(&other);
    play(&mut log, &super::Plan { seed: 4, ..plan });
    log.save_snapshot().unwrap();
    writer.write_side("snapshot", &other.read_side("snapshot").unwrap().unwrap()).unwrap();
    assert_eq!(opened(&disk), lines);
}

fn opened_lines(disk: &Memory) -> u64 {
    let text = String::from_utf8(disk.reader().unwrap().into_inner()).unwrap();
    text.lines().count() as u64
}

#[test]
fn one_that_was_made_by_another_fold_is_given_up_for_the_log() {
    // Intact and of this log, but what it says is not what the log says: lines behind it do not follow, and all are read.
    let disk = Memory::default();
    let plan = plan(3, (4, 6), 40);
    let mut log = open(&disk);
    play(&mut log, &plan);
    log.save_snapshot().unwrap();
    play(&mut log, &plan);
    drop(log);
    let mut journal = plausibly_log::journal::Journal::open(disk.clone()).unwrap();
    journal.save_snapshot(b"no state at all").unwrap();
    drop(journal);
    let log = open(&disk);
    assert_eq!((log.state(), log.read_on_opening()), (told(&disk).as_ref(), opened_lines(&disk)));
}
