//! `plausibly key`.

use super::args::{Add, KeyCommand};
use super::data_folder;
use crate::decisions::now;
use crate::exit::{self, Ending, refuse};
use crate::output;
use anyhow::{Context as _, Result, anyhow};
use plausibly_log::Time;
use plausibly_server::keys::{self, Grant, Key, KeyError, Role};
use serde_json::json;
use std::num::NonZeroU32;
use std::path::Path;

pub(crate) fn run(command: &KeyCommand) -> Result<()> {
    match command {
        KeyCommand::Add(args) => add(args),
        KeyCommand::List { data, json } => list(&data_folder(data)?, *json),
        KeyCommand::Revoke { name, data } => revoke(&data_folder(data)?, name),
    }
}

/// A wrong request or file is a refusal; a file that cannot be read or written is a failure.
fn of_keys(error: KeyError) -> anyhow::Error {
    match error {
        KeyError::Io { .. } => error.into(),
        KeyError::Input(error) => exit::of_input(error),
        wrong => Ending::Refused(wrong.to_string()).into(),
    }
}

fn add(args: &Add) -> Result<()> {
    let data = data_folder(&args.data)?;
    let roles: Vec<Role> = args.roles.iter().copied().map(Role::from).collect();
    let rate = args.rate.and_then(|rate| NonZeroU32::new(u32::try_from(rate).ok()?));
    let is_new = !data.exists();
    let (name, experiment) = (&args.name, args.experiment.as_deref());
    let mut random = [0; 32];
    getrandom::fill(&mut random)
        .map_err(|error| anyhow!("the system gave no random bytes: {error}"))?;
    let key = keys::add(&data, Grant { name, roles: &roles, experiment, rate }, random, time());
    let key = key.map_err(of_keys)?;
    output::answer(&format!("{}\n", key.text()), false).with_context(|| {
        Ending::Recorded(format!(
            "the key `{name}` was added, but could not be printed, and cannot be shown again; \
             revoke it with `plausibly key revoke {name}` and add another"
        ))
    })?;
    let Key { id, .. } = &key.stored;
    output::note(&format!(
        "Added the key `{name}` (id {id}) to {}: {} in {}. It is not shown again.",
        data.display(),
        allowed(&key.stored),
        scope(&key.stored)
    ));
    // The list cannot be shorter, and if it cannot be read now, the key was added all the same.
    if keys::list(&data).is_ok_and(|keys| keys.len() == 1) {
        output::note("It is the first key: from now on every caller of the service needs one.");
    }
    if is_new {
        output::note(&format!(
            "The folder {} is new. If your service has another one, name that with --data.",
            data.display()
        ));
    }
    Ok(())
}

fn list(data: &Path, as_json: bool) -> Result<()> {
    if !data.exists() {
        refuse!("there is no folder {}; name the one of the service with --data", data.display());
    }
    let keys = keys::list(data).map_err(of_keys)?;
    if as_json {
        let entries: Vec<_> = keys.iter().map(entry).collect();
        return output::json(&format!("{:#}\n", json!({ "keys": entries })));
    }
    if keys.is_empty() {
        output::note(&format!(
            "There are no keys in {}, so the service answers callers on its own machine only; \
             `plausibly key add` makes one.",
            data.display()
        ));
        return Ok(());
    }
    let heading = ["name", "id", "roles", "experiment", "per second", "added", "revoked"];
    let rows: Vec<Vec<String>> = keys.iter().map(row).collect();
    output::data(&output::left_table(&heading, &rows))
}

fn row(key: &Key) -> Vec<String> {
    vec![
        key.name.clone(),
        key.id.clone(),
        allowed(key),
        key.experiment.clone().unwrap_or_else(|| "all".into()),
        key.rate.map_or_else(|| "any".into(), |rate| rate.to_string()),
        key.added.to_string(),
        key.revoked.map_or_else(|| "-".into(), |at| at.to_string()),
    ]
}

fn entry(key: &Key) -> serde_json::Value {
    json!({
        "name": key.name,
        "id": key.id,
        "roles": key.roles.iter().map(|role| role.text()).collect::<Vec<_>>(),
        "experiment": key.experiment,
        "rate": key.rate,
        "added": key.added.to_string(),
        "revoked": key.revoked.map(|at| at.to_string()),
    })
}

fn revoke(data: &Path, name: &str) -> Result<()> {
    let key = keys::revoke(data, name, time()).map_err(of_keys)?;
    let live = keys::list(data).map_err(of_keys)?.iter().filter(|key| key.is_live()).count();
    output::note(&format!(
        "Revoked the key `{}` (id {}). {}",
        key.name,
        key.id,
        if live == 0 {
            "No key is left, so the service refuses every caller; `plausibly key add` makes one."
                .into()
        } else {
            format!("{} left.", output::plural(live as u64, "key is", "keys are"))
        }
    ));
    Ok(())
}

fn allowed(key: &Key) -> String {
    key.roles.iter().map(|role| role.text()).collect::<Vec<_>>().join(", ")
}

fn scope(key: &Key) -> String {
    let experiment = key.experiment.as_ref();
    experiment.map_or_else(|| "every experiment".into(), |name| format!("the experiment {name}"))
}

fn time() -> Time {
    Time::from_micros(now())
}
