//! Explanations, as the columns and numbers that `plausibly.Explanation` holds.

use crate::actions::PySet;
use crate::guarded::{Guarded, unwound};
use crate::settings::Settings;
use numpy::ToPyArray;
use plausibly::spec::{Facts, PolicyKind, PolicySpec, RadiusSpec, Setting};
use plausibly::{DeadlineOutcome, Exclusion, Explain, Explanation, Interval, Standing, Target};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// An explanation before it becomes Python objects.
pub(crate) struct Found {
    explanation: Explanation,
    decides_by: String,
    confidence: Option<f64>,
    observations: u64,
    target: Option<Target>,
}

/// Explains a set: under the radius given, else under the policy's own, else under the default
/// radius for such actions.
pub(crate) fn explain(
    guarded: &Guarded,
    settings: &Settings,
    set: &Bound<'_, PySet>,
    given: Option<&Bound<'_, PyAny>>,
) -> PyResult<Found> {
    // A question does not change the policy, so one that was made for the answer is not kept.
    let made = guarded.made_for(settings, set)?;
    let built = made.as_ref().or(guarded.built.as_ref()).expect("there, or made above");
    let asked = Asked {
        policy: &*built.policy,
        spec: &built.spec,
        facts: &built.facts,
        model: built.model_setting(),
        actions: set.get(),
    };
    find(&asked, settings, given, |message| guarded.failure(message))
}

/// A policy to ask, with the spec and facts it was built from, the setting of its model, and the
/// actions to explain.
pub(crate) struct Asked<'a> {
    pub(crate) policy: &'a dyn Explain,
    pub(crate) spec: &'a PolicySpec,
    pub(crate) facts: &'a Facts,
    pub(crate) model: Setting,
    pub(crate) actions: &'a PySet,
}

/// Like [`explain`], for a policy that is already built. `failure` makes the exception for a
/// failure that the arguments should not cause.
pub(crate) fn find(
    asked: &Asked<'_>,
    settings: &Settings,
    given: Option<&Bound<'_, PyAny>>,
    failure: impl Fn(String) -> PyErr,
) -> PyResult<Found> {
    let Asked { policy, spec, .. } = asked;
    let mut explanation = Explanation::new();
    let mut fill = |radius: &dyn plausibly::ConfidenceRadius| {
        // Explaining only reads the policy, so the policy stays usable after a failure.
        unwound(|| {
            policy.explain(
                asked.actions.set.view(),
                radius,
                Exclusion::Intervals,
                &mut explanation,
            );
        })
        .map_err(|reason| failure(format!("no explanation can be given: {reason}")))
    };
    let confidence = if let (None, Some(own)) = (given, policy.radius()) {
        fill(own)?;
        own_radius(spec).and_then(|radius| radius.confidence(spec.ridge()))
    } else {
        let radius = settings.radius(given, spec, asked.model)?;
        let facts = settings.facts_beside(spec, asked.facts);
        let refuse =
            |error: plausibly::RadiusError| PyValueError::new_err(format!("radius: {error}"));
        fill(&radius.build(&facts).map_err(refuse)?)?;
        radius.confidence(spec.ridge())
    };
    let observations = policy.model().evidence().observations;
    Ok(Found {
        explanation,
        decides_by: decides_by(&spec.kind),
        confidence,
        observations,
        target: policy.target(),
    })
}

