//! Two arms picked after looking, of many fair coins: none is better than another, so that every
//! comparison that is decided is wrong.

use super::FALSE_ALARM;
use plausibly::{
    Action, ActionSet, ArmMeans, ConfidenceRadius, Estimator, Exclusion, Explanation, Stream,
    TwoPoint,
};
use plausibly_testkit::{most_events, tail_above};

const ARMS: usize = 1000;
const DELTA: f64 = 0.05;
/// The most plays of an arm.
const MOST: u64 = 800;
/// Arms that are looked at on either side.
const LOOKED_AT: usize = 12;

/// What those have won who bet on yes, and on no, with the bets of the two-point mixture that
/// matter for so few plays.
struct Fortunes {
    bets: Vec<f64>,
    on_yes: Vec<f64>,
    on_no: Vec<f64>,
}

impl Fortunes {
    fn new() -> Self {
        let bet = |j: i32| 1.0 / (1.0 + (-0.5 * f64::from(j)).exp2());
        let bets: Vec<f64> = (-18..=10).map(bet).collect();
        let start = vec![0.9 / 29.0; bets.len()];
        Self { bets, on_yes: start.clone(), on_no: start }
    }

    fn see(&mut self, yes: bool) {
        let sign = if yes { 1.0 } else { -1.0 };
        for ((bet, on_yes), on_no) in self.bets.iter().zip(&mut self.on_yes).zip(&mut self.on_no) {
            *on_yes *= 1.0 + sign * bet;
            *on_no *= 1.0 - sign * bet;
        }
    }

    /// The larger of both.
    fn largest(&self) -> f64 {
        let sum = |fortunes: &[f64]| fortunes.iter().sum::<f64>();
        sum(&self.on_yes).max(sum(&self.on_no))
    }
}

/// Plays each arm until one side has won enough, or [`MOST`] times. A player that stops where luck
/// is makes errors likely.
fn played(enough: f64, run: u64) -> ArmMeans {
    let (mut arms, mut coin) = (ArmMeans::new(ARMS), Stream::new(122, run, "noise"));
    for arm in 0..ARMS {
        let mut fortunes = Fortunes::new();
        for _ in 0..MOST {
            let yes = coin.uniform() < 0.5;
            arms.update(Action::new(arm, &[]), f64::from(u8::from(yes)));
            fortunes.see(yes);
            if fortunes.largest() >= enough {
                break;
            }
        }
    }
    arms
}

/// Whether any of the pairs looked at is decided: by a comparison, and by the evidence with which
/// the sets rule actions out.
fn decided(run: u64) -> (bool, bool) {
    let radius = TwoPoint { delta: DELTA, low: 0.0, high: 1.0, pairs: true };
    // Half of the evidence that rules an action out.
    let enough = (2.0 * ARMS as f64 / (0.5 * DELTA)).sqrt();
    let (arms, set) = (played(enough, run), ActionSet::arms(ARMS).unwrap());
    let (mut shown, by) = (Explanation::new(), Exclusion::Differences);
    shown.fill(&arms, &radius, by, set.view());
    let tallies = arms.tallies().unwrap();
    let lead = |arm: usize| {
        let tally = tallies.get(arm);
        (tally.mean() - 0.5) * (tally.count as f64).sqrt()
    };
    let mut order: Vec<usize> = (0..ARMS).collect();
    order.sort_by(|a, b| lead(*a).total_cmp(&lead(*b)));
    let (unlucky, lucky) = (&order[..LOOKED_AT], &order[ARMS - LOOKED_AT..]);
    let rule = radius.pairs(&arms.evidence()).unwrap();
    let mut found = (false, false);
    for (behind, ahead) in unlucky.iter().flat_map(|a| lucky.iter().map(move |b| (*a, *b))) {
        let compared = shown.compare(&arms, &radius, by, set.view(), [ahead, behind]);
        found.0 |= compared.decided;
        found.1 |= rule.rules_out(tallies.get(ahead), tallies.get(behind)).is_some();
    }
    found
}

pub(super) fn picked_after_looking(full: bool) {
    let runs = if full { 600 } else { 120 };
    let limit = most_events(runs, DELTA, FALSE_ALARM);
    let found: Vec<_> = (0..runs).map(decided).collect();
    let ours = found.iter().filter(|(ours, _)| *ours).count() as u64;
    let mutant = found.iter().filter(|(_, mutant)| *mutant).count() as u64;
    println!(
        "| {ARMS} arms, any two compared: called different | {DELTA} | {ours} of {runs} | {limit} \
         | {:.0} % | shares of a fixed set: {mutant} |",
        100.0 * tail_above(runs, 3.0 * DELTA, limit)
    );
    assert!(ours <= limit, "{ours} of {runs}");
    assert!(mutant > limit, "the mutant erred in only {mutant} of {runs}; at most {limit}");
}
