//! The form in the log, and damage to it.

use super::{infer, open};
use plausibly_log::recipe::{Context, Recipe};
use serde_json::{Value, json};

#[test]
fn the_form_is_readable_and_stays_what_it_is() {
    let recipe = infer(&open("ads.csv"), &["device=mobile"]);
    let stored = serde_json::to_value(&recipe).unwrap();
    assert_eq!(stored["version"], 1);
    assert_eq!(stored["shape"], "shared");
    assert_eq!(stored["label"], "label");
    assert_eq!(
        stored["columns"][1],
        json!({
            "name": "price",
            "encoding": {"kind": "linear", "numbers": "plain", "low": 0.2, "high": 3.1}
        })
    );
    assert_eq!(
        stored["columns"][3],
        json!({"name": "animated", "encoding": {"kind": "flag", "yes": "yes", "no": "no"}})
    );
    assert_eq!(stored["context"][0], json!({"name": "device", "encoding": {"kind": "categories"}}));
    assert_eq!(
        stored["action_parts"][0],
        json!({"part": "category", "column": "format", "category": "image"})
    );
    assert_eq!(stored["action_parts"][5], json!({"part": "missing", "column": "seconds"}));
    assert_eq!(stored["features"].as_array().unwrap().len(), recipe.dim());
    assert_eq!(serde_json::from_value::<Recipe>(stored).unwrap(), recipe);
}

type Damage = fn(&mut Value);

#[test]
fn damage_is_refused_and_named() {
    let sound = serde_json::to_value(infer(&open("ads.csv"), &["device=mobile"])).unwrap();
    let cases: [(&str, Damage, &str); 13] = [
        ("/version", |v| *v = json!(2), "version 2 is not known; this library reads version 1"),
        ("", |v| v["more"] = json!(1), "unknown field `more`"),
        ("/columns/1/encoding", |v| v["more"] = json!(1), "unknown field `more`"),
        ("/columns/0/encoding", |v| v["more"] = json!(1), "unknown field `more`"),
        ("/action_parts/0", |v| v["more"] = json!(1), "unknown field `more`"),
        ("/columns/1/encoding/high", |v| *v = json!(0.2), "the scale of `price` is empty"),
        ("/columns/1/name", |v| *v = json!("format"), "`format` occurs twice"),
        (
            "/columns/1",
            |v| v["late"] = json!(true),
            "only context keys can be late, not columns of the table",
        ),
        (
            "/action_parts/1/category",
            |v| *v = json!("image"),
            "the part `format = image` fits no column, or occurs twice",
        ),
        ("/action_parts/3/column", |v| *v = json!("prize"), "the part `prize` fits no column"),
        ("/features/3", |v| *v = json!([2, 0]), "the features must be each pair of parts once"),
        ("/features/3", |v| *v = json!([99, 0]), "the features must be each pair of parts once"),
        ("/shape", |v| *v = json!("arms"), "plain arms have neither columns nor context in use"),
    ];
    for (path, damage, expected) in cases {
        let mut stored = sound.clone();
        damage(stored.pointer_mut(path).unwrap());
        let error = serde_json::from_value::<Recipe>(stored).unwrap_err().to_string();
        assert!(error.contains(expected), "{path}: {error}");
    }
}

#[test]
fn a_context_is_checked_where_it_comes_in() {
    let context: Context =
        serde_json::from_str(r#"{"hour": " 14 ", "device": "mobile", "city": "-"}"#).unwrap();
    assert_eq!(serde_json::to_string(&context).unwrap(), r#"{"device":"mobile","hour":"14"}"#);
    for (pairs, expected) in [
        (&["mobile"][..], "`mobile` is not a context; write KEY=VALUE, such as device=mobile"),
        (&["=mobile"], "`=mobile` has no key; write KEY=VALUE, such as device=mobile"),
        (&["a=1", "a=2"], "`a` is given twice, as `1` and `2`; give one value per key"),
    ] {
        assert_eq!(Context::parse(pairs).unwrap_err().to_string(), expected);
    }
    assert!(serde_json::from_str::<Context>(r#"{" ": "1"}"#).is_err());
}
