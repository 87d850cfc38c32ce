//! Least squares under normal noise of unknown scale.

use super::values::Values;
use super::{Estimator, Evidence, Fit, Lineage, LogDet, Scores, Shape, assert_reward};
use crate::actions::{Action, ActionIndex, ActionSet, Actions, MAX_MAGNITUDE};
use crate::confidence::{Doubt, RadiusError, Reach, bell};
use crate::design::Span;
use crate::linalg::{
    Cholesky, Compensated, CompensatedGram, CompensatedSum, Isa, dot, scaled_identity,
};
use crate::state::{DurableModel, Reader, StateError, Writer, holds};

/// Where too little is known for a set, actions are compared by the design with this share of the
/// prior.
const DESIGN_PRIOR: f64 = 1.0 / 1024.0;
/// The share of `β` that a bound on `θ*` may cost.
const AID: f64 = 0.01;

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
    prior: Prior,
    delta: f64,
    observations: u64,
    gram: CompensatedGram,
    moment: Compensated,
    /// Σy².
    squares: CompensatedSum,
    values: Values,
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

/// What is fixed when the model is made.
#[derive(Clone, Debug)]
struct Prior {
    dim: usize,
    /// `P`, row-major.
    matrix: Vec<f64>,
    log_det: f64,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    /// Every action is in the span of the first set. `outside` is `P` in the directions outside,
    /// where `θ*` makes no difference.
    Spanned { span: Span, outside: Vec<f64> },
    /// `θ*ᵀ·P·θ*` is at most this.
    Bounded { length_sq: f64 },
}

/// What follows from the sums.
#[derive(Clone, Debug)]
struct Solved {
    /// `V`, row-major; without `outside`.
    form: CompensatedGram,
    inverse: Vec<f64>,
    /// The centre of the set, and `V` times it.
    centre: Vec<f64>,
    moment: Vec<f64>,
    reach: Reach,
    /// `log(det V₀/det P)`.
    log_det: f64,
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
        let every: Vec<ActionIndex> = (0..actions.len()).collect();
        let span = Span::new(actions, &every);
        let (dim, rank) = (span.dim(), span.rank().max(1) as f64);
        let mut matrix = vec![0.0; dim * dim];
        let weight = 2.0 * rank / actions.len() as f64;
        for action in every {
            let x = actions.get(action).features();
            for (row, x_i) in matrix.chunks_exact_mut(dim).zip(x) {
                for (entry, x_j) in row.iter_mut().zip(x) {
                    *entry += weight * (x_i * x_j);
                }
            }
        }
        let outside = span.outside(&matrix);
        add(&mut matrix, 1.0, &outside);
        Self::with_prior(dim, matrix, Kind::Spanned { span, outside }, delta)
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
        assert!(dim > 0, "a linear model needs at least one feature");
        for (name, value) in
            [("action_norm_bound", action_norm_bound), ("theta_norm_bound", theta_norm_bound)]
        {
            if !(1e-50..=1e50).contains(&value) {
                return Err(RadiusError::NotPositive { name, value });
            }
        }
        // ν = 2d, times features of squared length d after scaling.
        let scale = 2.0 * action_norm_bound * action_norm_bound;
        let length_sq = scale * theta_norm_bound * theta_norm_bound;
        let prior = scaled_identity(dim, scale);
        Self::with_prior(dim, prior, Kind::Bounded { length_sq }, delta)
    }

    fn with_prior(
        dim: usize,
        mut matrix: Vec<f64>,
        kind: Kind,
        delta: f64,
    ) -> Result<Self, RadiusError> {
        if !(delta > 0.0 && delta < 1.0) {
            return Err(RadiusError::Delta { delta });
        }
        let factor = Cholesky::new(&matrix, dim).or_else(|_| {
            // Nearly dependent features. Any fixed matrix is valid, and with this one every pivot
            // passes.
            let floor = CompensatedGram::new(matrix.clone(), dim).floor();
            for (entry, floor) in matrix.iter_mut().step_by(dim + 1).zip(floor) {
                *entry += if floor > 0.0 { floor } else { 1.0 };
            }
            Cholesky::new(&matrix, dim)
        });
        let log_det = factor.expect("a sum of squares and a floor").log_det();
        let prior = Prior { dim, matrix, log_det, kind };
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
            solved: prior.by_design(&zeros, &vec![0.0; dim], 0.0),
            prior,
            first: First::Given,
        };
        model.solve();
        Ok(model)
    }

    /// The centre of the set; least squares in the form for a fixed set.
    pub fn theta_hat(&self) -> &[f64] {
        &self.solved.centre
    }

    /// δ.
    pub fn delta(&self) -> f64 {
        self.delta
    }

    fn solve(&mut self) {
        let mut moment = Vec::new();
        self.moment.rounded_into(&mut moment);
        let sums = Sums {
            outcomes: self.observations,
            gram: &self.gram.rounded(),
            moment: &moment,
            squares: self.squares.rounded(),
        };
        self.solved = self.prior.solve(&sums, self.delta);
        if !self.values.are_enough() && self.observations > 0 {
            self.solved.reach = Reach::Open(Doubt::FewValues);
        }
    }
}

