//! The policy of a log: the same spec as everywhere, with constants in the user's units of reward.
//! A log records every field with its value, so that later defaults change nothing.

use crate::event::Outcomes;
use crate::rates::{INSURED_LINK, POISSON, has_poisson, settle_link, share_link};
pub use crate::rates::{Rates, declare_rates, default_link};
use crate::recipe::Recipe;
use crate::scale::Scale;
use crate::state::State;
use plausibly::Target;
use plausibly::spec::{
    Defaults, Facts, FieldError, Fields, Node, PolicyKind, PolicySpec, RadiusSpec, Setting, Value,
};
use serde_json::{Map, Number, Value as Json};
use thiserror::Error;

/// A policy as a log records it, every field with its value.
pub type PolicyTable = Map<String, Json>;

/// The policy of a log whose owner has said nothing about it.
///
/// Where all decisions are about the same things, people wait for a verdict: CODE. Where a context
/// changes what is best, no action is ever ruled out for good, and CODE alone would explore at the
/// cost of rewards: it insures a rule that takes the largest estimate plus half the range of
/// rewards times the width. `docs/results/defaults.md` has the measurements.
///
/// Where outcomes are a yes or no, both have [the set](default_link) of their rates, and the rule
/// is Thompson sampling.
pub fn default_for(recipe: &Recipe, reward_range: (f64, f64), outcomes: Outcomes) -> PolicyTable {
    let in_context = !recipe.context().is_empty();
    let table = match (default_link(recipe, outcomes), in_context) {
        (Some(link), true) => {
            let radius = serde_json::json!({ "kind": link });
            let inside = serde_json::json!({ "kind": "laplace-ts", "radius": radius });
            serde_json::json!(
                { "kind": "insured", "kappa": 10.0, "radius": radius, "inside": inside }
            )
        }
        (Some(link), false) => {
            serde_json::json!({ "kind": "code", "radius": { "kind": link } })
        }
        (None, false) => serde_json::json!({ "kind": "code" }),
        (None, true) => {
            let most_noise = 0.5 * (reward_range.1 - reward_range.0);
            let radius = serde_json::json!({ "kind": "fixed", "sqrt_beta": most_noise });
            let inside = serde_json::json!({ "kind": "lin-ucb", "ridge": 1.0, "radius": radius });
            serde_json::json!({ "kind": "insured", "kappa": 10.0, "inside": inside })
        }
    };
    match table {
        Json::Object(table) => table,
        _ => unreachable!("a policy is a table"),
    }
}

/// A typed policy as a log records it, for arms or for features as `setting` says.
pub fn table(kind: &PolicyKind, setting: Setting) -> PolicyTable {
    entries(&kind.to_value(setting))
}

/// What is said about how much outcomes of the same action scatter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Noise {
    /// By about this much, in units of reward.
    Scale(f64),
    /// Like a bell curve, by an amount that is not known.
    Bell,
    /// Nothing is known.
    Unknown,
}

