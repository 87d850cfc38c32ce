//! Sums of weighted outer products.

/// `sum += Σ w·x·xᵀ` on and above the diagonal, row by row in order; `rows` are one after the
/// other.
#[inline(always)]
pub(super) fn add_weighted(sum: &mut [f64], rows: &[f64], weights: &[f64], dim: usize) {
    by_dim!(dim, add_weighted_of(sum, rows, weights));
}

/// Four rows at a time: an entry is loaded and stored once for four additions, which are those of
/// one row after the other.
#[inline(always)]
fn add_weighted_of(dim: usize, sum: &mut [f64], rows: &[f64], weights: &[f64]) {
    let (fours, rest) = weights.as_chunks::<4>();
    let (together, single) = rows[..weights.len() * dim].split_at(fours.len() * 4 * dim);
    for (weights, rows) in fours.iter().zip(together.chunks_exact(4 * dim)) {
        let x: [&[f64]; 4] = std::array::from_fn(|n| &rows[n * dim..(n + 1) * dim]);
        for i in 0..dim {
            let scale: [f64; 4] = std::array::from_fn(|n| weights[n] * x[n][i]);
            let [a, b, c, d] = x.map(|row| &row[i..]);
            let entries = sum[i * dim + i..(i + 1) * dim].iter_mut();
            for ((((entry, a), b), c), d) in entries.zip(a).zip(b).zip(c).zip(d) {
                let two = *entry + scale[0] * a + scale[1] * b;
                *entry = two + scale[2] * c + scale[3] * d;
            }
        }
    }
    for (weight, x) in rest.iter().zip(single.chunks_exact(dim)) {
        for i in 0..dim {
            let scale = weight * x[i];
            for (entry, x) in sum[i * dim + i..(i + 1) * dim].iter_mut().zip(&x[i..]) {
                *entry += scale * x;
            }
        }
    }
}
