//! Forged certificates, sealed anew: what contradicts the grounds is found without the log, and what is wrong with the grounds with it.

use super::{Memory, open, plan, play};
use crate::log::certificates::from_log;
use plausibly::Stream;
use plausibly_log::certificate::{Certificate, Reason, Standing};

/// Something to forge: its name, whether a certificate alone gives it away, and how it is done; `false` if this certificate has nothing of the kind.
struct Forgery {
    name: &'static str,
    alone: bool,
    forge: fn(&mut Certificate, &mut Stream) -> bool,
}

fn nudge(value: &mut f64, rng: &mut Stream) {
    // From a unit in the last place to a whole.
    *value += [f64::EPSILON * value.abs().max(f64::MIN_POSITIVE), 1e-9, 0.01, 1.0][rng.index(4)]
        .copysign(rng.uniform() - 0.5);
}

/// Changes a value that is there, by enough to be another number.
fn nudged(value: Option<&mut f64>, rng: &mut Stream) -> bool {
    let Some(value) = value else { return false };
    let before = *value;
    nudge(value, rng);
    value.to_bits() != before.to_bits()
}

fn any<'a, T>(items: &'a mut [T], rng: &mut Stream) -> Option<&'a mut T> {
    if items.is_empty() {
        return None;
    }
    let at = rng.index(items.len());
    items.get_mut(at)
}

/// What a certificate says: all of this follows from its grounds, so no log is needed.
const FINDINGS: [Forgery; 19] = [
    Forgery {
        name: "an estimate",
        alone: true,
        forge: |c, rng| nudged(any(&mut c.findings.actions, rng).and_then(|a| a.mean.as_mut()), rng),
    },
    Forgery {
        name: "a lower bound",
        alone: true,
        forge: |c, rng| nudged(any(&mut c.findings.actions, rng).map(|a| &mut a.lower), rng),
    },
    Forgery {
        name: "an upper bound",
        alone: true,
        forge: |c, rng| nudged(any(&mut c.findings.actions, rng).map(|a| &mut a.upper), rng),
    },
    Forgery {
        name: "a width",
        alone: true,
        forge: |c, rng| nudged(any(&mut c.findings.actions, rng).and_then(|a| a.width.as_mut()), rng),
    },
    Forgery {
        name: "a width with pending decisions",
        alone: true,
        forge: |c, rng| nudged(any(&mut c.findings.actions, rng).and_then(|a| a.design_width.as_mut()), rng),
    },
    Forgery {
        name: "who is in the race",
        alone: true,
        forge: |c, rng| {
            let id = c.findings.chosen.id;
            let Some(action) = any(&mut c.findings.actions, rng) else { return false };
            action.standing = match action.standing {
                Standing::Plausible => Standing::RuledOut { by: id, margin: 0.5 },
                Standing::RuledOut { .. } => Standing::Plausible,
            };
            true
        },
    },
    Forgery {
        name: "who rules out",
        alone: true,
        forge: |c, _| {
            let ids: Vec<u64> = c.findings.actions.iter().map(|a| a.id).collect();
            for action in &mut c.findings.actions {
                if let Standing::RuledOut { by, .. } = &mut action.standing {
                    *by = ids.iter().copied().find(|id| id != by).unwrap();
                    return true;
                }
            }
            false
        },
    },
    Forgery {
        name: "by how much",
        alone: true,
        forge: |c, rng| {
            let margins = c.findings.actions.iter_mut().filter_map(|action| match &mut action.standing {
                Standing::RuledOut { margin, .. } => Some(margin),
                Standing::Plausible => None,
            });
            nudged(margins.last(), rng)
        },
    },
    Forgery {
        name: "a rank",
        alone: true,
        forge: |c, rng| {
            let Some(action) = any(&mut c.findings.actions, rng) else { return false };
            action.rank = Some(action.rank.map_or(1, |rank| rank + 1));
            true
        },
    },
    Forgery {
        name: "what was chosen",
        alone: true,
        forge: |c, _| {
            // Where the choice is stated and does not follow, saying it twice is another forgery.
            let other = c.findings.actions.iter().find(|a| a.id != c.findings.chosen.id);
            let Some(other) = other.map(|a| (a.id, a.label.clone())) else { return false };
            (c.findings.chosen.id, c.findings.chosen.label) = other;
            true
        },
    },
    Forgery {
        name: "why it was chosen",
        alone: true,
        forge: |c, _| {
            let other = if c.findings.chosen.reason == Reason::LargestUpper {
                Reason::LeastKnown
            } else {
                Reason::LargestUpper
            };
            c.findings.chosen.reason = other;
            true
        },
    },
    Forgery {
        name: "a propensity",
        alone: true,
        forge: |c, _| {
            c.findings.chosen.propensity = Some(c.findings.chosen.propensity.map_or(0.5, |p| p / 2.0));
            true
        },
    },
    Forgery {
        name: "the gain",
        alone: true,
        forge: |c, rng| nudged(c.findings.chosen.log_det_gain.as_mut(), rng),
    },
    Forgery {
        name: "what would rule it out",
        alone: true,
        forge: |c, rng| match &mut c.findings.chosen.rule_out {
            Some(change) if rng.uniform() < 0.5 => nudged(change.shift.as_mut(), rng),
            Some(change) => {
                change.observations = Some(change.observations.map_or(3, |n| n + 1));
                true
            }
            None => false,
        },
    },
    Forgery {
        name: "where the uncertainty lies",
        alone: true,
        forge: |c, rng| nudged(any(&mut c.findings.chosen.directions, rng).map(|d| &mut d.share), rng),
    },
    Forgery {
        name: "the bound on the model error",
        alone: true,
        forge: |c, rng| {
            if rng.uniform() < 0.5 {
                nudged(c.findings.model_error_bound.as_mut(), rng)
            } else {
                nudged(c.findings.known_within.as_mut(), rng)
            }
        },
    },
    Forgery {
        name: "how sure",
        alone: true,
        forge: |c, rng| {
            if rng.uniform() < 0.5 {
                return nudged(Some(&mut c.findings.sqrt_beta), rng);
            }
            c.findings.confidence = Some(c.findings.confidence.map_or(0.95, |p| 1.0 - (1.0 - p) / 2.0));
            true
        },
    },
    Forgery {
        name: "whether the target is met",
        alone: true,
        forge: |c, _| {
            let Some(target) = &mut c.findings.target else { return false };
            target.met = !target.met;
            true
        },
    },
    Forgery {
        name: "how many are in the race",
        alone: true,
        forge: |c, _| {
            c.findings.plausible += 1;
            true
        },
    },
];

