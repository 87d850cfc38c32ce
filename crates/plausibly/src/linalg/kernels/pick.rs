//! The choice among scores, with a square root only for those that come into question.
//!
//! Whoever does not is told by squares: a gap between a mean and a bound, squared, beside
//! `β·width_sq`. Slack of more than rounding can take up is left on both sides, and whoever is
//! between is asked by the root itself, so the answer is that of a square root for each.
//!
//! What was best in one round mostly is in the next, so that is looked at first; among new scores a
//! line in place of the root tells where to look. It changes how long a choice takes and nothing
//! else.

#![expect(
    clippy::needless_bitwise_bool,
    reason = "a branch for each lane would keep them from being vectors"
)]

use super::{LANES, Lane, larger, largest};

/// Relative, and far above what a square root, two products and a square can be off.
const SLACK: f64 = 1e-14;

/// Below a bound by more than a sum that rounds to it can be.
#[inline(always)]
fn just_below(bound: f64) -> f64 {
    bound - 1e-15 * bound.abs()
}

/// So few are all asked by their roots: guessing wrong who comes into question costs more.
const FEW: usize = 4 * LANES;

/// Where to look first: at the eight actions with the largest lower bound among them, and at those
/// with the one taken.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FirstLook {
    lower: usize,
    taken: usize,
    /// Whether scores are new, and where something was says nothing.
    pub(crate) anew: bool,
}

impl FirstLook {
    /// The eight to look at first for the largest `mean + scale·√width_sq`: where it was or, among
    /// new scores, where a line in `width_sq` promises most.
    #[inline(always)]
    fn or_scout(self, was: usize, mean: &[f64], width_sq: &[f64], scale: f64) -> usize {
        if self.anew && mean.len() > FEW {
            farthest_along(mean, width_sq, scale) / LANES * LANES
        } else {
            was
        }
    }
}

/// The first of the widest plausible actions: `argmax width_sq` over `mean + √β·√width_sq ≥ max
/// (mean − √β·√width_sq)`.
#[inline(always)]
pub(in crate::linalg) fn widest_plausible(
    mean: &[f64],
    width_sq: &[f64],
    sqrt_beta: f64,
    first: &mut FirstLook,
) -> usize {
    if mean.len() < LANES {
        return widest_of_a_handful(mean, width_sq, sqrt_beta);
    }
    if mean.len() <= FEW {
        widest_among::<true>(mean, width_sq, sqrt_beta, first)
    } else {
        widest_among::<false>(mean, width_sq, sqrt_beta, first)
    }
}

#[inline(always)]
fn widest_among<const ALL: bool>(
    mean: &[f64],
    width_sq: &[f64],
    sqrt_beta: f64,
    first: &mut FirstLook,
) -> usize {
    let mut lower = LargestLower::<ALL> { sqrt_beta, best: f64::NEG_INFINITY, at: 0 };
    scan(mean, width_sq, first.or_scout(first.lower, mean, width_sq, -sqrt_beta), &mut lower);
    let threshold = lower.best;
    let mut widest = Widest::<ALL> { sqrt_beta, threshold, best: Best::default() };
    scan(mean, width_sq, first.taken, &mut widest);
    (first.lower, first.taken) = (lower.at, widest.best.at);
    widest.best.index()
}

/// The first of the actions with the largest `mean + √β·√width_sq`.
#[inline(always)]
pub(in crate::linalg) fn largest_upper(
    mean: &[f64],
    width_sq: &[f64],
    sqrt_beta: f64,
    first: &mut FirstLook,
) -> usize {
    if mean.len() <= FEW {
        largest_among::<true>(mean, width_sq, sqrt_beta, first)
    } else {
        largest_among::<false>(mean, width_sq, sqrt_beta, first)
    }
}

#[inline(always)]
fn largest_among<const ALL: bool>(
    mean: &[f64],
    width_sq: &[f64],
    sqrt_beta: f64,
    first: &mut FirstLook,
) -> usize {
    let mut upper = LargestUpper::<ALL> { sqrt_beta, best: Best::default() };
    scan(mean, width_sq, first.or_scout(first.taken, mean, width_sq, sqrt_beta), &mut upper);
    first.taken = upper.best.at;
    upper.best.index()
}

