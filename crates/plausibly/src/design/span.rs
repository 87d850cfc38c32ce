//! The subspace that some actions span, with coordinates in it.

use crate::actions::{ActionIndex, Actions};
use crate::linalg::{dot, norm};
use crate::state::{Reader, StateError, Writer, holds};

/// A direction counts as spanned if the part of some action outside the other directions has at
/// least this share of the largest norm, after scaling each feature by its largest value.
const RANK_TOLERANCE: f64 = 1e-9;

/// An action is in the span if the part of it outside has at most this share of its norm.
const MEMBER_TOLERANCE: f64 = 1e-6;

/// An orthonormal basis of the span of some actions, by Gram–Schmidt with pivoting.
///
/// Every feature is scaled to magnitude one first: designs do not depend on units, so the rank must
/// not depend on them either.
#[derive(Clone, Debug)]
pub(crate) struct Span {
    dim: usize,
    /// The factor of each feature.
    scale: Vec<f64>,
    /// One basis vector per row.
    basis: Vec<f64>,
    /// Positions, in the list given, of the actions that made the basis. They are independent, and
    /// the longest comes first.
    pub(crate) pivots: Vec<usize>,
    /// Those actions in the basis, one per row. Each added one direction to those before it, so
    /// this is lower triangular.
    triangle: Vec<f64>,
}

impl Span {
    /// The span of the actions listed in `among`. O(K·d·rank).
    pub(crate) fn new(actions: Actions<'_>, among: &[ActionIndex]) -> Self {
        let dim = actions.dim();
        assert!(dim > 0, "a design needs actions with features, and these are plain arms");
        let mut largest = vec![0.0_f64; dim];
        for &action in among {
            for (largest, x) in largest.iter_mut().zip(actions.get(action).features()) {
                *largest = largest.max(x.abs());
            }
        }
        let scale: Vec<f64> =
            largest.iter().map(|&x| if x > 0.0 { 1.0 / x } else { 1.0 }).collect();
        let mut residuals: Vec<f64> = Vec::with_capacity(among.len() * dim);
        for &action in among {
            residuals.extend(
                actions.get(action).features().iter().zip(&scale).map(|(x, scale)| x * scale),
            );
        }
        let mut span =
            Self { dim, scale, basis: Vec::new(), pivots: Vec::new(), triangle: Vec::new() };
        let mut longest = 0.0;
        while span.rank() < dim {
            let norms = residuals.chunks_exact(dim).map(norm).enumerate();
            let (pivot, largest) =
                norms.fold((0, 0.0), |best, next| if next.1 > best.1 { next } else { best });
            if span.rank() == 0 {
                longest = largest;
            }
            if largest <= RANK_TOLERANCE * longest {
                break;
            }
            let mut direction = residuals[pivot * dim..(pivot + 1) * dim].to_vec();
            // A second pass, as what is left of a nearly dependent action is mostly rounding after
            // one.
            remove_components(&mut direction, &span.basis, dim);
            let length = norm(&direction);
            for entry in &mut direction {
                *entry /= length;
            }
            for residual in residuals.chunks_exact_mut(dim) {
                remove_components(residual, &direction, dim);
            }
            span.basis.extend_from_slice(&direction);
            span.pivots.push(pivot);
        }
        for &pivot in &span.pivots {
            let features = actions.get(among[pivot]).features();
            span.triangle.extend(along_basis(&span.basis, &span.scale, features));
        }
        span
    }

    /// d.
    pub(crate) fn dim(&self) -> usize {
        self.dim
    }

    pub(crate) fn write(&self, out: &mut Writer) {
        out.numbers(&self.scale);
        out.numbers(&self.basis);
        out.numbers(&self.triangle);
    }

    /// For coordinates alone: which actions made the basis matters only to the design it was made
    /// for.
    pub(crate) fn read(from: &mut Reader<'_>, dim: usize) -> Result<Self, StateError> {
        let (scale, basis) = (from.numbers("span.scale", dim)?, from.some_numbers("span.basis")?);
        let rank = basis.len() / dim;
        holds("span.basis", rank <= dim && basis.len() == rank * dim)?;
        let triangle = from.numbers("span.triangle", rank * rank)?;
        holds("span.triangle", (0..rank).all(|k| triangle[k * rank + k] != 0.0))?;
        Ok(Self { dim, scale, basis, pivots: Vec::new(), triangle })
    }

    /// Dimension of the span.
    pub(crate) fn rank(&self) -> usize {
        self.basis.len() / self.dim
    }

    /// Whether these features are in the span, up to rounding.
    pub(crate) fn holds(&self, features: &[f64]) -> bool {
        let scaled: Vec<f64> = features.iter().zip(&self.scale).map(|(x, s)| x * s).collect();
        let mut rest = scaled.clone();
        remove_components(&mut rest, &self.basis, self.dim);
        norm(&rest) <= MEMBER_TOLERANCE * norm(&scaled)
    }

    /// A quadratic form over `θ` that is zero on the span and, outside it, as large as this one is
    /// on average on the span.
    pub(crate) fn outside(&self, form: &[f64]) -> Vec<f64> {
        let Self { dim, scale, basis, .. } = self;
        let diagonal = form.iter().step_by(dim + 1).zip(scale);
        let trace: f64 = diagonal.map(|(entry, scale)| entry * scale * scale).sum();
        let mean = if self.rank() > 0 { trace / self.rank() as f64 } else { 1.0 };
        let mut out = vec![0.0; dim * dim];
        if self.rank() == *dim {
            return out;
        }
        for (i, row) in out.chunks_exact_mut(*dim).enumerate() {
            for (j, entry) in row.iter_mut().enumerate() {
                let inside: f64 = basis.chunks_exact(*dim).map(|q| q[i] * q[j]).sum();
                let identity = if i == j { 1.0 } else { 0.0 };
                *entry = mean * (identity - inside) / (scale[i] * scale[j]);
            }
        }
        out
    }

    /// Appends to `out` the coefficients with which the pivots combine to `features`, or to their
    /// projection if they lie outside. In these coordinates the pivots are the unit vectors, so
    /// matrices over the span are as well conditioned as the actions allow, even if some directions
    /// are much shorter than others.
    pub(crate) fn coordinates(&self, features: &[f64], out: &mut Vec<f64>) {
        let start = out.len();
        out.extend(along_basis(&self.basis, &self.scale, features));
        let solved = &mut out[start..];
        for (k, row) in self.triangle.chunks_exact(self.rank().max(1)).enumerate().rev() {
            solved[k] /= row[k];
            let weight = solved[k];
            for (entry, other) in solved[..k].iter_mut().zip(row) {
                *entry -= weight * other;
            }
        }
    }
}

/// Components of scaled features along each direction of a basis.
fn along_basis(basis: &[f64], scale: &[f64], features: &[f64]) -> impl Iterator<Item = f64> {
    basis.chunks_exact(scale.len()).map(move |direction| {
        let scaled = features.iter().zip(scale).map(|(x, scale)| x * scale);
        direction.iter().zip(scaled).fold(0.0, |sum, (a, b)| sum + a * b)
    })
}

fn remove_components(vector: &mut [f64], basis: &[f64], dim: usize) {
    for direction in basis.chunks_exact(dim) {
        let component = dot(direction, vector);
        for (entry, direction) in vector.iter_mut().zip(direction) {
            *entry -= component * direction;
        }
    }
}
