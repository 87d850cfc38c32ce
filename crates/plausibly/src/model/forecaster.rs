//! Forecasts of rewards, made before the rewards are seen.

use super::{Estimator, Ridge, RidgeError};
use crate::actions::{Action, MAX_MAGNITUDE};
use crate::linalg::{Cholesky, dot, scaled_identity};
use crate::state::{DurableModel, Reader, StateError, Writer, holds};

/// Penalty of the first candidate.
pub(super) const PENALTY: f64 = 1.0;
/// Penalties of the other two.
pub(super) const STRONGER: [f64; 2] = [10.0, 100.0];
/// Penalty of the intercept. It is smaller, because the usual reward is not known to be in the
/// middle of the range.
pub(super) const INTERCEPT_PENALTY: f64 = 0.25;

/// Forecasts rewards by the best of three ridges.
///
/// ```text
/// ŷ_κ = middle of the range + ⟨x, θ̂_κ⟩, cut to the range          κ = 1, 10, 100
/// ŷ   = ŷ_κ of the κ with the smallest Σ(y − ŷ_κ)² so far
/// ```
///
/// Any forecast keeps the forecast set ([`Forecast`](crate::Forecast)) valid if it was fixed before
/// its reward was seen; better ones make it smaller. A strong penalty forecasts yes/no rewards
/// better while there are few, a weak one quiet rewards.
///
/// # Cost
/// Three dot products per forecast; one update of a [`Ridge`] and two steps of O(d²) per reward.
/// No draws.
#[derive(Clone, Debug)]
pub struct Forecaster {
    /// The candidate with the weakest penalty. Its sums serve all three.
    first: Ridge,
    stronger: [Stronger; 2],
    errors: [f64; 3],
    range: (f64, f64),
    /// What is forecast where nothing is known; learned rewards are relative to it.
    usual: f64,
    intercept: Option<usize>,
    scratch: Vec<f64>,
}

/// A candidate with a stronger penalty: an inverse and an estimate that follow each observation,
/// and are computed from the first candidate's sums when that one computes its own.
#[derive(Clone, Debug)]
struct Stronger {
    penalty: f64,
    gram_inverse: Vec<f64>,
    theta_hat: Vec<f64>,
}

/// Three candidates for the forecast of a reward, and which of them counts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ForecastChoice {
    candidates: [f64; 3],
    counts: usize,
}

impl ForecastChoice {
    /// The candidates.
    pub fn candidates(&self) -> [f64; 3] {
        self.candidates
    }

    /// The position of the candidate that counts.
    pub fn counts(&self) -> usize {
        self.counts
    }

    /// The forecast.
    pub fn counted(&self) -> f64 {
        self.candidates[self.counts]
    }
}

impl Stronger {
    /// From the sums of the first candidate. Keeps the followed estimate where rounding leaves no
    /// inverse: a forecast need not be exact.
    fn recompute(&mut self, first: &Ridge, intercept: Option<usize>) {
        let (dim, mut gram) = (first.dim(), first.gram());
        for feature in (0..dim).filter(|feature| Some(*feature) != intercept) {
            gram[feature * (dim + 1)] += self.penalty - PENALTY;
        }
        if let Ok(factor) = Cholesky::new(&gram, dim) {
            factor.inverse_into(&mut self.gram_inverse);
            self.theta_hat = first.moment();
            factor.solve(&mut self.theta_hat);
        }
    }
}

impl Forecaster {
    /// Forecasts for actions of `dim` features with rewards in this range.
    ///
    /// # Errors
    /// If `dim` is zero.
    pub fn new(dim: usize, range: (f64, f64)) -> Result<Self, RidgeError> {
        let first = Ridge::new(dim, PENALTY)?;
        let stronger = STRONGER.map(|penalty| Stronger {
            penalty,
            gram_inverse: vec![0.0; dim * dim],
            theta_hat: vec![0.0; dim],
        });
        let (errors, scratch) = ([0.0; 3], vec![0.0; dim]);
        let usual = 0.5 * (range.0 + range.1);
        let mut made = Self { first, stronger, errors, range, usual, intercept: None, scratch };
        made.recompute_stronger();
        Ok(made)
    }

    /// With a weaker penalty for one feature, which is 1 in every action. Does nothing after the
    /// first reward.
    #[expect(clippy::missing_panics_doc, reason = "a positive diagonal has an inverse")]
    pub fn set_intercept(&mut self, feature: usize) {
        let dim = self.first.dim();
        if self.first.evidence().observations > 0 || feature >= dim {
            return;
        }
        self.intercept = Some(feature);
        let mut gram = scaled_identity(dim, PENALTY);
        gram[feature * (dim + 1)] = INTERCEPT_PENALTY;
        let made = Ridge::from_statistics(dim, PENALTY, &gram, &vec![0.0; dim], 0);
        self.first = made.expect("a positive diagonal has an inverse");
        self.recompute_stronger();
    }

