use super::{ledger_of, observation};
use crate::exact::laws::value;
use plausibly::{
    ConfidenceRadius, Determinant, Estimator, Evidence, Fixed, Ledger, Observation, Quantised,
    RadiusError, Ridge, Stream, quantise,
};
use plausibly_testkit::{BruteForce, strategies};
use proptest::prelude::*;

/// `value·2²⁴` to the nearest integer, ties to even, from the bits of the double: no floating-point
/// operation.
pub(super) fn steps(value: f64) -> i128 {
    let bits = value.to_bits();
    let (exponent, fraction) = ((bits >> 52) & 0x7ff, i128::from(bits & ((1 << 52) - 1)));
    // value = ±mantissa·2^(power − 24)
    let (mantissa, power) = match i32::try_from(exponent).unwrap() {
        0 => (fraction, 1 - 1075 + 24),
        exponent => (fraction | 1 << 52, exponent - 1075 + 24),
    };
    let magnitude = if power >= 0 {
        mantissa << power
    } else if power < -60 {
        0
    } else {
        let (quotient, rest, half) =
            (mantissa >> -power, mantissa & ((1 << -power) - 1), 1_i128 << (-power - 1));
        quotient + i128::from(rest > half || (rest == half && quotient % 2 == 1))
    };
    if value.is_sign_negative() { -magnitude } else { magnitude }
}

#[test]
fn ties_go_to_the_even_neighbour() {
    let step = 2.0_f64.powi(-24);
    for (value, expected) in
        [(0.5, 0.0), (1.5, 2.0), (2.5, 2.0), (-0.5, 0.0), (-1.5, -2.0), (0.500_000_1, 1.0)]
    {
        assert_eq!(quantise(value * step).unwrap(), expected * step, "{value}");
    }
    assert!(quantise(-0.0).unwrap().is_sign_positive());
    assert_eq!(quantise(1024.0 - step / 4.0).unwrap(), 1024.0);
}

#[test]
fn sums_become_the_nearest_doubles() {
    // Σ x² = 2⁻⁴⁸·(2³⁴·2³⁴ + 1) lies between two doubles.
    let seen = [observation(&[1024.0], 1.0), observation(&[2.0_f64.powi(-24)], 0.5)];
    let ledger = ledger_of(1, &seen);
    assert_eq!(ledger.sum(0, 0), (1 << 68) + 1);
    assert_eq!((ledger.gram()[0], ledger.reward_squares()), (1_048_576.0, 1.25));
    assert_eq!(ledger.moment(), [1024.0 + 2.0_f64.powi(-25)]);
    // 2⁵³ + 1 steps are a tie and round down to even; 2⁵³ + 3 are a tie and round up.
    for (extra, expected) in [(1, 0), (2, 2), (3, 4)] {
        let one = observation(&[2.0_f64.powi(-24)], 0.0);
        // 4 is 2²⁶ steps: two squares are 2⁵³.
        let mut ledger = ledger_of(1, &vec![observation(&[4.0], 0.0); 2]);
        (0..extra).for_each(|_| ledger.add(&one).unwrap());
        let expected = ((1_i64 << 53) + expected) as f64 * 2.0_f64.powi(-48);
        assert_eq!(ledger.gram()[0], expected, "{extra}");
    }
}

#[test]
fn the_correction_is_its_formula() {
    let evidence = Evidence::new(10_000, 4, 1.0, 3.0);
    let inner = Determinant { delta: 0.1, noise_scale: 0.5, theta_norm_bound: 2.0 };
    let outer = Quantised { radius: inner, theta_norm_bound: 2.5 };
    // 2⁻²⁵·(1 + 2·2.5)·100
    let expected = inner.sqrt_beta(&evidence) + 600.0 / f64::from(1 << 25);
    assert!((outer.sqrt_beta(&evidence) - expected).abs() < 1e-15);
    let refused = Quantised { radius: inner, theta_norm_bound: -1.0 }.checked().unwrap_err();
    assert_eq!(refused, RadiusError::Negative { name: "theta_norm_bound", value: -1.0 });
    assert!(outer.checked().is_ok());
}

/// The correction alone.
fn correction(evidence: &Evidence, theta_norm_bound: f64) -> f64 {
    Quantised { radius: Fixed { sqrt_beta: 0.0 }, theta_norm_bound }.sqrt_beta(evidence)
}

#[test]
fn the_correction_is_needed_to_the_last_percent() {
    // x = 1 + 2⁻²⁵ rounds down by half a step; y = 3x, without noise, is 1.5 steps above 3 and
    // rounds up by half a step. So each observation errs by 2⁻²⁵·(1 + 3), always in the same
    // direction.
    let x = 1.0 + 2.0_f64.powi(-25);
    let seen = observation(&[x], 3.0 * x);
    let ledger = ledger_of(1, &vec![seen; 10_000]);
    let ridge = 1e-14;
    let model = ledger.ridge(ridge).unwrap();
    let (deviation, evidence) = (model.deviation(&[3.0]), model.evidence());
    // Without rounding the estimate may be off by √λ·S, 3·10⁻⁷; the allowance is 1.2·10⁻⁵.
    let (prior, bias) = (ridge.sqrt() * 3.0, correction(&evidence, 3.0));
    assert!(deviation <= prior + bias, "{deviation:e} above {prior:e} + {bias:e}");
    assert!(
        deviation > prior + 0.95 * bias,
        "{deviation:e} leaves room below {prior:e} + {bias:e}"
    );
    assert!(deviation > prior + 0.5 * bias, "half of the correction would do");
}

