//! Scores of all actions, block by block.

use super::{LANES, Lane, larger};

/// Means and squared widths of every action from scratch: `⟨a, θ̂⟩` and `aᵀV⁻¹a`, O(K·d²/2) by
/// symmetry.
#[inline(always)]
pub(super) fn rebuild(
    blocks: &[f64],
    theta_hat: &[f64],
    gram_inverse: &[f64],
    mean: &mut [f64],
    width_sq: &mut [f64],
) {
    match theta_hat.len() {
        1 => rebuild_few::<1>(blocks, theta_hat, gram_inverse, mean, width_sq),
        2 => rebuild_few::<2>(blocks, theta_hat, gram_inverse, mean, width_sq),
        3 => rebuild_few::<3>(blocks, theta_hat, gram_inverse, mean, width_sq),
        4 => rebuild_few::<4>(blocks, theta_hat, gram_inverse, mean, width_sq),
        5 => rebuild_few::<5>(blocks, theta_hat, gram_inverse, mean, width_sq),
        6 => rebuild_few::<6>(blocks, theta_hat, gram_inverse, mean, width_sq),
        7 => rebuild_few::<7>(blocks, theta_hat, gram_inverse, mean, width_sq),
        8 => rebuild_few::<8>(blocks, theta_hat, gram_inverse, mean, width_sq),
        dim => each_block(dim, blocks, mean, width_sq, &Rebuild { theta_hat, gram_inverse }),
    }
}

/// The same in few dimensions, known to the compiler: a loop over five numbers costs more than what
/// it does.
#[inline(always)]
fn rebuild_few<const D: usize>(
    blocks: &[f64],
    theta_hat: &[f64],
    gram_inverse: &[f64],
    mean: &mut [f64],
    width_sq: &mut [f64],
) {
    let (theta_hat, rows) = (&theta_hat[..D], &gram_inverse.as_chunks::<D>().0[..D]);
    // Twice what is off the diagonal, to the same bits as twice its sums.
    let mut matrix = [[0.0; D]; D];
    for i in 0..D {
        for j in 0..D {
            matrix[i][j] = if i == j { rows[i][j] } else { 2.0 * rows[i][j] };
        }
    }
    let blocks = blocks.as_chunks::<LANES>().0.as_chunks::<D>().0;
    let (means, mean) = mean.as_chunks_mut::<LANES>();
    let (widths, width_sq) = width_sq.as_chunks_mut::<LANES>();
    for ((mean, width_sq), block) in means.iter_mut().zip(widths).zip(blocks) {
        (*mean, *width_sq) = scores_of(block, theta_hat, &matrix);
    }
    if !mean.is_empty() {
        let (means, widths) = scores_of(&blocks[means.len()], theta_hat, &matrix);
        mean.copy_from_slice(&means[..mean.len()]);
        width_sq.copy_from_slice(&widths[..width_sq.len()]);
    }
}

/// The means and squared widths of a block.
#[inline(always)]
fn scores_of<const D: usize>(
    block: &[Lane; D],
    theta_hat: &[f64],
    matrix: &[[f64; D]; D],
) -> (Lane, Lane) {
    let (mut mean, mut width_sq) = ([0.0; LANES], [0.0; LANES]);
    for i in 0..D {
        let mut sum = [0.0; LANES];
        for l in 0..LANES {
            sum[l] = block[0][l] * matrix[i][0];
        }
        // Runs to `D` and skips by a branch: the compiler unrolls a loop of constant length.
        for j in 1..D {
            if j <= i {
                for l in 0..LANES {
                    sum[l] += block[j][l] * matrix[i][j];
                }
            }
        }
        for l in 0..LANES {
            mean[l] += block[i][l] * theta_hat[i];
            width_sq[l] += block[i][l] * sum[l];
        }
    }
    // A quadratic form of a positive matrix; rounding alone can make it negative.
    (mean, width_sq.map(|value| larger(value, 0.0)))
}

struct Rebuild<'a> {
    theta_hat: &'a [f64],
    gram_inverse: &'a [f64],
}

