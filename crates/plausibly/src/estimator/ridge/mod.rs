//! Ridge regression, one observation at a time.

mod error;
mod scoring;
mod state;

pub use error::RidgeError;

use self::scoring::{Cache, Means, bring_up};
use super::contenders::{Moment, Seek};
use super::rough::{Off, Rough};
use super::shortlist::Shortlist;
use super::sieve::Sieve;
use super::{Contenders, Estimator, Evidence, Forecast, LogDet, Scores, Sought, assert_reward};
use crate::actions::{Action, Actions, SetId};
use crate::confidence::Reach;
use crate::linalg::{
    Cholesky, Compensated, CompensatedGram, FEW_DIMS, Isa, Learned, NotPositive, PIVOT_TOLERANCE,
    scaled_identity,
};

/// A refactorisation comes at the latest after this many observations ….
const REFACTOR_EVERY: u64 = 4096;
/// … when the determinant has grown by this factor, though not more often than every `d/8` observations, which keeps an
/// update O(d²) on average …
const REFACTOR_GROWTH: f64 = 100.0;
/// … and at once after a step like this. A step that shrinks a width `g` times loses `log₂ g` bits of it to cancellation.
const REFACTOR_STEP: f64 = 1e6;
/// Scores are made anew at the first refactorisation after some width may have shrunk so many times: refreshing it has then cost it less than six of its sixteen digits.
const RESCORE_SHRINKAGE: f64 = 1e6;
/// The largest ratio of pivots of `V` at which its inverse is good to seven digits, also just before the next refactorisation.
const STEADY: f64 = 1e6;

/// Ridge estimate of `θ*` with its gram matrix and the scores of the current action set.
///
/// ```text
/// V = λI + Σ x·xᵀ     b = Σ x·y     θ̂ = V⁻¹b     mean(a) = ⟨a, θ̂⟩     width_sq(a) = aᵀV⁻¹a
/// ```
///
/// `V⁻¹` and `θ̂` follow each observation by a Sherman–Morrison step. `V` and `b` are summed with compensation, and `V⁻¹`
/// is recomputed from them when the determinant has grown a hundredfold, and every 4096 observations: the drift of the steps
/// is bounded by what so few of them can do, and the sums recomputed from are good to a unit in the last place for tens of
/// millions of observations (a plain sum would not be, and refactoring from it does harm; `docs/design/numerics.md` has the
/// measurements).
///
/// # Precision
/// Doubles cannot tell `V` from a singular matrix once its condition passes 1e10: with a tiny ridge, or features of size 1e6
/// beside a ridge of 1, in a direction never observed. The estimate is then that of the ridge `V + 2·10⁻¹⁰·diag V`: what is
/// known of observed directions keeps four digits or more, and everything stays finite. Directions never observed get the
/// width of that ridge, which is smaller than the true one and still enormous beside the others.
///
/// # Cost
/// An update is O(d²) on average. Scores of the same set one observation later are one pass of O(K·d); of another set, or after
/// several observations, O(K·d²). [Contenders](Estimator::contenders) of a set offered again and again cost O(d) each, and a list of them now and then O(K) and O(d²) for each
/// action that comes into question; those of another set O(K·d), and O(d²) for each that a bound on its width leaves in question.
/// Where one action is sought in a large set that no list helps with, a pass of O(K·d) reads a copy of its features in single precision, which is kept. Nothing is allocated but by the refactorisations, once
/// buffers have the size of the set. No draws.
///
/// # Reference
/// \[AYPS11\] Abbasi-Yadkori, Pál, Szepesvári: Improved Algorithms for Linear Stochastic Bandits. NIPS 2011.
#[derive(Clone, Debug)]
#[expect(clippy::struct_field_names, reason = "`ridge` is the name of λ in V everywhere")]
pub struct Ridge {
    dim: usize,
    ridge: f64,
    isa: Isa,
    observations: u64,
    since_refactor: usize,
    gram: CompensatedGram,
    moment: Compensated,
    gram_inverse: Vec<f64>,
    theta_hat: Vec<f64>,
    log_det: LogDet,
    unscored: Unscored,
    last_step: Step,
    cache: Cache,
    means: Means,
    shortlist: Shortlist,
    sieve: Sieve,
    rough: Rough,
    /// Whether few actions may be looked at.
    lists: bool,
    /// The set whose contenders were last asked for.
    offered: Option<SetId>,
    /// Whether `V` is so far from singular that bounds on later scores can be relied on to the margin of a shortlist.
    steady: bool,
}

