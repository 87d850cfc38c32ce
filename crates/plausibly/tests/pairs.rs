//! Verdicts between pairs of arms: against a grid, at the limits, and with mistakes that must be
//! noticed.

use plausibly::{
    Action, ActionSet, ArmMeans, Bounds, ConfidenceRadius as _, Earnings, Estimator as _,
    Exclusion, PairRule, Plausible, Reach, Stream, TwoPoint,
};
use plausibly_testkit::PlainSums;

const NEEDED: f64 = 6.0;
const ASIDE: f64 = 5.0;

fn rule(needed: f64, aside: f64) -> PairRule {
    PairRule::TwoPoint { low: 0.0, range: 1.0, needed, aside, allowance: 0.0 }
}

fn earnings(PlainSums { count, sum, squares }: PlainSums) -> Earnings {
    Earnings { count, total: sum, squares }
}

fn rules_out(rule: PairRule, ahead: PlainSums, behind: PlainSums) -> Option<f64> {
    rule.rules_out(earnings(ahead), earnings(behind))
}

/// The least evidence between the averages by a grid, and that of each arm alone.
fn by_grid(ahead: PlainSums, behind: PlainSums, points: u32) -> (f64, f64) {
    let (low, high) = (behind.mean(), ahead.mean());
    let at = |point| low + (high - low) * f64::from(point) / f64::from(points);
    let least = (0..=points)
        .map(|point| ahead.up(at(point)) + behind.down(at(point)))
        .fold(1e300, f64::min);
    (least, ahead.up(low).min(behind.down(high)))
}

/// A pair of samples that is near a verdict, with very different numbers of plays.
fn near_a_verdict(rng: &mut Stream) -> (PlainSums, PlainSums) {
    let draw = |rng: &mut Stream, mean: f64| {
        let count = (5 + rng.below(20)) * [1, 10, 100, 1000, 10_000][rng.index(5)];
        let plays = count as f64;
        let sum = (plays * mean).round().clamp(1.0, plays);
        let scatter = if rng.index(2) == 0 { 1.0 } else { rng.uniform() };
        let mean = sum / plays;
        PlainSums { count, sum, squares: sum * mean + scatter * (sum - sum * mean) }
    };
    let mean = rng.uniform();
    let gap = 0.5 * rng.uniform() * rng.uniform();
    (draw(rng, (mean + gap).min(1.0)), draw(rng, mean))
}

fn agrees_with_a_grid(pairs: u32, points: u32) {
    let rng = &mut Stream::new(71, 0, "pairs");
    let (mut verdicts, mut undecided) = (0, 0);
    while verdicts.min(undecided) < pairs {
        let (ahead, behind) = near_a_verdict(rng);
        if ahead.mean() <= behind.mean() {
            assert_eq!(rules_out(rule(NEEDED, ASIDE), ahead, behind), None);
            continue;
        }
        // A coarse grid picks out the pairs near the limit: others would test nothing.
        let (coarse, _) = by_grid(ahead, behind, 20);
        if !(0.3 * NEEDED..5.0 * NEEDED).contains(&coarse) {
            continue;
        }
        let (least, alone) = by_grid(ahead, behind, points);
        let verdict = rules_out(rule(NEEDED, ASIDE), ahead, behind);
        let what = format!("{ahead:?} {behind:?}: {least} {alone} {verdict:?}");
        // A grid misses the minimum of a convex function by less than a step times the slope.
        let slack = 1e-3;
        if let Some(evidence) = verdict {
            verdicts += 1;
            assert!(evidence >= NEEDED && evidence <= least + 1e-8, "{what}");
            assert!(alone >= ASIDE - 1e-8, "{what}");
        } else {
            undecided += 1;
            assert!(least < NEEDED + slack || alone < ASIDE + slack, "{what}");
        }
    }
}

#[test]
fn verdicts_agree_with_a_grid() {
    agrees_with_a_grid(60, 1000);
}

/// The published form.
mod full {
    #[test]
    fn verdicts_agree_with_a_grid() {
        super::agrees_with_a_grid(25, 100_000);
    }
}

