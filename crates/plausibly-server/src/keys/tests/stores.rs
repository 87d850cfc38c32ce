use super::*;
use crate::keys::store::path_in;
use std::fs;

fn refused(result: Result<impl std::fmt::Debug, KeyError>) -> String {
    match result.unwrap_err() {
        KeyError::Refused(text) => text,
        other => panic!("{other}"),
    }
}

#[test]
fn adds_at_the_same_time_are_all_kept() {
    let home = tempfile::tempdir().unwrap();
    let data = home.path().join("data");
    std::thread::scope(|scope| {
        for writer in 0..8_u8 {
            let data = &data;
            scope.spawn(move || {
                for number in 0..8 {
                    let name = format!("{writer}-{number}");
                    add_numbered(data, grant(&name), writer * 8 + number);
                }
            });
        }
    });
    assert_eq!(list(&data).unwrap().len(), 64);
}

#[test]
fn a_key_is_stored_as_its_hash_with_what_it_allows() {
    let home = tempfile::tempdir().unwrap();
    let roles = [Role::Reward, Role::Decide, Role::Reward];
    let grant =
        Grant { name: "web", roles: &roles, experiment: Some("shop"), rate: per_second(100) };
    let key = add(home.path(), grant, [0xab; 32], NOON).unwrap();
    assert_eq!(key.text(), format!("plk_{}", "ab".repeat(32)));
    let expected = r#"{
  "version": 1,
  "keys": [
    {
      "id": "ID",
      "name": "web",
      "roles": [
        "decide",
        "reward"
      ],
      "experiment": "shop",
      "rate": 100,
      "sha256": "HASH",
      "added": "2026-11-15T12:00:00.000000Z"
    }
  ]
}
"#;
    // By `printf plk_abab… | sha256sum`.
    let hash = "b8fdde93e1f5c602b025096f92aa5db8b09b76a9e4a81a856f02f98006913a90";
    let expected = expected.replace("HASH", hash).replace("ID", &hash[..16]);
    assert_eq!(fs::read_to_string(path_in(home.path())).unwrap(), expected);
    assert_eq!(list(home.path()).unwrap(), [key.stored]);
}

#[test]
fn names_of_live_keys_are_taken_and_those_of_revoked_ones_free() {
    let home = tempfile::tempdir().unwrap();
    add_numbered(home.path(), grant("web"), 1);
    let text = refused(add(home.path(), grant("web"), [2; 32], NOON));
    assert!(text.starts_with("there is a key `web` already, added at 2026-11-15T12"), "{text}");
    // Rotation: another name first, then the old key goes.
    add_numbered(home.path(), grant("web-2"), 2);
    assert_eq!(revoke(home.path(), "web", NOON).unwrap().name, "web");
    let text = refused(revoke(home.path(), "web", NOON));
    assert_eq!(text, "the key `web` was revoked at 2026-11-15T12:00:00.000000Z");
    add_numbered(home.path(), grant("web"), 3);
    let keys = list(home.path()).unwrap();
    let live: Vec<bool> = keys.iter().map(Key::is_live).collect();
    assert_eq!(live, [false, true, true]);
    // By id too, also one of two keys that had the same name.
    assert!(refused(revoke(home.path(), &keys[0].id, NOON)).contains("was revoked"));
    assert_eq!(revoke(home.path(), &keys[2].id, NOON).unwrap().sha256, keys[2].sha256);
}

#[test]
fn wrong_requests_are_refused_and_create_nothing() {
    let home = tempfile::tempdir().unwrap();
    let data = home.path().join("data");
    let long = "x".repeat(65);
    for name in ["", "a b", "ü", "a/b", "a\n", &long, "plk_abc"] {
        let text = refused(add(&data, grant(name), [1; 32], NOON));
        assert!(text.starts_with("the name of a key has 1 to 64 of the characters"), "{text}");
    }
    let long = "x".repeat(129);
    for name in ["", "a/b", &long] {
        let wrong = Grant { experiment: Some(name), ..grant("web") };
        let text = refused(add(&data, wrong, [1; 32], NOON));
        assert!(text.starts_with("the name of an experiment has 1 to 128"), "{text}");
    }
    let text = refused(add(&data, Grant { roles: &[], ..grant("web") }, [1; 32], NOON));
    assert!(text.contains("needs one or more of the roles"), "{text}");
    let fast = Grant { rate: per_second(1_000_001), ..grant("web") };
    assert!(refused(add(&data, fast, [1; 32], NOON)).contains("more than 1000000"));
    assert!(refused(revoke(&data, "web", NOON)).starts_with("there is no key `web` in "));
    assert_eq!(list(&data).unwrap(), []);
    assert!(!data.exists());
}

