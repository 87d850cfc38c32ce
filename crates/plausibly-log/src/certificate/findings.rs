//! The statements of a certificate about a decision.

use super::rule_out::RuleOut;
use crate::event::RecordedForecasts;
use serde::{Deserialize, Serialize};

/// The statements of a certificate about a decision. Means and bounds are in units of reward;
/// `null` stands for an unknown value or no bound.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Findings {
    /// The choice, and its reason.
    pub chosen: Chosen,
    /// The number of listed actions that could still be best.
    pub plausible: u64,
    /// The estimate of every action that could still be best is at most this far from the truth,
    /// while the confidence set contains the truth.
    pub known_within: Option<f64>,
    /// The square of `known_within`: a bound on the model error of this round.
    pub model_error_bound: Option<f64>,
    /// `√β`, for rewards scaled to an interval of length one and an action of width one; `null`
    /// while there is no set that has an end.
    pub sqrt_beta: Option<f64>,
    /// The probability that all intervals contain the truth at all times; `null` if they are not a
    /// confidence set.
    pub confidence: Option<f64>,
    /// What the set of a generalised linear model is made of.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub likelihood: Option<LikelihoodFinding>,
    /// Progress towards the policy's target.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub target: Option<TargetFinding>,
    /// Which part of an insured policy decided.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub insurance: Option<InsuranceFinding>,
    /// The plays left in the phase of phased elimination, this decision included; `null` in a
    /// partial certificate.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub plays_left: Option<u64>,
    /// Which action will probably be ruled out next, and when; absent if that cannot be told yet.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub outlook: Option<Outlook>,
    /// Set where outcomes contradict the declared noise; from version 2 on.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub alarm: Option<Alarm>,
    /// The findings about each listed action.
    pub actions: Vec<Finding>,
}

/// The choice, and its reason.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Chosen {
    /// Its number in the log.
    pub id: u64,
    /// Its name.
    pub label: String,
    /// Why it was chosen.
    pub reason: Reason,
    /// The probability of the choice; `null` where it has no simple form.
    pub propensity: Option<f64>,
    /// The increase of `log det V` by this choice, pending decisions counted; `null` for the first
    /// try of an arm.
    pub log_det_gain: Option<f64>,
    /// What would rule it out; `null` if it is ruled out.
    pub rule_out: Option<RuleOut>,
    /// The features that its uncertainty comes from: shares of `‖a‖²_{V⁻¹}`, the largest first, at
    /// most five. They sum to one over all features.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub directions: Vec<Share>,
    /// What its reward is forecast to be, which the log records with the decision.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub forecasts: Option<RecordedForecasts>,
}

/// Why an action was chosen.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Reason {
    /// The least known of those that could still be best.
    LeastKnown,
    /// The best of those that could still be best by width plus a share of the estimate.
    Tempered,
    /// The most promising one, because the target is met.
    MostPromising,
    /// Drawn at random among those that could still be best.
    DrawnPlausible,
    /// The largest upper bound.
    LargestUpper,
    /// The largest mean under a sampled model.
    LargestSample,
    /// The largest index.
    LargestIndex,
    /// Drawn at random to explore.
    Explored,
    /// The largest estimate.
    LargestMean,
    /// The choice of the policy inside an insured one, among those that could still be best.
    Inside,
    /// The largest estimate when the policy committed.
    Committed,
    /// Drawn at random from the plays left in the phase.
    DrawnInPhase,
}

/// The share of a feature in an uncertainty.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Share {
    /// The feature.
    pub feature: String,
    /// Its share; negative where knowledge about other features reduces the uncertainty.
    pub share: f64,
}

/// Progress towards a target, by settled decisions.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct TargetFinding {
    /// Whether the target is met.
    pub met: bool,
    /// The requested value: half an interval in units of reward, or a squared width for κ.
    pub wanted: f64,
    /// The largest such value among the actions that could still be best.
    pub reached: Option<f64>,
}

