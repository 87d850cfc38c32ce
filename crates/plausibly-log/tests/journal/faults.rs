//! Every step of a scenario fails in turn: once, forever, with parts written, with a power cut
//! after it.
//!
//! The law: the log always opens and contains every acknowledged line, once and in order, then
//! perhaps a first part of the interrupted write. Lines that opening has shown survive the next
//! power cut.

use super::disk::{Disk, Fault, FaultyStorage, Step};
use super::{Draws, NOW, bodies};
use plausibly_log::journal::{Checkpoint, Journal, JournalError, Recovery};

/// An action of the scenario.
#[derive(Clone, Copy, Debug)]
enum Act {
    Open,
    Append(usize),
    /// Prepares lines one by one, and commits them together.
    Batch(usize),
    /// The writer ends in the middle of a line.
    Tear,
}

const SCENARIO: &[Act] = &[
    Act::Open,
    Act::Append(1),
    Act::Append(3),
    Act::Append(1),
    Act::Batch(3),
    Act::Tear,
    Act::Open,
    Act::Append(2),
    Act::Batch(1),
    Act::Append(1),
    Act::Tear,
    Act::Open,
    Act::Append(1),
];

/// How lines are written.
type Write = fn(&mut Journal<FaultyStorage>, &[&str]) -> Result<(), JournalError>;

fn append(journal: &mut Journal<FaultyStorage>, texts: &[&str]) -> Result<(), JournalError> {
    let lines = journal.append(NOW, texts)?;
    assert_eq!(lines.len(), texts.len());
    Ok(())
}

fn batch(journal: &mut Journal<FaultyStorage>, texts: &[&str]) -> Result<(), JournalError> {
    let last = journal.last();
    for (before, text) in (1..).zip(texts) {
        let line = journal.prepare(NOW, text)?;
        assert_eq!((line.seq, journal.prepared()), (last.seq + before, line));
        assert_eq!(journal.last(), last, "not acknowledged before the commit");
    }
    let prepared = journal.prepared();
    journal.commit()?;
    assert_eq!(journal.last(), prepared);
    Ok(())
}

/// A running scenario.
struct Play {
    disk: Disk,
    journal: Option<Journal<FaultyStorage>>,
    acknowledged: Vec<String>,
    /// The lines being written when a step failed.
    open: Vec<String>,
    named: usize,
    /// Whether the machine must be restarted before the log is opened.
    restart: bool,
}

impl Play {
    fn new(disk: &Disk) -> Self {
        let (acknowledged, open) = (Vec::new(), Vec::new());
        Self { disk: disk.clone(), journal: None, acknowledged, open, named: 0, restart: false }
    }

