//! One entry per kernel, compiled for each instruction set and chosen at run time.
#![expect(
    unsafe_code,
    reason = "a #[target_feature] function needs one unsafe call; Isa proves the feature is there"
)]

use super::{self as kernels, Beside, Finalists, LANES, Learned, PlausibleSummary, Witness};
use std::fmt;

/// An instruction set that this machine has, for the kernels that score actions.
///
/// Results do not depend on it: every member gives the same bits. It exists so that tests and
/// benchmarks can force one; everything else takes [`Isa::detect`]. On other processors than x86-64
/// the baseline is whatever the compiler targets (NEON on 64-bit ARM), where the same bits are
/// expected, but that has not been tested.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Isa(Level);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Baseline,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Isa {
    /// The widest set available here.
    pub fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f") {
                return Self(Level::Avx512);
            }
            if is_x86_feature_detected!("avx2") {
                return Self(Level::Avx2);
            }
        }
        Self(Level::Baseline)
    }

    /// Every set that can be forced on this machine, narrowest first.
    pub fn available() -> Vec<Self> {
        let mut all = vec![Self(Level::Baseline)];
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx2") {
                all.push(Self(Level::Avx2));
            }
            if is_x86_feature_detected!("avx512f") {
                all.push(Self(Level::Avx512));
            }
        }
        all
    }

    /// `baseline` (SSE2 on x86-64), `avx2` or `avx512`.
    pub fn name(self) -> &'static str {
        match self.0 {
            Level::Baseline => "baseline",
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => "avx512",
        }
    }
}

impl Isa {
    /// `sum += Σ w·x·xᵀ` on and above the diagonal, with one row of `rows` after the other. Here
    /// for benchmarks, which compare a refit of a [`Glm`](crate::Glm) with it.
    #[doc(hidden)]
    pub fn add_outer_products(self, sum: &mut [f64], rows: &[f64], weights: &[f64], dim: usize) {
        self.add_weighted(sum, rows, weights, dim);
    }
}

impl fmt::Debug for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Writes, for each kernel, its method on [`Isa`] and the functions that give the body its vector
/// width.
macro_rules! dispatch {
    ($(fn $kernel:ident($($arg:ident: $type:ty),*) $(-> $result:ty)?;)*) => {
        impl Isa {
            $(
                #[inline]
                pub(crate) fn $kernel(self, $($arg: $type),*) $(-> $result)? {
                    match self.0 {
                        Level::Baseline => kernels::$kernel($($arg),*),
                        // SAFETY: `Isa` has no public constructor but `detect` and `available`,
                        // which checked the feature.
                        #[cfg(target_arch = "x86_64")]
                        Level::Avx2 => unsafe { avx2::$kernel($($arg),*) },
                        // SAFETY: as above.
                        #[cfg(target_arch = "x86_64")]
                        Level::Avx512 => unsafe { avx512::$kernel($($arg),*) },
                    }
                }
            )*
        }

        #[cfg(target_arch = "x86_64")]
        mod avx2 {
            use super::*;
            $(
                #[target_feature(enable = "avx2")]
                pub(super) fn $kernel($($arg: $type),*) $(-> $result)? {
                    kernels::$kernel($($arg),*)
                }
            )*
        }

        #[cfg(target_arch = "x86_64")]
        mod avx512 {
            use super::*;
            $(
                #[target_feature(enable = "avx512f")]
                pub(super) fn $kernel($($arg: $type),*) $(-> $result)? {
                    kernels::$kernel($($arg),*)
                }
            )*
        }
    };
}

dispatch! {
    fn rebuild(
        blocks: &[f64], theta_hat: &[f64], gram_inverse: &[f64], mean: &mut [f64],
        width_sq: &mut [f64]
    );
    fn refresh(
        blocks: &[f64], direction: &[f64], gain: f64, mean: &mut [f64], width_sq: &mut [f64]
    );
    fn limit(
        blocks: &[f64], theta_hat: &[f64], limits: &[f64], mean: &mut [f64], width_sq: &mut [f64]
    );
    fn dots(blocks: &[f64], theta: &[f64], out: &mut [f64]);
    fn bound(mean: &[f64], width_sq: &[f64], sqrt_beta: f64, half_width: &mut [f64]) -> f64;
    fn slacks(mean: &[f64], half_width: &[f64], threshold: f64, slack: &mut [f64]);
    fn widest(value: &[f64], slack: &[f64]) -> f64;
    fn tempered(mean: &[f64], half_width: &[f64], greed: f64, slack: &[f64]) -> f64;
    fn finalists(
        mean: &[f64], width_sq: &[f64], sought: Finalists, half_width: &mut Vec<f64>,
        found: &mut Vec<usize>
    );
    fn reaching(
        mean: &[f64], half_width: &[f64], pad: f64, least: f64, found: &mut Vec<usize>
    );
    fn leads(
        mean: &[f64], width_sq: &[f64], sqrt_beta: f64, pads: [f64; 2], half_width: &mut [f64]
    ) -> [f64; 2];
    fn contest(
        mean: &[f64], width_sq: &[f64], dots: &[f64], witness: Witness, sure: &mut [f64],
        maybe: &mut [f64]
    );
    fn undecided(
        mean: &[f64], half_width: &[f64], slack: [&[f64]; 2], greed: Option<f64>, value_pad: f64,
        found: &mut Vec<usize>
    );
    fn beside(
        scores: [&[f64]; 2], differences: [&[f64]; 2], sought: Beside,
        scratch: &mut Vec<[[f64; LANES]; 2]>, found: &mut Vec<usize>
    ) -> bool;
    fn argmax(values: &[f64]) -> usize;
    fn plausible_summary(mean: &[f64], truth: &[f64], slack: &[f64]) -> PlausibleSummary;
    fn symmetric_product(matrix: &[f64], x: &[f64], out: &mut [f64]);
    fn take_step(
        gram_inverse: &mut [f64], theta_hat: &mut [f64], direction: &mut [f64], x: &[f64],
        reward: f64
    ) -> Learned;
    fn rotate_in(upper: &mut [f64], x: &mut [f64]);
    fn solve_upper(upper: &[f64], b: &mut [f64]);
    fn add_observation(
        sum: &mut [f64], carry: &mut [f64], moment_sum: &mut [f64], moment_carry: &mut [f64],
        x: &[f64], reward: f64
    );
    fn add_weighted(sum: &mut [f64], rows: &[f64], weights: &[f64], dim: usize);
    fn coarse_dots(blocks: &[f32], theta: &[f32], out: &mut [f32]) -> f32;
    fn coarse_at_least(values: &[f32], least: f32, most: usize, found: &mut Vec<usize>);
    fn uniforms(words: &[[u8; 8]], out: &mut [f64]);
}

impl Isa {
    /// Rows into blocks of lanes; whether all entries are at most `most` in magnitude.
    pub(crate) fn interleave(
        self,
        rows: &[f64],
        blocks: &mut [f64],
        dim: usize,
        most: f64,
    ) -> bool {
        match self.0 {
            Level::Baseline => kernels::interleave(rows, blocks, dim, most),
            // SAFETY: as above; both have AVX.
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 | Level::Avx512 => unsafe {
                kernels::avx::interleave(rows, blocks, dim, most)
            },
        }
    }
}
