//! Ridge regression, one observation at a time.

use super::fit::Step;
use super::{
    Estimator, Evidence, Fit, Guarantee, Lineage, LogDet, Outcome, RidgeError, Scores, Shape,
    SquareSums, assert_reward, pair_shares,
};
use crate::actions::{Action, ActionIndex, Actions, MAX_MAGNITUDE};
use crate::linalg::{
    Cholesky, Compensated, CompensatedGram, Isa, Learned, NotPositive, PIVOT_TOLERANCE, dot,
    scaled_identity,
};
use crate::state::{DurableModel, Reader, StateError, Writer, holds};

/// `V⁻¹` is recomputed at the latest after this many observations.
const REFACTOR_EVERY: u64 = 4096;
/// `V⁻¹` is recomputed when the determinant has grown by this factor, though not more often than
/// every `d/8` observations, which keeps an update O(d²) on average.
const REFACTOR_GROWTH: f64 = 100.0;
/// `V⁻¹` is recomputed at once after a step that shrinks a squared width this many times: such a
/// step loses `log₂` of it bits to cancellation.
const REFACTOR_STEP: f64 = 1e6;
/// Scores stop following by steps at the first refactorisation after some squared width may have
/// shrunk this many times: steps have then cost it less than six of its sixteen digits.
const STEPS_SHRINKAGE: f64 = 1e6;
/// Scores also stop following where shrinkage times condition passes this. A recomputed `V⁻¹`
/// differs from the one that scores have followed by up to `ε·tr V·‖V⁻¹‖` of a width, and that
/// difference stays when the width shrinks: at most nine of sixteen digits are lost.
const STEPS_LOSS: f64 = 1e9;
/// [`Fit::margin`] of a well-conditioned model. Followed squared widths keep seven digits or more
/// (see the limits above), so this is ten times what they can lose.
const MARGIN: f64 = 1e-6;
/// [`Fit::margin`] in units of `tr V·tr V⁻¹`, a bound on the condition, where that is larger.
/// Chosen, not proved: a rounded `V⁻¹` is off by a few `ε = 1.1e-16` times the condition, and the
/// determinant can grow a hundredfold before the next refactorisation, so this is about 25 times
/// the error to expect. `search::laws` has models this badly conditioned.
const MARGIN_PER_CONDITION: f64 = 1e-12;

/// Ridge estimate of `θ*` with its gram matrix.
///
/// ```text
/// V = λI + Σ x·xᵀ     b = Σ x·y     θ̂ = V⁻¹b     mean(a) = ⟨a, θ̂⟩     width_sq(a) = aᵀV⁻¹a
/// ```
///
/// `V⁻¹` and `θ̂` follow each observation by a Sherman–Morrison step. `V` and `b` are summed with
/// compensation, and `V⁻¹` is recomputed from them when the determinant has grown a hundredfold,
/// and every 4096 observations. So few steps bound the drift, and the sums are good to a unit in
/// the last place for tens of millions of observations. A plain sum would not be, and recomputing
/// from it does harm; `docs/design/numerics.md` has the measurements.
///
/// # Precision
/// `V` is numerically singular once its condition passes 1e10. In a direction never observed this
/// happens with a tiny ridge, or with features of size 1e6 and a ridge of 1. The estimate is then
/// that of `V + F` with `F = 2·10⁻¹⁰·diag V`: estimates and widths in observed directions keep four
/// digits or more, and everything stays finite. The set stays valid, because radii pay for `F`
/// ([`Evidence::floor`]):
///
/// ```text
/// (V + F)·(θ̂ − θ*) = Σ x·η − (λI + F)·θ*
/// ‖θ̂ − θ*‖_{V+F} ≤ ‖Σ x·η‖_{V⁻¹} + √(λ + max F)·S
/// ```
///
/// # Cost
/// An update is O(d²) on average, scores are O(K·d²). Only refactorisations allocate. No draws.
///
/// # Reference
/// \[AYPS11\] Abbasi-Yadkori, Pál, Szepesvári: Improved Algorithms for Linear Stochastic Bandits.
/// NIPS 2011.
#[derive(Clone, Debug)]
#[expect(clippy::struct_field_names, reason = "λ is called the ridge everywhere")]
pub struct Ridge {
    lineage: Lineage,
    dim: usize,
    ridge: f64,
    isa: Isa,
    observations: u64,
    since_refactor: usize,
    gram: CompensatedGram,
    moment: Compensated,
    /// `None` for a model made from sums that were given without squares.
    squares: Option<SquareSums>,
    gram_inverse: Vec<f64>,
    theta_hat: Vec<f64>,
    log_det: LogDet,
    /// The diagonal of `F` where the estimate is that of `V + F`; empty where it is that of `V`.
    floor: Vec<f64>,
    /// See [`Fit::margin`].
    margin: f64,
    step: Step,
    /// Whether scores can follow `step`.
    step_holds: bool,
    stepped: Stepped,
}

