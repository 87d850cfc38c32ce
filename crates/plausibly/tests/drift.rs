//! Refactorisation must help: its error against double-double arithmetic is compared with that of
//! simpler methods.

use plausibly::{Action, ActionSet, Estimator, Ridge, Stream};
use plausibly_testkit::PreciseGram;

pub(crate) const DIM: usize = 8;

/// A way of drawing features, with a ridge and the error that its condition allows.
pub(crate) struct Setup {
    pub(crate) name: &'static str,
    pub(crate) ridge: f64,
    limit: f64,
    pub(crate) draw: fn(&mut Stream) -> Vec<f64>,
}

fn normals(rng: &mut Stream) -> Vec<f64> {
    (0..DIM).map(|_| rng.normal()).collect()
}

pub(crate) const SETUPS: [Setup; 4] = [
    Setup { name: "isotropic", ridge: 1.0, limit: 1e-13, draw: normals },
    Setup {
        name: "scales 1 to 3e-5",
        ridge: 1e-3,
        limit: 1e-13,
        draw: |rng| {
            (0..DIM)
                .map(|i| rng.normal() * 10.0_f64.powf(-4.5 * i as f64 / (DIM - 1) as f64))
                .collect()
        },
    },
    Setup {
        name: "1e4 beside 1",
        ridge: 1.0,
        limit: 1e-13,
        draw: |rng| (0..DIM).map(|i| rng.normal() * if i == 0 { 1e4 } else { 1.0 }).collect(),
    },
    Setup {
        name: "near-collinear",
        ridge: 1e-6,
        // κ(V) ≈ d·10⁸: even a factor of V computed from scratch has no more digits than this.
        limit: 8.0 * DIM as f64 * 1e8 * f64::EPSILON * DIM as f64,
        draw: |rng| {
            let common = rng.normal();
            (0..DIM).map(|_| common + 1e-4 * rng.normal()).collect()
        },
    },
];

/// The largest relative error of `aᵀV⁻¹a` over the probes.
pub(crate) fn worst(widths: &[f64], truth: &[f64]) -> f64 {
    widths.iter().zip(truth).map(|(w, t)| ((w - t) / t).abs()).fold(0.0, f64::max)
}

/// The estimator without refactorisation: `V⁻¹` by rank-one steps alone, `V` by a plain sum.
struct Careless {
    inverse: Vec<f64>,
    gram: Vec<f64>,
}

impl Careless {
    fn new(ridge: f64) -> Self {
        let diagonal = |value: f64| {
            let mut m = vec![0.0; DIM * DIM];
            (0..DIM).for_each(|i| m[i * DIM + i] = value);
            m
        };
        Self { inverse: diagonal(1.0 / ridge), gram: diagonal(ridge) }
    }

    fn update(&mut self, x: &[f64]) {
        let u: Vec<f64> = (0..DIM)
            .map(|i| (0..DIM).map(|j| self.inverse[i * DIM + j] * x[j]).sum::<f64>())
            .collect();
        let h = 1.0 / (1.0 + x.iter().zip(&u).map(|(a, b)| a * b).sum::<f64>());
        for i in 0..DIM {
            for j in 0..DIM {
                self.inverse[i * DIM + j] -= h * u[i] * u[j];
                self.gram[i * DIM + j] += x[i] * x[j];
            }
        }
    }

    fn stepwise(&self, probes: &[Vec<f64>]) -> Vec<f64> {
        let form = |a: &Vec<f64>| {
            (0..DIM)
                .map(|i| a[i] * (0..DIM).map(|j| self.inverse[i * DIM + j] * a[j]).sum::<f64>())
                .sum()
        };
        probes.iter().map(form).collect()
    }

    fn refactored_from_plain_sum(&self, probes: &[Vec<f64>]) -> Vec<f64> {
        let model = Ridge::from_statistics(DIM, 1.0, &self.gram, &[0.0; DIM], 0).unwrap();
        crate::scores(&model, ActionSet::from_rows(probes).unwrap().view()).width_sq().to_vec()
    }
}

/// Plays `updates` observations and compares all methods at the end, just before a refactorisation,
/// when the estimator is at its worst.
fn measure(setup: &Setup, updates: usize) {
    let mut rng = Stream::new(6, 0, setup.name);
    let probes: Vec<Vec<f64>> = (0..200).map(|_| (setup.draw)(&mut rng)).collect();
    let mut model = Ridge::new(DIM, setup.ridge).unwrap();
    let mut careless = Careless::new(setup.ridge);
    let mut precise = PreciseGram::new(DIM, setup.ridge);
    for _ in 0..updates {
        let x = (setup.draw)(&mut rng);
        model.update(Action::new(0, &x), 0.0);
        careless.update(&x);
        precise.add(&x);
    }
    let truth = precise.widths_sq(&probes);
    let ours = worst(
        crate::scores(&model, ActionSet::from_rows(&probes).unwrap().view()).width_sq(),
        &truth,
    );
    let stepwise = worst(&careless.stepwise(&probes), &truth);
    let plain = worst(&careless.refactored_from_plain_sum(&probes), &truth);
    println!(
        "{:18} {updates:9} updates: ours {ours:.1e}, stepwise {stepwise:.1e}, plain \
         sum {plain:.1e}",
        setup.name
    );
    assert!(ours <= setup.limit, "{}: {ours:e} above {:e}", setup.name, setup.limit);
    assert!(ours <= stepwise, "{}: refactoring hurt: {ours:e} against {stepwise:e}", setup.name);
    assert!(
        ours <= plain,
        "{}: no better than a plain sum: {ours:e} against {plain:e}",
        setup.name
    );
}

#[test]
fn refactoring_beats_leaving_it_and_beats_a_plain_sum() {
    for setup in &SETUPS {
        measure(setup, 50 * 4096 - 1);
    }
}

mod full {
    use super::*;

    #[test]
    fn eight_million_updates() {
        for setup in &SETUPS {
            measure(setup, 2000 * 4096 - 1);
        }
    }
}