impl BlockKernel for Rebuild<'_> {
    /// The mean and the squared width.
    #[inline(always)]
    fn find<const N: usize>(&self, blocks: [&[Lane]; N]) -> [[Lane; N]; 2] {
        let mean = block_dots(blocks, self.theta_hat);
        let mut width_sq = [[0.0; LANES]; N];
        for n in 0..N {
            width_sq[n] = block_quadratic(blocks[n], self.gram_inverse);
        }
        [mean, width_sq]
    }

    #[inline(always)]
    fn set(&self, found: [f64; 2], mean: &mut f64, width_sq: &mut f64) {
        [*mean, *width_sq] = found;
    }
}

/// The same scores one observation later, O(K·d).
///
/// With `v = V⁻¹x/√(1 + xᵀV⁻¹x)` and `s = ⟨a, v⟩`: `mean += gain·s` and `width_sq −= s²`.
#[inline(always)]
pub(super) fn refresh(
    blocks: &[f64],
    direction: &[f64],
    gain: f64,
    mean: &mut [f64],
    width_sq: &mut [f64],
) {
    each_block(direction.len(), blocks, mean, width_sq, &Refresh { direction, gain });
}

struct Refresh<'a> {
    direction: &'a [f64],
    gain: f64,
}

impl BlockKernel for Refresh<'_> {
    /// `s`, for both.
    #[inline(always)]
    fn find<const N: usize>(&self, blocks: [&[Lane]; N]) -> [[Lane; N]; 2] {
        [block_dots(blocks, self.direction); 2]
    }

    #[inline(always)]
    fn set(&self, [s, _]: [f64; 2], mean: &mut f64, width_sq: &mut f64) {
        *mean += self.gain * s;
        // The subtraction can leave −1e-17 for an action played very often; the true width is never
        // negative.
        *width_sq = larger(*width_sq - s * s, 0.0);
    }
}

/// Means of every action and `Σ aᵢ²·limitᵢ`, O(K·d).
#[inline(always)]
pub(super) fn limit(
    blocks: &[f64],
    theta_hat: &[f64],
    limits: &[f64],
    mean: &mut [f64],
    width_sq: &mut [f64],
) {
    each_block(theta_hat.len(), blocks, mean, width_sq, &Limit { theta_hat, limits });
}

struct Limit<'a> {
    theta_hat: &'a [f64],
    limits: &'a [f64],
}

impl BlockKernel for Limit<'_> {
    /// The mean and the sum.
    #[inline(always)]
    fn find<const N: usize>(&self, blocks: [&[Lane]; N]) -> [[Lane; N]; 2] {
        let (mut mean, mut sum) = ([[0.0; LANES]; N], [[0.0; LANES]; N]);
        let blocks = blocks.map(|block| &block[..self.theta_hat.len()]);
        for (j, (theta, limit)) in self.theta_hat.iter().zip(self.limits).enumerate() {
            for n in 0..N {
                for l in 0..LANES {
                    let x = blocks[n][j][l];
                    mean[n][l] += x * theta;
                    sum[n][l] += x * x * limit;
                }
            }
        }
        [mean, sum]
    }

    #[inline(always)]
    fn set(&self, found: [f64; 2], mean: &mut f64, width_sq: &mut f64) {
        [*mean, *width_sq] = found;
    }
}

/// `⟨a, θ⟩` for every action.
#[inline(always)]
pub(super) fn dots(blocks: &[f64], theta: &[f64], out: &mut [f64]) {
    let blocks = blocks.as_chunks::<LANES>().0;
    let (lanes, rest) = out.as_chunks_mut::<LANES>();
    let (whole, partial) = blocks.split_at(lanes.len() * theta.len());
    let (groups, singles) = lanes.as_chunks_mut::<GROUP>();
    let (grouped, single) = whole.split_at(groups.len() * GROUP * theta.len());
    for (out, group) in groups.iter_mut().zip(grouped.chunks_exact(GROUP * theta.len())) {
        *out = block_dots(members::<GROUP>(group), theta);
    }
    for (out, block) in singles.iter_mut().zip(single.chunks_exact(theta.len())) {
        [*out] = block_dots([block], theta);
    }
    if !rest.is_empty() {
        let [sums] = block_dots([partial], theta);
        rest.copy_from_slice(&sums[..rest.len()]);
    }
}

