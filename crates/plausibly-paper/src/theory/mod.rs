//! The paper's bounds compared with measurements, as printed and corrected.
//!
//! Each check plays an [`Experiment`] whose first policy is CODE, as [`Experiment::comparison`]
//! would play it (same problems, same noise, same choices), and checks every run separately,
//! because a bound depends on the run's problem.

mod arms;
mod linear;

pub use arms::ArmsTheory;
pub use linear::LinearTheory;

use plausibly::spec::{BuildError, Facts, PolicyKind, RadiusSpec};
use plausibly::{Exclusion, Policy, Stream, Target};
use plausibly_sim::{
    Delay, Draws, Environment, Experiment, Moments, Monitor, Observer, Player, Regret, RunError,
    play,
};
use std::ops::ControlFlow;
use thiserror::Error;

/// Why theory could not be checked.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TheoryError {
    /// The theory does not cover this kind of experiment.
    #[error("the theory does not cover this experiment: {0}")]
    Unsuited(&'static str),
    /// A run did not finish.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// A bound compared with the figure it bounds, over runs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BoundCheck {
    /// The bound, which can differ from problem to problem.
    pub bound: Moments,
    /// Runs in which the measured figure was above it.
    pub exceeded: u64,
    /// Runs in which the bound says nothing: it is no better than the trivial one, or holds with
    /// probability zero.
    pub vacuous: u64,
}

impl BoundCheck {
    fn add(&mut self, measured: f64, bound: f64, vacuous: bool) {
        self.bound.add(bound);
        self.exceeded += u64::from(measured > bound);
        self.vacuous += u64::from(vacuous);
    }
}

/// CODE as the first policy of an experiment, with its parameters.
struct CodeEntrant<'a> {
    experiment: &'a Experiment,
    ridge: f64,
    radius: RadiusSpec,
    /// c.
    greed: f64,
    target: Option<Target>,
}

/// One run, played to its end.
struct PlayedRun<O> {
    environment: Box<dyn Environment>,
    facts: Facts,
    regret: f64,
    observer: O,
}

impl<'a> CodeEntrant<'a> {
    fn of(experiment: &'a Experiment) -> Result<Self, TheoryError> {
        if experiment.delay != Delay::None {
            return Err(TheoryError::Unsuited("its rewards must not be delayed"));
        }
        match experiment.policies.first().map(|policy| &policy.kind) {
            Some(PolicyKind::Code { randomise, .. }) if *randomise > 0.0 => {
                Err(TheoryError::Unsuited(
                    "CODE must not be randomised: its bounds are then on expectations",
                ))
            }
            Some(PolicyKind::Code { target: Some(Target::Deadline { .. }), .. }) => {
                Err(TheoryError::Unsuited(
                    "CODE must not have a deadline: it then explores by the radius of the \
                     deadline, which these bounds do not cover",
                ))
            }
            Some(PolicyKind::Code { exclusion: Exclusion::Differences, .. }) => {
                Err(TheoryError::Unsuited("CODE must compare intervals, as the paper does"))
            }
            Some(&PolicyKind::Code { ridge, radius, greed, target, .. }) => {
                let ridge = ridge.unwrap_or(1.0);
                Ok(Self { experiment, ridge, radius, greed, target })
            }
            _ => Err(TheoryError::Unsuited("its first policy must be code")),
        }
    }

    fn play<O: Observer<Box<dyn Policy>>>(
        &self,
        run: u64,
        monitor: &dyn Monitor,
        observe: impl Fn(&Facts) -> Result<O, BuildError>,
    ) -> Result<PlayedRun<O>, RunError> {
        let Experiment { seed, horizon, policies, environment, .. } = self.experiment;
        let stream = |role: &str| Stream::new(*seed, run, role);
        let mut environment = environment.draw(&mut stream("problem"));
        let facts = environment.facts(*horizon);
        let label = &policies[0].label;
        let failed = |source| RunError::Policy { label: label.clone(), source };
        let policy: Box<dyn Policy> =
            policies[0].build(&facts).map_err(|error| failed(Box::new(error) as _))?;
        let observer =
            (Regret::new(), observe(&facts).map_err(|source| RunError::Metric { source })?);
        let mut players =
            [Player { policy, observer, choices: stream(&format!("policy/{label}")) }];
        let mut draws = Draws { offers: stream("actions"), noise: stream("noise") };
        let flow = play(&mut *environment, *horizon, &mut draws, &mut players, |_, _| {
            if monitor.stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        if flow.is_break() {
            return Err(RunError::Stopped);
        }
        monitor.advanced(*horizon);
        let [Player { observer: (regret, observer), .. }] = players;
        Ok(PlayedRun { environment, facts, regret: regret.total(), observer })
    }
}
