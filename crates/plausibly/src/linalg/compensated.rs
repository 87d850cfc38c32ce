//! Sums whose error does not grow with the number of terms.

use super::{Isa, PIVOT_TOLERANCE};

/// A sum of vectors with the rounding of every addition carried along.
///
/// A plain `f64` sum of `n` terms errs by up to `n·ε` relative to the sum of their magnitudes, and
/// a matrix refactored from it can be *less* accurate than one updated `n` times. Here each
/// addition is an error-free two-sum, so what is left is one rounding a product and one of the
/// result: `|error| ≤ ε·Σ|xᵢxⱼ|`, up to a remainder of order `n²ε²` that stays below it for the
/// first 10⁷ terms and below `10⁻⁹·Σ|xᵢxⱼ|` for 10¹¹.
///
/// Source: Neumaier (1974); Ogita, Rump and Oishi (2005), Proposition 4.5.
#[derive(Clone, Debug)]
pub(crate) struct Compensated {
    sum: Vec<f64>,
    carry: Vec<f64>,
}

impl Compensated {
    pub(crate) fn new(start: Vec<f64>) -> Self {
        let carry = vec![0.0; start.len()];
        Self { sum: start, carry }
    }

    /// The sums, and what rounding has lost of each.
    pub(crate) fn parts(&self) -> (&[f64], &[f64]) {
        (&self.sum, &self.carry)
    }

    pub(crate) fn from_parts(sum: Vec<f64>, carry: Vec<f64>) -> Self {
        assert!(sum.len() == carry.len(), "one carry for each sum");
        Self { sum, carry }
    }

    /// The sums, each rounded once, into `out`.
    pub(crate) fn rounded_into(&self, out: &mut Vec<f64>) {
        out.clear();
        out.extend(self.sum.iter().zip(&self.carry).map(|(sum, carry)| sum + carry));
    }
}

/// One number summed like [`Compensated`].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CompensatedSum {
    sum: f64,
    carry: f64,
}

impl CompensatedSum {
    pub(crate) fn new(start: f64) -> Self {
        Self { sum: start, carry: 0.0 }
    }

    pub(crate) fn from_parts(sum: f64, carry: f64) -> Self {
        Self { sum, carry }
    }

    /// The sum, and what rounding has lost of it.
    pub(crate) fn parts(self) -> (f64, f64) {
        (self.sum, self.carry)
    }

    #[inline]
    pub(crate) fn add(&mut self, term: f64) {
        let sum = self.sum + term;
        let added = sum - self.sum;
        self.carry += (self.sum - (sum - added)) + (term - added);
        self.sum = sum;
    }

    /// The sum, rounded once.
    pub(crate) fn rounded(self) -> f64 {
        self.sum + self.carry
    }
}

/// A symmetric matrix plus a sum `Σ x·xᵀ`; keeps only the upper triangle.
#[derive(Clone, Debug)]
pub(crate) struct CompensatedGram {
    dim: usize,
    /// What is below the diagonal means nothing.
    entries: Compensated,
}

impl CompensatedGram {
    /// From a symmetric matrix.
    pub(crate) fn new(start: Vec<f64>, dim: usize) -> Self {
        Self { dim, entries: Compensated::new(start) }
    }

    /// The entries, and what rounding has lost of each.
    pub(crate) fn parts(&self) -> (&[f64], &[f64]) {
        self.entries.parts()
    }

    pub(crate) fn from_parts(sum: Vec<f64>, carry: Vec<f64>, dim: usize) -> Self {
        assert!(sum.len() == dim * dim, "a square matrix");
        Self { dim, entries: Compensated::from_parts(sum, carry) }
    }

    /// Adds `x·xᵀ` to it, and `reward·x` to the moment that goes with it.
    pub(crate) fn add_observation(
        &mut self,
        moment: &mut Compensated,
        isa: Isa,
        x: &[f64],
        reward: f64,
    ) {
        let Compensated { sum, carry } = &mut self.entries;
        let (moment_sum, moment_carry) = (&mut moment.sum, &mut moment.carry);
        isa.add_observation(sum, carry, moment_sum, moment_carry, x, reward);
    }

    /// The whole matrix, each entry rounded once, into `out`.
    pub(crate) fn rounded_into(&self, out: &mut Vec<f64>) {
        self.entries.rounded_into(out);
        for i in 0..self.dim {
            for j in i + 1..self.dim {
                out[j * self.dim + i] = out[i * self.dim + j];
            }
        }
    }

    pub(crate) fn rounded(&self) -> Vec<f64> {
        let mut out = Vec::new();
        self.rounded_into(&mut out);
        out
    }

    /// The diagonal of what has to be added to a matrix that is singular to working precision: with
    /// twice the tolerance of a pivot, entry by entry, every pivot passes, and units do not matter.
    pub(crate) fn floor(&self) -> Vec<f64> {
        let Compensated { sum, carry } = &self.entries;
        let diagonal = sum.iter().zip(carry).step_by(self.dim + 1);
        diagonal.map(|(sum, carry)| 2.0 * PIVOT_TOLERANCE * (sum + carry)).collect()
    }

    /// The sum of the diagonal.
    pub(crate) fn trace(&self) -> f64 {
        self.entries.sum.iter().step_by(self.dim + 1).sum()
    }

    /// `(x − y)ᵀ·M·(x − y)`, without a copy of any of them. Four sums a row run side by side: a
    /// single one would wait for each of its additions.
    pub(crate) fn quadratic_form(&self, x: &[f64], y: &[f64]) -> f64 {
        let Compensated { sum, carry } = &self.entries;
        let term = |sum: &f64, carry: &f64, x: &f64, y: &f64| (sum + carry) * (x - y);
        let row = |i: usize| {
            let row = i * self.dim + i + 1..(i + 1) * self.dim;
            let (sums, sums_rest) = sum[row.clone()].as_chunks::<4>();
            let (carries, carries_rest) = carry[row].as_chunks::<4>();
            let (xs, xs_rest) = x[i + 1..].as_chunks::<4>();
            let (ys, ys_rest) = y[i + 1..].as_chunks::<4>();
            let mut beyond = [0.0; 4];
            for (((sum, carry), x), y) in sums.iter().zip(carries).zip(xs).zip(ys) {
                for l in 0..4 {
                    beyond[l] += term(&sum[l], &carry[l], &x[l], &y[l]);
                }
            }
            for (l, (((sum, carry), x), y)) in
                sums_rest.iter().zip(carries_rest).zip(xs_rest).zip(ys_rest).enumerate()
            {
                beyond[l] += term(sum, carry, x, y);
            }
            let beyond = (beyond[0] + beyond[1]) + (beyond[2] + beyond[3]);
            let (at, own) = (i * self.dim + i, x[i] - y[i]);
            own * (term(&sum[at], &carry[at], &x[i], &y[i]) + 2.0 * beyond)
        };
        (0..self.dim).map(row).sum()
    }
}
