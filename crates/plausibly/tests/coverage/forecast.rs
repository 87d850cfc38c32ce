//! The forecast set, with nothing to spare: the truth is zero and rewards are a fair coin's.

use super::bounded::{Named, case};
use super::{Chooser, Linear};
use plausibly::{
    Action, Code, ConfidenceRadius as _, Estimator as _, Forecast, Forecaster, Outcome,
    Policy as _, Reach, Ridge, Stream,
};
use plausibly_testkit::BruteForce;

/// How rewards are forecast.
#[derive(Clone, Copy, Debug, PartialEq)]
enum By {
    /// By the forecaster.
    Ridges,
    /// By the reward that came last.
    Last,
    /// By what would be right if the set's error were the truth: it praises the estimate.
    Estimate,
    /// By a coin of its own.
    Coin,
    /// Mutant: by the forecaster after it has learned the reward.
    Seen,
}

/// When rewards come.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Arrival {
    AtOnce,
    /// In sorted batches of this size; forecast at the decision.
    Sorted(usize),
    /// Mutant: forecast when the reward is entered.
    SortedLate(usize),
}

#[derive(Clone, Copy, Debug)]
struct Coins {
    dim: usize,
    chooser: Chooser,
    by: By,
    arrival: Arrival,
}

impl Coins {
    fn forecast(&self, forecaster: &Forecaster, model: &Ridge, x: Action<'_>, last: f64) -> f64 {
        let estimate = || x.features().iter().zip(model.theta_hat()).map(|(x, t)| x * t).sum();
        match self.by {
            By::Ridges | By::Seen => forecaster.forecast(x).counted(),
            By::Last => last,
            By::Estimate => estimate(),
            By::Coin => Stream::new(99, model.evidence().observations, "coin").uniform() - 0.5,
        }
    }

    /// Whether zero ever leaves the set in this run, or no parameter is left.
    fn misses(&self, radius: Forecast, rounds: u64, run: u64) -> bool {
        let set = Linear::tight(self.dim, self.chooser).set(run);
        let fresh = || Ridge::new(self.dim, 0.1).unwrap();
        let (mut model, mut code) = (fresh(), Code::new(fresh(), radius));
        let mut forecaster = Forecaster::new(self.dim, (-0.5, 0.5)).unwrap();
        let (mut noise, mut last) = (Stream::new(98, run, "noise"), 0.0);
        let mut waiting: Vec<(usize, f64, f64)> = Vec::new();
        for _ in 0..rounds {
            let chosen = match self.chooser {
                Chooser::Code => code.select(set.view(), &mut noise.clone()),
                Chooser::Adversary => {
                    let along = |a: usize| {
                        let x = set.view().get(a).features();
                        x.iter().zip(model.theta_hat()).map(|(x, t)| x * t).sum::<f64>().abs()
                    };
                    (0..set.view().len())
                        .reduce(|a, b| if along(b) < along(a) { b } else { a })
                        .unwrap()
                }
            };
            let action = set.view().get(chosen);
            let reward = if noise.index(2) == 0 { -0.5 } else { 0.5 };
            let at_decision = self.forecast(&forecaster, &model, action, last);
            waiting.push((chosen, reward, at_decision));
            let size = match self.arrival {
                Arrival::AtOnce => 1,
                Arrival::Sorted(size) | Arrival::SortedLate(size) => size,
            };
            if waiting.len() < size {
                continue;
            }
            waiting.sort_by(|a, b| a.1.total_cmp(&b.1));
            for (chosen, reward, at_decision) in waiting.drain(..) {
                let action = set.view().get(chosen);
                let choice = forecaster.forecast(action);
                let mut forecast = at_decision;
                if let Arrival::SortedLate(_) = self.arrival {
                    forecast = self.forecast(&forecaster, &model, action, last);
                }
                forecaster.learn(action, reward, choice);
                if self.by == By::Seen {
                    forecast = forecaster.forecast(action).counted();
                }
                let outcome = Outcome { forecast: Some(forecast), ..Outcome::from(reward) };
                model.learn(action, outcome);
                code.learn(action, outcome);
                last = reward;
            }
            let reach = radius.reach(&model.evidence());
            let refuted = matches!(reach, Reach::Open(_));
            if refuted || !model.holds(&vec![0.0; self.dim], reach) {
                return true;
            }
        }
        false
    }
}

fn radius(delta: f64) -> Forecast {
    Forecast { delta, noise_scale: 0.5, theta_norm_bound: 0.0, low: -0.5, high: 0.5, pairs: false }
}

