//! The bound by two points against the fortune on every reward, and the evidence against its
//! definition.

use super::Sample;
use crate::model::Earnings;
use crate::rng::Stream;
use plausibly_testkit::{PlainSums, log_fortune, log_fortune_of};

/// What kinds of rewards are drawn.
const KINDS: usize = 5;

fn rewards(rng: &mut Stream, kind: usize) -> Vec<f64> {
    let count = 1 + rng.index(24);
    let (rate, value) = (rng.uniform(), rng.uniform());
    let draw = |rng: &mut Stream| match kind {
        0 => f64::from(u8::from(rng.uniform() < rate)),
        1 => rng.uniform(),
        // A few values, the ends among them.
        2 => [0.0, 0.25, rate, 1.0][rng.index(4)],
        3 => value,
        // They hardly scatter.
        _ => (value + 0.03 * rng.normal()).clamp(0.0, 1.0),
    };
    (0..count).map(|_| draw(rng)).collect()
}

fn sample(rewards: &[f64]) -> Sample {
    let (total, squares) = (rewards.iter().sum(), rewards.iter().map(|y| y * y).sum());
    Sample::of(Earnings { count: rewards.len() as u64, total, squares }, 0.0, 1.0)
}

/// Calls with each of 200,000 samples, a mean to bet against and the true fortune.
fn for_each_sample(mut visit: impl FnMut(usize, &[f64], f64, f64)) {
    let rng = &mut Stream::new(61, 0, "samples");
    for number in 0..200_000 {
        let kind = number % KINDS;
        let rewards = rewards(rng, kind);
        let m = 0.01 + 0.98 * rng.uniform();
        visit(kind, &rewards, m, log_fortune_of(&rewards, m));
    }
}

/// Rounding of products and of a logarithm: far below this.
const ROUNDING: f64 = 1e-9;

#[test]
fn evidence_never_exceeds_the_fortune_and_is_it_for_yes_and_no() {
    let mut below = 0;
    for_each_sample(|kind, rewards, m, fortune| {
        let (evidence, _) = sample(rewards).evidence_above(m);
        assert!(evidence <= fortune + ROUNDING, "{evidence} > {fortune}: {rewards:?} at {m}");
        // With yes and no, and with equal rewards, there are no more than two points.
        if kind == 0 || kind == 3 {
            assert!((evidence - fortune).abs() <= ROUNDING, "{evidence} {fortune} {rewards:?}");
        }
        below += u32::from(evidence < fortune - 1e-3);
    });
    // The law is not an equality.
    assert!(below > 10_000, "{below}");
}

#[test]
fn samples_of_other_points_exceed_the_fortune() {
    let (mut without_variance, mut touching_at_one) = (0, 0);
    for_each_sample(|_, rewards, m, fortune| {
        let sums = PlainSums::of(rewards);
        let all_at_mean = log_fortune(sums.count, (0.0, sums.count as f64, sums.mean()), m);
        without_variance += u32::from(all_at_mean > fortune + ROUNDING);
        // The parabola through f(1) in the place of f(0): a sample of ones and one other value.
        let (_, plays, value) = sums.mirrored().two_points();
        let at_one = log_fortune(sums.count, (1.0, plays, 1.0 - value), m);
        touching_at_one += u32::from(at_one > fortune + ROUNDING);
    });
    assert!(without_variance > 50_000, "{without_variance}");
    assert!(touching_at_one > 10_000, "{touching_at_one}");
}

#[test]
fn evidence_is_its_definition_and_the_slope_is_its_derivative() {
    let rng = &mut Stream::new(62, 0, "samples");
    for number in 0..5000 {
        let rewards = rewards(rng, number % KINDS);
        let m = 0.01 + 0.98 * rng.uniform();
        let (sample, sums) = (sample(&rewards), PlainSums::of(&rewards));
        for (ours, theirs) in [
            (sample.evidence_above(m), sums.up(m)),
            (sample.mirrored().evidence_above(1.0 - m), sums.down(m)),
        ] {
            assert!((ours.0 - theirs).abs() <= 1e-9, "{ours:?} {theirs} {rewards:?} at {m}");
        }
        let step = 1e-5 * m;
        let [before, after] = [m - step, m + step].map(|m| sample.evidence_above(m).0);
        let (slope, found) = (sample.evidence_above(m).1, (after - before) / (2.0 * step));
        // The third derivative times step²/6 is below 1e-8 of the slope, and rounding of the
        // evidence over the step is below 1e-7.
        assert!((slope - found).abs() <= 1e-6 * slope.abs() + 1e-6, "{slope} {found} {rewards:?}");
        assert!(slope <= 0.0);
    }
}

#[test]
fn rewards_too_small_to_square_leave_an_interval() {
    let reward = 1e-200;
    let (evidence, slope) = sample(&[reward]).evidence_above(0.5);
    assert!(evidence.is_finite() && slope.is_finite(), "{evidence} {slope}");
    let end = sample(&[reward]).lower_end(3.0);
    assert!((0.0..=reward).contains(&end), "{end}");
}
