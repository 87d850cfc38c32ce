//! Uniform numbers straight from `ChaCha8`, many of its blocks side by side.
//!
//! The library computes four blocks with the rows of each across a register, and shuffles them
//! between rounds. With a block a lane there is nothing to shuffle until the end, and the words
//! become numbers where they are (`cargo bench -p plausibly` has both side by side).
//!
//! Source: D. J. Bernstein: `ChaCha`, a variant of Salsa20, 2008.

/// The rounds, on registers with a word of another block in every lane.
macro_rules! rounds {
    ($feature:literal, $register:ty, $add:ident, $xor:ident, $rotated:ident) => {
        #[inline]
        #[target_feature(enable = $feature)]
        fn mixed(mut words: [$register; 16]) -> [$register; 16] {
            for _ in 0..super::DOUBLE_ROUNDS {
                // Columns, then diagonals; in two loops, which the compiler unrolls.
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
        #[target_feature(enable = $feature)]
        fn quarter_round(words: &mut [$register; 16], a: usize, b: usize, c: usize, d: usize) {
            words[a] = $add(words[a], words[b]);
            words[d] = $rotated::<16, 16>($xor(words[d], words[a]));
            words[c] = $add(words[c], words[d]);
            words[b] = $rotated::<12, 20>($xor(words[b], words[c]));
            words[a] = $add(words[a], words[b]);
            words[d] = $rotated::<8, 24>($xor(words[d], words[a]));
            words[c] = $add(words[c], words[d]);
            words[b] = $rotated::<7, 25>($xor(words[b], words[c]));
        }
    };
}

mod avx2;
mod avx512;

pub(in crate::linalg) use avx2::uniforms as uniforms_avx2;
pub(in crate::linalg) use avx512::uniforms as uniforms_avx512;

/// Numbers of a block: one of every two words.
pub(in crate::linalg) const NUMBERS: usize = 8;
/// Eight rounds, two at a time.
const DOUBLE_ROUNDS: usize = 4;
/// The first four words of every block, "expand 32-byte k".
const CONSTANTS: [u32; 4] = [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574];
/// Words 12 and 13: the lower and the upper half of the number of the block.
const COUNTER: usize = 12;

/// The halves of the numbers of so many blocks from `first` on.
#[expect(clippy::cast_possible_truncation, reason = "the halves of a counter")]
fn counters<const BLOCKS: usize>(first: u64) -> ([u32; BLOCKS], [u32; BLOCKS]) {
    let count = |block: usize| first.wrapping_add(block as u64);
    (
        std::array::from_fn(|block| count(block) as u32),
        std::array::from_fn(|block| (count(block) >> 32) as u32),
    )
}
