//! What is measured of a policy, as observers.

use crate::observer::{Decided, Observer, Rewarded};
use plausibly::search::Search;
use plausibly::{ConfidenceRadius, Estimator, Exclusion, Reach, Scores};
use std::fmt;

/// Pseudo-regret: `R_n = Σ_t max_a ⟨a, θ*⟩ − ⟨A_t, θ*⟩`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Regret {
    total: f64,
}

impl Regret {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// So far.
    pub fn total(&self) -> f64 {
        self.total
    }
}

impl<P: ?Sized> Observer<P> for Regret {
    fn decided(&mut self, decided: &Decided<'_, P>) {
        self.total += decided.best_mean - decided.means[decided.chosen];
    }
}

/// Model error: `Q_n = Σ_t max_{a ∈ Ã_t} (⟨a, θ̂_t⟩ − ⟨a, θ*⟩)²`.
///
/// The metric learns the policy's history with a model and a radius of its own, the same for all
/// policies of a comparison. So every policy has a `Q_n`, also one that this project has never
/// seen. An arm never taken is estimated at 0, as everywhere.
pub struct ModelError<R> {
    model: Box<dyn Estimator + Send>,
    search: Search,
    radius: R,
    /// True means of the actions that were scored.
    truth: Vec<f64>,
    /// Scores of all actions, where the truth is judged by intervals.
    all: Scores,
    total: f64,
    plausible_count: usize,
    left: bool,
}

impl<R> ModelError<R> {
    /// With a model that has learned nothing, and the rule that makes the plausible set.
    pub fn new(model: Box<dyn Estimator + Send>, radius: R, exclusion: Exclusion) -> Self {
        Self {
            model,
            search: Search::new().excluding(exclusion),
            radius,
            truth: Vec::new(),
            all: Scores::new(),
            total: 0.0,
            plausible_count: 0,
            left: false,
        }
    }

    /// `Q_t` so far.
    pub fn total(&self) -> f64 {
        self.total
    }

    /// Size of the plausible set in the last round.
    pub fn plausible_count(&self) -> usize {
        self.plausible_count
    }

    /// Whether `θ*` has ever been outside the confidence set.
    ///
    /// A model that is linear on another scale than that of rewards has an offset and features of
    /// its own, in which the problem may have no parameter, or several. There this tells whether
    /// the true mean of an action has ever been outside its interval, which never happens while the
    /// set holds such a parameter.
    pub fn theta_star_left(&self) -> bool {
        self.left
    }

    fn holds<P: ?Sized>(&mut self, decided: &Decided<'_, P>, reach: Reach) -> bool {
        let Reach::Curved(curved) = reach else {
            return self.model.holds(decided.theta_star, reach);
        };
        self.model.score_into(decided.actions, &mut self.all);
        let scores = self.all.mean().iter().zip(self.all.width_sq());
        scores.zip(decided.means).all(|((moved, width_sq), mean)| {
            let (lower, upper) = curved.interval(*moved, *width_sq);
            (lower..=upper).contains(mean)
        })
    }
}

impl<P: ?Sized, R: ConfidenceRadius> Observer<P> for ModelError<R> {
    fn decided(&mut self, decided: &Decided<'_, P>) {
        self.model.offered(decided.actions);
        let bounds = self.radius.bounds(&self.model.evidence());
        self.left = self.left || !self.holds(decided, bounds.reach);
        let (few, scores, plausible) =
            self.search.plausible_nearly(&*self.model, decided.actions, bounds);
        let truth = match few {
            None => decided.means,
            Some(indices) => {
                self.truth.clear();
                self.truth.extend(indices.iter().map(|index| decided.means[*index]));
                &self.truth
            }
        };
        let summary = plausible.summary(scores, truth);
        self.plausible_count = summary.count;
        self.total += summary.error_sq;
    }

    fn rewarded(&mut self, rewarded: &Rewarded<'_>) {
        self.model.update(rewarded.action, rewarded.reward);
    }
}

impl<R: fmt::Debug> fmt::Debug for ModelError<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { radius, total, plausible_count, left, .. } = self;
        let mut shown = f.debug_struct("ModelError");
        shown.field("radius", radius).field("total", total);
        shown.field("plausible_count", plausible_count).field("left", left).finish_non_exhaustive()
    }
}
