//! Evidence under normal noise of one unknown scale.
//!
//! Outcomes are `y = ⟨x, θ*⟩ + σ·ε` with standard normal `ε`, and neither `θ*` nor `σ` is known.
//! For a hypothesis `θ` let `r = y − ⟨x, θ⟩`, and compare how well two explanations predict `r`:
//! pure noise of scale `σ`, and a shift `u` with noise of scale `σ'`, averaged over a prior in the
//! units of the hypothesis, `σ²/σ'² ~ Exp(1)` and `u ~ N(0, σ'²·P⁻¹)`. The quotient `E` is a
//! martingale that starts at 1 where the hypothesis is true. With `RSS = Σr²`, `V₀ = P + Σ x·xᵀ`,
//! `z² = ‖Σ x·r‖²_{V₀⁻¹}`, `a = 1 + n/2` and `D = ½·log(det V₀/det P)`
//!
//! ```text
//! log E(θ, σ) = log Γ(a) − a·log(1 + (RSS − z²)/2σ²) + RSS/2σ² − D
//! ```
//!
//! and its least value over `σ` depends on the data through `ρ = z²/(RSS − z²)` alone:
//!
//! ```text
//! log E(θ) = c − 1 − D + a·log(1 + ρ) − ρ          a larger ρ than a − 1 counts as a − 1
//! c = ½·log(2π/a) + 1/(12a) − 1/(360a³) ≤ log Γ(a) + a − a·log a
//! ```
//!
//! It grows with `ρ` up to `a − 1`, so the hypotheses that are not refuted are those whose `ρ` is
//! below the smaller root of `log E = log(1/δ)`. Proofs in `docs/concepts/bell.md`.

use super::pairs::PairRule;
use super::radius::{ConfidenceRadius, RadiusError, check_delta};
use super::reach::{Doubt, Reach};
use crate::model::{Earnings, Evidence};

/// Computed sums of squares can be too small by their rounding; this share of `Σy²` is added.
const ROUNDING: f64 = 1.0 / (1_u64 << 40) as f64;

/// Prior outcomes per action: `P = 2` for an arm.
const PRIOR: f64 = 2.0;

/// By this share `ρ` is larger where rewards were rounded.
const SLACK: f64 = 1.0 / 1024.0;

/// Pieces into which the means between two estimates are divided.
const PIECES: u32 = 32;

/// Bisections of a bound on a difference; each halves the error.
const BISECTIONS: u32 = 40;

/// `a = 1 + n/2`.
fn shape(outcomes: u64) -> f64 {
    1.0 + 0.5 * outcomes as f64
}

/// `c`: Stirling's series, stopped after a negative term, so below the true value.
fn stirling(a: f64) -> f64 {
    0.5 * libm::log(std::f64::consts::TAU / a) + 1.0 / (12.0 * a) - 1.0 / (360.0 * a * a * a)
}

/// `a·log(1 + ρ) − ρ`.
fn gain(a: f64, ratio: f64) -> f64 {
    a * libm::log1p(ratio) - ratio
}

/// `log E` after this many outcomes, of a hypothesis with this `ρ`; `log_det` is `D`.
fn log_evidence(outcomes: u64, ratio: f64, log_det: f64) -> f64 {
    let a = shape(outcomes);
    stirling(a) - 1.0 - log_det + gain(a, ratio.min(a - 1.0))
}

/// The `ρ` from which on the evidence against a hypothesis reaches `needed` nats, rounded up.
/// `None` while no outcomes could give that much.
pub(crate) fn refuting_ratio(outcomes: u64, log_det: f64, needed: f64) -> Option<f64> {
    let a = shape(outcomes);
    let target = needed + log_det + 1.0 - stirling(a);
    let largest = a - 1.0;
    // Written so that NaN has no root either.
    let reachable = gain(a, largest) >= target;
    if !reachable {
        return None;
    }
    // The gain rises up to `largest`, and is at most `largest·ρ`.
    let (mut low, mut high) = ((target / largest).clamp(0.0, largest), largest);
    while high - low > ROUNDING * high {
        let middle = 0.5 * (low + high);
        if gain(a, middle) >= target {
            high = middle;
        } else {
            low = middle;
        }
    }
    Some(high)
}