/// The rank-one step from the state before the last observation to the state after it.
#[derive(Clone, Debug)]
struct Step {
    /// `V⁻¹x/√(1 + xᵀV⁻¹x)`, by the `V⁻¹` before.
    direction: Vec<f64>,
    /// What the step adds to `θ̂` along `direction`.
    gain: f64,
    /// False where scores have to be made anew.
    valid: bool,
}

/// What has happened since scores were last made anew.
#[derive(Clone, Copy, Debug)]
struct Unscored {
    /// By what factor the determinant has grown.
    growth: f64,
    /// Of `V` then.
    trace: f64,
    /// Of `V⁻¹` then.
    trace_inverse: f64,
}

impl Unscored {
    /// No squared width has shrunk more often: by the determinant, all of whose growth could be in its direction, and by
    /// `aᵀV⁻¹a ≥ aᵀV₀⁻¹a/λ_max(V₀⁻¹V)` with `λ_max(V₀⁻¹V) ≤ 1 + tr V₀⁻¹·Σ‖x‖²`.
    fn shrinkage(&self, gram: &CompensatedGram) -> f64 {
        self.growth.min(1.0 + self.trace_inverse * (gram.trace() - self.trace))
    }
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

    /// From sums already at hand: `gram` with the prior included (row-major), `moment`, and the number of observations.
    ///
    /// `ridge` may be zero if `gram` is positive definite, as after each direction was observed.
    ///
    /// # Errors
    /// If the shapes do not match `dim`, `ridge` is negative or not finite, an entry is not finite, or `gram` is not symmetric
    /// and positive definite.
    pub fn from_statistics(
        dim: usize,
        ridge: f64,
        gram: &[f64],
        moment: &[f64],
        observations: u64,
    ) -> Result<Self, RidgeError> {
        if dim == 0 {
            return Err(RidgeError::ZeroDim);
        }
        if gram.len() != dim * dim || moment.len() != dim {
            return Err(RidgeError::Shape { dim, gram: gram.len(), moment: moment.len() });
        }
        if !(0.0..=1e100).contains(&ridge) {
            return Err(RidgeError::Ridge { ridge });
        }
        check_statistics(dim, gram, moment)?;
        let mut model = Self {
            dim,
            ridge,
            isa: Isa::detect(),
            observations,
            since_refactor: 0,
            gram: CompensatedGram::new(gram.to_vec(), dim),
            moment: Compensated::new(moment.to_vec()),
            gram_inverse: vec![0.0; dim * dim],
            theta_hat: vec![0.0; dim],
            log_det: LogDet::new(0.0),
            // Nothing has scores yet.
            unscored: Unscored { growth: f64::INFINITY, trace: f64::NEG_INFINITY, trace_inverse: 1.0 },
            last_step: Step { direction: vec![0.0; dim], gain: 0.0, valid: false },
            cache: Cache::default(),
            means: Means::default(),
            shortlist: Shortlist::default(),
            sieve: Sieve::default(),
            rough: Rough::default(),
            lists: true,
            offered: None,
            steady: false,
        };
        model.refactor()?;
        Ok(model)
    }

    /// Scores with this instruction set instead of the widest one; the results are the same.
    #[must_use]
    pub fn with_isa(mut self, isa: Isa) -> Self {
        self.isa = isa;
        self.cache.scores.isa = isa;
        self
    }

    /// Scores every action of a fixed set in every round, to compare with; the choices are the same.
    #[must_use]
    pub fn without_lists(mut self) -> Self {
        self.lists = false;
        self
    }

    pub(crate) fn isa(&self) -> Isa {
        self.isa
    }

    #[cfg(test)]
    pub(super) fn shortlist_mut(&mut self) -> &mut Shortlist {
        &mut self.shortlist
    }

    #[cfg(test)]
    pub(super) fn rough_mut(&mut self) -> &mut Rough {
        &mut self.rough
    }

    #[cfg(test)]
    pub(super) fn sieve_mut(&mut self) -> &mut Sieve {
        &mut self.sieve
    }

    /// d.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// `V`, row-major.
    pub fn gram(&self) -> Vec<f64> {
        self.gram.rounded()
    }

    /// `V⁻¹`, row-major.
    pub fn gram_inverse(&self) -> &[f64] {
        &self.gram_inverse
    }

    /// `b = Σ x·y`.
    pub fn moment(&self) -> Vec<f64> {
        let mut moment = Vec::new();
        self.moment.rounded_into(&mut moment);
        moment
    }