/// The verdict is sharp where plays are as unequal as 100,000 at 5 % and 500 at 1 %.
#[test]
fn a_well_known_leader_rules_out_a_little_known_arm() {
    let (ahead, behind) = (PlainSums::yes_no(100_000, 5e3), PlainSums::yes_no(500, 5.0));
    let (least, alone) = by_grid(ahead, behind, 100_000);
    assert!(least > 5.0, "{least}");
    let evidence = rules_out(rule(least - 0.01, alone - 0.01), ahead, behind).unwrap();
    assert!((least - 0.01..=least + 1e-8).contains(&evidence));
    assert_eq!(rules_out(rule(least + 0.01, alone - 0.01), ahead, behind), None);
    assert_eq!(rules_out(rule(least - 0.01, alone + 0.01), ahead, behind), None);
}

/// Evidence at the pooled average alone rules out too early.
#[test]
fn one_point_is_not_enough() {
    let rng = &mut Stream::new(72, 0, "pairs");
    let mut early = 0;
    for _ in 0..10_000 {
        let (ahead, behind) = near_a_verdict(rng);
        let pooled = (ahead.sum + behind.sum) / (ahead.count + behind.count) as f64;
        let at_pooled = ahead.up(pooled) + behind.down(pooled);
        early += u32::from(
            ahead.mean() > behind.mean()
                && at_pooled >= NEEDED
                && by_grid(ahead, behind, 60).0 < NEEDED,
        );
    }
    assert!(early > 20, "{early}");
}

/// Against its own average an arm loses its bets, so at that end of the range between the averages
/// the other arm alone has all of the evidence: the second condition follows from the first unless
/// it asks for more. Where it does, verdicts without it have too little evidence against one of the
/// averages.
#[test]
fn each_arm_must_be_clear_of_the_other_average() {
    let rng = &mut Stream::new(73, 0, "pairs");
    let more = NEEDED + 4.0;
    let mut only_without = 0;
    for _ in 0..20_000 {
        let (ahead, behind) = near_a_verdict(rng);
        let without = rules_out(rule(NEEDED, f64::NEG_INFINITY), ahead, behind);
        assert_eq!(without, rules_out(rule(NEEDED, NEEDED), ahead, behind));
        let with = rules_out(rule(NEEDED, more), ahead, behind);
        assert!(with.is_none() || with == without);
        if without.is_some() && with.is_none() {
            only_without += 1;
            assert!(ahead.up(behind.mean()).min(behind.down(ahead.mean())) < more);
        }
    }
    // The mutant that leaves the condition out rules out more.
    assert!(only_without > 20, "{only_without}");
}

#[test]
fn equal_averages_and_arms_never_taken_decide_nothing() {
    let strict = rule(1e-9, f64::NEG_INFINITY);
    for (count, total, squares) in [(10, 5.0, 5.0), (1, 0.0, 0.0), (1_000_000, 1e6, 1e6)] {
        let (one, nothing) = (Earnings { count, total, squares }, Earnings::default());
        for (ahead, behind) in [(one, one), (one, nothing), (nothing, one), (nothing, nothing)] {
            assert_eq!(strict.rules_out(ahead, behind), None, "{ahead:?} {behind:?}");
        }
        // Ten times the plays at the same average.
        let more = Earnings { count: 10 * count, total: 10.0 * total, squares: 10.0 * squares };
        assert_eq!(strict.rules_out(one, more), None);
        assert_eq!(strict.rules_out(more, one), None);
    }
    // Noes against yeses, at once decided and at last.
    let (yes, no) = (PlainSums::yes_no(30, 30.0), PlainSums::yes_no(30, 0.0));
    assert!(rules_out(rule(NEEDED, ASIDE), yes, no).unwrap() >= NEEDED);
    assert_eq!(rules_out(rule(NEEDED, ASIDE), no, yes), None);
    let (yes, no) = (PlainSums::yes_no(1, 1.0), PlainSums::yes_no(1, 0.0));
    assert_eq!(rules_out(rule(NEEDED, ASIDE), yes, no), None);
}

/// A random history of some arms, with copies of sums among them.
fn history(number: u64) -> ArmMeans {
    let rng = &mut Stream::new(74, number, "history");
    let arms = 1 + rng.index(8);
    let mut model = ArmMeans::new(arms);
    let means: Vec<f64> = (0..arms).map(|_| rng.uniform()).collect();
    let plays = 1 + rng.index(400);
    for _ in 0..plays {
        let arm = rng.index(arms);
        let reward = match number % 3 {
            0 => f64::from(u8::from(rng.uniform() < means[arm])),
            1 => (means[arm] + 0.05 * rng.normal()).clamp(0.0, 1.0),
            _ => (4.0 * means[arm]).round() / 4.0,
        };
        model.update(Action::new(arm, &[]), reward);
    }
    model
}

