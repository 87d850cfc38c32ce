//! Randomness is an argument: independent streams, and the few samplers built on them.

mod binomial;
mod gamma;
mod normal;
mod poisson;

pub use poisson::poisson_quantile;

use crate::linalg::Isa;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A stream of random numbers, fixed for all time by `(seed, replication, role)`.
///
/// Streams that differ in any of the three are independent (they are `ChaCha8` under different
/// keys), so the draws of one consumer do not affect another: adding a policy to a comparison, or a
/// thread to a run, changes no other numbers. The samplers are part of this crate, and pinned by
/// value-stability tests, because sampling libraries change their values between releases.
///
/// # Example
/// ```
/// use plausibly::Stream;
/// let mut noise = Stream::new(7, 0, "noise");
/// let again = Stream::new(7, 0, "noise").normal();
/// assert_eq!(noise.normal(), again);
/// ```
#[derive(Clone, Debug)]
pub struct Stream(ChaCha8Rng);

impl Stream {
    /// The stream of one role in one replication. Cost: about 0.1 µs.
    pub fn new(seed: u64, replication: u64, role: &str) -> Self {
        let mut key = [0; 32];
        for (slot, word) in
            key.chunks_exact_mut(8).zip([seed, replication, fnv1a(role), KEY_DOMAIN])
        {
            slot.copy_from_slice(&word.to_le_bytes());
        }
        Self(ChaCha8Rng::from_seed(key))
    }

    /// The number of 32-bit words drawn so far.
    ///
    /// # Panics
    /// If it does not fit into 64 bits, which no program runs long enough for.
    pub fn position(&self) -> u64 {
        u64::try_from(self.0.get_word_pos()).expect("no stream is drawn that far")
    }

    /// This stream at a [`Stream::position`].
    #[must_use]
    pub fn at(mut self, position: u64) -> Self {
        self.0.set_word_pos(position.into());
        self
    }

    /// 64 uniform bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform on `[0, 1)`, a multiple of 2⁻⁵³. One draw.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * 2.0_f64.powi(-53)
    }

    /// Fills `out` with what one call of [`Stream::uniform`] per entry would give, in less time.
    pub fn fill_uniform(&mut self, out: &mut [f64]) {
        let (isa, mut bytes) = (Isa::detect(), [0; 8 * 64]);
        for chunk in out.chunks_mut(64) {
            let bytes = &mut bytes[..8 * chunk.len()];
            self.0.fill_bytes(bytes);
            isa.uniforms(bytes.as_chunks().0, chunk);
        }
    }

    /// Uniform on `{0, …, bound − 1}`, without bias: Lemire's multiply-and-reject (2019). Mostly
    /// one draw.
    ///
    /// # Panics
    /// If `bound` is zero.
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "no number is below 0");
        loop {
            let wide = u128::from(self.bits()) * u128::from(bound);
            #[expect(clippy::cast_possible_truncation, reason = "the two halves of a double word")]
            let (high, low) = ((wide >> 64) as u64, wide as u64);
            // Reject the 2⁶⁴ mod bound lowest products: with them some results would be likelier.
            if low >= bound || low >= bound.wrapping_neg() % bound {
                return high;
            }
        }
    }

    /// A uniform index of a slice of `len` entries.
    ///
    /// # Panics
    /// If `len` is zero.
    pub fn index(&mut self, len: usize) -> usize {
        usize::try_from(self.below(len as u64)).expect("below a usize")
    }

    /// Standard normal. About 1.01 draws.
    pub fn normal(&mut self) -> f64 {
        normal::sample(self)
    }

    /// Beta of these two shapes, both at least 1. About 4 draws.
    ///
    /// # Panics
    /// If a shape is below 1 or not finite.
    pub fn beta(&mut self, a: f64, b: f64) -> f64 {
        let usable = |shape: f64| (1.0..f64::INFINITY).contains(&shape);
        assert!(usable(a) && usable(b), "shapes of a Beta must be finite and at least 1: {a}, {b}");
        gamma::beta(self, a, b)
    }

    /// How many of `trials` independent events of this probability happen. At most 16 draws, and
    /// about four for every doubling of `trials`.
    ///
    /// # Panics
    /// If the probability is not from 0 to 1.
    pub fn binomial(&mut self, trials: u64, probability: f64) -> u64 {
        let sound = (0.0..=1.0).contains(&probability);
        assert!(sound, "a probability must be from 0 to 1, got {probability}");
        binomial::sample(self, trials, probability)
    }

    /// A Poisson count of this mean, by its [quantiles](poisson_quantile). One draw.
    ///
    /// # Panics
    /// If the mean is not from 0 to 500.
    pub fn poisson(&mut self, mean: f64) -> u64 {
        poisson_quantile(self.uniform(), mean)
    }

    /// Fills `out` with the results of `out.len()` calls of [`Stream::normal`].
    pub fn fill_normal(&mut self, out: &mut [f64]) {
        normal::fill(self, out);
    }
}

/// The last word of every key, so that these streams differ from any other use of the same seed.
const KEY_DOMAIN: u64 = u64::from_le_bytes(*b"plausibl");

/// FNV-1a, which turns the name of a role into a number. Roles are few and fixed, so a weak hash is
/// enough.
fn fnv1a(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_the_name_makes_another_stream() {
        let first = |seed, replication, role| Stream::new(seed, replication, role).bits();
        let base = first(1, 2, "noise");
        assert_eq!(base, first(1, 2, "noise"));
        for other in [
            first(2, 2, "noise"),
            first(1, 3, "noise"),
            first(1, 2, "problem"),
            first(2, 1, "noise"),
        ] {
            assert_ne!(base, other);
        }
    }

    #[test]
    fn filling_draws_what_single_calls_draw() {
        let (mut one, mut many) = (Stream::new(5, 0, "test"), Stream::new(5, 0, "test"));
        for len in [1, 64, 3, 200, 0, 65] {
            let mut filled = vec![0.0; len];
            many.fill_uniform(&mut filled);
            assert!(filled.iter().all(|x| x.to_bits() == one.uniform().to_bits()), "{len}");
            many.fill_normal(&mut filled);
            assert!(filled.iter().all(|x| x.to_bits() == one.normal().to_bits()), "{len}");
        }
        assert_eq!(one.bits(), many.bits());
    }

    #[test]
    fn a_stream_goes_on_from_its_position() {
        let mut stream = Stream::new(5, 1, "test");
        for drawn in 0..200 {
            let mut again = Stream::new(5, 1, "test").at(stream.position());
            assert_eq!(again.position(), stream.position());
            let ahead: Vec<u64> = (0..70).map(|_| again.bits()).collect();
            assert_eq!(ahead, stream.clone().take(70), "after {drawn}");
            let _ = if drawn % 3 == 0 { stream.normal() } else { stream.uniform() };
        }
    }

    impl Stream {
        fn take(mut self, count: usize) -> Vec<u64> {
            (0..count).map(|_| self.bits()).collect()
        }
    }

    #[test]
    fn below_is_uniform_where_plain_modulo_is_not() {
        // At bound 3·2⁶², truncating bits modulo the bound would give the lowest third twice its
        // share. Binomial(30_000, 1/3): sd 81.6; 5 sd = 408 is passed with probability 6e-7.
        let mut stream = Stream::new(11, 0, "test");
        let low = (0..30_000).filter(|_| stream.below(3 << 62) < (1 << 62)).count();
        assert!(low.abs_diff(10_000) <= 408, "{low}");
    }
}