/// What a certificate rests on, with all that follows derived anew: only the log can tell.
const GROUNDS: [Forgery; 12] = [
    Forgery {
        name: "the statistics",
        alone: false,
        forge: |c, rng| {
            // A unit of the grid, so that what is left is possible.
            let Some(entry) = any(&mut c.grounds.statistics.moment, rng) else { return false };
            *entry /= 2.0;
            *entry != 0.0
        },
    },
    Forgery {
        name: "an observation more",
        alone: false,
        forge: |c, _| {
            c.grounds.statistics.observations += 1;
            if let Some(design) = &mut c.grounds.design {
                design.observations += 1;
            }
            true
        },
    },
    Forgery {
        name: "pending decisions left out",
        alone: false,
        forge: |c, _| c.grounds.design.take().is_some(),
    },
    Forgery {
        name: "an action left out",
        alone: false,
        forge: |c, rng| {
            let chosen = c.findings.chosen.id;
            let at = rng.index(c.grounds.actions.len());
            if c.grounds.actions.len() < 3 || c.grounds.actions[at].id == chosen {
                return false;
            }
            c.grounds.actions.remove(at);
            for sums in
                [Some(&mut c.grounds.statistics), c.grounds.design.as_mut(), c.grounds.committed.as_mut()]
                    .into_iter()
                    .flatten()
            {
                if !sums.plays.is_empty() {
                    sums.plays.remove(at);
                    sums.moment.remove(at);
                }
            }
            true
        },
    },
    Forgery {
        name: "a feature",
        alone: false,
        forge: |c, rng| {
            let Some(feature) = any(&mut c.grounds.actions, rng).and_then(|a| any(&mut a.features, rng))
            else {
                return false;
            };
            *feature += 1.0 / 1024.0;
            true
        },
    },
    Forgery {
        name: "a name",
        alone: false,
        forge: |c, rng| {
            let Some(action) = any(&mut c.grounds.actions, rng) else { return false };
            action.label.push('x');
            true
        },
    },
    Forgery {
        name: "the policy",
        alone: false,
        forge: |c, _| {
            c.grounds.policy.insert("label".into(), "another".into());
            true
        },
    },
    Forgery {
        name: "the range of rewards",
        alone: false,
        forge: |c, _| {
            c.grounds.reward_range.1 += 1.0;
            true
        },
    },
    Forgery {
        name: "the seed",
        alone: false,
        forge: |c, _| {
            c.grounds.seed ^= 1;
            true
        },
    },
    Forgery {
        name: "the time",
        alone: false,
        forge: |c, _| {
            c.grounds.at = c.grounds.at.replace("1970", "1971");
            true
        },
    },
    Forgery {
        name: "the place in the log",
        alone: false,
        forge: |c, rng| {
            if rng.uniform() < 0.5 {
                c.grounds.log.seq += 1;
            } else {
                c.grounds.log.hash = c.grounds.log.hash.replace('a', "b").replace('0', "1");
            }
            true
        },
    },
    Forgery {
        name: "the digest",
        alone: false,
        forge: |c, _| {
            c.grounds.digest = c.grounds.digest.chars().rev().collect();
            true
        },
    },
];

