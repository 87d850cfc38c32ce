//! Rates of yes in words: in percent, their differences in points, and never on the scale on which
//! their model is linear.

use super::{Words, written};
use crate::assumed::rate;
use crate::certificate::Grounds;
use crate::event::Outcomes;
use serde_json::Value;

impl Grounds {
    /// A difference of two values.
    pub(crate) fn gap(&self, value: f64) -> String {
        if self.has_rates() {
            let share = value.abs() / self.range();
            let points = rate(share, 3).replace(" %", " points");
            return if value < 0.0 && share > 0.0 { format!("-{points}") } else { points };
        }
        written(value, self.range())
    }

    /// Whether averages are rates of yes.
    pub(super) fn has_rates(&self) -> bool {
        self.outcomes != Outcomes::Number && self.is_glm()
    }
}

impl Words<'_> {
    /// What is assumed about rates of yes, where the model is one of them.
    pub(super) fn about_rates(&self) -> Option<[String; 2]> {
        let (grounds, own) = (&self.0.grounds, self.0.findings.likelihood?);
        let (radius, share) = (grounds.policy.get("radius")?, |odds: f64| odds / (1.0 + odds));
        let odds = own.offset.exp();
        let what = if grounds.has_rates() { "a yes" } else { "the share of the range" };
        let fixed = format!(
            "Each feature multiplies the odds of {what} by a fixed factor for each unit of its \
             value, whatever the other features are and whenever the action is tried."
        );
        let bound = match radius.get("factor").and_then(Value::as_f64) {
            Some(factor) if self.own_bound().is_none() => format!(
                "For no combination of features are these odds more than {factor} times the usual \
                 ones or less than 1/{factor} of them (so it is from {} to {}, usually {}).",
                rate(share(odds / factor), 2),
                rate(share(odds * factor), 2),
                rate(share(odds), 2)
            ),
            _ => format!(
                "The length of the logarithms of these factors is at most {}.",
                own.theta_norm_bound
            ),
        };
        Some([fixed, bound])
    }

    /// A warning if the estimate is far from what was said to be usual.
    pub(super) fn leaning(&self) -> Option<String> {
        let own = self.0.findings.likelihood?;
        let leans = own.leaning.is_some_and(|leaning| leaning > plausibly::Curved::LEANING);
        leans.then(|| {
            "The estimate is farther from what is usual than half of what was thought possible. If \
             odds can differ by more, the statements here may be wrong: say by how much, with a \
             larger --odds-factor."
                .into()
        })
    }
}