/// What has happened since scores last had to be computed from scratch.
#[derive(Clone, Copy, Debug)]
struct Stepped {
    /// The factor by which the determinant has grown.
    growth: f64,
    /// `tr V` then.
    trace: f64,
    /// `tr V⁻¹` then.
    trace_inverse: f64,
    /// The largest `tr V·tr V⁻¹` since, a bound on the condition of `V`.
    condition: f64,
}

impl Stepped {
    /// An upper bound on the factor by which a squared width has shrunk: the growth of the
    /// determinant, all of which could be in one direction, or the bound that follows from
    /// `aᵀV⁻¹a ≥ aᵀV₀⁻¹a/λ_max(V₀⁻¹V)` with `λ_max(V₀⁻¹V) ≤ 1 + tr V₀⁻¹·Σ‖x‖²`.
    fn shrinkage(&self, trace: f64) -> f64 {
        self.growth.min(1.0 + self.trace_inverse * (trace - self.trace))
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
            lineage: Lineage::new(),
            dim,
            ridge,
            isa: Isa::detect(),
            observations,
            since_refactor: 0,
            gram: CompensatedGram::new(gram.to_vec(), dim),
            moment: Compensated::new(moment.to_vec()),
            squares: (observations == 0).then(SquareSums::default),
            gram_inverse: vec![0.0; dim * dim],
            theta_hat: vec![0.0; dim],
            log_det: LogDet::new(0.0),
            floor: Vec::new(),
            margin: MARGIN,
            step: Step { direction: vec![0.0; dim], gain: 0.0, length: 0.0 },
            step_holds: false,
            stepped: Stepped { growth: 1.0, trace: 0.0, trace_inverse: 0.0, condition: 0.0 },
        };
        model.refactor()?;
        model.restart_steps();
        Ok(model)
    }

    /// With sums of squares that go with the statistics: `Σ y²` and, if every reward has a
    /// forecast, `Σ ŷ·(ŷ − 2y)`. Sets that judge the noise need them ([`Evidence::squares`]).
    #[must_use]
    pub fn with_squares(mut self, rewards: f64, forecasts: Option<f64>) -> Self {
        self.squares = Some(SquareSums::of(rewards, forecasts, self.observations));
        self
    }

    /// The same observations with another ridge.
    ///
    /// # Errors
    /// If the ridge is out of range.
    pub fn with_ridge(&self, ridge: f64) -> Result<Self, RidgeError> {
        let mut gram = self.gram();
        gram.iter_mut().step_by(self.dim + 1).for_each(|entry| *entry += ridge - self.ridge);
        let (dim, moment) = (self.dim, self.moment());
        let made = Self::from_statistics(dim, ridge, &gram, &moment, self.observations)?;
        Ok(Self { squares: self.squares, ..made })
    }

    /// Scores with this instruction set instead of the widest one; the results are the same.
    #[must_use]
    pub fn with_isa(mut self, isa: Isa) -> Self {
        self.isa = isa;
        self
    }

    pub(crate) fn isa(&self) -> Isa {
        self.isa
    }

    /// Whether the last observation made it recompute everything from the sums.
    pub(crate) fn just_recomputed(&self) -> bool {
        self.since_refactor == 0
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
        let (factor, floor) = self.factor()?;
        self.floor = floor;
        factor.inverse_into(&mut self.gram_inverse);
        self.moment.rounded_into(&mut self.theta_hat);
        factor.solve(&mut self.theta_hat);
        self.log_det = LogDet::new(factor.log_det() - self.dim as f64 * libm::log(self.ridge));
        self.since_refactor = 0;
        Ok(())
    }

    /// The factor of `V` and an empty list or, if `V` is numerically singular, the factor of
    /// `V + F` and the diagonal of `F = 2·10⁻¹⁰·diag V`.
    fn factor(&self) -> Result<(Cholesky, Vec<f64>), NotPositive> {
        let mut gram = self.gram.rounded();
        let exact = Cholesky::new(&gram, self.dim);
        // Without a ridge V need not have an inverse, so a failed factorisation is an error, not
        // rounding.
        if exact.is_ok() || self.ridge == 0.0 {
            return exact.map(|factor| (factor, Vec::new()));
        }
        let floor = self.gram.floor();
        for (entry, floor) in gram.iter_mut().step_by(self.dim + 1).zip(&floor) {
            *entry += floor;
        }
        Cholesky::new(&gram, self.dim).map(|factor| (factor, floor))
    }

    /// Whether `V⁻¹` should be recomputed, after a step that shrank its own squared width `growth`
    /// times.
    fn refactor_due(&self, growth: f64) -> bool {
        growth > REFACTOR_STEP
            || (self.log_det.growth() > REFACTOR_GROWTH && 8 * self.since_refactor >= self.dim)
            || self.observations.is_multiple_of(REFACTOR_EVERY)
    }

    /// After a refactorisation: a new inverse differs from the old one by rounding, and scores can
    /// follow steps across it until they may have lost too much.
    fn check_steps(&mut self) {
        let trace = self.gram.trace();
        let condition = trace * self.trace_inverse();
        self.margin = MARGIN.max(MARGIN_PER_CONDITION * condition);
        self.stepped.condition = condition.max(self.stepped.condition);
        let shrinkage = self.stepped.shrinkage(trace);
        if shrinkage > STEPS_SHRINKAGE
            || shrinkage * self.stepped.condition > STEPS_LOSS
            || !self.floor.is_empty()
            || self.observations.is_multiple_of(REFACTOR_EVERY)
        {
            self.restart_steps();
        }
    }

    /// Scores have to be computed from scratch now, and can follow steps from here on.
    fn restart_steps(&mut self) {
        let (trace, trace_inverse) = (self.gram.trace(), self.trace_inverse());
        let condition = trace * trace_inverse;
        self.step_holds = false;
        self.margin = MARGIN.max(MARGIN_PER_CONDITION * condition);
        self.stepped = Stepped { growth: 1.0, trace, trace_inverse, condition };
    }

    fn trace_inverse(&self) -> f64 {
        self.gram_inverse.iter().step_by(self.dim + 1).sum()
    }

    fn check_dim(&self, actions: Actions<'_>) {
        let (dim, found) = (self.dim, actions.dim());
        assert!(dim == found, "a model of {dim} features was asked about actions with {found}");
    }
}

