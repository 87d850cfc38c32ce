//! The ends of two-point intervals against bisection, at the limits of what sums can be.

use plausibly::{
    Action, ArmMeans, Bounded, ConfidenceRadius as _, Earnings, Estimator as _, Evidence,
    Quantised, Reach, Stream, TwoPoint,
};
use plausibly_testkit::PlainSums;

const DELTA: f64 = 0.05;
const ARMS: usize = 6;

fn radius(low: f64, high: f64) -> TwoPoint {
    TwoPoint { delta: DELTA, low, high, pairs: false }
}

/// What rules a mean out, in nats.
fn needed() -> f64 {
    (2.0 * ARMS as f64 / DELTA).ln()
}

fn evidence() -> Evidence {
    ArmMeans::new(ARMS).evidence()
}

fn bounded(reach: Reach) -> Bounded {
    if let Reach::Bounded(bounded) = reach { bounded } else { panic!("{reach:?}") }
}

fn interval(sums: PlainSums) -> (f64, f64) {
    bounded(radius(0.0, 1.0).reach(&evidence())).interval(earnings(sums))
}

fn earnings(PlainSums { count, sum, squares }: PlainSums) -> Earnings {
    Earnings { count, total: sum, squares }
}

/// The largest mean with enough evidence above it, and the smallest with enough below it.
fn by_bisection(sums: PlainSums) -> (f64, f64) {
    let root = |sums: PlainSums| {
        if sums.sum <= 0.0 {
            return 0.0;
        }
        // In the logarithm, so that small ends have their digits. No end is above the average.
        let (mut left, mut right) = (-700.0_f64, sums.mean().ln());
        for _ in 0..80 {
            let middle = 0.5 * (left + right);
            if sums.up(middle.exp()) >= needed() { left = middle } else { right = middle }
        }
        left.exp()
    };
    (root(sums), 1.0 - root(sums.mirrored()))
}

/// Sums of many kinds of rewards, up to a million plays.
fn samples() -> Vec<PlainSums> {
    let rng = &mut Stream::new(63, 0, "samples");
    let mut all = Vec::new();
    for count in [1, 2, 3, 10, 100, 10_000, 1_000_000] {
        for mean in [0.0, 0.001, 0.05, 0.3, 0.5, 0.95, 0.999, 1.0] {
            let yes = f64::round(count as f64 * mean);
            all.push(PlainSums::yes_no(count, yes));
            // Equal rewards, and rewards between those and yes/no.
            for scatter in [0.0, 1e-6, 0.01, rng.uniform()] {
                let sum = count as f64 * mean;
                let squares = sum * mean + scatter * (sum - sum * mean);
                all.push(PlainSums { count, sum, squares });
            }
        }
    }
    // No sum of squares of rewards that are not negative exceeds the square of their sum.
    all.retain(|sums| sums.squares <= sums.sum * sums.sum);
    all
}

#[test]
fn ends_are_those_by_bisection_rounded_outward() {
    for sums in samples() {
        let ((lower, upper), (low, high)) = (interval(sums), by_bisection(sums));
        // Two evaluations in doubles agree to about 1e-16 of the largest term, n·log(1 − c).
        let near = 1e-9 + 1e-14 * sums.count as f64;
        assert!(
            lower <= low * (1.0 + near) && lower >= low * (1.0 - 1e-6),
            "{sums:?} {lower} {low}"
        );
        let (above, over) = (1.0 - upper, 1.0 - high);
        // 1 − y has an absolute error of half a unit in the last place of 1.
        let near = over * near + 1e-15;
        assert!(
            above <= over + near && above >= over * (1.0 - 1e-6) - 1e-15,
            "{sums:?} {upper} {high}"
        );
        assert!(
            0.0 <= lower && lower <= sums.mean() && sums.mean() <= upper + 1e-15 && upper <= 1.0
        );
    }
}

/// At the end there is enough evidence, and a little farther inside there is not.
#[test]
fn an_end_has_just_the_evidence_that_is_needed() {
    for sums in samples().into_iter().filter(|sums| sums.count <= 10_000) {
        let (lower, upper) = interval(sums);
        if lower > 1e-12 {
            assert!(sums.up(lower) >= needed(), "{sums:?}");
            assert!(sums.up(lower * (1.0 + 1e-6)) < needed(), "{sums:?}");
        }
        if upper < 1.0 - 1e-9 {
            assert!(sums.down(upper) >= needed() - 1e-6, "{sums:?}");
            assert!(sums.down(upper - 1e-6 * (1.0 - upper)) < needed(), "{sums:?}");
        }
    }
}

#[test]
fn evidence_falls_and_is_convex() {
    for sums in samples().into_iter().filter(|sums| sums.sum > 0.0 && sums.count <= 10_000) {
        let values: Vec<f64> = (1..=400).map(|step| sums.up(f64::from(step) / 400.0)).collect();
        for three in values.windows(3) {
            let slack = 1e-12 * three[0].abs().max(sums.count as f64);
            assert!(three[1] <= three[0] + slack, "{sums:?}");
            assert!(three[0] + three[2] - 2.0 * three[1] >= -4.0 * slack, "{sums:?}");
        }
    }
}

