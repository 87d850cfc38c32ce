//! What goes in comes out, in order, with its number, time and place.

use super::disk::{Disk, Step};
use super::{NOW, bodies, log_of, varied};
use plausibly_log::journal::{
    BodyFault, Checkpoint, Entry, FileStorage, Journal, JournalError, LATEST_US, LineHash,
    MAX_BODY, Storage, parse_utc, read, utc,
};
use proptest::prelude::*;

/// All entries as owned values.
fn entries(storage: &impl Storage, from: &Checkpoint) -> Vec<(u64, i64, String, LineHash)> {
    let mut found = Vec::new();
    let own = |entry: Entry<'_>| {
        found.push((entry.seq, entry.at_us, entry.body.to_owned(), entry.hash));
        Ok::<(), JournalError>(())
    };
    read(storage, from, own).unwrap();
    found
}

proptest! {
    #[test]
    fn any_objects_come_back_as_they_were(
        batches in prop::collection::vec(
            prop::collection::vec((any::<String>(), any::<f64>()), 0..4),
            0..8,
        ),
        times in prop::collection::vec(0..=LATEST_US, 8),
    ) {
        let disk = Disk::new();
        let mut journal = Journal::open(disk.storage()).unwrap();
        let (mut expected, mut latest) = (Vec::new(), 0);
        for (batch, at_us) in batches.iter().zip(times) {
            let text = |(text, number): &(String, f64)| {
                serde_json::json!({ text: number, "t": text }).to_string()
            };
            let texts: Vec<String> = batch.iter().map(text).collect();
            let bodies: Vec<&str> = texts.iter().map(String::as_str).collect();
            let written = journal.append(at_us, &bodies).unwrap();
            if !texts.is_empty() {
                latest = at_us.max(latest);
                prop_assert_eq!(written.last(), Some(&journal.last()));
            }
            for (line, text) in written.iter().zip(texts) {
                expected.push((expected.len() as u64 + 1, latest, text, line.hash));
                prop_assert_eq!((line.seq, line.at_us), (expected.len() as u64, latest));
            }
        }
        prop_assert_eq!(&entries(&disk.storage(), &Checkpoint::START), &expected);
        let last = journal.last();
        drop(journal);
        prop_assert_eq!(Journal::open(disk.storage()).unwrap().last(), last);
    }

    #[test]
    fn instants_come_back_and_sort_as_text(a in 0..=LATEST_US, b in 0..=LATEST_US) {
        let (text_a, text_b) = (utc(a).unwrap(), utc(b).unwrap());
        prop_assert_eq!(parse_utc(&text_a), Some(a));
        prop_assert_eq!(a.cmp(&b), text_a.cmp(&text_b));
    }

    #[test]
    fn text_that_is_an_instant_is_the_text_of_it(
        text in "[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-6][0-9]:[0-6][0-9].[0-9]{6}Z",
    ) {
        if let Some(at_us) = parse_utc(&text) {
            prop_assert_eq!(utc(at_us), Some(text));
        }
    }
}

#[test]
fn known_instants() {
    for (at_us, text) in [
        (0, "1970-01-01T00:00:00.000000Z"),
        (951_782_400_000_001, "2000-02-29T00:00:00.000001Z"),
        (1_794_755_402_123_456, "2026-11-15T15:10:02.123456Z"),
        (4_107_542_399_999_999, "2100-02-28T23:59:59.999999Z"),
        (LATEST_US, "9999-12-31T23:59:59.999999Z"),
    ] {
        assert_eq!((utc(at_us).as_deref(), parse_utc(text)), (Some(text), Some(at_us)));
    }
    assert_eq!((utc(-1), utc(LATEST_US + 1)), (None, None));
}

