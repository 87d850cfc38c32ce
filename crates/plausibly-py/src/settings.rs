//! The parameters of a policy, read by the same code as specs.
//!
//! Whether a policy meets actions with features or plain arms is only known at its first call, so
//! the parameters are read for both, and errors for one kind are kept until that kind is used.

use crate::built::own_radius;
use crate::errors::{self, misfit};
use crate::model::{self, Model};
use crate::outcomes::{Kind, Noise, Outcomes};
use crate::value;
use plausibly::spec::{
    Complaint, Defaults, Facts, FieldError, Fields, Node, PolicyKind, PolicySpec, RadiusKind,
    RadiusSpec, Range, Setting, Value,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;

const NOISE: &str = "the scale of the noise in rewards: its standard deviation, or half the range \
                     of bounded rewards";
const THETA: &str = "a bound on the norm of the true parameter, for actions with features";
const NORM: &str = "a bound on the norms of all actions to come, which this radius needs";
const LONGEST: &str = "a bound on the norms of all actions to come, over which odds_factor counts; \
                       or theta_norm_bound in the place of both";
const HORIZON: &str =
    "about how many decisions there will be, over which this policy spreads its exploration";

const SCATTER: &str = "the scale of the noise in rewards, or say outcomes=\"yes/no\", \
                       \"counts\" or (LOW, HIGH) instead";
const RANGE: &str = "what outcomes can be: outcomes=\"yes/no\", \"counts\" or (LOW, HIGH)";
const BELL_THETA: &str = "a bound on the norm of the true parameter, or same_actions=True where \
                          every round offers the same actions";
const SAME: &str = "whether every round offers the same actions in the same order";

/// Facts about the problem. A simulation knows them; in Python the caller states them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Known {
    /// As stated, or half the range of rewards.
    noise_scale: Option<f64>,
    theta_norm_bound: Option<f64>,
    action_norm_bound: Option<f64>,
    horizon: Option<u64>,
    reward_range: Option<(f64, f64)>,
    same_actions: bool,
}

