//! A write may be interrupted at any byte: the log opens again with every acknowledged line.

use super::{Memory, open, plan, play};
use plausibly::Stream;
use plausibly_log::event::{Cells, Event, FORMAT, Outcomes, RecordedForecasts};
use plausibly_log::fold;
use plausibly_log::journal::{Checkpoint, Journal, JournalError, Recovery, Storage};
use plausibly_log::recipe::{Context, Recipe};
use plausibly_log::table::Table;
use serde_json::json;

const LOGS: u64 = 200;
/// Lines of the write that is interrupted.
const LAST: usize = 2;
/// Numbers that are written with a point, a minus, an exponent, or all of them.
const NUMBERS: [f64; 10] = [1e-7, -0.5, 1.5e300, -2.5e-300, 0.0, -0.0, 3.0, 1e21, -7.25e-9, 0.1];
/// Names beyond ASCII, with escapes, and with text that looks like the end of a line.
const NAMES: [&str; 6] = [
    "plain",
    "zwölf 🦊",
    "a \"quoted\" \\ one",
    "tab\tand\nline",
    "\u{1}\u{7f}\u{2028}",
    "\",\"hash\":\"0",
];

fn table(text: &str) -> Table {
    Table::read(text.as_bytes()).unwrap().with_label(Some("name")).unwrap()
}

/// An event of each kind with values drawn by the seed, in an order that differs by log.
fn bodies(seed: u64) -> Vec<String> {
    let mut rng = Stream::new(seed, 0, "torn");
    let mut number = || NUMBERS[rng.index(NUMBERS.len())];
    let (a, b, c) = (number(), number(), number());
    let policy = json!({ "kind": "code", "ridge": a, "target": { "accuracy": b } });
    let policy = policy.as_object().unwrap().clone();
    let name = |at: u64| NAMES[usize::try_from(seed + at).unwrap() % NAMES.len()].to_string();
    let context = Context::parse([format!("device={}", name(2)), format!("hour={c:e}")]).unwrap();
    let recipe = Recipe::infer(&table("name,kind,x\na,red,1e-7\nb,blue,-2.5\n"), &context).unwrap();
    let extension =
        recipe.extension(&table("name,kind,x\na,zwölf 🦊,1e-7\n"), &context).unwrap().unwrap();
    let cells = Cells::from([("x".into(), Some(format!("{b:e}"))), (name(3), None)]);
    let opened = Event::Opened {
        format: FORMAT,
        policy: policy.clone(),
        reward_range: (a, b),
        horizon: Some(seed),
        seed,
        outcomes: if seed.is_multiple_of(3) { Outcomes::Counts } else { Outcomes::Number },
        assumed: vec![name(1)],
        upgraded: None,
        growth: None,
        window: None,
        recipe,
    };
    let mut events = vec![
        opened,
        Event::PolicyChanged { policy, horizon: None, assumed: vec![name(4)] },
        Event::OutcomesChanged { outcomes: Outcomes::YesNo, assumed: Vec::new() },
        Event::RecipeExtended { extension },
        Event::ActionAdded { action: seed, label: name(0), cells },
        Event::ActionRetired { action: seed },
        Event::SetOffered { set: 0, actions: (0..seed % 7).collect() },
        Event::Decided {
            decision: 1,
            set: 0,
            context,
            chosen: 2,
            label: name(1),
            key: seed.is_multiple_of(2).then(|| name(2)),
            request: None,
            by: None,
            rows: None,
            forecasts: seed
                .is_multiple_of(5)
                .then_some(RecordedForecasts { steps: [-7, 1 << 24, 3], counts: 1 }),
        },
        Event::Rewarded {
            decision: 1,
            reward: c,
            of: seed.is_multiple_of(2).then_some(9),
            at_deadline: seed.is_multiple_of(3),
            by: None,
        },
        Event::Reported { decision: 1, reward: b, of: None, by: Some(name(3)) },
        Event::Late { decision: 1, reward: a, of: Some(3), by: None },
        Event::Paused { by: Some(name(5)) },
        Event::Resumed { by: None },
        Event::Corrected { decision: 1, reward: a, of: None, by: None },
        Event::Retracted { decision: 1, by: None },
        Event::Dropped { decision: 1, at_deadline: false, by: None },
        Event::Undropped { decision: 1, by: None },
    ];
    let kinds = events.len();
    events.rotate_left(usize::try_from(seed).unwrap() % kinds);
    events.iter().map(|event| serde_json::to_string(event).unwrap()).collect()
}

/// A log whose last lines were one write, and its last line before it.
fn written(bodies: &[String], last: usize) -> (Memory, Checkpoint) {
    let disk = Memory::default();
    let mut journal = Journal::open(disk.clone()).unwrap();
    let bodies: Vec<&str> = bodies.iter().map(String::as_str).collect();
    let (before, interrupted) = bodies.split_at(bodies.len() - last);
    journal.append(7, before).unwrap();
    let acknowledged = journal.last();
    journal.append(1_794_700_000_000_000, interrupted).unwrap();
    (disk, acknowledged)
}

/// Opens the rest of a cut log, and returns the events behind the acknowledged ones.
fn opened(
    left: &[u8],
    acknowledged: &Checkpoint,
) -> Result<(Vec<String>, Option<Recovery>), JournalError> {
    let mut disk = Memory::default();
    disk.append(left).unwrap();
    let mut found = Vec::new();
    let journal = Journal::open_from(disk, acknowledged, |_, entry| {
        found.push(entry.body.to_string());
        Ok::<(), JournalError>(())
    })?;
    Ok((found, journal.recovery().cloned()))
}

