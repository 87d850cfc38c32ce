//! From the scale on which a model is linear to that of rewards, and back.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_PI};

/// How the mean reward depends on `z = offset + ⟨x, θ⟩`.
///
/// With `m` the function of which it is the slope, `μ = m'` and `v = m''`, both kinds have
/// `|m'''| ≤ m''`: all that the confidence set uses of them, beside the bounds of this type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// `μ = 1/(1 + e^−z)`: the chance of a yes, or any reward in [0, 1]. `z` is in logits.
    Logistic,
    /// `μ = e^z`: counts without a largest one. `z` is a logarithm.
    Poisson,
}

/// Rates of counts are computed for `z` up to this and stay there: `e²³⁰` is about 1e100.
const LARGEST_LOG: f64 = 230.0;

impl Link {
    /// As specs name it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Logistic => "logistic",
            Self::Poisson => "poisson",
        }
    }

    /// The least and the largest value that is modelled: of a share, and of a count.
    pub fn reward_range(self) -> (f64, f64) {
        match self {
            Self::Logistic => (0.0, 1.0),
            Self::Poisson => (0.0, 1024.0),
        }
    }

    /// The range of rewards that a model has on a problem with this one; `None` if rewards are of
    /// another kind. Counts have no largest one: the range of a problem with counts is infinite.
    pub fn rewards_in(self, range: Option<(f64, f64)>) -> Option<(f64, f64)> {
        let (low, high) = range?;
        match self {
            Self::Logistic => high.is_finite().then_some((low, high)),
            Self::Poisson => (low >= 0.0 && high.is_infinite()).then(|| self.reward_range()),
        }
    }

    /// `μ(z)`.
    pub fn mean(self, z: f64) -> f64 {
        match self {
            Self::Logistic => self.moments(z).0,
            Self::Poisson => libm::exp(z.min(LARGEST_LOG)),
        }
    }

    /// Mean and variance.
    pub(crate) fn moments(self, z: f64) -> (f64, f64) {
        match self {
            Self::Logistic => {
                // Never a difference of nearly equal numbers, on neither side.
                let fraction = libm::exp(-z.abs());
                let mean = (if z < 0.0 { fraction } else { 1.0 }) / (1.0 + fraction);
                (mean, fraction / ((1.0 + fraction) * (1.0 + fraction)))
            }
            Self::Poisson => {
                let mean = self.mean(z);
                (mean, mean)
            }
        }
    }

    /// `m(z)`, of which the mean is the slope.
    pub(crate) fn cumulant(self, z: f64) -> f64 {
        match self {
            Self::Logistic => z.max(0.0) + libm::log1p(libm::exp(-z.abs())),
            Self::Poisson => self.mean(z),
        }
    }

    /// The `z` with this mean.
    pub fn of_mean(self, mean: f64) -> f64 {
        match self {
            Self::Logistic => libm::log(mean) - libm::log1p(-mean),
            Self::Poisson => libm::log(mean),
        }
    }

    /// `v(z) = μ'(z)`: how much the mean moves with `z`, and the variance of a reward of this mean
    /// (of a yes or no; of a count).
    pub fn variance(self, z: f64) -> f64 {
        match self {
            Self::Logistic => {
                let fraction = libm::exp(-z.abs());
                fraction / ((1.0 + fraction) * (1.0 + fraction))
            }
            Self::Poisson => self.mean(z),
        }
    }

    /// `j(z)` of `m(z + u) ≤ m(z) + μ(z)·u + ½·j(z)·u²` for all `u`: the tangent of Jaakkola and
    /// Jordan, `tanh(z/2)/(2z)`. Counts have none.
    pub(crate) fn tangent(self, z: f64) -> Option<f64> {
        let series = || 0.25 - z * z / 48.0;
        let small = z.abs() < 1e-3;
        match self {
            Self::Logistic if small => Some(series()),
            Self::Logistic => Some(libm::tanh(0.5 * z) / (2.0 * z)),
            Self::Poisson => None,
        }
    }

    /// At least `E[m(z + s·Z)] − m(z)` for a standard normal `Z`.
    pub(crate) fn spread(self, z: f64, spread_sq: f64) -> f64 {
        let v = self.variance(z);
        match self {
            // Exact: E e^(sZ) = e^(s²/2).
            Self::Poisson => v * libm::expm1(0.5 * spread_sq),
            Self::Logistic => {
                let by_tangent = 0.5 * self.tangent(z).expect("logistic has one") * spread_sq;
                by_tangent.min(v * growth(spread_sq.sqrt()))
            }
        }
    }
}

/// `E[e^|sZ| − |sZ| − 1] = 2e^(s²/2)·Φ(s) − s·√(2/π) − 1`: what `v(z + u) ≤ v(z)·e^|u|` integrates
/// to.
fn growth(s: f64) -> f64 {
    let slope = FRAC_2_PI.sqrt();
    if s < 1e-2 {
        // Its series, with a last term that covers the rest; the difference would lose digits.
        return s * s * (0.5 + s * (slope / 3.0 + s * (0.125 + s * slope * 0.1)));
    }
    libm::exp(0.5 * s * s) * libm::erfc(-s * FRAC_1_SQRT_2) - s * slope - 1.0
}

