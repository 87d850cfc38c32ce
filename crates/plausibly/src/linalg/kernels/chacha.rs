//! Uniform numbers straight from `ChaCha8`, eight of its blocks side by side.
//!
//! The library computes four blocks with the rows of each across a register, and shuffles them between rounds. With a block a lane there is nothing to shuffle until the end, and the
//! words become numbers where they are (`cargo bench -p plausibly` has both side by side).
//!
//! Source: D. J. Bernstein: `ChaCha`, a variant of Salsa20, 2008.

use super::avx::{store, transposed};
use std::arch::x86_64::{
    __m256d, __m256i, _mm256_add_epi32, _mm256_add_pd, _mm256_and_si256, _mm256_castpd_si256,
    _mm256_castsi256_pd, _mm256_mul_pd, _mm256_or_si256, _mm256_set1_epi32, _mm256_set1_epi64x,
    _mm256_set1_pd, _mm256_setr_epi8, _mm256_setr_epi32, _mm256_setzero_si256, _mm256_shuffle_epi8,
    _mm256_slli_epi32, _mm256_srli_epi32, _mm256_srli_epi64, _mm256_sub_pd, _mm256_unpackhi_epi32,
    _mm256_unpacklo_epi32, _mm256_xor_si256,
};

/// Blocks side by side.
const BLOCKS: usize = 8;
/// Numbers of a block: one of every two words.
const NUMBERS: usize = 8;
/// Numbers of as many blocks as are computed at once.
pub(in crate::linalg) const BULK: usize = BLOCKS * NUMBERS;
/// Eight rounds, two at a time.
const DOUBLE_ROUNDS: usize = 4;
/// The first four words of every block, "expand 32-byte k".
const CONSTANTS: [u32; 4] = [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574];

/// What [`super::uniforms`] makes of the words of the blocks from number `first` on, of the first stream under this key.
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
    let everywhere = |word: u32| _mm256_set1_epi32(word.cast_signed());
    let mut words = [_mm256_setzero_si256(); 16];
    for (word, value) in words.iter_mut().zip(CONSTANTS.iter().chain(key)) {
        *word = everywhere(*value);
    }
    let count = |l: u64| first.wrapping_add(l).cast_signed();
    #[expect(clippy::cast_possible_truncation, reason = "the lower half of a counter")]
    let low = |l| count(l) as i32;
    let high = |l| (count(l) >> 32) as i32;
    words[12] = _mm256_setr_epi32(low(0), low(1), low(2), low(3), low(4), low(5), low(6), low(7));
    words[13] = _mm256_setr_epi32(high(0), high(1), high(2), high(3), high(4), high(5), high(6), high(7));
    words
}

#[inline]
#[target_feature(enable = "avx2")]
fn mixed(mut words: [__m256i; 16]) -> [__m256i; 16] {
    for _ in 0..DOUBLE_ROUNDS {
        for [a, b, c, d] in [[0, 4, 8, 12], [1, 5, 9, 13], [2, 6, 10, 14], [3, 7, 11, 15]] {
            quarter_round(&mut words, a, b, c, d);
        }
        for [a, b, c, d] in [[0, 5, 10, 15], [1, 6, 11, 12], [2, 7, 8, 13], [3, 4, 9, 14]] {
            quarter_round(&mut words, a, b, c, d);
        }
    }
    words
}

#[inline]
#[target_feature(enable = "avx2")]
fn quarter_round(words: &mut [__m256i; 16], a: usize, b: usize, c: usize, d: usize) {
    // By bytes where the distance is one of bytes.
    let by_16 = _mm256_setr_epi8(
        2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15,
        12, 13,
    );
    let by_8 = _mm256_setr_epi8(
        3, 0, 1, 2, 7, 4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14, 3, 0, 1, 2, 7, 4, 5, 6, 11, 8, 9, 10, 15, 12,
        13, 14,
    );
    words[a] = _mm256_add_epi32(words[a], words[b]);
    words[d] = _mm256_shuffle_epi8(_mm256_xor_si256(words[d], words[a]), by_16);
    words[c] = _mm256_add_epi32(words[c], words[d]);
    let mixed = _mm256_xor_si256(words[b], words[c]);
    words[b] = _mm256_or_si256(_mm256_slli_epi32::<12>(mixed), _mm256_srli_epi32::<20>(mixed));
    words[a] = _mm256_add_epi32(words[a], words[b]);
    words[d] = _mm256_shuffle_epi8(_mm256_xor_si256(words[d], words[a]), by_8);
    words[c] = _mm256_add_epi32(words[c], words[d]);
    let mixed = _mm256_xor_si256(words[b], words[c]);
    words[b] = _mm256_or_si256(_mm256_slli_epi32::<7>(mixed), _mm256_srli_epi32::<25>(mixed));
}

/// As [`super::draw`] makes a number of a double word.
#[inline]
#[target_feature(enable = "avx2")]
fn on_the_unit_interval(double_words: __m256i) -> __m256d {
    let (two_to_84, two_to_52) = (_mm256_set1_pd(2.0_f64.powi(84)), _mm256_set1_pd(2.0_f64.powi(52)));
    let bits = _mm256_srli_epi64::<11>(double_words);
    let high = _mm256_or_si256(_mm256_srli_epi64::<32>(bits), _mm256_castpd_si256(two_to_84));
    let low = _mm256_and_si256(bits, _mm256_set1_epi64x(0xffff_ffff));
    let low = _mm256_or_si256(low, _mm256_castpd_si256(two_to_52));
    let high = _mm256_sub_pd(_mm256_castsi256_pd(high), _mm256_add_pd(two_to_84, two_to_52));
    _mm256_mul_pd(_mm256_add_pd(high, _mm256_castsi256_pd(low)), _mm256_set1_pd(2.0_f64.powi(-53)))
}
