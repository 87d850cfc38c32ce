//! What a ridge has learned.

use super::super::contenders::Moment;
use super::super::{Evidence, LogDet, assert_reward};
use super::RidgeError;
use crate::actions::Actions;
use crate::linalg::{Cholesky, Compensated, CompensatedGram, FEW_DIMS, Isa, Learned, NotPositive};

/// A refactorisation comes at the latest after this many observations ….
const REFACTOR_EVERY: u64 = 4096;
/// … when the determinant has grown by this factor, though not more often than every `d/8`
/// observations, which keeps an update O(d²) on average …
const REFACTOR_GROWTH: f64 = 100.0;
/// … and at once after a step like this. A step that shrinks a width `g` times loses `log₂ g` bits
/// of it to cancellation.
const REFACTOR_STEP: f64 = 1e6;
/// Scores are recomputed at the first refactorisation after some width may have shrunk this many
/// times: steps have then cost it less than six of its sixteen digits to cancellation.
const RESCORE_SHRINKAGE: f64 = 1e6;
/// Scores are also recomputed where shrinkage times condition passes this. A refactored `V⁻¹`
/// differs from the one that scores have followed by up to `ε·tr V·‖V⁻¹‖` of a width, and that
/// difference is left behind when the width shrinks: at most nine of sixteen digits are lost.
const RESCORE_LOSS: f64 = 1e9;
/// The largest ratio of pivots of `V` at which its inverse is good to seven digits, also just
/// before the next refactorisation.
const STEADY: f64 = 1e6;

/// Everything that observations change in a ridge, and nothing that looking at actions does.
#[derive(Clone, Debug)]
pub(super) struct Belief {
    pub(super) dim: usize,
    pub(super) ridge: f64,
    pub(super) isa: Isa,
    pub(super) observations: u64,
    pub(super) since_refactor: usize,
    pub(super) gram: CompensatedGram,
    pub(super) moment: Compensated,
    pub(super) gram_inverse: Vec<f64>,
    pub(super) theta_hat: Vec<f64>,
    pub(super) log_det: LogDet,
    /// The diagonal of `F` where the estimate is that of `V + F`; empty where it is that of `V`.
    pub(super) floor: Vec<f64>,
    pub(super) unscored: Unscored,
    pub(super) last_step: Step,
    /// Whether `V` is so far from singular that bounds on later scores can be relied on to the
    /// margin of a shortlist.
    pub(super) steady: bool,
}

/// The rank-one step from the state before the last observation to the state after it.
#[derive(Clone, Debug)]
pub(super) struct Step {
    /// `V⁻¹x/√(1 + xᵀV⁻¹x)`, by the `V⁻¹` before.
    pub(super) direction: Vec<f64>,
    /// What the step adds to `θ̂` along `direction`.
    pub(super) gain: f64,
    /// How far that moved `θ̂`, in the norm of the `V` after.
    pub(super) length: f64,
    /// False where scores have to be made anew.
    pub(super) valid: bool,
}

impl Step {
    /// None that scores could follow.
    pub(super) fn none(dim: usize) -> Self {
        Self { direction: vec![0.0; dim], gain: 0.0, length: f64::INFINITY, valid: false }
    }

    /// What takes scores from the observation before to this one, if anything does.
    #[inline]
    pub(super) fn to_follow(&self) -> Option<(&[f64], f64)> {
        self.valid.then_some((&*self.direction, self.gain))
    }
}

/// What has happened since scores were last made anew.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unscored {
    /// By what factor the determinant has grown.
    pub(super) growth: f64,
    /// Of `V` then.
    pub(super) trace: f64,
    /// Of `V⁻¹` then.
    pub(super) trace_inverse: f64,
    /// The largest `tr V·tr V⁻¹` since, a bound on the condition of `V`.
    pub(super) condition: f64,
}

impl Unscored {
    /// No squared width has shrunk more often: by the determinant, all of whose growth could be in
    /// its direction, and by `aᵀV⁻¹a ≥ aᵀV₀⁻¹a/λ_max(V₀⁻¹V)` with `λ_max(V₀⁻¹V) ≤ 1 + tr
    /// V₀⁻¹·Σ‖x‖²`.
    fn shrinkage(&self, trace: f64) -> f64 {
        self.growth.min(1.0 + self.trace_inverse * (trace - self.trace))
    }
}

impl Belief {
    /// See [`super::Ridge::from_statistics`].
    pub(super) fn new(
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
        let mut belief = Self {
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
            floor: Vec::new(),
            // Nothing has scores yet.
            unscored: Unscored {
                growth: f64::INFINITY,
                trace: f64::NEG_INFINITY,
                trace_inverse: 1.0,
                condition: 1.0,
            },
            last_step: Step::none(dim),
            steady: false,
        };
        belief.refactor()?;
        Ok(belief)
    }

