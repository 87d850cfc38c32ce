//! The loops that touch every action, written once and compiled once per instruction set by [`super::dispatch`].
//!
//! Each body is `#[inline(always)]`, so it takes on the vector width of the function that calls it. None of them may
//! contain a reduction whose order depends on that width: maxima are exact in any order, and sums run over the
//! dimensions inside one lane.
#![expect(
    clippy::inline_always,
    reason = "a body takes the instruction set of its caller only if it is inlined"
)]

/// Actions per block: one AVX-512 register, two AVX2 ones, four SSE2 ones.
pub(crate) const LANES: usize = 8;

type Lane = [f64; LANES];

/// Means and squared widths of every action from scratch: `⟨a, θ̂⟩` and `aᵀV⁻¹a`, O(K·d²/2) by symmetry.
#[inline(always)]
pub(super) fn rebuild(
    blocks: &[f64],
    theta_hat: &[f64],
    gram_inverse: &[f64],
    mean: &mut [f64],
    width_sq: &mut [f64],
) {
    each_block(blocks, mean, width_sq, &Rebuild { theta_hat, gram_inverse });
}

struct Rebuild<'a> {
    theta_hat: &'a [f64],
    gram_inverse: &'a [f64],
}

impl BlockKernel for Rebuild<'_> {
    fn dim(&self) -> usize {
        self.theta_hat.len()
    }

    #[inline(always)]
    fn run(&self, block: &[Lane], mean: &mut Lane, width_sq: &mut Lane) {
        *mean = block_dot(block, self.theta_hat);
        *width_sq = block_quadratic(block, self.gram_inverse);
    }
}

/// The same scores one observation later, O(K·d).
///
/// With `v = V⁻¹x/√(1 + xᵀV⁻¹x)` and `s = ⟨a, v⟩`: `mean += gain·s` and `width_sq −= s²`.
#[inline(always)]
pub(super) fn refresh(blocks: &[f64], direction: &[f64], gain: f64, mean: &mut [f64], width_sq: &mut [f64]) {
    each_block(blocks, mean, width_sq, &Refresh { direction, gain });
}

struct Refresh<'a> {
    direction: &'a [f64],
    gain: f64,
}

impl BlockKernel for Refresh<'_> {
    fn dim(&self) -> usize {
        self.direction.len()
    }

    #[inline(always)]
    fn run(&self, block: &[Lane], mean: &mut Lane, width_sq: &mut Lane) {
        let s = block_dot(block, self.direction);
        for l in 0..LANES {
            mean[l] += self.gain * s[l];
            // The subtraction can leave −1e-17 for an action played very often; the true width is never negative.
            width_sq[l] = larger(width_sq[l] - s[l] * s[l], 0.0);
        }
    }
}

/// Copies rows into blocks of lanes; returns whether all entries are at most `most` in magnitude, which no NaN is.
#[inline(always)]
pub(super) fn interleave(rows: &[f64], blocks: &mut [f64], dim: usize, most: f64) -> bool {
    let size = LANES * dim;
    let mut within = [1_u64; LANES];
    let whole = rows.len() / size * size;
    for (rows, block) in rows[..whole].chunks_exact(size).zip(blocks.chunks_exact_mut(size)) {
        let lanes: [&[f64]; LANES] = std::array::from_fn(|lane| &rows[lane * dim..(lane + 1) * dim]);
        for (j, slots) in block.as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
            *slots = std::array::from_fn(|lane| lanes[lane][j]);
            for l in 0..LANES {
                within[l] &= u64::from(slots[l].abs() <= most);
            }
        }
    }
    let mut within = within == [1; LANES];
    let (rest, block) = (&rows[whole..], &mut blocks[whole..]);
    for (lane, row) in rest.chunks_exact(dim).enumerate() {
        for (slot, &x) in block[lane..].iter_mut().step_by(LANES).zip(row) {
            *slot = x;
            within &= x.abs() <= most;
        }
    }
    within
}

/// `⟨a, θ⟩` for every action.
#[inline(always)]
pub(super) fn dots(blocks: &[f64], theta: &[f64], out: &mut [f64]) {
    let mut blocks = blocks.as_chunks::<LANES>().0.chunks_exact(theta.len());
    let (lanes, rest) = out.as_chunks_mut::<LANES>();
    for (out, block) in lanes.iter_mut().zip(&mut blocks) {
        *out = block_dot(block, theta);
    }
    if let Some(block) = blocks.next() {
        rest.copy_from_slice(&block_dot(block, theta)[..rest.len()]);
    }
}

