//! What would change a verdict.

use plausibly::{ActionIndex, ConfidenceRadius, Evidence, Explanation, Standing};
use serde::{Deserialize, Serialize};

/// More observations than anybody will make.
const MOST: u64 = 1 << 40;

/// What would rule an action out.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct RuleOut {
    /// By how much its estimate would have to be lower now, in units of reward; `null` where
    /// nothing would do.
    pub shift: Option<f64>,
    /// How many further observations of it would do, if they pay what it is estimated to pay and
    /// nothing is learned of the others; `null` where no number would.
    pub observations: Option<u64>,
}

impl RuleOut {
    /// Of an action that could still be best; `None` for one that cannot.
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

/// The squared width after so many more observations of the action itself.
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

/// The smallest number from one on at which `out` holds, given that it holds at [`MOST`]. Intervals
/// shrink with every observation of an action while its width falls faster than the radius grows,
/// which is so from the second on.
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
