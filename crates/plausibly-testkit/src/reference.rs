//! Direct computations: inverses and determinants of another library, from scratch in every round.

use nalgebra::{DMatrix, DVector};

/// Ridge regression that keeps its data and computes everything from it when asked.
#[derive(Clone, Debug)]
pub struct BruteForce {
    gram: DMatrix<f64>,
    moment: DVector<f64>,
}

impl BruteForce {
    /// Nothing observed.
    pub fn new(dim: usize, ridge: f64) -> Self {
        Self { gram: DMatrix::identity(dim, dim) * ridge, moment: DVector::zeros(dim) }
    }

    /// One more observation.
    pub fn observe(&mut self, x: &[f64], reward: f64) {
        let x = DVector::from_row_slice(x);
        self.gram += &x * x.transpose();
        self.moment += x * reward;
    }

    /// `V`.
    pub fn gram(&self) -> &DMatrix<f64> {
        &self.gram
    }

    /// The ratio of the largest to the smallest eigenvalue of `V`.
    pub fn condition(&self) -> f64 {
        let values = self.gram.clone().symmetric_eigenvalues();
        values.max() / values.min()
    }

    /// Mean and squared width of an action.
    ///
    /// # Panics
    /// If `V` is singular.
    pub fn score(&self, action: &[f64]) -> (f64, f64) {
        let inverse = self.inverse();
        let a = DVector::from_row_slice(action);
        let mean = a.dot(&(&inverse * &self.moment));
        (mean, a.dot(&(&inverse * &a)))
    }

    /// `‖θ̂ − θ*‖_V`.
    ///
    /// # Panics
    /// If `V` is singular.
    pub fn deviation(&self, theta_star: &[f64]) -> f64 {
        let inverse = self.inverse();
        let offset = inverse * &self.moment - DVector::from_row_slice(theta_star);
        offset.dot(&(&self.gram * &offset)).sqrt()
    }

    /// By elimination: up to four dimensions the library's own inverse goes by cofactors, which
    /// lose twice the digits.
    fn inverse(&self) -> DMatrix<f64> {
        self.gram.clone().full_piv_lu().try_inverse().expect("a ridge makes V invertible")
    }

    /// `log det(V + a·aᵀ)`, by the determinant itself.
    pub fn log_det_with(&self, action: &[f64]) -> f64 {
        let a = DVector::from_row_slice(action);
        (&self.gram + &a * a.transpose()).determinant().ln()
    }
}

/// `aᵀM⁺a` of each point under a design, over the eigenvectors of `M` that count: the points need
/// not span.
pub fn leverages(points: &[Vec<f64>], weights: &[f64]) -> Vec<f64> {
    let dim = points[0].len();
    let mut matrix = DMatrix::zeros(dim, dim);
    for (point, weight) in points.iter().zip(weights) {
        let x = DVector::from_row_slice(point);
        matrix += &x * x.transpose() * *weight;
    }
    let eigen = matrix.symmetric_eigen();
    let counts = 1e-12 * eigen.eigenvalues.max();
    let leverage = |point: &Vec<f64>| {
        let x = DVector::from_row_slice(point);
        let along = eigen.eigenvalues.iter().zip(eigen.eigenvectors.column_iter());
        along
            .filter(|(value, _)| **value > counts)
            .map(|(value, vector)| vector.dot(&x).powi(2) / value)
            .sum()
    };
    points.iter().map(leverage).collect()
}

/// Dimension of the span of some points.
pub fn rank(points: &[Vec<f64>]) -> usize {
    let matrix = DMatrix::from_fn(points.len(), points[0].len(), |i, j| points[i][j]);
    let largest = matrix.norm();
    matrix.rank(1e-9 * largest.max(f64::MIN_POSITIVE))
}
