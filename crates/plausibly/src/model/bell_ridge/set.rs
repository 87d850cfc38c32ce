//! The coordinates of a [`BellRidge`](super::BellRidge), and its set, which is a function of them
//! and of sums.

use crate::actions::{ActionIndex, Actions};
use crate::confidence::bell::{self, Level};
use crate::confidence::{Doubt, RadiusError, Reach};
use crate::design::Span;
use crate::linalg::{Cholesky, CompensatedGram, dot, scaled_identity};
use crate::model::RidgeError;
use crate::model::ridge::check_statistics;

/// Where too little is known for a set, actions are compared by the design with this share of the
/// prior.
const DESIGN_PRIOR: f64 = 1.0 / 1024.0;
/// The share of `β` that a bound on `θ*` may cost.
const AID: f64 = 0.01;

/// The coordinates of a [`BellRidge`](super::BellRidge): `P`, which stands for `2r` outcomes and is
/// fixed before the first of them.
#[derive(Clone, Debug)]
pub struct BellPrior {
    pub(super) dim: usize,
    /// `P`, row-major.
    pub(super) matrix: Vec<f64>,
    /// `P` without `outside`.
    inside: Vec<f64>,
    log_det: f64,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    /// Every action is in the span of the first set, which is not known where `P` came as matrices.
    /// `outside` is `P` in the directions outside, where `θ*` makes no difference.
    Spanned { span: Option<Span>, outside: Vec<f64> },
    /// `θ*ᵀ·P·θ*` is at most this.
    Bounded { length_sq: f64 },
}

impl BellPrior {
    /// `P = 2r·mean(a·aᵀ)` of a set that is the same in every round and has rank `r`.
    ///
    /// # Panics
    /// If the actions have no features.
    pub fn of(actions: Actions<'_>) -> Self {
        let every: Vec<ActionIndex> = (0..actions.len()).collect();
        let span = Span::new(actions, &every);
        let (dim, rank) = (span.dim(), span.rank().max(1) as f64);
        let mut inside = vec![0.0; dim * dim];
        let weight = 2.0 * rank / actions.len() as f64;
        for action in every {
            let x = actions.get(action).features();
            for (row, x_i) in inside.chunks_exact_mut(dim).zip(x) {
                for (entry, x_j) in row.iter_mut().zip(x) {
                    *entry += weight * (x_i * x_j);
                }
            }
        }
        let outside = span.outside(&inside);
        let kind = Kind::Spanned { span: Some(span), outside };
        Self::new(dim, inside, kind).expect("a sum of squares and a floor")
    }

    /// `P = 2L²·I` for sets that change, with `‖θ*‖ ≤ S`.
    ///
    /// # Errors
    /// If a bound is not between 1e-50 and 1e50.
    ///
    /// # Panics
    /// If `dim` is zero.
    pub fn in_context(
        dim: usize,
        action_norm_bound: f64,
        theta_norm_bound: f64,
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
        let made = Self::new(dim, scaled_identity(dim, scale), Kind::Bounded { length_sq });
        Ok(made.expect("a positive diagonal"))
    }

    /// From the parts of another one. Without the span of a first set, a model takes no rewards.
    ///
    /// # Errors
    /// If the matrices are not finite, symmetric, of `dim × dim` entries and together positive
    /// definite.
    pub fn from_parts(
        dim: usize,
        inside: &[f64],
        outside: &[f64],
        length_sq: Option<f64>,
    ) -> Result<Self, RidgeError> {
        let all = [inside, outside];
        for part in if length_sq.is_some() { &all[..1] } else { &all[..] } {
            if dim == 0 || part.len() != dim * dim {
                return Err(RidgeError::Shape { dim, gram: part.len(), moment: dim });
            }
            check_statistics(dim, part, &vec![0.0; dim])?;
        }
        let kind = match length_sq {
            Some(length_sq) => Kind::Bounded { length_sq },
            None => Kind::Spanned { span: None, outside: outside.to_vec() },
        };
        Self::new(dim, inside.to_vec(), kind)
    }

