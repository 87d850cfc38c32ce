//! `plausibly decide`.

use super::args::Decide;
use super::questions::{self, Answers};
use super::recording::Recording;
use super::window::settle;
use super::{announce, first_table, policy, time_to_record};
use crate::exit::{Ending, refuse};
use crate::files::{Kind, Outputs, Target};
use crate::output;
use anyhow::{Context as _, Result};
use plausibly_log::event::Outcomes;
use plausibly_log::journal::FileStorage;
use plausibly_log::policy::{Noise, PolicyTable, Rates, declare_rates, default_for};
use plausibly_log::recipe::{Context, Recipe};
use plausibly_log::state::check_key;
use plausibly_log::table::Table;
use plausibly_log::{Changes, Log, Opening};
use std::fs::File;
use std::io::{self, IsTerminal};
use std::path::Path;

pub(crate) fn run(args: &Decide) -> Result<()> {
    let context =
        &Context::parse(&args.context).map_err(|error| Ending::Refused(error.to_string()))?;
    if let Some(Err(refused)) = args.key.as_deref().map(check_key) {
        refuse!("--key: {refused}. Nothing was written.");
    }
    let at = time_to_record(args.time.at, args.force)?;
    let certificate_file = certificate_file(args)?;
    let table = read_table(args)?;
    let recording = Recording::new(&args.log.path, &args.wait)?;
    let Ready { mut log, table, recorded } = ready(args, &recording, table, context, at)?;
    let most = args.listing.most();
    let key = args.key.as_deref();
    let is_repeated =
        key.is_some_and(|key| log.state().and_then(|state| state.decision_with_key(key)).is_some());
    if !is_repeated {
        notes(&log, &table, context);
    }
    recording.begin_write()?;
    settle(&mut log, at)?;
    let mut taken = Vec::new();
    let failed = (0..args.count).find_map(|_| {
        let decided = match key {
            Some(key) => log.decide_once(key, at, &table, context, most).map(|(taken, _)| taken),
            None => log.decide(at, &table, context, most),
        };
        decided.map(|decision| taken.push(decision)).err()
    });
    // Releases the log before printing: a slow reader of the output must not block other writers.
    drop(log);
    if let (true, [one]) = (is_repeated, &taken[..]) {
        let decision = one.grounds.decision;
        output::note(&format!(
            "note: decision {decision} was taken before with this key; nothing was written"
        ));
    }
    if !taken.is_empty() {
        announce::announce(args, &recording, &taken, certificate_file.as_ref())?;
    }
    let log = args.log.path.display();
    let before = match (recorded, taken.len()) {
        (None, 0) => None,
        (Some(recorded), 0) => Some(format!("{recorded} in {log}, but the decision was not taken")),
        (_, some) => Some(format!(
            "{some} of {} decisions were taken and are in {log}, {}; the next one failed",
            args.count,
            announce::numbers(&taken)
        )),
    };
    match (failed, before) {
        (None, _) => Ok(()),
        (Some(failed), None) => Err(failed.into()),
        (Some(failed), Some(before)) => Err(failed).context(Ending::Recorded(before)),
    }
}

/// The file for the certificate, which must not be one that the command reads.
fn certificate_file(args: &Decide) -> Result<Option<Target>> {
    let mut outputs =
        Outputs::new(args.force).with_log(&args.log.path).reading("the table", &args.actions);
    if let Some(path) = &args.policy {
        outputs = outputs.reading("the policy", Path::new(path));
    }
    args.certificate.as_deref().map(|path| outputs.file(path, Kind::Certificate)).transpose()
}

fn read_table(args: &Decide) -> Result<Table> {
    let path = &args.actions;
    let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    let table = match &args.label {
        Some(column) => Table::read_labelled(file, column),
        None => Table::read(file),
    };
    table.map_err(|error| refused_table(path, &error))
}

fn refused_table(path: &Path, error: &dyn std::fmt::Display) -> anyhow::Error {
    Ending::Refused(format!("{}: {error}", path.display())).into()
}

/// A log that is ready for a decision.
struct Ready {
    log: Log<FileStorage>,
    /// The table, with its labels from the same column as the log.
    table: Table,
    /// The event recorded so far, for messages.
    recorded: Option<&'static str>,
}

/// Opens the log. Begins it, or changes its policy, if the user wants that and agrees.
fn ready(
    args: &Decide,
    recording: &Recording<'_>,
    table: Table,
    context: &Context,
    at: i64,
) -> Result<Ready> {
    let Some(log) = begun(args, recording)? else {
        let (log, recorded) = begin(args, recording, &table, context, at)?;
        return Ok(Ready { log, table, recorded });
    };
    if let Some(refusal) = too_late(args, &log) {
        refuse!("{refusal}");
    }
    let label = log.state().and_then(|state| state.recipe().label().map(str::to_string));
    let table =
        table.with_label(label.as_deref()).map_err(|error| refused_table(&args.actions, &error))?;
    let (log, recorded) = change_policy(args, recording, log, at)?;
    Ok(Ready { log, table, recorded })
}

