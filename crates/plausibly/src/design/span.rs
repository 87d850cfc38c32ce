//! The subspace a set of actions spans, with coordinates in it.

use crate::actions::{ActionIndex, Actions};
use crate::linalg::{dot, norm};

/// A direction counts as spanned if some action keeps at least this share of the largest norm outside the others.
const RANK_TOLERANCE: f64 = 1e-9;

/// An orthonormal basis of the span of some actions, by Gram–Schmidt with pivoting.
#[derive(Clone, Debug)]
pub(crate) struct Span {
    dim: usize,
    /// Basis vectors, one a row.
    basis: Vec<f64>,
    /// Positions, in the list given, of the actions that made the basis: independent, and long ones first.
    pub(crate) pivots: Vec<usize>,
}

impl Span {
    /// The span of the actions listed in `among`. O(K·d·rank).
    pub(crate) fn new(actions: Actions<'_>, among: &[ActionIndex]) -> Self {
        let dim = actions.dim();
        let mut residuals: Vec<f64> = Vec::with_capacity(among.len() * dim);
        for &action in among {
            residuals.extend_from_slice(actions.get(action).features());
        }
        let mut span = Self { dim, basis: Vec::new(), pivots: Vec::new() };
        let mut scale = 0.0;
        while span.rank() < dim {
            let norms = residuals.chunks_exact(dim).map(norm).enumerate();
            let (pivot, largest) =
                norms.fold((0, 0.0), |best, next| if next.1 > best.1 { next } else { best });
            if span.rank() == 0 {
                scale = largest;
            }
            if largest <= RANK_TOLERANCE * scale {
                break;
            }
            let mut direction = residuals[pivot * dim..(pivot + 1) * dim].to_vec();
            // Once more against the basis: what is left of a nearly dependent action is mostly rounding otherwise.
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
        span
    }

    /// Dimension of the span.
    pub(crate) fn rank(&self) -> usize {
        self.basis.len() / self.dim
    }

    /// Coordinates of `features` (of their projection, if they lie outside) into `out`.
    pub(crate) fn coordinates(&self, features: &[f64], out: &mut Vec<f64>) {
        out.extend(self.basis.chunks_exact(self.dim).map(|direction| dot(direction, features)));
    }
}

fn remove_components(vector: &mut [f64], basis: &[f64], dim: usize) {
    for direction in basis.chunks_exact(dim) {
        let component = dot(direction, vector);
        for (entry, direction) in vector.iter_mut().zip(direction) {
            *entry -= component * direction;
        }
    }
}
