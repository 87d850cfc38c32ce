//! Least squares under normal noise of unknown scale.

mod set;

pub use set::BellPrior;

use self::set::{Solved, Sums};
use super::values::Values;
use super::{Estimator, Evidence, Fit, Lineage, LogDet, RidgeError, Scores, Shape, assert_reward};
use crate::actions::{Action, ActionIndex, ActionSet, Actions, MAX_MAGNITUDE};
use crate::confidence::{Doubt, RadiusError, Reach};
use crate::linalg::{Compensated, CompensatedGram, CompensatedSum, Isa};
use crate::model::ridge::check_statistics;
use crate::state::{DurableModel, Reader, StateError, Writer, holds};

/// Least squares with the confidence set of normal noise of one unknown scale.
///
/// ```text
/// y = ⟨x, θ*⟩ + σ·ε          ε standard normal; neither θ* nor σ is known
/// G = Σ x·xᵀ     b = Σ x·y     V₀ = P + G     T = log(1/δ) + ½·log(det V₀/det P) + 1 − c
/// ρ: the root of (1 + n/2)·log(1 + ρ) − ρ = T
/// V = G − (1 + ρ)·(P − P·V₀⁻¹·P)     θ̂ = G⁻¹b     β = ρ·Σ(y − ⟨x, θ̂⟩)²
/// ```
///
/// `P` stands for `2r` outcomes spread evenly over the first set of actions, which has rank `r`, in
/// the units of the noise: `P = 2r·mean(a·aᵀ)`. The set needs no constant but δ: multiplying the
/// rewards by a number multiplies the set by it, and adding `⟨x, θ₀⟩` to each reward moves the set
/// by `θ₀`. Its shape depends on δ, so δ belongs to the model and the radius is
/// [`Bell`](crate::Bell), which has none.
///
/// # Guarantee
/// If the noise is normal with one standard deviation given everything before the reward, `θ*`
/// stays in the set for all `t` at once with probability at least `1 − δ`, however the actions were
/// chosen. Proof, and what happens where the noise is no bell curve, in `docs/concepts/bell.md`.
/// For yes/no outcomes the set does *not* hold: nothing is ruled out before rewards have had five
/// distinct values.
///
/// # When nothing is ruled out
/// While no root exists (about the first ten outcomes at `δ = 0.05`), while some direction has less
/// than `ρ·P` of data, and while rewards have had fewer than five values ([`Doubt`]). Widths are
/// then those of the design, so that a policy which takes the widest action spreads its choices.
///
/// # Cost
/// An update is O(d³) and allocates; scores are O(K·d²). No draws.
#[derive(Clone, Debug)]
pub struct BellRidge {
    lineage: Lineage,
    isa: Isa,
    prior: BellPrior,
    delta: f64,
    observations: u64,
    gram: CompensatedGram,
    moment: Compensated,
    /// Σy².
    squares: CompensatedSum,
    values: Values,
    /// How far each reward may be off by rounding.
    error: f64,
    solved: Solved,
    first: First,
}

/// The set that fixes the coordinates.
#[derive(Clone, Debug)]
enum First {
    /// The model was made with its coordinates.
    Given,
    /// The first set on offer fixes them.
    Awaited,
    /// It did; these are its rows.
    Seen(Vec<f64>),
}

/// Sums that a [`BellRidge`] is made from.
#[derive(Clone, Copy, Debug)]
pub struct BellSums<'a> {
    /// The number of rewards.
    pub observations: u64,
    /// `Σ x·xᵀ`, row-major.
    pub gram: &'a [f64],
    /// `Σ x·y`.
    pub moment: &'a [f64],
    /// `Σ y²`.
    pub squares: f64,
    /// Rewards among which are five of different value, if any five are.
    pub values: &'a [f64],
    /// How far each reward may be off by rounding; the set then holds for rewards that were not
    /// rounded.
    pub error: f64,
}

impl BellRidge {
    /// Nothing observed, for a set that is the same in every round. Updates with actions outside
    /// its span are refused.
    ///
    /// # Errors
    /// If `delta` is not in (0, 1).
    ///
    /// # Panics
    /// If the actions have no features.
    pub fn new(actions: Actions<'_>, delta: f64) -> Result<Self, RadiusError> {
        Self::with_prior(BellPrior::of(actions), delta)
    }

    /// Like [`BellRidge::new`] with the first set that is on offer ([`Estimator::offered`]); until
    /// then nothing can be learned.
    ///
    /// # Errors
    /// If `delta` is not in (0, 1).
    ///
    /// # Panics
    /// If `dim` is zero.
    pub fn awaiting(dim: usize, delta: f64) -> Result<Self, RadiusError> {
        Ok(Self { first: First::Awaited, ..Self::in_context(dim, 1.0, 1.0, delta)? })
    }