impl Estimator for Ridge {
    fn score_into(&self, actions: Actions<'_>, out: &mut Scores) {
        self.check_dim(actions);
        out.isa = self.isa;
        out.resize(actions.len());
        let Scores { mean, width_sq, .. } = out;
        self.isa.rebuild(actions.blocks(), &self.theta_hat, &self.gram_inverse, mean, width_sq);
    }

    /// O(K·d).
    fn means_into(&self, actions: Actions<'_>, out: &mut Scores) {
        self.check_dim(actions);
        out.mean.resize(actions.len(), 0.0);
        self.isa.dots(actions.blocks(), &self.theta_hat, &mut out.mean);
    }

    #[inline]
    fn update(&mut self, action: Action<'_>, reward: f64) {
        self.learn(action, Outcome::from(reward));
    }

    #[inline]
    fn learn(&mut self, action: Action<'_>, outcome: Outcome) {
        let Outcome { reward, forecast, .. } = outcome;
        let (x, dim) = (action.features(), self.dim);
        assert!(x.len() == dim, "a model of {dim} features got an action with {}", x.len());
        assert_reward(reward);
        let Self { gram_inverse, theta_hat, step, .. } = self;
        let Learned { width_sq, gain } =
            self.isa.take_step(gram_inverse, theta_hat, &mut step.direction, x, reward);
        assert!(
            width_sq.is_finite(),
            "features must be finite and at most 1e100 in magnitude, got {x:?}"
        );
        let growth = 1.0 + width_sq.max(0.0);
        step.gain = gain;
        step.length = gain.abs() * (width_sq.max(0.0) / growth).sqrt();
        self.step_holds = true;
        self.log_det.grow(growth);
        self.stepped.growth *= growth;
        // The sums take all of it, also where it was too little for a step.
        self.gram.add_observation(&mut self.moment, self.isa, x, reward);
        if let Some(squares) = &mut self.squares {
            squares.add(reward, forecast);
        }
        self.observations += 1;
        self.since_refactor += 1;
        if self.refactor_due(growth) {
            if self.refactor().is_ok() {
                self.check_steps();
            } else {
                // Only without a ridge, after data that overwhelm the first sums: the steps are
                // all there is.
                self.log_det = LogDet::new(self.log_det.ratio());
            }
        }
    }

    fn evidence(&self) -> Evidence {
        Evidence {
            observations: self.observations,
            dim: self.dim,
            ridge: self.ridge,
            shares: self.dim as u64,
            pair_shares: pair_shares(self.dim, self.dim as u64, false),
            any_pair_shares: pair_shares(self.dim, self.dim as u64, true),
            floor: self.floor.iter().copied().fold(0.0, f64::max),
            squares: self.squares.map(|squares| {
                let explained = dot(self.moment.parts().0, &self.theta_hat);
                squares.squares(explained, self.observations)
            }),
            own: None,
            log_det: self.log_det,
        }
    }

