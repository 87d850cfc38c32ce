//! Random numbers in bulk.

/// Numbers on [0, 1) from random words, little-endian: the upper 53 bits of each, times 2⁻⁵³.
#[inline(always)]
pub(super) fn uniforms(words: &[[u8; 8]], out: &mut [f64]) {
    for (out, word) in out.iter_mut().zip(words) {
        *out = count(u64::from_le_bytes(*word) >> 11) * 2.0_f64.powi(-53);
    }
}

/// A number of up to 53 bits as a double, exactly, by operations that processors do on several at
/// once, as they do not convert: each half becomes the low bits of a power of two, which is
/// subtracted again.
#[inline(always)]
fn count(bits: u64) -> f64 {
    const HIGH: f64 = f64::from_bits((1023 + 84) << 52); // 2⁸⁴, whose last bit counts 2³²
    const LOW: f64 = f64::from_bits((1023 + 52) << 52); // 2⁵², whose last bit counts one
    let high = f64::from_bits(bits >> 32 | HIGH.to_bits());
    let low = f64::from_bits(bits & 0xffff_ffff | LOW.to_bits());
    (high - (HIGH + LOW)) + low
}
