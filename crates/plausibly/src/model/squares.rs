//! Sums of squares beside a fit: what noise the rewards show, and how good forecasts were.

use crate::linalg::CompensatedSum;
use crate::state::{Reader, StateError, Writer, holds};

/// Sums of squares of a model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Squares {
    /// `Σ y²`.
    pub rewards: f64,
    /// `⟨b, θ̂⟩`, the part of `Σ y²` that the estimate explains; for arms, `Σ S²/T`.
    pub explained: f64,
    /// `D = Σ ŷ·(ŷ − 2y)` over forecasts `ŷ` that were fixed before their rewards; `None` unless
    /// every reward has one. `D + Σ y²` is the sum of squared forecast errors.
    pub forecasts: Option<f64>,
}

/// A sum of squares is good to this share of itself, or better.
const ROUNDING: f64 = 1e-12;

impl Squares {
    /// `Σ y² − ⟨b, θ̂⟩` less what rounding may have added to it. No parameter of norm at most `S`
    /// has squared residuals below this less `λ·S²`.
    pub fn residual(&self) -> f64 {
        (self.rewards - self.explained - ROUNDING * self.rewards).max(0.0)
    }
}

/// Keeps the sums that do not depend on the estimate.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SquareSums {
    rewards: CompensatedSum,
    forecasts: CompensatedSum,
    forecast_count: u64,
}

impl SquareSums {
    /// Sums already at hand; `forecasts` if every reward has one.
    pub(crate) fn of(rewards: f64, forecasts: Option<f64>, observations: u64) -> Self {
        Self {
            rewards: CompensatedSum::new(rewards),
            forecasts: CompensatedSum::new(forecasts.unwrap_or(0.0)),
            forecast_count: if forecasts.is_some() { observations } else { 0 },
        }
    }

    #[inline]
    pub(crate) fn add(&mut self, reward: f64, forecast: Option<f64>) {
        self.rewards.add(reward * reward);
        if let Some(forecast) = forecast {
            self.forecasts.add(forecast * (forecast - 2.0 * reward));
            self.forecast_count += 1;
        }
    }

    #[inline]
    pub(crate) fn squares(&self, explained: f64, observations: u64) -> Squares {
        let all = self.forecast_count == observations;
        let forecasts = all.then(|| self.forecasts.rounded());
        Squares { rewards: self.rewards.rounded(), explained, forecasts }
    }

    pub(crate) fn write(&self, out: &mut Writer) {
        for sum in [self.rewards, self.forecasts] {
            let (sum, carry) = sum.parts();
            out.number(sum);
            out.number(carry);
        }
        out.count(self.forecast_count);
    }

    pub(crate) fn read(from: &mut Reader<'_>, observations: u64) -> Result<Self, StateError> {
        let mut sum = |what| {
            let (sum, carry) = (from.any_number()?, from.any_number()?);
            holds(what, sum.is_finite() && carry.is_finite())?;
            Ok(CompensatedSum::from_parts(sum, carry))
        };
        let (rewards, forecasts) = (sum("squares.rewards")?, sum("squares.forecasts")?);
        holds("squares.rewards", rewards.rounded() >= 0.0)?;
        let forecast_count = from.count("squares.forecast_count")?;
        holds("squares.forecast_count", forecast_count <= observations)?;
        Ok(Self { rewards, forecasts, forecast_count })
    }
}
