//! Choosing among actions that are all compared with one, eight at a time.
#![expect(
    clippy::needless_bitwise_bool,
    reason = "a branch for each lane would keep them from being vectors"
)]

use super::choose::{OUT, load};
use super::{LANES, Lane, larger, largest};

/// What is sought among scores that can be off, beside one action.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Beside {
    /// The position of that action.
    pub(crate) leader: usize,
    pub(crate) sqrt_beta: f64,
    /// How far off a mean can be, as a share of the half-width.
    pub(crate) mean_pad: f64,
    /// How far off a mean and its half-width can be together, as a share of the half-width.
    pub(crate) pad: f64,
    /// The one with the largest `greed·mean + half-width` is sought; `None` for every plausible
    /// action.
    pub(crate) greed: Option<f64>,
    /// How far off that value can be, as a share of the half-width.
    pub(crate) value_pad: f64,
}

/// Finds, in order, the actions among which the answer is, if the leader has the largest mean and
/// the largest lower bound for sure; returns whether it has. `scratch` is two numbers per action.
///
/// `behind` is by how much each action is behind the leader, and `between` the squared width of
/// that difference.
#[inline(always)]
pub(super) fn beside(
    [mean, width_sq]: [&[f64]; 2],
    [behind, between]: [&[f64]; 2],
    sought: Beside,
    scratch: &mut Vec<[Lane; 2]>,
    found: &mut Vec<usize>,
) -> bool {
    let Beside { leader, sqrt_beta, mean_pad, pad, greed, value_pad } = sought;
    let own = sqrt_beta * width_sq[leader].sqrt();
    let (lead, firm) = (mean[leader] - mean_pad * own, mean[leader] - (1.0 + pad) * own);
    let weight = greed.unwrap_or(0.0);
    let mut best: Lane = [f64::NEG_INFINITY; LANES];
    let mut rivals: Lane = [0.0; LANES];
    scratch.resize(mean.len().div_ceil(LANES), [[0.0; LANES]; 2]);
    for (block, [most, values]) in scratch.iter_mut().enumerate() {
        let at = block * LANES;
        let (m, w) = (load(mean, at, OUT), load(width_sq, at, 0.0));
        let (b, d) = (load(behind, at, OUT), load(between, at, 0.0));
        for l in 0..LANES {
            let (half, apart) = (sqrt_beta * w[l].sqrt(), sqrt_beta * d[l].sqrt());
            let rival = (m[l] + mean_pad * half >= lead) | (m[l] - (1.0 - pad) * half >= firm);
            rivals[l] += if rival { 1.0 } else { 0.0 };
            let value = weight * m[l] + (1.0 - value_pad) * half;
            let sure = (1.0 - pad) * apart >= b[l];
            best[l] = larger(if sure { value } else { f64::NEG_INFINITY }, best[l]);
            most[l] = (1.0 + pad) * apart - b[l];
            values[l] = weight * m[l] + (1.0 + value_pad) * half;
        }
    }
    // The leader is one of them.
    if rivals.iter().sum::<f64>() > 1.0 {
        return false;
    }
    let least = if greed.is_some() { largest(best) } else { f64::NEG_INFINITY };
    found.clear();
    for (block, [most, values]) in scratch.iter().enumerate() {
        let (mut may, mut any) = ([false; LANES], false);
        for l in 0..LANES {
            may[l] = (most[l] >= 0.0) & (values[l] >= least);
            any |= may[l];
        }
        if any {
            found.extend((0..LANES).filter(|l| may[*l]).map(|l| block * LANES + l));
        }
    }
    true
}
