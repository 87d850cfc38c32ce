//! What is asked of scores.

#![expect(
    clippy::needless_bitwise_bool,
    reason = "a branch for each lane would keep them from being vectors"
)]

use super::{LANES, Lane, larger, largest};

/// Fills `half_width = √β·√width_sq` and returns the largest lower bound `mean − half_width`.
#[inline(always)]
pub(in crate::linalg) fn bound(
    mean: &[f64],
    width_sq: &[f64],
    sqrt_beta: f64,
    half_width: &mut [f64],
) -> f64 {
    let (mean, mean_rest) = mean.as_chunks::<LANES>();
    let (width_sq, width_sq_rest) = width_sq.as_chunks::<LANES>();
    let (half_width, half_width_rest) = half_width.as_chunks_mut::<LANES>();
    let mut best: Lane = [f64::NEG_INFINITY; LANES];
    for ((m, w), h) in mean.iter().zip(width_sq).zip(half_width) {
        for l in 0..LANES {
            h[l] = sqrt_beta * w[l].sqrt();
            best[l] = larger(best[l], m[l] - h[l]);
        }
    }
    let mut best = largest(best);
    for ((m, w), h) in mean_rest.iter().zip(width_sq_rest).zip(half_width_rest) {
        *h = sqrt_beta * w.sqrt();
        best = larger(best, m - *h);
    }
    best
}

/// The largest `width_sq` among the actions with `mean + half_width ≥ threshold`.
#[inline(always)]
pub(in crate::linalg) fn widest(
    mean: &[f64],
    width_sq: &[f64],
    half_width: &[f64],
    threshold: f64,
) -> f64 {
    let (mean, mean_rest) = mean.as_chunks::<LANES>();
    let (width_sq, width_sq_rest) = width_sq.as_chunks::<LANES>();
    let (half_width, half_width_rest) = half_width.as_chunks::<LANES>();
    let mut best: Lane = [f64::NEG_INFINITY; LANES];
    for ((m, w), h) in mean.iter().zip(width_sq).zip(half_width) {
        for l in 0..LANES {
            let candidate = if m[l] + h[l] >= threshold { w[l] } else { f64::NEG_INFINITY };
            best[l] = larger(best[l], candidate);
        }
    }
    let mut best = largest(best);
    for ((m, w), h) in mean_rest.iter().zip(width_sq_rest).zip(half_width_rest) {
        if m + h >= threshold {
            best = larger(best, *w);
        }
    }
    best
}

/// The largest `greed·mean + half_width` among the actions with `mean + half_width ≥ threshold`.
#[inline(always)]
pub(in crate::linalg) fn tempered(
    mean: &[f64],
    half_width: &[f64],
    greed: f64,
    threshold: f64,
) -> f64 {
    let (mean, mean_rest) = mean.as_chunks::<LANES>();
    let (half_width, half_width_rest) = half_width.as_chunks::<LANES>();
    let mut best: Lane = [f64::NEG_INFINITY; LANES];
    for (m, h) in mean.iter().zip(half_width) {
        for l in 0..LANES {
            let candidate =
                if m[l] + h[l] >= threshold { greed * m[l] + h[l] } else { f64::NEG_INFINITY };
            best[l] = larger(best[l], candidate);
        }
    }
    let mut best = largest(best);
    for (m, h) in mean_rest.iter().zip(half_width_rest) {
        if m + h >= threshold {
            best = larger(best, greed * m + h);
        }
    }
    best
}

/// What the model error needs of one round, over the plausible actions only.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlausibleSummary {
    /// The largest `(mean − truth)²`.
    pub error_sq: f64,
    /// How many actions are plausible.
    pub count: usize,
}

/// Squared estimation error and size of the plausible set, in one pass.
#[inline(always)]
pub(in crate::linalg) fn plausible_summary(
    mean: &[f64],
    half_width: &[f64],
    truth: &[f64],
    threshold: f64,
) -> PlausibleSummary {
    let (mean, mean_rest) = mean.as_chunks::<LANES>();
    let (half_width, half_width_rest) = half_width.as_chunks::<LANES>();
    let (truth, truth_rest) = truth.as_chunks::<LANES>();
    let mut error: Lane = [0.0; LANES];
    let mut count: Lane = [0.0; LANES];
    for ((m, h), t) in mean.iter().zip(half_width).zip(truth) {
        // The mask as a factor and in f64: branches or integer lanes would keep this from being
        // vectorised. The count is exact below 2^53.
        let mut plausible: Lane = [0.0; LANES];
        for l in 0..LANES {
            plausible[l] = if m[l] + h[l] >= threshold { 1.0 } else { 0.0 };
        }
        for l in 0..LANES {
            let miss = m[l] - t[l];
            error[l] = larger(error[l], plausible[l] * (miss * miss));
            count[l] += plausible[l];
        }
    }
    let mut error_sq = largest(error);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a count of actions"
    )]
    let mut count = count.iter().sum::<f64>() as usize;
    for ((m, h), t) in mean_rest.iter().zip(half_width_rest).zip(truth_rest) {
        if m + h >= threshold {
            let miss = m - t;
            error_sq = larger(error_sq, miss * miss);
            count += 1;
        }
    }
    PlausibleSummary { error_sq, count }
}

/// The first of the largest values.
#[inline(always)]
pub(in crate::linalg) fn argmax(values: &[f64]) -> usize {
    let (lanes, rest) = values.as_chunks::<LANES>();
    let mut best: Lane = [f64::NEG_INFINITY; LANES];
    for values in lanes {
        for l in 0..LANES {
            best[l] = larger(best[l], values[l]);
        }
    }
    let best = rest.iter().copied().fold(largest(best), larger);
    let attains =
        |values: &[f64; LANES]| values.iter().fold(false, |attained, x| attained | (*x >= best));
    let start = lanes.iter().position(attains).unwrap_or(lanes.len()) * LANES;
    values[start..].iter().position(|x| *x >= best).map_or(0, |at| start + at)
}