#[test]
fn what_this_version_does_not_know_is_refused() {
    let home = tempfile::tempdir().unwrap();
    add_numbered(home.path(), grant("web"), 1);
    let path = path_in(home.path());
    let good = fs::read_to_string(&path).unwrap();
    let id = &list(home.path()).unwrap()[0].id;
    let doubled = good.replace("    }\n", &format!("    }},\n{}    }}\n", entry(&good)));
    for (text, words) in [
        (good.replace("\"version\": 1", "\"version\": 2"), "has version 2, and this program reads"),
        (good.replace("\"version\"", "\"more\": 1, \"version\""), "unknown field `more`"),
        (good.replace("\"name\"", "\"scope\": 1, \"name\""), "unknown field `scope`"),
        (
            good.replace("\"name\"", "\"name\": \"a\", \"name\""),
            "the key `name` occurs twice in `keys[0]`",
        ),
        (good.replace("admin", "owner"), "unknown variant `owner`"),
        (good.replace("\"web\"", "\"w b\""), "the name of a key has"),
        (good.replace(&format!("\"{id}"), "\"0000"), "64 digits"),
        (good.replace("2026-11-15T", "15.11.2026 "), "is not a time in UTC"),
        (good.replace(&format!("\"{id}\""), "\"0123456789abcdef\""), "does not belong to its"),
        (doubled, "two keys have the id"),
        (good[..good.len() - 5].to_string(), "is not a file of keys: EOF"),
        (String::new(), "is not a file of keys: EOF"),
    ] {
        fs::write(&path, &text).unwrap();
        let error = list(home.path()).unwrap_err().to_string();
        assert!(error.contains(words) && error.contains("keys.json"), "{error}");
        // A command does not replace what it does not understand.
        add(home.path(), grant("b"), [2; 32], NOON).unwrap_err();
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
}

/// The fields of the first key, without the last brace.
fn entry(file: &str) -> &str {
    let begin = file.find("    {\n").unwrap();
    &file[begin..file.find("    }\n").unwrap()]
}

#[test]
fn no_more_keys_are_live_than_a_request_can_be_compared_with() {
    let home = tempfile::tempdir().unwrap();
    let path = path_in(home.path());
    add_numbered(home.path(), grant("web"), 1);
    let one = list(home.path()).unwrap().remove(0);
    let keys: Vec<Key> = (0..1000_u32)
        .map(|number| {
            let sha256 = Hash::of(&number.to_le_bytes());
            let id = crate::keys::stored::id_of(&sha256);
            Key { id, name: format!("k{number}"), sha256, ..one.clone() }
        })
        .collect();
    fs::write(&path, crate::keys::stored::written(&keys).unwrap()).unwrap();
    let text = refused(add(home.path(), grant("more"), [2; 32], NOON));
    assert_eq!(text, "there are more than 1000 live keys; revoke some");
    revoke(home.path(), "k7", NOON).unwrap();
    add_numbered(home.path(), grant("more"), 2);
}

#[cfg(unix)]
#[test]
fn files_of_keys_are_for_their_owner_alone() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    let home = tempfile::tempdir().unwrap();
    let data = home.path().join("data");
    fs::create_dir(&data).unwrap();
    // As root does for a service with a user of its own; other users cannot give files away.
    let given = std::os::unix::fs::chown(&data, Some(65_534), Some(65_534)).is_ok();
    for number in 1..3 {
        add_numbered(&data, grant(&format!("k{number}")), number);
        for (path, mode) in [("", 0o700), ("keys.json", 0o600), ("keys.lock", 0o600)] {
            let about = fs::metadata(data.join(".plausibly").join(path)).unwrap();
            assert_eq!(about.permissions().mode() & 0o777, mode, "{path}");
            assert!(!given || (about.uid(), about.gid()) == (65_534, 65_534), "{path}");
        }
    }
    assert!(!data.join(".plausibly/keys.json.new").exists());
}

/// Neither the key nor its digits may appear in anything but the answer to `add`.
#[test]
fn a_key_is_in_no_file_and_in_no_message() {
    let home = tempfile::tempdir().unwrap();
    let key = add(home.path(), grant("web"), [0xc5; 32], NOON).unwrap();
    let (canary, text) = ("c5c5c5c5", key.text().to_string());
    assert!(text.contains(canary));
    let mut seen = vec![format!("{key:?} {:#?} {:?}", key, key.stored)];
    let clock = std::sync::Arc::new(Hand::default());
    let ring = Ring::open(home.path(), clock).unwrap();
    let caller = ring.admit(Some(&KeyHash::of(text.as_bytes())), false).unwrap();
    seen.push(format!("{ring:?} {caller:?}"));
    for wrong in [revoke(home.path(), &text, NOON), revoke(home.path(), &text[..40], NOON)] {
        seen.push(format!("{wrong:?} {}", wrong.as_ref().unwrap_err()));
    }
    let wrong = add(home.path(), grant(&text), [1; 32], NOON);
    seen.push(format!("{wrong:?} {}", wrong.as_ref().unwrap_err()));
    let wrong = add(home.path(), grant(&text[..50]), [1; 32], NOON);
    seen.push(format!("{wrong:?} {}", wrong.as_ref().unwrap_err()));
    for file in fs::read_dir(home.path().join(".plausibly")).unwrap() {
        seen.push(fs::read_to_string(file.unwrap().path()).unwrap());
    }
    // A person puts the key where its hash belongs.
    let path = path_in(home.path());
    let file = fs::read_to_string(&path).unwrap();
    let at = file.find("sha256\": \"").unwrap() + 10;
    fs::write(&path, format!("{}{text}{}", &file[..at], &file[at + 64..])).unwrap();
    seen.push(format!("{:?}", list(home.path())));
    seen.push(format!("{:?}", ring.reread()));
    assert!(seen.iter().all(|text| !text.contains(canary)), "{seen:#?}");
}
