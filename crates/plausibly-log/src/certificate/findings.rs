//! What a certificate says of a decision.

use super::rule_out::RuleOut;
use serde::{Deserialize, Serialize};

/// Everything a certificate says of a decision. Means and bounds are in the units of the rewards;
/// `null` stands for what is not known or has no bound.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Findings {
    /// What was chosen, and why.
    pub chosen: Chosen,
    /// How many of the listed actions could still be best.
    pub plausible: u64,
    /// Every action that could still be best is known to within this much, while the confidence set
    /// holds the truth.
    pub known_within: Option<f64>,
    /// The square of it: the bound on this round's model error.
    pub model_error_bound: Option<f64>,
    /// `√β`, for rewards scaled to an interval of length one and an action of width one.
    pub sqrt_beta: f64,
    /// Whether the intervals are a confidence set that holds at all times at once, with which
    /// probability.
    pub confidence: Option<f64>,
    /// How the policy's target stands.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub target: Option<TargetFinding>,
    /// Of phased elimination: plays left in the phase, this decision's included; `null` in a
    /// partial certificate.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub plays_left: Option<u64>,
    /// Each listed action.
    pub actions: Vec<Finding>,
}

/// What was chosen, and why.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Chosen {
    /// Its number in the log.
    pub id: u64,
    /// Its name.
    pub label: String,
    /// Why it.
    pub reason: Reason,
    /// With which probability it was chosen; `null` where that has no simple form.
    pub propensity: Option<f64>,
    /// By how much it raises `log det V`, pending decisions counted; `null` for the first look at
    /// an arm.
    pub log_det_gain: Option<f64>,
    /// What would rule it out; `null` if it is ruled out.
    pub rule_out: Option<RuleOut>,
    /// In which features its uncertainty lies: shares of `‖a‖²_{V⁻¹}`, the largest first, at most
    /// five; they sum to one over all features.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub directions: Vec<Share>,
}

/// Why an action was chosen.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Reason {
    /// Of those that could still be best, the least known.
    LeastKnown,
    /// Of those that could still be best, the best by width and a share of the estimate.
    Tempered,
    /// The target is met, so the most promising.
    MostPromising,
    /// Drawn among those that could still be best.
    DrawnPlausible,
    /// The largest upper bound.
    LargestUpper,
    /// The largest under a sampled model.
    LargestSample,
    /// The largest index.
    LargestIndex,
    /// Drawn to explore.
    Explored,
    /// The largest estimate.
    LargestMean,
    /// The largest estimate when the policy committed.
    Committed,
    /// Drawn from what is left to be played in the phase.
    DrawnInPhase,
}

/// A feature's share of an uncertainty.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Share {
    /// The feature.
    pub feature: String,
    /// Its share; negative where what is known of others makes up for it.
    pub share: f64,
}

/// How a target stands, by rewards that have come.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct TargetFinding {
    /// Whether it is met.
    pub met: bool,
    /// What was asked for: half an interval, in units of reward, or a squared width for κ.
    pub wanted: f64,
    /// The largest of these among the actions that could still be best.
    pub reached: Option<f64>,
}

/// What is known of one action.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Finding {
    /// Its number in the log.
    pub id: u64,
    /// Its name.
    pub label: String,
    /// The estimate; `null` for an arm never taken.
    pub mean: Option<f64>,
    /// Lower bound, no lower than the smallest reward.
    pub lower: f64,
    /// Upper bound, no higher than the largest reward.
    pub upper: f64,
    /// `‖a‖_{V⁻¹}`, by rewards that have come.
    pub width: Option<f64>,
    /// The same with pending decisions counted: what choices are made by.
    pub design_width: Option<f64>,
    /// Whether it could still be best.
    pub standing: Standing,
    /// Its place among those that could still be best, the least known first.
    pub rank: Option<u64>,
}

/// Whether an action could still be best.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Standing {
    /// It could.
    Plausible,
    /// Another is better wherever in its interval the truth lies.
    RuledOut {
        /// That action's number in the log.
        by: u64,
        /// How far its lower bound is above this action's upper bound, in units of reward.
        margin: f64,
    },
}