/// What the set of a generalised linear model is made of: `‖θ* − θ̃‖` is at most `√β` in the norm
/// of its matrix, with `√β = √(2B + ‖g‖²)` and `g` the slope of the likelihood at the point.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct LikelihoodFinding {
    /// The logarithm of the usual odds.
    pub offset: f64,
    /// S, a bound on the norm of θ*.
    pub theta_norm_bound: f64,
    /// δ of the set, without the share of verdicts between pairs.
    pub delta: f64,
    /// The parts of B, in nats.
    pub budget: BudgetFinding,
    /// `‖θ̃‖/S`: above ½ one should ask whether odds can differ by more than was said. `null` where
    /// there is no set.
    pub leaning: Option<f64>,
}

/// The parts of B, in nats.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct BudgetFinding {
    /// `log(1/δ)`.
    pub confidence: f64,
    /// What data and features cost.
    pub evidence: f64,
    /// `λS²/2`.
    pub distance: f64,
    /// For outcomes between the ends of the range, which were rounded.
    pub rounding: f64,
}

/// Which part of an insured policy decided.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct InsuranceFinding {
    /// Whether CODE explored; otherwise the policy inside decided.
    pub explored: bool,
    /// The largest squared width among the actions that could still be best, with pending decisions
    /// counted; `null` if one was never tried.
    pub widest: Option<f64>,
    /// CODE explores above this: κ·d/t.
    pub limit: f64,
    /// The action that the policy inside wanted, if it was out of the race; a partial certificate
    /// does not say.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub wanted: Option<u64>,
}

/// The findings about one action.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Finding {
    /// Its number in the log.
    pub id: u64,
    /// Its name.
    pub label: String,
    /// The estimate; `null` for an arm never taken.
    pub mean: Option<f64>,
    /// `⟨a, θ̃⟩`, by how much the logarithm of its odds is estimated to be above the usual one;
    /// under the radius `logistic`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub moved: Option<f64>,
    /// The lower bound, at least the smallest reward.
    pub lower: f64,
    /// The upper bound, at most the largest reward.
    pub upper: f64,
    /// `‖a‖_{V⁻¹}`, by settled decisions.
    pub width: Option<f64>,
    /// The width with pending decisions counted: choices are made by this one.
    pub design_width: Option<f64>,
    /// Whether it could still be best.
    pub standing: Standing,
    /// Its rank among those that could still be best, the least known first.
    pub rank: Option<u64>,
}

/// Whether an action could still be best.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Standing {
    /// It could still be best.
    Plausible,
    /// Another action is better.
    RuledOut(RuledOut),
}

/// What shows that another action is better.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct RuledOut {
    /// The number of that action in the log.
    pub by: u64,
    /// Version 1: how far the lower bound of the other is above this action's upper bound, in units
    /// of reward.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub margin: Option<f64>,
    /// What was compared; from version 2 on.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub kind: Option<Comparison>,
    /// How far this action is behind the other at least and at most, in units of reward; for
    /// intervals, differences and, under the radius `bell`, pairs.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub behind_by: Option<(f64, f64)>,
    /// The evidence against this action, in nats; for pairs.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub evidence: Option<f64>,
    /// The evidence that was needed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub needed: Option<f64>,
}

/// What was compared to rule an action out.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Comparison {
    /// The difference of the two actions, under every parameter of the confidence set.
    Difference,
    /// What the two actions have paid.
    Pair,
    /// The intervals of the two actions.
    Interval,
}

impl RuledOut {
    /// How far the action is behind at least, in units of reward; `None` where evidence decides.
    pub fn at_least(&self) -> Option<f64> {
        self.margin.or(self.behind_by.map(|(at_least, _)| at_least))
    }
}

/// Which action will probably be ruled out next, and when. A forecast, which promises nothing.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Outlook {
    /// The number of the action in the log.
    pub action: u64,
    /// About how many further outcomes it takes, if they go on as they did.
    pub outcomes: u64,
}

/// Outcomes contradict what was assumed, so nothing is called ruled out.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Alarm {
    /// They scatter more than declared.
    Noise {
        /// The scale declared, in units of reward.
        declared: f64,
        /// A scale that fits the outcomes so far.
        suggested: f64,
    },
    /// No parameter of the model agrees with them.
    Refuted {},
    /// They were said to scatter like a bell curve, and have few different values.
    FewValues {
        /// How many.
        values: u64,
    },
}