    #[inline]
    pub(super) fn now(&self) -> Moment<'_> {
        let Self { isa, observations, theta_hat, gram_inverse, .. } = self;
        Moment { isa: *isa, observations: *observations, theta_hat, gram_inverse }
    }

    /// Learns from a reward of an action with these features.
    #[inline]
    pub(super) fn learn(&mut self, x: &[f64], reward: f64) {
        assert!(
            x.len() == self.dim,
            "a model of {} features got an action with {}",
            self.dim,
            x.len()
        );
        assert_reward(reward);
        let step = &mut self.last_step;
        let (gram_inverse, theta_hat, direction) =
            (&mut self.gram_inverse, &mut self.theta_hat, &mut step.direction);
        let Learned { width_sq, gain } = if x.len() <= FEW_DIMS {
            self.isa.take_step(gram_inverse, theta_hat, direction, x, reward)
        } else {
            self.isa.take_wide_step(gram_inverse, theta_hat, direction, x, reward)
        };
        assert!(
            width_sq.is_finite(),
            "features must be finite and at most 1e100 in magnitude, got {x:?}"
        );
        step.gain = gain;
        step.valid = true;
        let growth = 1.0 + width_sq.max(0.0);
        // ‖gain·v‖_V with v the direction of the step.
        step.length = gain.abs() * (width_sq.max(0.0) / growth).sqrt();
        self.log_det.grow(growth);
        self.unscored.growth *= growth;
        // All of it, also where it was too little for a step.
        self.gram.add_observation(&mut self.moment, self.isa, x, reward);
        self.observations += 1;
        self.since_refactor += 1;
        if self.refactor_due(growth) && self.refactor().is_err() {
            // Only without a ridge, and after data that overwhelm what there was: the steps are all
            // there is.
            self.log_det = LogDet::new(self.log_det.ratio());
        }
    }

    pub(super) fn evidence(&self) -> Evidence {
        Evidence {
            observations: self.observations,
            dim: self.dim,
            ridge: self.ridge,
            shares: self.dim as u64,
            floor: self.floor.iter().copied().fold(0.0, f64::max),
            log_det: self.log_det,
        }
    }

    /// Recomputes everything derived from the sums. O(d³).
    fn refactor(&mut self) -> Result<(), NotPositive> {
        let (factor, floor) = self.factor()?;
        self.steady = floor.is_empty() && factor.pivot_ratio() < STEADY;
        self.floor = floor;
        factor.inverse_into(&mut self.gram_inverse);
        self.moment.rounded_into(&mut self.theta_hat);
        factor.solve(&mut self.theta_hat);
        self.log_det = LogDet::new(factor.log_det() - self.dim as f64 * libm::log(self.ridge));
        self.since_refactor = 0;
        // A new inverse differs from the old one by rounding, and scores can go on from it for a
        // while.
        let trace = self.gram.trace();
        let trace_inverse: f64 = self.gram_inverse.iter().step_by(self.dim + 1).sum();
        let condition = trace * trace_inverse;
        let shrinkage = self.unscored.shrinkage(trace);
        self.unscored.condition = condition.max(self.unscored.condition);
        if shrinkage > RESCORE_SHRINKAGE
            || shrinkage * self.unscored.condition > RESCORE_LOSS
            || self.observations.is_multiple_of(REFACTOR_EVERY)
        {
            self.last_step.valid = false;
            self.unscored = Unscored { growth: 1.0, trace, trace_inverse, condition };
        }
        Ok(())
    }

    /// The factor of `V` and nothing or, where doubles cannot tell `V` from a singular matrix, the
    /// factor of `V + F` and the diagonal of `F = 2·10⁻¹⁰·diag V`.
    fn factor(&self) -> Result<(Cholesky, Vec<f64>), NotPositive> {
        let mut gram = self.gram.rounded();
        let exact = Cholesky::new(&gram, self.dim);
        // Without a ridge there is no claim that V has an inverse, and nothing to stand in for it.
        if exact.is_ok() || self.ridge == 0.0 {
            return exact.map(|factor| (factor, Vec::new()));
        }
        let floor = self.gram.floor();
        for (entry, floor) in gram.iter_mut().step_by(self.dim + 1).zip(&floor) {
            *entry += floor;
        }
        Cholesky::new(&gram, self.dim).map(|factor| (factor, floor))
    }

    /// Whether `V⁻¹` should be recomputed, after a step that shrank its own width so many times.
    fn refactor_due(&self, growth: f64) -> bool {
        growth > REFACTOR_STEP
            || (self.log_det.growth() > REFACTOR_GROWTH && 8 * self.since_refactor >= self.dim)
            || self.observations.is_multiple_of(REFACTOR_EVERY)
    }

    pub(super) fn check_dim(&self, actions: Actions<'_>) {
        assert!(
            actions.dim() == self.dim,
            "a model of {} features was asked about actions with {}",
            self.dim,
            actions.dim()
        );
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