    fn fit(&self) -> Option<Fit<'_>> {
        Some(Fit {
            lineage: self.lineage.id(),
            isa: self.isa,
            observations: self.observations,
            gram: &self.gram,
            gram_inverse: &self.gram_inverse,
            moment: self.moment.parts().0,
            theta_hat: &self.theta_hat,
            step: self.step_holds.then_some(&self.step),
            // A floor changes at refactorisations, and bounds by an earlier one do not hold.
            margin: self.floor.is_empty().then_some(self.margin),
        })
    }

    fn shape(&self) -> Option<Shape> {
        Some(Shape::Features { dim: self.dim })
    }

    /// With `L` the largest norm in the set, `ℓ = L²/λ` and `Λ = d·log(1 + round·L²/(dλ))`: widths
    /// over a set that only shrinks only fall, and their squares sum to at most `ℓ/log(1+ℓ)·Λ`; so
    /// the last of them is at most that divided by the number of rounds. Only for a model without
    /// data, where `V` is `λI`.
    fn guarantee(&self, actions: Actions<'_>, round: u64) -> Option<Guarantee> {
        let Self { dim, ridge, observations, .. } = *self;
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
        Some(Guarantee { width_sq, evidence })
    }

    /// `‖θ̂ − θ*‖_{V+F}`. O(d²).
    fn deviation(&self, theta_star: &[f64]) -> f64 {
        let mut squared = self.gram.quadratic_form(&self.theta_hat, &theta_star[..self.dim]);
        for ((floor, hat), star) in self.floor.iter().zip(&self.theta_hat).zip(theta_star) {
            squared += floor * (hat - star) * (hat - star);
        }
        // A form of a positive matrix; rounding alone can make it negative.
        if squared < 0.0 { 0.0 } else { squared.sqrt() }
    }
}

impl DurableModel for Ridge {
    fn write(&self, out: &mut Writer) {
        out.count(self.observations);
        out.count(self.since_refactor as u64);
        for sums in [self.gram.parts(), self.moment.parts()] {
            out.numbers(sums.0);
            out.numbers(sums.1);
        }
        out.numbers(&self.gram_inverse);
        out.numbers(&self.theta_hat);
        let (at_refactor, growth) = self.log_det.parts();
        out.number(at_refactor);
        out.number(growth);
        out.numbers(&self.floor);
        out.flag(self.squares.is_some());
        if let Some(squares) = &self.squares {
            squares.write(out);
        }
    }

    fn read(&mut self, from: &mut Reader<'_>) -> Result<(), StateError> {
        let (dim, square) = (self.dim, self.dim * self.dim);
        self.lineage = Lineage::new();
        self.observations = from.count("observations")?;
        let since_refactor = from.count("since_refactor")?;
        holds("since_refactor", since_refactor <= self.observations)?;
        self.since_refactor = usize::try_from(since_refactor).unwrap_or(usize::MAX);
        let mut sums = |what, len| Ok((from.numbers(what, len)?, from.numbers(what, len)?));
        let ((gram, gram_carry), (moment, moment_carry)) =
            (sums("gram", square)?, sums("moment", dim)?);
        self.gram = CompensatedGram::from_parts(gram, gram_carry, dim);
        self.moment = Compensated::from_parts(moment, moment_carry);
        self.gram_inverse = from.numbers("gram_inverse", square)?;
        self.theta_hat = from.numbers("theta_hat", dim)?;
        let (at_refactor, growth) = (from.any_number()?, from.any_number()?);
        // Without a ridge there is no det V₀ to compare with.
        holds("log_det", at_refactor.is_finite() || self.ridge == 0.0)?;
        holds("log_det", growth.is_finite() && growth >= 1.0)?;
        self.log_det = LogDet::from_parts(at_refactor, growth);
        self.floor = from.some_numbers("floor")?;
        holds("floor", self.floor.is_empty() || self.floor.len() == dim)?;
        holds("floor", self.floor.iter().all(|entry| *entry >= 0.0))?;
        self.squares = None;
        if from.flag("squares")? {
            self.squares = Some(SquareSums::read(from, self.observations)?);
        }
        self.restart_steps();
        Ok(())
    }

    fn takes(&self, _: ActionIndex, features: &[f64]) -> bool {
        features.len() == self.dim && features.iter().all(|x| x.abs() <= MAX_MAGNITUDE)
    }
}

pub(super) fn check_statistics(dim: usize, gram: &[f64], moment: &[f64]) -> Result<(), RidgeError> {
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

/// Wrong on purpose: what the laws of searches must notice.
#[cfg(test)]
impl Ridge {
    /// Takes followed scores for exact.
    pub(crate) fn forget_margin(&mut self) {
        self.margin = 0.0;
    }

    /// Forgets how far the last step moved `θ̂`.
    pub(crate) fn forget_length(&mut self) {
        self.step.length = 0.0;
    }
}
