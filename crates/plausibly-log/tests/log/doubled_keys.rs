//! A document with a doubled key means different things to different readers, so it is refused.

use super::{Memory, Plan, open, plan, play, steady};
use plausibly_log::certificate::Certificate;
use plausibly_log::journal::{Checkpoint, Journal, JournalError, read};
use plausibly_log::json;
use plausibly_log::{Log, LogError};
use serde_json::{Value, json};

/// How a key is repeated.
#[derive(Clone, Copy, Debug)]
struct Form {
    /// With escapes, or literally.
    escaped: bool,
    /// Before the first occurrence, or after it.
    before: bool,
    /// With another value, or with its own.
    other_value: bool,
}

const FORMS: [Form; 4] = [
    Form { escaped: false, before: false, other_value: false },
    Form { escaped: false, before: true, other_value: true },
    Form { escaped: true, before: false, other_value: true },
    Form { escaped: true, before: true, other_value: false },
];

/// All keys of a value, in all its objects.
fn keys(value: &Value) -> usize {
    match value {
        Value::Object(fields) => fields.values().map(|inner| 1 + keys(inner)).sum(),
        Value::Array(items) => items.iter().map(keys).sum(),
        _ => 0,
    }
}

/// The text of a value with its key number `place` written twice. `place` counts down on the way.
fn doubled(value: &Value, place: &mut Option<usize>, form: Form) -> String {
    match value {
        Value::Object(fields) => {
            let mut entries = Vec::new();
            for (key, inner) in fields {
                let here = *place == Some(0);
                *place = place.and_then(|place| place.checked_sub(1));
                let own = format!("{}:{}", json!(key), doubled(inner, place, form));
                if here {
                    let name = if form.escaped { in_escapes(key) } else { json!(key).to_string() };
                    let value = if form.other_value { &Value::Null } else { inner };
                    let second = format!("{name} : {value}");
                    entries.extend(if form.before { [second, own] } else { [own, second] });
                } else {
                    entries.push(own);
                }
            }
            format!("{{{}}}", entries.join(","))
        }
        Value::Array(items) => {
            format!(
                "[{}]",
                items.iter().map(|item| doubled(item, place, form)).collect::<Vec<_>>().join(",")
            )
        }
        plain => plain.to_string(),
    }
}

fn in_escapes(key: &str) -> String {
    let units: Vec<String> = key.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
    format!("\"{}\"", units.concat())
}

/// Calls `refused` with every text in which one key of the value occurs twice, and returns their
/// number.
fn each_doubled(value: &Value, mut refused: impl FnMut(&str)) -> usize {
    let forms = (0..keys(value)).flat_map(|place| FORMS.map(|form| (place, form)));
    forms.map(|(place, form)| refused(&doubled(value, &mut Some(place), form))).count()
}

/// Logs that together have every part a certificate and an event can have.
fn plans() -> impl Iterator<Item = Plan> {
    (0..24).map(|seed| plan(seed, (6, 4), 12)).chain([steady(0, 60)])
}

#[test]
fn a_certificate_in_which_a_key_stands_twice_is_refused_wherever_it_stands() {
    let (mut tried, mut in_policy, mut in_context) = (0, 0, 0);
    for plan in plans() {
        let Some(last) = play(&mut open(&Memory::default()), &plan).pop() else { continue };
        let value: Value = json::read(&last.to_json()).unwrap();
        assert_eq!(Certificate::from_json(&last.to_json()).unwrap(), last);
        tried += each_doubled(&value, |text| {
            let refusal = Certificate::from_json(text).expect_err(text).to_string();
            // Serde refuses doubled fields of a struct; our check of the text refuses those of a
            // map.
            in_policy += usize::from(refusal.contains("occurs twice in `grounds.policy"));
            in_context += usize::from(refusal.contains("occurs twice in `grounds.context"));
        });
    }
    assert!(tried > 1000 && in_policy > 100 && in_context > 10, "{tried} {in_policy} {in_context}");
}

#[test]
fn a_log_line_in_which_a_key_stands_twice_is_refused_wherever_it_stands() {
    let (mut tried, mut by_text) = (0, 0);
    for plan in plans() {
        let disk = Memory::default();
        play(&mut open(&disk), &plan);
        let mut bodies = Vec::new();
        read(&disk, &Checkpoint::START, |entry| {
            bodies.push(entry.body.to_string());
            Ok::<(), JournalError>(())
        })
        .unwrap();
        for (at, body) in bodies.iter().enumerate().take(12) {
            let before: Vec<&str> = bodies[..at].iter().map(String::as_str).collect();
            tried += each_doubled(&json::read(body).unwrap(), |text| {
                let forged = Memory::default();
                // The hashes are right: a forger who can write the file can compute them.
                let mut journal = Journal::open(forged.clone()).unwrap();
                journal.append(1_000_000, &[&before[..], &[text]].concat()).unwrap();
                drop(journal);
                let refusal = Log::open(forged.clone()).map(|_| ()).expect_err(text);
                assert!(
                    matches!(refusal, LogError::Line { seq, .. } if seq == at as u64 + 1),
                    "{refusal}"
                );
                by_text += usize::from(refusal.to_string().contains("occurs twice"));
                plausibly_log::fold(&forged, |_| Ok(())).map(|_| ()).expect_err(text);
            });
        }
    }
    assert!(tried > 1000 && by_text > 200, "{tried} {by_text}");
}

#[test]
fn the_refusal_names_the_key_and_where_it_stands() {
    let message = |text: &str| json::read::<Value>(text).unwrap_err().to_string();
    for (text, says) in [
        (
            r#"{"a":1,"a":1}"#,
            "the key `a` occurs twice in the outermost object, the second time at line 1 column 8",
        ),
        (
            "{\"a\":\n [0, {\"é\": 1, \"b\": [{}],\n \"\\u00e9\": 2}]}",
            "the key `é` occurs twice in `a[1]`, the second time at line 3 column 2",
        ),
        (
            r#"[[{"x": {"y": {"k": "\"", "k": "\\"}}}]]"#,
            "the key `k` occurs twice in `[0][0].x.y`, ",
        ),
    ] {
        assert!(message(text).starts_with(says), "{}", message(text));
    }
    let many: Vec<String> = (0..1000).map(|at| format!("\"key {}\": [{at}]", at % 999)).collect();
    assert!(
        message(&format!("{{{}}}", many.join(","))).starts_with("the key `key 0` occurs twice")
    );
}

#[test]
fn the_same_key_in_different_objects_is_no_double() {
    let text = concat!(
        r#"{"a": {"a": [{"a": "a"}, {"a": ",\"a\":{"}], "b": {}, "c": {"a": 1}}, "#,
        r#""b": [], "": {"": 0}}"#
    );
    assert_eq!(json::read::<Value>(text).unwrap(), serde_json::from_str::<Value>(text).unwrap());
    assert!(json::read::<Value>("{\"a\":1,\"a\"").is_err());
}
