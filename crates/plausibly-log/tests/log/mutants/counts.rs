//! Counts that no log can have: a certificate with them is refused without the log.

use super::super::{Memory, open, plan, play, steady};
use plausibly_log::certificate::{Certificate, Grounds};

/// An impossible count: its name, its path, and how to write it into grounds; `false` if the
/// grounds have no such count.
struct Impossible {
    name: &'static str,
    found_at: &'static str,
    write: fn(&mut Grounds) -> bool,
}

/// Half of the range of 64 bits: two of these wrap to zero.
const HALF: u64 = 1 << 63;

const COUNTS: [Impossible; 13] = [
    Impossible {
        name: "a hash that is none",
        found_at: "grounds.log.hash: ",
        write: |grounds| {
            grounds.log.hash = "g".repeat(64);
            true
        },
    },
    Impossible {
        name: "a digest that is none",
        found_at: "grounds.digest: ",
        write: |grounds| {
            grounds.digest.clear();
            true
        },
    },
    Impossible {
        name: "a day that is none",
        found_at: "grounds.at: ",
        write: |grounds| {
            grounds.at.replace_range(5..10, "13-41");
            true
        },
    },
    Impossible {
        name: "a decision before the first",
        found_at: "grounds.decision: ",
        write: |grounds| {
            grounds.decision = 0;
            true
        },
    },
    Impossible {
        name: "a decision after the last line",
        found_at: "grounds.decision: ",
        write: |grounds| {
            grounds.decision = grounds.log.seq + 1;
            true
        },
    },
    Impossible {
        name: "more lines than a log has",
        found_at: "grounds.log.seq: ",
        write: |grounds| {
            grounds.log.seq = u64::MAX;
            true
        },
    },
    Impossible {
        name: "outcomes without decisions",
        found_at: "grounds.statistics.observations: ",
        write: |grounds| {
            grounds.statistics.observations = grounds.decision;
            grounds.design = None;
            // A decision with a count has many outcomes.
            !grounds.counted
        },
    },
    Impossible {
        name: "outcomes that wrap with those looked for",
        found_at: "grounds.statistics.observations: ",
        write: |grounds| {
            grounds.statistics.observations = u64::MAX;
            grounds.design = None;
            true
        },
    },
    Impossible {
        name: "pending decisions that were never taken",
        found_at: "grounds.design.observations: ",
        write: |grounds| {
            let (decision, counted) = (grounds.decision, grounds.counted);
            grounds.design.as_mut().is_some_and(|design| {
                design.observations = decision;
                !counted
            })
        },
    },
    Impossible {
        name: "plays whose sum wraps",
        found_at: "grounds.statistics: ",
        write: |grounds| match grounds.statistics.plays.as_mut_slice() {
            [first, second, ..] => {
                (*first, *second) = (first.wrapping_add(HALF), second.wrapping_add(HALF));
                true
            }
            _ => false,
        },
    },
    Impossible {
        name: "plays of a phase whose sum wraps",
        found_at: "grounds.phase.plays: ",
        write: |grounds| match grounds.phase.as_mut().map(|phase| phase.plays.as_mut_slice()) {
            Some([first, second, ..]) => {
                (first.taken, second.taken) =
                    (first.taken.wrapping_add(HALF), second.taken.wrapping_add(HALF));
                true
            }
            _ => false,
        },
    },
    Impossible {
        name: "unlisted actions that wrap with those listed",
        found_at: "grounds.unlisted.actions: ",
        write: |grounds| {
            grounds.unlisted.as_mut().is_some_and(|unlisted| {
                unlisted.actions = u64::MAX;
                true
            })
        },
    },
    Impossible {
        name: "more unlisted in the race than unlisted",
        found_at: "grounds.unlisted.plausible: ",
        write: |grounds| {
            grounds.unlisted.as_mut().is_some_and(|unlisted| {
                unlisted.plausible = unlisted.actions + 1;
                true
            })
        },
    },
];

#[test]
fn counts_that_no_log_has_are_found_in_a_certificate_alone() {
    let mut tried = [0; COUNTS.len()];
    for seed in 0..180 {
        let plan = if seed % 6 == 0 { steady(seed, 60) } else { plan(seed, (6, 12), 20) };
        for genuine in play(&mut open(&Memory::default()), &plan).into_iter().rev().take(3) {
            for (impossible, tried) in COUNTS.iter().zip(&mut tried) {
                let mut grounds = genuine.grounds.clone();
                if !(impossible.write)(&mut grounds) {
                    continue;
                }
                let refusal =
                    Certificate::new(grounds.clone()).expect_err(impossible.name).to_string();
                assert!(refusal.starts_with(impossible.found_at), "{}: {refusal}", impossible.name);
                // The check refuses it too, whatever its findings say.
                let mut forged = Certificate { grounds, ..genuine.clone() };
                forged.seal = forged.expected_seal();
                assert_eq!(forged.check().unwrap_err().to_string(), refusal);
                *tried += 1;
            }
        }
    }
    for (impossible, tried) in COUNTS.iter().zip(tried) {
        assert!(tried > 0, "never tried: {}", impossible.name);
    }
}
