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
    let dim = theta_hat.len();
    for ((block, mean), width_sq) in
        blocks.chunks_exact(dim * LANES).zip(mean.chunks_mut(LANES)).zip(width_sq.chunks_mut(LANES))
    {
        store(mean, block_dot(block, theta_hat));
        store(width_sq, block_quadratic(block, gram_inverse, dim));
    }
}

/// The same scores one observation later, O(K·d).
///
/// With `v = V⁻¹x/√(1 + xᵀV⁻¹x)` and `s = ⟨a, v⟩`: `mean += gain·s` and `width_sq −= s²`.
#[inline(always)]
pub(super) fn refresh(blocks: &[f64], direction: &[f64], gain: f64, mean: &mut [f64], width_sq: &mut [f64]) {
    let dim = direction.len();
    for ((block, mean), width_sq) in
        blocks.chunks_exact(dim * LANES).zip(mean.chunks_mut(LANES)).zip(width_sq.chunks_mut(LANES))
    {
        let s = block_dot(block, direction);
        let mut m = load(mean);
        let mut w = load(width_sq);
        for l in 0..LANES {
            m[l] += gain * s[l];
            // The subtraction can leave −1e-17 for an action played very often; the true width is never negative.
            w[l] = larger(w[l] - s[l] * s[l], 0.0);
        }
        store(mean, m);
        store(width_sq, w);
    }
}

/// `⟨a, θ⟩` for every action.
#[inline(always)]
pub(super) fn dots(blocks: &[f64], theta: &[f64], out: &mut [f64]) {
    let dim = theta.len();
    for (block, out) in blocks.chunks_exact(dim * LANES).zip(out.chunks_mut(LANES)) {
        store(out, block_dot(block, theta));
    }
}

/// Fills `half_width = √β·√width_sq` and returns the largest lower bound `mean − half_width`.
#[inline(always)]
pub(super) fn bound(mean: &[f64], width_sq: &[f64], sqrt_beta: f64, half_width: &mut [f64]) -> f64 {
    let mut best = [f64::NEG_INFINITY; LANES];
    let full = mean.len() - mean.len() % LANES;
    for start in (0..full).step_by(LANES) {
        let m: &Lane = lane(mean, start);
        let w: &Lane = lane(width_sq, start);
        let h: &mut Lane = lane_mut(half_width, start);
        for l in 0..LANES {
            h[l] = sqrt_beta * w[l].sqrt();
            best[l] = larger(best[l], m[l] - h[l]);
        }
    }
    let mut best = largest(best);
    for i in full..mean.len() {
        half_width[i] = sqrt_beta * width_sq[i].sqrt();
        best = larger(best, mean[i] - half_width[i]);
    }
    best
}

/// The largest `width_sq` among the actions with `mean + half_width ≥ threshold`.
#[inline(always)]
pub(super) fn widest(mean: &[f64], width_sq: &[f64], half_width: &[f64], threshold: f64) -> f64 {
    let mut best = [f64::NEG_INFINITY; LANES];
    let full = mean.len() - mean.len() % LANES;
    for start in (0..full).step_by(LANES) {
        let m: &Lane = lane(mean, start);
        let w: &Lane = lane(width_sq, start);
        let h: &Lane = lane(half_width, start);
        for l in 0..LANES {
            let candidate = if m[l] + h[l] >= threshold { w[l] } else { f64::NEG_INFINITY };
            best[l] = larger(best[l], candidate);
        }
    }
    let mut best = largest(best);
    for i in full..mean.len() {
        if mean[i] + half_width[i] >= threshold {
            best = larger(best, width_sq[i]);
        }
    }
    best
}

