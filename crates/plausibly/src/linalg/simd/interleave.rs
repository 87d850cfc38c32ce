//! Rows into blocks of lanes.

use super::LANES;

/// Copies rows into blocks of lanes; returns whether all entries are at most `most` in magnitude,
/// which no NaN is.
#[inline(always)]
pub(super) fn interleave(rows: &[f64], blocks: &mut [f64], dim: usize, most: f64) -> bool {
    let size = LANES * dim;
    let (whole, rest) = rows.split_at(rows.len() / size * size);
    let mut within = [1_u64; LANES];
    for (rows, block) in whole.chunks_exact(size).zip(blocks.chunks_exact_mut(size)) {
        for (j, slots) in block.as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
            for l in 0..LANES {
                let x = rows[l * dim + j];
                within[l] &= u64::from(x.abs() <= most);
                slots[l] = x;
            }
        }
    }
    interleave_rest(rest, &mut blocks[whole.len()..], dim, most) && within == [1; LANES]
}

/// The rows of a block that is not full.
#[inline(always)]
fn interleave_rest(rows: &[f64], block: &mut [f64], dim: usize, most: f64) -> bool {
    let mut within = true;
    for (lane, row) in rows.chunks_exact(dim).enumerate() {
        for (slot, &x) in block[lane..].iter_mut().step_by(LANES).zip(row) {
            *slot = x;
            within &= x.abs() <= most;
        }
    }
    within
}

/// The same by the shuffles of AVX, four rows by four columns at a time. The compiler does not find
/// them: it moves one number after the other, which takes three times as long.
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "a register is loaded and stored by address")]
pub(super) mod avx {
    use super::{LANES, interleave_rest};
    use std::arch::x86_64::{
        __m256d, _CMP_LE_OQ, _MM_HINT_T0, _mm_prefetch, _mm256_and_pd, _mm256_andnot_pd,
        _mm256_cmp_pd, _mm256_loadu_pd, _mm256_movemask_pd, _mm256_permute2f128_pd, _mm256_set1_pd,
        _mm256_setr_pd, _mm256_storeu_pd, _mm256_unpackhi_pd, _mm256_unpacklo_pd,
    };

    /// Columns, and rows, of a tile.
    const TILE: usize = 4;
    /// Blocks by which rows are prefetched before they are needed: 5 % of a
    /// round on changing sets.
    const AHEAD: usize = 4;

    #[target_feature(enable = "avx")]
    pub(in crate::linalg::simd) fn interleave(
        rows: &[f64],
        blocks: &mut [f64],
        dim: usize,
        most: f64,
    ) -> bool {
        let (whole, rest) = rows.split_at(rows.len() / (LANES * dim) * (LANES * dim));
        let (full, last) = blocks.split_at_mut(whole.len());
        let within = match dim {
            1 => blocks_of::<1>(whole, full, dim, most),
            2 => blocks_of::<2>(whole, full, dim, most),
            3 => blocks_of::<3>(whole, full, dim, most),
            4 => blocks_of::<4>(whole, full, dim, most),
            5 => blocks_of::<5>(whole, full, dim, most),
            6 => blocks_of::<6>(whole, full, dim, most),
            7 => blocks_of::<7>(whole, full, dim, most),
            8 => blocks_of::<8>(whole, full, dim, most),
            _ => blocks_of::<0>(whole, full, dim, most),
        };
        interleave_rest(rest, last, dim, most) && within
    }