/// The log, if it has begun. Does not create the file, so that a refusal leaves no empty log. A log
/// with only a torn first line has not begun.
fn begun(args: &Decide, recording: &Recording<'_>) -> Result<Option<Log<FileStorage>>> {
    if !std::fs::metadata(&args.log.path).is_ok_and(|file| file.len() > 0) {
        return Ok(None);
    }
    let log = recording.open()?;
    Ok(log.state().is_some().then_some(log))
}

/// Shows the settings of the log, asks, and begins it.
fn begin(
    args: &Decide,
    recording: &Recording<'_>,
    table: &Table,
    context: &Context,
    at: i64,
) -> Result<(Log<FileStorage>, Option<&'static str>)> {
    first_table::check_header(args, table)?;
    let leave_out: Vec<&str> = args.leave_out.iter().map(String::as_str).collect();
    let recipe = match args.vectors.theta_norm_bound {
        Some(bound) => Recipe::given(table, &leave_out, bound),
        None => Recipe::infer_without(table, context, &leave_out),
    };
    let recipe = recipe.map_err(|error| refused_table(&args.actions, &error))?;
    for note in table.notes() {
        output::note(&format!("note: {note}"));
    }
    output::note(&format!("{}", recipe.describe()));
    first_table::ask(args, table, &recipe)?;
    let Answers { range, outcomes, noise, rates } = questions::answers(args, &recipe)?;
    let usual = default_for(&recipe, range, outcomes);
    let policy = policy::read(args.policy.as_deref(), &usual, &args.set, None, &recipe)?;
    let mut opening = Opening {
        policy,
        horizon: args.horizon,
        outcomes,
        window: args.window.window(),
        ..Opening::new(recipe, range, args.seed.unwrap_or(at.unsigned_abs()))
    };
    if noise != Noise::Unknown {
        opening = opening.scattering(noise)?;
    }
    if rates != Rates::default() {
        opening = opening.usually(rates)?;
    }
    // Checked before the file is created.
    output::note(&settings(args, &opening)?);
    let name = args.log.path.display();
    if !args.yes {
        at_terminal(&format!("{name} has not begun"), "begin it with these settings")?;
        agree(&format!("Begin the log {name} with these settings?"))?;
    }
    recording.begin_write()?;
    let mut log = recording.open()?;
    if let Some(state) = log.state() {
        if !opening.is_that_of(state) || args.seed.is_some_and(|seed| seed != state.seed()) {
            refuse!(
                "another process has meanwhile begun {name} with other settings; run this again to \
                 decide with those. Nothing was written."
            );
        }
        return Ok((log, None));
    }
    log.begin(at, opening)?;
    Ok((log, Some("the log was begun")))
}

/// The settings of a log that is to begin, for a person to agree to.
fn settings(args: &Decide, opening: &Opening) -> Result<String> {
    let mut lines = vec!["assumed, and recorded in the log:".to_string()];
    lines.extend(opening.assumed()?.into_iter().map(|sentence| format!("  - {sentence}")));
    let said = [
        (args.reward_range.is_some(), "--reward-range A..B"),
        // What is said about noise is about numbers.
        (args.outcomes.is_some() || args.noise.is_some(), "--outcomes yes/no or counts"),
        (
            args.noise.is_some() || !args.set.is_empty() || opening.outcomes != Outcomes::Number,
            "--noise N or bell",
        ),
    ];
    let mut open: Vec<&str> =
        said.iter().filter(|(said, _)| !said).map(|(_, flag)| *flag).collect();
    let has_rates = opening.policy.get("radius").is_some_and(|own| own["kind"] == "logistic");
    if has_rates && args.usual_rate.is_none() {
        open.push("--usual-rate P");
    }
    if has_rates && args.odds_factor.is_none() {
        open.push("--odds-factor F");
    }
    if args.yes && !open.is_empty() {
        lines.push(format!("  if you know more, say it with {}", open.join(", ")));
    }
    let is_usual = opening.policy.get("kind").is_some_and(|kind| kind == "code");
    if args.policy.is_some() || !args.set.is_empty() || !is_usual {
        lines.push(format!("policy: {}", policy::words(&opening.policy)));
    }
    Ok(lines.join("\n"))
}

