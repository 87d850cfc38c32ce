//! Suggests names for a mistyped field of a policy.

use super::policy::default_table;
use plausibly::spec::{Complaint, Setting};
use plausibly_log::event::FORMAT;
use plausibly_log::policy::{PolicyRefusal, PolicyTable, read_policy};
use serde_json::{Value, json};

/// No field has this name, so the error of reading it lists all fields.
const NO_FIELD: &str = "?";

/// The message for a name that no field of the policy has: similar names, and all fields. `None` if
/// the field exists.
pub(super) fn unknown(policy: &PolicyTable, name: &str, setting: Setting) -> Option<String> {
    let own = allowed(policy, name, name, setting)?;
    let mut all: Vec<String> = own.iter().map(|own| (*own).to_string()).collect();
    for outer in own {
        let mut probe = policy.clone();
        let table = probe.entry(outer).or_insert_with(|| default_table(outer, name, setting));
        let Value::Object(table) = table else { continue };
        table.insert(NO_FIELD.into(), json!(0));
        let inner = allowed(&probe, name, &format!("{outer}.{NO_FIELD}"), setting);
        all.extend(inner.into_iter().flatten().map(|inner| format!("{outer}.{inner}")));
    }
    let meant = match &closest(name, &all)[..] {
        [] => ".".into(),
        meant => format!("; did you mean {}?", meant.join(" or ")),
    };
    Some(format!("the policy has no field `{name}`{meant} The fields are {}", all.join(", ")))
}

/// The allowed names, if the name of this field is unknown; `None` if it is known.
fn allowed(
    policy: &PolicyTable,
    name: &str,
    path: &str,
    setting: Setting,
) -> Option<Vec<&'static str>> {
    let mut policy = policy.clone();
    policy.entry(name).or_insert(json!(0));
    let Err(PolicyRefusal::Spec(problems)) = read_policy(&policy, setting, None, FORMAT) else {
        return None;
    };
    let path = format!("policy.{path}");
    problems.into_iter().find(|problem| problem.path == path).and_then(|problem| {
        match problem.complaint {
            Complaint::Unknown { known, .. } => Some(known),
            _ => None,
        }
    })
}

/// The two most similar names. For a field of a table, only the last part is compared.
fn closest(name: &str, all: &[String]) -> Vec<String> {
    let last = |path: &str| path.rsplit('.').next().unwrap_or(path).to_string();
    let score = |path: &String| strsim::jaro_winkler(&name.to_lowercase(), &last(path));
    let mut alike: Vec<&String> = all.iter().filter(|path| score(path) > 0.8).collect();
    alike.sort_by(|a, b| score(b).total_cmp(&score(a)));
    alike.into_iter().take(2).map(|path| format!("`{path}`")).collect()
}
