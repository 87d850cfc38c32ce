use crate::{experiment, workspace};
use plausibly::spec::POLICY_KINDS;
use plausibly_sim::{Experiment, Overrides, Summary};
use plausibly_testkit::assert_golden;
use std::fmt::Write;
use std::num::NonZeroUsize;

fn text(summary: &Summary) -> String {
    let mut text = String::from("policy,round,regret,model_error,plausible,left\n");
    for policy in &summary.policies {
        for (round, point) in summary.rounds.iter().zip(&policy.points) {
            let (regret, error, plausible) =
                (point.regret.mean(), point.model_error.mean(), point.plausible.mean());
            writeln!(
                text,
                "{},{round},{regret},{error},{plausible},{}",
                policy.label, policy.runs_left
            )
            .unwrap();
        }
    }
    text
}

/// Whole runs of every policy that fits. Changing them is a decision, and needs a line in
/// CHANGELOG.md.
#[test]
fn whole_runs_are_reproduced_to_the_last_bit() {
    for (name, environment) in [
        ("linear", "kind = 'linear'\ndim = 4\nactions = 30\nnoise = 0.5"),
        ("changing", "kind = 'changing'\ndim = 3\nactions = 11\nnoise = 0.5"),
        ("k-armed", "kind = 'k-armed'\nactions = 7"),
        ("arms", "kind = 'arms'\nrewards = 'yes-no'"),
        ("table", "kind = 'table'\nactions = 12"),
        ("poisson", "kind = 'poisson'\ndim = 3\nactions = 12"),
    ] {
        let head = "runs = 5\nhorizon = 1000\nseed = 11";
        let fits = |policy: &String| {
            let text = format!("{head}\n[environment]\n{environment}\n[[policy]]\n{policy}\n");
            Experiment::from_toml(&text, Overrides::default(), &()).is_ok()
        };
        let policies: Vec<String> =
            POLICY_KINDS.iter().map(|kind| format!("kind = '{kind}'")).filter(fits).collect();
        let policies: Vec<&str> = policies.iter().map(String::as_str).collect();
        let experiment = experiment(head, environment, &policies);
        let summary = experiment.comparison().run(NonZeroUsize::new(2).unwrap(), &()).unwrap();
        assert_golden(&workspace(&format!("testdata/golden/{name}.csv")), &text(&summary));
    }
}