/// One of whole blocks whose `mean + scale·√width_sq` is large, by a line in place of the root:
/// with `s` a width as they are here, `√w` is at most `(w/s + s)/2`.
#[inline(always)]
pub(in crate::linalg) fn farthest_along(mean: &[f64], width_sq: &[f64], scale: f64) -> usize {
    let (means, widths) = (mean.as_chunks::<LANES>().0, width_sq.as_chunks::<LANES>().0);
    let usual = widths.first().map_or(0.0, |some| largest(*some).sqrt());
    let slope = if usual > 0.0 { 0.5 * scale / usual } else { 0.0 };
    let mut best: Lane = [f64::NEG_INFINITY; LANES];
    for (m, w) in means.iter().zip(widths) {
        for l in 0..LANES {
            best[l] = larger(best[l], m[l] + slope * w[l]);
        }
    }
    let best = largest(best);
    for (block, (m, w)) in means.iter().zip(widths).enumerate() {
        let mut attains = false;
        for l in 0..LANES {
            attains |= m[l] + slope * w[l] >= best;
        }
        if attains {
            let lane = (0..LANES).find(|l| m[*l] + slope * w[*l] >= best);
            return block * LANES + lane.unwrap_or(0);
        }
    }
    0
}

/// Adds to `found`, in order, every action with `mean + √β·√width_sq ≥ threshold`, up to rounding,
/// until there are more than `most`.
#[inline(always)]
pub(in crate::linalg) fn reaching(
    mean: &[f64],
    width_sq: &[f64],
    sqrt_beta: f64,
    threshold: f64,
    most: usize,
    found: &mut Vec<usize>,
) {
    let beta = sqrt_beta * sqrt_beta;
    let (means, mean_rest) = mean.as_chunks::<LANES>();
    let (widths, width_sq_rest) = width_sq.as_chunks::<LANES>();
    for (block, (mean, width_sq)) in means.iter().zip(widths).enumerate() {
        let mut hope = false;
        for l in 0..LANES {
            let gap = larger(threshold - mean[l], 0.0);
            hope |= gap * gap <= beta * width_sq[l];
        }
        if hope {
            add_reaching(mean, width_sq, beta, threshold, block * LANES, found);
            if found.len() > most {
                return;
            }
        }
    }
    add_reaching(mean_rest, width_sq_rest, beta, threshold, means.len() * LANES, found);
}

#[inline(always)]
fn add_reaching(
    mean: &[f64],
    width_sq: &[f64],
    beta: f64,
    threshold: f64,
    first: usize,
    found: &mut Vec<usize>,
) {
    for (l, (mean, width_sq)) in mean.iter().zip(width_sq).enumerate() {
        let gap = larger(threshold - mean, 0.0);
        if gap * gap <= beta * width_sq {
            found.push(first + l);
        }
    }
}

/// The same of fewer than fill a block, one by one.
#[inline(always)]
fn widest_of_a_handful(mean: &[f64], width_sq: &[f64], sqrt_beta: f64) -> usize {
    let (mut half_width, mut lower) = ([0.0; LANES], f64::NEG_INFINITY);
    for ((half_width, mean), width_sq) in half_width.iter_mut().zip(mean).zip(width_sq) {
        *half_width = sqrt_beta * width_sq.sqrt();
        lower = larger(lower, mean - *half_width);
    }
    let (mut chosen, mut widest) = (0, f64::NEG_INFINITY);
    for (at, ((half_width, mean), width_sq)) in
        half_width.iter().zip(mean).zip(width_sq).enumerate()
    {
        if *width_sq > widest && mean + half_width >= lower {
            (chosen, widest) = (at, *width_sq);
        }
    }
    chosen
}

/// Looks at eight actions at a time, from the one at a position, and asks `ALL` of them by the root
/// or those that squares leave in question. A trait and not a closure, which could not be forced
/// inline.
trait Scan {
    fn look(&mut self, mean: &Lane, width_sq: &Lane, at: usize);
}

/// Looks at some first, and then at all the others in order.
#[inline(always)]
fn scan(mean: &[f64], width_sq: &[f64], first: usize, scan: &mut impl Scan) {
    let (means, rest) = mean.as_chunks::<LANES>();
    let widths = width_sq.as_chunks::<LANES>().0;
    if let (Some(mean), Some(width_sq)) = (
        mean.get(first..).and_then(<[f64]>::first_chunk),
        width_sq.get(first..).and_then(<[f64]>::first_chunk),
    ) {
        scan.look(mean, width_sq, first);
    }
    for (block, (mean, width_sq)) in means.iter().zip(widths).enumerate() {
        if block * LANES != first {
            scan.look(mean, width_sq, block * LANES);
        }
    }
    if rest.is_empty() {
        return;
    }
    if let (Some(last), Some(last_width_sq)) = (mean.last_chunk(), width_sq.last_chunk()) {
        // The last eight: some of them once more, which changes nothing.
        scan.look(last, last_width_sq, mean.len() - LANES);
    } else {
        // What is not there has no hope.
        let (mut few, mut few_width_sq) = ([f64::NEG_INFINITY; LANES], [0.0; LANES]);
        for (l, (mean, width_sq)) in mean.iter().zip(width_sq).enumerate() {
            (few[l], few_width_sq[l]) = (*mean, *width_sq);
        }
        scan.look(&few, &few_width_sq, 0);
    }
}