    fn act(&mut self, act: Act) -> Result<(), JournalError> {
        match act {
            Act::Open => self.open(),
            Act::Append(count) => self.write(count, append),
            Act::Batch(count) => self.write(count, batch),
            Act::Tear => {
                // The beginning of the next line, as a killed writer leaves it.
                let journal = self.journal.take().unwrap();
                let head = format!(r#"{{"v":1,"seq":{},"at":"2026-"#, journal.last().seq + 1);
                drop(journal);
                self.disk.leave_behind(head.as_bytes());
                Ok(())
            }
        }
    }

    fn open(&mut self) -> Result<(), JournalError> {
        let mut found = Vec::new();
        let journal = Journal::open_from(self.disk.storage(), &Checkpoint::START, |_, entry| {
            found.push(entry.body.to_owned());
            Ok::<(), JournalError>(())
        })?;
        self.settle(found);
        self.journal = Some(journal);
        Ok(())
    }

    /// The content of the log settles which lines were written.
    fn settle(&mut self, found: Vec<String>) {
        let known = self.acknowledged.len();
        assert!(found.len() >= known, "lost: {:?}", &self.acknowledged[found.len()..]);
        assert_eq!(found[..known], self.acknowledged, "changed or doubled");
        assert!(self.open.starts_with(&found[known..]), "invented: {:?}", &found[known..]);
        self.acknowledged = found;
        self.open.clear();
    }

    fn write(&mut self, count: usize, write: Write) -> Result<(), JournalError> {
        let Some(journal) = &mut self.journal else { return Ok(()) };
        let named = self.named..self.named + count;
        self.named = named.end;
        let new: Vec<String> = named
            .map(|name| format!(r#"{{"n":{name},"ü":"{}"}}"#, "x".repeat(40 * name)))
            .collect();
        let texts: Vec<&str> = new.iter().map(String::as_str).collect();
        let before = self.disk.steps().len();
        match write(journal, &texts) {
            Ok(()) => {
                assert_eq!(
                    self.disk.steps()[before..],
                    [Step::Length, Step::Append, Step::Sync],
                    "one write and one sync, and acknowledged after it"
                );
                self.acknowledged.extend(new);
                Ok(())
            }
            Err(error) => {
                assert_eq!(journal.prepared(), journal.last(), "no line is left prepared");
                if let JournalError::NotAcknowledged { cut_back, .. } = error {
                    self.restart = !cut_back;
                    let again = write(journal, &texts);
                    assert!(matches!(again, Err(JournalError::Stopped { .. })), "{again:?}");
                    self.journal = None;
                    self.open = new;
                }
                Err(error)
            }
        }
    }
}

/// After a power cut the log opens and obeys the law, and the lines it shows survive another cut.
fn check_after_power_cut(play: &Play, draws: &mut Draws) {
    let disk = play.disk.power_cut(draws);
    let mut after = Play::new(&disk);
    after.acknowledged.clone_from(&play.acknowledged);
    after.open.clone_from(&play.open);
    after.named = play.named;
    after.act(Act::Open).unwrap();
    let shown = after.acknowledged.clone();
    assert_eq!(bodies(&disk.power_cut(draws).storage()).unwrap(), shown, "shown, and then lost");
    after.act(Act::Append(2)).unwrap();
    drop(after.journal);
    let found = bodies(&disk.power_cut(draws).storage()).unwrap();
    assert_eq!(found, after.acknowledged);
}

/// Plays the scenario with one fault, and continues as a careful caller would.
fn play_with(fault: Fault, draws: &mut Draws) -> Play {
    let disk = Disk::new();
    disk.set_fault(Some(fault));
    let mut play = Play::new(&disk);
    for &act in SCENARIO {
        // A writer that could not even open has nothing to tear.
        if matches!(act, Act::Tear) && play.journal.is_none() {
            continue;
        }
        let Err(error) = play.act(act) else { continue };
        if fault.for_good {
            break;
        }
        assert!(!play.restart, "one failure leaves the log cut back: {error}");
        if play.journal.is_none() {
            play.act(Act::Open).unwrap();
        }
    }
    play.journal = None;
    disk.set_fault(None);
    for _ in 0..12 {
        check_after_power_cut(&play, draws);
    }
    play
}

fn steps_of_scenario() -> Vec<Step> {
    let disk = Disk::new();
    let mut play = Play::new(&disk);
    for &act in SCENARIO {
        play.act(act).unwrap();
    }
    assert_eq!(play.acknowledged.len(), 13);
    disk.steps()
}

#[test]
fn without_faults_the_scenario_takes_every_kind_of_step() {
    let steps = steps_of_scenario();
    for step in [
        Step::Append,
        Step::Sync,
        Step::Truncate,
        Step::SyncFolder,
        Step::WriteSide,
        Step::RenameSide,
    ] {
        assert!(steps.contains(&step), "{step:?}");
    }
}

#[test]
fn a_step_that_fails_once_loses_nothing() {
    let mut draws = Draws(1);
    for at in 0..steps_of_scenario().len() {
        for quarters in 0..=4 {
            play_with(Fault { at, for_good: false, quarters }, &mut draws);
        }
    }
}

#[test]
fn a_disk_that_fails_for_good_or_loses_power_loses_nothing() {
    let mut draws = Draws(2);
    for at in 0..steps_of_scenario().len() {
        for quarters in 0..=4 {
            let play = play_with(Fault { at, for_good: true, quarters }, &mut draws);
            if !play.restart {
                // The process alone had died: the same disk opens, and obeys the law.
                let mut again = Play { journal: None, ..play };
                again.act(Act::Open).unwrap();
            }
        }
    }
}

/// Blocks that arrive out of order leave zeros in the middle of a write. The log opens, or names
/// the damage; acknowledged lines are there in both cases.
#[test]
fn blocks_out_of_order_are_cut_or_named_and_acknowledged_lines_stay() {
    let mut draws = Draws(3);
    let (mut opened, mut named) = (0, 0);
    for _ in 0..300 {
        let disk = Disk::new();
        let mut play = Play::new(&disk);
        for act in [Act::Open, Act::Append(draws.below(3) + 1), Act::Append(1)] {
            play.act(act).unwrap();
        }
        let safe = disk.log();
        play.write(draws.below(4) + 1, append).unwrap();
        play.journal = None;
        let mut bytes = disk.log();
        let sector = 512;
        for from in (0..bytes.len()).step_by(sector) {
            if draws.below(3) == 0 {
                let to = bytes.len().min(from + sector);
                bytes[from.max(safe.len()).min(to)..to].fill(0);
            }
        }
        let torn = Disk::with_log(&bytes);
        match Journal::open(torn.storage()) {
            Ok(_) => {
                opened += 1;
                let found = bodies(&torn.storage()).unwrap();
                assert!(play.acknowledged.starts_with(&found));
            }
            Err(JournalError::Damaged { offset, .. }) => {
                named += 1;
                assert!(offset >= safe.len() as u64);
                assert_eq!(torn.log(), bytes, "a log that is refused is left alone");
            }
            Err(other) => panic!("{other}"),
        }
        assert!(torn.log().starts_with(&safe));
    }
    assert!(opened > 0 && named > 0, "{opened} opened, {named} named");
}

#[test]
fn a_recovery_that_is_interrupted_twice_still_keeps_the_bytes_once() {
    let torn = br#"{"v":1,"seq":1,"at":"2026-11"#;
    let count = {
        let disk = Disk::with_log(torn);
        Journal::open(disk.storage()).unwrap();
        disk.steps().len()
    };
    let interrupt = |disk: &Disk, at: usize| {
        let fault = Fault { at: disk.steps().len() + at, for_good: true, quarters: 2 };
        disk.set_fault(Some(fault));
        let opened = Journal::open(disk.storage()).is_ok();
        disk.set_fault(None);
        opened
    };
    for (first, second) in
        (0..count).flat_map(|first| (0..count).map(move |second| (first, second)))
    {
        let disk = Disk::with_log(torn);
        assert!(!interrupt(&disk, first));
        interrupt(&disk, second);
        let mut draws = Draws(first as u64);
        let after = (0..8).map(|_| disk.power_cut(&mut draws));
        for disk in after.chain([disk.clone()]) {
            let journal = Journal::open(disk.storage()).unwrap();
            assert_eq!(journal.last(), Checkpoint::START);
            assert_eq!(
                disk.side("torn-1").as_deref(),
                Some(&torn[..]),
                "failed at {first} and {second}"
            );
            assert_eq!(disk.side("torn-1-2"), None, "kept twice");
        }
    }
}

/// A writer was killed between write and sync, or just before the newline: lines that a reader is
/// then shown must stay.
#[test]
fn lines_that_nobody_synced_are_on_the_disk_once_opening_has_shown_them() {
    let log = super::log_of(&super::varied(6)).log();
    let mut draws = Draws(9);
    for missing in [0, 1] {
        let disk = Disk::with_log(&[]);
        disk.leave_behind(&log[..log.len() - missing]);
        let journal = Journal::open(disk.storage()).unwrap();
        assert_eq!(journal.last().seq, 6);
        for _ in 0..20 {
            assert_eq!(disk.power_cut(&mut draws).log(), log);
        }
    }
}

#[test]
fn torn_lines_of_the_same_number_are_all_kept() {
    let first = br#"{"v":1,"seq":1,"at":"2026-11"#;
    let disk = Disk::with_log(first);
    drop(Journal::open(disk.storage()).unwrap());
    disk.leave_behind(br#"{"v":1,"s"#);
    let journal = Journal::open(disk.storage()).unwrap();
    let expected = Recovery::Cut { seq: 1, bytes: 9, kept_in: "LOG.torn-1-2".into() };
    assert_eq!(journal.recovery(), Some(&expected));
    assert_eq!(disk.side("torn-1").as_deref(), Some(&first[..]));
    assert_eq!(disk.side("torn-1-2").as_deref(), Some(&br#"{"v":1,"s"#[..]));
}
