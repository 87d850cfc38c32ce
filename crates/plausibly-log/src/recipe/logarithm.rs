//! A logarithm with the same bits everywhere.

/// log₂ of a positive, finite number, to within a few units in the last place.
///
/// Uses basic arithmetic only, which IEEE 754 fixes to the bit. The logarithm of a platform's
/// library is not fixed, and features must not depend on the machine. With `x = m·2ᵉ` and `s =
/// (m−1)/(m+1)`, `ln m = 2·(s + s³/3 + s⁵/5 + …)`; for m in
pub(super) fn log2(x: f64) -> f64 {
    const FRACTION_BITS: u64 = 52;
    // Scales a subnormal number into the normal range first.
    let (x, shift) = if x < f64::MIN_POSITIVE { (x * 2.0_f64.powi(54), -54) } else { (x, 0) };
    let bits = x.to_bits();
    let fraction = f64::from_bits((bits & ((1 << FRACTION_BITS) - 1)) | 1.0_f64.to_bits());
    let (m, carry) =
        if fraction > std::f64::consts::SQRT_2 { (fraction / 2.0, 1) } else { (fraction, 0) };
    #[expect(clippy::cast_possible_wrap, reason = "a biased exponent has eleven bits")]
    let exponent = (bits >> FRACTION_BITS) as i64 - 1023 + carry + shift;
    let s = (m - 1.0) / (m + 1.0);
    let series = (0..12).rev().fold(0.0, |sum, k| sum * (s * s) + 1.0 / f64::from(2 * k + 1));
    exponent as f64 + 2.0 * s * series / std::f64::consts::LN_2
}

#[cfg(test)]
mod tests {
    use super::log2;

    #[test]
    fn it_is_the_logarithm() {
        let mut x = 5e-324;
        while x < 1e308 {
            let (found, expected) = (log2(x), x.log2());
            assert!(
                (found - expected).abs() <= 1e-15 * expected.abs().max(1.0),
                "{x}: {found} {expected}"
            );
            x *= 1.618;
        }
        for power in -1074..1024 {
            let x = if power < -1022 {
                2.0_f64.powi(power + 60) * 2.0_f64.powi(-60)
            } else {
                2.0_f64.powi(power)
            };
            assert_eq!(log2(x).to_bits(), f64::from(power).to_bits());
        }
    }
}