/// How far a set reaches: its `ρ`, and what is added to its `β`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Level {
    pub(crate) ratio: f64,
    pub(crate) allowance: f64,
}

/// The level of the set at `ρ` if each reward may be off by this much.
pub(crate) fn rounded(outcomes: u64, ratio: f64, error: f64) -> Level {
    if error == 0.0 {
        return Level { ratio, allowance: 0.0 };
    }
    let shift = (1.0 + ratio.sqrt()) * error;
    let allowance = (1.0 + 1.0 / SLACK) * shift * shift * outcomes as f64;
    Level { ratio: (1.0 + SLACK) * ratio, allowance }
}

/// `Σ(y − m)²` at the least, made from sums in which rounding may have hidden some of it.
pub(crate) fn residual(squares: f64, explained: f64) -> f64 {
    (squares - explained).max(0.0) + ROUNDING * squares
}

/// `Σ(y − mean)²`.
pub(crate) fn scatter(arm: &Earnings) -> f64 {
    residual(arm.squares, arm.total * arm.mean())
}

/// `D` of an arm.
pub(crate) fn arm_log_det(count: u64) -> f64 {
    0.5 * libm::log1p(count as f64 / PRIOR)
}

/// How firmly the set at `ρ` holds the mean of an arm: `V` of it, `n(n − 2ρ)/(n + 2)`. Negative
/// where the arm has data, and so few that the set has no end.
pub(crate) fn arm_hold(count: u64, ratio: f64) -> f64 {
    let n = count as f64;
    n * (n - PRIOR * ratio) / (n + PRIOR)
}

/// `log E` of a mean that is this far from the average, for a scale of its own, at the least if
/// each reward may be off by `error`. Grows with the distance.
fn log_evidence_at(arm: &Earnings, distance: f64, error: f64) -> f64 {
    let n = arm.count as f64;
    let shift = n * distance * distance / (n + PRIOR);
    let rest = scatter(arm) + PRIOR * shift;
    let off = error * n.sqrt();
    let z = ((n * shift).sqrt() - off).max(0.0);
    let ratio = if z > 0.0 { (z / (rest.sqrt() + off)).powi(2) } else { 0.0 };
    log_evidence(arm.count, ratio, arm_log_det(arm.count))
}

/// The evidence that `a` is better than `b`, with one scale of noise for both: between what and
/// what their difference lies if that rules `b` out. `needed` is `log(shares/δ)`; each reward may
/// be off by `error`.
fn rules_out(a: &Earnings, b: &Earnings, needed: f64, error: f64) -> Option<(f64, f64)> {
    if a.count == 0 || b.count == 0 {
        return None;
    }
    let ahead = a.mean() - b.mean();
    let log_det = arm_log_det(a.count) + arm_log_det(b.count);
    let ratio = refuting_ratio(a.count + b.count, log_det, needed)?;
    let Level { ratio, allowance } = rounded(a.count + b.count, ratio, error);
    let holds = [a, b].map(|arm| arm_hold(arm.count, ratio));
    if holds.iter().any(|hold| *hold <= 0.0) {
        return None;
    }
    let scatter = scatter(a) + scatter(b);
    let beta = ratio * scatter + allowance;
    let half = (beta * (1.0 / holds[0] + 1.0 / holds[1])).sqrt();
    (ahead > half).then_some((ahead - half, ahead + half))
}

