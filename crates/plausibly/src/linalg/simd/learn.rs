//! What an observation changes in a model.

use crate::linalg::dot;

/// What an observation was to a model.
pub(crate) struct Learned {
    /// `xᵀV⁻¹x`, by the `V⁻¹` before.
    pub(crate) width_sq: f64,
    /// What was added to `θ̂` along the direction of the step.
    pub(crate) gain: f64,
}

/// The step of one observation: with `v = V⁻¹x/√(1 + xᵀV⁻¹x)`, which is left in `direction`, `V⁻¹
/// −= v·vᵀ` and `θ̂ += gain·v`. If `xᵀV⁻¹x` is not finite, nothing is learned.
#[inline(always)]
pub(super) fn take_step(
    gram_inverse: &mut [f64],
    theta_hat: &mut [f64],
    direction: &mut [f64],
    x: &[f64],
    reward: f64,
) -> Learned {
    by_dim!(x.len(), take_step_in(gram_inverse, theta_hat, direction, x, reward))
}

#[inline(always)]
fn take_step_in(
    dim: usize,
    gram_inverse: &mut [f64],
    theta_hat: &mut [f64],
    direction: &mut [f64],
    x: &[f64],
    reward: f64,
) -> Learned {
    let (theta_hat, direction, x) = (&mut theta_hat[..dim], &mut direction[..dim], &x[..dim]);
    let gram_inverse = &mut gram_inverse[..dim * dim];
    symmetric_product(gram_inverse, x, direction);
    let width_sq = dot(x, direction);
    if !width_sq.is_finite() {
        return Learned { width_sq, gain: 0.0 };
    }
    if width_sq <= 0.0 {
        // Zero, or too little beside V for a step to mean anything.
        direction.fill(0.0);
        return Learned { width_sq, gain: 0.0 };
    }
    let root = (1.0 + width_sq).sqrt();
    let gain = (reward - dot(x, theta_hat)) / root;
    for entry in &mut *direction {
        *entry /= root;
    }
    // The product vᵢ·vⱼ commutes in floating point, so V⁻¹ stays exactly symmetric.
    for (row, &scale) in gram_inverse.chunks_exact_mut(dim).zip(&*direction) {
        for (entry, other) in row.iter_mut().zip(&*direction) {
            *entry -= scale * other;
        }
    }
    for (theta, v) in theta_hat.iter_mut().zip(&*direction) {
        *theta += gain * v;
    }
    Learned { width_sq, gain }
}

/// `(sum, carry) += x·xᵀ` on and above the diagonal, the rounding error of each addition kept in
/// `carry`; and likewise `reward·x` to the moment.
#[inline(always)]
pub(super) fn add_observation(
    sum: &mut [f64],
    carry: &mut [f64],
    moment_sum: &mut [f64],
    moment_carry: &mut [f64],
    x: &[f64],
    reward: f64,
) {
    by_dim!(x.len(), add_observation_in(sum, carry, moment_sum, moment_carry, x, reward));
}

#[inline(always)]
fn add_observation_in(
    dim: usize,
    sum: &mut [f64],
    carry: &mut [f64],
    moment_sum: &mut [f64],
    moment_carry: &mut [f64],
    x: &[f64],
    reward: f64,
) {
    let (sum, carry, x) = (&mut sum[..dim * dim], &mut carry[..dim * dim], &x[..dim]);
    for (i, (sum, carry)) in sum.chunks_exact_mut(dim).zip(carry.chunks_exact_mut(dim)).enumerate()
    {
        add_scaled(&mut sum[i..], &mut carry[i..], x[i], &x[i..]);
    }
    add_scaled(&mut moment_sum[..dim], &mut moment_carry[..dim], reward, x);
}

