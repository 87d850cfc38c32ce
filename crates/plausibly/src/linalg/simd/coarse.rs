//! Products in single precision, which read half the memory.

#![expect(
    clippy::needless_bitwise_bool,
    reason = "a branch for each lane would keep them from being vectors"
)]

use super::LANES;

/// Number of blocks summed side by side.
const GROUP: usize = 4;

type Lane = [f32; LANES];

/// `⟨a, θ⟩` for every action, and the largest of them. Padding counts as an action of zeros.
#[inline(always)]
pub(super) fn coarse_dots(blocks: &[f32], theta: &[f32], out: &mut [f32]) -> f32 {
    let blocks = blocks.as_chunks::<LANES>().0;
    let (groups, singles) = out.as_chunks_mut::<LANES>().0.as_chunks_mut::<GROUP>();
    let (grouped, single) = blocks.split_at(groups.len() * GROUP * theta.len());
    let mut best: Lane = [f32::NEG_INFINITY; LANES];
    for (out, group) in groups.iter_mut().zip(grouped.chunks_exact(GROUP * theta.len())) {
        *out = dots_of(group, theta, &mut best);
    }
    for (out, block) in singles.iter_mut().zip(single.chunks_exact(theta.len())) {
        [*out] = dots_of(block, theta, &mut best);
    }
    best.into_iter().fold(f32::NEG_INFINITY, f32::max)
}

#[inline(always)]
fn dots_of<const N: usize>(group: &[Lane], theta: &[f32], best: &mut Lane) -> [Lane; N] {
    let mut sums = [[0.0; LANES]; N];
    for (j, &theta) in theta.iter().enumerate() {
        for n in 0..N {
            let block = &group[n * (group.len() / N)..];
            for l in 0..LANES {
                sums[n][l] += block[j][l] * theta;
            }
        }
    }
    for sums in &sums {
        for l in 0..LANES {
            best[l] = if sums[l] > best[l] { sums[l] } else { best[l] };
        }
    }
    sums
}

/// Adds to `found`, in order, the positions of values that are at least `least`, until there are
/// more than `most`.
#[inline(always)]
pub(super) fn coarse_at_least(values: &[f32], least: f32, most: usize, found: &mut Vec<usize>) {
    for (block, lane) in values.as_chunks::<LANES>().0.iter().enumerate() {
        if lane.iter().fold(false, |any, x| any | (*x >= least)) {
            found.extend((0..LANES).filter(|l| lane[*l] >= least).map(|l| block * LANES + l));
            if found.len() > most {
                return;
            }
        }
    }
}