/// The parameters of a policy, read once per kind of actions.
pub(crate) struct Settings {
    /// The policy table and the facts as passed, for saving them.
    pub(crate) given: (Node, Node),
    known: Known,
    pub(crate) outcomes: Outcomes,
    /// Whether the scale of the noise was stated, for which bounded arms have no use.
    scaled: bool,
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
        let (mut policy, mut facts) = (value::node(policy)?, value::node(facts)?);
        if let Value::Table(entries) = &mut policy.value {
            entries
                .iter_mut()
                .filter(|(name, _)| name == "radius")
                .for_each(|(_, radius)| expand_radius(radius));
        }
        let given = (policy.clone(), facts.clone());
        let mut problems = Vec::new();
        let outcomes = Outcomes::take(&mut facts, &mut problems);
        let (mut known, scaled, model) = Known::read(&facts, &outcomes, &mut problems);
        let mut featured = policy.clone();
        if let Some(link) = model.give(&mut featured, &outcomes, &mut problems) {
            known.reward_range = model::rewards(link, &outcomes);
        } else if outcomes.noise == Some(Noise::Bell) {
            take_bell(&mut policy, &mut problems);
            featured = policy.clone();
        }
        let [features, arms] = [Setting::Fixed, Setting::Arms].map(|setting| {
            let mut problems = problems.clone();
            if let (Some(link), Setting::Arms) = (model.named, setting) {
                let reason = "is a model of features, and plain arms have none; leave out model";
                problems.push(misfit("model", link.name(), reason));
                return Err(problems);
            }
            let defaults = defaults(setting, &outcomes, scaled);
            let table = if setting == Setting::Arms { &policy } else { &featured };
            let spec = read_policy(table, setting, defaults, &mut problems);
            // Errors come first: a wrong value would be reported as missing, too.
            if let (Some(spec), true) = (&spec, problems.is_empty()) {
                problems = unsuited(spec, &outcomes);
                problems.extend(known.lacking(spec, setting));
            }
            spec.filter(|_| problems.is_empty()).ok_or(problems)
        });
        let label = match (&features, &arms) {
            (Ok(spec), _) | (_, Ok(spec)) => spec.label.clone(),
            // Reports the errors for the kind of actions that the caller probably meant: the one
            // that the policy and its radius are for, and then the one with fewer errors.
            (Err(features), Err(arms)) => {
                let unsuited = |problems: &[FieldError]| {
                    problems.iter().any(|problem| problem.path.ends_with("kind"))
                };
                let for_arms = model.named.is_none()
                    && !unsuited(arms)
                    && (unsuited(features) || arms.len() < features.len());
                return Err(errors::of_problems(if for_arms { arms } else { features }));
            }
        };
        Ok(Self { given, known, outcomes, scaled, label, features, arms })
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
        let own = own_radius(spec);
        let model = own.filter(|radius| radius.kind.link().is_some());
        let own = own.map(|radius| radius.kind);
        let radius = match given {
            Some(given) => {
                let mut node = value::node(given)?;
                expand_radius(&mut node);
                let mut fields = Fields::new("radius", &node, &mut problems);
                let radius = RadiusSpec::read(&mut fields, setting);
                let curved = |kind: RadiusKind| kind.link().is_some();
                let reason = match (radius.kind, own) {
                    (_, Some(own)) if curved(own) => Some(
                        "does not go with the model of this policy, which has a set of its own; \
                         leave out the radius",
                    ),
                    (given, _) if curved(given) => {
                        Some("is the set of another model; make a policy with that model")
                    }
                    (RadiusKind::Forecast, Some(RadiusKind::Forecast))
                    | (RadiusKind::Bell, Some(RadiusKind::Bell)) => None,
                    (RadiusKind::Forecast, _) => Some(
                        "needs forecasts of rewards, which this policy does not make; use additive",
                    ),
                    (RadiusKind::Bell, _) | (_, Some(RadiusKind::Bell)) => Some(
                        "does not go with the model of this policy: a bell-curve set has widths of \
                         its own; leave out the radius",
                    ),
                    _ => None,
                };
                if let Some(reason) = reason {
                    let what = radius.kind.name().into();
                    fields.object("kind", Complaint::Misfit { what, reason });
                }
                fields.finish();
                radius
            }
            None => model.unwrap_or_else(|| {
                let defaults = match defaults(setting, &self.outcomes, self.scaled) {
                    // Without a radius of its own a policy makes no forecasts.
                    Defaults::InUse { .. } if setting != Setting::Arms => {
                        Defaults::InUse { ranged: false }
                    }
                    defaults => defaults,
                };
                RadiusSpec::default_for(setting, defaults)
            }),
        };
        problems.extend(self.known.or_of(spec).lacking_for(&radius, setting, "radius."));
        if problems.is_empty() { Ok(radius) } else { Err(errors::of_problems(&problems)) }
    }

    /// The facts for building a radius that is not the policy's own.
    pub(crate) fn facts_beside(&self, spec: &PolicySpec, facts: &Facts) -> Facts {
        self.known.or_of(spec).facts(facts.setting, facts.dim, facts.actions)
    }
}

/// What a policy does where nothing is said.
fn defaults(setting: Setting, outcomes: &Outcomes, scaled: bool) -> Defaults {
    // The set of bounded arms makes no use of a scale, so a scale asks for another set.
    let unused = setting == Setting::Arms && scaled;
    Defaults::InUse { ranged: outcomes.range.is_some() && !unused }
}

/// Gives a policy the bell-curve set, unless it has that already.
fn take_bell(policy: &mut Node, problems: &mut Vec<FieldError>) {
    let Value::Table(entries) = &mut policy.value else { return };
    let bell = || Node { value: Value::Text("bell".into()), line: 0 };
    let Some((_, radius)) = entries.iter().find(|(name, _)| name == "radius") else {
        let radius = Value::Table(vec![("kind".into(), bell())]);
        entries.push(("radius".into(), Node { value: radius, line: 0 }));
        return;
    };
    let is_bell = matches!(&radius.value, Value::Table(fields)
        if fields.iter().any(|(name, kind)| name == "kind" && kind.value == bell().value));
    if !is_bell {
        problems.push(misfit("noise", "bell", "is a radius of its own; leave out noise or radius"));
    }
}

/// What does not go with the outcomes that a caller told of.
fn unsuited(spec: &PolicySpec, outcomes: &Outcomes) -> Vec<FieldError> {
    let bell = own_radius(spec).is_some_and(|radius| radius.kind == RadiusKind::Bell);
    if bell && outcomes.kind != Kind::Number {
        let reason = "is not for yes and no, nor for counts of them: these do not scatter like a \
                      bell curve; leave out the radius";
        return vec![misfit("radius", "bell", reason)];
    }
    let phases = matches!(decided_by(spec), PolicyKind::Elimination { .. });
    if phases && outcomes.kind == Kind::Counts {
        let reason = "do not go with elimination, which plays single actions in phases; use \
                      another policy inside";
        return vec![misfit("outcomes", "counts", reason)];
    }
    Vec::new()
}