/// `c(u) = 2(e^−u + u − 1)/u²`: by `m(z + w) ≥ m(z) + μ(z)·w + ½·c(u)·v(z)·w²` for `|w| ≤ u`, an
/// observation counts for this share of itself if its `z` may be off by `u`. Falls from 1 at 0.
pub(crate) fn curvature(u: f64) -> f64 {
    if u < 0.05 {
        // Its series, in which the last term is below 1e-16; the quotient loses the digits that
        // e^−u + u − 1 cancels.
        return (3..=9).rev().fold(1.0, |rest, k| 1.0 - u / f64::from(k) * rest);
    }
    if u.is_infinite() {
        return 0.0;
    }
    // In two steps, because u² can overflow.
    2.0 * ((libm::expm1(-u) + u) / u) / u
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    fn m(link: Link, z: f64) -> f64 {
        link.cumulant(z)
    }

    #[test]
    fn means_and_variances_are_the_slopes() {
        for link in [Link::Logistic, Link::Poisson] {
            for step in -60..=60 {
                let (z, h) = (f64::from(step) * 0.15, 1e-5);
                let slope = (m(link, z + h) - m(link, z - h)) / (2.0 * h);
                let second = (link.mean(z + h) - link.mean(z - h)) / (2.0 * h);
                let scale = 1.0 + link.mean(z);
                assert!((slope - link.mean(z)).abs() < 1e-8 * scale, "{link:?} {z}");
                assert!((second - link.variance(z)).abs() < 1e-8 * scale, "{link:?} {z}");
                assert!((link.of_mean(link.mean(z)) - z).abs() < 1e-9, "{link:?} {z}");
            }
        }
        assert_eq!(Link::Logistic.mean(1e100).to_bits(), 1.0_f64.to_bits());
        assert_eq!(Link::Logistic.variance(-1e100).to_bits(), 0);
    }

    #[test]
    fn the_tangent_is_above_and_the_curvature_below() {
        let mut rng = Stream::new(3, 0, "tangent");
        let (mut closest_above, mut closest_below) = (f64::INFINITY, f64::INFINITY);
        for _ in 0..200_000 {
            let (z, u) = (6.0 * rng.normal(), 4.0 * rng.normal());
            for link in [Link::Logistic, Link::Poisson] {
                let rise = m(link, z + u) - m(link, z) - link.mean(z) * u;
                let scale = 1e-12 * (m(link, z + u) + m(link, z) + (link.mean(z) * u).abs());
                if let Some(tangent) = link.tangent(z) {
                    let above = 0.5 * tangent * u * u - rise;
                    assert!(above > -scale, "{z} {u}");
                    closest_above = closest_above.min(above / (u * u));
                }
                let below = rise - 0.5 * curvature(u.abs()) * link.variance(z) * u * u;
                assert!(below > -scale, "{link:?} {z} {u}");
                closest_below = closest_below.min(below / (u * u));
            }
        }
        // Both touch, so a bound that is off by a little would be noticed.
        assert!(closest_above < 1e-6 && closest_below < 1e-6, "{closest_above} {closest_below}");
    }

    #[test]
    fn the_curvature_is_at_least_that_of_a_third() {
        for step in 0..4000 {
            let u = libm::exp(f64::from(step) * 0.01 - 30.0);
            assert!(curvature(u) >= libm::exp(-u / 3.0) * (1.0 - 1e-11), "{u}");
        }
        assert!(curvature(1e200) > 0.0 && curvature(f64::INFINITY) == 0.0);
    }

    #[test]
    fn series_meet_what_they_stand_for() {
        let [below, above] =
            [1e-3 * (1.0 - 1e-9), 1e-3].map(|z| Link::Logistic.tangent(z).unwrap());
        assert!((below - above).abs() < 1e-12);
        for step in 0..=1000 {
            let u = 1e-5 + 1.5e-4 * f64::from(step);
            let mut term = 1.0;
            let terms = (0..30).map(|k| {
                let current = term;
                term *= -u / f64::from(k + 3);
                current
            });
            let exact: f64 = terms.sum();
            assert!((curvature(u) / exact - 1.0).abs() < 2e-14, "{u}");
        }
        let [below, above] = [1e-2 * (1.0 - 1e-12), 1e-2].map(growth);
        assert!(below >= above * (1.0 - 1e-8) && below < above * (1.0 + 1e-6), "{below} {above}");
    }

    #[test]
    fn the_spread_is_at_least_the_integral() {
        for link in [Link::Logistic, Link::Poisson] {
            for (z, s) in [(-4.0, 0.3), (-2.0, 1.5), (0.0, 0.8), (1.0, 2.5), (-3.0, 0.005)] {
                // The trapezoid rule is exact here to many digits: the integrand dies off.
                let (steps, reach) = (4000, 12.0);
                let width = 2.0 * reach / f64::from(steps);
                let integral: f64 = (0..=steps)
                    .map(|step| {
                        let t = -reach + width * f64::from(step);
                        let density = libm::exp(-0.5 * t * t) / std::f64::consts::TAU.sqrt();
                        (m(link, z + s * t) - m(link, z)) * density * width
                    })
                    .sum();
                let bound = link.spread(z, s * s);
                assert!(bound >= integral - 1e-12, "{link:?} {z} {s}: {bound} {integral}");
                assert!(bound <= 2.5 * integral + 1e-9, "{link:?} {z} {s}: {bound} {integral}");
            }
        }
    }
}
