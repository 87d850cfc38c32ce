//! Choosing among scores, eight actions at a time.
//!
//! The last block of a list is padded with [`OUT`], a mean that passes no comparison.
#![expect(
    clippy::needless_bitwise_bool,
    reason = "a branch for each lane would keep them from being vectors"
)]

use super::{LANES, Lane, larger, largest};

/// The mean of a lane without an action. [`larger`] returns its second argument where the first is
/// NaN, so candidates come first and the best so far second.
pub(super) const OUT: f64 = f64::NAN;

/// Eight numbers from `at` on, padded at the end of the list.
#[inline(always)]
pub(super) fn load(values: &[f64], at: usize, padding: f64) -> Lane {
    let rest = &values[at..];
    if let Some(lane) = rest.first_chunk() {
        return *lane;
    }
    let mut lane = [padding; LANES];
    for (to, from) in lane.iter_mut().zip(rest) {
        *to = *from;
    }
    lane
}

/// Fills `half_width = √β·√width_sq` and returns the largest lower bound `mean − half_width`.
#[inline(always)]
pub(super) fn bound(mean: &[f64], width_sq: &[f64], sqrt_beta: f64, half_width: &mut [f64]) -> f64 {
    let mut best: Lane = [f64::NEG_INFINITY; LANES];
    for at in (0..mean.len()).step_by(LANES) {
        let (m, mut h) = (load(mean, at, OUT), load(width_sq, at, 0.0));
        for l in 0..LANES {
            h[l] = sqrt_beta * h[l].sqrt();
            best[l] = larger(m[l] - h[l], best[l]);
        }
        let out = &mut half_width[at..];
        if let Some(lane) = out.first_chunk_mut() {
            *lane = h;
        } else {
            let len = out.len();
            out.copy_from_slice(&h[..len]);
        }
    }
    largest(best)
}

/// Fills `slack = mean + half_width − threshold`.
#[inline(always)]
pub(super) fn slacks(mean: &[f64], half_width: &[f64], threshold: f64, slack: &mut [f64]) {
    for ((slack, mean), half) in slack.iter_mut().zip(mean).zip(half_width) {
        *slack = mean + half - threshold;
    }
}

/// The largest `value` among the actions whose slack is not negative.
#[inline(always)]
pub(super) fn widest(value: &[f64], slack: &[f64]) -> f64 {
    let mut best: Lane = [f64::NEG_INFINITY; LANES];
    for at in (0..slack.len()).step_by(LANES) {
        let (v, s) = (load(value, at, 0.0), load(slack, at, OUT));
        for l in 0..LANES {
            let candidate = if s[l] >= 0.0 { v[l] } else { f64::NEG_INFINITY };
            best[l] = larger(candidate, best[l]);
        }
    }
    largest(best)
}

/// The largest `greed·mean + half_width` among the actions whose slack is not negative.
#[inline(always)]
pub(super) fn tempered(mean: &[f64], half_width: &[f64], greed: f64, slack: &[f64]) -> f64 {
    let mut best: Lane = [f64::NEG_INFINITY; LANES];
    for at in (0..slack.len()).step_by(LANES) {
        let (m, h) = (load(mean, at, OUT), load(half_width, at, 0.0));
        let s = load(slack, at, OUT);
        for l in 0..LANES {
            let value = greed * m[l] + h[l];
            let candidate = if s[l] >= 0.0 { value } else { f64::NEG_INFINITY };
            best[l] = larger(candidate, best[l]);
        }
    }
    largest(best)
}

/// What is sought among scores that can be off.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Finalists {
    pub(crate) sqrt_beta: f64,
    /// How far off a mean and its half-width can be together, as a share of the half-width.
    pub(crate) pad: f64,
    /// The one with the largest `greed·mean + half-width` is sought; `None` for every plausible
    /// action.
    pub(crate) greed: Option<f64>,
    /// How far off that value can be, as a share of the half-width.
    pub(crate) value_pad: f64,
}

/// Means and half-widths, block by block.
struct Blocks<'a> {
    means: &'a [Lane],
    halves: &'a [Lane],
    /// The means of the last block, padded with [`OUT`], if it is not full.
    last: Lane,
}

impl Blocks<'_> {
    #[inline(always)]
    fn get(&self, block: usize) -> (Lane, Lane) {
        (*self.means.get(block).unwrap_or(&self.last), self.halves[block])
    }
}

