//! The natural logarithm: the same bits everywhere, in half the instructions of the library's.

mod table;

use table::{FIRST, LOG_2, TABLE};

/// Where `z` begins, 181/256.
const START: u64 = 0x3fe6_a000_0000_0000;
/// Bits of the mantissa that are zero in every `c`.
const FINER: u32 = 45;

/// `log x` for positive `x`, within 0.9 units in the last place.
///
/// With `x = 2ᵏ·z` and `z` between 0.7 and 1.41, `c` the number nearest to `z` that has seven bits
/// behind its first, and `r = (z − c)/c`, which is at most 0.0039: `log x = k·log 2 + log c +
/// log(1+r)`, the second from a table and the third by the first seven terms of its series. The
/// table is in two parts, so that what is added last is all that is rounded; around 1, where `log
/// c` is zero, nothing cancels. `c` is found in the bits of `z`, and the series is summed in three
/// parts side by side, because a decision waits for its radius.
///
/// Source: P. T. P. Tang, Table-driven implementation of the logarithm function in IEEE
/// floating-point arithmetic, 1990.
#[expect(
    clippy::cast_possible_wrap,
    clippy::cast_possible_truncation,
    reason = "bits of a double, and a place in a short table"
)]
#[inline]
pub(crate) fn log(x: f64) -> f64 {
    if !x.is_normal() || x < 0.0 {
        return libm::log(x);
    }
    let bits = x.to_bits();
    let above = bits.wrapping_sub(START);
    let k = (above as i64) >> 52;
    let z = bits.wrapping_sub(above & (0xfff << 52));
    let nearest = (z + (1 << (FINER - 1))) >> FINER;
    let (inverse, log_c, log_c_rest) = TABLE[(nearest - FIRST) as usize];
    let r = (f64::from_bits(z) - f64::from_bits(nearest << FINER)) * inverse;
    let (k, r_sq) = (k as f64, r * r);
    let first = (-0.5 + r * (1.0 / 3.0)) + r_sq * (-0.25 + r * 0.2);
    let series = first + (r_sq * r_sq) * ((-1.0 / 6.0) + r * (1.0 / 7.0));
    let exact = k * LOG_2.0 + log_c;
    let sum = exact + r;
    let rest = (exact - sum) + r + (log_c_rest + k * LOG_2.1);
    sum + (rest + r_sq * series)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    #[test]
    fn differs_from_the_library_by_a_unit_in_the_last_place_at_most() {
        let mut rng = Stream::new(1, 0, "logarithm");
        for round in 0..400_000 {
            let x = match round % 4 {
                0 => libm::exp(1400.0 * rng.uniform() - 700.0),
                1 => 1.0 + 0.02 * (rng.uniform() - 0.5),
                2 => 0.5 + rng.uniform(),
                // Between two entries of the table, where the nearest changes.
                _ => (362.0 + rng.index(364) as f64) / 512.0 + 1e-15 * rng.normal(),
            };
            let (ours, theirs) = (log(x), libm::log(x));
            let unit = (theirs.abs() * f64::EPSILON).max(f64::MIN_POSITIVE);
            assert!((ours - theirs).abs() <= unit, "log({x}) = {ours}, the library has {theirs}");
        }
    }

    #[test]
    fn knows_the_ends_and_the_values_computed_with_forty_digits() {
        assert!(log(-1.0).is_nan() && log(f64::NAN).is_nan());
        for (x, expected) in [
            (0.0, f64::NEG_INFINITY),
            (f64::INFINITY, f64::INFINITY),
            (f64::MIN_POSITIVE / 4.0, libm::log(f64::MIN_POSITIVE / 4.0)),
            (1.0, 0.0),
            (2.0, std::f64::consts::LN_2),
            (10.0, std::f64::consts::LN_10),
            (f64::MAX, 709.782_712_893_384),
            (1.0 + f64::EPSILON, 2.220_446_049_250_312_8e-16),
        ] {
            assert_eq!(log(x).to_bits(), f64::to_bits(expected), "log({x})");
        }
    }
}