/// The refusal of a flag that only the first decision can set, if it differs from the log.
fn too_late(args: &Decide, log: &Log<FileStorage>) -> Option<String> {
    let (low, high) = log.state()?.reward_range();
    let fixed =
        |what: &str| Some(format!("{what} when the log began; begin a new log to change that"));
    if args.reward_range.is_some_and(|range| range != (low, high)) {
        return fixed(&format!("the range of rewards was fixed as {low}..{high}"));
    }
    let outcomes = log.state()?.outcomes();
    if args.outcomes.is_some_and(|wanted| wanted != outcomes) {
        return Some(format!(
            "the outcomes of this log are {outcomes}; `plausibly reward --outcomes` changes that \
             from an outcome on"
        ));
    }
    let window = log.state()?.window();
    if args.window.window().is_some_and(|wanted| Some(wanted) != window) {
        return fixed(match window {
            Some(_) => "another window was fixed",
            None => "it was fixed that outcomes count when they come",
        });
    }
    let recipe = log.state()?.recipe();
    if args.label.is_some() && args.label.as_deref() != recipe.label() {
        let from = recipe
            .label()
            .map_or_else(|| "their position".into(), |label| format!("column `{label}`"));
        return fixed(&format!("labels were fixed to come from {from}"));
    }
    let as_fixed =
        |bound: f64| recipe.is_given() && recipe.theta_norm_bound(1.0).to_bits() == bound.to_bits();
    if !args.leave_out.is_empty()
        || args.vectors.theta_norm_bound.is_some_and(|bound| !as_fixed(bound))
    {
        return fixed("the use of the columns was fixed");
    }
    args.seed.and_then(|_| fixed("the seed was fixed"))
}

/// Changes the policy of the log, if the user wants that and agrees.
fn change_policy(
    args: &Decide,
    recording: &Recording<'_>,
    mut log: Log<FileStorage>,
    at: i64,
) -> Result<(Log<FileStorage>, Option<&'static str>)> {
    let Some((wanted, horizon)) = wanted_policy(args, &log)? else { return Ok((log, None)) };
    if !args.yes {
        let asked_about = policy_of(&log);
        // Releases the log, so that others can use it while the question is open.
        drop(log);
        let name = args.log.path.display();
        let policy = policy::words(&wanted);
        at_terminal(&format!("the policy of {name} would change to {policy}"), "change it")?;
        agree(&format!("Change the policy of {name} to {policy}?"))?;
        log = recording.open()?;
        if policy_of(&log) != asked_about {
            refuse!(
                "another process has meanwhile changed the policy of {name}; run this again to \
                 change that policy. Nothing was written."
            );
        }
    }
    recording.begin_write()?;
    log.change_policy(at, &wanted, horizon)?;
    Ok((log, Some("the policy was changed")))
}

/// The requested policy and horizon, if they differ from those of the log.
fn wanted_policy(
    args: &Decide,
    log: &Log<FileStorage>,
) -> Result<Option<(PolicyTable, Option<u64>)>> {
    let rates = Rates { usual: args.usual_rate, factor: args.odds_factor };
    let says_rates = rates != Rates::default();
    let changes =
        args.policy.is_some() || !args.set.is_empty() || args.noise.is_some() || says_rates;
    if !changes && args.horizon.is_none() {
        return Ok(None);
    }
    let Some(state) = log.state() else { return Ok(None) };
    if let (Some(Noise::Scale(scale)), Some(seen)) = (args.noise, state.scatter())
        && scale < seen
    {
        refuse!(
            "--noise {scale}: so far, outcomes of the same action differ from their average by \
             about {}; say at least that, or --noise unknown. Nothing was written.",
            output::figure(seen)
        );
    }
    let (current, recipe) = (state.policy().1, state.recipe());
    let mut wanted = policy::read(args.policy.as_deref(), current, &args.set, args.noise, recipe)?;
    if says_rates {
        let declared = declare_rates(&mut wanted, rates, state.reward_range());
        declared.map_err(|refusal| Ending::Refused(refusal.to_string()))?;
    }
    let horizon = args.horizon.or(state.horizon());
    Ok(state.would_change(&wanted, horizon)?.then_some((wanted, horizon)))
}

fn policy_of(log: &Log<FileStorage>) -> Option<(PolicyTable, Option<u64>)> {
    log.state().map(|state| (state.policy().1.clone(), state.horizon()))
}

/// Checks that the command can ask.
///
/// # Errors
/// A refusal if it cannot.
pub(super) fn at_terminal(fact: &str, purpose: &str) -> Result<()> {
    if !io::stdin().is_terminal() {
        refuse!(
            "{fact}. This is not a terminal, so the command cannot ask; add --yes to \
             {purpose}. Nothing was written."
        );
    }
    Ok(())
}

/// Asks a question.
///
/// # Errors
/// A refusal if the answer is not yes.
pub(super) fn agree(question: &str) -> Result<()> {
    if !output::ask(question).unwrap_or(false) {
        refuse!("you did not agree. Nothing was written.");
    }
    Ok(())
}

/// Prints notes on the current table and context before the decision is taken.
fn notes(log: &Log<FileStorage>, table: &Table, context: &Context) {
    let Some(state) = log.state() else { return };
    // Ignores errors: the decision would fail with the same one.
    let changes =
        Changes::between(state, table, context).map(|changes| changes.notes()).unwrap_or_default();
    for note in state.recipe().ignored(table).into_iter().chain(changes) {
        output::note(&format!("note: {note}"));
    }
}