/// A forgery with its seal made anew and, if it is one of the grounds, all that follows from them; nothing if it leads to no certificate at all.
fn forged(genuine: &Certificate, forgery: &Forgery, rng: &mut Stream) -> Option<Certificate> {
    let mut forged = genuine.clone();
    if !(forgery.forge)(&mut forged, rng) {
        return None;
    }
    if !forgery.alone {
        forged = Certificate::new(forged.grounds).ok()?;
    }
    forged.seal = forged.expected_seal();
    (forged != *genuine).then_some(forged)
}

fn forgeries_are_found(count: usize, mut seed: u64, largest: (usize, usize)) {
    let all: Vec<&Forgery> = FINDINGS.iter().chain(&GROUNDS).collect();
    let mut found = vec![0_usize; all.len()];
    let mut total = 0;
    while total < count {
        let disk = Memory::default();
        let plan = plan(seed, largest, 40);
        play(&mut open(&disk), &plan);
        let mut rng = Stream::new(seed, 0, "forgery");
        for genuine in from_log(&disk, plan.most) {
            for (at, forgery) in all.iter().enumerate() {
                let Some(forged) = forged(&genuine, forgery, &mut rng) else { continue };
                let alone = forged.check();
                // The text is what travels: it must be found there as well.
                let travelled: Certificate = serde_json::from_str(&forged.to_json()).unwrap();
                assert_eq!(travelled.check(), alone, "{}", forgery.name);
                if forgery.alone {
                    assert!(alone.is_err(), "not found: {} in {plan:?}", forgery.name);
                } else {
                    assert_eq!(alone, Ok(()), "{}: what follows was derived anew", forgery.name);
                    assert!(
                        forged.check_against(&genuine).is_err(),
                        "not found with the log: {}",
                        forgery.name
                    );
                }
                found[at] += 1;
                total += 1;
            }
        }
        seed += 1;
    }
    for (forgery, found) in all.iter().zip(&found) {
        assert!(*found > 0, "never tried: {}", forgery.name);
    }
}

#[test]
fn forgeries_are_found_alone_or_with_the_log() {
    forgeries_are_found(3000, 50, (8, 20));
}

#[test]
fn a_broken_seal_is_found() {
    let disk = Memory::default();
    let plan = plan(3, (4, 6), 20);
    let genuine = play(&mut open(&disk), &plan).pop().unwrap();
    let mut broken = genuine.clone();
    broken.seal = broken.seal.replace(['0', '1', '2', '3'], "4");
    assert!(genuine.check().is_ok() && broken.check().unwrap_err().to_string().starts_with("seal"));
    let mut newer = genuine;
    newer.version += 1;
    assert!(newer.check().is_err());
}

mod full {
    #[test]
    fn forgeries_are_found_alone_or_with_the_log() {
        super::forgeries_are_found(10_000, 20_000, (30, 200));
    }
}
