//! The rule of phased elimination.

use super::model::{Scored, Sums};
use super::policy::{checked_design, in_own_units};
use super::{Inputs, Verdict};
use nalgebra::DMatrix;

/// Phased elimination on a fixed set.
#[derive(Clone, Debug)]
pub(super) struct Elimination {
    delta: f64,
    phase: Option<Phase>,
}

#[derive(Clone, Debug)]
struct Phase {
    number: i32,
    survivors: Vec<usize>,
    /// Plays left of each action of the design.
    quota: Vec<(usize, u64)>,
    /// How often each action was taken, and how often its reward came.
    taken: Vec<u64>,
    settled: Vec<u64>,
    seen: Vec<(Vec<f64>, f64)>,
}

impl Elimination {
    pub(super) fn new(delta: f64) -> Self {
        Self { delta, phase: None }
    }

    pub(super) fn update(&mut self, index: usize, row: &[f64], reward: f64) {
        if let Some(phase) = &mut self.phase {
            phase.seen.push((row.to_vec(), reward));
            phase.settled[index] += 1;
        }
    }

    /// A play without a reward is played again.
    pub(super) fn dropped(&mut self, index: usize) {
        let Some(phase) = &mut self.phase else { return };
        if phase.taken[index] > phase.settled[index] {
            phase.taken[index] -= 1;
            if let Some((_, plays)) = phase.quota.iter_mut().find(|(action, _)| *action == index) {
                *plays += 1;
            }
        }
    }

    pub(super) fn judge(
        &mut self,
        rows: &[Vec<f64>],
        chosen: usize,
        inputs: &mut dyn Inputs,
    ) -> Verdict {
        let phase = match self.phase.take() {
            None => Phase::new(1, (0..rows.len()).collect(), rows, self.delta, inputs),
            Some(phase) if phase.remaining() == 0 => phase
                .survivors_after(rows)
                .and_then(|left| Phase::new(phase.number + 1, left, rows, self.delta, inputs)),
            Some(phase) => Some(phase),
        };
        let Some(mut phase) = phase else { return Verdict::Unclear };
        let expected = phase.play(inputs);
        self.phase = Some(phase);
        if expected == chosen { Verdict::Same } else { Verdict::Wrong { expected } }
    }
}

impl Phase {
    /// A phase with `⌈2·d·π(a)/ε²·log(K·ℓ·(ℓ + 1)/δ)⌉` plays of each action, `ε = 2^−ℓ`; `None` if
    /// a number of plays is within rounding of the next.
    fn new(
        number: i32,
        survivors: Vec<usize>,
        rows: &[Vec<f64>],
        delta: f64,
        inputs: &mut dyn Inputs,
    ) -> Option<Self> {
        let (design, leverage) = checked_design(rows, &survivors, inputs);
        let (count, phase) = (rows.len() as f64, f64::from(number));
        let log = (count * phase * (phase + 1.0) / delta).ln();
        // A design within a gap of the optimum needs so much more plays.
        let scale = 2.0 * leverage.max(rows[0].len() as f64) * 4.0_f64.powi(number) * log;
        let mut quota = Vec::new();
        for (action, weight) in design {
            let plays = weight * scale;
            if (plays - plays.round()).abs() < 1e-9 * plays {
                return None;
            }
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "positive, and far below 2^53"
            )]
            quota.push((action, plays.ceil() as u64));
        }
        let zeros = vec![0; rows.len()];
        let (taken, settled, seen) = (zeros.clone(), zeros, Vec::new());
        Some(Self { number, survivors, quota, taken, settled, seen })
    }

    fn remaining(&self) -> u64 {
        self.quota.iter().map(|(_, plays)| plays).sum()
    }

    /// The next play, uniform over what is left.
    fn play(&mut self, inputs: &mut dyn Inputs) -> usize {
        let mut ticket = inputs.below(self.remaining());
        for (action, plays) in &mut self.quota {
            if ticket < *plays {
                *plays -= 1;
                self.taken[*action] += 1;
                return *action;
            }
            ticket -= *plays;
        }
        unreachable!("a ticket is below what is left")
    }

    /// The actions that do not fall behind by more than `2·2^−ℓ`, by the data of this phase alone;
    /// `None` where rounding decides, or where a reward is of an action outside the span of the
    /// survivors.
    fn survivors_after(&self, rows: &[Vec<f64>]) -> Option<Vec<usize>> {
        let points = in_own_units(rows, &self.survivors);
        let basis = span(&points);
        let coordinates = |point: &[f64]| -> Vec<f64> {
            let along = |axis: &Vec<f64>| axis.iter().zip(point).map(|(a, b)| a * b).sum();
            basis.iter().map(along).collect()
        };
        let mut sums = Sums::new(basis.len(), 0.0);
        for (row, reward) in &self.seen {
            let place = self.survivors.iter().position(|action| rows[*action] == *row)?;
            sums.add(&coordinates(&points[place]), *reward);
        }
        let fit = match sums.fit() {
            Some(fit) if fit.smallest_pivot > 1e-7 => fit,
            Some(fit) if fit.smallest_pivot > 1e-12 => return None,
            // The data do not span, so nothing is dropped.
            _ => return Some(self.survivors.clone()),
        };
        let mut scored = Scored::default();
        let inside: Vec<Vec<f64>> = points.iter().map(|point| coordinates(point)).collect();
        fit.score(&inside, &mut scored);
        let best = (0..inside.len())
            .reduce(|best, next| if scored.mean[next] > scored.mean[best] { next } else { best })?;
        let allowed = 2.0 * 0.5_f64.powi(self.number);
        let mut left = Vec::new();
        for (place, action) in self.survivors.iter().enumerate() {
            let behind = scored.mean[best] - scored.mean[place];
            let tolerance = scored.mean_tolerance[best] + scored.mean_tolerance[place];
            if place != best && (behind - allowed).abs() <= tolerance {
                return None;
            }
            if behind <= allowed {
                left.push(*action);
            }
        }
        Some(left)
    }
}

/// An orthonormal basis of the span of some points.
fn span(points: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let dim = points[0].len();
    let matrix = DMatrix::from_fn(points.len(), dim, |i, j| points[i][j]);
    let eigen = (matrix.transpose() * matrix).symmetric_eigen();
    let counts = 1e-12 * eigen.eigenvalues.max();
    let axes = eigen.eigenvalues.iter().zip(eigen.eigenvectors.column_iter());
    axes.filter(|(value, _)| **value > counts)
        .map(|(_, axis)| axis.iter().copied().collect())
        .collect()
}
