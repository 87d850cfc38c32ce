//! Comparisons of two actions agree with the certificates of the same log.

use super::{Memory, few_arms, open, plan, play};
use plausibly::{
    Action, ActionSet, ArmMeans, ConfidenceRadius, Estimator, Exclusion, Explanation, Quantised,
    TwoPoint,
};
use plausibly_log::certificate::{Comparison, Findings, RuledOut, Standing};
use plausibly_log::event::Outcomes;
use plausibly_log::recipe::{Context, Recipe};
use plausibly_log::state::StepError;
use plausibly_log::table::Table;
use plausibly_log::{LogError, Opening, Reward, compare, status};

/// Whether an action beside these two could still be best.
fn third_is_left(findings: &Findings, pair: [u64; 2]) -> bool {
    let mut left = findings.actions.iter().filter(|one| one.standing == Standing::Plausible);
    left.any(|one| !pair.contains(&one.id))
}

#[test]
fn what_is_out_is_behind_and_by_as_much_as_certificates_say() {
    let (mut decided, mut open_ones, mut by_pair) = (0, 0, 0);
    let plans = (0..60).map(|seed| plan(seed, (6, 10), 60)).chain((0..3).map(|s| few_arms(s, 500)));
    for plan in plans {
        let disk = Memory::default();
        play(&mut open(&disk), &plan);
        let Ok(status) = status(&disk, 1_000_000_000, 2) else { continue };
        let findings = &status.now.findings;
        let named = |id: u64| &findings.actions.iter().find(|one| one.id == id).unwrap().label;
        for action in &findings.actions {
            let other = match action.standing {
                Standing::RuledOut(RuledOut { by, .. }) => named(by),
                Standing::Plausible if action.id == findings.chosen.id => continue,
                Standing::Plausible => &findings.chosen.label,
            };
            let found = compare(&disk, 1_000_000_000, [&action.label, other]).unwrap();
            let back = compare(&disk, 1_000_000_000, [other, &action.label]).unwrap();
            assert!(found.at_least <= found.at_most && found.confidence == findings.confidence);
            if found.at_least + found.at_most != 0.0 {
                assert_eq!(found, back, "the order does not matter");
            }
            let Standing::RuledOut(how) = action.standing else {
                open_ones += usize::from(!found.decided);
                continue;
            };
            assert!(found.behind == action.label, "{found:?} {how:?}");
            if !found.decided {
                // Not the best by what both have paid, and some third action may be.
                let pair = how.kind == Some(Comparison::Pair) && how.behind_by.is_none();
                assert!(pair && third_is_left(findings, [action.id, how.by]), "{found:?} {how:?}");
                continue;
            }
            assert!(found.to_string().contains(" beats "), "{found}");
            by_pair += usize::from(how.evidence.is_some());
            if let Some((at_least, _)) = how.behind_by {
                decided += 1;
                let near = (found.at_least - at_least).abs() <= 1e-6 * 20.0;
                assert!(near, "{found:?} {how:?}");
            }
        }
        let unknown = compare(&disk, 1, ["action 0", "nothing of that name"]).unwrap_err();
        assert!(matches!(unknown, LogError::Step(StepError::NotOffered { .. })), "{unknown}");
    }
    assert!(decided > 20 && open_ones > 20 && by_pair > 0, "{decided} {open_ones} {by_pair}");
}

/// Six arms in counts, and what a log and the library say about each pair, in the same order.
///
/// Returns how many pairs, neither of which may be the best, would be decided by the evidence that
/// rules actions out and are not.
fn arms_compared(of: u64) -> (usize, usize) {
    let percent = [62, 61, 52, 47, 43, 40];
    let names = ["a", "b", "c", "d", "e", "f"];
    let table = Table::read(format!("name\n{}\n", names.join("\n")).as_bytes()).unwrap();
    let table = table.with_label(Some("name")).unwrap();
    let (disk, none) = (Memory::default(), Context::default());
    let mut log = open(&disk);
    let recipe = Recipe::infer(&table, &none).unwrap();
    let opening = Opening { outcomes: Outcomes::Counts, ..Opening::new(recipe, (0.0, 1.0), 7) };
    log.begin(1, opening).unwrap();
    let mut arms = ArmMeans::new(percent.len());
    let yes = |arm: usize| percent[arm] * of / 100;
    for _ in 0..percent.len() {
        let decided = log.decide(2, &table, &none, 10).unwrap();
        let arm = names.iter().position(|name| *name == decided.findings.chosen.label).unwrap();
        log.reward(3, decided.grounds.decision, Reward::counts(yes(arm), of)).unwrap();
        for outcome in 0..of {
            arms.update(Action::new(arm, &[]), if outcome < yes(arm) { 0.5 } else { -0.5 });
        }
    }
    log.decide(4, &table, &none, 10).unwrap();
    assert!(arms.counts().iter().all(|count| *count == of), "{:?}", arms.counts());
    let by_pairs = TwoPoint { delta: 0.05, low: -0.5, high: 0.5, pairs: true };
    let (radius, set) =
        (Quantised { radius: by_pairs, theta_norm_bound: 1.0 }, ActionSet::arms(6).unwrap());
    let (mut shown, by) = (Explanation::new(), Exclusion::Differences);
    shown.fill(&arms, &radius, by, set.view());
    let (mut taken_back, mut decided) = (0, 0);
    for [a, b] in (0..6).flat_map(|a| (0..a).map(move |b| [a, b])) {
        let found = compare(&disk, 5, [names[a], names[b]]).unwrap();
        let expected = shown.compare(&arms, &radius, by, set.view(), [a, b]);
        assert_eq!(
            (&*found.ahead, &*found.behind),
            (names[expected.ahead], names[expected.behind])
        );
        assert_eq!(found.decided, expected.decided, "{found:?} {expected:?}");
        let tallies = [expected.ahead, expected.behind].map(|arm| arms.tallies().unwrap().get(arm));
        let out = radius.pairs(&arms.evidence()).unwrap().rules_out(tallies[0], tallies[1]);
        taken_back += usize::from(out.is_some() && !found.decided);
        decided += usize::from(found.decided);
    }
    (taken_back, decided)
}

/// What shows that one action is not the best is less than what shows which of any two is better.
#[test]
fn two_actions_picked_after_looking_take_more_evidence() {
    let counted = (1..30).map(|times| arms_compared(100 * times));
    let (taken_back, decided) = counted.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    assert!(taken_back > 10 && decided > 100, "{taken_back} {decided}");
}