/// The plausible arms by these bounds.
fn plausible(model: &ArmMeans, bounds: impl Into<Bounds>) -> Vec<usize> {
    let set = ActionSet::arms(model.counts().len()).unwrap();
    let (scores, mut plausible) = (crate::scores(model, set.view()), Plausible::new());
    plausible.assess_by(Exclusion::Differences, model, set.view(), &scores, bounds);
    (0..model.counts().len()).filter(|arm| plausible.contains(*arm)).collect()
}

/// What pairs and intervals leave, by definition.
fn by_definition(model: &ArmMeans, bounds: Bounds) -> Vec<usize> {
    let (tallies, Reach::Bounded(bounded)) = (model.tallies().unwrap(), bounds.reach) else {
        panic!("{bounds:?}");
    };
    let (rule, arms) = (bounds.pairs.unwrap(), 0..tallies.len());
    let better = |best: usize, next| {
        let (best_tally, tally) = (tallies.get(best), tallies.get(next));
        let leads = tally.count > 0 && (best_tally.count == 0 || tally.mean() > best_tally.mean());
        if leads { next } else { best }
    };
    let leader = arms.clone().reduce(better).unwrap();
    let beaten = |arm| rule.rules_out(tallies.get(leader), tallies.get(arm)).is_some();
    let left: Vec<usize> = arms.filter(|arm| !beaten(*arm)).collect();
    assert!(left.contains(&leader), "the leader is never out by a pair");
    let interval = |arm: &usize| bounded.interval(tallies.get(*arm));
    let best_lower = left.iter().map(|arm| interval(arm).0).fold(f64::NEG_INFINITY, f64::max);
    // The product compares middles and halves, which round.
    left.iter().copied().filter(|arm| interval(arm).1 >= best_lower - 1e-12).collect()
}

#[test]
fn what_is_left_is_never_empty_and_is_what_both_leave() {
    let radius = TwoPoint { delta: 0.2, low: 0.0, high: 1.0, pairs: true };
    let (mut by_pairs, mut by_intervals) = (0, 0);
    for number in 0..3000 {
        let model = history(number);
        let bounds = radius.bounds(&model.evidence());
        let left = plausible(&model, bounds);
        assert!(!left.is_empty());
        assert_eq!(left, by_definition(&model, bounds), "history {number}");
        let intervals = plausible(&model, bounds.reach);
        assert!(left.iter().all(|arm| intervals.contains(arm)), "history {number}");
        by_pairs += u32::from(left.len() < intervals.len());
        by_intervals += u32::from(intervals.len() < model.counts().len());
    }
    assert!(by_pairs > 100 && by_intervals > 100, "{by_pairs} {by_intervals}");
}

/// Copies of sums never rule one another out, whatever the threshold.
#[test]
fn arms_with_equal_sums_stand_or_fall_together() {
    let radius = TwoPoint { delta: 0.9, low: 0.0, high: 1.0, pairs: true };
    for number in 0..500 {
        let one = history(number);
        let tallies = one.tallies().unwrap();
        let twice: Vec<Earnings> = (0..2 * tallies.len()).map(|arm| tallies.get(arm / 2)).collect();
        let counts: Vec<u64> = twice.iter().map(|tally| tally.count).collect();
        let totals: Vec<f64> = twice.iter().map(|tally| tally.total).collect();
        let squares: Vec<f64> = twice.iter().map(|tally| tally.squares).collect();
        let model = ArmMeans::from_statistics(&counts, &totals).with_squares(&squares);
        let left = plausible(&model, radius.bounds(&model.evidence()));
        assert!(left.chunks(2).all(|two| two.len() == 2 && two[0] + 1 == two[1]), "{left:?}");
    }
}

/// The thresholds are those of the shares, with half of δ each.
#[test]
fn thresholds_share_half_of_delta_each() {
    let evidence = ArmMeans::new(7).evidence();
    let radius = TwoPoint { delta: 0.05, low: 0.0, high: 1.0, pairs: true };
    let PairRule::TwoPoint { needed, aside, .. } = radius.pairs(&evidence).unwrap() else {
        panic!("another rule");
    };
    assert!((needed - (14.0_f64 / 0.025).ln()).abs() < 1e-12);
    assert!((aside - (14.0_f64 / 0.025).ln()).abs() < 1e-12);
    assert_eq!(TwoPoint { pairs: false, ..radius }.pairs(&evidence), None);
}