/// The largest upper bound `mean + √β·√width_sq`.
#[inline(always)]
pub(super) fn largest_upper(mean: &[f64], width_sq: &[f64], sqrt_beta: f64) -> f64 {
    let mut best = [f64::NEG_INFINITY; LANES];
    let full = mean.len() - mean.len() % LANES;
    for start in (0..full).step_by(LANES) {
        let m: &Lane = lane(mean, start);
        let w: &Lane = lane(width_sq, start);
        for l in 0..LANES {
            best[l] = larger(best[l], m[l] + sqrt_beta * w[l].sqrt());
        }
    }
    let mut best = largest(best);
    for i in full..mean.len() {
        best = larger(best, mean[i] + sqrt_beta * width_sq[i].sqrt());
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
    let mut error = [0.0; LANES];
    let mut width = [0.0; LANES];
    // Counted in f64 lanes: integer lanes of another width would make the compiler shuffle. Exact below 2^53.
    let mut count = [0.0; LANES];
    let full = mean.len() - mean.len() % LANES;
    for start in (0..full).step_by(LANES) {
        let m: &Lane = lane(mean, start);
        let w: &Lane = lane(width_sq, start);
        let h: &Lane = lane(half_width, start);
        let t: &Lane = lane(truth, start);
        for l in 0..LANES {
            let plausible = m[l] + h[l] >= threshold;
            let miss = m[l] - t[l];
            error[l] = larger(error[l], if plausible { miss * miss } else { 0.0 });
            width[l] = larger(width[l], if plausible { w[l] } else { 0.0 });
            count[l] += if plausible { 1.0 } else { 0.0 };
        }
    }
    let (mut error, mut width) = (largest(error), largest(width));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of actions")]
    let mut count = count.iter().sum::<f64>() as usize;
    for i in full..mean.len() {
        if mean[i] + half_width[i] >= threshold {
            let miss = mean[i] - truth[i];
            error = larger(error, miss * miss);
            width = larger(width, width_sq[i]);
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

/// `(sum, carry) += x·xᵀ`, the rounding error of each addition kept in `carry` (Neumaier's two-sum).
#[inline(always)]
pub(super) fn add_outer(sum: &mut [f64], carry: &mut [f64], x: &[f64]) {
    for ((sum, carry), &scale) in sum.chunks_exact_mut(x.len()).zip(carry.chunks_exact_mut(x.len())).zip(x) {
        for ((sum, carry), other) in sum.iter_mut().zip(carry).zip(x) {
            let term = scale * other;
            let total = *sum + term;
            let back = total - *sum;
            *carry += (*sum - (total - back)) + (term - back);
            *sum = total;
        }
    }
}

/// `Σⱼ xⱼ·yⱼ` in each lane.
#[inline(always)]
fn block_dot(block: &[f64], y: &[f64]) -> Lane {
    let mut sum = [0.0; LANES];
    for (x, &y) in block.chunks_exact(LANES).zip(y) {
        for l in 0..LANES {
            sum[l] += x[l] * y;
        }
    }
    sum
}

/// `Σᵢ xᵢ·(Mᵢᵢxᵢ + 2·Σ_{j<i} Mᵢⱼxⱼ)` in each lane: half the products of the full double sum.
#[inline(always)]
fn block_quadratic(block: &[f64], matrix: &[f64], dim: usize) -> Lane {
    let mut total = [0.0; LANES];
    for (i, row) in matrix.chunks_exact(dim).enumerate() {
        let below = block_dot(block, &row[..i]);
        let x: &Lane = lane(block, i * LANES);
        for l in 0..LANES {
            total[l] += x[l] * (row[i] * x[l] + 2.0 * below[l]);
        }
    }
    for value in &mut total {
        // A quadratic form of a positive matrix; rounding alone can make it negative.
        *value = larger(*value, 0.0);
    }
    total
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

#[inline(always)]
fn lane(values: &[f64], start: usize) -> &Lane {
    values[start..].first_chunk().expect("a full lane")
}

#[inline(always)]
fn lane_mut(values: &mut [f64], start: usize) -> &mut Lane {
    values[start..].first_chunk_mut().expect("a full lane")
}

/// Reads up to a lane; the last block of a set may be partly filled.
#[inline(always)]
fn load(values: &[f64]) -> Lane {
    let mut lane = [0.0; LANES];
    if let Some(full) = values.first_chunk() {
        lane = *full;
    } else {
        lane[..values.len()].copy_from_slice(values);
    }
    lane
}

#[inline(always)]
fn store(values: &mut [f64], lane: Lane) {
    if let Some(full) = values.first_chunk_mut() {
        *full = lane;
    } else {
        let len = values.len();
        values.copy_from_slice(&lane[..len]);
    }
}