    /// Whether an intercept was set.
    pub fn has_intercept(&self) -> bool {
        self.intercept.is_some()
    }

    fn recompute_stronger(&mut self) {
        for candidate in &mut self.stronger {
            candidate.recompute(&self.first, self.intercept);
        }
    }

    /// The forecast of the reward of an action.
    pub fn forecast(&self, action: Action<'_>) -> ForecastChoice {
        let [second, third] = self.stronger.each_ref().map(|other| other.theta_hat.as_slice());
        let estimates = [self.first.theta_hat(), second, third];
        best_of(action.features(), estimates, self.errors, (self.usual, self.range))
    }

    /// Learns the reward of an action that was forecast.
    ///
    /// # Panics
    /// If the action has another number of features, or the reward is refused.
    pub fn learn(&mut self, action: Action<'_>, reward: f64, forecast: ForecastChoice) {
        for (sum, candidate) in self.errors.iter_mut().zip(forecast.candidates) {
            *sum += (reward - candidate) * (reward - candidate);
        }
        let (x, isa) = (action.features(), self.first.isa());
        let centred = reward - self.usual;
        self.first.update(action, centred);
        if self.first.just_recomputed() {
            self.recompute_stronger();
            return;
        }
        for Stronger { gram_inverse, theta_hat, .. } in &mut self.stronger {
            isa.take_step(gram_inverse, theta_hat, &mut self.scratch, x, centred);
        }
    }

    pub(crate) fn takes(&self) -> &Ridge {
        &self.first
    }

    pub(crate) fn write(&self, out: &mut Writer) {
        out.flag(self.intercept.is_some());
        if let Some(feature) = self.intercept {
            out.count(feature as u64);
        }
        self.first.write(out);
        for candidate in &self.stronger {
            out.numbers(&candidate.gram_inverse);
            out.numbers(&candidate.theta_hat);
        }
        out.numbers(&self.errors);
    }

    pub(crate) fn read(&mut self, from: &mut Reader<'_>) -> Result<(), StateError> {
        let dim = self.first.dim();
        if from.flag("forecaster.intercept")? {
            let feature = from.count("forecaster.intercept")?;
            holds("forecaster.intercept", feature < dim as u64)?;
            self.set_intercept(usize::try_from(feature).unwrap_or(usize::MAX));
        }
        self.first.read(from)?;
        for candidate in &mut self.stronger {
            candidate.gram_inverse = from.numbers("forecaster.gram_inverse", dim * dim)?;
            candidate.theta_hat = from.numbers("forecaster.theta_hat", dim)?;
        }
        let errors = from.numbers("forecaster.errors", 3)?;
        holds("forecaster.errors", errors.iter().all(|sum| *sum >= 0.0))?;
        self.errors.copy_from_slice(&errors);
        Ok(())
    }
}

/// The forecasts by three estimates of the effect of features, relative to the usual reward and cut
/// to the range of rewards. The one with the smallest error so far counts.
pub(super) fn best_of(
    features: &[f64],
    estimates: [&[f64]; 3],
    errors: [f64; 3],
    (usual, (low, high)): (f64, (f64, f64)),
) -> ForecastChoice {
    let candidates = estimates.map(|theta| {
        let estimate = usual + dot(features, theta);
        // Not a number only where features near the largest allowed ones overflow.
        if estimate.is_nan() { usual } else { estimate }.clamp(low, high)
    });
    let better = |best, next| if errors[next] < errors[best] { next } else { best };
    ForecastChoice { candidates, counts: (0..3).reduce(better).unwrap_or(0) }
}

impl ForecastChoice {
    pub(crate) fn to_numbers(self) -> [f64; 4] {
        let [first, second, third] = self.candidates;
        [first, second, third, self.counts as f64]
    }

    pub(crate) fn from_numbers(numbers: [f64; 4]) -> Option<Self> {
        let [first, second, third, counts] = numbers;
        let candidates = [first, second, third];
        let counts = (0..3).find(|place| (*place as f64).to_bits() == counts.to_bits())?;
        let sound = candidates.iter().all(|candidate| candidate.abs() <= MAX_MAGNITUDE);
        sound.then_some(Self { candidates, counts })
    }
}
