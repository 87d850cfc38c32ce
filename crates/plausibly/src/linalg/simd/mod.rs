//! The loops that touch every action, written once and compiled once per instruction set by
//! [`dispatch`].
//!
//! Each body is `#[inline(always)]`, so it takes on the vector width of the function that calls it.
//! None of them may contain a reduction whose order depends on that width: maxima are exact in any
//! order, and sums run over the dimensions inside one lane.
#![expect(
    clippy::inline_always,
    reason = "a body takes the instruction set of its caller only if it is inlined"
)]

/// In few dimensions a loop costs more than what it does: a body is compiled for each of them, with
/// the dimension a constant, and for any.
macro_rules! by_dim {
    ($dim:expr, $body:ident($($arg:expr),*)) => {
        match $dim {
            1 => $body(1, $($arg),*),
            2 => $body(2, $($arg),*),
            3 => $body(3, $($arg),*),
            4 => $body(4, $($arg),*),
            5 => $body(5, $($arg),*),
            6 => $body(6, $($arg),*),
            7 => $body(7, $($arg),*),
            8 => $body(8, $($arg),*),
            dim => $body(dim, $($arg),*),
        }
    };
}

mod beside;
mod choose;
mod coarse;
mod dispatch;
mod draw;
mod gram;
mod interleave;
mod learn;
mod score;

pub(crate) use beside::Beside;
use beside::beside;
pub use choose::PlausibleSummary;
pub(crate) use choose::{Finalists, Witness};
use choose::{
    argmax, bound, contest, finalists, leads, plausible_summary, reaching, slacks, tempered,
    undecided, widest,
};
use coarse::{coarse_at_least, coarse_dots};
pub use dispatch::Isa;
use draw::uniforms;
use gram::add_weighted;
#[cfg(target_arch = "x86_64")]
use interleave::avx;
use interleave::interleave;
pub(crate) use learn::Learned;
use learn::{add_observation, rotate_in, solve_upper, symmetric_product, take_step};
use score::{dots, limit, rebuild, refresh};

/// Actions per block: one AVX-512 register, two AVX2 ones, four SSE2 ones.
pub(crate) const LANES: usize = 8;

type Lane = [f64; LANES];

/// `f64::max` without its NaN rules, which cost two instructions. No NaN can reach a score; beside
/// a NaN it returns `b`.
#[inline(always)]
fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// Halves against halves, which takes three steps where one after the other takes seven.
#[inline(always)]
fn largest(lanes: Lane) -> f64 {
    let four: [f64; 4] = std::array::from_fn(|l| larger(lanes[l], lanes[l + 4]));
    let two: [f64; 2] = std::array::from_fn(|l| larger(four[l], four[l + 2]));
    larger(two[0], two[1])
}