    /// Takes the coordinates from a set of these rows.
    fn take_first(&mut self, actions: Actions<'_>) {
        if let Ok(model) = Self::new(actions, self.delta) {
            let rows = actions.iter().flat_map(|action| action.features().iter().copied());
            *self = Self { first: First::Seen(rows.collect()), ..model };
        }
    }

    /// Nothing observed, for sets that change: any actions with `‖x‖ ≤ action_norm_bound`. A
    /// direction that no action has yet shown has no end in the set of the fixed form, so here
    /// `‖θ*‖ ≤ theta_norm_bound` bounds it, at one hundredth of `β`.
    ///
    /// # Errors
    /// If `delta` is not in (0, 1) or a bound is not between 1e-50 and 1e50.
    ///
    /// # Panics
    /// If `dim` is zero.
    pub fn in_context(
        dim: usize,
        action_norm_bound: f64,
        theta_norm_bound: f64,
        delta: f64,
    ) -> Result<Self, RadiusError> {
        let prior = BellPrior::in_context(dim, action_norm_bound, theta_norm_bound)?;
        Self::with_prior(prior, delta)
    }

    fn with_prior(prior: BellPrior, delta: f64) -> Result<Self, RadiusError> {
        if !(delta > 0.0 && delta < 1.0) {
            return Err(RadiusError::Delta { delta });
        }
        let dim = prior.dim;
        let zeros = vec![0.0; dim * dim];
        let mut model = Self {
            lineage: Lineage::new(),
            isa: Isa::detect(),
            delta,
            observations: 0,
            gram: CompensatedGram::new(zeros.clone(), dim),
            moment: Compensated::new(vec![0.0; dim]),
            squares: CompensatedSum::default(),
            values: Values::default(),
            error: 0.0,
            solved: prior.by_design(&zeros, &vec![0.0; dim], 0.0),
            prior,
            first: First::Given,
        };
        model.solve();
        Ok(model)
    }

    /// From sums already at hand, such as those of a [`Ledger`](crate::Ledger).
    ///
    /// # Errors
    /// If the sums do not have the dimension of the coordinates, are not finite and symmetric, or
    /// are so extreme that scores would not be numbers.
    ///
    /// # Panics
    /// If `delta` is not in (0, 1).
    pub fn from_statistics(
        prior: BellPrior,
        delta: f64,
        sums: BellSums<'_>,
    ) -> Result<Self, RidgeError> {
        let BellSums { observations, gram, moment, squares, values, error } = sums;
        let dim = prior.dim;
        if gram.len() != dim * dim || moment.len() != dim {
            return Err(RidgeError::Shape { dim, gram: gram.len(), moment: moment.len() });
        }
        check_statistics(dim, gram, moment)?;
        let empty = Self::with_prior(prior, delta);
        let mut model = Self {
            observations,
            gram: CompensatedGram::new(gram.to_vec(), dim),
            moment: Compensated::new(moment.to_vec()),
            squares: CompensatedSum::from_parts(squares, 0.0),
            values: Values::among(values),
            error,
            ..empty.unwrap_or_else(|refused| panic!("{refused}"))
        };
        model.solve();
        // With larger entries, scores would not be numbers.
        let Solved { inverse, centre, .. } = &model.solved;
        let large = |entry: &f64| entry.is_nan() || entry.abs() > MAX_MAGNITUDE;
        if let Some(at) = inverse.iter().chain(centre).position(large) {
            return Err(RidgeError::Malformed { row: at / dim, column: at % dim });
        }
        Ok(model)
    }

    /// `V⁻¹` of the set, row-major.
    pub fn gram_inverse(&self) -> &[f64] {
        &self.solved.inverse
    }

    /// The centre of the set; least squares in the form for a fixed set.
    pub fn theta_hat(&self) -> &[f64] {
        &self.solved.centre
    }

    /// δ.
    pub fn delta(&self) -> f64 {
        self.delta
    }

    /// The sum of squared differences of rewards from least squares, nearly.
    pub fn residual(&self) -> f64 {
        self.with_sums(|sums| self.prior.least_residual(sums)).unwrap_or(0.0)
    }