/// From the factor `Lᵀ` of a matrix to that of the matrix and `x·xᵀ`; uses `x` as scratch.
///
/// With `p = L⁻¹x` and `αₖ = 1 + p₁² + … + pₖ²` each row takes a Givens rotation by
/// `cos = √(αₖ₋₁/αₖ)`. The remainder of `x` is kept `√αₖ` times as large, so that the roots and
/// quotients of a row do not wait for those of the row before. Source: Gill, Golub, Murray and
/// Saunders, Methods for modifying matrix factorizations, 1974.
#[inline(always)]
pub(super) fn rotate_in(upper: &mut [f64], x: &mut [f64]) {
    by_dim!(x.len(), rotate_in_of(upper, x));
}

#[inline(always)]
fn rotate_in_of(dim: usize, upper: &mut [f64], x: &mut [f64]) {
    let x = &mut x[..dim];
    let (mut alpha, mut inverse) = (1.0, 1.0);
    for k in 0..dim {
        let row = &mut upper[k * dim..(k + 1) * dim];
        let p = x[k] * (1.0 / row[k]);
        let (next, next_inverse) = (alpha + p * p, 1.0 / (alpha + p * p));
        let cos = (alpha * next_inverse).sqrt();
        let share = p * cos * inverse;
        row[k] *= next * inverse * cos;
        for (entry, x) in row[k + 1..].iter_mut().zip(&mut x[k + 1..]) {
            let rotated = cos * *entry + share * *x;
            *x -= p * *entry;
            *entry = rotated;
        }
        (alpha, inverse) = (next, next_inverse);
    }
}

/// Solves `Lᵀ·z = b` in place.
#[inline(always)]
pub(super) fn solve_upper(upper: &[f64], b: &mut [f64]) {
    by_dim!(b.len(), solve_upper_of(upper, b));
}

#[inline(always)]
fn solve_upper_of(dim: usize, upper: &[f64], b: &mut [f64]) {
    let b = &mut b[..dim];
    for k in (0..dim).rev() {
        let row = &upper[k * dim..(k + 1) * dim];
        let sum = dot(&row[k + 1..], &b[k + 1..]);
        b[k] = (b[k] - sum) / row[k];
    }
}

/// `out = M·x` for a symmetric `M`, as a sum of scaled rows: every entry of `out` sums over `x` in
/// order.
#[inline(always)]
pub(super) fn symmetric_product(matrix: &[f64], x: &[f64], out: &mut [f64]) {
    if x.len() <= 16 {
        // Few enough to be unrolled, and to stay in registers by themselves.
        out.fill(0.0);
        for (row, &scale) in matrix.chunks_exact(x.len()).zip(x) {
            for (out, entry) in out.iter_mut().zip(row) {
                *out += scale * entry;
            }
        }
        return;
    }
    let mut first = 0;
    while first + 16 <= x.len() {
        add_columns::<16>(matrix, x, out, first);
        first += 16;
    }
    if first + 8 <= x.len() {
        add_columns::<8>(matrix, x, out, first);
        first += 8;
    }
    if first + 4 <= x.len() {
        add_columns::<4>(matrix, x, out, first);
        first += 4;
    }
    while first < x.len() {
        add_columns::<1>(matrix, x, out, first);
        first += 1;
    }
}

/// Some entries of the product, whose sums stay in registers.
#[inline(always)]
fn add_columns<const N: usize>(matrix: &[f64], x: &[f64], out: &mut [f64], first: usize) {
    let mut sums = [0.0; N];
    for (row, &scale) in matrix.chunks_exact(x.len()).zip(x) {
        let row = &row[first..first + N];
        for n in 0..N {
            sums[n] += scale * row[n];
        }
    }
    out[first..first + N].copy_from_slice(&sums);
}

/// `(sum, carry) += scale·x`, by Neumaier's two-sum.
#[inline(always)]
fn add_scaled(sum: &mut [f64], carry: &mut [f64], scale: f64, x: &[f64]) {
    for ((sum, carry), x) in sum.iter_mut().zip(carry).zip(x) {
        let term = scale * x;
        let total = *sum + term;
        let back = total - *sum;
        *carry += (*sum - (total - back)) + (term - back);
        *sum = total;
    }
}