/// Number of blocks summed side by side. A single sum would wait for each of its additions, and a
/// single stream of features would wait for the memory.
const GROUP: usize = 2;

/// What to do with some blocks of actions. A trait and not closures: a closure cannot be forced
/// inline, and one that is not runs with the baseline instruction set, whatever calls it.
trait BlockKernel {
    /// Two numbers an action.
    fn find<const N: usize>(&self, blocks: [&[Lane]; N]) -> [[Lane; N]; 2];
    /// What they mean for its scores.
    fn set(&self, found: [f64; 2], mean: &mut f64, width_sq: &mut f64);
}

/// Runs a kernel on every block of actions with its means and widths; the last block may be partly
/// filled.
#[inline(always)]
fn each_block(
    dim: usize,
    blocks: &[f64],
    mean: &mut [f64],
    width_sq: &mut [f64],
    kernel: &impl BlockKernel,
) {
    let blocks = blocks.as_chunks::<LANES>().0;
    let (mean, mean_rest) = mean.as_chunks_mut::<LANES>();
    let (width_sq, width_sq_rest) = width_sq.as_chunks_mut::<LANES>();
    let (whole, partial) = blocks.split_at(mean.len() * dim);
    let (means, mean) = mean.as_chunks_mut::<GROUP>();
    let (widths, width_sq) = width_sq.as_chunks_mut::<GROUP>();
    let (grouped, single) = whole.split_at(means.len() * GROUP * dim);
    for ((mean, width_sq), group) in
        means.iter_mut().zip(widths).zip(grouped.chunks_exact(GROUP * dim))
    {
        set_all(kernel, kernel.find(members::<GROUP>(group)), mean, width_sq);
    }
    for ((mean, width_sq), block) in mean.iter_mut().zip(width_sq).zip(single.chunks_exact(dim)) {
        set_all(
            kernel,
            kernel.find([block]),
            std::array::from_mut(mean),
            std::array::from_mut(width_sq),
        );
    }
    if !mean_rest.is_empty() {
        let [[first], [second]] = kernel.find([&partial[..dim]]);
        // Half a block at once, if it has that many.
        let (half, mean_rest) = mean_rest.as_chunks_mut::<{ LANES / 2 }>();
        let (half_widths, width_sq_rest) = width_sq_rest.as_chunks_mut::<{ LANES / 2 }>();
        for (mean, width_sq) in half.iter_mut().zip(half_widths) {
            for l in 0..LANES / 2 {
                kernel.set([first[l], second[l]], &mut mean[l], &mut width_sq[l]);
            }
        }
        let done = half.len() * LANES / 2;
        for (l, (mean, width_sq)) in mean_rest.iter_mut().zip(width_sq_rest).enumerate() {
            kernel.set([first[done + l], second[done + l]], mean, width_sq);
        }
    }
}

#[inline(always)]
fn set_all<const N: usize>(
    kernel: &impl BlockKernel,
    [first, second]: [[Lane; N]; 2],
    mean: &mut [Lane; N],
    width_sq: &mut [Lane; N],
) {
    for n in 0..N {
        for l in 0..LANES {
            kernel.set([first[n][l], second[n][l]], &mut mean[n][l], &mut width_sq[n][l]);
        }
    }
}

/// The blocks of a group.
#[inline(always)]
fn members<const N: usize>(group: &[Lane]) -> [&[Lane]; N] {
    let dim = group.len() / N;
    std::array::from_fn(|n| &group[n * dim..(n + 1) * dim])
}

/// `Σⱼ xⱼ·yⱼ` in each lane of some blocks.
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

/// Number of rows of the matrix summed side by side: a single sum would wait for each of its
/// additions.
const TILE: usize = 4;

/// What `N` rows add to the form, from row `first`. Each of their sums runs over the dimensions in
/// order, as if it were alone.
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
