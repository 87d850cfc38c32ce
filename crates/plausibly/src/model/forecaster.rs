//! Forecasts of rewards, made before the rewards are seen.

use super::{Estimator, Ridge, RidgeError};
use crate::actions::{Action, MAX_MAGNITUDE};
use crate::linalg::dot;
use crate::state::{DurableModel, Reader, StateError, Writer, holds};

/// Penalties of the three candidates.
const PENALTIES: [f64; 3] = [1.0, 10.0, 100.0];
/// Penalty of the intercept. It is smaller, because the usual reward is not known to be in the
/// middle of the range.
const INTERCEPT_PENALTY: f64 = 0.25;

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
/// Three dot products per forecast, and three updates of a [`Ridge`] per reward. No draws.
#[derive(Clone, Debug)]
pub struct Forecaster {
    candidates: [Ridge; 3],
    errors: [f64; 3],
    range: (f64, f64),
    intercept: Option<usize>,
}

/// Three candidates for the forecast of a reward, and which of them counts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ForecastChoice {
    candidates: [f64; 3],
    counts: usize,
}

impl ForecastChoice {
    /// The forecast.
    pub fn counted(&self) -> f64 {
        self.candidates[self.counts]
    }
}

impl Forecaster {
    /// Forecasts for actions of `dim` features with rewards in this range.
    ///
    /// # Errors
    /// If `dim` is zero.
    pub fn new(dim: usize, range: (f64, f64)) -> Result<Self, RidgeError> {
        let [first, second, third] = PENALTIES.map(|penalty| Ridge::new(dim, penalty));
        let candidates = [first?, second?, third?];
        Ok(Self { candidates, errors: [0.0; 3], range, intercept: None })
    }

    /// With a weaker penalty for one feature, which is 1 in every action. Does nothing after the
    /// first reward.
    #[expect(clippy::missing_panics_doc, reason = "a positive diagonal has an inverse")]
    pub fn set_intercept(&mut self, feature: usize) {
        let dim = self.candidates[0].dim();
        if self.candidates[0].evidence().observations > 0 || feature >= dim {
            return;
        }
        self.intercept = Some(feature);
        for (candidate, penalty) in self.candidates.iter_mut().zip(PENALTIES) {
            let mut gram = vec![0.0; dim * dim];
            gram.iter_mut().step_by(dim + 1).for_each(|entry| *entry = penalty);
            gram[feature * (dim + 1)] = INTERCEPT_PENALTY;
            let made = Ridge::from_statistics(dim, penalty, &gram, &vec![0.0; dim], 0);
            *candidate = made.expect("a positive diagonal has an inverse");
        }
    }

    /// Whether an intercept was set.
    pub fn has_intercept(&self) -> bool {
        self.intercept.is_some()
    }

    /// The forecast of the reward of an action.
    pub fn forecast(&self, action: Action<'_>) -> ForecastChoice {
        let (low, high) = self.range;
        let middle = 0.5 * (low + high);
        let candidate =
            |ridge: &Ridge| (middle + dot(action.features(), ridge.theta_hat())).clamp(low, high);
        let candidates = self.candidates.each_ref().map(candidate);
        let better = |best, next| if self.errors[next] < self.errors[best] { next } else { best };
        ForecastChoice { candidates, counts: (0..3).reduce(better).unwrap_or(0) }
    }

    /// Learns the reward of an action that was forecast.
    ///
    /// # Panics
    /// If the action has another number of features, or the reward is refused.
    pub fn learn(&mut self, action: Action<'_>, reward: f64, forecast: ForecastChoice) {
        let middle = 0.5 * (self.range.0 + self.range.1);
        for ((ridge, sum), candidate) in
            self.candidates.iter_mut().zip(&mut self.errors).zip(forecast.candidates)
        {
            *sum += (reward - candidate) * (reward - candidate);
            ridge.update(action, reward - middle);
        }
    }

    pub(crate) fn takes(&self) -> &Ridge {
        &self.candidates[0]
    }

    pub(crate) fn write(&self, out: &mut Writer) {
        out.flag(self.intercept.is_some());
        if let Some(feature) = self.intercept {
            out.count(feature as u64);
        }
        self.candidates.iter().for_each(|candidate| candidate.write(out));
        out.numbers(&self.errors);
    }

    pub(crate) fn read(&mut self, from: &mut Reader<'_>) -> Result<(), StateError> {
        if from.flag("forecaster.intercept")? {
            let feature = from.count("forecaster.intercept")?;
            let dim = self.candidates[0].dim() as u64;
            holds("forecaster.intercept", feature < dim)?;
            self.set_intercept(usize::try_from(feature).unwrap_or(usize::MAX));
        }
        for candidate in &mut self.candidates {
            candidate.read(from)?;
        }
        let errors = from.numbers("forecaster.errors", 3)?;
        holds("forecaster.errors", errors.iter().all(|sum| *sum >= 0.0))?;
        self.errors.copy_from_slice(&errors);
        Ok(())
    }
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