#[test]
fn a_line_is_exactly_this() {
    let disk = Disk::new();
    let mut journal = Journal::open(disk.storage()).unwrap();
    journal.append(1_794_755_402_123_456, &[r#"{"a": 1}"#]).unwrap();
    // Both hashes as `sha256sum` gives them.
    let expected = concat!(
        r#"{"v":1,"seq":1,"at":"2026-11-15T15:10:02.123456Z","#,
        r#""prev":"0000000000000000000000000000000000000000000000000000000000000000","#,
        r#""body":"f9d86028c6e0d64e225186f96acb69338b2c59764df79162107f5c4bb34d1310","#,
        r#""event":{"a": 1},"#,
        r#""hash":"48c590007befe7deb746721748a785f76d1b4280fab54f47e20d6dc184be24c7"}"#,
        "\n"
    );
    assert_eq!(String::from_utf8(disk.log()).unwrap(), expected);
}

#[test]
fn what_cannot_be_an_event_is_refused_and_nothing_is_written() {
    let disk = Disk::new();
    let mut journal = Journal::open(disk.storage()).unwrap();
    let steps = disk.steps();
    let mut refused = |body: &str| match journal.append(NOW, &["{}", body]) {
        Err(JournalError::Body { index: 2, count: 2, fault }) => fault,
        other => panic!("{other:?}"),
    };
    assert_eq!(refused("null"), BodyFault::Null);
    for body in ["", "1", "[]", "\"{}\"", " {}", "{} ", "\u{feff}{}"] {
        assert_eq!(refused(body), BodyFault::NotAnObject, "{body:?}");
    }
    for body in ["{\n}", "{\"a\":\"\r\"}", "{\"\0\":1}", "{}\n{}"] {
        assert!(matches!(refused(body), BodyFault::Control { .. }), "{body:?}");
    }
    for body in
        ["{}{}", "{\"a\"}", "{a:1}", "{\"a\":1,}", "{\"a\":01}", "{\"\\x\":1}", "{\"a\":\"}"]
    {
        assert!(matches!(refused(body), BodyFault::Json { .. }), "{body:?}");
    }
    let long = |len: usize| format!("{{\"a\":\"{}\"}}", "x".repeat(len - 8));
    assert_eq!(refused(&long(MAX_BODY + 1)), BodyFault::TooLong { len: MAX_BODY + 1 });
    for at_us in [-1, LATEST_US + 1, i64::MIN, i64::MAX] {
        assert!(matches!(journal.append(at_us, &["{}"]), Err(JournalError::Time { .. })));
    }
    assert_eq!(journal.append(NOW, &[]).unwrap(), []);
    assert_eq!((disk.log().len(), disk.steps()), (0, steps));

    journal.append(NOW, &[&long(MAX_BODY), "{}"]).unwrap();
    assert_eq!(bodies(&disk.storage()).unwrap()[0].len(), MAX_BODY);
    drop(journal);
    let mut journal = Journal::open(disk.storage()).unwrap();
    disk.leave_behind(b"x");
    let error = journal.append(NOW, &["{}"]).unwrap_err();
    assert!(matches!(error, JournalError::Changed { .. }), "{error}");
    assert_eq!(disk.log().last(), Some(&b'x'), "what another program wrote is not ours to cut");
}

#[test]
fn a_batch_is_one_write_and_one_sync() {
    let disk = Disk::new();
    let mut journal = Journal::open(disk.storage()).unwrap();
    let before = disk.steps().len();
    journal.append(NOW, &["{}"; 100]).unwrap();
    assert_eq!(disk.steps()[before..], [Step::Length, Step::Append, Step::Sync]);
}

#[test]
fn reading_goes_on_from_any_line_and_from_no_other_place() {
    let mut all = varied(30);
    all[11] = format!(r#"{{"long":"{}"}}"#, "y".repeat(3 << 20));
    let disk = log_of(&all);
    let whole = entries(&disk.storage(), &Checkpoint::START);
    let log = disk.log();
    let mut offset = 0;
    for (line, (seq, at_us, _, hash)) in log.split_inclusive(|&byte| byte == b'\n').zip(&whole) {
        offset += line.len() as u64;
        let checkpoint = Checkpoint { seq: *seq, hash: *hash, offset, at_us: *at_us };
        let from_here = usize::try_from(*seq).unwrap();
        assert_eq!(entries(&disk.storage(), &checkpoint), whole[from_here..]);
        for wrong in [
            Checkpoint { seq: seq + 1, ..checkpoint },
            Checkpoint { seq: 0, ..checkpoint },
            Checkpoint { seq: u64::MAX, ..checkpoint },
            Checkpoint { offset: offset - 1, ..checkpoint },
            Checkpoint { offset: offset + 1, ..checkpoint },
            Checkpoint { offset: u64::MAX, ..checkpoint },
            Checkpoint { offset: 0, ..checkpoint },
            Checkpoint { at_us: at_us + 1, ..checkpoint },
            Checkpoint { hash: LineHash::ZERO, ..checkpoint },
        ] {
            let refused = read(&disk.storage(), &wrong, |_| Ok::<(), JournalError>(()));
            assert!(
                matches!(refused, Err(JournalError::Checkpoint { .. })),
                "{wrong:?}: {refused:?}"
            );
        }
    }
    assert_eq!(offset, log.len() as u64);
}

#[test]
fn a_visitor_that_fails_ends_the_reading_with_its_error() {
    let disk = log_of(&varied(10));
    let mut seen = 0;
    let end: Result<_, Box<dyn std::error::Error>> =
        read(&disk.storage(), &Checkpoint::START, |entry| {
            seen = entry.seq;
            if entry.seq == 4 { Err("enough".into()) } else { Ok(()) }
        });
    assert_eq!((end.unwrap_err().to_string(), seen), ("enough".into(), 4));
}

#[test]
fn files_on_a_real_disk_keep_the_same_laws() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.ndjson");
    let missing = bodies(&FileStorage::new(&path)).unwrap_err();
    assert!(missing.to_string().starts_with("cannot open"), "{missing}");
    assert!(!path.exists(), "reading creates nothing");

    let all = varied(7);
    let mut journal = Journal::open(FileStorage::new(&path)).unwrap();
    for body in &all {
        journal.append(NOW, &[body]).unwrap();
    }
    let second = Journal::open(FileStorage::new(&path)).unwrap_err();
    assert!(matches!(second, JournalError::Locked { .. }), "{second}");
    drop(journal);

    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, &whole[..whole.len() - 40]).unwrap();
    let mut journal = Journal::open(FileStorage::new(&path)).unwrap();
    let said = journal.recovery().unwrap().to_string();
    assert!(said.ends_with(&format!("are kept in {}.torn-7", path.display())), "{said}");
    journal.append(NOW, &[r#"{"again":7}"#]).unwrap();
    assert_eq!(bodies(&FileStorage::new(&path)).unwrap()[6], r#"{"again":7}"#);
    let aside = folder.path().join("aside");
    std::fs::rename(&path, &aside).unwrap();
    let moved = journal.append(NOW, &["{}"]).unwrap_err().to_string();
    assert!(moved.ends_with("it was moved, deleted or replaced while it was open"), "{moved}");
    std::fs::rename(&aside, &path).unwrap();
    assert_eq!(journal.append(NOW, &["{}"]).unwrap()[0].seq, 8, "nothing had been written");
    let mut names: Vec<_> =
        std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["log.ndjson", "log.ndjson.torn-7"]);
}
