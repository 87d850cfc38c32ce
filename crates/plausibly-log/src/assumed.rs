//! What a log assumes, in words that a person agrees to before it begins. The first line records
//! them, and so does every line that changes them.

use crate::event::{Outcomes, Unreported, Window};
use crate::policy;
use crate::state::State;
use plausibly::spec::{MOST_PAIRED, PolicyKind, PolicySpec, RadiusKind, RadiusSpec};

/// One sentence for each assumption of a log that decides by this policy from now on: what an
/// outcome is, how outcomes scatter, how sure statements are.
pub(crate) fn assumed(state: &State, spec: &PolicySpec, outcomes: Outcomes) -> Vec<String> {
    let (low, high) = state.reward_range();
    let outcome = match outcomes {
        Outcomes::Number => format!("An outcome is one number from {low} to {high}."),
        Outcomes::YesNo => format!("An outcome is {low} for no or {high} for yes."),
        Outcomes::Counts => format!(
            "An outcome is a count, such as 21 of 100: each yes counts {high}, each no {low}."
        ),
    };
    let setting = policy::setting(state.recipe().dim());
    let radius = spec.shown_radius(setting, policy::defaults(state.format()));
    let noise = match spec.kind {
        PolicyKind::LinTs { noise_scale, .. }
        | PolicyKind::Ucb1 { noise_scale }
        | PolicyKind::Thompson { noise_scale } => noise_scale,
        _ => radius.noise_scale,
    };
    let outcome = outcome + &state.window().map_or_else(String::new, |window| waits(&window));
    let scatter = match noise {
        _ if spec.is_bell() => Some(format!(
            "Outcomes of the same action scatter like a bell curve, by an amount that is not \
             known{}.",
            if radius.own_scales { " and may differ from action to action" } else { "" }
        )),
        Some(noise) => Some(format!(
            "Outcomes of the same action scatter by about {noise}: two thirds of them lie within \
             {noise} of their average."
        )),
        None if outcomes == Outcomes::Number => {
            Some("Outcomes of the same action may scatter in any way in this range.".into())
        }
        // How much yes and no scatter follows from the share of yes.
        None => None,
    };
    let rates = radius.kind.link().map(|_| rates(state, &radius));
    let scatter = if rates.is_some() { None } else { scatter };
    let sentences = [Some(outcome), scatter, rates, sure(state, spec.ridge(), &radius)];
    sentences.into_iter().flatten().collect()
}

/// How long an outcome may take, and what counts without one.
pub(crate) fn waits(window: &Window) -> String {
    let within = span(window.seconds);
    let end = match window.unreported {
        Unreported::Reward(default) => format!("a decision without one by then gets {default}"),
        Unreported::Drop => "a decision without one by then is dropped".into(),
    };
    format!(" It counts if it comes within {within} of its decision; {end}.")
}

/// A number of seconds in the largest unit that measures it in whole numbers.
fn span(seconds: u64) -> String {
    let units = [(86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second")];
    let whole = units.into_iter().find(|(size, _)| seconds.is_multiple_of(*size));
    let (size, unit) = whole.unwrap_or((1, "second"));
    let count = seconds / size;
    format!("{count} {unit}{}", if count == 1 { "" } else { "s" })
}

/// What is usual, and how far from it rates can be.
fn rates(state: &State, radius: &RadiusSpec) -> String {
    let (low, high) = state.reward_range();
    let usual = radius.usual.map_or(0.5, |usual| (usual - low) / (high - low));
    let percent = |share: f64| rate(share, 2);
    let middle = format!("Usually {} of outcomes are yes", percent(usual));
    if let Some(bound) = radius.theta_norm_bound {
        return format!(
            "{middle}. Each feature multiplies the odds of a yes by a fixed factor, and the length \
             of the logarithms of these factors is at most {bound}."
        );
    }
    let factor = radius.factor();
    let odds = usual / (1.0 - usual);
    let [least, most] = [odds / factor, odds * factor].map(|odds| percent(odds / (1.0 + odds)));
    format!(
        "{middle}. Whatever the columns say, the odds of a yes are between 1/{factor} of the usual \
         ones and {factor} times as high (from {least} to {most}), and each column multiplies them \
         by a factor of its own."
    )
}

/// A share in percent, with this many significant digits on the side where it is rarer, up to four
/// decimals.
pub(crate) fn rate(share: f64, digits: i32) -> String {
    let percent = 100.0 * share;
    let rarer = percent.min(100.0 - percent);
    let places = if rarer > 0.0 { f64::from(digits) - 1.0 - rarer.log10().floor() } else { 0.0 };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 4")]
    let places = places.clamp(0.0, 4.0) as usize;
    format!("{percent:.places$} %")
}

/// How sure statements are, and how the probability of a wrong one is shared.
fn sure(state: &State, ridge: f64, radius: &RadiusSpec) -> Option<String> {
    let percent = |share: f64| format!("{} %", 1e-9 * (1e11 * share).round());
    let confidence = percent(radius.confidence(ridge)?);
    let is_arms = state.recipe().is_arms();
    let one_by_one = !state.recipe().is_given() && state.recipe().context().is_empty();
    let half = percent(0.5 * radius.delta);
    let shared = match radius.kind {
        RadiusKind::Bell if radius.own_scales => String::new(),
        RadiusKind::TwoPoint | RadiusKind::Bell if radius.pairs && is_arms => {
            format!(
                "; {half} each is left for wrong ranges and for wrong comparisons of two actions"
            )
        }
        RadiusKind::Forecast | RadiusKind::Bell | RadiusKind::Logistic
            if radius.pairs && one_by_one && !is_arms =>
        {
            format!(
                "; with at most {MOST_PAIRED} actions at first, {half} each is left for wrong \
                 ranges and for wrong comparisons of two actions"
            )
        }
        _ => String::new(),
    };
    Some(format!(
        "All statements about which actions are out are right together with a probability of \
         {confidence}{shared}."
    ))
}
