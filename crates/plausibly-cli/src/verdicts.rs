//! `plausibly simulate --verdicts`: how soon the policies of a spec rule actions out.

use crate::exit::Ending;
use crate::output;
use plausibly::spec::Setting;
use plausibly_paper::{EVENTS, median_outcomes};
use plausibly_report::number::{Estimate, grouped};
use plausibly_sim::{Delay, Experiment, Moments, Monitor, PolicyVerdicts, RunError, verdicts_csv};
use serde_json::{Value, json};
use std::num::NonZeroUsize;

/// The verdicts of every policy that has a confidence set.
#[derive(Debug)]
pub(crate) struct Verdicts {
    horizon: u64,
    policies: Vec<PolicyVerdicts>,
}

impl Verdicts {
    /// Why this spec has none; `Ok` if it has some.
    pub(crate) fn check(experiment: &Experiment) -> Result<(), Ending> {
        let reason = if experiment.delay != Delay::None {
            "--verdicts needs rewards that come at once; leave out `delay`, or the flag"
        } else if experiment.environment.setting() == Setting::Changing {
            "--verdicts needs the same actions in every round, and here each round has new ones"
        } else if experiment.policies.iter().all(|policy| !policy.has_set()) {
            "--verdicts needs a policy with a confidence set: code, insured, lin-ucb or ucb1"
        } else {
            return Ok(());
        };
        Err(Ending::Refused(format!("{reason}\nhint: nothing was run")))
    }

    /// Rounds that a monitor is told of.
    pub(crate) fn rounds(experiment: &Experiment) -> u64 {
        let policies = experiment.policies.iter().filter(|policy| policy.has_set()).count() as u64;
        experiment.runs.saturating_mul(experiment.horizon).saturating_mul(policies)
    }

    /// Plays every run of each policy until one action is left.
    pub(crate) fn watch(
        experiment: &Experiment,
        threads: NonZeroUsize,
        monitor: &dyn Monitor,
    ) -> Result<Self, RunError> {
        let policies = PolicyVerdicts::watch(experiment, threads, monitor)?;
        Ok(Self { horizon: experiment.horizon, policies })
    }

    /// One row per run and policy.
    pub(crate) fn csv(&self, experiment: &str) -> String {
        verdicts_csv(experiment, &self.policies)
    }

    /// Medians over runs, with the 95 % interval of their order statistics.
    pub(crate) fn table(&self) -> String {
        let row = |policy: &PolicyVerdicts| {
            let median = |event| self.words(&median_outcomes(policy, event));
            let [first, half, one_left] = EVENTS.map(median);
            let lost = policy.runs.iter().filter(|run| run.best_lost).count();
            let regret = output::figure(regret(policy).mean());
            vec![policy.label.clone(), first, half, one_left, regret, lost.to_string()]
        };
        let heading =
            ["outcomes until", "first out", "half out", "one left", "regret then", "best lost"];
        output::table(&heading, &self.policies.iter().map(row).collect::<Vec<_>>())
    }

    /// For example `240 [231, 250]`, or `> 20,000` beyond the horizon.
    fn words(&self, median: &Estimate) -> String {
        let end = |outcomes: f64| {
            if outcomes.is_finite() {
                grouped(outcomes.round())
            } else {
                format!("> {}", grouped(self.horizon as f64))
            }
        };
        if median.low.is_infinite() {
            return end(median.low);
        }
        format!("{} [{}, {}]", end(median.value), end(median.low), end(median.high))
    }

    /// The same figures as JSON; `null` stands for beyond the horizon.
    pub(crate) fn json(&self) -> Value {
        let one = |policy: &PolicyVerdicts| {
            let finite = |x: f64| x.is_finite().then_some(x);
            let median = |event| {
                let Estimate { value, low, high } = median_outcomes(policy, event);
                json!({ "median": finite(value), "interval": [finite(low), finite(high)] })
            };
            let [first_out, half_out, one_left] = EVENTS.map(median);
            let regret = regret(policy);
            json!({
                "policy": policy.label,
                "first_out": first_out,
                "half_out": half_out,
                "one_left": one_left,
                "regret": { "mean": regret.mean(), "standard_error": regret.standard_error() },
                "runs_best_lost": policy.runs.iter().filter(|run| run.best_lost).count(),
                "runs_truth_left": policy.runs.iter().filter(|run| run.truth_left).count(),
            })
        };
        self.policies.iter().map(one).collect()
    }
}

fn regret(policy: &PolicyVerdicts) -> Moments {
    let mut regret = Moments::default();
    policy.runs.iter().for_each(|run| regret.add(run.regret));
    regret
}
