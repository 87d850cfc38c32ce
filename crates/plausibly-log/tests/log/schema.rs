//! The published schema and the checker in another language agree with what is written.

use super::{Memory, bell, open, plan, play, rates, steady};
use plausibly_log::certificate::{Certificate, LikelihoodFinding};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

fn reference(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference").join(name)
}

/// Implements the part of JSON Schema that the published schema uses; returns the first violation.
fn misfit(root: &Value, schema: &Value, value: &Value, path: &str) -> Option<String> {
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        return misfit(root, root.pointer(&reference[1..]).unwrap(), value, path);
    }
    if let Some(options) = schema.get("anyOf").and_then(Value::as_array) {
        let fits = options.iter().any(|option| misfit(root, option, value, path).is_none());
        return (!fits).then(|| format!("{path}: no option fits {value}"));
    }
    let wrong = |what: &str| Some(format!("{path}: {what}, got {value}"));
    if schema.get("const").is_some_and(|constant| constant != value) {
        return wrong("another constant");
    }
    if schema.get("enum").is_some_and(|options| !options.as_array().unwrap().contains(value)) {
        return wrong("not one of the words");
    }
    let types: Vec<&str> = match schema.get("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let is = |name: &&str| match *name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("{other} is no type"),
    };
    if !types.is_empty() && !types.iter().any(is) {
        return wrong(&format!("not {types:?}"));
    }
    if let (Some(least), Some(number)) =
        (schema.get("minimum").and_then(Value::as_f64), value.as_f64())
        && number < least
    {
        return wrong("too small");
    }
    if let Some(items) = value.as_array() {
        let count = |name: &str| schema.get(name).and_then(Value::as_u64);
        if count("minItems").is_some_and(|least| (items.len() as u64) < least)
            || count("maxItems").is_some_and(|most| items.len() as u64 > most)
        {
            return wrong("another number of entries");
        }
        let inner = schema.get("items")?;
        return items
            .iter()
            .enumerate()
            .find_map(|(at, item)| misfit(root, inner, item, &format!("{path}[{at}]")));
    }
    misfit_of_fields(root, schema, value, path)
}

fn misfit_of_fields(root: &Value, schema: &Value, value: &Value, path: &str) -> Option<String> {
    let wrong = |what: &str| Some(format!("{path}: {what}, got {value}"));
    let fields = value.as_object()?;
    let empty = json!({});
    let known = schema.get("properties").unwrap_or(&empty);
    for name in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
        if !fields.contains_key(name.as_str().unwrap()) {
            return wrong(&format!("{name} is missing"));
        }
    }
    for (name, field) in fields {
        match known.get(name) {
            Some(inner) => {
                if let Some(problem) = misfit(root, inner, field, &format!("{path}.{name}")) {
                    return Some(problem);
                }
            }
            None if schema.get("additionalProperties") == Some(&json!(false)) => {
                return wrong(&format!("{name} is not in the schema"));
            }
            None => {}
        }
    }
    None
}

/// The radii that the checker in Python knows.
const KNOWN: [&str; 8] =
    ["forecast", "additive", "determinant", "two-point", "mixture", "bell", "fixed", "logistic"];

/// Forges what is particular to rates; whether this certificate has them.
fn rates_are_refused(
    last: &Certificate,
    refuses: impl Fn(&dyn Fn(&mut Certificate), &str),
) -> bool {
    let Some(own) = last.findings.likelihood else { return false };
    let set = |forge: &dyn Fn(&mut LikelihoodFinding), words: &str| {
        let forged = |wrong: &mut Certificate| {
            let mut own = own;
            forge(&mut own);
            wrong.findings.likelihood = Some(own);
        };
        refuses(&forged, words);
    };
    set(&|own| own.budget.evidence += 0.001, "evidence is");
    set(&|own| own.theta_norm_bound *= 1.01, "theta_norm_bound is");
    refuses(&|wrong| wrong.grounds.glm.as_mut().unwrap().point[0] += 0.125, " follows");
    true
}

#[test]
fn certificates_fit_the_published_schema_and_the_checker_in_python() {
    let schema: Value = serde_json::from_str(
        &std::fs::read_to_string(reference("certificate.schema.json")).unwrap(),
    )
    .unwrap();
    let python = Command::new("python3")
        .arg("--version")
        .output()
        .is_ok_and(|output| output.status.success());
    if !python {
        eprintln!("skipped: there is no python3 to run docs/reference/check_certificate.py");
    }
    let folder = tempfile::tempdir().unwrap();
    let mut checked = 0;
    let (mut given, mut rates_checked) = (0, 0);
    let plans = (100..160).map(|seed| plan(seed, (6, 12), 30));
    let bells = (0..8).map(|seed| bell(seed, 160)).chain((0..16).map(|seed| rates(seed, 90)));
    for plan in bells.chain(plans).chain((0..3).map(|seed| steady(seed, 300))) {
        let certificates = play(&mut open(&Memory::default()), &plan);
        for certificate in &certificates {
            let value: Value = serde_json::from_str(&certificate.to_json()).unwrap();
            assert_eq!(misfit(&schema, &schema, &value, ""), None);
        }
        let Some(last) = certificates.last() else { continue };
        let mut wrong: Value = serde_json::from_str(&last.to_json()).unwrap();
        wrong["findings"]["chosen"]["luck"] = json!(1);
        assert!(misfit(&schema, &schema, &wrong, "").unwrap().contains("luck"));
        let known = KNOWN.contains(&radius(&value_of(last)));
        let as_given = last.grounds.as_given;
        if python && known && (checked < 48 || as_given && given < 6) {
            let path = folder.path().join("certificate.json");
            let run = |text: &str| {
                std::fs::write(&path, text).unwrap();
                Command::new("python3")
                    .arg(reference("check_certificate.py"))
                    .arg(&path)
                    .output()
                    .unwrap()
            };
            let output = run(&last.to_json());
            assert!(
                output.status.success(),
                "{}\n{plan:?}",
                String::from_utf8_lossy(&output.stderr)
            );
            // Wrong findings with right seals, and a wrong seal.
            let refuses = |forge: &dyn Fn(&mut Certificate), words: &str| {
                let mut wrong = last.clone();
                forge(&mut wrong);
                wrong.seal = wrong.expected_seal();
                let output = run(&wrong.to_json());
                let said = String::from_utf8_lossy(&output.stderr).to_string();
                assert!(!output.status.success() && said.contains(words), "{said}");
            };
            refuses(&|wrong| wrong.findings.actions[0].upper = 14.999, "upper is");
            let within = last.findings.known_within.map_or(1.0, |within| within * 1.01);
            rates_checked += usize::from(rates_are_refused(last, refuses));
            refuses(&|wrong| wrong.findings.known_within = Some(within), "known_within is");
            let mut wrong = last.clone();
            wrong.seal = "0".repeat(64);
            assert!(!run(&wrong.to_json()).status.success());
            checked += 1;
            given += usize::from(as_given);
        }
    }
    assert!(
        !python || (checked > 12 && given > 3 && rates_checked > 10),
        "{checked} {given} {rates_checked}"
    );
}

fn value_of(certificate: &Certificate) -> Value {
    serde_json::from_str(&certificate.to_json()).unwrap()
}

fn radius(certificate: &Value) -> &str {
    let kind = certificate["grounds"]["policy"]["radius"]["kind"].as_str();
    kind.unwrap_or(if certificate["grounds"]["features"] == json!([]) {
        "two-point"
    } else {
        "additive"
    })
}
