//! Prints the decisions that were taken.

use super::args::Decide;
use super::recording::Recording;
use crate::exit::Ending;
use crate::files::Target;
use crate::output;
use anyhow::{Context as _, Result};
use plausibly_log::certificate::Certificate;
use plausibly_log::event::Outcomes;

/// Prints decisions, and writes the certificate of a single one if requested. If one of the two
/// fails, the other is still done.
pub(super) fn announce(
    args: &Decide,
    recording: &Recording<'_>,
    taken: &[Certificate],
    file: Option<&Target>,
) -> Result<()> {
    let which = match taken {
        [one] => format!("decision {} was taken", named(one)),
        several => format!("each of decisions {} was taken", numbers(several)),
    };
    let separator = if args.explain { "\n" } else { "" };
    let text = taken.iter().map(|one| shown(args, one)).collect::<Vec<_>>().join(separator);
    let printed = recording.answer(&which, &text, args.json);
    let log = args.log.path.display();
    let written = match (file, taken) {
        (Some(file), [one]) => file.write(&(one.to_json() + "\n")).with_context(|| {
            Ending::Recorded(format!(
                "{which} and is in {log}, but its certificate was not written; `plausibly explain \
                 --log {log} {} --json` prints it",
                one.grounds.decision
            ))
        }),
        _ => Ok(()),
    };
    printed.and(written)?;
    output::note(&match taken {
        [one] => format!(
            "record its outcome with: plausibly reward --log {log} {} {}",
            one.grounds.decision,
            if one.grounds.outcomes == Outcomes::Counts { "YES --of ALL" } else { "VALUE" }
        ),
        _ => format!(
            "record their outcomes with: plausibly reward --log {log} DECISION VALUE, or fill in \
             what `plausibly history --log {log} --pending --csv` prints"
        ),
    });
    Ok(())
}

fn shown(args: &Decide, taken: &Certificate) -> String {
    if args.json {
        taken.to_json() + "\n"
    } else if args.explain {
        taken.words().to_string()
    } else {
        let label = output::inline(&taken.findings.chosen.label);
        format!("decision {}: {label}\n", taken.grounds.decision)
    }
}

fn named(taken: &Certificate) -> String {
    format!("{} ({})", taken.grounds.decision, output::inline(&taken.findings.chosen.label))
}

/// The numbers of consecutive decisions.
pub(super) fn numbers(taken: &[Certificate]) -> String {
    match taken {
        [] => String::new(),
        [one] => one.grounds.decision.to_string(),
        [first, .., last] => format!("{} to {}", first.grounds.decision, last.grounds.decision),
    }
}