    fn new(dim: usize, inside: Vec<f64>, kind: Kind) -> Result<Self, RidgeError> {
        let mut matrix = inside.clone();
        if let Kind::Spanned { outside, .. } = &kind {
            add(&mut matrix, 1.0, outside);
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
        let log_det = factor?.log_det();
        Ok(Self { dim, matrix, inside, log_det, kind })
    }

    /// `P` on the span of the first set, row-major; for sets that change, all of it.
    pub fn inside(&self) -> &[f64] {
        &self.inside
    }

    /// `P` outside the span of the first set, row-major; empty for sets that change.
    pub fn outside(&self) -> &[f64] {
        if let Kind::Spanned { outside, .. } = &self.kind { outside } else { &[] }
    }

    /// The bound on `θ*ᵀ·P·θ*`, for sets that change.
    pub fn length_sq(&self) -> Option<f64> {
        if let Kind::Bounded { length_sq } = self.kind { Some(length_sq) } else { None }
    }

    /// Whether it is known that actions with these features can be judged.
    pub fn spans(&self, features: &[f64]) -> bool {
        match &self.kind {
            Kind::Spanned { span, .. } => span.as_ref().is_some_and(|span| span.holds(features)),
            Kind::Bounded { .. } => true,
        }
    }
}

/// What follows from the sums.
#[derive(Clone, Debug)]
pub(super) struct Solved {
    /// `V`, row-major; without `outside`.
    pub(super) form: CompensatedGram,
    pub(super) inverse: Vec<f64>,
    /// The centre of the set, and `V` times it.
    pub(super) centre: Vec<f64>,
    pub(super) moment: Vec<f64>,
    pub(super) reach: Reach,
    /// `log(det V₀/det P)`.
    pub(super) log_det: f64,
}

/// What the set is a function of.
#[derive(Clone, Copy)]
pub(super) struct Sums<'a> {
    pub(super) outcomes: u64,
    pub(super) gram: &'a [f64],
    pub(super) moment: &'a [f64],
    pub(super) squares: f64,
    /// How far each reward may be off by rounding.
    pub(super) error: f64,
}

impl BellPrior {
    pub(super) fn solve(&self, sums: &Sums<'_>, delta: f64) -> Solved {
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
        let level = bell::rounded(sums.outcomes, ratio, sums.error);
        let ratio = level.ratio;
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
                Some(self.around(sums, total, level, form, &moment, &factor, 0.0))
            }
            Kind::Bounded { length_sq } => {
                let aid = AID * ratio * self.least_residual(sums)? / length_sq;
                // A has no eigenvalue below −(√(1+ρ) − 1)²·P.
                let root = (1.0 + ratio).sqrt() - 1.0;
                [aid, aid + root * root].into_iter().find_map(|aid| {
                    let mut form = form.clone();
                    add(&mut form, aid, matrix);
                    let factor = Cholesky::new(&form, *dim).ok()?;
                    Some(self.around(sums, total, level, form, &moment, &factor, aid))
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
        Level { ratio, allowance }: Level,
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
        beta += allowance - (1.0 + ratio) * dot(&left, &left);
        if let Kind::Bounded { length_sq } = self.kind {
            beta += aid * (length_sq - dot(&times(&self.matrix, &centre), &centre));
        }
        let reach = if beta > 0.0 && beta.is_finite() {
            Reach::Ellipsoid { sqrt_beta: beta.sqrt() }
        } else {
            Reach::Open(Doubt::Refuted)
        };
        let form = CompensatedGram::new(form, dim);
        Solved { form, inverse, centre, moment: moment.to_vec(), reach, log_det: 0.0 }
    }

    /// Nearly the residual of least squares, which may not be unique.
    pub(super) fn least_residual(&self, sums: &Sums<'_>) -> Option<f64> {
        let mut gram = sums.gram.to_vec();
        add(&mut gram, 1.0 / f64::from(1 << 20), &self.matrix);
        let mut solved = sums.moment.to_vec();
        Cholesky::new(&gram, self.dim).ok()?.solve(&mut solved);
        Some(bell::residual(sums.squares, dot(sums.moment, &solved)))
    }

    /// Where there is no set: widths by the design.
    pub(super) fn by_design(&self, gram: &[f64], moment: &[f64], log_det: f64) -> Solved {
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
