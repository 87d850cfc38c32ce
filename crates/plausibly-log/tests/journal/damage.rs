//! Damage is found and the right line named; only what an interrupted write leaves is cut off.

use super::disk::Disk;
use super::{Draws, NOW, bodies, log_of, varied};
use plausibly_log::journal::{
    BodyFault, Checkpoint, Damage, Journal, JournalError, Recovery, read,
};
use sha2::{Digest, Sha256};
use std::ops::Range;

/// The error of opening and of reading a log; both must agree, and leave it unchanged.
fn damage(bytes: &[u8]) -> (u64, u64, Damage) {
    let disk = Disk::with_log(bytes);
    let (opened, read) =
        (Journal::open(disk.storage()).unwrap_err(), bodies(&disk.storage()).unwrap_err());
    assert_eq!(disk.log(), bytes, "changed by looking at it");
    assert_eq!(opened.to_string(), read.to_string());
    match opened {
        JournalError::Damaged { seq, offset, damage, .. } => (seq, offset, damage),
        other => panic!("{other}"),
    }
}

/// Where lines are, with their newlines.
fn lines(log: &[u8]) -> Vec<Range<usize>> {
    let mut begin = 0;
    let line = |line: &[u8]| {
        begin += line.len();
        begin - line.len()..begin
    };
    log.split_inclusive(|&byte| byte == b'\n').map(line).collect()
}

fn find(log: &[u8], what: &str) -> usize {
    log.windows(what.len()).position(|window| window == what.as_bytes()).unwrap()
}

/// A place of each class in a line: frame, its hashes, event, newline.
fn place(class: usize, line: &[u8], draws: &mut Draws) -> usize {
    let (prev, body) = (find(line, "\"prev\":\"") + 8, find(line, "\"body\":\"") + 8);
    let event = find(line, ",\"event\":") + 9;
    let hash = line.len() - 67;
    match class {
        0 => draws.below(event),
        1 => [prev, body, hash][draws.below(3)] + draws.below(64),
        2 => event + draws.below(hash - 9 - event),
        3 => line.len() - 1,
        _ => hash - 9 + draws.below(76),
    }
}

#[test]
fn a_thousand_changed_bytes_are_each_found_in_their_line() {
    let log = log_of(&varied(40)).log();
    let lines = lines(&log);
    let mut draws = Draws(4);
    for change in 0..1000 {
        let number = draws.below(lines.len());
        let line = lines[number].clone();
        let at = line.start + place(change % 5, &log[line.clone()], &mut draws);
        let mut changed = log.clone();
        changed[at] ^= u8::try_from(1 + draws.below(255)).unwrap();
        if at + 1 == log.len() && changed[at] == 0 {
            continue; // not told from a line that lacks its newline: see below
        }
        let (seq, offset, what) = damage(&changed);
        assert_eq!((seq, offset), (number as u64 + 1, line.start as u64), "byte {at}: {what}");
    }
}