/// Cuts a log at every byte behind its acknowledged lines, with and without zeros behind the cut.
fn every_cut_recovers(bodies: &[String], last: usize, zeros: usize) {
    let (disk, acknowledged) = written(bodies, last);
    let log = disk.bytes();
    let interrupted = &bodies[bodies.len() - last..];
    for end in usize::try_from(acknowledged.offset).unwrap()..=log.len() {
        for zeros in [0, zeros] {
            let left = [&log[..end], &vec![0; zeros]].concat();
            let (found, recovery) = opened(&left, &acknowledged).unwrap_or_else(|error| {
                let tail = String::from_utf8_lossy(&log[end.saturating_sub(60)..end]);
                panic!("cut behind …{tail} and {zeros} zeros: {error}")
            });
            let whole = log[..end].split(|byte| *byte == b'\n').count() - 1;
            let whole = whole - usize::try_from(acknowledged.seq).unwrap();
            // A line that lacks only its newline is kept.
            let completed = usize::from(log.get(end) == Some(&b'\n'));
            assert_eq!(found, interrupted[..whole + completed], "cut at {end} of {}", log.len());
            let clean = zeros == 0 && (end == 0 || log[end - 1] == b'\n');
            assert_eq!(recovery.is_none(), clean, "cut at {end} of {}", log.len());
        }
    }
}

#[test]
fn every_cut_at_every_byte_recovers() {
    for seed in 0..LOGS {
        let bodies = bodies(seed);
        // A few logs are cut everywhere, the others only in the last write.
        let last = if seed < 11 { bodies.len() } else { LAST };
        every_cut_recovers(&bodies, last, 1 + usize::try_from(seed).unwrap());
    }
}

#[test]
fn a_cut_behind_each_part_of_a_number_recovers() {
    for number in ["1.5", "-0.5", "1e7", "1E+7", "1.25e-7", "-1.5e-300", "0", "-0.0e-0"] {
        for event in [format!("{{\"a\":{number}}}"), format!("{{\"a\":[true,{number},{number}]}}")]
        {
            every_cut_recovers(&["{}".into(), event], 1, 3);
        }
    }
}

/// Only a beginning of what could have been written is cut off.
#[test]
fn an_end_that_no_write_leaves_is_damage() {
    let (disk, acknowledged) = written(&bodies(0), 1);
    let log = disk.bytes();
    let line = &log[usize::try_from(acknowledged.offset).unwrap()..];
    let begin = line.windows(9).position(|bytes| bytes == b",\"event\":").unwrap() + 9;
    let frame = &log[..log.len() - line.len() + begin];
    assert!(opened(&[frame, b"{\"a\":1."].concat(), &acknowledged).is_ok());
    for event in [
        "{\"a\":1.~",
        "{\"a\":1.}",
        "{\"a\":-~",
        "{\"a\":-}",
        "{\"a\":1e~",
        "{\"a\":1e-~",
        "{\"a\":1e-}",
        "{\"a\":.",
        "{\"a\":+",
        "{\"a\":e",
        "{\"a\":01",
        "{\"a\":1.5.",
        "{\"a\":--",
        "{\"a\":1e5e",
        "{\"a\":1e5.",
        "{-",
        "{\"a\"-",
        "{\"a\":1-",
        "-",
        "1.",
    ] {
        let left = [frame, event.as_bytes()].concat();
        let error = opened(&left, &acknowledged).unwrap_err();
        assert!(matches!(error, JournalError::Damaged { .. }), "{event}: {error}");
    }
}

/// A byte of the frame or of an event that is whole can only be what was written.
#[test]
fn a_changed_byte_is_damage_and_not_a_torn_end() {
    for seed in 0..LOGS {
        let (disk, acknowledged) = written(&bodies(seed), 1);
        let log = disk.bytes();
        let begin = usize::try_from(acknowledged.offset).unwrap();
        let mut rng = Stream::new(seed, 0, "changed");
        for _ in 0..40 {
            let at = begin + rng.index(log.len() - 1 - begin);
            let mut changed = log.clone();
            changed[at] ^= 1 << rng.index(7);
            let error = opened(&changed, &acknowledged).unwrap_err();
            assert!(matches!(error, JournalError::Damaged { .. }), "byte {at}: {error}");
        }
    }
}

#[test]
fn a_log_that_was_cut_knows_what_its_lines_say_and_goes_on() {
    for seed in 0..40 {
        let disk = Memory::default();
        let mut log = open(&disk);
        let plan = plan(seed, (8, 12), 20);
        play(&mut log, &plan);
        drop(log);
        let whole = disk.bytes();
        let mut rng = Stream::new(seed, 0, "cuts");
        for _ in 0..10 {
            let end = rng.index(whole.len());
            let mut left = Memory::default();
            left.append(&whole[..end]).unwrap();
            let lines = |bytes: &[u8]| bytes.split(|byte| *byte == b'\n').count() - 1;
            let mut log = open(&left);
            assert!(
                lines(&left.bytes()) >= lines(&whole[..end]) && whole.starts_with(&left.bytes())
            );
            assert_eq!(log.state(), fold(&left, |_| Ok(())).unwrap().0.as_ref(), "{plan:?}");
            play(&mut log, &plan);
            assert_eq!(log.state(), fold(&left, |_| Ok(())).unwrap().0.as_ref(), "{plan:?}");
        }
    }
}
