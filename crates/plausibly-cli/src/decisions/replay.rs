//! `plausibly replay`.

use super::args::Replay;
use super::{existing, policy};
use crate::output;
use anyhow::Result;
use plausibly_log::{LogError, Replayed, fold, replay};
use serde_json::json;

pub(crate) fn run(args: &Replay) -> Result<()> {
    let storage = existing(&args.log.path, 2)?;
    let (state, _) = fold(&storage, |_| Ok(()))?;
    let state = state.ok_or(LogError::Empty)?;
    let policy =
        policy::read(args.policy.as_deref(), state.policy().1, &args.set, None, state.recipe())?;
    let mut all = Vec::new();
    let checked = replay(&storage, &policy, args.horizon, |replayed| all.push(replayed))?;
    drop(storage);
    if args.json {
        let found = json!({ "policy": policy, "checked": checked, "decisions": all });
        output::json(&format!("{found:#}\n"))
    } else {
        let own = args.policy.is_none() && args.set.is_empty() && args.horizon.is_none();
        let settings = if own { "the log's current policy" } else { "the other settings" };
        output::data(&table(&all, settings))
    }
}

fn table(all: &[Replayed], settings: &str) -> String {
    let differing: Vec<&Replayed> = all.iter().filter(|replayed| replayed.differs()).collect();
    let chosen =
        differing.iter().filter(|replayed| replayed.chosen != replayed.would_choose).count() as u64;
    let mut text = format!(
        "{} under {settings}: another action would be chosen in {}, and other actions would be in \
         the race in {}\n",
        output::plural(all.len() as u64, "decision", "decisions"),
        chosen,
        differing
            .iter()
            .filter(|replayed| !replayed.lost.is_empty() || !replayed.gained.is_empty())
            .count(),
    );
    text += "under the log's own settings: every recorded choice was derived again, and is right\n";
    if differing.is_empty() {
        return text;
    }
    let rows: Vec<Vec<String>> = differing
        .iter()
        .map(|replayed| {
            let names = |names: &[String]| match names {
                [] => "-".into(),
                [one] => one.clone(),
                [first, rest @ ..] => format!("{first} and {} more", rest.len()),
            };
            let would = if replayed.chosen == replayed.would_choose {
                "the same"
            } else {
                &replayed.would_choose
            };
            vec![
                replayed.decision.to_string(),
                replayed.chosen.clone(),
                would.into(),
                names(&replayed.lost),
                names(&replayed.gained),
            ]
        })
        .collect();
    text.push('\n');
    text + &output::left_table(
        &["decision", "chosen", "would choose", "would be out of the race", "would be in the race"],
        &rows,
    )
}
