//! What a policy is measured by: an estimate, and a radius.

use crate::comparison::Metric;
use crate::metrics::Source;
use plausibly::spec::{BuildError, Facts, Setting};
use plausibly::{
    Action, Actions, ArmMeans, ConfidenceRadius, Contenders, Estimator, Evidence, Onlooker, Policy,
    Radius, Reach, Ridge, Sought,
};
use std::cell::Cell;
use std::rc::Rc;

/// The estimate that a metric is taken by: the ridge of its λ, or the means of the arms, after the
/// policy's own history.
pub(crate) enum Estimate {
    /// Learned for the metric alone.
    Own(Box<dyn Estimator>),
    /// What the policy has learned, where that is the same to the last bit.
    Shared(Box<Onlooker>),
}

impl Estimate {
    /// For a metric of this policy, which has seen nothing yet; `in_step` if every reward comes
    /// before the next decision.
    pub(crate) fn new(
        metric: &Metric,
        facts: &Facts,
        policy: &dyn Policy,
        in_step: bool,
    ) -> Result<Self, BuildError> {
        if facts.setting == Setting::Arms {
            return Ok(Self::Own(Box::new(ArmMeans::new(facts.actions))));
        }
        let own = Ridge::new(facts.dim, metric.ridge)?;
        let same = |learned: &Ridge| {
            learned.evidence() == own.evidence()
                && learned.gram() == own.gram()
                && learned.moment() == own.moment()
        };
        Ok(if in_step && policy.learned().is_some_and(same) {
            Self::Shared(Box::default())
        } else {
            Self::Own(Box::new(own))
        })
    }
}

impl<P: Policy> Source<P> for Estimate {
    fn estimator<'a>(&'a self, policy: &'a P) -> &'a dyn Estimator {
        match self {
            Self::Own(model) => model,
            Self::Shared(_) => learned(policy),
        }
    }

    fn plausible<'a>(
        &'a mut self,
        policy: &P,
        actions: Actions<'_>,
        reach: Reach,
    ) -> Contenders<'a> {
        match self {
            Self::Own(model) => model.contenders(actions, reach, Sought::Plausible),
            Self::Shared(onlooker) => {
                onlooker.contenders(learned(policy), actions, reach, Sought::Plausible)
            }
        }
    }

    fn learn(&mut self, action: Action<'_>, reward: f64) {
        if let Self::Own(model) = self {
            model.update(action, reward);
        }
    }
}

fn learned(policy: &impl Policy) -> &Ridge {
    policy.learned().expect("a policy that had a ridge when it was new")
}

/// The radius of the metrics of a run, which ask for it in step: where it depends on nothing but
/// the number of observations, it is computed once for all of them.
#[derive(Clone, Debug)]
pub(crate) struct InStep {
    radius: Radius,
    last: Rc<Cell<Option<Last>>>,
}

/// A radius, and what it depends on.
#[derive(Clone, Copy, Debug)]
struct Last {
    observations: u64,
    floor: f64,
    sqrt_beta: f64,
}

impl Last {
    fn is_of(&self, evidence: &Evidence) -> bool {
        self.observations == evidence.observations
            && self.floor.to_bits() == evidence.floor.to_bits()
    }
}

impl InStep {
    pub(crate) fn new(radius: Radius) -> Self {
        Self { radius, last: Rc::default() }
    }
}

impl ConfidenceRadius for InStep {
    fn sqrt_beta(&self, evidence: &Evidence) -> f64 {
        match (self.radius, self.last.get()) {
            (Radius::Paper(_) | Radius::PerArm(_) | Radius::Fixed(_), Some(last))
                if last.is_of(evidence) =>
            {
                last.sqrt_beta
            }
            (radius, _) => {
                let Evidence { observations, floor, .. } = *evidence;
                let sqrt_beta = radius.sqrt_beta(evidence);
                self.last.set(Some(Last { observations, floor, sqrt_beta }));
                sqrt_beta
            }
        }
    }

    fn reach(&self, evidence: &Evidence) -> Reach {
        match self.radius {
            Radius::Mixture(_) | Radius::Stitched(_) | Radius::Union(_) => {
                self.radius.reach(evidence)
            }
            _ => Reach::Ellipsoid { sqrt_beta: self.sqrt_beta(evidence) },
        }
    }
}
