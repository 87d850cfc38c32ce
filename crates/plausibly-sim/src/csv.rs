//! Results as CSV: the same bytes on every platform.

use crate::summary::{FinalFigures, Moments, Summary};
use crate::verdicts::{PolicyVerdicts, RunVerdicts};
use std::borrow::Cow;
use std::fmt::Write as _;

const COLUMNS: &str = "experiment,policy,round,runs,regret_mean,regret_se,\
    model_error_mean,model_error_se,plausible_mean";

/// `summary.csv`: one row per experiment, policy and round. Standard errors of a single run are
/// empty.
///
/// ```
/// assert!(plausibly_sim::summary_csv(&[]).starts_with("experiment,policy,round,"));
/// ```
pub fn summary_csv(experiments: &[(&str, &Summary)]) -> String {
    let error = |moments: &Moments| {
        moments.standard_error().map_or_else(String::new, |error| error.to_string())
    };
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

/// The final figures of every run as CSV, one row per run and policy.
#[derive(Clone, Debug)]
pub struct RunsCsv {
    name: String,
    labels: Vec<String>,
    text: String,
}

impl RunsCsv {
    /// The header of an experiment with these policies.
    pub fn new(name: &str, labels: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        let labels = labels.into_iter().map(|label| quoted(label.as_ref()).into_owned()).collect();
        let text = "experiment,run,policy,regret,model_error,plausible,theta_star_left\n".into();
        Self { name: quoted(name).into_owned(), labels, text }
    }

    /// Adds a run: the figures of its policies, in order.
    pub fn add(&mut self, run: u64, policies: &[FinalFigures]) {
        let Self { name, labels, text } = self;
        for (label, policy) in labels.iter().zip(policies) {
            let FinalFigures { regret, model_error, plausible, theta_star_left } = policy;
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "{name},{run},{label},{regret},{model_error},{plausible},{theta_star_left}"
            );
        }
    }

    /// The file.
    pub fn finish(self) -> String {
        self.text
    }
}

/// `verdicts.csv`: one row per run and policy. A time is empty if it lies beyond the horizon.
pub fn verdicts_csv(name: &str, policies: &[PolicyVerdicts]) -> String {
    let mut text = String::from(
        "experiment,run,policy,first_out,half_out,one_left,best_lost,truth_left,regret\n",
    );
    let runs = policies.first().map_or(0, |policy| policy.runs.len());
    for run in 0..runs {
        for policy in policies {
            let RunVerdicts { first, half, one_left, best_lost, truth_left, regret } =
                policy.runs[run];
            let time = |time: Option<u64>| time.map(|time| time.to_string()).unwrap_or_default();
            let (name, label) = (quoted(name), quoted(&policy.label));
            let (first, half, one) = (time(first), time(half), time(one_left));
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "{name},{run},{label},{first},{half},{one},{best_lost},{truth_left},{regret}"
            );
        }
    }
    text
}

/// A CSV field, in quotes if it contains a separator, quote or line break.
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