impl Found {
    /// The fields of `plausibly.Explanation`, with each action under its name in the set.
    pub(crate) fn to_dict<'py>(&self, set: &Bound<'py, PySet>) -> PyResult<Bound<'py, PyDict>> {
        let (py, explanation) = (set.py(), &self.explanation);
        let name = |index: usize| set.get().name(py, index);
        let column = |pick: fn(&Interval) -> f64| -> Vec<f64> {
            explanation.intervals().iter().map(pick).collect()
        };
        let ruled_out = |standing: &Standing| standing.ruled_out_by().map(name).transpose();
        let margin = |standing: &Standing| match standing {
            // What two actions have paid shows which is better, and not by how much.
            Standing::Plausible | Standing::Beaten { .. } => f64::NAN,
            Standing::RuledOut { margin, .. } => *margin,
        };
        let standings = explanation.standings();
        let fields = PyDict::new(py);
        fields
            .set_item("actions", (0..standings.len()).map(name).collect::<PyResult<Vec<_>>>()?)?;
        fields.set_item("mean", column(|interval| interval.mean).to_pyarray(py))?;
        fields.set_item("lower", column(|interval| interval.lower).to_pyarray(py))?;
        fields.set_item("upper", column(|interval| interval.upper).to_pyarray(py))?;
        fields.set_item("width_sq", explanation.width_sq().to_pyarray(py))?;
        fields.set_item(
            "plausible",
            explanation.plausible().map(name).collect::<PyResult<Vec<_>>>()?,
        )?;
        fields.set_item(
            "ruled_out_by",
            standings.iter().map(ruled_out).collect::<PyResult<Vec<_>>>()?,
        )?;
        fields
            .set_item("margin", standings.iter().map(margin).collect::<Vec<_>>().to_pyarray(py))?;
        fields.set_item("sqrt_beta", explanation.sqrt_beta())?;
        fields.set_item("confidence", self.confidence)?;
        fields.set_item("model_error_bound", explanation.model_error_bound())?;
        fields.set_item("observations", self.observations)?;
        fields.set_item("decides_by", &self.decides_by)?;
        fields.set_item("target", self.target(py)?)?;
        let insurance = explanation.insurance();
        fields.set_item("explores", insurance.map(|insurance| insurance.explores()))?;
        fields.set_item("doubt", explanation.doubt().map(|doubt| doubt.to_string()))?;
        Ok(fields)
    }

    fn target<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(status) = self.explanation.target() else { return Ok(None) };
        let target = PyDict::new(py);
        target.set_item(
            "kind",
            if matches!(self.target, Some(Target::Kappa(_))) { "kappa" } else { "accuracy" },
        )?;
        target.set_item("wanted", status.wanted)?;
        target.set_item("reached", status.reached)?;
        target.set_item("met", status.met())?;
        if let Some(deadline) = self.explanation.deadline() {
            target.set_item("by_round", deadline.by_round)?;
            target.set_item("promised", deadline.promised)?;
            let outcome = match deadline.outcome {
                DeadlineOutcome::Open => "open",
                DeadlineOutcome::Met => "met",
                DeadlineOutcome::Missed => "missed",
            };
            target.set_item("outcome", outcome)?;
        }
        Ok(Some(target))
    }
}

fn own_radius(spec: &PolicySpec) -> Option<RadiusSpec> {
    match spec.kind {
        PolicyKind::Code { radius, .. }
        | PolicyKind::Insured { radius, .. }
        | PolicyKind::LinUcb { radius, .. } => Some(radius),
        _ => None,
    }
}

/// The rule by which a policy chooses, in words.
fn decides_by(kind: &PolicyKind) -> String {
    match *kind {
        PolicyKind::Code { greed, target, randomise, .. } => {
            let rule = if target.is_some() {
                "the widest interval among the actions that could still be best; once the target \
                 is met, the largest upper bound among them"
                    .into()
            } else if greed > 0.0 {
                format!(
                    "the plausible action with the largest half-width plus {greed} times its \
                     estimate"
                )
            } else {
                "the widest interval among the actions that could still be best".to_string()
            };
            let share = 100.0 * randomise;
            if randomise > 0.0 {
                format!("{rule}; in {share} % of rounds any plausible action, at random")
            } else {
                rule
            }
        }
        PolicyKind::Insured { kappa, ref inside, .. } => format!(
            "the widest plausible action while one has a squared width above {kappa}·d/t; \
             otherwise, among the plausible actions: {}",
            decides_by(inside)
        ),
        PolicyKind::LinUcb { .. } | PolicyKind::Ucb1 { .. } => "the largest upper bound".into(),
        PolicyKind::LinTs { .. } => {
            "the largest reward under parameters drawn from the posterior".into()
        }
        PolicyKind::Thompson { .. } | PolicyKind::BetaThompson => {
            "the largest of the means drawn from the posterior".into()
        }
        PolicyKind::Elimination { .. } => {
            "a draw from the optimal design of the phase, over the actions not yet eliminated"
                .into()
        }
        PolicyKind::EpsilonGreedy { .. } => {
            "the largest estimate, and in a decaying share of rounds a draw from all actions".into()
        }
        PolicyKind::ExploreThenCommit { .. } => {
            "draws from all actions first, and then the action whose estimate was largest after \
             them"
                .into()
        }
    }
}
