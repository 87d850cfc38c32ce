//! Ridge regression, one observation at a time.

mod belief;
mod error;
mod looks;
mod onlooker;
mod state;

pub use error::RidgeError;
pub use onlooker::Onlooker;

use self::belief::Belief;
use self::looks::Looks;
use super::{Contenders, Estimator, Evidence, Forecast, Scores, Shape, Sought};
use crate::actions::{Action, Actions};
use crate::confidence::Reach;
use crate::linalg::{Isa, PIVOT_TOLERANCE, scaled_identity};

/// Ridge estimate of `θ*` with its gram matrix and the scores of the current action set.
///
/// ```text
/// V = λI + Σ x·xᵀ     b = Σ x·y     θ̂ = V⁻¹b     mean(a) = ⟨a, θ̂⟩     width_sq(a) = aᵀV⁻¹a
/// ```
///
/// `V⁻¹` and `θ̂` follow each observation by a Sherman–Morrison step. `V` and `b` are summed with
/// compensation, and `V⁻¹` is recomputed from them when the determinant has grown a hundredfold,
/// and every 4096 observations: the drift of the steps is bounded by what so few of them can do,
/// and the sums recomputed from are good to a unit in the last place for tens of millions of
/// observations (a plain sum would not be, and refactoring from it does harm;
/// `docs/design/numerics.md` has the measurements).
///
/// # Precision
/// Doubles cannot tell `V` from a singular matrix once its condition passes 1e10: with a tiny
/// ridge, or features of size 1e6 beside a ridge of 1, in a direction never observed. The estimate
/// is then that of `V + F` with `F = 2·10⁻¹⁰·diag V`: what is known of observed directions keeps
/// four digits or more, and everything stays finite. The set stays valid, because radii pay for `F`
/// ([`Evidence::floor`]):
///
/// ```text
/// (V + F)·(θ̂ − θ*) = Σ x·η − (λI + F)·θ*     so     ‖θ̂ − θ*‖_{V+F} ≤ ‖Σ x·η‖_{V⁻¹} + √(λ + max F)·S
/// ```
///
/// Widths of a set that is offered again follow each observation by a step and are recomputed
/// before they have lost more than nine of their sixteen digits.
///
/// # Cost
/// An update is O(d²) on average. Scores of the same set one observation later are one pass of
/// O(K·d); of another set, or after several observations, O(K·d²).
/// [Contenders](Estimator::contenders) of a set offered again and again cost O(d) each, and a list
/// of them now and then O(K) and O(d²) for each action that comes into question; those of another
/// set O(K·d), and O(d²) for each that a bound on its width leaves in question. Where one action is
/// sought in a large set that no list helps with, a pass of O(K·d) reads a copy of its features in
/// single precision, which is kept. Nothing is allocated but by the refactorisations, once buffers
/// have the size of the set. No draws.
///
/// # Reference
/// \[AYPS11\] Abbasi-Yadkori, Pál, Szepesvári: Improved Algorithms for Linear Stochastic Bandits.
/// NIPS 2011.
#[derive(Clone, Debug)]
pub struct Ridge {
    belief: Belief,
    looks: Looks,
}

impl Ridge {
    /// Nothing observed: `V = ridge·I`.
    ///
    /// # Errors
    /// If `dim` is zero or `ridge` is not between 1e-100 and 1e100.
    pub fn new(dim: usize, ridge: f64) -> Result<Self, RidgeError> {
        if !(1e-100..=1e100).contains(&ridge) {
            return Err(RidgeError::Ridge { ridge });
        }
        Self::from_statistics(dim, ridge, &scaled_identity(dim, ridge), &vec![0.0; dim], 0)
    }

    /// From sums already at hand: `gram` with the prior included (row-major), `moment`, and the
    /// number of observations.
    ///
    /// `ridge` may be zero if `gram` is positive definite, as after each direction was observed.
    ///
    /// # Errors
    /// If the shapes do not match `dim`, `ridge` is negative or not finite, an entry is not finite,
    /// or `gram` is not symmetric and positive definite.
    pub fn from_statistics(
        dim: usize,
        ridge: f64,
        gram: &[f64],
        moment: &[f64],
        observations: u64,
    ) -> Result<Self, RidgeError> {
        Ok(Self {
            belief: Belief::new(dim, ridge, gram, moment, observations)?,
            looks: Looks::default(),
        })
    }

    /// Scores with this instruction set instead of the widest one; the results are the same.
    #[must_use]
    pub fn with_isa(mut self, isa: Isa) -> Self {
        self.belief.isa = isa;
        self.looks.cache.scores.isa = isa;
        self
    }

    /// Scores every action of a fixed set in every round, to compare with; the choices are the
    /// same.
    #[must_use]
    pub fn without_lists(mut self) -> Self {
        self.looks.lists = false;
        self
    }

    pub(crate) fn isa(&self) -> Isa {
        self.belief.isa
    }

    /// d.
    pub fn dim(&self) -> usize {
        self.belief.dim
    }

    /// `V`, row-major.
    pub fn gram(&self) -> Vec<f64> {
        self.belief.gram.rounded()
    }

    /// `V⁻¹`, row-major.
    pub fn gram_inverse(&self) -> &[f64] {
        &self.belief.gram_inverse
    }

