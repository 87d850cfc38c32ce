//! Models that keep sums and invert them for each question.

use super::radius::Evidence;
use super::{ROUNDING, UNIT};
use crate::DoubleDouble;
use nalgebra::{DMatrix, DVector};

/// What was learned, as sums: one block for a ridge, one block per arm for arms.
#[derive(Clone, Debug)]
pub struct BruteModel {
    blocks: Vec<Sums>,
    shared: bool,
    ridge: f64,
}

/// `λI + Σ x·xᵀ`, `Σ x·y` and `Σ y²`.
#[derive(Clone, Debug)]
pub(super) struct Sums {
    dim: usize,
    gram: Vec<DoubleDouble>,
    moment: Vec<DoubleDouble>,
    rewards_sq: f64,
    pub(super) count: u64,
}

/// Scores of every action, with `ε` of the block each was scored by.
#[derive(Clone, Debug, Default)]
pub(super) struct Scored {
    pub(super) mean: Vec<f64>,
    pub(super) mean_tolerance: Vec<f64>,
    pub(super) width_sq: Vec<f64>,
    pub(super) epsilon: Vec<f64>,
}

impl BruteModel {
    /// Ridge regression over features.
    pub fn ridge(dim: usize, ridge: f64) -> Self {
        Self { blocks: vec![Sums::new(dim, ridge)], shared: true, ridge }
    }

    /// A mean per arm: a regression on the constant 1, without a ridge.
    pub fn arm_means(arms: usize) -> Self {
        Self { blocks: vec![Sums::new(1, 0.0); arms], shared: false, ridge: 0.0 }
    }

    /// A ridge regression per arm.
    pub fn arm_ridges(arms: usize, dim: usize, ridge: f64) -> Self {
        Self { blocks: vec![Sums::new(dim, ridge); arms], shared: false, ridge }
    }

    pub(super) fn learn(&mut self, index: usize, row: &[f64], reward: f64) {
        let at = if self.shared { 0 } else { index };
        // A plain arm has no features; its block counts plays.
        self.blocks[at].add(if row.is_empty() { &[1.0] } else { row }, reward);
    }

    pub(super) fn scores(&self, rows: &[Vec<f64>]) -> Scored {
        let mut scored = Scored::default();
        if self.shared {
            let fit = self.fit_of(0);
            // Beyond 1e10 a model adds to the diagonal, which is not judged here.
            assert!(fit.smallest_pivot > 1e-9, "the condition is 1/{}", fit.smallest_pivot);
            fit.score(rows, &mut scored);
            return scored;
        }
        for (block, row) in self.blocks.iter().zip(rows) {
            let row = if row.is_empty() { vec![1.0] } else { row.clone() };
            match block.fit() {
                Some(fit) => fit.score(&[row], &mut scored),
                None => scored.push(0.0, 0.0, f64::INFINITY, 0.0),
            }
        }
        scored
    }

    /// Scores of what each action is behind another by: of the difference itself in a shared model,
    /// and with squared widths that add up where each arm has features of its own. `None` for
    /// plain arms, whose intervals are all there is.
    pub(super) fn behind(
        &self,
        rows: &[Vec<f64>],
        scored: &Scored,
        witness: usize,
    ) -> Option<Scored> {
        let mut behind = Scored::default();
        if self.shared {
            let minus = |row: &Vec<f64>| -> Vec<f64> {
                rows[witness].iter().zip(row).map(|(own, other)| own - other).collect()
            };
            let differences: Vec<Vec<f64>> = rows.iter().map(minus).collect();
            self.fit_of(0).score(&differences, &mut behind);
            return Some(behind);
        }
        if self.ridge == 0.0 {
            return None;
        }
        for other in 0..rows.len() {
            let mean = scored.mean[witness] - scored.mean[other];
            let tolerance = scored.mean_tolerance[witness] + scored.mean_tolerance[other];
            let width_sq = scored.width_sq[witness] + scored.width_sq[other];
            let epsilon = scored.epsilon[witness].max(scored.epsilon[other]);
            let own = other == witness;
            let [tolerance, width_sq] = [tolerance, width_sq].map(|x| if own { 0.0 } else { x });
            behind.push(mean, tolerance, width_sq, epsilon);
        }
        Some(behind)
    }

    /// The fit of the block that scores this action.
    pub(super) fn fit_of(&self, index: usize) -> Fit {
        let at = if self.shared { 0 } else { index };
        self.blocks[at].fit().expect("a ridge has an inverse")
    }

    /// What the evidence before the decision of a round can be at most, known in advance: for a
    /// ridge without data `log det V ≤ d·log(1 + round·L²/(d·λ))` with `L` the largest norm, for
    /// arms nothing but the number of rounds. `None` where there is no such bound.
    pub(super) fn guarantee(&self, rows: &[Vec<f64>], round: u64) -> Option<Evidence> {
        let evidence = Evidence { observations: round, ..self.evidence() };
        if self.ridge == 0.0 {
            return Some(evidence);
        }
        if !self.shared || self.blocks[0].count > 0 {
            return None;
        }
        let norms_sq = rows.iter().map(|row| row.iter().map(|x| x * x).sum::<f64>());
        let (dim, largest) = (evidence.dim as f64, norms_sq.fold(0.0, f64::max));
        let log_det = dim * (round as f64 * largest / (dim * self.ridge)).ln_1p();
        Some(Evidence { log_det, log_det_tolerance: 1e-12, ..evidence })
    }

