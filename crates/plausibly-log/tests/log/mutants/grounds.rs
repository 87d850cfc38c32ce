//! Forged grounds, which differ from those of the log.

use super::{Forgery, any, nudged};
use plausibly_log::certificate::Phase;

/// Forges the grounds and derives the findings again, so that only the log shows the forgery.
pub(super) const GROUNDS: [Forgery; 36] = [
    Forgery {
        name: "the statistics",
        alone: false,
        forge: |c, rng| {
            // Changes by a unit of the grid, so that the sums stay possible.
            let Some(entry) = any(&mut c.grounds.statistics.moment, rng) else { return false };
            *entry /= 2.0;
            *entry != 0.0
        },
    },
    Forgery {
        name: "the squares of rewards",
        alone: false,
        forge: |c, rng| {
            // Towards the most that rewards can have, so that the sums stay possible.
            let plays = c.grounds.statistics.plays.clone();
            let at = rng.index(c.grounds.statistics.squares.len());
            let squares = &mut c.grounds.statistics.squares[at];
            let most = plays.get(at).map_or(2.0 * *squares + 1.0, |plays| 0.25 * *plays as f64);
            let before = *squares;
            *squares += 0.5 * (most - *squares);
            squares.to_bits() != before.to_bits()
        },
    },
    Forgery {
        name: "how pairs share δ",
        alone: false,
        forge: |c, _| {
            let Some(sharing) = &mut c.grounds.pairs_sharing else { return false };
            if sharing.changed {
                sharing.ever += 1;
                sharing.ever <= c.grounds.log.seq
            } else {
                sharing.changed = true;
                true
            }
        },
    },
    Forgery {
        name: "the sum over forecasts",
        alone: false,
        forge: |c, _| {
            // Upwards, so that it stays possible.
            let Some(forecasts) = &mut c.grounds.forecasts else { return false };
            forecasts.sum += 1.0 / (1_u64 << 48) as f64;
            true
        },
    },
    Forgery {
        name: "the errors of candidates",
        alone: false,
        forge: |c, _| {
            let Some(forecasts) = &mut c.grounds.forecasts else { return false };
            forecasts.errors.swap(0, 2);
            forecasts.errors[0].to_bits() != forecasts.errors[2].to_bits()
        },
    },
    Forgery {
        name: "what an action has paid",
        alone: false,
        forge: |c, rng| {
            let Some(earned) = any(&mut c.grounds.earned, rng) else { return false };
            earned.paid /= 2.0;
            earned.paid != 0.0
        },
    },
    Forgery {
        name: "outcomes that were taken back",
        alone: false,
        forge: |c, _| {
            let amended = &mut c.grounds.amended;
            let none = amended.retracted == 0;
            amended.retracted = 0;
            !none
        },
    },
    Forgery {
        name: "whether outcomes are counts",
        alone: false,
        forge: |c, _| {
            // A log without counts settles each decision once.
            let bounded = c.grounds.statistics.observations < c.grounds.decision;
            c.grounds.counted = !c.grounds.counted;
            c.grounds.format >= 2 && bounded && c.grounds.design.is_none()
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
            for sums in [
                Some(&mut c.grounds.statistics),
                c.grounds.design.as_mut(),
                c.grounds.committed.as_mut(),
            ]
            .into_iter()
            .flatten()
            {
                if !sums.plays.is_empty() {
                    sums.plays.remove(at);
                    sums.moment.remove(at);
                    sums.squares.remove(at);
                }
            }
            true
        },
    },
    Forgery {
        name: "a feature",
        alone: false,
        forge: |c, rng| {
            let Some(feature) =
                any(&mut c.grounds.actions, rng).and_then(|a| any(&mut a.features, rng))
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
        name: "the bound on the parameters",
        alone: false,
        forge: |c, _| {
            c.grounds.theta_norm_bound *= 2.0;
            true
        },
    },
    Forgery {
        name: "whether vectors are as they were given",
        alone: false,
        forge: |c, _| {
            c.grounds.as_given = !c.grounds.as_given;
            !c.grounds.features.is_empty()
        },
    },
    Forgery {
        name: "plays of the phase",
        alone: false,
        forge: |c, rng| {
            let plays = c.grounds.phase.as_mut().and_then(|phase| any(&mut phase.plays, rng));
            let Some(plays) = plays else { return false };
            if rng.uniform() < 0.5 && plays.settled < plays.taken {
                plays.taken -= 1;
            } else {
                plays.taken += 1;
            }
            plays.taken > 0
        },
    },
    Forgery {
        name: "what plays of the phase paid",
        alone: false,
        forge: |c, rng| {
            let plays = c.grounds.phase.as_mut().and_then(|phase| any(&mut phase.plays, rng));
            let plays = plays.filter(|plays| plays.settled > 0);
            nudged(plays.map(|plays| &mut plays.paid), rng)
        },
    },
    Forgery {
        name: "rewards of the phase",
        alone: false,
        forge: |c, rng| {
            let plays = c.grounds.phase.as_mut().and_then(|phase| any(&mut phase.plays, rng));
            let Some(plays) = plays.filter(|plays| plays.settled > 1) else { return false };
            plays.settled -= 1;
            true
        },
    },
    Forgery {
        name: "the number of the phase",
        alone: false,
        forge: |c, _| {
            let Some(phase) = c.grounds.phase.as_mut().filter(|phase| phase.number > 1) else {
                return false;
            };
            phase.number += 1;
            true
        },
    },
    Forgery {
        name: "the phase before",
        alone: false,
        forge: |c, rng| {
            let Some(frozen) = c.grounds.phase.as_mut().and_then(|phase| phase.frozen.as_mut())
            else {
                return false;
            };
            match rng.index(3) {
                0 => nudged(any(&mut frozen.plays, rng).map(|plays| &mut plays.paid), rng),
                1 => {
                    let Some(plays) = any(&mut frozen.plays, rng) else { return false };
                    (plays.taken, plays.settled) = (plays.taken + 1, plays.settled + 1);
                    true
                }
                _ => {
                    frozen.survivors.pop();
                    true
                }
            }
        },
    },
    Forgery {
        name: "all phases before",
        alone: false,
        forge: |c, _| {
            let all = c.grounds.actions.iter().map(|action| action.id).collect();
            let Some(phase) = c.grounds.phase.as_mut().filter(|_| c.grounds.unlisted.is_none())
            else {
                return false;
            };
            let fresh = Phase { number: 1, survivors: all, plays: Vec::new(), frozen: None };
            let forged = *phase != fresh;
            *phase = fresh;
            forged
        },
    },
    Forgery {
        name: "the coordinates of a bell curve",
        alone: false,
        forge: |c, rng| {
            let Some(bell) = &mut c.grounds.bell else { return false };
            let at = rng.index(bell.inside.len().max(1));
            let diagonal = bell.inside.get_mut(at).map(|row| &mut row[at]);
            diagonal.is_some_and(|entry| {
                *entry += 1.0;
                true
            })
        },
    },
    Forgery {
        name: "which values outcomes had",
        alone: false,
        forge: |c, rng| {
            let values = c.grounds.bell.as_mut().map(|bell| &mut bell.values);
            nudged(values.and_then(|values| any(values, rng)), rng)
        },
    },
    Forgery {
        name: "an arm not on offer left out",
        alone: false,
        forge: |c, _| {
            let listed: Vec<u64> = c.grounds.actions.iter().map(|action| action.id).collect();
            let Some(bell) = &mut c.grounds.bell else { return false };
            let Some(at) = bell.arms.iter().position(|arm| !listed.contains(&arm.id)) else {
                return false;
            };
            let gone = bell.arms.remove(at);
            c.grounds.statistics.observations -= gone.plays;
            true
        },
    },
    Forgery {
        name: "an outcome of a row more",
        alone: false,
        forge: |c, rng| {
            let Some(glm) = &mut c.grounds.glm else { return false };
            let Some(row) = any(&mut glm.rows, rng).filter(|row| row.plays > 0) else {
                return false;
            };
            row.plays += 1;
            c.grounds.statistics.observations += 1;
            if let Some(design) = &mut c.grounds.design {
                design.observations += 1;
            }
            true
        },
    },
    Forgery {
        name: "a yes of a row more",
        alone: false,
        forge: |c, rng| {
            let Some(glm) = &mut c.grounds.glm else { return false };
            let row = any(&mut glm.rows, rng);
            let Some(row) = row.filter(|row| row.paid + 1.0 <= row.plays as f64) else {
                return false;
            };
            (row.paid, row.squares) = (row.paid + 1.0, row.squares + 1.0);
            true
        },
    },
    Forgery {
        name: "a pending decision of another row",
        alone: false,
        forge: |c, _| {
            let Some(glm) = &mut c.grounds.glm else { return false };
            let from = glm.rows.iter().position(|row| row.pending > 0 && row.plays > 0);
            let Some(from) = from.filter(|_| glm.rows.len() > 1) else { return false };
            glm.rows[from].pending -= 1;
            let to = (from + 1) % glm.rows.len();
            glm.rows[to].pending += 1;
            true
        },
    },
    Forgery {
        name: "the point of rates",
        alone: false,
        forge: |c, rng| {
            let settled = c.grounds.statistics.observations;
            let Some(glm) = &mut c.grounds.glm else { return false };
            let Some(entry) = any(&mut glm.point, rng).filter(|_| settled > 0) else {
                return false;
            };
            *entry += [2.0_f64.powi(-30), 0.5, 20.0][rng.index(3)].copysign(rng.uniform() - 0.5);
            true
        },
    },
    Forgery {
        name: "the precision of rates",
        alone: false,
        forge: |c, rng| {
            let precision = c.grounds.glm.as_mut().map(|glm| &mut glm.precision);
            precision.is_some_and(|precision| {
                *precision *= [0.5, 1.001, 3.0][rng.index(3)];
                true
            })
        },
    },
    Forgery {
        name: "what odds can be",
        alone: false,
        forge: |c, _| {
            let radius = c.grounds.policy.get_mut("radius").filter(|own| own["kind"] == "logistic");
            let Some(radius) = radius.and_then(|radius| radius.as_object_mut()) else {
                return false;
            };
            if !radius.contains_key("factor") || c.grounds.policy["kind"] == "insured" {
                return false;
            }
            let radius = c.grounds.policy["radius"].as_object_mut().unwrap();
            radius.insert("factor".into(), 7.0.into());
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