/// Declares how much outcomes of the same action scatter.
///
/// # Errors
/// If the policy has no place for it.
pub fn declare_noise(
    table: &mut PolicyTable,
    noise: Noise,
    setting: Setting,
) -> Result<(), PolicyRefusal> {
    let kind = table.get("kind").and_then(Json::as_str).unwrap_or_default();
    let has_radius = matches!(kind, "code" | "insured" | "lin-ucb");
    let has_scale = matches!(kind, "lin-ts" | "ucb1" | "thompson");
    match noise {
        Noise::Unknown if !has_radius => {
            table.remove("noise_scale");
        }
        Noise::Unknown => {
            let delta: PolicyTable = delta_of(table).into_iter().collect();
            table.insert("radius".into(), Json::Object(delta));
        }
        Noise::Bell if kind == "insured" => {
            return Err(PolicyRefusal::Unsuited(INSURED_BELL));
        }
        Noise::Bell if has_radius => {
            let mut radius = PolicyTable::from_iter([("kind".to_string(), "bell".into())]);
            radius.extend(delta_of(table));
            table.insert("radius".into(), Json::Object(radius));
        }
        Noise::Scale(scale) if has_radius => {
            let without = |radius: &Json| {
                ["bell", "logistic", "poisson"].iter().any(|kind| radius["kind"] == *kind)
            };
            if table.get("radius").is_some_and(without) {
                // A bell curve of unknown width has no such number, and rates say how much yes and
                // no scatter.
                let delta = delta_of(table).into_iter().collect();
                table.insert("radius".into(), Json::Object(delta));
            }
            let inside = table.get_mut("inside").and_then(|inside| inside.get_mut("radius"));
            if let Some(radius) = inside.filter(|radius| radius["kind"] == "fixed") {
                // The rule that takes the largest estimate plus σ times the width.
                radius["sqrt_beta"] = scale.into();
            }
            let radius = table.entry("radius").or_insert_with(|| serde_json::json!({}));
            let Some(radius) = radius.as_object_mut() else {
                return Err(PolicyRefusal::Unsuited(NO_PLACE));
            };
            // The default set of arms needs no such number, and makes no use of it.
            let usual = if setting == Setting::Arms { "mixture" } else { "forecast" };
            radius.entry("kind").or_insert_with(|| usual.into());
            radius.insert("noise_scale".into(), scale.into());
        }
        Noise::Scale(scale) if has_scale => {
            table.insert("noise_scale".into(), scale.into());
        }
        Noise::Scale(_) | Noise::Bell => return Err(PolicyRefusal::Unsuited(NO_PLACE)),
    }
    Ok(())
}

const INSURED_BELL: &str = "an insured policy cannot have the bell-curve set in a log; use code \
                            (--policy code), or another noise";
const NO_PLACE: &str = "this policy makes no use of how much outcomes scatter; leave the noise out";

/// δ as it was said, which a declared noise does not change.
fn delta_of(table: &PolicyTable) -> Option<(String, Json)> {
    Some(("delta".into(), table.get("radius")?.get("delta")?.clone()))
}

/// What policies do where their tables say nothing, in a log of this format.
pub(crate) fn defaults(format: u32) -> Defaults {
    if format < 2 { Defaults::Recorded } else { Defaults::Logged }
}