    /// θ̂.
    pub fn theta_hat(&self) -> &[f64] {
        &self.theta_hat
    }

    /// Recomputes everything derived from the sums. O(d³).
    fn refactor(&mut self) -> Result<(), NotPositive> {
        let (factor, exact) = self.factor()?;
        self.steady = exact && factor.pivot_ratio() < STEADY;
        factor.inverse_into(&mut self.gram_inverse);
        self.moment.rounded_into(&mut self.theta_hat);
        factor.solve(&mut self.theta_hat);
        self.log_det = LogDet::new(factor.log_det() - self.dim as f64 * libm::log(self.ridge));
        self.since_refactor = 0;
        // A new inverse differs from the old one by rounding, and scores can go on from it for a while.
        if self.unscored.shrinkage(&self.gram) > RESCORE_SHRINKAGE
            || self.observations.is_multiple_of(REFACTOR_EVERY)
        {
            self.last_step.valid = false;
            let trace_inverse = self.gram_inverse.iter().step_by(self.dim + 1).sum();
            self.unscored = Unscored { growth: 1.0, trace: self.gram.trace(), trace_inverse };
        }
        Ok(())
    }

    /// The factor of `V` and true or, where doubles cannot tell it from a singular matrix, of `V + 2·10⁻¹⁰·diag V` and false.
    fn factor(&self) -> Result<(Cholesky, bool), NotPositive> {
        let mut gram = self.gram.rounded();
        let exact = Cholesky::new(&gram, self.dim);
        // Without a ridge there is no claim that V has an inverse, and nothing to stand in for it.
        if exact.is_ok() || self.ridge == 0.0 {
            return exact.map(|factor| (factor, true));
        }
        for k in 0..self.dim {
            gram[k * self.dim + k] *= 1.0 + 2.0 * PIVOT_TOLERANCE;
        }
        Cholesky::new(&gram, self.dim).map(|factor| (factor, false))
    }

    /// Whether `V⁻¹` should be recomputed, after a step that shrank its own width so many times.
    fn refactor_due(&self, growth: f64) -> bool {
        growth > REFACTOR_STEP
            || (self.log_det.growth() > REFACTOR_GROWTH && 8 * self.since_refactor >= self.dim)
            || self.observations.is_multiple_of(REFACTOR_EVERY)
    }

    fn check_dim(&self, actions: Actions<'_>) {
        assert!(
            actions.dim() == self.dim,
            "a model of {} features was asked about actions with {}",
            self.dim,
            actions.dim()
        );
    }
}

impl Estimator for Ridge {
    fn scores(&mut self, actions: Actions<'_>) -> &Scores {
        self.check_dim(actions);
        if self.cache.off != Off::NONE {
            self.rough.wait(self.observations);
        }
        self.score(actions);
        &self.cache.scores
    }

