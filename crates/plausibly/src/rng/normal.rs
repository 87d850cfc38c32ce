//! The standard normal by the ziggurat method.
//!
//! 256 layers of equal area; index, sign and position come from disjoint bits of one 64-bit draw
//! (Doornik 2005 shows what happens when they overlap). The tables are computed, not listed, with a
//! pure-Rust `libm`, so they are the same on every platform. Sources: Marsaglia and Tsang (2000);
//! Doornik (2005).

use super::Stream;
use std::sync::LazyLock;

const LAYERS: usize = 256;
/// Where the tail begins, and the common area of the layers: Marsaglia and Tsang's constants for
/// 256 layers.
const TAIL: f64 = 3.654_152_885_361_009;
const AREA: f64 = 0.004_928_673_233_992_336;

struct Ziggurat {
    /// Right edge of each layer; layer 0 is widened by the area of the tail.
    edge: [f64; LAYERS + 1],
    /// `exp(−edge²/2)`.
    density: [f64; LAYERS + 1],
}

static TABLES: LazyLock<Ziggurat> = LazyLock::new(|| {
    let density_at = |x: f64| libm::exp(-0.5 * x * x);
    let mut edge = [0.0; LAYERS + 1];
    edge[0] = AREA / density_at(TAIL);
    edge[1] = TAIL;
    for i in 2..LAYERS {
        let height = AREA / edge[i - 1] + density_at(edge[i - 1]);
        edge[i] = (-2.0 * libm::log(height)).sqrt();
    }
    Ziggurat { edge, density: edge.map(density_at) }
});

pub(super) fn sample(stream: &mut Stream) -> f64 {
    draw(&TABLES, stream)
}

pub(super) fn fill(stream: &mut Stream, out: &mut [f64]) {
    let tables = &*TABLES;
    for x in out {
        *x = draw(tables, stream);
    }
}

#[inline]
fn draw(tables: &Ziggurat, stream: &mut Stream) -> f64 {
    loop {
        let bits = stream.bits();
        let layer = (bits & 0xff) as usize;
        let sign = if bits & 0x100 == 0 { 1.0 } else { -1.0 };
        let x = (bits >> 11) as f64 * 2.0_f64.powi(-53) * tables.edge[layer];
        if x < tables.edge[layer + 1] {
            return sign * x;
        }
        if layer == 0 {
            return sign * tail(stream);
        }
        let (low, high) = (tables.density[layer], tables.density[layer + 1]);
        if low + stream.uniform() * (high - low) < libm::exp(-0.5 * x * x) {
            return sign * x;
        }
    }
}

/// The normal beyond [`TAIL`], by Marsaglia's exponential rejection.
fn tail(stream: &mut Stream) -> f64 {
    // 1 − uniform is in (0, 1]: its logarithm is finite.
    loop {
        let x = -libm::log(1.0 - stream.uniform()) / TAIL;
        let y = -libm::log(1.0 - stream.uniform());
        if y + y >= x * x {
            return TAIL + x;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: usize = 8_000_000;
    const BINS: usize = 64;

    /// Pearson's statistic of the draws over bins of equal probability.
    fn chi_square(mut draw: impl FnMut() -> f64) -> f64 {
        let mut counts = [0_u32; BINS];
        for _ in 0..DRAWS {
            let probability = 0.5 * libm::erfc(-draw() / std::f64::consts::SQRT_2);
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a probability times the bins"
            )]
            let bin = (probability * BINS as f64) as usize;
            counts[bin.min(BINS - 1)] += 1;
        }
        let expected = DRAWS as f64 / BINS as f64;
        counts.iter().map(|&c| (f64::from(c) - expected).powi(2) / expected).sum()
    }

    // χ² with 63 degrees of freedom exceeds 132 with probability 7.4e-7 (Wilson–Hilferty: 63·(1 −
    // 2/567 + 4.81·√(2/567))³).
    const LIMIT: f64 = 132.0;

    #[test]
    fn draws_are_normal() {
        let mut stream = Stream::new(3, 0, "test");
        let statistic = chi_square(|| stream.normal());
        assert!(statistic < LIMIT, "{statistic}");
    }

    #[test]
    fn a_sampler_without_wedges_is_caught() {
        let mut stream = Stream::new(3, 0, "test");
        let statistic = chi_square(|| {
            let bits = stream.bits();
            let layer = (bits & 0xff) as usize;
            let sign = if bits & 0x100 == 0 { 1.0 } else { -1.0 };
            sign * (bits >> 11) as f64 * 2.0_f64.powi(-53) * TABLES.edge[layer]
        });
        assert!(statistic > LIMIT, "{statistic}");
    }

    #[test]
    fn the_tail_has_its_share_and_shape() {
        // P(|Z| > TAIL) = 2.58e-4: 2,000,000 draws give 516 ± 22.7; 5 sd = 114. Beyond it the mean
        // excess is 0.2576 with sd 0.247, so over ~516 draws 5 sd = 0.054. Each fails by chance
        // with probability 6e-7.
        let mut stream = Stream::new(5, 0, "test");
        let beyond: Vec<f64> =
            (0..2_000_000).map(|_| stream.normal().abs()).filter(|x| *x > TAIL).collect();
        let expected = 2_000_000.0 * libm::erfc(TAIL / std::f64::consts::SQRT_2);
        assert!((beyond.len() as f64 - expected).abs() < 5.0 * expected.sqrt(), "{}", beyond.len());
        let mean = beyond.iter().sum::<f64>() / beyond.len() as f64;
        let density = libm::exp(-0.5 * TAIL * TAIL) / (2.0 * std::f64::consts::PI).sqrt();
        let excess = 2.0 * density / libm::erfc(TAIL / std::f64::consts::SQRT_2);
        assert!((mean - excess).abs() < 0.054, "{mean} {excess}");
    }

    #[test]
    fn the_layers_close_at_the_top() {
        let last = TABLES.edge[LAYERS - 1];
        let top = AREA / last + libm::exp(-0.5 * last * last);
        assert!((top - 1.0).abs() < 1e-10, "{top}");
    }
}