    /// `b = Σ x·y`.
    pub fn moment(&self) -> Vec<f64> {
        let mut moment = Vec::new();
        self.belief.moment.rounded_into(&mut moment);
        moment
    }

    /// θ̂.
    pub fn theta_hat(&self) -> &[f64] {
        &self.belief.theta_hat
    }

    /// Contenders for the largest upper bound with a bound on what all others reach; `None` if that
    /// is not known of many.
    pub(crate) fn reaching(
        &mut self,
        actions: Actions<'_>,
        sqrt_beta: f64,
    ) -> Option<Contenders<'_>> {
        self.looks.reaching(&self.belief, actions, sqrt_beta)
    }
}

impl Estimator for Ridge {
    fn scores(&mut self, actions: Actions<'_>) -> &Scores {
        self.belief.check_dim(actions);
        self.looks.scores(&self.belief, actions)
    }

    /// On a set offered again and again those of a list, which is made anew now and then and kept
    /// up to date between; on another those that a bound of O(d) leaves in question. Where that is
    /// most of them and one is sought, those that scores in single precision leave in question.
    fn contenders(&mut self, actions: Actions<'_>, reach: Reach, sought: Sought) -> Contenders<'_> {
        self.looks.contenders(&self.belief, actions, reach, sought)
    }

    /// O(K·d), or nothing if neither set nor model has changed.
    fn means(&mut self, actions: Actions<'_>) -> &[f64] {
        self.looks.means(&self.belief, actions)
    }

    fn score_into(&self, actions: Actions<'_>, out: &mut Scores) {
        self.belief.check_dim(actions);
        self.looks.score_into(&self.belief, actions, out);
    }

    fn update(&mut self, action: Action<'_>, reward: f64) {
        self.belief.learn(action.features(), reward);
        self.looks.shortlist.drifted(self.belief.last_step.length);
    }

    fn shape(&self) -> Option<Shape> {
        Some(Shape::Features { dim: self.belief.dim })
    }

    fn evidence(&self) -> Evidence {
        self.belief.evidence()
    }

    /// With `L` the largest norm in the set, `ℓ = L²/λ` and `Λ = d·log(1 + round·L²/(dλ))`: widths
    /// over a set that only shrinks only fall, and their squares sum to at most `ℓ/log(1+ℓ)·Λ`; so
    /// the last of them is at most that by the number of rounds left. Only for a model without
    /// data, whose `V` is `λI`.
    fn forecast(&self, actions: Actions<'_>, round: u64) -> Option<Forecast> {
        let Belief { dim, ridge, observations, .. } = self.belief;
        if ridge == 0.0 || observations > 0 {
            return None;
        }
        let largest = actions.largest_norm_sq();
        let (ell, d, rounds) = (largest / ridge, dim as f64, round as f64);
        let log_det = d * libm::log1p(rounds * ell / d);
        let width_sq = if ell > 0.0 { ell / libm::log1p(ell) * log_det / rounds } else { 0.0 };
        let mut evidence = Evidence::new(round, dim, ridge, log_det);
        // No pivot is below λ and no entry above this, so a floor is needed only where they are far
        // apart.
        let largest_entry = ridge + rounds * largest;
        if largest_entry * PIVOT_TOLERANCE > 0.5 * ridge {
            evidence.floor = 2.0 * PIVOT_TOLERANCE * largest_entry;
        }
        Some(Forecast { width_sq, evidence })
    }

    /// `‖θ̂ − θ*‖_{V+F}`. O(d²).
    fn deviation(&self, theta_star: &[f64]) -> f64 {
        let Belief { dim, gram, theta_hat, floor, .. } = &self.belief;
        let mut squared = gram.quadratic_form(theta_hat, &theta_star[..*dim]);
        for ((floor, hat), star) in floor.iter().zip(theta_hat).zip(theta_star) {
            squared += floor * (hat - star) * (hat - star);
        }
        // A form of a positive matrix; rounding alone can make it negative.
        if squared < 0.0 { 0.0 } else { squared.sqrt() }
    }

    /// The loss `L(θ) = λ‖θ‖² + Σ(y − ⟨x, θ⟩)²` is `L(θ̂) + ‖θ − θ̂‖²_V`. An observation adds
    /// `noise²` to `L(θ*)` and takes nothing from `L(θ̂)`, its minimum. A floor moves the minimum
    /// at every refactorisation.
    fn deviation_growth(&self, noise: f64) -> f64 {
        if self.belief.floor.is_empty() { noise * noise } else { f64::INFINITY }
    }

    fn as_ridge(&self) -> Option<&Ridge> {
        Some(self)
    }
}

/// What the laws tamper with.
#[cfg(test)]
impl Ridge {
    pub(super) fn shortlist_mut(&mut self) -> &mut super::shortlist::Shortlist {
        &mut self.looks.shortlist
    }

    pub(super) fn rough_mut(&mut self) -> &mut super::rough::Rough {
        &mut self.looks.rough
    }

    /// How far the last step went.
    pub(super) fn forget_length(&mut self) {
        self.belief.last_step.length = 0.0;
    }

    pub(super) fn sieve_mut(&mut self) -> &mut super::sieve::Sieve {
        &mut self.looks.sieve
    }
}