    /// On a set offered again and again those of a list, which is made anew now and then and kept up to date between; on another those that a bound of O(d) leaves in question. Where
    /// that is most of them and one is sought, those that scores in single precision leave in question.
    fn contenders(&mut self, actions: Actions<'_>, reach: Reach, sought: Sought) -> Contenders<'_> {
        let Reach::Ellipsoid { sqrt_beta } = reach else {
            panic!("a radius for arms was asked about a model of features");
        };
        self.check_dim(actions);
        // A list of the plausible is one of the widest of them.
        let listed = if sought == Sought::Widest { Sought::Plausible } else { sought };
        let listed = Seek { actions, sought: listed, sqrt_beta };
        if self.lists {
            // Of a set that was not offered last there is no list.
            if self.offered == Some(actions.id()) && self.list(listed) {
                return self.shortlist.contenders();
            }
            if self.is_sifted(listed) {
                return self.sieve.contenders();
            }
        }
        if sought == Sought::Plausible {
            return Contenders::all(self.scores(actions));
        }
        if Rough::suits(actions) && self.glance(Seek { sought, ..listed }) {
            return self.rough.contenders();
        }
        self.score(actions);
        Contenders::all(&self.cache.scores)
    }

    /// O(K·d), or nothing if neither set nor model has changed.
    fn means(&mut self, actions: Actions<'_>) -> &[f64] {
        let now = Some((actions.id(), self.observations));
        if self.means.of != now {
            self.check_dim(actions);
            self.means.values.resize(actions.len(), 0.0);
            self.isa.dots(actions.blocks(), &self.theta_hat, &mut self.means.values);
            self.means.of = now;
        }
        &self.means.values
    }

    fn score_into(&self, actions: Actions<'_>, out: &mut Scores) {
        self.check_dim(actions);
        out.copy_from(&self.cache.scores);
        let Self { isa, observations, theta_hat, gram_inverse, last_step, shortlist, cache, .. } = self;
        let now = Moment { isa: *isa, observations: *observations, theta_hat, gram_inverse };
        bring_up(cache.exact(), out, actions, now, last_step, shortlist);
    }

    fn update(&mut self, action: Action<'_>, reward: f64) {
        let x = action.features();
        assert!(x.len() == self.dim, "a model of {} features got an action with {}", self.dim, x.len());
        assert_reward(reward);
        let step = &mut self.last_step;
        let (gram_inverse, theta_hat, direction) =
            (&mut self.gram_inverse, &mut self.theta_hat, &mut step.direction);
        let Learned { width_sq, gain } = if x.len() <= FEW_DIMS {
            self.isa.take_step(gram_inverse, theta_hat, direction, x, reward)
        } else {
            self.isa.take_wide_step(gram_inverse, theta_hat, direction, x, reward)
        };
        assert!(width_sq.is_finite(), "features must be finite and at most 1e100 in magnitude, got {x:?}");
        step.gain = gain;
        step.valid = true;
        let growth = 1.0 + width_sq.max(0.0);
        // ‖gain·v‖_V with v the direction of the step.
        self.shortlist.drifted(gain.abs() * (width_sq.max(0.0) / growth).sqrt());
        self.log_det.grow(growth);
        self.unscored.growth *= growth;
        // All of it, also where it was too little for a step.
        self.gram.add_observation(&mut self.moment, self.isa, x, reward);
        self.observations += 1;
        self.since_refactor += 1;
        if self.refactor_due(growth) && self.refactor().is_err() {
            // Only without a ridge, and after data that overwhelm what there was: the steps are all there is.
            self.log_det = LogDet::new(self.log_det.ratio());
        }
    }

    fn evidence(&self) -> Evidence {
        Evidence {
            observations: self.observations,
            dim: self.dim,
            ridge: self.ridge,
            shares: self.dim as u64,
            log_det: self.log_det,
        }
    }

    /// With `L` the largest norm in the set, `ℓ = L²/λ` and `Λ = d·log(1 + round·L²/(dλ))`: widths over a set that only shrinks only fall, and their squares sum to at
    /// most `ℓ/log(1+ℓ)·Λ`; so the last of them is at most that by the number of rounds left. Only for a model without data, whose `V` is `λI`.
    fn forecast(&self, actions: Actions<'_>, round: u64) -> Option<Forecast> {
        if self.ridge == 0.0 || self.observations > 0 {
            return None;
        }
        let largest = actions.largest_norm_sq();
        let (ell, d, rounds) = (largest / self.ridge, self.dim as f64, round as f64);
        let log_det = d * libm::log1p(rounds * ell / d);
        let width_sq = if ell > 0.0 { ell / libm::log1p(ell) * log_det / rounds } else { 0.0 };
        Some(Forecast { width_sq, evidence: Evidence::new(round, self.dim, self.ridge, log_det) })
    }

    /// `‖θ̂ − θ*‖_V`. O(d²).
    fn deviation(&self, theta_star: &[f64]) -> f64 {
        let squared = self.gram.quadratic_form(&self.theta_hat, &theta_star[..self.dim]);
        // A form of a positive matrix; rounding alone can make it negative.
        if squared < 0.0 { 0.0 } else { squared.sqrt() }
    }

    /// The loss `L(θ) = λ‖θ‖² + Σ(y − ⟨x, θ⟩)²` is `L(θ̂) + ‖θ − θ̂‖²_V`. An observation adds `noise²` to `L(θ*)` and takes nothing from `L(θ̂)`, its minimum.
    fn deviation_growth(&self, noise: f64) -> f64 {
        noise * noise
    }
}

fn check_statistics(dim: usize, gram: &[f64], moment: &[f64]) -> Result<(), RidgeError> {
    for row in 0..dim {
        for column in 0..dim {
            let (entry, mirrored) = (gram[row * dim + column], gram[column * dim + row]);
            if !entry.is_finite() || entry.to_bits() != mirrored.to_bits() {
                return Err(RidgeError::Malformed { row, column });
            }
        }
        if !moment[row].is_finite() {
            return Err(RidgeError::Malformed { row, column: dim });
        }
    }
    Ok(())
}