pub(super) fn forecast_sets(full: bool) {
    use {Arrival::AtOnce, By::*};
    for delta in if full { &[0.05, 0.01][..] } else { &[0.05] } {
        for (dim, chooser, by) in [
            (1, Chooser::Code, Ridges),
            (2, Chooser::Code, Ridges),
            (2, Chooser::Adversary, Ridges),
            (1, Chooser::Code, Last),
            (2, Chooser::Adversary, Estimate),
            (2, Chooser::Code, Coin),
        ] {
            let coins = Coins { dim, chooser, by, arrival: AtOnce };
            let seen = Coins { by: Seen, ..coins };
            let mutants: [Named<'_>; 2] = [
                ("forecast saw its reward", &|n, run| seen.misses(radius(*delta), n, run)),
                ("without log(1/δ)", &|n, run| coins.misses(radius(1.0 - 1e-9), n, run)),
            ];
            case(
                &format!("forecast, d = {dim}, by {by:?}, chosen by {chooser:?}"),
                *delta,
                full,
                |rounds, run| coins.misses(radius(*delta), rounds, run),
                // The other rules are there to be adversarial, not to be spoiled.
                if by == Ridges { &mutants } else { &[] },
            );
        }
        let at = |arrival| Coins { dim: 1, chooser: Chooser::Code, by: Last, arrival };
        let by = |arrival| move |n, run| at(arrival).misses(radius(*delta), n, run);
        case(
            "forecast, d = 1, by Last, batches of 25 entered sorted",
            *delta,
            full,
            by(Arrival::Sorted(25)),
            &[("forecast at arrival", &by(Arrival::SortedLate(25)))],
        );
    }
}

/// `‖θ − θ̂‖²_V − β` is the excess of the squared residuals of θ over what forecasts and net allow,
/// from the rewards themselves.
#[test]
fn the_forecast_set_is_the_one_of_its_definition() {
    let mut wrong_by_mutant = 0;
    for number in 0..500 {
        let rng = &mut Stream::new(100, number, "data");
        let (dim, count) = (1 + rng.index(4), rng.index(40));
        let (ridge, scale, norm) = (0.05 + rng.uniform(), 0.2 + rng.uniform(), 2.0 * rng.uniform());
        let (mut model, mut brute) = (Ridge::new(dim, ridge).unwrap(), BruteForce::new(dim, ridge));
        let theta: Vec<f64> = (0..dim).map(|_| rng.normal()).collect();
        let dot = |x: &[f64]| x.iter().zip(&theta).map(|(x, t)| x * t).sum::<f64>();
        let [mut of_theta, mut of_forecasts, mut squares, mut cross] = [0.0; 4];
        for _ in 0..count {
            let x: Vec<f64> = (0..dim).map(|_| rng.normal()).collect();
            let (reward, forecast) = (rng.uniform() - 0.5, rng.uniform() - 0.5);
            model.learn(
                Action::new(0, &x),
                Outcome { forecast: Some(forecast), ..Outcome::from(reward) },
            );
            brute.observe(&x, reward);
            of_theta += (reward - dot(&x)).powi(2);
            of_forecasts += (reward - forecast).powi(2);
            squares += reward * reward;
            cross += reward * forecast;
        }
        let radius = Forecast {
            delta: 0.05,
            noise_scale: scale,
            theta_norm_bound: norm,
            low: -0.5,
            high: 0.5,
            pairs: false,
        };
        let evidence = model.evidence();
        let log_det = brute.log_det_with(&vec![0.0; dim]) - dim as f64 * ridge.ln();
        let explained = squares - {
            // The least of Σ(y − ⟨x, θ⟩)² + λ‖θ‖² is Σy² − ⟨b, θ̂⟩.
            let shrunk = of_theta + ridge * theta.iter().map(|t| t * t).sum::<f64>();
            shrunk - brute.deviation(&theta).powi(2)
        };
        let unit = 2.0 * scale * scale;
        let net = squares - explained + 0.5 * unit * log_det;
        let allowed = |of_forecasts: f64| {
            let least = of_forecasts.min(net);
            let share = |weight: f64, sum: f64| weight * ((least - sum) / unit).exp();
            least - unit * (share(0.9, of_forecasts) + share(0.1, net)).ln() - unit * 0.05_f64.ln()
                + ridge * norm * norm
        };
        let excess = of_theta + ridge * theta.iter().map(|t| t * t).sum::<f64>();
        let beta = radius.sqrt_beta(&evidence).powi(2);
        if !matches!(radius.reach(&evidence), Reach::Ellipsoid { .. }) {
            continue;
        }
        let ours = model.deviation(&theta).powi(2) - beta;
        let rounding = 1e-12 * (1.0 + excess + count as f64);
        assert!((ours - (excess - allowed(of_forecasts))).abs() <= rounding, "{number}: {ours}");
        // D with ŷ(ŷ − y) in the place of ŷ(ŷ − 2y).
        let mutant = excess - allowed(of_forecasts + cross);
        wrong_by_mutant += u32::from((ours - mutant).abs() > rounding);
    }
    assert!(wrong_by_mutant > 300, "{wrong_by_mutant}");
}