    pub(super) fn evidence(&self) -> Evidence {
        let dim: usize = self.blocks.iter().map(|block| block.dim).sum();
        let (mut log_det, mut log_det_tolerance) = (f64::NAN, 0.0);
        if self.ridge > 0.0 {
            let fits = || self.blocks.iter().filter_map(Sums::fit);
            let log_dets: f64 = fits().map(|fit| fit.log_det).sum();
            log_det = log_dets - dim as f64 * self.ridge.ln();
            log_det_tolerance = fits().map(|fit| fit.epsilon).sum();
        }
        let observations = self.blocks.iter().map(|block| block.count).sum();
        let fits = self.blocks.iter().filter_map(Sums::fit);
        let explained: f64 = fits.map(|fit| fit.solved.norm_squared()).sum();
        let rewards: f64 = self.blocks.iter().map(|block| block.rewards_sq).sum();
        let judged = self.shared || self.ridge == 0.0;
        let residual = if judged { rewards * (1.0 - 1e-12) - explained } else { f64::NAN };
        Evidence { observations, dim, ridge: self.ridge, log_det, log_det_tolerance, residual }
    }
}

impl Sums {
    pub(super) fn new(dim: usize, ridge: f64) -> Self {
        let mut gram = vec![DoubleDouble::default(); dim * dim];
        gram.iter_mut().step_by(dim + 1).for_each(|entry| *entry = DoubleDouble::new(ridge));
        let moment = vec![DoubleDouble::default(); dim];
        Self { dim, gram, moment, rewards_sq: 0.0, count: 0 }
    }

    pub(super) fn add(&mut self, x: &[f64], reward: f64) {
        for (i, a) in x.iter().enumerate() {
            for (j, b) in x.iter().enumerate() {
                let entry = &mut self.gram[i * self.dim + j];
                *entry = entry.plus(DoubleDouble::product(*a, *b));
            }
            self.moment[i] = self.moment[i].plus(DoubleDouble::product(*a, reward));
        }
        self.rewards_sq += reward * reward;
        self.count += 1;
    }

    /// Everything that follows from the sums; `None` if they have no inverse.
    pub(super) fn fit(&self) -> Option<Fit> {
        let entries: Vec<f64> = self.gram.iter().map(|entry| entry.to_f64()).collect();
        let gram = DMatrix::from_row_slice(self.dim, self.dim, &entries);
        let lower = gram.clone().cholesky()?.l();
        let moment = DVector::from_iterator(self.dim, self.moment.iter().map(|x| x.to_f64()));
        let solved = lower.solve_lower_triangular(&moment)?;
        let inverse = lower.solve_lower_triangular(&DMatrix::identity(self.dim, self.dim))?;
        let share = |i: usize| (gram[(i, i)] * inverse.column(i).norm_squared()).sqrt();
        let spread: f64 = (0..self.dim).map(share).sum();
        let pivots = (0..self.dim).map(|i| lower[(i, i)].powi(2) / gram[(i, i)]);
        Some(Fit {
            epsilon: ROUNDING * UNIT * spread * spread,
            smallest_pivot: pivots.fold(1.0, f64::min),
            log_det: (0..self.dim).map(|i| 2.0 * lower[(i, i)].ln()).sum(),
            reward_norm: self.rewards_sq.sqrt(),
            lower,
            solved,
        })
    }
}

/// `V = L·Lᵀ` and what follows from it.
#[derive(Clone, Debug)]
pub(super) struct Fit {
    lower: DMatrix<f64>,
    /// `L⁻¹b`.
    solved: DVector<f64>,
    pub(super) epsilon: f64,
    /// The smallest pivot as a share of its diagonal entry.
    pub(super) smallest_pivot: f64,
    log_det: f64,
    reward_norm: f64,
}

impl Fit {
    pub(super) fn score(&self, rows: &[Vec<f64>], out: &mut Scored) {
        let whitened = self.whiten(rows);
        for column in whitened.column_iter() {
            let width_sq = column.norm_squared();
            let tolerance = self.epsilon * width_sq.sqrt() * self.reward_norm;
            out.push(column.dot(&self.solved), tolerance, width_sq, self.epsilon);
        }
    }

    /// `⟨a, L⁻ᵀz⟩` of each row.
    pub(super) fn deviates(&self, rows: &[Vec<f64>], z: &[f64]) -> Vec<f64> {
        let z = DVector::from_row_slice(z);
        self.whiten(rows).column_iter().map(|column| column.dot(&z)).collect()
    }

    /// `⟨a, R·z⟩` with the lower triangular `R` for which `R·Rᵀ = V⁻¹`.
    pub(super) fn deviate_by_inverse(&self, row: &[f64], z: &[f64]) -> f64 {
        let dim = row.len();
        let half = self.lower.solve_lower_triangular(&DMatrix::identity(dim, dim));
        let half = half.expect("pivots are positive");
        let root = (half.transpose() * half).cholesky().expect("an inverse is positive").l();
        DVector::from_row_slice(row).dot(&(root * DVector::from_row_slice(z)))
    }

    /// `L⁻¹a` of each row, as columns.
    fn whiten(&self, rows: &[Vec<f64>]) -> DMatrix<f64> {
        let columns = DMatrix::from_fn(self.solved.len(), rows.len(), |i, j| rows[j][i]);
        self.lower.solve_lower_triangular(&columns).expect("pivots are positive")
    }
}

impl Scored {
    fn push(&mut self, mean: f64, mean_tolerance: f64, width_sq: f64, epsilon: f64) {
        self.mean.push(mean);
        self.mean_tolerance.push(mean_tolerance);
        self.width_sq.push(width_sq);
        self.epsilon.push(epsilon);
    }

    pub(super) fn len(&self) -> usize {
        self.mean.len()
    }
}
