//! Sixteen blocks side by side, in twice as many registers, with rotations of their own.
#![expect(unsafe_code, reason = "a register is stored by address")]

use super::{CONSTANTS, COUNTER, NUMBERS, counters};
use std::arch::x86_64::{
    __m512d, __m512i, _mm512_add_epi32, _mm512_add_pd, _mm512_and_si512, _mm512_castpd_si512,
    _mm512_castsi512_pd, _mm512_mul_pd, _mm512_or_si512, _mm512_rol_epi32, _mm512_set1_epi32,
    _mm512_set1_epi64, _mm512_set1_pd, _mm512_setr_epi32, _mm512_setzero_si512,
    _mm512_shuffle_f64x2, _mm512_srli_epi64, _mm512_storeu_pd, _mm512_sub_pd,
    _mm512_unpackhi_epi32, _mm512_unpackhi_pd, _mm512_unpacklo_epi32, _mm512_unpacklo_pd,
    _mm512_xor_si512,
};

const BLOCKS: usize = 16;
/// Numbers of as many blocks as are computed at once.
const BULK: usize = BLOCKS * NUMBERS;

/// What [`super::super::uniforms`] makes of the words of the blocks from number `first` on, of the
/// first stream under this key.
#[target_feature(enable = "avx512f")]
pub(in crate::linalg) fn uniforms(key: &[u32; 8], first: u64, out: &mut [[f64; BULK]]) {
    for (bulk, out) in (0..).zip(out) {
        let start = first_words(key, first + bulk * BLOCKS as u64);
        let words = mixed(start);
        // Of the first two of every four blocks, and of the others.
        let mut halves = [[_mm512_set1_pd(0.0); NUMBERS]; 2];
        for i in 0..NUMBERS {
            let even = _mm512_add_epi32(words[2 * i], start[2 * i]);
            let odd = _mm512_add_epi32(words[2 * i + 1], start[2 * i + 1]);
            halves[0][i] = on_the_unit_interval(_mm512_unpacklo_epi32(even, odd));
            halves[1][i] = on_the_unit_interval(_mm512_unpackhi_epi32(even, odd));
        }
        let slots = out.as_chunks_mut::<NUMBERS>().0;
        for (half, numbers) in halves.into_iter().enumerate() {
            for (i, numbers) in transposed(&numbers).into_iter().enumerate() {
                let block = 4 * (i / 2) + 2 * half + i % 2;
                // SAFETY: eight numbers have room there, and they need no alignment.
                unsafe { _mm512_storeu_pd(slots[block].as_mut_ptr(), numbers) };
            }
        }
    }
}

/// The words that sixteen blocks begin with, from block `first` on.
#[inline]
#[target_feature(enable = "avx512f")]
fn first_words(key: &[u32; 8], first: u64) -> [__m512i; 16] {
    let mut words = [_mm512_setzero_si512(); 16];
    for (word, value) in words.iter_mut().zip(CONSTANTS.iter().chain(key)) {
        *word = _mm512_set1_epi32(value.cast_signed());
    }
    let lanes = |words: [u32; BLOCKS]| {
        let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = words.map(u32::cast_signed);
        _mm512_setr_epi32(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)
    };
    let (low, high) = counters(first);
    (words[COUNTER], words[COUNTER + 1]) = (lanes(low), lanes(high));
    words
}

rounds!("avx512f", __m512i, _mm512_add_epi32, _mm512_xor_si512, rotated);

/// Every word, to the left.
#[inline]
#[target_feature(enable = "avx512f")]
fn rotated<const LEFT: i32, const RIGHT: i32>(words: __m512i) -> __m512i {
    _mm512_rol_epi32::<LEFT>(words)
}

/// Eight rows as eight columns.
#[inline]
#[target_feature(enable = "avx512f")]
fn transposed(rows: &[__m512d; 8]) -> [__m512d; 8] {
    let mut columns = *rows;
    for odd in 0..2 {
        // Of two rows, the pairs of every other column; then of four, and of all.
        let [a, b, c, d] = [0, 2, 4, 6].map(|row| {
            if odd == 0 {
                _mm512_unpacklo_pd(rows[row], rows[row + 1])
            } else {
                _mm512_unpackhi_pd(rows[row], rows[row + 1])
            }
        });
        let (left_ab, right_ab) =
            (_mm512_shuffle_f64x2::<0x44>(a, b), _mm512_shuffle_f64x2::<0xee>(a, b));
        let (left_cd, right_cd) =
            (_mm512_shuffle_f64x2::<0x44>(c, d), _mm512_shuffle_f64x2::<0xee>(c, d));
        columns[odd] = _mm512_shuffle_f64x2::<0x88>(left_ab, left_cd);
        columns[2 + odd] = _mm512_shuffle_f64x2::<0xdd>(left_ab, left_cd);
        columns[4 + odd] = _mm512_shuffle_f64x2::<0x88>(right_ab, right_cd);
        columns[6 + odd] = _mm512_shuffle_f64x2::<0xdd>(right_ab, right_cd);
    }
    columns
}

/// As [`super::super::draw`] makes a number of a double word.
#[inline]
#[target_feature(enable = "avx512f")]
fn on_the_unit_interval(double_words: __m512i) -> __m512d {
    let (two_to_84, two_to_52) =
        (_mm512_set1_pd(2.0_f64.powi(84)), _mm512_set1_pd(2.0_f64.powi(52)));
    let bits = _mm512_srli_epi64::<11>(double_words);
    let high = _mm512_or_si512(_mm512_srli_epi64::<32>(bits), _mm512_castpd_si512(two_to_84));
    let low = _mm512_and_si512(bits, _mm512_set1_epi64(0xffff_ffff));
    let low = _mm512_or_si512(low, _mm512_castpd_si512(two_to_52));
    let high = _mm512_sub_pd(_mm512_castsi512_pd(high), _mm512_add_pd(two_to_84, two_to_52));
    _mm512_mul_pd(_mm512_add_pd(high, _mm512_castsi512_pd(low)), _mm512_set1_pd(2.0_f64.powi(-53)))
}
