//! Arithmetic with about 32 digits, for measuring errors of arithmetic with 16.

/// An unevaluated sum `high + low` with `|low| ≤ ulp(high)/2`. Algorithms: Dekker (1971), Knuth.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DoubleDouble {
    high: f64,
    low: f64,
}

impl DoubleDouble {
    /// Exactly `x`.
    pub fn new(x: f64) -> Self {
        Self { high: x, low: 0.0 }
    }

    /// Exactly `a·b`.
    pub fn product(a: f64, b: f64) -> Self {
        let high = a * b;
        Self { high, low: a.mul_add(b, -high) }
    }

    /// Rounded to nearest.
    pub fn to_f64(self) -> f64 {
        self.high + self.low
    }

    /// The sum.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let high = self.high + other.high;
        let back = high - self.high;
        let low = (self.high - (high - back)) + (other.high - back);
        Self::renormalised(high, low + self.low + other.low)
    }

    /// The difference.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        self.plus(Self { high: -other.high, low: -other.low })
    }

    /// The product.
    #[must_use]
    pub fn times(self, other: Self) -> Self {
        let exact = Self::product(self.high, other.high);
        Self::renormalised(exact.high, exact.low + self.high * other.low + self.low * other.high)
    }

    /// The quotient, by one step of Newton on the plain one.
    #[must_use]
    pub fn over(self, other: Self) -> Self {
        let first = self.high / other.high;
        let rest = self.minus(other.times(Self::new(first)));
        Self::renormalised(first, rest.to_f64() / other.high)
    }

    fn renormalised(high: f64, low: f64) -> Self {
        let sum = high + low;
        Self { high: sum, low: low - (sum - high) }
    }
}

/// `V = λI + Σ x·xᵀ` and its quadratic forms in double-double arithmetic.
#[derive(Clone, Debug)]
pub struct PreciseGram {
    dim: usize,
    matrix: Vec<DoubleDouble>,
}

impl PreciseGram {
    /// `ridge·I`.
    pub fn new(dim: usize, ridge: f64) -> Self {
        let mut matrix = vec![DoubleDouble::default(); dim * dim];
        for i in 0..dim {
            matrix[i * dim + i] = DoubleDouble::new(ridge);
        }
        Self { dim, matrix }
    }

    /// Adds `x·xᵀ`.
    pub fn add(&mut self, x: &[f64]) {
        for (i, a) in x.iter().enumerate() {
            for (j, b) in x.iter().enumerate() {
                let entry = &mut self.matrix[i * self.dim + j];
                *entry = entry.plus(DoubleDouble::product(*a, *b));
            }
        }
    }

    /// `aᵀV⁻¹a` for each probe, by elimination: `V = L·D·Lᵀ`, then `Σ (L⁻¹a)²/D`.
    pub fn widths_sq(&self, probes: &[Vec<f64>]) -> Vec<f64> {
        let dim = self.dim;
        let mut work = self.matrix.clone();
        for k in 0..dim {
            for i in k + 1..dim {
                let factor = work[i * dim + k].over(work[k * dim + k]);
                for j in k..dim {
                    work[i * dim + j] = work[i * dim + j].minus(factor.times(work[k * dim + j]));
                }
                // The multiplier takes the place of the entry it cleared.
                work[i * dim + k] = factor;
            }
        }
        let width_sq = |probe: &Vec<f64>| {
            let mut y: Vec<DoubleDouble> = probe.iter().copied().map(DoubleDouble::new).collect();
            let mut total = DoubleDouble::default();
            for k in 0..dim {
                for i in k + 1..dim {
                    y[i] = y[i].minus(work[i * dim + k].times(y[k]));
                }
                total = total.plus(y[k].times(y[k]).over(work[k * dim + k]));
            }
            total.to_f64()
        };
        probes.iter().map(width_sq).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_what_doubles_lose() {
        let tiny = DoubleDouble::new(1.0).plus(DoubleDouble::new(1e-25));
        assert!((tiny.minus(DoubleDouble::new(1.0)).to_f64() - 1e-25).abs() < 1e-40);
        let third = DoubleDouble::new(1.0).over(DoubleDouble::new(3.0));
        let defect = third.times(DoubleDouble::new(3.0)).minus(DoubleDouble::new(1.0));
        assert!(defect.to_f64().abs() < 1e-30);
    }

    #[test]
    fn inverts_a_known_matrix() {
        // V = I + x·xᵀ has aᵀV⁻¹a = |a|² − (a·x)²/(1 + |x|²).
        let mut gram = PreciseGram::new(2, 1.0);
        gram.add(&[1.0, 2.0]);
        let width = gram.widths_sq(&[vec![3.0, 1.0]])[0];
        assert!((width - (10.0 - 25.0 / 6.0)).abs() < 1e-14, "{width}");
    }
}
