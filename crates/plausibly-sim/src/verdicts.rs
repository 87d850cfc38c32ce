//! How soon a policy rules actions out by its own confidence set, and whether it is right.

use crate::comparison::{Monitor, RunError, in_order};
use crate::metrics::Regret;
use crate::observer::{Decided, Observer};
use crate::play::{Draws, Player, play};
use crate::spec::Experiment;
use plausibly::spec::PolicySpec;
use plausibly::{Explain, Explanation, Stream};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;

/// What the verdicts of one policy were in one run.
///
/// An action counts as out in a look, not for good: a later look may find it plausible again.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RunVerdicts {
    /// Outcomes until an action was out; `None` if that never happened.
    pub first: Option<u64>,
    /// Outcomes until half of the actions that can go were out, rounded up.
    pub half: Option<u64>,
    /// Outcomes until one action was left; the run ends there.
    pub one_left: Option<u64>,
    /// Whether all best actions were out in some look.
    pub best_lost: bool,
    /// Whether a true mean was outside its interval in some look.
    pub truth_left: bool,
    /// Pseudo-regret at the end of the run.
    pub regret: f64,
}

/// All runs of one policy.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicyVerdicts {
    /// Its label.
    pub label: String,
    /// Its runs, in order. A run has the same problem and noise for every policy.
    pub runs: Vec<RunVerdicts>,
}

impl PolicyVerdicts {
    /// Plays every policy of an experiment separately, each run until one action is left or the
    /// horizon is reached. Problems, noise and choices are those of [`Experiment::comparison`]. The
    /// result is the same, to the last bit, for any number of threads. Reports the whole horizon of
    /// each run and policy to the monitor, also where a run ends sooner. Policies that have no
    /// confidence set are left out. Where every round has new actions, an action is out for that
    /// round only, and the times mean little.
    ///
    /// # Errors
    /// If a policy cannot be built, the monitor stops the run, or the threads cannot be started.
    ///
    /// # Panics
    /// If rewards are delayed.
    pub fn watch(
        experiment: &Experiment,
        threads: NonZeroUsize,
        monitor: &dyn Monitor,
    ) -> Result<Vec<Self>, RunError> {
        assert!(experiment.delay == crate::Delay::None, "rewards must come at once");
        let policies: Vec<_> = experiment.policies.iter().filter(|spec| spec.has_set()).collect();
        let mut all: Vec<Self> = policies
            .iter()
            .map(|policy| Self { label: policy.label.clone(), runs: Vec::new() })
            .collect();
        let play = |run| {
            let one = |policy: &&PolicySpec| watch_run(experiment, policy, run, monitor);
            policies.iter().map(one).collect::<Result<Vec<_>, _>>()
        };
        in_order(experiment.runs, threads, play, |run| {
            for (policy, verdicts) in all.iter_mut().zip(run) {
                policy.runs.push(verdicts);
            }
        })?;
        Ok(all)
    }
}

fn watch_run(
    experiment: &Experiment,
    spec: &PolicySpec,
    run: u64,
    monitor: &dyn Monitor,
) -> Result<RunVerdicts, RunError> {
    let Experiment { seed, horizon, ref environment, .. } = *experiment;
    let stream = |role: &str| Stream::new(seed, run, role);
    let mut environment = environment.draw(&mut stream("problem"));
    let policy = spec
        .build(&environment.facts(horizon))
        .map_err(|error| RunError::Policy { label: spec.label.clone(), source: Box::new(error) })?;
    let choices = stream(&format!("policy/{}", spec.label));
    let observer = (Regret::new(), Verdicts::default());
    let mut players = [Player { policy, observer, choices }];
    let mut draws = Draws { offers: stream("actions"), noise: stream("noise") };
    let mut reported = 0;
    let flow = play(&mut *environment, horizon, &mut draws, &mut players, |round, players| {
        let Verdicts { found, next_look, .. } = &players[0].observer.1;
        // Looks become rare, so there are few reports.
        if *next_look == round {
            monitor.advanced(round - reported);
            reported = round;
        }
        if found.one_left.is_some() || monitor.stopped() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    let [Player { observer: (regret, Verdicts { found, .. }), .. }] = players;
    if flow.is_break() && found.one_left.is_none() {
        return Err(RunError::Stopped);
    }
    monitor.advanced(horizon - reported);
    Ok(RunVerdicts { regret: regret.total(), ..found })
}

/// Looks at a policy's own explanation, at outcomes that grow by a hundredth from look to look: an
/// explanation scores the whole set.
#[derive(Debug, Default)]
struct Verdicts {
    found: RunVerdicts,
    /// Outcomes at the next look.
    next_look: u64,
    explanation: Explanation,
}

impl<P: Explain> Observer<P> for Verdicts {
    fn decided(&mut self, decided: &Decided<'_, P>) {
        let Decided { actions, policy, means, best_mean, .. } = *decided;
        let outcomes = decided.round - 1;
        if outcomes < self.next_look {
            return;
        }
        self.next_look = outcomes + (outcomes / 100).max(1);
        let Self { found, explanation, .. } = self;
        let radius = policy.radius().expect("a policy that decides by a confidence set");
        policy.explain(actions, radius, policy.exclusion(), explanation);
        let out = actions.len() - explanation.plausible().count();
        let (all, half) = (actions.len() - 1, (actions.len() - 1).div_ceil(2));
        for (time, needed) in
            [(&mut found.first, 1), (&mut found.half, half), (&mut found.one_left, all)]
        {
            if out >= needed {
                time.get_or_insert(outcomes);
            }
        }
        found.best_lost |= explanation.plausible().all(|action| means[action] < best_mean);
        let mut intervals = explanation.intervals().iter().zip(means);
        found.truth_left |= intervals.any(|(it, mean)| !(it.lower..=it.upper).contains(mean));
    }
}
