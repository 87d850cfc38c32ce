//! Explanations, as the columns and numbers that `plausibly.Explanation` holds.

use crate::actions::PySet;
use crate::built::{Built, own_radius};
use crate::errors::refuse;
use crate::guarded::{Guarded, unwound};
use crate::settings::Settings;
use numpy::ToPyArray;
use plausibly::spec::{Facts, PolicyKind, PolicySpec, Setting};
use plausibly::{
    ActionIndex, ConfidenceRadius, DeadlineOutcome, Explain, Explanation, Interval, Radius,
    Standing, Target,
};
use plausibly_log::certificate::two_digits;
use plausibly_log::{Difference, next_out, written};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// An explanation before it becomes Python objects.
pub(crate) struct Found {
    explanation: Explanation,
    /// The radius of the explanation; `None` for the policy's own.
    radius: Option<Radius>,
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
    find(&Asked::of(built, set), settings, given, |message| guarded.failure(message))
}

/// Compares the actions at two places of a set.
pub(crate) fn compare<'py>(
    guarded: &Guarded,
    settings: &Settings,
    set: &Bound<'py, PySet>,
    places: [ActionIndex; 2],
    given: Option<&Bound<'_, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    if places[0] == places[1] {
        refuse!("b: the same action as a; name two different ones");
    }
    let made = guarded.made_for(settings, set)?;
    let built = made.as_ref().or(guarded.built.as_ref()).expect("there, or made above");
    let asked = Asked::of(built, set);
    let found = find(&asked, settings, given, |message| guarded.failure(message))?;
    let (py, radius, policy) = (set.py(), found.radius(&asked), asked.policy);
    let view = set.get().set.view();
    let compared =
        || found.explanation.compare(policy.model(), radius, policy.exclusion(), view, places);
    let apart = unwound(compared)
        .map_err(|reason| guarded.failure(format!("the actions cannot be compared: {reason}")))?;
    let length = settings.outcomes.range.map(|(low, high)| high - low);
    // True averages lie in the range, so no two are farther apart.
    let most = length.unwrap_or(f64::INFINITY);
    let ends = [apart.at_least, apart.at_most].map(|end| end.clamp(-most, most));
    // Without a range, as many digits as the length of the interval needs.
    let unit = length.unwrap_or(ends[1] - ends[0]);
    let unit = if unit > 0.0 && unit.is_finite() { unit } else { 1.0 };
    let name = |place: ActionIndex| set.get().name(py, place);
    let text = |place| name(place).and_then(|name| Ok(name.bind(py).str()?.to_string()));
    let outcomes = apart.further(found.observations).map(two_digits);
    let (ahead, behind) = (text(apart.ahead)?, text(apart.behind)?);
    let (decided, sure) = (apart.decided, found.confidence);
    let number = |value| written(value, unit);
    let pair = (ends[0], ends[1]);
    let words = Difference::new(ahead, behind, pair, decided, outcomes, sure, number).to_string();
    let fields = PyDict::new(py);
    fields.set_item("ahead", name(apart.ahead)?)?;
    fields.set_item("behind", name(apart.behind)?)?;
    fields.set_item("lower", ends[0])?;
    fields.set_item("upper", ends[1])?;
    fields.set_item("better", if decided { Some(name(apart.ahead)?) } else { None })?;
    fields.set_item("outcomes", outcomes)?;
    fields.set_item("confidence", sure)?;
    fields.set_item("_words", words)?;
    Ok(fields)
}