/// Fills `half_width = √β·√width_sq` and returns the largest lower bound `mean − half_width`.
#[inline(always)]
pub(super) fn bound(mean: &[f64], width_sq: &[f64], sqrt_beta: f64, half_width: &mut [f64]) -> f64 {
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
pub(super) fn widest(mean: &[f64], width_sq: &[f64], half_width: &[f64], threshold: f64) -> f64 {
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
pub(super) fn tempered(mean: &[f64], half_width: &[f64], greed: f64, threshold: f64) -> f64 {
    let (mean, mean_rest) = mean.as_chunks::<LANES>();
    let (half_width, half_width_rest) = half_width.as_chunks::<LANES>();
    let mut best: Lane = [f64::NEG_INFINITY; LANES];
    for (m, h) in mean.iter().zip(half_width) {
        for l in 0..LANES {
            let candidate = if m[l] + h[l] >= threshold { greed * m[l] + h[l] } else { f64::NEG_INFINITY };
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

/// The largest upper bound `mean + √β·√width_sq`.
#[inline(always)]
pub(super) fn largest_upper(mean: &[f64], width_sq: &[f64], sqrt_beta: f64) -> f64 {
    let (mean, mean_rest) = mean.as_chunks::<LANES>();
    let (width_sq, width_sq_rest) = width_sq.as_chunks::<LANES>();
    let mut best: Lane = [f64::NEG_INFINITY; LANES];
    for (m, w) in mean.iter().zip(width_sq) {
        for l in 0..LANES {
            best[l] = larger(best[l], m[l] + sqrt_beta * w[l].sqrt());
        }
    }
    let mut best = largest(best);
    for (m, w) in mean_rest.iter().zip(width_sq_rest) {
        best = larger(best, m + sqrt_beta * w.sqrt());
    }
    best
}

/// What the model error needs of one round, over the plausible actions only.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlausibleSummary {
    /// The largest `(mean − truth)²`.
    pub error_sq: f64,
    /// The largest `width_sq`.
    pub width_sq: f64,
    /// How many actions are plausible.
    pub count: usize,
}

/// Squared estimation error, width and size of the plausible set, in one pass.
#[inline(always)]
pub(super) fn plausible_summary(
    mean: &[f64],
    width_sq: &[f64],
    half_width: &[f64],
    truth: &[f64],
    threshold: f64,
) -> PlausibleSummary {
    let (mean, mean_rest) = mean.as_chunks::<LANES>();
    let (width_sq, width_sq_rest) = width_sq.as_chunks::<LANES>();
    let (half_width, half_width_rest) = half_width.as_chunks::<LANES>();
    let (truth, truth_rest) = truth.as_chunks::<LANES>();
    let mut error: Lane = [0.0; LANES];
    let mut width: Lane = [0.0; LANES];
    let mut count: Lane = [0.0; LANES];
    for (((m, w), h), t) in mean.iter().zip(width_sq).zip(half_width).zip(truth) {
        // The mask as a factor and in f64: branches or integer lanes would keep this from being vectorised. No product is
        // 0·∞, since an infinite width makes an action plausible; the count is exact below 2^53.
        let mut plausible: Lane = [0.0; LANES];
        for l in 0..LANES {
            plausible[l] = if m[l] + h[l] >= threshold { 1.0 } else { 0.0 };
        }
        for l in 0..LANES {
            let miss = m[l] - t[l];
            error[l] = larger(error[l], plausible[l] * (miss * miss));
            width[l] = larger(width[l], plausible[l] * w[l]);
            count[l] += plausible[l];
        }
    }
    let (mut error, mut width) = (largest(error), largest(width));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of actions")]
    let mut count = count.iter().sum::<f64>() as usize;
    for (((m, w), h), t) in mean_rest.iter().zip(width_sq_rest).zip(half_width_rest).zip(truth_rest) {
        if m + h >= threshold {
            let miss = m - t;
            error = larger(error, miss * miss);
            width = larger(width, *w);
            count += 1;
        }
    }
    PlausibleSummary { error_sq: error, width_sq: width, count }
}

/// `out = M·x` for a symmetric `M`, as a sum of scaled rows: every entry of `out` sums over `x` in order.
#[inline(always)]
pub(super) fn symmetric_product(matrix: &[f64], x: &[f64], out: &mut [f64]) {
    out.fill(0.0);
    for (row, &scale) in matrix.chunks_exact(x.len()).zip(x) {
        for (out, entry) in out.iter_mut().zip(row) {
            *out += scale * entry;
        }
    }
}

/// `M −= v·vᵀ`. The product `vᵢ·vⱼ` commutes in floating point, so a symmetric `M` stays exactly symmetric.
#[inline(always)]
pub(super) fn subtract_outer(matrix: &mut [f64], v: &[f64]) {
    for (row, &scale) in matrix.chunks_exact_mut(v.len()).zip(v) {
        for (entry, other) in row.iter_mut().zip(v) {
            *entry -= scale * other;
        }
    }
}

/// `(sum, carry) += x·xᵀ` on and above the diagonal, the rounding error of each addition kept in `carry`.
#[inline(always)]
pub(super) fn add_upper_outer(sum: &mut [f64], carry: &mut [f64], x: &[f64]) {
    let rows = sum.chunks_exact_mut(x.len()).zip(carry.chunks_exact_mut(x.len()));
    for (i, (sum, carry)) in rows.enumerate() {
        add_scaled(&mut sum[i..], &mut carry[i..], x[i], &x[i..]);
    }
}

/// `(sum, carry) += scale·x`, by Neumaier's two-sum.
#[inline(always)]
pub(super) fn add_scaled(sum: &mut [f64], carry: &mut [f64], scale: f64, x: &[f64]) {
    for ((sum, carry), x) in sum.iter_mut().zip(carry).zip(x) {
        let term = scale * x;
        let total = *sum + term;
        let back = total - *sum;
        *carry += (*sum - (total - back)) + (term - back);
        *sum = total;
    }
}

/// What to do with one block of actions. A trait and not a closure: a closure cannot be forced inline, and one that is not
/// runs with the baseline instruction set, whatever calls it.
trait BlockKernel {
    fn dim(&self) -> usize;
    fn run(&self, block: &[Lane], mean: &mut Lane, width_sq: &mut Lane);
}

/// Runs a kernel on every block of actions with its means and widths; the last block may be partly filled.
#[inline(always)]
fn each_block(blocks: &[f64], mean: &mut [f64], width_sq: &mut [f64], kernel: &impl BlockKernel) {
    let mut blocks = blocks.as_chunks::<LANES>().0.chunks_exact(kernel.dim());
    let (mean, mean_rest) = mean.as_chunks_mut::<LANES>();
    let (width_sq, width_sq_rest) = width_sq.as_chunks_mut::<LANES>();
    for ((mean, width_sq), block) in mean.iter_mut().zip(width_sq).zip(&mut blocks) {
        kernel.run(block, mean, width_sq);
    }
    if let Some(block) = blocks.next() {
        let filled = mean_rest.len();
        let (mut mean, mut width_sq) = ([0.0; LANES], [0.0; LANES]);
        mean[..filled].copy_from_slice(mean_rest);
        width_sq[..filled].copy_from_slice(width_sq_rest);
        kernel.run(block, &mut mean, &mut width_sq);
        mean_rest.copy_from_slice(&mean[..filled]);
        width_sq_rest.copy_from_slice(&width_sq[..filled]);
    }
}

/// `Σⱼ xⱼ·yⱼ` in each lane.
#[inline(always)]
fn block_dot(block: &[Lane], y: &[f64]) -> Lane {
    block_dots([block], y)[0]
}

/// The same of several blocks, whose sums run side by side: a single sum would wait for each of its additions.
#[inline(always)]
fn block_dots<const N: usize>(blocks: [&[Lane]; N], y: &[f64]) -> [Lane; N] {
    let blocks = blocks.map(|block| &block[..y.len()]);
    let mut sums = [[0.0; LANES]; N];
    for (j, &y) in y.iter().enumerate() {
        for (sum, block) in sums.iter_mut().zip(&blocks) {
            for l in 0..LANES {
                sum[l] += block[j][l] * y;
            }
        }
    }
    sums
}

/// `Σᵢ xᵢ·(Mᵢᵢxᵢ + 2·Σ_{j<i} Mᵢⱼxⱼ)` in each lane: half the products of the full double sum.
#[inline(always)]
fn block_quadratic(block: &[Lane], matrix: &[f64]) -> Lane {
    let mut total = [0.0; LANES];
    // With few rows the sums of several blocks overlap by themselves.
    let whole = if block.len() < 2 * TILE { 0 } else { block.len() / TILE * TILE };
    for first in (0..whole).step_by(TILE) {
        add_rows::<TILE>(&mut total, block, matrix, first);
    }
    for i in whole..block.len() {
        add_rows::<1>(&mut total, block, matrix, i);
    }
    // A quadratic form of a positive matrix; rounding alone can make it negative.
    total.map(|value| larger(value, 0.0))
}

/// Rows of the matrix whose sums run side by side: a single sum would wait for each of its additions.
const TILE: usize = 4;

/// What `N` rows add to the form, from row `first`. Each of their sums runs over the dimensions in order, as if it were alone.
#[inline(always)]
fn add_rows<const N: usize>(total: &mut Lane, block: &[Lane], matrix: &[f64], first: usize) {
    let dim = block.len();
    let rows: [&[f64]; N] = std::array::from_fn(|r| &matrix[(first + r) * dim..][..first + N]);
    let (before, own) = block[..first + N].split_at(first);
    let mut below = [[0.0; LANES]; N];
    for (j, x) in before.iter().enumerate() {
        for r in 0..N {
            for l in 0..LANES {
                below[r][l] += x[l] * rows[r][j];
            }
        }
    }
    for r in 0..N {
        let own_row = &rows[r][first..];
        for c in 0..r {
            for l in 0..LANES {
                below[r][l] += own[c][l] * own_row[c];
            }
        }
        for l in 0..LANES {
            total[l] += own[r][l] * (own_row[r] * own[r][l] + 2.0 * below[r][l]);
        }
    }
}

/// `f64::max` without its NaN rules, which cost two instructions; no NaN can reach a score.
#[inline(always)]
fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

#[inline(always)]
fn largest(lanes: Lane) -> f64 {
    lanes.into_iter().fold(f64::NEG_INFINITY, larger)
}
