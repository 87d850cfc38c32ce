//! Reads policies from the command line.

use super::fields;
use crate::exit::{Ending, of_input, refuse};
use anyhow::{Context as _, Result};
use plausibly::spec::{POLICY_KINDS, Setting};
use plausibly_log::input::{InputError, Limit, read_text};
use plausibly_log::policy::{Noise, PolicyTable, declare_noise};
use plausibly_log::recipe::Recipe;
use plausibly_log::table::read_number;
use serde_json::{Map, Value, json};
use std::path::Path;
use toml::de::{DeTable, DeValue};

/// The policy of this kind or file, or else the current one, with some fields set.
pub(super) fn read(
    given: Option<&str>,
    current: &PolicyTable,
    set: &[String],
    noise: Option<Noise>,
    recipe: &Recipe,
) -> Result<PolicyTable> {
    let mut table = match given {
        None => current.clone(),
        Some(kind) if POLICY_KINDS.contains(&kind) => like(kind, current),
        Some(path) => from_file(path)?,
    };
    let setting = if recipe.dim() == 0 { Setting::Arms } else { Setting::Changing };
    if let Some(noise) = noise {
        declare_noise(&mut table, noise, setting)
            .map_err(|refusal| Ending::Refused(format!("--noise: {refusal}")))?;
    }
    for assignment in set {
        assign(&mut table, assignment, setting)?;
    }
    for name in set.iter().filter_map(|assignment| Some(assignment.split_once('=')?.0.trim())) {
        if table.contains_key(name)
            && let Some(unknown) = fields::unknown(&table, name, setting)
        {
            refuse!("--set {name}: {unknown}");
        }
    }
    Ok(table)
}

/// A policy as a person reads it, such as `code with greed 0.5, radius.noise_scale 0.03`.
pub(super) fn words(policy: &PolicyTable) -> String {
    fn fields(table: &PolicyTable, path: &str, said: &mut Vec<String>) {
        for (name, value) in table.iter().filter(|(name, _)| path.is_empty() || *name != "kind") {
            match value {
                Value::Object(inner) => {
                    let kind = inner.get("kind").and_then(Value::as_str);
                    said.extend(kind.map(|kind| format!("{path}{name} {kind}")));
                    fields(inner, &format!("{path}{name}."), said);
                }
                Value::String(text) => said.push(format!("{path}{name} {text}")),
                value => said.push(format!("{path}{name} {value}")),
            }
        }
    }
    let mut table = policy.clone();
    let kind = table.remove("kind").and_then(|kind| kind.as_str().map(str::to_string));
    if table.get("label").and_then(Value::as_str) == kind.as_deref() {
        table.remove("label");
    }
    let mut said = Vec::new();
    fields(&table, "", &mut said);
    let kind = kind.unwrap_or_default();
    if said.is_empty() { kind } else { format!("{kind} with {}", said.join(", ")) }
}

/// A policy of this kind with default settings.
pub(super) fn kind_of(kind: &str) -> PolicyTable {
    Map::from_iter([("kind".to_string(), json!(kind))])
}

/// A policy of this kind that keeps the ridge and the radius of the current one, where it has them.
fn like(kind: &str, current: &PolicyTable) -> PolicyTable {
    let mut table = kind_of(kind);
    let shared: &[&str] = match kind {
        "code" | "lin-ucb" => &["ridge", "radius"],
        "lin-ts" | "elimination" | "epsilon-greedy" | "explore-then-commit" => &["ridge"],
        _ => &[],
    };
    for name in shared {
        if let Some(value) = current.get(*name) {
            table.insert((*name).into(), value.clone());
        }
    }
    table
}

fn from_file(path: &str) -> Result<PolicyTable> {
    let text = match read_text(Path::new(path), Limit::POLICY) {
        Err(error @ InputError::Io { .. }) => {
            let kinds = POLICY_KINDS.join(", ");
            let unknown = format!("`{path}` is neither a kind of policy ({kinds}) nor a file");
            return Err(error).context(Ending::Refused(unknown));
        }
        read => read.map_err(of_input)?,
    };
    let refused =
        |error: toml::de::Error| Ending::Refused(format!("{path}: {}", error.message().trim_end()));
    let table = DeTable::parse(&text).map_err(refused)?;
    Ok(entries(table.get_ref()))
}

fn entries(table: &DeTable<'_>) -> PolicyTable {
    table
        .iter()
        .map(|(name, value)| (name.get_ref().to_string(), value_of(value.get_ref())))
        .collect()
}

fn value_of(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => json!(text),
        DeValue::Integer(number) => {
            i64::from_str_radix(number.as_str(), number.radix()).map_or(Value::Null, Value::from)
        }
        DeValue::Float(number) => number.as_str().parse::<f64>().map_or(Value::Null, Value::from),
        DeValue::Boolean(truth) => json!(truth),
        DeValue::Array(items) => items.iter().map(|item| value_of(item.get_ref())).collect(),
        DeValue::Table(table) => Value::Object(entries(table)),
        DeValue::Datetime(time) => json!(time.to_string()),
    }
}

/// An unset table of a policy with the kind that a field of it belongs to: the default kind, but
/// for the noise of arms, which the default kind needs not be told.
pub(super) fn default_table(name: &str, field: &str, setting: Setting) -> Value {
    match (name, setting) {
        ("radius", Setting::Arms) if field == "noise_scale" => json!({ "kind": "mixture" }),
        ("radius", Setting::Arms) => json!({ "kind": "two-point" }),
        ("radius", _) => json!({ "kind": "forecast" }),
        _ => json!({}),
    }
}

/// Constants of the radius. For kinds with a radius, `delta=0.1` means `radius.delta=0.1`.
const OF_RADIUS: [&str; 4] = ["delta", "noise_scale", "theta_norm_bound", "sqrt_beta"];

/// Sets `a.b=value` in a table.
fn assign(table: &mut PolicyTable, assignment: &str, setting: Setting) -> Result<()> {
    let (path, text) = assignment
        .split_once('=')
        .ok_or_else(|| format!("`{assignment}` sets nothing; write FIELD=VALUE, such as greed=0.3"))
        .map_err(Ending::Refused)?;
    let path = path.trim();
    let has_radius = table.get("kind").is_some_and(|kind| kind == "code" || kind == "lin-ucb");
    let path = if has_radius && OF_RADIUS.contains(&path) {
        format!("radius.{path}")
    } else {
        path.into()
    };
    let (inner, name) =
        path.rsplit_once('.').map_or((None, path.as_str()), |(inner, name)| (Some(inner), name));
    let target = match inner {
        None => table,
        Some(inner) => {
            match table.entry(inner).or_insert_with(|| default_table(inner, name, setting)) {
                Value::Object(target) => target,
                other => refuse!("`{inner}` is {other}, which has no fields"),
            }
        }
    };
    let text = text.trim();
    if let Some(error) = read_number(text).err().filter(|error| !error.instead.is_empty()) {
        refuse!("--set {assignment}: {error}");
    }
    let value =
        text.parse::<i64>().map(Value::from).or_else(|_| text.parse::<f64>().map(Value::from));
    let value =
        value.or_else(|_| text.parse::<bool>().map(Value::from)).unwrap_or_else(|_| json!(text));
    target.insert(name.into(), value);
    Ok(())
}
