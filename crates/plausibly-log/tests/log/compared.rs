//! Comparisons of two actions agree with the certificates of the same log.

use super::{Memory, few_arms, open, plan, play};
use plausibly_log::certificate::{RuledOut, Standing};
use plausibly_log::state::StepError;
use plausibly_log::{LogError, compare, status};

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
            assert!(found.decided && found.behind == action.label, "{found:?} {how:?}");
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
