//! `summary.csv`: the outcome of comparisons as text, the same bytes wherever it is written.

use crate::summary::{Moments, Summary};
use std::borrow::Cow;
use std::fmt::Write as _;

const COLUMNS: &str =
    "experiment,policy,round,runs,regret_mean,regret_se,model_error_mean,model_error_se,plausible_mean";

/// One row an experiment, policy and round; a standard error that a single run does not have is left empty.
///
/// ```
/// assert!(plausibly_sim::summary_csv(&[]).starts_with("experiment,policy,round,"));
/// ```
pub fn summary_csv(experiments: &[(&str, &Summary)]) -> String {
    let error =
        |moments: &Moments| moments.standard_error().map_or_else(String::new, |error| error.to_string());
    let mut text = format!("{COLUMNS}\n");
    for (name, summary) in experiments {
        for policy in &summary.policies {
            let (name, label) = (quoted(name), quoted(&policy.label));
            for (round, point) in summary.rounds.iter().zip(&policy.points) {
                let (regret, model_error) = (&point.regret, &point.model_error);
                // Writing to a string cannot fail.
                let _ = writeln!(
                    text,
                    "{name},{label},{round},{},{},{},{},{},{}",
                    summary.runs,
                    regret.mean(),
                    error(regret),
                    model_error.mean(),
                    error(model_error),
                    point.plausible.mean(),
                );
            }
        }
    }
    text
}

/// A field as CSV has it: in quotes if it holds what would end it.
fn quoted(field: &str) -> Cow<'_, str> {
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\"")).into()
    } else {
        field.into()
    }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn names_are_quoted_where_they_must_be() {
        assert_eq!(quoted("CODE"), "CODE");
        assert_eq!(quoted("LinUCB, narrow"), "\"LinUCB, narrow\"");
        assert_eq!(quoted("the \"best\""), "\"the \"\"best\"\"\"");
        assert_eq!(quoted("two\rlines\n"), "\"two\rlines\n\"");
    }
}
