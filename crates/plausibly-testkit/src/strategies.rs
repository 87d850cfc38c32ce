//! Generators of cases for property tests.

use proptest::prelude::*;

/// Features between −2 and 2, with exact zeros and repeated values often enough to matter.
pub fn feature() -> impl Strategy<Value = f64> {
    prop_oneof![
        8 => -2.0..2.0_f64,
        1 => Just(0.0),
        1 => prop::sample::select(vec![-1.0, 0.5, 1.0]),
    ]
}

/// An action of `dim` features.
pub fn action(dim: usize) -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(feature(), dim)
}

/// A set of up to `most` actions.
pub fn actions(dim: usize, most: usize) -> impl Strategy<Value = Vec<Vec<f64>>> {
    prop::collection::vec(action(dim), 1..=most)
}

/// Ridges over twelve orders of magnitude.
pub fn ridge() -> impl Strategy<Value = f64> {
    (-6.0..6.0_f64).prop_map(|exponent| 10.0_f64.powf(exponent))
}

/// A history of plays, as (which action, reward); take the action modulo the size of the set.
pub fn history(most: usize) -> impl Strategy<Value = Vec<(usize, f64)>> {
    prop::collection::vec((0..1_000_usize, -3.0..3.0_f64), 0..=most)
}
