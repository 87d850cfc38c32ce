//! Forged findings, which do not follow from the grounds.

use super::{Forgery, any, nudged};
use plausibly_log::certificate::{Alarm, BudgetFinding, Comparison, Reason, RuledOut, Standing};

/// Forges statements. All of them follow from the grounds, so no log is needed to find the forgery.
pub(super) const FINDINGS: [Forgery; 34] = [
    Forgery {
        name: "an estimate",
        alone: true,
        forge: |c, rng| {
            nudged(any(&mut c.findings.actions, rng).and_then(|a| a.mean.as_mut()), rng)
        },
    },
    Forgery {
        name: "an estimate on the scale of odds",
        alone: true,
        forge: |c, rng| {
            nudged(any(&mut c.findings.actions, rng).and_then(|a| a.moved.as_mut()), rng)
        },
    },
    Forgery {
        name: "a part of the budget",
        alone: true,
        forge: |c, rng| {
            let Some(own) = &mut c.findings.likelihood else { return false };
            let BudgetFinding { confidence, evidence, distance, rounding } = &mut own.budget;
            let part = rng.index(4);
            nudged([confidence, evidence, distance, rounding].into_iter().nth(part), rng)
        },
    },
    Forgery {
        name: "what is usual, S or δ of rates",
        alone: true,
        forge: |c, rng| {
            let Some(own) = &mut c.findings.likelihood else { return false };
            let part = rng.index(3);
            let parts = [&mut own.offset, &mut own.theta_norm_bound, &mut own.delta];
            nudged(parts.into_iter().nth(part), rng)
        },
    },
    Forgery {
        name: "how far rates lean",
        alone: true,
        forge: |c, rng| {
            let own = c.findings.likelihood.as_mut();
            nudged(own.and_then(|own| own.leaning.as_mut()), rng)
        },
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
        forge: |c, rng| {
            nudged(any(&mut c.findings.actions, rng).and_then(|a| a.width.as_mut()), rng)
        },
    },
    Forgery {
        name: "a width with pending decisions",
        alone: true,
        forge: |c, rng| {
            nudged(any(&mut c.findings.actions, rng).and_then(|a| a.design_width.as_mut()), rng)
        },
    },
    Forgery {
        name: "who is in the race",
        alone: true,
        forge: |c, rng| {
            let id = c.findings.chosen.id;
            let Some(action) = any(&mut c.findings.actions, rng) else { return false };
            action.standing = match action.standing {
                Standing::Plausible => Standing::RuledOut(RuledOut {
                    by: id,
                    margin: None,
                    kind: Some(Comparison::Interval),
                    behind_by: Some((0.5, 0.75)),
                    evidence: None,
                    needed: None,
                }),
                Standing::RuledOut(_) => Standing::Plausible,
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
                if let Standing::RuledOut(RuledOut { by, .. }) = &mut action.standing {
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
            let margins =
                c.findings.actions.iter_mut().filter_map(|action| match &mut action.standing {
                    Standing::RuledOut(RuledOut { behind_by: Some((at_least, _)), .. }) => {
                        Some(at_least)
                    }
                    Standing::RuledOut(RuledOut { evidence, .. }) => evidence.as_mut(),
                    Standing::Plausible => None,
                });
            nudged(margins.last(), rng)
        },
    },
    Forgery {
        name: "by how much at most",
        alone: true,
        forge: |c, rng| {
            let ends =
                c.findings.actions.iter_mut().filter_map(|action| match &mut action.standing {
                    Standing::RuledOut(RuledOut { behind_by: Some((_, at_most)), .. }) => {
                        Some(at_most)
                    }
                    _ => None,
                });
            nudged(ends.last(), rng)
        },
    },
    Forgery {
        name: "the evidence that was needed",
        alone: true,
        forge: |c, rng| {
            let all =
                c.findings.actions.iter_mut().filter_map(|action| match &mut action.standing {
                    Standing::RuledOut(RuledOut { needed, .. }) => needed.as_mut(),
                    Standing::Plausible => None,
                });
            nudged(all.last(), rng)
        },
    },
    Forgery {
        name: "what was compared",
        alone: true,
        forge: |c, _| {
            let mut all = c.findings.actions.iter_mut().filter_map(|one| match &mut one.standing {
                Standing::RuledOut(RuledOut { kind, .. }) => kind.as_mut(),
                Standing::Plausible => None,
            });
            let Some(kind) = all.next() else { return false };
            *kind = match kind {
                Comparison::Difference => Comparison::Pair,
                Comparison::Pair => Comparison::Interval,
                Comparison::Interval => Comparison::Difference,
            };
            true
        },
    },
    Forgery {
        name: "an outlook",
        alone: true,
        forge: |c, _| {
            let Some(outlook) = &mut c.findings.outlook else { return false };
            outlook.outcomes += 1;
            true
        },
    },
    Forgery {
        name: "an alarm",
        alone: true,
        forge: |c, _| {
            c.findings.alarm = match c.findings.alarm {
                None => Some(Alarm::Noise { declared: 0.1, suggested: 0.2 }),
                Some(_) => None,
            };
            true
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
            // Where the grounds state the choice, repeating it is another forgery.
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
            c.findings.chosen.propensity =
                Some(c.findings.chosen.propensity.map_or(0.5, |p| p / 2.0));
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
        forge: |c, rng| {
            nudged(any(&mut c.findings.chosen.directions, rng).map(|d| &mut d.share), rng)
        },
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
                return nudged(c.findings.sqrt_beta.as_mut(), rng);
            }
            c.findings.confidence =
                Some(c.findings.confidence.map_or(0.95, |p| 1.0 - (1.0 - p) / 2.0));
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
        name: "which part of an insured policy decided",
        alone: true,
        forge: |c, _| {
            let Some(insurance) = &mut c.findings.insurance else { return false };
            insurance.explored = !insurance.explored;
            true
        },
    },
    Forgery {
        name: "the width that made it explore",
        alone: true,
        forge: |c, rng| {
            let insurance = c.findings.insurance.as_mut();
            nudged(insurance.and_then(|insurance| insurance.widest.as_mut()), rng)
        },
    },
    Forgery {
        name: "a forecast",
        alone: true,
        forge: |c, rng| {
            let Some(forecasts) = &mut c.findings.chosen.forecasts else { return false };
            forecasts.steps[rng.index(3)] += 1;
            true
        },
    },
    Forgery {
        name: "which forecast counts",
        alone: true,
        forge: |c, _| {
            let Some(forecasts) = &mut c.findings.chosen.forecasts else { return false };
            forecasts.counts = (forecasts.counts + 1) % 3;
            true
        },
    },
    Forgery {
        name: "what is left to be played",
        alone: true,
        forge: |c, _| {
            let Some(left) = &mut c.findings.plays_left else { return false };
            *left += 1;
            true
        },
    },
    Forgery {
        // They are grounds, and follow from others.
        name: "who survives",
        alone: true,
        forge: |c, _| {
            let all: Vec<u64> = c.grounds.actions.iter().map(|action| action.id).collect();
            let Some(phase) = c.grounds.phase.as_mut().filter(|_| c.grounds.unlisted.is_none())
            else {
                return false;
            };
            if phase.survivors.len() == all.len() {
                phase.survivors.pop();
            } else {
                phase.survivors = all;
            }
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
