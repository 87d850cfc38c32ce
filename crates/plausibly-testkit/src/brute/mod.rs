//! Policies by brute force: every action is scored, from the sums, in every round.
//!
//! A [`BrutePolicy`] keeps its data as sums, inverts them when it is asked, scores every action and
//! applies the rule that the documentation of the policy states. It does not choose for itself: it
//! judges the choice of the policy under test ([`Verdict`]), so that both have the same history.
//!
//! # Rounding
//! Two correct computations of a score differ by rounding, and near a tie they choose differently.
//! How far they can differ follows from the data. A backward stable computation works with a `V` of
//! which entry `i, j` is off by `c·u·√(V_ii·V_jj)`, where `u = 2⁻⁵³`; this form does not depend on
//! the units of features. With `P = V⁻¹` and `E = Σ_i √(V_ii·P_ii)`, Cauchy–Schwarz in the norm of
//! `V` gives, for `ε = c·u·E²`,
//!
//! ```text
//! |δ width_sq(a)| ≤ ε·width_sq(a)      |δ mean(a)| ≤ ε·√width_sq(a)·‖y‖      |δ log det V| ≤ ε
//! |δ ⟨a, L⁻ᵀz⟩| ≤ ε·√width_sq(a)·‖z‖   (the deviate of a Thompson sample, V = L·Lᵀ)
//! ```
//!
//! `E²` is at least `d²`, and at most `d²` times the condition number of `V` with features scaled
//! to a unit diagonal. [`ROUNDING`] is `c`.

mod bounds;
mod code;
mod curved;
mod elimination;
mod likelihood;
mod model;
mod policy;
mod radius;

pub use code::BruteTarget;
pub use curved::{BruteCurved, CurvedRule};
pub use likelihood::{BruteLink, BrutePrior};
pub use model::BruteModel;
pub use policy::{BrutePolicy, Exploring, Rule};
pub use radius::BruteRadius;

/// `c`, what steps may lose.
///
/// A model that follows observations by rank-one steps loses what a width shrinks by to
/// cancellation, and it computes `V⁻¹` from the sums again once the determinant has grown a
/// hundredfold. Choices agree at `c = 1` too; at `c = 0.1` sets with ties by construction fail.
pub const ROUNDING: f64 = 100.0;

/// Half the distance from 1 to the next double.
const UNIT: f64 = f64::EPSILON / 2.0;

/// What the brute force is given, as the policy under test is: random numbers, and designs, of
/// which there are many that are optimal enough.
pub trait Inputs {
    /// Uniform on `[0, 1)`.
    fn uniform(&mut self) -> f64;
    /// Standard normal.
    fn normal(&mut self) -> f64;
    /// Uniform below `bound`.
    fn below(&mut self, bound: u64) -> u64;
    /// Weights of a D-optimal design over the rows listed in `among`, with a relative gap of at
    /// most 1e-3: the rows with a positive weight, in order.
    fn design(&mut self, rows: &[Vec<f64>], among: &[usize]) -> Vec<(usize, f64)>;
}

/// What the brute force says about a choice.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// It chooses the same.
    Same,
    /// It chooses otherwise, and the two are within rounding.
    Tie,
    /// What happens next depends on a comparison within rounding, so the histories may part.
    Unclear,
    /// The choice breaks the rule.
    Wrong {
        /// The choice of the brute force.
        expected: usize,
    },
}

/// Values of actions with what rounding can change, and which of them compete.
#[derive(Clone, Debug)]
struct Ranking {
    value: Vec<f64>,
    tolerance: Vec<f64>,
    /// Competes by plain comparison of scores.
    plain: Vec<bool>,
    /// Competes whatever rounding does.
    sure: Vec<bool>,
    /// May compete.
    maybe: Vec<bool>,
}

impl Ranking {
    /// Among all actions.
    fn of_all(value: Vec<f64>, tolerance: Vec<f64>) -> Self {
        let all = vec![true; value.len()];
        Self { value, tolerance, plain: all.clone(), sure: all.clone(), maybe: all }
    }

    /// The first of the largest.
    fn best(&self) -> usize {
        let competing = (0..self.value.len()).filter(|action| self.plain[*action]);
        let better = |best, next| if self.value[next] > self.value[best] { next } else { best };
        competing.reduce(better).expect("the best lower bound is plausible")
    }

    /// Whether rounding could make this the first of the largest.
    fn allows(&self, chosen: usize) -> bool {
        let not_above = |action: usize| {
            let (other, own) = (self.value[action], self.value[chosen]);
            if other.is_infinite() {
                // Untaken arms are equal to the bit, and the first of them comes first.
                return own.is_infinite() && chosen <= action;
            }
            own.is_infinite() || other - self.tolerance[action] <= own + self.tolerance[chosen]
        };
        self.maybe[chosen]
            && (0..self.value.len()).filter(|action| self.sure[*action]).all(not_above)
    }
}

/// Judges a choice by the ranking of plain comparisons, which comes first, and by those that
/// rounding could put in its place.
fn judge(rankings: &[Ranking], rows: &[Vec<f64>], chosen: usize) -> Verdict {
    let expected = rankings[0].best();
    if chosen == expected {
        return Verdict::Same;
    }
    // Equal rows have equal scores to the bit, so rounding is no excuse for the later one.
    let row = &rows[chosen];
    let copied = !row.is_empty() && rows[..chosen].contains(row);
    if !copied && rankings.iter().any(|ranking| ranking.allows(chosen)) {
        Verdict::Tie
    } else {
        Verdict::Wrong { expected }
    }
}