#[test]
fn every_byte_of_the_last_two_lines_may_be_the_last() {
    let all = varied(8);
    let log = log_of(&all).log();
    let lines = lines(&log);
    for (end, zeros) in
        (lines[6].start..=log.len()).flat_map(|end| [(end, 0), (end, 1), (end, 700)])
    {
        let cut = [&log[..end], &vec![0; zeros]].concat();
        let disk = Disk::with_log(&cut);
        let whole = lines.iter().filter(|line| line.end <= end).count();
        let seq = whole as u64 + 1;
        let begin = lines.get(whole).map_or(log.len(), |line| line.start);
        let unfinished = (cut.len() - begin) as u64;
        let reading =
            read(&disk.storage(), &Checkpoint::START, |_| Ok::<(), JournalError>(())).unwrap();
        assert_eq!((reading.last.seq, reading.unfinished), (whole as u64, unfinished));

        let mut journal = Journal::open(disk.storage()).unwrap();
        let newline_missing = lines.get(whole).is_some_and(|line| line.end == end + 1);
        let expected = match unfinished {
            0 => None,
            _ if newline_missing => Some(Recovery::Completed { seq }),
            bytes => Some(Recovery::Cut { seq, bytes, kept_in: format!("LOG.torn-{seq}").into() }),
        };
        assert_eq!(journal.recovery(), expected.as_ref(), "{end} bytes and {zeros} zeros");
        if let Some(Recovery::Cut { .. }) = expected {
            assert_eq!(disk.side(&format!("torn-{seq}")).unwrap(), cut[begin..]);
        }
        let left = whole + usize::from(newline_missing);
        assert_eq!(journal.last().seq, left as u64);
        journal.append(NOW + 9, &[r#"{"after":1}"#]).unwrap();
        assert_eq!(bodies(&disk.storage()).unwrap()[..left], all[..left]);
        assert_eq!(bodies(&disk.storage()).unwrap()[left..], [r#"{"after":1}"#]);
    }
}

/// A line made by hand, with right hashes whatever its parts are.
fn forge(frame: &str, prev: &str, event: &[u8]) -> Vec<u8> {
    let hex = |bytes: &[u8]| {
        Sha256::digest(bytes).iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"))
    };
    let head = format!(r#"{{{frame},"prev":"{prev}","body":"{}""#, hex(event));
    let hash = hex(head.as_bytes());
    [head.as_bytes(), b",\"event\":", event, format!(",\"hash\":\"{hash}\"}}\n").as_bytes()]
        .concat()
}

#[test]
fn each_kind_of_damage_has_its_name() {
    let zero = "0".repeat(64);
    let at = r#""at":"2026-11-15T15:10:02.123456Z""#;
    let good = format!(r#""v":1,"seq":1,{at}"#);
    let sound = forge(&good, &zero, b"{}");
    assert_eq!(bodies(&Disk::with_log(&sound).storage()).unwrap(), ["{}"], "the forge works");
    let first = |frame: &str, event: &[u8]| damage(&forge(frame, &zero, event)).2;

    assert_eq!(first(&good.replace("\"v\":1", "\"v\":2"), b"{}"), Damage::Version { found: 2 });
    assert_eq!(first(&good.replace("\"seq\":1", "\"seq\":2"), b"{}"), Damage::Gap { found: 2 });
    for wrong in ["\"seq\":01", "\"seq\":0", "\"seq\":-1", "\"seq\": 1", "\"seq\":1000000000000000"]
    {
        assert!(
            matches!(first(&good.replace("\"seq\":1", wrong), b"{}"), Damage::Frame { .. }),
            "{wrong}"
        );
    }
    for wrong in
        ["2026-02-29", "2026-13-01", "1969-12-31", "2026-1-015", "2026-00-10", "2026-04-31"]
    {
        let frame = good.replace("2026-11-15", wrong);
        assert_eq!(
            first(&frame, b"{}"),
            Damage::Frame { column: 21, expected: "a time" },
            "{wrong}"
        );
    }
    let chain = damage(&forge(&good, &"1".repeat(64), b"{}")).2;
    assert_eq!(chain, Damage::Chain { expected: zero.clone(), found: "1".repeat(64) });
    assert_eq!(first(&good, b"{\"a\":\"\xff\"}"), Damage::NotUtf8 { column: 212 });
    assert_eq!(first(&good, b"null"), Damage::Body(BodyFault::Null));
    assert_eq!(first(&good, b"[]"), Damage::Body(BodyFault::NotAnObject));
    assert_eq!(first(&good, b"{\t}"), Damage::Body(BodyFault::Control { at: 1, byte: 9 }));
    assert!(matches!(first(&good, b"{\"a\":}"), Damage::Body(BodyFault::Json { .. })));

    let hash = std::str::from_utf8(&sound[sound.len() - 67..sound.len() - 3]).unwrap();
    let second = r#""v":1,"seq":2,"at":"2026-11-15T15:10:02.123455Z""#;
    let (seq, offset, what) = damage(&[&sound[..], &forge(second, hash, b"{}")].concat());
    assert_eq!((seq, offset), (2, sound.len() as u64));
    assert_eq!(
        what.to_string(),
        "its time 2026-11-15T15:10:02.123455Z is earlier than 2026-11-15T15:10:02.123456Z, that of \
         the line before"
    );
    assert_eq!(damage(b"hello").2, Damage::Unended);
    assert_eq!(damage(b"\n").2, Damage::Frame { column: 0, expected: "{\"v\":" });
    assert_eq!(damage(&vec![b' '; 20 << 20]).2, Damage::TooLong);
}

#[test]
fn lines_that_are_missing_doubled_moved_or_foreign_are_found() {
    let log = log_of(&varied(9)).log();
    let other = log_of(&varied(10)[1..]).log();
    let (lines, others) = (lines(&log), lines(&other));
    let put = |order: &[usize]| {
        order.iter().flat_map(|&line| log[lines[line].clone()].to_vec()).collect::<Vec<u8>>()
    };
    assert_eq!(damage(&put(&[1, 2])), (1, 0, Damage::Gap { found: 2 }));
    assert_eq!(damage(&put(&[0, 2])).2, Damage::Gap { found: 3 });
    assert_eq!(damage(&put(&[0, 1, 1])).2, Damage::Gap { found: 2 });
    assert_eq!(damage(&put(&[0, 2, 1])).0, 2);
    let foreign = [&log[..lines[3].end], &other[others[4].start..]].concat();
    let (seq, _, what) = damage(&foreign);
    assert!(seq == 5 && matches!(what, Damage::Chain { .. }), "{what}");
}

/// An end that no interrupted write leaves is not cut off, even if it looks similar.
#[test]
fn ends_that_were_never_written_are_damage() {
    let log = log_of(&varied(8)).log();
    let last = lines(&log)[7].clone();
    let text = &log[last.start..last.end - 1];
    let event = find(text, ",\"event\":") + 9;
    let mut draws = Draws(5);
    for _ in 0..400 {
        let end = 1 + draws.below(text.len());
        let mut torn = text[..end].to_vec();
        let at = draws.below(end);
        // The content of an unfinished event cannot be known. Without the quote of its last string,
        // an event looks unfinished up to the `"` of `,"hash"`.
        if at >= event && end < text.len() - 75 + 3 {
            continue;
        }
        torn[at] = b'~';
        assert_eq!(damage(&[&log[..last.start], &torn].concat()).0, 8, "byte {at} of {end}");
    }
    // A tail that continues another log, or this one elsewhere.
    let earlier = lines(&log)[3].clone();
    for end in 15..text.len() {
        let wrong = &log[earlier.start..earlier.end - 1];
        let wrong = &wrong[..end.min(wrong.len())];
        assert_eq!(damage(&[&log[..], wrong].concat()).2, Damage::Unended);
    }
}

#[test]
fn a_message_names_the_place_and_the_way_out() {
    let mut log = log_of(&varied(3)).log();
    let second = lines(&log)[1].clone();
    let event = second.start + find(&log[second.clone()], ",\"event\":") + 12;
    log[event] ^= 1;
    let error = Journal::open(Disk::with_log(&log).storage()).unwrap_err();
    let expected = format!(
        "LOG is damaged in line 2 (seq 2, byte {}): its `body` is not the hash of its event; all \
         lines before it are intact; restore it from a copy",
        second.start
    );
    assert_eq!(error.to_string(), expected);
    log[second.start + 5] = b'2';
    let error = Journal::open(Disk::with_log(&log).storage()).unwrap_err().to_string();
    assert!(
        error.contains("a newer version wrote this log") && error.contains("update this program"),
        "{error}"
    );
}

/// A reader beside writers gets part of a torn line, which is then cut off and another written in
/// its place.
#[test]
fn a_line_replaced_while_it_is_read_is_read_again() {
    let (old, mut new) = (varied(8), varied(8));
    new[7] = format!(r#"{{"n":"another, and longer: {}"}}"#, "y".repeat(200));
    let (old, after) = (log_of(&old).log(), log_of(&new).log());
    let begin = lines(&old)[7].start;
    for end in begin + 1..old.len() {
        let disk = Disk::with_log(&old[..end]);
        disk.replace_while_read(&after);
        assert_eq!(bodies(&disk.storage()).unwrap(), new, "{end}");
    }
}