/// Finds, in order, the actions among which the answer is. `half_width` is scratch.
///
/// The largest lower bound is between `low` and `high`. An action whose upper bound reaches `high`
/// for sure is plausible, and the best of those limits the value of the answer from below. If
/// several actions may reach that value, the answer also needs those that may have the largest
/// lower bound.
#[inline(always)]
pub(super) fn finalists(
    mean: &[f64],
    width_sq: &[f64],
    sought: Finalists,
    half_width: &mut Vec<f64>,
    found: &mut Vec<usize>,
) {
    half_width.resize(mean.len().next_multiple_of(LANES), 0.0);
    let halves = half_width.as_chunks_mut::<LANES>().0;
    let (less, more) = (1.0 - sought.pad, 1.0 + sought.pad);
    let (means, rest) = mean.as_chunks::<LANES>();
    let last = load(rest, 0, OUT);
    let (mut low, mut high): (Lane, Lane) =
        ([f64::NEG_INFINITY; LANES], [f64::NEG_INFINITY; LANES]);
    for (block, h) in halves.iter_mut().enumerate() {
        let (m, w) = (*means.get(block).unwrap_or(&last), load(width_sq, block * LANES, 0.0));
        for l in 0..LANES {
            h[l] = sought.sqrt_beta * w[l].sqrt();
            low[l] = larger(m[l] - more * h[l], low[l]);
            high[l] = larger(m[l] - less * h[l], high[l]);
        }
    }
    let (low, high) = (largest(low), largest(high));
    let blocks = Blocks { means, halves, last };
    found.clear();
    let Some(greed) = sought.greed else {
        return collect(&blocks, &Limits { low, more, ..Limits::default() }, found);
    };
    let (value_less, value_more) = (1.0 - sought.value_pad, 1.0 + sought.value_pad);
    let mut best: Lane = [f64::NEG_INFINITY; LANES];
    for block in 0..blocks.halves.len() {
        let (m, h) = blocks.get(block);
        for l in 0..LANES {
            let plausible = m[l] + less * h[l] >= high;
            let value = greed * m[l] + value_less * h[l];
            best[l] = larger(if plausible { value } else { f64::NEG_INFINITY }, best[l]);
        }
    }
    let limits = Limits { low, more, greed, value_more, least: largest(best), ..Limits::default() };
    collect(&blocks, &limits, found);
    if found.len() > 1 {
        found.clear();
        collect(&blocks, &Limits { less, lead: low, ..limits }, found);
    }
}

/// What an action must reach: an upper bound of `low` and a value of `least`, or a lower bound of
/// `lead`.
struct Limits {
    low: f64,
    more: f64,
    greed: f64,
    value_more: f64,
    least: f64,
    less: f64,
    lead: f64,
}

impl Default for Limits {
    #[inline(always)]
    fn default() -> Self {
        let (least, lead) = (f64::NEG_INFINITY, f64::INFINITY);
        Self { low: 0.0, more: 1.0, greed: 0.0, value_more: 1.0, least, less: 1.0, lead }
    }
}

#[inline(always)]
fn collect(blocks: &Blocks<'_>, limits: &Limits, found: &mut Vec<usize>) {
    let Limits { low, more, greed, value_more, least, less, lead } = *limits;
    for block in 0..blocks.halves.len() {
        let (m, h) = blocks.get(block);
        let (mut may, mut any) = ([false; LANES], false);
        for l in 0..LANES {
            let upper = m[l] + more * h[l] >= low;
            let value = greed * m[l] + value_more * h[l] >= least;
            may[l] = (upper & value) | (m[l] - less * h[l] >= lead);
            any |= may[l];
        }
        if any {
            found.extend((0..LANES).filter(|l| may[*l]).map(|l| block * LANES + l));
        }
    }
}

/// Finds, in order, every action with `mean + pad·half_width ≥ least`.
#[inline(always)]
pub(super) fn reaching(
    mean: &[f64],
    half_width: &[f64],
    pad: f64,
    least: f64,
    found: &mut Vec<usize>,
) {
    found.clear();
    for at in (0..mean.len()).step_by(LANES) {
        let (m, h) = (load(mean, at, OUT), load(half_width, at, 0.0));
        let (mut may, mut any) = ([false; LANES], false);
        for l in 0..LANES {
            may[l] = m[l] + pad * h[l] >= least;
            any |= may[l];
        }
        if any {
            found.extend((0..LANES).filter(|l| may[*l]).map(|l| at + l));
        }
    }
}

/// Two lower limits: of the largest mean, and of the largest lower bound. Fills `half_width`.
///
/// A mean can be off by `mean_pad` times its half-width, a bound by `pad` times it.
#[inline(always)]
pub(super) fn leads(
    mean: &[f64],
    width_sq: &[f64],
    sqrt_beta: f64,
    [mean_pad, pad]: [f64; 2],
    half_width: &mut [f64],
) -> [f64; 2] {
    let mut best: [Lane; 2] = [[f64::NEG_INFINITY; LANES]; 2];
    for at in (0..mean.len()).step_by(LANES) {
        let (m, mut h) = (load(mean, at, OUT), load(width_sq, at, 0.0));
        for l in 0..LANES {
            h[l] = sqrt_beta * h[l].sqrt();
            best[0][l] = larger(m[l] - mean_pad * h[l], best[0][l]);
            best[1][l] = larger(m[l] - (1.0 + pad) * h[l], best[1][l]);
        }
        let out = &mut half_width[at..];
        if let Some(lane) = out.first_chunk_mut() {
            *lane = h;
        } else {
            let len = out.len();
            out.copy_from_slice(&h[..len]);
        }
    }
    best.map(largest)
}