    /// Whole blocks, of `D` columns if that is not zero, else of `dim`.
    #[target_feature(enable = "avx")]
    fn blocks_of<const D: usize>(rows: &[f64], blocks: &mut [f64], dim: usize, most: f64) -> bool {
        let dim = if D > 0 { D } else { dim };
        let most = _mm256_set1_pd(most);
        let mut within = at_most(most, most);
        for (rows, block) in
            rows.chunks_exact(LANES * dim).zip(blocks.chunks_exact_mut(LANES * dim))
        {
            // Eight numbers to a line of the cache. What lies beyond the rows is not read.
            for line in 0..dim * LANES / 8 {
                let ahead = rows.as_ptr().wrapping_add(AHEAD * rows.len() + line * 8);
                _mm_prefetch::<_MM_HINT_T0>(ahead.cast());
            }
            let slots = block.as_chunks_mut::<TILE>().0;
            for half in 0..LANES / TILE {
                let rows = &rows[half * TILE * dim..(half + 1) * TILE * dim];
                let row = |r: usize, j: usize| &rows[r * dim + j..];
                for tile in 0..dim / TILE {
                    let j = tile * TILE;
                    let columns = transposed([
                        load(row(0, j)),
                        load(row(1, j)),
                        load(row(2, j)),
                        load(row(3, j)),
                    ]);
                    for c in 0..TILE {
                        within = _mm256_and_pd(within, at_most(columns[c], most));
                        store(&mut slots[(j + c) * (LANES / TILE) + half], columns[c]);
                    }
                }
                for j in dim / TILE * TILE..dim {
                    let column =
                        _mm256_setr_pd(row(0, j)[0], row(1, j)[0], row(2, j)[0], row(3, j)[0]);
                    within = _mm256_and_pd(within, at_most(column, most));
                    store(&mut slots[j * (LANES / TILE) + half], column);
                }
            }
        }
        _mm256_movemask_pd(within) == (1 << TILE) - 1
    }

    #[inline]
    #[target_feature(enable = "avx")]
    fn transposed([a, b, c, d]: [__m256d; TILE]) -> [__m256d; TILE] {
        let (low_ab, high_ab) = (_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b));
        let (low_cd, high_cd) = (_mm256_unpacklo_pd(c, d), _mm256_unpackhi_pd(c, d));
        [
            _mm256_permute2f128_pd::<0x20>(low_ab, low_cd),
            _mm256_permute2f128_pd::<0x20>(high_ab, high_cd),
            _mm256_permute2f128_pd::<0x31>(low_ab, low_cd),
            _mm256_permute2f128_pd::<0x31>(high_ab, high_cd),
        ]
    }

    /// Where `|x| ≤ most`.
    #[inline]
    #[target_feature(enable = "avx")]
    fn at_most(x: __m256d, most: __m256d) -> __m256d {
        _mm256_cmp_pd::<_CMP_LE_OQ>(_mm256_andnot_pd(_mm256_set1_pd(-0.0), x), most)
    }

    #[inline]
    #[target_feature(enable = "avx")]
    fn load(from: &[f64]) -> __m256d {
        let from: &[f64; TILE] = from.first_chunk().expect("four columns");
        // SAFETY: four numbers are there, and they need no alignment.
        unsafe { _mm256_loadu_pd(from.as_ptr()) }
    }

    #[inline]
    #[target_feature(enable = "avx")]
    fn store(to: &mut [f64; TILE], lanes: __m256d) {
        // SAFETY: as above.
        unsafe { _mm256_storeu_pd(to.as_mut_ptr(), lanes) }
    }
}

#[cfg(test)]
mod tests {
    use super::LANES;
    use crate::linalg::Isa;

    #[test]
    fn every_number_comes_to_its_place_and_is_checked() {
        for (dim, len) in (1..=18).flat_map(|dim| (1..=2 * LANES + 3).map(move |len| (dim, len))) {
            let rows: Vec<f64> = (0..len * dim)
                .map(|at| if at % 2 == 0 { at as f64 } else { -(at as f64) })
                .collect();
            let mut expected = vec![0.0; len.next_multiple_of(LANES) * dim];
            for (at, x) in rows.iter().enumerate() {
                let (action, feature) = (at / dim, at % dim);
                expected[action / LANES * LANES * dim + feature * LANES + action % LANES] = *x;
            }
            let most = (rows.len() - 1) as f64;
            for isa in Isa::available() {
                let mut blocks = vec![0.0; expected.len()];
                assert!(isa.interleave(&rows, &mut blocks, dim, most), "{isa:?}, {dim} by {len}");
                assert_eq!(blocks, expected, "{isa:?}, {dim} by {len}");
                for (culprit, worst) in (0..rows.len())
                    .zip([f64::NAN, f64::NEG_INFINITY, most + 1.0].into_iter().cycle())
                {
                    let mut rows = rows.clone();
                    rows[culprit] = worst;
                    assert!(
                        !isa.interleave(&rows, &mut blocks, dim, most),
                        "{isa:?}, {dim} by {len}, {culprit}"
                    );
                }
            }
        }
    }
}