/// What the set is a function of.
#[derive(Clone, Copy)]
struct Sums<'a> {
    outcomes: u64,
    gram: &'a [f64],
    moment: &'a [f64],
    squares: f64,
}

impl Prior {
    fn solve(&self, sums: &Sums<'_>, delta: f64) -> Solved {
        let Sums { outcomes, gram, moment, .. } = *sums;
        let mut total = self.matrix.clone();
        add(&mut total, 1.0, gram);
        let Ok(total) = Cholesky::new(&total, self.dim) else {
            return self.by_design(gram, moment, 0.0);
        };
        let log_det = (total.log_det() - self.log_det).max(0.0);
        let ratio = bell::refuting_ratio(outcomes, 0.5 * log_det, -libm::log(delta));
        let set = ratio.and_then(|ratio| self.set(sums, &total, ratio));
        let found = set.map(|found| Solved { log_det, ..found });
        found.unwrap_or_else(|| self.by_design(gram, moment, log_det))
    }

    /// The set at `ρ`; `None` where it has no end in some direction.
    fn set(&self, sums: &Sums<'_>, total: &Cholesky, ratio: f64) -> Option<Solved> {
        let Self { dim, matrix, .. } = self;
        // G − (1+ρ)·(P − P·V₀⁻¹·P) and b − (1+ρ)·P·V₀⁻¹·b
        let mut inverse = vec![0.0; dim * dim];
        total.inverse_into(&mut inverse);
        let twice = product(&product(matrix, &inverse, *dim), matrix, *dim);
        let mut form = sums.gram.to_vec();
        add(&mut form, -(1.0 + ratio), matrix);
        add(&mut form, 1.0 + ratio, &twice);
        let mut explained = sums.moment.to_vec();
        total.solve(&mut explained);
        let mut moment = sums.moment.to_vec();
        for (entry, row) in moment.iter_mut().zip(matrix.chunks_exact(*dim)) {
            *entry -= (1.0 + ratio) * dot(row, &explained);
        }
        match &self.kind {
            Kind::Spanned { outside, .. } => {
                let mut whole = form.clone();
                add(&mut whole, DESIGN_PRIOR, outside);
                let factor = Cholesky::new(&whole, *dim).ok()?;
                Some(self.around(sums, total, ratio, form, &moment, &factor, 0.0))
            }
            Kind::Bounded { length_sq } => {
                let aid = AID * ratio * self.least_residual(sums)? / length_sq;
                // A has no eigenvalue below −(√(1+ρ) − 1)²·P.
                let root = (1.0 + ratio).sqrt() - 1.0;
                [aid, aid + root * root].into_iter().find_map(|aid| {
                    let mut form = form.clone();
                    add(&mut form, aid, matrix);
                    let factor = Cholesky::new(&form, *dim).ok()?;
                    Some(self.around(sums, total, ratio, form, &moment, &factor, aid))
                })
            }
        }
    }