/// One action beside which others are judged, by scores that can be off.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Witness {
    pub(crate) mean: f64,
    pub(crate) width_sq: f64,
    pub(crate) sqrt_beta: f64,
    /// How far off a mean can be, as a share of the half-width.
    pub(crate) mean_pad: f64,
    /// How far off the squared width of a difference can be, as a share of the sum of both squared
    /// widths.
    pub(crate) width_pad: f64,
}

/// The slack of an action is the half-width of its difference from the witness less what it is
/// behind by. Lowers `sure` and `maybe` to limits of it from below and from above. `dots` are the
/// products of each action with `V⁻¹` times the witness.
#[inline(always)]
pub(super) fn contest(
    mean: &[f64],
    width_sq: &[f64],
    dots: &[f64],
    witness: Witness,
    sure: &mut [f64],
    maybe: &mut [f64],
) {
    let Witness { mean: best, width_sq: own, sqrt_beta, mean_pad, width_pad } = witness;
    let scores = mean.iter().zip(width_sq).zip(dots);
    for (((mean, width_sq), dot), (sure, maybe)) in scores.zip(sure.iter_mut().zip(maybe)) {
        let both = own + width_sq;
        let between = both - 2.0 * dot;
        let behind = best - mean;
        // `w + w' ≤ √2·√(w² + w'²)`.
        let off = mean_pad * sqrt_beta * (2.0 * both).sqrt();
        let least = sqrt_beta * larger(between - width_pad * both, 0.0).sqrt() - behind - off;
        let most = sqrt_beta * larger(between + width_pad * both, 0.0).sqrt() - behind + off;
        *sure = if least < *sure { least } else { *sure };
        *maybe = if most < *maybe { most } else { *maybe };
    }
}

/// Finds, in order, the actions that may have the largest `greed·mean + half_width` of all that
/// are plausible, with `sure` and `maybe` from [`contest`] and values off by `value_pad` times the
/// half-width; every action that may be plausible, if no greed is given.
#[inline(always)]
pub(super) fn undecided(
    mean: &[f64],
    half_width: &[f64],
    [sure, maybe]: [&[f64]; 2],
    greed: Option<f64>,
    value_pad: f64,
    found: &mut Vec<usize>,
) {
    let mut best: Lane = [f64::NEG_INFINITY; LANES];
    let weight = greed.unwrap_or(0.0);
    if greed.is_some() {
        for at in (0..mean.len()).step_by(LANES) {
            let (m, h) = (load(mean, at, OUT), load(half_width, at, 0.0));
            let s = load(sure, at, OUT);
            for l in 0..LANES {
                let value = weight * m[l] + (1.0 - value_pad) * h[l];
                let value = if s[l] >= 0.0 { value } else { f64::NEG_INFINITY };
                best[l] = larger(value, best[l]);
            }
        }
    }
    let least = largest(best);
    found.clear();
    for at in (0..mean.len()).step_by(LANES) {
        let (m, h) = (load(mean, at, OUT), load(half_width, at, 0.0));
        let s = load(maybe, at, OUT);
        let (mut may, mut any) = ([false; LANES], false);
        for l in 0..LANES {
            let value = weight * m[l] + (1.0 + value_pad) * h[l];
            may[l] = (s[l] >= 0.0) & (value >= least);
            any |= may[l];
        }
        if any {
            found.extend((0..LANES).filter(|l| may[*l]).map(|l| at + l));
        }
    }
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
pub(super) fn plausible_summary(mean: &[f64], truth: &[f64], slack: &[f64]) -> PlausibleSummary {
    let (mut error, mut count): (Lane, Lane) = ([0.0; LANES], [0.0; LANES]);
    for at in (0..slack.len()).step_by(LANES) {
        let (m, t) = (load(mean, at, 0.0), load(truth, at, 0.0));
        let s = load(slack, at, OUT);
        // The mask is a factor in f64: branches or integer lanes would keep this from being
        // vectorised. The count is exact below 2⁵³.
        let mut plausible: Lane = [0.0; LANES];
        for l in 0..LANES {
            plausible[l] = if s[l] >= 0.0 { 1.0 } else { 0.0 };
        }
        for l in 0..LANES {
            let miss = m[l] - t[l];
            error[l] = larger(plausible[l] * (miss * miss), error[l]);
            count[l] += plausible[l];
        }
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a count of actions"
    )]
    let count = count.iter().sum::<f64>() as usize;
    PlausibleSummary { error_sq: largest(error), count }
}

/// The first of the largest values.
#[inline(always)]
pub(super) fn argmax(values: &[f64]) -> usize {
    let (lanes, rest) = values.as_chunks::<LANES>();
    let mut best: Lane = [f64::NEG_INFINITY; LANES];
    for values in lanes {
        for l in 0..LANES {
            best[l] = larger(values[l], best[l]);
        }
    }
    let best = rest.iter().copied().fold(largest(best), larger);
    let attains =
        |values: &[f64; LANES]| values.iter().fold(false, |attained, x| attained | (*x >= best));
    let start = lanes.iter().position(attains).unwrap_or(lanes.len()) * LANES;
    values[start..].iter().position(|x| *x >= best).map_or(0, |at| start + at)
}
