//! How large the parameters of a bounded mean can be.

use super::{Column, Encoding, Part, Recipe, Shape};

impl Recipe {
    /// S, a bound on `‖θ*‖` for rewards that were moved and scaled to [−1/2, 1/2].
    ///
    /// ```text
    /// S = ½·√(κ_a·κ_c)          κ of a side = max(1, M, 1 + 4E if E > 0)          with blocks: κ_a = number of actions
    ///
    /// M   most parts of a column that is all categories, its blank included
    /// E   most parts beside the value of a column with numbers or a flag (its blank, categories that joined), and
    ///     parts of a context key that joined later: its categories, or 1 for a number
    /// ```
    ///
    /// # Assumption
    /// The mean reward is linear in the features, and stays within the range of rewards for *every combination* of values: numbers
    /// and flags anywhere between −1 and 1, one category or blank a column, those of actions with those of the context. Combinations that never
    /// occur are part of this. Where a person knows better, or numbers are to be extrapolated far, the bound is theirs to set.
    ///
    /// # Proof
    /// `f(a, c) = ã'·W·c̃` is the mean reward, `ã = (1, a)` and `c̃ = (1, c)` the parts with their constants; the features are the products, so
    /// `‖θ‖` is the Frobenius norm of W. By assumption `|f| ≤ ½`. Any θ that gives this f will do, as nothing else about it enters a confidence
    /// set; the proof chooses one.
    ///
    /// *One side.* Let F(a) = W'ã with values in a Hilbert space. We find laws P₁, P₂ of a and weights `w₁ + w₂ = κ` with
    /// `w₁·E₁‖F‖² + w₂·E₂‖F‖² ≥ ‖W‖²`.
    ///
    /// 1. *Only plain columns* (numbers and flags that never miss, and columns that are all categories). Let the columns be independent, numbers ±1 with
    ///    probability ½ each and categories uniform. Exactly one of the m parts of a category column is 1, so a constant can be moved from them to the
    ///    intercept: choose the representative whose coefficients of every such column sum to 0. Then all terms are uncorrelated with mean 0 but the
    ///    intercept's, and `E‖F‖² = ‖w₀‖² + Σ_numbers ‖w_j‖² + Σ_columns (1/m)·Σ‖w_jc‖² ≥ ‖W‖²/M`. So κ = max(1, M).
    /// 2. *With other columns.* Such a column has a state in which its extra parts are 0 (the number is there; the late key is absent), and up to E extra
    ///    parts of which at most one is 1. P₁ keeps all of them in that state (their numbers ±1) and is otherwise the law above: `E₁‖F‖² ≥ ‖w₀‖² + [plain terms]`. P₂ gives that
    ///    state probability ½ and the e extra parts `1/(2e)` each. The extra parts have covariance `q·I − q²·11'`, q = 1/(2e), whose smallest eigenvalue is
    ///    `q·(1 − e·q) = 1/(4e)`; the number is uncorrelated with them and has variance at least ½ (a late number: it and its `given`, ½ and ¼). So
    ///    `E₂‖F‖² ≥ [plain terms] + Σ ‖w‖²/(4E)` over all parts of such columns. Weights `w₂ ≥ 4E`, `w₁ ≥ 1` and `w₁ + w₂ ≥ M` suffice: κ = max(M, 1 + 4E).
    ///
    /// *Both sides.* The representatives are chosen by linear maps on rows and on columns of W, which commute. Apply the one side to `a ↦ W'ã`, then the other to
    /// `c ↦ (Wc̃ for the a drawn)`: `‖W‖² ≤ Σ_ij w_i·v_j·E_{P_i×Q_j} f² ≤ κ_a·κ_c/4`. With blocks, each action's own parameters obey the
    /// bound of the context side, and there are `κ_a` of them. ∎
    ///
    /// The second case is sharp: a number that may be missing, mean reward −½ where it is there and ½ where it is not, forces the intercept −½ and the coefficient 1,
    /// `‖θ‖ = √5/2 = ½·√(1 + 4)`.
    ///
    /// It grows with extensions. A model that is made again from exact statistics takes the new bound with it.
    pub fn theta_norm_bound(&self) -> f64 {
        let context = spread(&self.context, &self.context_parts);
        let action = match self.shape {
            Shape::Blocks => self.action_parts.len(),
            Shape::Arms | Shape::Shared => spread(&self.columns, &self.action_parts),
        };
        ((action * context) as f64).sqrt() / 2.0
    }
}

/// κ of one side.
fn spread(columns: &[Column], parts: &[Part]) -> usize {
    let of_column = |column: &Column| {
        let own = || parts.iter().filter(|part| part.column() == Some(&column.name));
        let indicators = own().filter(|part| part.is_indicator()).count();
        let all_categories = matches!(column.encoding, Encoding::Categories {}) && !column.late;
        match indicators {
            0 => 1,
            m if all_categories => m,
            e => 1 + 4 * e,
        }
    };
    columns.iter().map(of_column).max().unwrap_or(1)
}
