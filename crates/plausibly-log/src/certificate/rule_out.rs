//! Computes what would rule out an action that could still be best.

use plausibly::{ActionIndex, ConfidenceRadius, Evidence, Explanation, Standing};
use serde::{Deserialize, Serialize};

/// No search goes beyond 2⁴⁰ observations: no log has as many.
const MOST: u64 = 1 << 40;

/// What would rule out an action.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct RuleOut {
    /// How far its estimate would have to fall now, in units of reward; `null` if no fall would be
    /// enough.
    pub shift: Option<f64>,
    /// The number of further observations of it that would be enough, if they pay its current
    /// estimate and nothing is learned about the others; `null` if no number is.
    pub observations: Option<u64>,
}

impl RuleOut {
    /// For an action that could still be best; `None` for others.
    pub(super) fn of(
        action: ActionIndex,
        explanation: &Explanation,
        evidence: Evidence,
        radius: &dyn ConfidenceRadius,
        range: f64,
    ) -> Option<Self> {
        if explanation.standings()[action] != Standing::Plausible {
            return None;
        }
        let intervals = explanation.intervals().iter().enumerate();
        let rivals = intervals.filter(|(other, _)| *other != action);
        let best_lower =
            rivals.map(|(_, interval)| interval.lower).fold(f64::NEG_INFINITY, f64::max);
        let (interval, width_sq) =
            (explanation.intervals()[action], explanation.width_sq()[action]);
        let out = |observations: u64| {
            let after = after(evidence, observations, width_sq);
            interval.mean + radius.reach(&after).half_width(shrunk(width_sq, observations))
                < best_lower
        };
        Some(Self {
            shift: Some(range * (interval.upper - best_lower)).filter(|shift| shift.is_finite()),
            observations: (width_sq.is_finite() && out(MOST)).then(|| smallest(out)),
        })
    }
}

/// The squared width after this many more observations of the action itself.
fn shrunk(width_sq: f64, observations: u64) -> f64 {
    width_sq / (1.0 + observations as f64 * width_sq)
}

fn after(evidence: Evidence, observations: u64, width_sq: f64) -> Evidence {
    let mut after = evidence;
    if evidence.ridge > 0.0 {
        let log_det = evidence.log_det_ratio() + libm::log1p(observations as f64 * width_sq);
        after = Evidence::new(evidence.observations, evidence.dim, evidence.ridge, log_det);
        after.floor = evidence.floor;
    }
    after.observations += observations;
    after
}

/// The smallest positive number for which `out` holds, given that it holds at [`MOST`]. A binary
/// search is right because the width falls faster than the radius grows from the second observation
/// on, so intervals only shrink.
fn smallest(out: impl Fn(u64) -> bool) -> u64 {
    let (mut not_yet, mut enough) = (0, MOST);
    while enough - not_yet > 1 {
        let middle = not_yet + (enough - not_yet) / 2;
        if out(middle) {
            enough = middle;
        } else {
            not_yet = middle;
        }
    }
    enough
}
