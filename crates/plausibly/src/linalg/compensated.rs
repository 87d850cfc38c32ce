//! Sums whose error does not grow with the number of terms.

use super::Isa;

/// `Σ x·xᵀ` with the rounding of every addition carried along.
///
/// A plain `f64` sum of `n` products errs by up to `n·ε` relative to the sum of their magnitudes, and a matrix refactored
/// from it can be *less* accurate than one updated `n` times. Here each addition is an error-free two-sum, so what is left
/// is one rounding a product and one of the result: `|error| ≤ ε·Σ|xᵢxⱼ|`, up to a remainder of order `n²ε²` that stays below
/// it for the first 10⁷ terms and below `10⁻⁹·Σ|xᵢxⱼ|` for 10¹¹.
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

    /// Adds `x·xᵀ`.
    pub(crate) fn add_outer(&mut self, isa: Isa, x: &[f64]) {
        isa.add_outer(&mut self.sum, &mut self.carry, x);
    }

    /// Adds `scale·x`, entry by entry.
    pub(crate) fn add_scaled(&mut self, isa: Isa, scale: f64, x: &[f64]) {
        isa.add_scaled(&mut self.sum, &mut self.carry, scale, x);
    }

    /// `xᵀ·M·x` for the summed matrix `M` and the vector with entries `x(i)`, without a copy of either.
    pub(crate) fn quadratic_form(&self, dim: usize, x: impl Fn(usize) -> f64) -> f64 {
        let mut total = 0.0;
        for (i, (sum, carry)) in self.sum.chunks_exact(dim).zip(self.carry.chunks_exact(dim)).enumerate() {
            let row = sum.iter().zip(carry).enumerate();
            total += x(i) * row.fold(0.0, |inner, (j, (sum, carry))| inner + (sum + carry) * x(j));
        }
        total
    }

    /// The sums, each rounded once, into `out`.
    pub(crate) fn rounded_into(&self, out: &mut Vec<f64>) {
        out.clear();
        out.extend(self.sum.iter().zip(&self.carry).map(|(sum, carry)| sum + carry));
    }

    pub(crate) fn rounded(&self) -> Vec<f64> {
        let mut out = Vec::new();
        self.rounded_into(&mut out);
        out
    }
}