proptest! {
    #[test]
    fn sums_are_those_of_integers(
        dim in 1..5_usize,
        seen in prop::collection::vec((prop::collection::vec(value(), 4), value()), 0..20),
    ) {
        let seen: Vec<Vec<f64>> =
            seen.into_iter().map(|(x, y)| [&x[..dim], &[y]].concat()).collect();
        let exact: Vec<Observation> = seen.iter().map(|z| observation(&z[..dim], z[dim])).collect();
        let ledger = ledger_of(dim, &exact);
        prop_assert_eq!(ledger.observations(), seen.len() as u64);
        for i in 0..=dim {
            for j in 0..=dim {
                let expected: i128 = seen.iter().map(|z| steps(z[i]) * steps(z[j])).sum();
                prop_assert_eq!(ledger.sum(i, j), expected, "({}, {})", i, j);
            }
        }
        for (z, exact) in seen.iter().zip(&exact) {
            for (value, rounded) in z.iter().zip(exact.features().chain([exact.reward()])) {
                prop_assert!((value - rounded).abs() <= 2.0_f64.powi(-25));
                prop_assert_eq!(quantise(*value).unwrap().to_bits(), rounded.to_bits());
                prop_assert_eq!(quantise(rounded).unwrap().to_bits(), rounded.to_bits());
            }
        }
    }

    #[test]
    fn the_model_is_that_of_brute_force(
        ridge in 0.01..100.0_f64,
        rows in strategies::actions(4, 20),
        plays in strategies::history(60),
    ) {
        let mut reference = BruteForce::new(4, ridge);
        let mut ledger = Ledger::new(4).unwrap();
        for (which, reward) in &plays {
            let seen = observation(&rows[which % rows.len()], *reward);
            reference.observe(&seen.features().collect::<Vec<_>>(), seen.reward());
            ledger.add(&seen).unwrap();
        }
        let model = ledger.ridge(ridge).unwrap();
        prop_assert_eq!(model.evidence().observations, plays.len() as u64);
        // Both factor V in doubles, where each entry of V also carries the roundings of the
        // reference's sum.
        let allowed = 4.0 * f64::EPSILON * (16 + plays.len()) as f64 * reference.condition();
        let set = plausibly::ActionSet::from_rows(&rows).unwrap();
        let scores = crate::scores(&model, set.view());
        let scored = scores.mean().iter().zip(scores.width_sq());
        for (row, (mean, width_sq)) in rows.iter().zip(scored) {
            let (m, w) = reference.score(row);
            prop_assert!(
                (mean - m).abs() <= allowed * 10.0 * (1.0 + m.abs()),
                "{mean} {m} {allowed:e}",
            );
            prop_assert!(
                (width_sq - w).abs() <= allowed * 10.0 * (1.0 + w),
                "{width_sq} {w} {allowed:e}",
            );
        }
    }

    #[test]
    fn rounding_moves_the_estimate_by_no_more_than_the_correction(
        dim in 1..6_usize,
        scale in 0.01..10.0_f64,
        ridge in 1e-6..1.0_f64,
        seed in any::<u64>(),
    ) {
        let mut rng = Stream::new(seed, 0, "rounding");
        let theta: Vec<f64> = (0..dim).map(|_| scale * rng.normal()).collect();
        let bound = theta.iter().map(|t| t * t).sum::<f64>().sqrt();
        let mut ledger = Ledger::new(dim).unwrap();
        let mut bias = vec![0.0; dim];
        for _ in 0..200 {
            let x: Vec<f64> = (0..dim).map(|_| rng.normal()).collect();
            let dot = |x: &[f64]| x.iter().zip(&theta).map(|(a, b)| a * b).sum::<f64>();
            let seen = observation(&x, dot(&x));
            let rounded: Vec<f64> = seen.features().collect();
            let error = seen.reward() - dot(&rounded);
            bias.iter_mut().zip(&rounded).for_each(|(bias, x)| *bias += x * error);
            ledger.add(&seen).unwrap();
        }
        // V⁻¹·X'ᵀe as an estimate of its own: its distance from zero in the norm of V.
        let gram = ledger.ridge(ridge).unwrap().gram();
        let moved = Ridge::from_statistics(dim, ridge, &gram, &bias, 200).unwrap();
        let (moved, allowed) =
            (moved.deviation(&vec![0.0; dim]), correction(&moved.evidence(), bound));
        prop_assert!(moved <= allowed, "{moved:e} above {allowed:e}");
        prop_assert!(moved > 0.0, "nothing was rounded");
    }
}
