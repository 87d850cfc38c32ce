//! Forecasts of rewards: made at the decision, from what was settled then, and fixed for good.

use super::{Memory, open, plan, play};
use plausibly::Stream;
use plausibly_log::event::Event;
use plausibly_log::journal::{Checkpoint, Journal, JournalError, read};
use plausibly_log::state::State;
use plausibly_log::{LogError, check_forecasts, fold};
use std::collections::BTreeMap;

fn events(disk: &Memory) -> Vec<(i64, Event)> {
    let mut found = Vec::new();
    read(disk, &Checkpoint::START, |entry| {
        found.push((entry.at_us, serde_json::from_str(entry.body).unwrap()));
        Ok::<(), JournalError>(())
    })
    .unwrap();
    found
}

fn written(events: impl IntoIterator<Item = (i64, Event)>) -> Memory {
    let disk = Memory::default();
    let mut journal = Journal::open(disk.clone()).unwrap();
    for (at, event) in events {
        journal.append(at, &[&serde_json::to_string(&event).unwrap()]).unwrap();
    }
    disk
}

fn state_of(disk: &Memory) -> State {
    fold(disk, |_| Ok(())).unwrap().0.unwrap()
}

/// Random logs with forecasts.
fn logs() -> impl Iterator<Item = (u64, Memory)> {
    let with_features = |seed: &u64| {
        let plan = plan(*seed, (8, 12), 60);
        plan.columns > 0 && plan.policy["kind"] == "code"
    };
    (40_000..).filter(with_features).map(|seed| {
        let disk = Memory::default();
        play(&mut open(&disk), &plan(seed, (8, 12), 60));
        (seed, disk)
    })
}

/// The final outcome of each decision that has one: a reward, or that there is none.
fn outcomes(all: &[(i64, Event)]) -> BTreeMap<u64, Option<(f64, Option<u64>)>> {
    let mut last = BTreeMap::new();
    for (_, event) in all {
        match event {
            Event::Rewarded { decision, reward, of, .. }
            | Event::Corrected { decision, reward, of, .. } => {
                last.insert(*decision, Some((*reward, *of)));
            }
            Event::Dropped { decision, .. } => {
                last.insert(*decision, None);
            }
            Event::Retracted { decision, .. } | Event::Undropped { decision, .. } => {
                last.remove(decision);
            }
            _ => {}
        }
    }
    last
}

/// The same decisions, with the outcomes entered behind them: sorted by value, some first with
/// another value, some taken back or dropped before they return.
fn entered_late(all: &[(i64, Event)], rng: &mut Stream) -> Memory {
    let about_outcomes = |event: &Event| {
        matches!(
            event,
            Event::Rewarded { .. }
                | Event::Corrected { .. }
                | Event::Retracted { .. }
                | Event::Dropped { .. }
                | Event::Undropped { .. }
        )
    };
    let mut lines: Vec<(i64, Event)> =
        all.iter().filter(|(_, event)| !about_outcomes(event)).cloned().collect();
    let mut last: Vec<_> = outcomes(all).into_iter().collect();
    last.sort_by(|a, b| {
        let value = |one: &Option<(f64, Option<u64>)>| one.map_or(f64::NAN, |(reward, _)| reward);
        value(&b.1).total_cmp(&value(&a.1))
    });
    let others: Vec<(f64, Option<u64>)> = last.iter().filter_map(|(_, one)| *one).collect();
    for (decision, outcome) in last {
        let Some((reward, of)) = outcome else {
            lines.push((1, Event::Dropped { decision, at_deadline: false, by: None }));
            continue;
        };
        let other = others[rng.index(others.len())];
        match rng.index(4) {
            0 => {
                lines.push((
                    1,
                    Event::Rewarded {
                        decision,
                        reward: other.0,
                        of: other.1,
                        at_deadline: false,
                        by: None,
                    },
                ));
                lines.push((1, Event::Corrected { decision, reward, of, by: None }));
                continue;
            }
            1 => {
                lines.push((
                    1,
                    Event::Rewarded {
                        decision,
                        reward: other.0,
                        of: other.1,
                        at_deadline: false,
                        by: None,
                    },
                ));
                lines.push((1, Event::Retracted { decision, by: None }));
            }
            2 => {
                lines.push((1, Event::Dropped { decision, at_deadline: false, by: None }));
                lines.push((1, Event::Undropped { decision, by: None }));
            }
            _ => {}
        }
        lines.push((1, Event::Rewarded { decision, reward, of, at_deadline: false, by: None }));
    }
    written(lines)
}

