//! The parameters of a policy, read by the same code as specs.
//!
//! Whether a policy meets actions with features or plain arms is only known at its first call, so
//! the parameters are read for both, and errors for one kind are kept until that kind is used.

use crate::errors;
use crate::value;
use plausibly::spec::{
    Defaults, Facts, FieldError, Fields, Node, PolicyKind, PolicySpec, RadiusSpec, Range, Setting,
    Value,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;

const NOISE: &str = "the scale of the noise in rewards: its standard deviation, or half the range \
                     of bounded rewards";
const THETA: &str = "a bound on the norm of the true parameter, for actions with features";
const NORM: &str = "a bound on the norms of all actions to come, which the paper's radius needs";
const HORIZON: &str =
    "about how many decisions there will be, over which this policy spreads its exploration";

/// Facts about the problem. A simulation knows them; in Python the caller states them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Known {
    noise_scale: Option<f64>,
    theta_norm_bound: Option<f64>,
    action_norm_bound: Option<f64>,
    horizon: Option<u64>,
}

/// The parameters of a policy, read once per kind of actions.
pub(crate) struct Settings {
    /// The policy table and the facts as passed, for saving them.
    pub(crate) given: (Node, Node),
    known: Known,
    pub(crate) label: String,
    features: Result<PolicySpec, Vec<FieldError>>,
    arms: Result<PolicySpec, Vec<FieldError>>,
}

impl Settings {
    /// Reads a policy table and the facts beside it.
    ///
    /// # Errors
    /// If the policy fits no kind of actions. An error for only one kind is raised when that kind
    /// is used.
    pub(crate) fn read(policy: &Bound<'_, PyAny>, facts: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (mut policy, facts) = (value::node(policy)?, value::node(facts)?);
        if let Value::Table(entries) = &mut policy.value {
            entries
                .iter_mut()
                .filter(|(name, _)| name == "radius")
                .for_each(|(_, radius)| expand_radius(radius));
        }
        let mut problems = Vec::new();
        let known = Known::read(&facts, &mut problems);
        let [features, arms] = [Setting::Fixed, Setting::Arms].map(|setting| {
            let mut problems = problems.clone();
            let spec = read_policy(&policy, setting, &mut problems);
            // Errors come first: a wrong value would be reported as missing, too.
            if let (Some(spec), true) = (&spec, problems.is_empty()) {
                problems = known.lacking(spec);
            }
            spec.filter(|_| problems.is_empty()).ok_or(problems)
        });
        let label = match (&features, &arms) {
            (Ok(spec), _) | (_, Ok(spec)) => spec.label.clone(),
            // Reports the errors for the kind of actions that the caller probably meant: the one
            // that the policy is for and that has fewer errors.
            (Err(features), Err(arms)) => {
                let for_arms = arms.iter().all(|problem| problem.path != "kind")
                    && arms.len() < features.len();
                return Err(errors::of_problems(if for_arms { arms } else { features }));
            }
        };
        Ok(Self { given: (policy, facts), known, label, features, arms })
    }

    /// The parameters in one dict, under their names in Python. A fixed radius is a number.
    pub(crate) fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let parameters = PyDict::new(py);
        let tables = [&self.given.0, &self.given.1].into_iter();
        let entries = tables.flat_map(|table| match &table.value {
            Value::Table(entries) => entries.as_slice(),
            _ => &[],
        });
        for (name, node) in entries.filter(|(name, _)| name != "kind") {
            let fixed = if name == "radius" { fixed_radius(&node.value) } else { None };
            parameters.set_item(name, value::to_python(py, fixed.unwrap_or(&node.value))?)?;
        }
        Ok(parameters)
    }

    /// The spec for actions with features, or for plain arms.
    pub(crate) fn spec(&self, setting: Setting) -> PyResult<&PolicySpec> {
        let read = if setting == Setting::Arms { &self.arms } else { &self.features };
        read.as_ref().map_err(|problems| errors::of_actions(setting, problems))
    }

    /// The facts that a policy is built from.
    pub(crate) fn facts(&self, setting: Setting, dim: usize, actions: usize) -> Facts {
        self.known.facts(setting, dim, actions)
    }

    /// The radius for an explanation: the one given, else the default for such actions.
    pub(crate) fn radius(
        &self,
        given: Option<&Bound<'_, PyAny>>,
        spec: &PolicySpec,
        setting: Setting,
    ) -> PyResult<RadiusSpec> {
        let mut problems = Vec::new();
        let radius = match given {
            Some(given) => {
                let mut node = value::node(given)?;
                expand_radius(&mut node);
                let mut fields = Fields::new("radius", &node, &mut problems);
                let radius = RadiusSpec::read_recorded(&mut fields, setting);
                fields.finish();
                radius
            }
            None => RadiusSpec::default_for(setting, Defaults::Recorded),
        };
        problems.extend(self.known.or_of(spec).lacking_for(&radius, "radius."));
        if problems.is_empty() { Ok(radius) } else { Err(errors::of_problems(&problems)) }
    }

    /// The facts for building a radius that is not the policy's own.
    pub(crate) fn facts_beside(&self, spec: &PolicySpec, facts: &Facts) -> Facts {
        self.known.or_of(spec).facts(facts.setting, facts.dim, facts.actions)
    }
}