/// As [`rules_out`], where the noise of each action has a scale of its own.
fn rules_out_by_own_scales(
    a: &Earnings,
    b: &Earnings,
    needed: f64,
    error: f64,
) -> Option<(f64, f64)> {
    if a.count == 0 || b.count == 0 {
        return None;
    }
    let ahead = a.mean() - b.mean();
    // Whether every pair of means with this difference is refuted.
    let refuted = |difference: f64| {
        let gap = ahead - difference;
        let piece = gap / f64::from(PIECES);
        // Evidence grows away from each estimate, so within a piece it is least at its nearer end.
        (0..PIECES).all(|i| {
            let (from_b, from_a) = (f64::from(i) * piece, f64::from(PIECES - 1 - i) * piece);
            log_evidence_at(a, from_a, error) + log_evidence_at(b, from_b, error) >= needed
        })
    };
    if ahead <= 0.0 || !refuted(0.0) {
        return None;
    }
    // What is as far from `ahead` as zero is refuted too, on either side.
    let bound = |outside: f64| {
        let (mut outside, mut inside) = (outside, ahead);
        for _ in 0..BISECTIONS {
            let middle = 0.5 * (outside + inside);
            if refuted(middle) { outside = middle } else { inside = middle }
        }
        outside
    };
    Some((bound(0.0), bound(2.0 * ahead)))
}

/// When one action rules another out by what both have paid, under normal noise of unknown scale.
///
/// The evidence is two-sided, so one number decides: no condition on either action alone. Means are
/// not assumed to be linear. Rewards of other actions do not count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BellPairs {
    /// Evidence for a verdict, in nats: `log(shares/δ)`.
    pub needed: f64,
    /// Whether the noise of each action has a scale of its own. Needs 13 to 15 outcomes of each
    /// action before it can decide.
    pub own_scales: bool,
    /// How far each reward may be off by rounding.
    pub error: f64,
}

impl BellPairs {
    /// By how much `ahead` beats `behind` at least and at most, if it rules it out.
    pub fn rules_out(&self, ahead: &Earnings, behind: &Earnings) -> Option<(f64, f64)> {
        let rule = if self.own_scales { rules_out_by_own_scales } else { rules_out };
        rule(ahead, behind, self.needed, self.error)
    }
}

/// The radius for normal noise of unknown scale.
///
/// [`BellRidge`](crate::BellRidge) and [`BellArms`](crate::BellArms) bring the set, and its δ
/// belongs to them, because the shape of the set depends on it.
///
/// # Panics
/// If the model is another one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bell {
    /// Verdicts between pairs of actions beside the set, with a δ of their own; the model must keep
    /// what each action has paid ([`Tabled`](crate::Tabled)).
    pub pairs: Option<f64>,
    /// Whether the noise of each action has a scale of its own. Then pairs alone decide.
    pub own_scales: bool,
}

impl ConfidenceRadius for Bell {
    fn sqrt_beta(&self, evidence: &Evidence) -> f64 {
        self.reach(evidence).half_width(1.0)
    }

    fn reach(&self, evidence: &Evidence) -> Reach {
        let own = evidence.own;
        let own = own.expect("the bell radius needs a bell model, such as BellRidge or BellArms");
        // The set of the model holds for one scale only.
        let unequal = self.own_scales && own.doubt().is_none();
        if unequal { Reach::Open(Doubt::OwnScales) } else { own }
    }

    fn pairs(&self, evidence: &Evidence) -> Option<PairRule> {
        let rule = |delta: f64| BellPairs {
            needed: libm::log(evidence.pair_shares) - libm::log(delta),
            own_scales: self.own_scales,
            error: 0.0,
        };
        self.pairs.map(rule).map(PairRule::Bell)
    }

    /// Models made from rounded sums cover the rounding themselves: it changes the shape of the
    /// set.
    fn moved(&self, _: &Evidence, _: f64) -> f64 {
        0.0
    }

    fn check(&self) -> Result<(), RadiusError> {
        self.pairs.map_or(Ok(()), check_delta)
    }
}

#[cfg(test)]
mod laws;