#[test]
fn the_order_of_outcomes_changes_no_bit_of_the_sums() {
    for (seed, disk) in logs().take(60) {
        let all = events(&disk);
        let mut rng = Stream::new(seed, 0, "late");
        let (own, late) = (state_of(&disk), state_of(&entered_late(&all, &mut rng)));
        assert_eq!(own.statistics(), late.statistics(), "log {seed}");
        assert_eq!(own.digest(), late.digest());
    }
}

/// Changes the forecasts of one decision, and says whether there is something to change.
type Forge = fn(&mut Event, &mut Event) -> bool;

const FORGED: [(&str, Forge); 3] = [
    ("altered", |decided, _| {
        let Event::Decided { forecasts: Some(own), .. } = decided else { return false };
        own.steps[usize::from(own.counts)] += 1;
        true
    }),
    ("exchanged", |one, other| {
        let (
            Event::Decided { forecasts: Some(own), .. },
            Event::Decided { forecasts: Some(others), .. },
        ) = (one, other)
        else {
            return false;
        };
        std::mem::swap(own, others);
        own != others
    }),
    ("counted otherwise", |decided, _| {
        let Event::Decided { forecasts: Some(own), .. } = decided else { return false };
        own.counts = (own.counts + 1) % 3;
        true
    }),
];

#[test]
fn forged_forecasts_are_found_in_the_log() {
    let mut tried = [0; FORGED.len()];
    for (seed, disk) in logs().take(40) {
        check_forecasts(&disk, u64::MAX).unwrap();
        let all = events(&disk);
        let decided: Vec<usize> =
            (0..all.len()).filter(|at| matches!(all[*at].1, Event::Decided { .. })).collect();
        let mut rng = Stream::new(seed, 0, "forged");
        for (kind, (name, forge)) in FORGED.iter().enumerate() {
            let (one, other) = (rng.index(decided.len()), rng.index(decided.len()));
            let mut lines = all.clone();
            let mut pair = (lines[decided[one]].1.clone(), lines[decided[other]].1.clone());
            if one == other && *name == "exchanged" || !forge(&mut pair.0, &mut pair.1) {
                continue;
            }
            lines[decided[other]].1 = pair.1;
            lines[decided[one]].1 = pair.0;
            let found = check_forecasts(&written(lines), u64::MAX);
            let first = if *name == "exchanged" { one.min(other) } else { one };
            match found {
                // Exchanged ones may be what follows at the first of the two places.
                Err(LogError::Forecast { decision, .. }) if *name == "exchanged" => {
                    assert!(decision > first as u64, "{name}");
                }
                Err(LogError::Forecast { decision, .. }) => {
                    assert_eq!(decision, first as u64 + 1, "{name}");
                }
                other => panic!("not found: {name} in log {seed}: {other:?}"),
            }
            tried[kind] += 1;
        }
    }
    assert!(tried.iter().all(|tried| *tried > 10), "{tried:?}");
}

#[test]
fn a_forecast_made_after_its_reward_is_found() {
    let mut found = 0;
    for (seed, disk) in logs().take(40) {
        let all = events(&disk);
        // The first settled decision moves behind a later outcome: its forecast would know that.
        let Some(rewarded) =
            all.iter().position(|(_, event)| matches!(event, Event::Rewarded { .. }))
        else {
            continue;
        };
        let knows = |event: &Event| match event {
            Event::Decided { forecasts: Some(own), .. } => own.steps != [0; 3],
            _ => false,
        };
        let Some(later) = (rewarded..all.len()).find(|at| knows(&all[*at].1)) else { continue };
        let (Event::Decided { forecasts, .. }, Some(first)) = (
            &all[later].1,
            all.iter().position(|(_, event)| matches!(event, Event::Decided { .. })),
        ) else {
            continue;
        };
        let mut lines = all.clone();
        if let Event::Decided { forecasts: own, .. } = &mut lines[first].1 {
            own.clone_from(forecasts);
        }
        let error = check_forecasts(&written(lines), u64::MAX).unwrap_err();
        assert!(matches!(error, LogError::Forecast { decision: 1, .. }), "log {seed}: {error}");
        found += 1;
    }
    assert!(found > 10, "{found}");
}
