//! `plausibly decide`.

use super::args::Decide;
use super::{ended, moment, open, policy, print, print_json, put_away, write};
use crate::exit::Outcome;
use crate::output;
use anyhow::{Context as _, Result};
use plausibly_log::journal::FileStorage;
use plausibly_log::recipe::{Context, Recipe};
use plausibly_log::table::Table;
use plausibly_log::{Log, Opening};
use std::fs::File;
use std::io::{self, BufRead, IsTerminal};

pub(crate) fn run(args: &Decide) -> Outcome {
    let context = match Context::parse(&args.context) {
        Ok(context) => context,
        Err(error) => return Outcome::Refused(format!("error: {error}")),
    };
    ended(decide(args, &context))
}

fn decide(args: &Decide, context: &Context) -> Result<Outcome> {
    let at = moment(args.time.at);
    let path = args.actions.display();
    let file = File::open(&args.actions).with_context(|| format!("cannot read {path}"))?;
    let table = match Table::read(file) {
        Ok(table) => table,
        Err(error) => return Ok(Outcome::Refused(format!("error: {path}: {error}"))),
    };
    let (mut log, table) = match begun(args)? {
        Some(log) => {
            if let Some(refusal) = too_late(args, &log) {
                return Ok(Outcome::Refused(refusal));
            }
            let label = log.state().and_then(|state| state.recipe().label().map(str::to_string));
            match table.with_label(label.as_deref()) {
                Ok(table) => (log, table),
                Err(error) => return Ok(Outcome::Refused(format!("error: {path}: {error}"))),
            }
        }
        None => match begin(args, &table, context, at)? {
            Ok(log) => (log, table),
            Err(outcome) => return Ok(outcome),
        },
    };
    if let Some(outcome) = change_policy(args, &mut log, at)? {
        return Ok(outcome);
    }
    notes(&log, &table);
    let certificate = log.decide(at, &table, context, args.listing.most())?;
    let (decision, label) = (certificate.grounds.decision, &certificate.findings.chosen.label);
    if args.json {
        print_json(&(certificate.to_json() + "\n"))?;
    } else if args.explain {
        print(&certificate.words().to_string())?;
    } else {
        print(&format!("decision {decision}: {label}\n"))?;
    }
    if let Some(path) = &args.certificate {
        let log = args.log.path.display();
        write(path, &(certificate.to_json() + "\n")).with_context(|| {
            format!("decision {decision} was taken, and its certificate not written; `plausibly explain --log {log} {decision} --json` makes it again")
        })?;
    }
    output::note(&format!(
        "tell what came of it: plausibly reward --log {} {decision} VALUE",
        args.log.path.display()
    ));
    put_away(log);
    Ok(Outcome::Done)
}

/// The log, if it has begun. Whatever is refused before must not leave an empty file behind; and one whose very first line was torn has not begun.
fn begun(args: &Decide) -> Result<Option<Log<FileStorage>>> {
    if !std::fs::metadata(&args.log.path).is_ok_and(|file| file.len() > 0) {
        return Ok(None);
    }
    let log = open(&args.log.path)?;
    Ok(log.state().is_some().then_some(log))
}

/// Shows what the log will be about, asks, and begins it.
fn begin(
    args: &Decide,
    table: &Table,
    context: &Context,
    at: i64,
) -> Result<std::result::Result<Log<FileStorage>, Outcome>> {
    let leave_out: Vec<&str> = args.leave_out.iter().map(String::as_str).collect();
    let recipe = match args.vectors.theta_norm_bound {
        Some(bound) => Recipe::given(table, &leave_out, bound),
        None => Recipe::infer_without(table, context, &leave_out),
    };
    let recipe = match recipe {
        Ok(recipe) => recipe,
        Err(error) => {
            return Ok(Err(Outcome::Refused(format!("error: {}: {error}", args.actions.display()))));
        }
    };
    let policy = policy::read(args.policy.as_deref(), &policy::kind_of("code"), &args.set, &recipe)?;
    let (low, high) = args.reward_range.unwrap_or((0.0, 1.0));
    for note in table.notes() {
        output::note(&format!("note: {note}"));
    }
    output::note(&format!("{}", recipe.describe()));
    output::note(&format!(
        "rewards from {low} to {high}{}; policy {}",
        if args.reward_range.is_none() { " (say --reward-range A..B if they are others)" } else { "" },
        serde_json::to_string(&policy)?
    ));
    let question = format!("Begin the log {} with this?", args.log.path.display());
    if let Some(outcome) = refused(args.yes, &question) {
        return Ok(Err(outcome));
    }
    let opening = Opening {
        policy,
        reward_range: (low, high),
        horizon: args.horizon,
        seed: args.seed.unwrap_or(at.unsigned_abs()),
        recipe,
    };
    // Checked before a file is made.
    opening.check()?;
    let mut log = open(&args.log.path)?;
    log.begin(at, opening)?;
    Ok(Ok(log))
}

/// What was said that only the first decision can say, and is not what the log says.
fn too_late(args: &Decide, log: &Log<FileStorage>) -> Option<String> {
    let (low, high) = log.state()?.reward_range();
    let fixed =
        |what: &str| Some(format!("error: {what} when the log began; begin another log for another one"));
    match args.reward_range {
        Some(range) if range != (low, high) => {
            return fixed(&format!("the range of rewards was fixed as {low}..{high}"));
        }
        _ => {}
    }
    let recipe = log.state()?.recipe();
    let as_fixed =
        |bound: f64| recipe.is_given() && recipe.theta_norm_bound(1.0).to_bits() == bound.to_bits();
    if !args.leave_out.is_empty() || args.vectors.theta_norm_bound.is_some_and(|bound| !as_fixed(bound)) {
        return fixed("what becomes of the columns was fixed");
    }
    args.seed.and_then(|_| fixed("the seed was fixed"))
}

/// Another policy than the log's, if one is asked for; what came of the question if it was not answered with yes.
fn change_policy(args: &Decide, log: &mut Log<FileStorage>, at: i64) -> Result<Option<Outcome>> {
    if args.policy.is_none() && args.set.is_empty() && args.horizon.is_none() {
        return Ok(None);
    }
    let Some(state) = log.state() else { return Ok(None) };
    let wanted = policy::read(args.policy.as_deref(), state.policy().1, &args.set, state.recipe())?;
    let horizon = args.horizon.or(state.horizon());
    if !state.would_change(&wanted, horizon)? {
        return Ok(None);
    }
    let question =
        format!("Change the policy of {} to {}?", args.log.path.display(), serde_json::to_string(&wanted)?);
    if let Some(outcome) = refused(args.yes, &question) {
        return Ok(Some(outcome));
    }
    log.change_policy(at, &wanted, horizon)?;
    Ok(None)
}

/// Asks, unless the answer was given; what to end with if it is not yes.
fn refused(yes: bool, question: &str) -> Option<Outcome> {
    if yes {
        return None;
    }
    if !io::stdin().is_terminal() {
        let text = format!("error: {question} Nobody can be asked here: add --yes. Nothing was written.");
        return Some(Outcome::Refused(text));
    }
    output::note(&format!("{question} [y/N]"));
    let mut answer = String::new();
    let agreed = io::stdin().lock().read_line(&mut answer).is_ok()
        && matches!(answer.trim().to_lowercase().as_str(), "y" | "yes");
    (!agreed).then(|| Outcome::Refused("nothing was written".into()))
}

/// What a person should know about today's table.
fn notes(log: &Log<FileStorage>, table: &Table) {
    if let Some(state) = log.state() {
        for note in state.recipe().ignored(table) {
            output::note(&format!("note: {note}"));
        }
    }
}