    /// The ellipsoid with this form. `aid` is how much of `θᵀPθ ≤ length_sq` was added to it.
    #[expect(clippy::too_many_arguments, reason = "one step of one computation")]
    fn around(
        &self,
        sums: &Sums<'_>,
        total: &Cholesky,
        ratio: f64,
        form: Vec<f64>,
        moment: &[f64],
        factor: &Cholesky,
        aid: f64,
    ) -> Solved {
        let dim = self.dim;
        let mut inverse = vec![0.0; dim * dim];
        factor.inverse_into(&mut inverse);
        let mut centre = moment.to_vec();
        factor.solve(&mut centre);
        // β is what is left at the centre: ρ·(RSS − z²) − z² and, with an aid, what is left of it.
        // Errors of the centre enter as squares.
        let fitted = times(sums.gram, &centre);
        let explained = 2.0 * dot(sums.moment, &centre) - dot(&fitted, &centre);
        let mut left: Vec<f64> = sums.moment.iter().zip(&fitted).map(|(b, f)| b - f).collect();
        total.solve_lower(&mut left);
        let mut beta = ratio * bell::residual(sums.squares, explained);
        beta -= (1.0 + ratio) * dot(&left, &left);
        if let Kind::Bounded { length_sq } = self.kind {
            beta += aid * (length_sq - dot(&times(&self.matrix, &centre), &centre));
        }
        let reach = if beta > 0.0 {
            Reach::Ellipsoid { sqrt_beta: beta.sqrt() }
        } else {
            Reach::Open(Doubt::Refuted)
        };
        let form = CompensatedGram::new(form, dim);
        Solved { form, inverse, centre, moment: moment.to_vec(), reach, log_det: 0.0 }
    }

    /// Nearly the residual of least squares, which may not be unique.
    fn least_residual(&self, sums: &Sums<'_>) -> Option<f64> {
        let mut gram = sums.gram.to_vec();
        add(&mut gram, 1.0 / f64::from(1 << 20), &self.matrix);
        let mut solved = sums.moment.to_vec();
        Cholesky::new(&gram, self.dim).ok()?.solve(&mut solved);
        Some(bell::residual(sums.squares, dot(sums.moment, &solved)))
    }

    /// Where there is no set: widths by the design.
    fn by_design(&self, gram: &[f64], moment: &[f64], log_det: f64) -> Solved {
        let mut form = gram.to_vec();
        add(&mut form, DESIGN_PRIOR, &self.matrix);
        let mut inverse = vec![0.0; form.len()];
        let mut centre = moment.to_vec();
        if let Ok(factor) = Cholesky::new(&form, self.dim) {
            factor.inverse_into(&mut inverse);
            factor.solve(&mut centre);
        }
        let form = CompensatedGram::new(form, self.dim);
        let reach = Reach::Open(Doubt::TooFew);
        Solved { form, inverse, centre, moment: moment.to_vec(), reach, log_det }
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
        let spanned = |features| match &self.prior.kind {
            Kind::Spanned { span, .. } => span.holds(features),
            Kind::Bounded { .. } => true,
        };
        fits && features.iter().all(|x| x.abs() <= MAX_MAGNITUDE) && spanned(features)
    }
}

/// Adds `scale` times another matrix.
fn add(matrix: &mut [f64], scale: f64, other: &[f64]) {
    for (entry, other) in matrix.iter_mut().zip(other) {
        *entry += scale * other;
    }
}

/// A symmetric matrix times a vector.
fn times(matrix: &[f64], vector: &[f64]) -> Vec<f64> {
    matrix.chunks_exact(vector.len()).map(|row| dot(row, vector)).collect()
}

/// A matrix times a symmetric one.
fn product(left: &[f64], symmetric: &[f64], dim: usize) -> Vec<f64> {
    let row = |row: &[f64]| times(symmetric, row);
    left.chunks_exact(dim).flat_map(row).collect()
}

#[cfg(test)]
mod laws;