#[test]
fn nothing_played_leaves_the_whole_range() {
    let nothing = Earnings::default();
    for (low, high) in [(0.0, 1.0), (-3.0, 5.0), (10.0, 11.0)] {
        let bounded = bounded(radius(low, high).reach(&evidence()));
        assert_eq!(bounded.interval(nothing), (low, high));
        assert_eq!(bounded.range(), high - low);
    }
    // One reward rules out very little, and nothing on its own side.
    let (lower, upper) = interval(PlainSums::yes_no(1, 1.0));
    assert!(lower > 0.0 && lower < 0.01 && upper == 1.0, "{lower} {upper}");
    let (lower, upper) = interval(PlainSums::yes_no(1, 0.0));
    assert!(lower == 0.0 && upper > 0.99 && upper < 1.0, "{lower} {upper}");
}

/// Rewards of another range have the interval of the scaled ones.
#[test]
fn the_range_only_scales() {
    let rng = &mut Stream::new(64, 0, "samples");
    for (low, range) in [(-3.0, 8.0), (-0.5, 1.0), (1e-3, 1e-3), (1000.0, 1.0), (-1e5, 4.0)] {
        for _ in 0..100 {
            let count = 1 + rng.index(200);
            let rate = rng.uniform();
            let scaled: Vec<f64> = (0..count)
                .map(|_| if rng.index(2) == 0 { rng.uniform() } else { (2.0 * rate).min(1.0) })
                .collect();
            let rewards: Vec<f64> = scaled.iter().map(|y| low + range * y).collect();
            let (plain, sums) = (PlainSums::of(&scaled), PlainSums::of(&rewards));
            let (lower, upper) = interval(plain);
            let there = bounded(radius(low, low + range).reach(&evidence()));
            let (least, most) = there.interval(earnings(sums));
            // Squares of rewards far from zero lose (low/range)² of their digits.
            let near = 1e-9 + 1e-12 * (low / range) * (low / range);
            let close = |there: f64, here: f64| ((there - low) / range - here).abs() <= near;
            assert!(close(least, lower) && close(most, upper), "{low} {range}: {least} {lower}");
        }
    }
}

/// A million plays of rare rewards: the lower end is near the rate, not at a floor under it.
#[test]
fn intervals_shrink_to_a_point_at_any_rate() {
    for rate in [1e-4, 1e-3, 0.05, 0.5, 0.999] {
        let mut length = 1.0;
        for count in [100, 10_000, 1_000_000, 100_000_000] {
            let (lower, upper) =
                interval(PlainSums::yes_no(count, f64::round(count as f64 * rate)));
            assert!(upper - lower < length, "{rate} {count}");
            length = upper - lower;
        }
        let scatter = (rate * (1.0 - rate) / 1e8_f64).sqrt();
        assert!(length < 16.0 * scatter, "{rate}: {length}");
    }
    let (lower, _) = interval(PlainSums::yes_no(1_000_000, 1e3));
    assert!(lower > 0.84e-3, "{lower}");
}

/// Quiet rewards have short intervals: the variance need not be known.
#[test]
fn quiet_rewards_have_shorter_intervals() {
    let length = |(lower, upper): (f64, f64)| upper - lower;
    let quiet = PlainSums { count: 1000, sum: 300.0, squares: 90.0 + 1000.0 * 0.03 * 0.03 };
    let (quiet, loud) = (length(interval(quiet)), length(interval(PlainSums::yes_no(1000, 300.0))));
    assert!(quiet < 0.02 && loud > 0.1, "{quiet} {loud}");
}

#[test]
fn rounding_to_the_grid_is_added_on_both_sides() {
    let half_step = 0.5_f64.powi(25);
    for (low, high) in [(0.0, 1.0), (-3.0, 5.0)] {
        let plain = radius(low, high);
        let rounded = Quantised { radius: plain, theta_norm_bound: 0.0 };
        let tally = Earnings { count: 100, total: 30.0, squares: 20.0 };
        let (lower, upper) = bounded(plain.reach(&evidence())).interval(tally);
        let (least, most) = bounded(rounded.reach(&evidence())).interval(tally);
        assert!((lower - least - half_step).abs() < 1e-14, "{lower} {least}");
        assert!((most - upper - half_step).abs() < 1e-14, "{most} {upper}");
    }
}

/// Sums in any order of arrival are the same interval, since it is a function of them.
#[test]
fn a_model_gives_the_interval_of_its_sums() {
    let mut model = ArmMeans::new(2);
    let rewards = [0.25, 0.5, 1.0, 0.0];
    for reward in rewards {
        model.update(Action::new(1, &[]), reward);
    }
    let tallies = model.tallies().unwrap();
    assert_eq!(tallies.get(1), earnings(PlainSums::of(&rewards)));
    assert_eq!(tallies.get(0), Earnings::default());
    assert_eq!(tallies.len(), 2);
}