/// Which action of a set will probably be the next to be out, and when.
pub(crate) fn outlook<'py>(
    guarded: &Guarded,
    settings: &Settings,
    set: &Bound<'py, PySet>,
    given: Option<&Bound<'_, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let made = guarded.made_for(settings, set)?;
    let built = made.as_ref().or(guarded.built.as_ref()).expect("there, or made above");
    let asked = Asked::of(built, set);
    let found = find(&asked, settings, given, |message| guarded.failure(message))?;
    let (py, radius) = (set.py(), found.radius(&asked));
    let next = unwound(|| found.explanation.outlook(asked.policy.model(), radius))
        .map_err(|reason| guarded.failure(format!("no outlook can be given: {reason}")))?;
    let name = |place| set.get().name(py, place);
    let next = next.map(|next| (next.action, two_digits(next.further(found.observations))));
    let words = match next {
        Some((action, more)) => {
            let action = name(action)?;
            next_out(Some((&action.bind(py).str()?.to_string(), more)))
        }
        None if found.explanation.plausible().count() == 1 => "Only one action is left.".into(),
        None => next_out(None),
    };
    let fields = PyDict::new(py);
    fields.set_item("action", next.map(|(action, _)| name(action)).transpose()?)?;
    fields.set_item("outcomes", next.map(|(_, more)| more))?;
    fields.set_item("_words", words)?;
    Ok(fields)
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

impl<'a> Asked<'a> {
    fn of(built: &'a Built, set: &'a Bound<'_, PySet>) -> Self {
        Self {
            policy: &*built.policy,
            spec: &built.spec,
            facts: &built.facts,
            model: built.model_setting(),
            actions: set.get(),
        }
    }
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
            policy.explain(asked.actions.set.view(), radius, policy.exclusion(), &mut explanation);
        })
        .map_err(|reason| failure(format!("no explanation can be given: {reason}")))
    };
    let (radius, confidence) = if let (None, Some(own)) = (given, policy.radius()) {
        fill(own)?;
        (None, own_radius(spec).and_then(|radius| radius.confidence(spec.ridge())))
    } else {
        let radius = settings.radius(given, spec, asked.model)?;
        let facts = settings.facts_beside(spec, asked.facts);
        let refuse =
            |error: plausibly::RadiusError| PyValueError::new_err(format!("radius: {error}"));
        let built = radius.build(&facts).map_err(refuse)?;
        fill(&built)?;
        (Some(built), radius.confidence(spec.ridge()))
    };
    let observations = policy.model().evidence().observations;
    Ok(Found {
        explanation,
        radius,
        decides_by: decides_by(&spec.kind),
        confidence,
        observations,
        target: policy.target(),
    })
}

impl Found {
    fn radius<'a>(&'a self, asked: &'a Asked<'_>) -> &'a dyn ConfidenceRadius {
        let given = self.radius.as_ref().map(|radius| radius as &dyn ConfidenceRadius);
        given.or(asked.policy.radius()).expect("its own where none was given")
    }

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
        let at_most = |standing: &Standing| match standing {
            Standing::Plausible | Standing::Beaten { .. } => f64::NAN,
            Standing::RuledOut { at_most, .. } => *at_most,
        };
        let evidence = |standing: &Standing| match standing {
            Standing::Plausible | Standing::RuledOut { .. } => f64::NAN,
            Standing::Beaten { evidence, .. } => *evidence,
        };
        let standings = explanation.standings();
        let of_standings =
            |pick: &dyn Fn(&Standing) -> f64| standings.iter().map(pick).collect::<Vec<_>>();
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
        fields.set_item("margin", of_standings(&margin).to_pyarray(py))?;
        fields.set_item("at_most", of_standings(&at_most).to_pyarray(py))?;
        fields.set_item("evidence", of_standings(&evidence).to_pyarray(py))?;
        fields.set_item("sqrt_beta", explanation.sqrt_beta())?;
        fields.set_item("confidence", self.confidence)?;
        fields.set_item("model_error_bound", explanation.model_error_bound())?;
        fields.set_item("observations", self.observations)?;
        fields.set_item("decides_by", &self.decides_by)?;
        fields.set_item("target", self.target(py)?)?;
        let insurance = explanation.insurance();
        fields.set_item("explores", insurance.map(|insurance| insurance.explores()))?;
        fields.set_item("leaning", explanation.leaning())?;
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
        PolicyKind::LinTs { .. } | PolicyKind::LaplaceTs { .. } => {
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