fn read_policy(
    policy: &Node,
    setting: Setting,
    defaults: Defaults,
    problems: &mut Vec<FieldError>,
) -> Option<PolicySpec> {
    let mut fields = Fields::new("", policy, problems);
    let spec = PolicySpec::read(&mut fields, setting, defaults);
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
    /// Also whether the scale of the noise was stated, and what was said about the model.
    fn read(
        facts: &Node,
        outcomes: &Outcomes,
        problems: &mut Vec<FieldError>,
    ) -> (Self, bool, Model) {
        let mut fields = Fields::new("", facts, problems);
        let unset = "unset";
        let stated = fields.number_or("noise_scale", NOISE, unset, Range::POSITIVE);
        let same = matches!(outcomes.noise, Some(Noise::Scale(_)));
        if stated.is_some() && same {
            let reason = "is the same as noise_scale; leave out one of them";
            fields.object("noise", Complaint::Misfit { what: "a number".into(), reason });
        }
        let known = Self {
            noise_scale: stated.or(outcomes.noise_scale()),
            theta_norm_bound: fields.number_or(
                "theta_norm_bound",
                THETA,
                unset,
                Range::NOT_NEGATIVE,
            ),
            action_norm_bound: fields.number_or("action_norm_bound", NORM, unset, Range::POSITIVE),
            horizon: fields.integer_or("horizon", HORIZON, unset, (1, 1_000_000_000_000)),
            reward_range: outcomes.range,
            same_actions: fields.boolean("same_actions", SAME, false),
        };
        let model = Model::read(facts, &mut fields, known.theta_norm_bound, stated, outcomes);
        fields.finish();
        (known, stated.is_some() || same, model)
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
    fn lacking(self, spec: &PolicySpec, setting: Setting) -> Vec<FieldError> {
        let insured = match &spec.kind {
            PolicyKind::Insured { radius, .. } => self.lacking_for(radius, setting, ""),
            _ => Vec::new(),
        };
        if !insured.is_empty() {
            return insured;
        }
        if let PolicyKind::EpsilonGreedy { radius: Some(radius), .. } = decided_by(spec) {
            let lacking = self.lacking_for(radius, setting, "");
            if !lacking.is_empty() {
                return lacking;
            }
        }
        match decided_by(spec) {
            PolicyKind::Code { radius, .. }
            | PolicyKind::LinUcb { radius, .. }
            | PolicyKind::LaplaceTs { radius } => self.lacking_for(radius, setting, ""),
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

    fn lacking_for(self, radius: &RadiusSpec, setting: Setting, prefix: &str) -> Vec<FieldError> {
        let in_context =
            radius.kind == RadiusKind::Bell && setting != Setting::Arms && !self.same_actions;
        let curved = radius.kind.link().is_some();
        let unbounded = curved && radius.theta_norm_bound.is_none();
        let lacks = |name: &str| !curved && radius.unset().any(|unset| unset == name);
        let without = |name: &str| lacks(name) && self.reward_range.is_none();
        let needed = [
            (without("lowest_reward") || without("highest_reward"), "outcomes", RANGE),
            (curved && self.reward_range.is_none(), "outcomes", RANGE),
            (
                unbounded && radius.action_norm_bound.or(self.action_norm_bound).is_none(),
                "action_norm_bound",
                LONGEST,
            ),
            (in_context && self.theta_norm_bound.is_none(), "theta_norm_bound", BELL_THETA),
            (in_context && self.action_norm_bound.is_none(), "action_norm_bound", NORM),
            (lacks("noise_scale") && self.noise_scale.is_none(), "noise_scale", SCATTER),
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
        let path = |name: &str| match name {
            "outcomes" => name.into(),
            name => format!("{prefix}{name}"),
        };
        lacking.map(|(_, name, what)| errors::missing(&path(name), what)).collect()
    }

    fn facts(self, setting: Setting, dim: usize, actions: usize) -> Facts {
        // A policy does not read the facts that are still unknown here. If one did, the check of
        // its range would refuse NaN.
        let or_nan = |known: Option<f64>| known.unwrap_or(f64::NAN);
        Facts {
            // Another set may come each time, unless the caller promised that none will.
            setting: match setting {
                Setting::Fixed if !self.same_actions => Setting::Changing,
                setting => setting,
            },
            dim,
            actions,
            horizon: self.horizon.unwrap_or(1),
            noise_scale: or_nan(self.noise_scale),
            theta_norm_bound: or_nan(self.theta_norm_bound),
            action_norm_bound: or_nan(self.action_norm_bound),
            reward_range: self.reward_range,
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