fn read_policy(
    policy: &Node,
    setting: Setting,
    problems: &mut Vec<FieldError>,
) -> Option<PolicySpec> {
    let mut fields = Fields::new("", policy, problems);
    let spec = PolicySpec::read(&mut fields, setting, Defaults::Recorded);
    fields.finish();
    spec
}

/// The policy that decides in rounds without insurance.
fn decided_by(spec: &PolicySpec) -> &PolicyKind {
    match &spec.kind {
        PolicyKind::Insured { inside, .. } => inside,
        kind => kind,
    }
}

impl Known {
    fn read(facts: &Node, problems: &mut Vec<FieldError>) -> Self {
        let mut fields = Fields::new("", facts, problems);
        let unset = "unset";
        let known = Self {
            noise_scale: fields.number_or("noise_scale", NOISE, unset, Range::POSITIVE),
            theta_norm_bound: fields.number_or(
                "theta_norm_bound",
                THETA,
                unset,
                Range::NOT_NEGATIVE,
            ),
            action_norm_bound: fields.number_or("action_norm_bound", NORM, unset, Range::POSITIVE),
            horizon: fields.integer_or("horizon", HORIZON, unset, (1, 1_000_000_000_000)),
        };
        fields.finish();
        known
    }

    /// Fills in the noise scale from a policy's own table if it is unset here.
    fn or_of(self, spec: &PolicySpec) -> Self {
        let own = match *decided_by(spec) {
            PolicyKind::LinTs { noise_scale, .. }
            | PolicyKind::Ucb1 { noise_scale }
            | PolicyKind::Thompson { noise_scale } => noise_scale,
            _ => None,
        };
        Self { noise_scale: self.noise_scale.or(own), ..self }
    }

    /// The facts that a policy needs and the caller has not stated.
    fn lacking(self, spec: &PolicySpec) -> Vec<FieldError> {
        let insured = match &spec.kind {
            PolicyKind::Insured { radius, .. } => self.lacking_for(radius, ""),
            _ => Vec::new(),
        };
        if !insured.is_empty() {
            return insured;
        }
        match decided_by(spec) {
            PolicyKind::Code { radius, .. } | PolicyKind::LinUcb { radius, .. } => {
                self.lacking_for(radius, "")
            }
            PolicyKind::LinTs { noise_scale: None, .. }
            | PolicyKind::Ucb1 { noise_scale: None }
            | PolicyKind::Thompson { noise_scale: None }
                if self.noise_scale.is_none() =>
            {
                vec![errors::missing("noise_scale", NOISE)]
            }
            _ if spec.needs_horizon() && self.horizon.is_none() => {
                vec![errors::missing("horizon", HORIZON)]
            }
            _ => Vec::new(),
        }
    }

    fn lacking_for(self, radius: &RadiusSpec, prefix: &str) -> Vec<FieldError> {
        let lacks = |name: &str| radius.unset().any(|unset| unset == name);
        let needed = [
            (lacks("noise_scale") && self.noise_scale.is_none(), "noise_scale", NOISE),
            (
                lacks("theta_norm_bound") && self.theta_norm_bound.is_none(),
                "theta_norm_bound",
                THETA,
            ),
            (
                lacks("action_norm_bound") && self.action_norm_bound.is_none(),
                "action_norm_bound",
                NORM,
            ),
        ];
        let lacking = needed.into_iter().filter(|(lacking, ..)| *lacking);
        lacking.map(|(_, name, what)| errors::missing(&format!("{prefix}{name}"), what)).collect()
    }

    fn facts(self, setting: Setting, dim: usize, actions: usize) -> Facts {
        // A policy does not read the facts that are still unknown here. If one did, the check of
        // its range would refuse NaN.
        let or_nan = |known: Option<f64>| known.unwrap_or(f64::NAN);
        Facts {
            setting,
            dim,
            actions,
            horizon: self.horizon.unwrap_or(1),
            noise_scale: or_nan(self.noise_scale),
            theta_norm_bound: or_nan(self.theta_norm_bound),
            action_norm_bound: or_nan(self.action_norm_bound),
            reward_range: None,
        }
    }
}

/// Reverses [`expand_radius`]: the number, if the radius is a fixed one.
fn fixed_radius(radius: &Value) -> Option<&Value> {
    let Value::Table(entries) = radius else { return None };
    match entries.as_slice() {
        [(_, kind), (name, number)]
            if name == "sqrt_beta" && kind.value == Value::Text("fixed".into()) =>
        {
            Some(&number.value)
        }
        _ => None,
    }
}

/// Turns a number into the table of a fixed radius: the number is `√β`, elsewhere called alpha.
fn expand_radius(radius: &mut Node) {
    if let Value::Integer(_) | Value::Float(_) = radius.value {
        let entry = |name: &str, value| (name.to_string(), Node { value, line: 0 });
        let sqrt_beta = entry("sqrt_beta", radius.value.clone());
        radius.value = Value::Table(vec![entry("kind", Value::Text("fixed".into())), sqrt_beta]);
    }
}
