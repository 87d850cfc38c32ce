//! Writes policies as the tables they are read from.

use super::policy::PolicyKind;
use super::{Node, Setting, Value};
use crate::confidence::Exclusion;
use crate::policy::{Exploration, Target};

impl PolicyKind {
    /// The table that this policy is read from in this setting. Arms have no ridge and only one way
    /// to explore. Constants that come from the problem are left out.
    ///
    /// ```
    /// use plausibly::spec::{PolicyKind, RadiusKind, RadiusSpec, Setting, Value};
    /// let radius = RadiusSpec { sqrt_beta: 2.0, ..RadiusSpec::new(RadiusKind::Fixed) };
    /// let policy = PolicyKind::LinUcb { ridge: Some(1.0), radius };
    /// let Value::Table(fields) = policy.to_value(Setting::Fixed) else { unreachable!() };
    /// let names: Vec<&str> = fields.iter().map(|(name, _)| name.as_str()).collect();
    /// assert_eq!(names, ["kind", "ridge", "radius"]);
    /// ```
    pub fn to_value(&self, setting: Setting) -> Value {
        let arms = setting == Setting::Arms;
        let number = |name: &'static str, value: f64| (name, Some(Value::Float(value)));
        let set_ridge = |ridge: Option<f64>| ("ridge", ridge.filter(|_| !arms).map(Value::Float));
        let ridge = |ridge: f64| set_ridge(Some(ridge));
        let noise = |scale: Option<f64>| ("noise_scale", scale.map(Value::Float));
        let ruled_out_by = |exclusion: Exclusion| {
            ("exclusion", (!arms).then(|| Value::Text(exclusion.name().into())))
        };
        let exploration = |how: Exploration| {
            let name = if how == Exploration::Design { "design" } else { "uniform" };
            ("exploration", (!arms).then(|| Value::Text(name.into())))
        };
        let (kind, fields) = match *self {
            Self::Code { ridge, radius, exclusion, greed, target, randomise, count_pending } => {
                let fields = vec![
                    set_ridge(ridge),
                    ("radius", Some(radius.to_value())),
                    ruled_out_by(exclusion),
                    number("greed", greed),
                    ("target", target.map(target_value)),
                    number("randomise", randomise),
                    ("count_pending", Some(Value::Bool(count_pending))),
                ];
                ("code", fields)
            }
            Self::Insured { kappa, ridge, radius, exclusion, count_pending, ref inside } => {
                let fields = vec![
                    number("kappa", kappa),
                    set_ridge(ridge),
                    ("radius", Some(radius.to_value())),
                    ruled_out_by(exclusion),
                    ("count_pending", Some(Value::Bool(count_pending))),
                    ("inside", Some(inside.to_value(setting))),
                ];
                ("insured", fields)
            }
            Self::LinUcb { ridge, radius } => {
                ("lin-ucb", vec![set_ridge(ridge), ("radius", Some(radius.to_value()))])
            }
            Self::LinTs { ridge: own, noise_scale } => {
                ("lin-ts", vec![ridge(own), noise(noise_scale)])
            }
            Self::LaplaceTs { radius } => ("laplace-ts", vec![("radius", Some(radius.to_value()))]),
            Self::Elimination { ridge: own, delta } => {
                ("elimination", vec![ridge(own), number("delta", delta)])
            }
            Self::EpsilonGreedy { ridge: own, epsilon, exploration: how, radius } => {
                let fields = vec![
                    set_ridge(Some(own).filter(|_| radius.is_none())),
                    number("epsilon", epsilon),
                    exploration(how),
                    ("radius", radius.map(|radius| radius.to_value())),
                ];
                ("epsilon-greedy", fields)
            }
            Self::ExploreThenCommit { ridge: own, epsilon, exploration: how } => (
                "explore-then-commit",
                vec![ridge(own), number("epsilon", epsilon), exploration(how)],
            ),
            Self::Ucb1 { noise_scale } => ("ucb1", vec![noise(noise_scale)]),
            Self::Thompson { noise_scale } => ("thompson", vec![noise(noise_scale)]),
            Self::BetaThompson => ("beta-thompson", Vec::new()),
        };
        table([("kind", Some(Value::Text(kind.into())))].into_iter().chain(fields))
    }
}

fn target_value(target: Target) -> Value {
    let number = |name: &'static str, value: f64| (name, Some(Value::Float(value)));
    match target {
        Target::Kappa(kappa) => table([number("kappa", kappa)]),
        Target::Accuracy(accuracy) => table([number("accuracy", accuracy)]),
        Target::Deadline { accuracy, by_round } => {
            let round = i64::try_from(by_round).unwrap_or(i64::MAX);
            table([number("accuracy", accuracy), ("by_round", Some(Value::Integer(round)))])
        }
    }
}

/// A table of the fields that are set.
fn table(fields: impl IntoIterator<Item = (&'static str, Option<Value>)>) -> Value {
    let set = fields.into_iter().filter_map(|(name, value)| Some((name, value?)));
    Value::Table(set.map(|(name, value)| (name.into(), Node { value, line: 0 })).collect())
}
