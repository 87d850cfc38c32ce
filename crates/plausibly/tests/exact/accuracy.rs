use super::observation;
use crate::drift::{DIM, SETUPS, Setup, worst};
use plausibly::{Action, ActionSet, Estimator, Ledger, Ridge, Stream};
use plausibly_testkit::PreciseGram;

/// The factors that bring the designs of `drift` onto the grid; the ridge is scaled by their
/// squares. Features of 10⁴ are too large for the grid; divided by 128, thirteen standard
/// deviations stay within 1024.
const SCALES: [f64; 4] = [1.0, 1.0, 1.0 / 128.0, 1.0];

/// The largest relative error of `aᵀV⁻¹a` allowed. Three designs are well conditioned once their
/// diagonal is scaled to one, and such scaling changes the errors of a Cholesky factor or of an
/// inverse made from it hardly at all.
const LIMITS: [f64; 4] = [1e-12, 1e-12, 1e-12, 1e-6];

fn drawn(setup: &Setup, scale: f64, rng: &mut Stream) -> Vec<f64> {
    (setup.draw)(rng).into_iter().map(|x| scale * x).collect()
}

fn widths(model: &mut Ridge, probes: &ActionSet) -> Vec<f64> {
    crate::scores(model, probes.view()).width_sq().to_vec()
}

fn measure(which: usize, updates: usize) {
    let (setup, scale) = (&SETUPS[which], SCALES[which]);
    let ridge = setup.ridge * scale * scale;
    let mut rng = Stream::new(6, 0, setup.name);
    let rows: Vec<Vec<f64>> = (0..2000).map(|_| drawn(setup, scale, &mut rng)).collect();
    let probes = ActionSet::from_rows(&rows).unwrap();
    let mut ledger = Ledger::new(DIM).unwrap();
    let mut stepwise = Ridge::new(DIM, ridge).unwrap();
    let [mut on_grid, mut raw] = [PreciseGram::new(DIM, ridge), PreciseGram::new(DIM, ridge)];
    let raw_too = updates <= 100_000;
    for _ in 0..updates {
        let x = drawn(setup, scale, &mut rng);
        let seen = observation(&x, 0.0);
        ledger.add(&seen).unwrap();
        let rounded: Vec<f64> = seen.features().collect();
        stepwise.update(Action::new(0, &rounded), 0.0);
        on_grid.add(&rounded);
        if raw_too {
            raw.add(&x);
        }
    }
    let truth = on_grid.widths_sq(&rows);
    let exact = widths(&mut ledger.ridge(ridge).unwrap(), &probes);
    let ours = worst(&exact, &truth);
    let steps = worst(&widths(&mut stepwise, &probes), &truth);
    println!("{:18} {updates:9} updates: exact {ours:.1e}, ridge by steps {steps:.1e}", setup.name);
    assert!(ours <= LIMITS[which], "{}: {ours:e} above {:e}", setup.name, LIMITS[which]);
    if raw_too && which < 3 {
        // The measurement must be able to see a grid step: compared with observations that were
        // *not* rounded, the model is far off.
        let beside_raw = worst(&exact, &raw.widths_sq(&rows));
        assert!(
            beside_raw > LIMITS[which],
            "{}: {beside_raw:e} beside unrounded features",
            setup.name
        );
    }
    // Sums in single precision, with 24 bits, must exceed the limit on every design.
    #[expect(clippy::cast_possible_truncation, reason = "losing digits is the point")]
    let mut coarse: Vec<f64> = ledger.gram().iter().map(|sum| f64::from(*sum as f32)).collect();
    (0..DIM).for_each(|i| coarse[i * DIM + i] += ridge);
    let coarse = Ridge::from_statistics(DIM, ridge, &coarse, &[0.0; DIM], 0);
    assert!(
        coarse.is_err() || worst(&widths(&mut coarse.unwrap(), &probes), &truth) > LIMITS[which]
    );
}

pub(super) fn measure_all(updates: usize) {
    (0..SETUPS.len()).for_each(|which| measure(which, updates));
}

#[test]
fn a_hundred_thousand_updates() {
    measure_all(100_000);
}
