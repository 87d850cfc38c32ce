//! Scores followed in single precision, and who comes into question by scores that can be off.
//!
//! Nobody is asked by a root: a gap between a mean and a bound, squared, is compared with
//! `β·width_sq`. Whoever calls leaves margins for rounding.

#![expect(
    clippy::needless_bitwise_bool,
    reason = "a branch for each lane would keep them from being vectors"
)]

use super::{LANES, Lane, larger, largest};

/// Products summed in single precision before they go into a sum of doubles.
pub(crate) const RUN: usize = 8;

type Single = [f32; LANES];

/// The scores of [`super::refresh`] from factors in single precision; returns the largest `s²`.
#[inline(always)]
pub(in crate::linalg) fn follow(
    blocks: &[f32],
    direction: &[f32],
    gain: f64,
    mean: &mut [f64],
    width_sq: &mut [f64],
) -> f64 {
    let blocks = blocks.as_chunks::<LANES>().0;
    let (means, mean_rest) = mean.as_chunks_mut::<LANES>();
    let (widths, width_sq_rest) = width_sq.as_chunks_mut::<LANES>();
    let (whole, partial) = blocks.split_at(means.len() * direction.len());
    let mut most: Lane = [0.0; LANES];
    for ((mean, width_sq), block) in
        means.iter_mut().zip(widths).zip(whole.chunks_exact(direction.len()))
    {
        let s = dots_of(block, direction);
        for l in 0..LANES {
            let square = s[l] * s[l];
            mean[l] += gain * s[l];
            width_sq[l] = larger(width_sq[l] - square, 0.0);
            most[l] = larger(most[l], square);
        }
    }
    let mut most = largest(most);
    if !mean_rest.is_empty() {
        let s = dots_of(partial, direction);
        for (l, (mean, width_sq)) in mean_rest.iter_mut().zip(width_sq_rest).enumerate() {
            let square = s[l] * s[l];
            *mean += gain * s[l];
            *width_sq = larger(*width_sq - square, 0.0);
            most = larger(most, square);
        }
    }
    most
}

#[inline(always)]
fn dots_of(block: &[Single], direction: &[f32]) -> Lane {
    let mut sums: Lane = [0.0; LANES];
    let (block, direction) = (block.as_chunks::<RUN>(), direction.as_chunks::<RUN>());
    for (xs, ys) in block.0.iter().zip(direction.0) {
        let mut run: Single = [0.0; LANES];
        for j in 0..RUN {
            for l in 0..LANES {
                run[l] += xs[j][l] * ys[j];
            }
        }
        for l in 0..LANES {
            sums[l] += f64::from(run[l]);
        }
    }
    let mut run: Single = [0.0; LANES];
    for (x, y) in block.1.iter().zip(direction.1) {
        for l in 0..LANES {
            run[l] += x[l] * y;
        }
    }
    for l in 0..LANES {
        sums[l] += f64::from(run[l]);
    }
    sums
}

/// Who comes into question.
trait Question {
    fn ask(&self, mean: f64, width_sq: f64) -> bool;
}

/// Adds to `found`, in order, all that come into question, until there are more than `most`.
#[inline(always)]
fn find(
    mean: &[f64],
    width_sq: &[f64],
    question: &impl Question,
    most: usize,
    found: &mut Vec<usize>,
) {
    let (means, mean_rest) = mean.as_chunks::<LANES>();
    let (widths, width_sq_rest) = width_sq.as_chunks::<LANES>();
    for (block, (mean, width_sq)) in means.iter().zip(widths).enumerate() {
        let mut any = false;
        for l in 0..LANES {
            any |= question.ask(mean[l], width_sq[l]);
        }
        if any {
            add(mean, width_sq, question, block * LANES, found);
            if found.len() > most {
                return;
            }
        }
    }
    add(mean_rest, width_sq_rest, question, means.len() * LANES, found);
}

#[inline(always)]
fn add(
    mean: &[f64],
    width_sq: &[f64],
    question: &impl Question,
    first: usize,
    found: &mut Vec<usize>,
) {
    for (l, (mean, width_sq)) in mean.iter().zip(width_sq).enumerate() {
        if question.ask(*mean, *width_sq) {
            found.push(first + l);
        }
    }
}

/// Finds those who may have the largest lower bound.
#[inline(always)]
pub(in crate::linalg) fn may_lead(
    mean: &[f64],
    width_sq: &[f64],
    lead: &MayLead,
    most: usize,
    found: &mut Vec<usize>,
) {
    find(mean, width_sq, lead, most, found);
}

/// `mean − √β·√(width_sq − off) ≥ least`.
pub(crate) struct MayLead {
    pub(crate) sqrt_beta: f64,
    pub(crate) off: f64,
    pub(crate) least: f64,
}

impl Question for MayLead {
    #[inline(always)]
    fn ask(&self, mean: f64, width_sq: f64) -> bool {
        let gap = mean - self.least;
        (gap >= 0.0) & (gap * gap >= self.sqrt_beta * self.sqrt_beta * (width_sq - self.off))
    }
}

/// Finds those whose upper bound may reach so far.
#[inline(always)]
pub(in crate::linalg) fn may_reach(
    mean: &[f64],
    width_sq: &[f64],
    reach: &MayReach,
    most: usize,
    found: &mut Vec<usize>,
) {
    find(mean, width_sq, reach, most, found);
}

/// `mean + √β·√(width_sq + off) ≥ least` and `width_sq ≥ width_sq_least`.
pub(crate) struct MayReach {
    pub(crate) sqrt_beta: f64,
    pub(crate) off: f64,
    pub(crate) least: f64,
    pub(crate) width_sq_least: f64,
}

impl Question for MayReach {
    #[inline(always)]
    fn ask(&self, mean: f64, width_sq: f64) -> bool {
        let gap = larger(self.least - mean, 0.0);
        (width_sq >= self.width_sq_least)
            & (gap * gap <= self.sqrt_beta * self.sqrt_beta * (width_sq + self.off))
    }
}

/// The largest `width_sq` of those with `mean + √β·√(width_sq − off) ≥ threshold`; −∞ if there are
/// none.
#[inline(always)]
pub(in crate::linalg) fn widest_reaching(
    mean: &[f64],
    width_sq: &[f64],
    off: f64,
    sqrt_beta: f64,
    threshold: f64,
) -> f64 {
    let beta = sqrt_beta * sqrt_beta;
    let (means, mean_rest) = mean.as_chunks::<LANES>();
    let (widths, width_sq_rest) = width_sq.as_chunks::<LANES>();
    let mut widest: Lane = [f64::NEG_INFINITY; LANES];
    for (mean, width_sq) in means.iter().zip(widths) {
        for l in 0..LANES {
            let gap = larger(threshold - mean[l], 0.0);
            let width_sq = if gap * gap <= beta * (width_sq[l] - off) {
                width_sq[l]
            } else {
                f64::NEG_INFINITY
            };
            widest[l] = larger(widest[l], width_sq);
        }
    }
    let mut widest = largest(widest);
    for (mean, width_sq) in mean_rest.iter().zip(width_sq_rest) {
        let gap = larger(threshold - mean, 0.0);
        if gap * gap <= beta * (width_sq - off) {
            widest = larger(widest, *width_sq);
        }
    }
    widest
}
