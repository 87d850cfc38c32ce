//! Eight blocks side by side.

use super::super::avx::{store, transposed};
use super::{CONSTANTS, COUNTER, NUMBERS, counters};
use std::arch::x86_64::{
    __m256d, __m256i, _mm256_add_epi32, _mm256_add_pd, _mm256_and_si256, _mm256_castpd_si256,
    _mm256_castsi256_pd, _mm256_mul_pd, _mm256_or_si256, _mm256_set1_epi32, _mm256_set1_epi64x,
    _mm256_set1_pd, _mm256_setr_epi8, _mm256_setr_epi32, _mm256_setzero_si256, _mm256_shuffle_epi8,
    _mm256_slli_epi32, _mm256_srli_epi32, _mm256_srli_epi64, _mm256_sub_pd, _mm256_unpackhi_epi32,
    _mm256_unpacklo_epi32, _mm256_xor_si256,
};

const BLOCKS: usize = 8;
/// Numbers of as many blocks as are computed at once.
const BULK: usize = BLOCKS * NUMBERS;

/// What [`super::super::uniforms`] makes of the words of the blocks from number `first` on, of the
/// first stream under this key.
#[target_feature(enable = "avx2")]
pub(in crate::linalg) fn uniforms(key: &[u32; 8], first: u64, out: &mut [[f64; BULK]]) {
    for (bulk, out) in (0..).zip(out) {
        let start = first_words(key, first + bulk * BLOCKS as u64);
        let words = mixed(start);
        let mut numbers = [[_mm256_set1_pd(0.0); 2]; NUMBERS];
        for (i, [low, high]) in numbers.iter_mut().enumerate() {
            let even = _mm256_add_epi32(words[2 * i], start[2 * i]);
            let odd = _mm256_add_epi32(words[2 * i + 1], start[2 * i + 1]);
            // Of blocks 0, 1, 4 and 5, and of the others.
            *low = on_the_unit_interval(_mm256_unpacklo_epi32(even, odd));
            *high = on_the_unit_interval(_mm256_unpackhi_epi32(even, odd));
        }
        let slots = out.as_chunks_mut::<4>().0;
        for (half, blocks) in [[0, 1, 4, 5], [2, 3, 6, 7]].into_iter().enumerate() {
            for i in [0, 4] {
                let columns = transposed([0, 1, 2, 3].map(|c| numbers[i + c][half]));
                for (block, numbers) in blocks.into_iter().zip(columns) {
                    store(&mut slots[(block * NUMBERS + i) / 4], numbers);
                }
            }
        }
    }
}

/// The words that eight blocks begin with, from block `first` on.
#[inline]
#[target_feature(enable = "avx2")]
fn first_words(key: &[u32; 8], first: u64) -> [__m256i; 16] {
    let mut words = [_mm256_setzero_si256(); 16];
    for (word, value) in words.iter_mut().zip(CONSTANTS.iter().chain(key)) {
        *word = _mm256_set1_epi32(value.cast_signed());
    }
    let lanes = |words: [u32; BLOCKS]| {
        let [a, b, c, d, e, f, g, h] = words.map(u32::cast_signed);
        _mm256_setr_epi32(a, b, c, d, e, f, g, h)
    };
    let (low, high) = counters(first);
    (words[COUNTER], words[COUNTER + 1]) = (lanes(low), lanes(high));
    words
}

rounds!("avx2", __m256i, _mm256_add_epi32, _mm256_xor_si256, rotated);

/// Every word, to the left.
#[inline]
#[target_feature(enable = "avx2")]
fn rotated<const LEFT: i32, const RIGHT: i32>(words: __m256i) -> __m256i {
    let by_16 = _mm256_setr_epi8(
        2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9,
        14, 15, 12, 13,
    );
    let by_8 = _mm256_setr_epi8(
        3, 0, 1, 2, 7, 4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14, 3, 0, 1, 2, 7, 4, 5, 6, 11, 8, 9, 10,
        15, 12, 13, 14,
    );
    match LEFT {
        // By bytes where the distance is one of bytes.
        16 => _mm256_shuffle_epi8(words, by_16),
        8 => _mm256_shuffle_epi8(words, by_8),
        _ => _mm256_or_si256(_mm256_slli_epi32::<LEFT>(words), _mm256_srli_epi32::<RIGHT>(words)),
    }
}

/// As [`super::super::draw`] makes a number of a double word.
#[inline]
#[target_feature(enable = "avx2")]
fn on_the_unit_interval(double_words: __m256i) -> __m256d {
    let (two_to_84, two_to_52) =
        (_mm256_set1_pd(2.0_f64.powi(84)), _mm256_set1_pd(2.0_f64.powi(52)));
    let bits = _mm256_srli_epi64::<11>(double_words);
    let high = _mm256_or_si256(_mm256_srli_epi64::<32>(bits), _mm256_castpd_si256(two_to_84));
    let low = _mm256_and_si256(bits, _mm256_set1_epi64x(0xffff_ffff));
    let low = _mm256_or_si256(low, _mm256_castpd_si256(two_to_52));
    let high = _mm256_sub_pd(_mm256_castsi256_pd(high), _mm256_add_pd(two_to_84, two_to_52));
    _mm256_mul_pd(_mm256_add_pd(high, _mm256_castsi256_pd(low)), _mm256_set1_pd(2.0_f64.powi(-53)))
}