/// Why a policy cannot decide in a log.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum PolicyRefusal {
    /// The spec has problems.
    #[error(
        "the policy is not valid: {}",
        .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    )]
    Spec(Vec<FieldError>),
    /// Settings for which no bound is known.
    #[error("policy.randomise: a share of uniform rounds {0}")]
    Unproved(&'static str),
    /// A policy that a log cannot run.
    #[error("{0}")]
    Unsuited(&'static str),
}

/// Checks a policy that is new to a log. This is stricter than [`read_policy`], which must also
/// accept the policies that earlier versions recorded.
///
/// # Errors
/// As [`read_policy`], and if no bound is known for its settings, or it would never explore.
pub fn check_new_policy(
    table: &PolicyTable,
    setting: Setting,
    horizon: Option<u64>,
    format: u32,
) -> Result<(), PolicyRefusal> {
    let mut table = table.clone();
    share_link(&mut table);
    let (spec, _) = read_policy(&table, setting, horizon, format)?;
    spec.unproved().map_or(Ok(()), |reason| Err(PolicyRefusal::Unproved(reason)))?;
    let refused = horizon.and_then(|horizon| spec.never_explores(horizon));
    refused.map_or(Ok(()), |reason| Err(PolicyRefusal::Unsuited(reason)))
}

/// Reads a policy and fills in the defaults of this format. Accuracies and noise are in units of
/// reward. A ridge that is left to the radius stays open.
///
/// # Errors
/// If a field is wrong, or the policy cannot decide from a log.
pub fn read_policy(
    table: &PolicyTable,
    setting: Setting,
    horizon: Option<u64>,
    format: u32,
) -> Result<(PolicySpec, PolicyTable), PolicyRefusal> {
    let node = node(&Json::Object(table.clone()));
    let mut problems = Vec::new();
    let mut fields = Fields::new("policy", &node, &mut problems);
    let spec = PolicySpec::read_of_log(&mut fields, setting, defaults(format));
    let resolved = fields.finish();
    let spec = spec.filter(|_| problems.is_empty()).ok_or(PolicyRefusal::Spec(problems))?;
    check(&spec, horizon)?;
    Ok((spec, entries(&resolved)))
}

fn check(spec: &PolicySpec, horizon: Option<u64>) -> Result<(), PolicyRefusal> {
    let is_link = |radius: &RadiusSpec| radius.kind.link().is_some();
    let reason = match spec.kind {
        _ if has_poisson(&spec.kind) => POISSON,
        PolicyKind::Insured { radius, .. } if radius.is_bell() => INSURED_BELL,
        PolicyKind::Insured { radius, ref inside, .. } if is_link(&radius) => match **inside {
            PolicyKind::LaplaceTs { radius: own }
            | PolicyKind::EpsilonGreedy { radius: Some(own), .. }
                if own == radius =>
            {
                return check_rest(spec, horizon);
            }
            _ => INSURED_LINK,
        },
        PolicyKind::Insured { ref inside, .. } if !follows_from_sums(inside) => {
            "a policy inside an insured one must follow from the sums of the log: use lin-ucb, \
             lin-ts, code or epsilon-greedy for actions with features, and ucb1, thompson, code or \
             epsilon-greedy without; none of them with the bell-curve set, and with the logistic \
             set only if the insured policy has it too"
        }
        PolicyKind::Code { target: Some(Target::Deadline { .. }), .. } => {
            "a deadline counts rounds with immediate rewards, and a log does not promise those; \
             leave out by_round"
        }
        PolicyKind::Code { radius, .. }
        | PolicyKind::Insured { radius, .. }
        | PolicyKind::LinUcb { radius, .. }
            if !is_link(&radius) && radius.unset().any(|name| name == "action_norm_bound") =>
        {
            "the paper's radius needs a bound on the norms of all future actions: set \
             action_norm_bound, or use the radius additive"
        }
        PolicyKind::BetaThompson => {
            "beta-thompson counts rewards from 0 to 1, and a log scales rewards by their range; \
             use thompson"
        }
        _ => return check_rest(spec, horizon),
    };
    Err(PolicyRefusal::Unsuited(reason))
}

fn check_rest(spec: &PolicySpec, horizon: Option<u64>) -> Result<(), PolicyRefusal> {
    let own = |radius: RadiusSpec| radius.kind.link().and(radius.action_norm_bound);
    if own(spec.shown_radius(Setting::Changing, Defaults::Logged)).is_some() {
        return Err(PolicyRefusal::Unsuited(
            "in a log the bound on the weights of the logistic set follows from the columns; leave \
             out action_norm_bound",
        ));
    }
    if spec.needs_horizon() && horizon.is_none() {
        return Err(PolicyRefusal::Unsuited(
            "this policy spreads its exploration over a horizon: give the approximate number of \
             decisions (--horizon)",
        ));
    }
    Ok(())
}

/// Whether a policy inside an insured one can decide by what the insurance knows.
fn follows_from_sums(inside: &PolicyKind) -> bool {
    match inside {
        PolicyKind::Code { radius, .. } | PolicyKind::LinUcb { radius, .. } => {
            !radius.is_bell() && radius.kind.link().is_none()
        }
        PolicyKind::EpsilonGreedy { radius: Some(_), .. }
        | PolicyKind::Elimination { .. }
        | PolicyKind::ExploreThenCommit { .. }
        | PolicyKind::Insured { .. }
        | PolicyKind::LaplaceTs { .. }
        | PolicyKind::BetaThompson => false,
        PolicyKind::EpsilonGreedy { .. }
        | PolicyKind::LinTs { .. }
        | PolicyKind::Thompson { .. }
        | PolicyKind::Ucb1 { .. } => true,
    }
}

/// The table of the same policy with the sets of today, for a log that was upgraded; `None` if it
/// has none that are better. What was declared about the noise, δ and the bound on θ* stays.
pub(crate) fn upgraded(state: &State) -> Option<PolicyTable> {
    let mut table = state.policy().1.clone();
    let old = table.get("radius")?.as_object()?;
    let kind = old.get("kind")?.as_str()?;
    let noise = old.get("noise_scale");
    let (kind, kept): (&str, &[&str]) = match kind {
        "determinant" | "additive" => ("forecast", &["delta", "noise_scale", "theta_norm_bound"]),
        // Arms whose noise was declared keep the set that uses it.
        "mixture" if noise.is_none() => ("two-point", &["delta"]),
        _ => return None,
    };
    let mut radius = PolicyTable::from_iter([("kind".to_string(), kind.into())]);
    for (name, value) in old.iter().filter(|(name, _)| kept.contains(&name.as_str())) {
        radius.insert(name.clone(), value.clone());
    }
    table.insert("radius".into(), Json::Object(radius));
    // These have other defaults now.
    table.remove("ridge");
    table.remove("exclusion");
    let setting = setting(state.recipe().dim());
    let (spec, _) = read_policy(&table, setting, state.horizon(), state.format()).ok()?;
    if setting != Setting::Arms {
        let ridge = natural_ridge(&spec, state.recipe(), state.reward_range());
        table.insert("ridge".into(), ridge.into());
    }
    Some(table)
}

/// The policy for scaled rewards. A bound on θ* is scaled too for vectors as given. Elsewhere it is
/// left as it is: centring moves θ*, so the bound already is one for scaled rewards. That of a
/// generalised linear model is in no units of reward.
pub(crate) fn scaled(spec: &PolicySpec, reward_range: (f64, f64), as_given: bool) -> PolicySpec {
    let scale = Scale::new(reward_range, as_given);
    let range = scale.length();
    let divide = |value: &mut Option<f64>| *value = value.map(|value| value / range);
    let scale_radius = |radius: &mut RadiusSpec| {
        divide(&mut radius.noise_scale);
        // A usual reward beyond the range stays beyond it, and is refused.
        radius.usual = radius.usual.map(|usual| scale.scaled(usual).unwrap_or(f64::INFINITY));
        if as_given && radius.kind.link().is_none() {
            divide(&mut radius.theta_norm_bound);
        }
        radius.sqrt_beta /= range;
    };
    let mut spec = spec.clone();
    match &mut spec.kind {
        PolicyKind::Insured { radius, inside, .. } => {
            scale_radius(radius);
            let kind = std::mem::replace(&mut **inside, PolicyKind::BetaThompson);
            let unscaled = PolicySpec { label: String::new(), kind };
            **inside = scaled(&unscaled, reward_range, as_given).kind;
        }
        PolicyKind::Code { radius, target, .. } => {
            scale_radius(radius);
            if let Some(Target::Accuracy(accuracy)) = target {
                *accuracy /= range;
            }
        }
        PolicyKind::LinUcb { radius, .. }
        | PolicyKind::LaplaceTs { radius }
        | PolicyKind::EpsilonGreedy { radius: Some(radius), .. } => scale_radius(radius),
        PolicyKind::LinTs { noise_scale, .. }
        | PolicyKind::Ucb1 { noise_scale }
        | PolicyKind::Thompson { noise_scale } => divide(noise_scale),
        PolicyKind::BetaThompson
        | PolicyKind::Elimination { .. }
        | PolicyKind::EpsilonGreedy { radius: None, .. }
        | PolicyKind::ExploreThenCommit { .. } => {}
    }
    spec
}

/// The ridge that suits the radius of a policy when a log begins.
pub(crate) fn natural_ridge(spec: &PolicySpec, recipe: &Recipe, range: (f64, f64)) -> f64 {
    let (length, dim) = (range.1 - range.0, recipe.dim());
    let spec = scaled(spec, range, recipe.is_given());
    spec.ridge_in(&scaled_facts(dim, recipe.theta_norm_bound(length)))
}

/// The facts that policies of features are built from. Rewards are scaled to an interval of length
/// one, so their noise is sub-Gaussian with ½.
pub(crate) fn scaled_facts(dim: usize, theta_norm_bound: f64) -> Facts {
    Facts {
        setting: setting(dim),
        dim,
        actions: 0,
        horizon: 1,
        noise_scale: 0.5,
        theta_norm_bound,
        // Only the paper's radius uses this, and a log refuses that radius without a bound of its
        // own.
        action_norm_bound: 1.0,
        reward_range: None,
    }
}

/// Like [`read_policy`], with a ridge for policies of features that leave it to their radius. A
/// policy inside that leaves it open gets that of its insurance.
pub(crate) fn read_settled(
    table: &PolicyTable,
    setting: Setting,
    horizon: Option<u64>,
    format: u32,
    ridge: impl FnOnce(&PolicySpec) -> f64,
) -> Result<(PolicySpec, PolicyTable), PolicyRefusal> {
    let mut table = table.clone();
    share_link(&mut table);
    let read = read_policy(&table, setting, horizon, format)?;
    if setting == Setting::Arms || read.0.is_bell() {
        return Ok(read);
    }
    let (spec, mut table) = read;
    if settle_link(&mut table, &spec) {
        return read_policy(&table, setting, horizon, format);
    }
    let natural = spec.has_natural_ridge();
    if natural {
        table.insert("ridge".into(), ridge(&spec).into());
    }
    let own = table.get("ridge").cloned();
    let inside = table.get_mut("inside").and_then(Json::as_object_mut);
    let open = inside.filter(|inside| !inside.contains_key("ridge"));
    let filled = open.zip(own).map(|(inside, own)| inside.insert("ridge".into(), own)).is_some();
    if !natural && !filled {
        return Ok((spec, table));
    }
    // Read again, so that the fields are in the same order as when the log is read.
    read_policy(&table, setting, horizon, format)
}

/// The number of arms that share δ. It is at least `actions`, and large enough that all shares ever
/// given out stay within δ however many actions are added later.
///
/// A log of `first` arms gives each `δ/(2·first)`. When their number has grown `2ʲ`-fold, the share
/// of every arm falls to `δ/(2·4ʲ·first)`. So the stage with `2ʲ·first` arms costs at most
/// `δ·2⁻ʲ⁻¹`, and all stages together at most δ.
pub(crate) fn arms_sharing(first: usize, actions: usize) -> u64 {
    let (mut capacity, mut shares) = (first.max(1) as u64, 2 * first.max(1) as u64);
    while capacity < actions as u64 {
        capacity *= 2;
        shares *= 4;
    }
    shares
}

/// Plain arms have no features; the features of other actions may change with the context.
pub(crate) fn setting(dim: usize) -> Setting {
    if dim == 0 { Setting::Arms } else { Setting::Changing }
}

fn node(value: &Json) -> Node {
    let value = match value {
        Json::Bool(truth) => Value::Bool(*truth),
        Json::Number(number) => number
            .as_i64()
            .map_or_else(|| Value::Float(number.as_f64().unwrap_or(f64::NAN)), Value::Integer),
        Json::String(text) => Value::Text(text.clone()),
        Json::Array(items) => Value::List(items.iter().map(node).collect()),
        Json::Object(entries) => {
            Value::Table(entries.iter().map(|(name, value)| (name.clone(), node(value))).collect())
        }
        Json::Null => Value::Other("null"),
    };
    Node { value, line: 0 }
}

fn entries(policy: &Value) -> PolicyTable {
    match json(policy) {
        Json::Object(table) => table,
        _ => unreachable!("a policy is a table"),
    }
}

fn json(value: &Value) -> Json {
    match value {
        Value::Bool(truth) => Json::Bool(*truth),
        Value::Integer(integer) => Json::Number((*integer).into()),
        Value::Float(number) => Number::from_f64(*number).map_or(Json::Null, Json::Number),
        Value::Text(text) => Json::String(text.clone()),
        Value::List(items) => Json::Array(items.iter().map(|item| json(&item.value)).collect()),
        Value::Table(entries) => Json::Object(
            entries.iter().map(|(name, node)| (name.clone(), json(&node.value))).collect(),
        ),
        Value::Other(_) => Json::Null,
    }
}