    fn with_sums<T>(&self, found: impl FnOnce(&Sums<'_>) -> T) -> T {
        let mut moment = Vec::new();
        self.moment.rounded_into(&mut moment);
        found(&Sums {
            outcomes: self.observations,
            gram: &self.gram.rounded(),
            moment: &moment,
            squares: self.squares.rounded(),
            error: self.error,
        })
    }

    fn solve(&mut self) {
        self.solved = self.with_sums(|sums| self.prior.solve(sums, self.delta));
        if !self.values.are_enough() && self.observations > 0 {
            self.solved.reach = Reach::Open(Doubt::FewValues);
        }
    }
}

impl Estimator for BellRidge {
    fn score_into(&self, actions: Actions<'_>, out: &mut Scores) {
        let (dim, found) = (self.prior.dim, actions.dim());
        assert!(dim == found, "a model of {dim} features was asked about actions with {found}");
        out.isa = self.isa;
        out.resize(actions.len());
        let Solved { centre, inverse, .. } = &self.solved;
        self.isa.rebuild(actions.blocks(), centre, inverse, &mut out.mean, &mut out.width_sq);
    }

    fn offered(&mut self, actions: Actions<'_>) {
        if let First::Awaited = self.first {
            self.take_first(actions);
        }
    }

    fn update(&mut self, action: Action<'_>, reward: f64) {
        let (x, dim) = (action.features(), self.prior.dim);
        assert!(
            !matches!(self.first, First::Awaited),
            "the first set of actions must be offered before a reward is learned"
        );
        assert!(x.len() == dim, "a model of {dim} features got an action with {}", x.len());
        assert_reward(reward);
        assert!(
            self.takes(action.index(), x),
            "features must be finite, at most 1e100 in magnitude and in the span of the first set \
             of actions, got {x:?}"
        );
        self.gram.add_observation(&mut self.moment, self.isa, x, reward);
        self.squares.add(reward * reward);
        self.values.see(reward);
        self.observations += 1;
        self.solve();
    }

    fn evidence(&self) -> Evidence {
        Evidence {
            observations: self.observations,
            log_det: LogDet::new(self.solved.log_det),
            own: Some(self.solved.reach),
            ..Evidence::new(self.observations, self.prior.dim, 0.0, 0.0)
        }
    }

    fn fit(&self) -> Option<Fit<'_>> {
        Some(Fit {
            lineage: self.lineage.id(),
            isa: self.isa,
            observations: self.observations,
            gram: &self.solved.form,
            gram_inverse: &self.solved.inverse,
            moment: &self.solved.moment,
            theta_hat: &self.solved.centre,
            step: None,
            // V is not the one before plus x·xᵀ, and bounds that follow steps do not hold.
            margin: None,
        })
    }

    fn shape(&self) -> Option<Shape> {
        Some(Shape::Features { dim: self.prior.dim })
    }

    fn deviation(&self, theta_star: &[f64]) -> f64 {
        let theta_star = &theta_star[..self.prior.dim];
        self.solved.form.quadratic_form(&self.solved.centre, theta_star).max(0.0).sqrt()
    }
}

impl DurableModel for BellRidge {
    fn write(&self, out: &mut Writer) {
        let none = Vec::new();
        out.numbers(if let First::Seen(rows) = &self.first { rows } else { &none });
        out.count(self.observations);
        for sums in [self.gram.parts(), self.moment.parts()] {
            out.numbers(sums.0);
            out.numbers(sums.1);
        }
        let (squares, carry) = self.squares.parts();
        out.numbers(&[squares, carry]);
        self.values.write(out);
    }

    fn read(&mut self, from: &mut Reader<'_>) -> Result<(), StateError> {
        let dim = self.prior.dim;
        let rows = from.some_numbers("first")?;
        if let First::Awaited = self.first
            && !rows.is_empty()
        {
            let set = ActionSet::from_flat(rows, dim);
            self.take_first(set.map_err(|_refused| StateError::Number { what: "first" })?.view());
        } else {
            holds("first", rows.is_empty())?;
        }
        self.lineage = Lineage::new();
        self.observations = from.count("observations")?;
        let mut sums = |what, len| Ok((from.numbers(what, len)?, from.numbers(what, len)?));
        let (gram, moment) = (sums("gram", dim * dim)?, sums("moment", dim)?);
        self.gram = CompensatedGram::from_parts(gram.0, gram.1, dim);
        self.moment = Compensated::from_parts(moment.0, moment.1);
        let squares = from.numbers("squares", 2)?;
        self.squares = CompensatedSum::from_parts(squares[0], squares[1]);
        self.values = Values::read(from)?;
        self.solve();
        Ok(())
    }

    fn takes(&self, _: ActionIndex, features: &[f64]) -> bool {
        let fits = features.len() == self.prior.dim;
        fits && features.iter().all(|x| x.abs() <= MAX_MAGNITUDE) && self.prior.spans(features)
    }
}

#[cfg(test)]
mod laws;