struct LargestLower<const ALL: bool> {
    sqrt_beta: f64,
    best: f64,
    at: usize,
}

impl<const ALL: bool> Scan for LargestLower<ALL> {
    #[inline(always)]
    fn look(&mut self, mean: &Lane, width_sq: &Lane, at: usize) {
        let below = just_below(self.best);
        // A lower bound is below its mean, and most means are below the best of them.
        let mut above = ALL;
        for mean in mean {
            above |= *mean > below;
        }
        if !above {
            return;
        }
        let beta = self.sqrt_beta * self.sqrt_beta * (1.0 - SLACK);
        let mut hope = ALL;
        for l in 0..LANES {
            let gap = mean[l] - below;
            hope |= (gap > 0.0) & (gap * gap >= beta * width_sq[l]);
        }
        if hope {
            let mut lower: Lane = [0.0; LANES];
            for l in 0..LANES {
                lower[l] = mean[l] - self.sqrt_beta * width_sq[l].sqrt();
            }
            let lower = largest(lower);
            if lower > self.best {
                (self.best, self.at) = (lower, at);
            }
        }
    }
}

/// The largest number of eight and where they begin: the first of them that attains it.
struct Best {
    value: f64,
    lanes: Lane,
    at: usize,
}

impl Default for Best {
    #[inline(always)]
    fn default() -> Self {
        Self { value: f64::NEG_INFINITY, lanes: [f64::NEG_INFINITY; LANES], at: usize::MAX }
    }
}

impl Best {
    #[inline(always)]
    fn consider(&mut self, lanes: Lane, at: usize) {
        let value = largest(lanes);
        if value > self.value || value >= self.value && at < self.at {
            *self = Self { value, lanes, at };
        }
    }

    #[inline(always)]
    fn index(&self) -> usize {
        let lane = self.lanes.iter().position(|lane| *lane >= self.value);
        self.at + lane.unwrap_or(0)
    }
}

struct Widest<const ALL: bool> {
    sqrt_beta: f64,
    /// What an upper bound must reach.
    threshold: f64,
    best: Best,
}

impl<const ALL: bool> Scan for Widest<ALL> {
    #[inline(always)]
    fn look(&mut self, mean: &Lane, width_sq: &Lane, at: usize) {
        let (below, beta) =
            (just_below(self.threshold), self.sqrt_beta * self.sqrt_beta * (1.0 + SLACK));
        let mut hope = ALL;
        for l in 0..LANES {
            let gap = larger(below - mean[l], 0.0);
            hope |= (width_sq[l] >= self.best.value) & (gap * gap <= beta * width_sq[l]);
        }
        if hope {
            let mut wide: Lane = [0.0; LANES];
            for l in 0..LANES {
                let upper = mean[l] + self.sqrt_beta * width_sq[l].sqrt();
                wide[l] = if upper >= self.threshold { width_sq[l] } else { f64::NEG_INFINITY };
            }
            self.best.consider(wide, at);
        }
    }
}

struct LargestUpper<const ALL: bool> {
    sqrt_beta: f64,
    best: Best,
}

impl<const ALL: bool> Scan for LargestUpper<ALL> {
    #[inline(always)]
    fn look(&mut self, mean: &Lane, width_sq: &Lane, at: usize) {
        let (below, beta) =
            (just_below(self.best.value), self.sqrt_beta * self.sqrt_beta * (1.0 + SLACK));
        let mut hope = ALL;
        for l in 0..LANES {
            let gap = larger(below - mean[l], 0.0);
            hope |= gap * gap <= beta * width_sq[l];
        }
        if hope {
            let mut upper: Lane = [0.0; LANES];
            for l in 0..LANES {
                upper[l] = mean[l] + self.sqrt_beta * width_sq[l].sqrt();
            }
            self.best.consider(upper, at);
        }
    }
}
