use super::*;
use crate::keys::store::path_in;
use crate::problem::{Code, Problem};
use std::fs;
use std::sync::Arc;

fn ring(data: &Path) -> Ring {
    Ring::open(data, Arc::new(Hand::default())).unwrap()
}

/// The code of the answer to this key from another machine; none if it is let in.
fn answer(ring: &Ring, key: Option<&str>) -> Option<Code> {
    let hash = key.map(|key| KeyHash::of(key.as_bytes()));
    ring.admit(hash.as_ref(), false).err().map(|problem| problem.code)
}

/// The same without a key on this machine.
fn local(ring: &Ring) -> Option<Code> {
    ring.admit(None, true).err().map(|problem| problem.code)
}

#[test]
fn a_service_that_never_had_a_key_serves_its_own_machine_alone() {
    let home = tempfile::tempdir().unwrap();
    let ring = ring(home.path());
    assert!(ring.is_open());
    let caller = ring.admit(None, true).unwrap();
    assert!(caller.name.is_none() && caller.may(Role::Admin).is_ok());
    assert_eq!(answer(&ring, None), Some(Code::NoKey));
    // An empty list is no key either.
    fs::create_dir(home.path().join(".plausibly")).unwrap();
    fs::write(path_in(home.path()), "{\"version\": 1, \"keys\": []}").unwrap();
    assert_eq!(ring.reread(), Some(News::Read { live: 0 }));
    assert!(ring.is_open() && local(&ring).is_none());
}

#[test]
fn keys_are_known_and_forgotten_when_the_file_is_read_again() {
    let home = tempfile::tempdir().unwrap();
    let ring = ring(home.path());
    let a = add_numbered(home.path(), grant("a"), 1);
    assert_eq!((ring.reread(), ring.reread()), (Some(News::Read { live: 1 }), None));
    assert!(!ring.is_open());
    assert_eq!((answer(&ring, Some(&a)), answer(&ring, None)), (None, Some(Code::NoKey)));
    assert_eq!(local(&ring), Some(Code::NoKey));

    let b = add_numbered(home.path(), grant("b"), 2);
    assert_eq!(answer(&ring, Some(&b)), Some(Code::NoKey));
    assert_eq!(ring.reread(), Some(News::Read { live: 2 }));
    assert_eq!((answer(&ring, Some(&a)), answer(&ring, Some(&b))), (None, None));
    let hash = KeyHash::of(b.as_bytes());
    assert_eq!(ring.admit(Some(&hash), false).unwrap().name.as_deref(), Some("b"));

    revoke(home.path(), "a", NOON).unwrap();
    ring.reread();
    assert_eq!((answer(&ring, Some(&a)), answer(&ring, Some(&b))), (Some(Code::NoKey), None));
    revoke(home.path(), "b", NOON).unwrap();
    assert_eq!(ring.reread(), Some(News::Read { live: 0 }));
    // After the last is revoked, also in the next process.
    for ring in [&ring, &self::ring(home.path())] {
        assert_eq!(answer(ring, Some(&b)), Some(Code::NoKey));
        assert!(!ring.is_open() && local(ring) == Some(Code::NoKey));
    }
}

#[test]
fn a_change_of_equal_length_and_time_is_seen() {
    let home = tempfile::tempdir().unwrap();
    let key = add_numbered(home.path(), grant("aa"), 1);
    let ring = ring(home.path());
    let path = path_in(home.path());
    let time = fs::metadata(&path).unwrap().modified().unwrap();
    let text = fs::read_to_string(&path).unwrap().replace("\"aa\"", "\"bb\"");
    fs::write(&path, text).unwrap();
    fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    assert_eq!(ring.reread(), Some(News::Read { live: 1 }));
    let hash = KeyHash::of(key.as_bytes());
    assert_eq!(ring.admit(Some(&hash), false).unwrap().name.as_deref(), Some("bb"));
}

#[test]
fn a_file_that_cannot_be_used_keeps_the_known_keys_and_is_reported_once() {
    let home = tempfile::tempdir().unwrap();
    let key = add_numbered(home.path(), grant("a"), 1);
    let ring = ring(home.path());
    let path = path_in(home.path());
    let good = fs::read_to_string(&path).unwrap();
    let spoilt = |content: Option<&[u8]>| {
        fs::remove_file(&path).unwrap();
        if let Some(content) = content {
            fs::write(&path, content).unwrap();
        }
    };
    for (content, words) in [
        (Some(&b"{"[..]), "is not a file of keys"),
        (Some(b"{\"version\": 9}"), "has version 9"),
        (Some(b"\xff"), "is not UTF-8"),
        (None, "is gone; the keys that it had stay valid"),
    ] {
        if path.is_file() {
            spoilt(content);
        }
        let news = ring.reread();
        assert!(
            matches!(&news, Some(News::Kept { reason }) if reason.contains(words)),
            "{words}: {news:?}"
        );
        assert_eq!(ring.reread(), None);
        assert_eq!((answer(&ring, Some(&key)), local(&ring)), (None, Some(Code::NoKey)));
        if content.is_some() {
            Ring::open(home.path(), Arc::new(Hand::default())).unwrap_err();
        }
    }
    fs::write(&path, good).unwrap();
    assert_eq!((ring.reread(), ring.reread()), (Some(News::Read { live: 1 }), None));
    // A folder in its place cannot be read by any user.
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert!(matches!(ring.reread(), Some(News::Kept { .. })));
    assert_eq!(answer(&ring, Some(&key)), None);
}

#[test]
fn a_list_that_is_emptied_does_not_open_the_service() {
    let home = tempfile::tempdir().unwrap();
    let key = add_numbered(home.path(), grant("a"), 1);
    let ring = ring(home.path());
    fs::write(path_in(home.path()), "{\"version\": 1, \"keys\": []}").unwrap();
    assert_eq!(ring.reread(), Some(News::Read { live: 0 }));
    assert_eq!((answer(&ring, Some(&key)), local(&ring)), (Some(Code::NoKey), Some(Code::NoKey)));
}

#[test]
fn a_rate_of_five_lets_five_requests_through_and_not_six() {
    let home = tempfile::tempdir().unwrap();
    let slow = add_numbered(home.path(), Grant { rate: per_second(5), ..grant("slow") }, 1);
    let other = add_numbered(home.path(), Grant { rate: per_second(5), ..grant("other") }, 2);
    let clock = Arc::new(Hand::default());
    let ring = Ring::open(home.path(), clock.clone()).unwrap();
    let let_in = |key: &str| {
        let hash = KeyHash::of(key.as_bytes());
        let admitted = (0..20).map(|_| ring.admit(Some(&hash), false));
        let refused: Vec<Problem> = admitted.filter_map(Result::err).collect();
        for problem in &refused {
            assert_eq!((problem.code, problem.retry_after), (Code::TooFast, Some(1)));
        }
        20 - refused.len()
    };
    assert_eq!((let_in(&slow), let_in(&slow)), (5, 0));
    // Reading the file again is no second burst, and neither is a change to another key.
    add_numbered(home.path(), grant("third"), 3);
    assert_eq!(ring.reread(), Some(News::Read { live: 3 }));
    assert_eq!(let_in(&slow), 0);
    // Keys do not share a rate.
    assert_eq!(let_in(&other), 5);
    clock.advance(Duration::from_millis(401));
    assert_eq!(let_in(&slow), 2);
    clock.advance(Duration::from_mins(1));
    assert_eq!(let_in(&slow), 5);
}
