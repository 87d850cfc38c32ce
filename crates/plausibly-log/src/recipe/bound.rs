//! Bounds the parameters of a mean that stays within the range of rewards.

use super::column::parts_of;
use super::{Column, Encoding, Part, Recipe, Shape};

impl Recipe {
    /// S, a bound on `‖θ*‖` for rewards scaled to a range of length one: shifted to [−1/2, 1/2], or
    /// for vectors [as given](Recipe::given) not shifted. `range` is the length of the original
    /// range.
    ///
    /// For vectors as given it is the declared bound, scaled; for all others
    ///
    /// ```text
    /// S = ½·√(κ_a·κ_c)     κ of a side = max(1, M, 1 + 4E if E > 0)
    ///                      with blocks: κ_a = number of actions
    ///
    /// M   the most parts of a column of categories, its blank included
    /// E   the most parts beside the value of a column with numbers or a flag (its blank, added
    ///     categories), and parts of an added context key: its categories, or 1 for a number
    /// ```
    ///
    /// # Assumption
    /// The mean reward is linear in the features, and stays within the range of rewards for *every
    /// combination* of values: numbers and flags anywhere between −1 and 1, one category or blank
    /// per column, those of actions with those of the context. This includes combinations that
    /// never occur. A user who knows better can set the bound.
    ///
    /// # Proof
    /// Write `ã = (1, a)` and `c̃ = (1, c)` for the parts of both sides with their constants.
    /// Features are the products, so the mean reward is `f(a, c) = ã'·W·c̃` and `‖θ‖` is the
    /// Frobenius norm of W. By assumption `|f| ≤ ½`. Any θ that gives this f will do, since
    /// confidence sets know nothing else about it; the proof chooses one.
    ///
    /// *One side.* Let `F(a) = W'·ã`, a vector. We look for distributions P₁, P₂ of a and weights
    /// `w₁ + w₂ = κ` with `w₁·E₁‖F‖² + w₂·E₂‖F‖² ≥ ‖W‖²`. The rows of W are `w₀` for the constant
    /// and `w_j` for the parts.
    ///
    /// 1. *Plain columns only*: numbers and flags that are never missing, and columns of
    ///    categories. Let columns be independent, numbers and flags ±1 with probability ½ each, and
    ///    the m parts of a category column equally likely to be the one that is 1. Exactly one of
    ///    them is 1, so a common term can be moved to the constant: choose the W in which the rows
    ///    of each such column sum to 0. Then all terms but the constant have mean 0 and are
    ///    uncorrelated, and `E‖F‖² = ‖w₀‖² + Σ_numbers ‖w_j‖² + Σ_categories ‖w_j‖²/m ≥ ‖W‖²/max(1,
    ///    M)`.
    /// 2. *Other columns as well.* Each has a state in which its extra parts are 0 (the value is
    ///    present; the added key is absent), and at most E extra parts, of which at most one is 1.
    ///    P₁ is the distribution above with all of them in that state, values ±1: `E₁‖F‖² ≥ ‖w₀‖² +
    ///    [plain terms]`. P₂ gives that state probability ½ and each of the e extra parts `q =
    ///    1/(2e)`. The covariance of the extra parts is `q·I − q²·11'`, with smallest eigenvalue
    ///    `q·(1 − e·q) = 1/(4e)`; the value, ±1 where it is present, is uncorrelated with them and
    ///    has variance ½. So `E₂‖F‖² ≥ [plain terms] + Σ_others ‖w_j‖²/(4E)`. Weights with `w₁ ≥
    ///    1`, `w₂ ≥ 4E` and `w₁ + w₂ ≥ M` are enough: κ = max(M, 1 + 4E).
    ///
    /// *Both sides.* The choice of W is a linear map from the left for actions and from the right
    /// for the context, so both can be made. For each a, `W'·ã` are then parameters of the context
    /// side, chosen as there, with the mean `f(a, ·)`. Hence `‖W‖² ≤ Σ_i w_i·E_i‖W'·ã‖² ≤ Σ_ij
    /// w_i·v_j·E_ij f² ≤ κ_a·κ_c/4`. With blocks, the parameters of each action obey the bound of
    /// the context side, and there are `κ_a` actions. ∎
    ///
    /// Both cases are sharp. A column of m categories, half of them with mean ½ and half with −½,
    /// has `‖θ‖ = ½·√m`. A number that may be missing, with mean −½ where it is present and ½ where
    /// it is not, forces the intercept −½ and the coefficient 1: `‖θ‖ = √5/2 = ½·√(1 + 4)`.
    ///
    /// For plain arms, which have no features, it is ½: each mean is a parameter of its own. The
    /// bound grows with extensions; a model made again from exact statistics uses the new bound.
    pub fn theta_norm_bound(&self, range: f64) -> f64 {
        if let Some(declared) = self.declared_bound {
            return declared / range;
        }
        let context = spread(&self.context, &self.context_parts);
        let action = match self.shape {
            Shape::Blocks => self.action_parts.len(),
            Shape::Arms | Shape::Shared | Shape::Given => spread(&self.columns, &self.action_parts),
        };
        ((action * context) as f64).sqrt() / 2.0
    }
}

/// κ of one side.
fn spread(columns: &[Column], parts: &[Part]) -> usize {
    let of_column = |column: &Column| {
        let own = parts_of(parts, &column.name);
        let indicators = own.filter(|part| part.is_indicator()).count();
        let all_categories = matches!(column.encoding, Encoding::Categories {}) && !column.late;
        match indicators {
            0 => 1,
            m if all_categories => m,
            e => 1 + 4 * e,
        }
    };
    columns.iter().map(of_column).max().unwrap_or(1)
}
