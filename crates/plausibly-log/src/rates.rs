//! The policies of logs whose outcomes are yes or no: what is said about rates before the first
//! outcome, and what a policy with a generalised linear model must be.

use crate::event::Outcomes;
use crate::policy::{PolicyRefusal, PolicyTable};
use crate::recipe::Recipe;
use plausibly::spec::{Defaults, PolicyKind, PolicySpec, RadiusKind, Setting};
use serde_json::Value as Json;

/// The radius of a new log in the place of the one for any rewards in a range; `None` where it has
/// that one.
///
/// Yes and no scatter little where they are rare, and the logistic set makes use of it. It needs
/// columns, from which the bound on its weights follows: vectors as given have none.
pub fn default_link(recipe: &Recipe, outcomes: Outcomes) -> Option<&'static str> {
    let features = !recipe.is_arms() && !recipe.is_given();
    (features && outcomes != Outcomes::Number).then_some("logistic")
}

/// What is said about rates before the first outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rates {
    /// The usual share of yes, between 0 and 1; half where nothing is said.
    pub usual: Option<f64>,
    /// The odds of a yes are at most this many times the usual ones, and at least this part; 1000
    /// where nothing is said.
    pub factor: Option<f64>,
}

/// Declares what is usual, and by what factor odds can differ from that.
///
/// # Errors
/// If the policy has no place for it, or a number is not one.
pub fn declare_rates(
    table: &mut PolicyTable,
    rates: Rates,
    (low, high): (f64, f64),
) -> Result<(), PolicyRefusal> {
    if rates.usual.is_some_and(|usual| !(usual > 0.0 && usual < 1.0)) {
        return Err(PolicyRefusal::Unsuited(NO_RATE));
    }
    if rates.factor.is_some_and(|factor| !(factor > 1.0 && factor <= 1e50)) {
        return Err(PolicyRefusal::Unsuited(NO_FACTOR));
    }
    let usual = rates.usual.map(|usual| low + (high - low) * usual);
    let said = [("usual", usual), ("factor", rates.factor)];
    let is_link = |table: &PolicyTable| {
        table.get("radius").is_some_and(|radius| radius["kind"] == "logistic")
    };
    if !is_link(table) {
        let nothing = said.iter().all(|(_, value)| value.is_none());
        return if nothing { Ok(()) } else { Err(PolicyRefusal::Unsuited(NO_RATES)) };
    }
    let declare = |table: &mut PolicyTable| {
        let Some(radius) = table.get_mut("radius").and_then(Json::as_object_mut) else { return };
        for (name, value) in said {
            if let Some(value) = value {
                radius.insert(name.into(), value.into());
            }
        }
    };
    declare(table);
    if let Some(inside) = table.get_mut("inside").and_then(Json::as_object_mut) {
        declare(inside);
    }
    Ok(())
}

const NO_RATES: &str = "usual rates and odds are for outcomes that are yes/no or counts, of \
                        actions with features, under the logistic set; leave them out";
const NO_RATE: &str = "the usual rate must be between 0 and 1 (3 % is 0.03), and neither of them: \
                       nothing could be learned about an action that always or never pays";
const NO_FACTOR: &str = "the odds factor must be above 1: with 10, the odds of a yes are from a \
                         tenth of the usual ones to ten times as high";
pub(crate) const INSURED_LINK: &str = "a policy inside an insured one with the logistic set must \
                                       have the same set: use laplace-ts, or epsilon-greedy with \
                                       the radius logistic";
pub(crate) const POISSON: &str = "the set poisson is for counts without a largest one; outcomes \
                                  of a log have a range, and its counts are those of yes among a \
                                  number: use logistic";

/// Whether a policy has the set of counts without a largest one.
pub(crate) fn has_poisson(kind: &PolicyKind) -> bool {
    match kind {
        PolicyKind::Insured { radius, inside, .. } => {
            radius.kind == RadiusKind::Poisson || has_poisson(inside)
        }
        PolicyKind::Code { radius, .. }
        | PolicyKind::LinUcb { radius, .. }
        | PolicyKind::LaplaceTs { radius }
        | PolicyKind::EpsilonGreedy { radius: Some(radius), .. } => {
            radius.kind == RadiusKind::Poisson
        }
        _ => false,
    }
}

/// A policy inside decides by the model of its insurance, so it has the same set.
pub(crate) fn share_link(table: &mut PolicyTable) {
    let kind_of = |radius: &Json| radius.get("kind").cloned();
    let Some(own) = table.get("radius").cloned() else { return };
    if kind_of(&own) != Some("logistic".into()) {
        return;
    }
    let Some(inside) = table.get_mut("inside").and_then(Json::as_object_mut) else { return };
    let kind = inside.get("kind").and_then(Json::as_str);
    let shares = matches!(kind, Some("laplace-ts" | "epsilon-greedy"));
    let same = inside.get("radius").is_none_or(|radius| kind_of(radius) == kind_of(&own));
    if shares && same {
        inside.insert("radius".into(), own);
    }
}

/// Fills in what a generalised linear model assumes where nothing was said, so that later defaults
/// change nothing; whether there is one.
pub(crate) fn settle_link(table: &mut PolicyTable, spec: &PolicySpec) -> bool {
    if spec.link().is_none() {
        return false;
    }
    let radius = spec.shown_radius(Setting::Changing, Defaults::Logged);
    let fill = |table: &mut PolicyTable| {
        let Some(own) = table.get_mut("radius").and_then(Json::as_object_mut) else { return };
        if radius.theta_norm_bound.is_none() {
            own.entry("factor").or_insert_with(|| radius.factor().into());
        }
    };
    fill(table);
    if let Some(inside) = table.get_mut("inside").and_then(Json::as_object_mut) {
        fill(inside);
    }
    true
}
