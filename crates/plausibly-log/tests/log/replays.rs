//! Replays under another policy, and the check of recorded choices.

use super::{Memory, Plan, open, plan, play, policies, steady};
use plausibly::Ledger;
use plausibly_log::certificate::{Certificate, Grounds, Standing, Sums};
use plausibly_log::event::{Event, FORMAT};
use plausibly_log::journal::{Checkpoint, Journal, JournalError, read};
use plausibly_log::policy::{PolicyTable, read_policy};
use plausibly_log::recipe::{Context, Recipe};
use plausibly_log::state::{Occasion, State};
use plausibly_log::statistics::Statistics;
use plausibly_log::{Log, LogError, Opening, Replayed, Step, certificate, fold, replay, status};
use serde_json::Value;

/// A log as random play leaves it.
fn played(plan: &Plan) -> Memory {
    let disk = Memory::default();
    play(&mut open(&disk), plan);
    disk
}

/// The certificate of a decision, from the state alone.
fn of_own(step: &Step<'_>) -> Certificate {
    let Event::Decided { set, context, .. } = step.event else { panic!("no decision") };
    let occasion = Occasion {
        position: step.position(),
        at: "2026-11-16T08:30:00.000000Z".parse().unwrap(),
        set: *set,
        context,
        rows: None,
    };
    Certificate::new(step.state.grounds(&occasion, None).unwrap()).unwrap()
}

/// Sums of features with another ridge.
fn with_ridge(ledger: &Ledger, (moment, squares): (Vec<f64>, Vec<f64>), ridge: f64) -> Sums {
    let dim = ledger.dim();
    let mut gram: Vec<Vec<f64>> = ledger.gram().chunks(dim).map(<[f64]>::to_vec).collect();
    (0..dim).for_each(|i| gram[i][i] += ridge);
    let observations = ledger.observations();
    Sums { observations, gram, moment, plays: Vec::new(), squares }
}

/// The certificate of the same decision by another policy.
fn of_other(
    own: &Certificate,
    state: &State,
    policy: &PolicyTable,
    horizon: Option<u64>,
) -> Certificate {
    let setting = if state.recipe().is_arms() {
        plausibly::spec::Setting::Arms
    } else {
        plausibly::spec::Setting::Changing
    };
    let (mut spec, mut table) = read_policy(policy, setting, horizon, FORMAT).unwrap();
    if spec.has_natural_ridge() && !spec.is_bell() && !state.recipe().is_arms() {
        // A log keeps the ridge it began with.
        let mut policy = policy.clone();
        policy.insert("ridge".into(), state.policy().0.ridge().into());
        // A policy inside that leaves it open gets that of its insurance.
        let inside = policy.get_mut("inside").and_then(|inside| inside.as_object_mut());
        if let Some(inside) = inside.filter(|inside| inside["kind"] == "lin-ucb") {
            inside.entry("ridge").or_insert(state.policy().0.ridge().into());
        }
        (spec, table) = read_policy(&policy, setting, horizon, FORMAT).unwrap();
    }
    let mut grounds = Grounds { policy: table, horizon, ..own.grounds.clone() };
    if let Statistics::Features { settled, all, .. } = state.statistics() {
        let paid = (settled.moment(), vec![settled.reward_squares()]);
        grounds.statistics = with_ridge(settled, paid.clone(), spec.ridge());
        grounds.design = grounds.design.map(|_| with_ridge(all, paid.clone(), spec.ridge()));
    }
    if policy["kind"] != "elimination" {
        grounds.phase = None;
    }
    Certificate::new(grounds).unwrap()
}

fn compared(own: &Certificate, other: &Certificate) -> Replayed {
    let pairs = || own.findings.actions.iter().zip(&other.findings.actions);
    let named = |lost: bool| {
        let changed = pairs().filter(|(own, other)| {
            let racing = [own, other].map(|action| action.standing == Standing::Plausible);
            racing == [lost, !lost]
        });
        changed.map(|(own, _)| own.label.clone()).collect()
    };
    Replayed {
        decision: own.grounds.decision,
        chosen: own.findings.chosen.label.clone(),
        would_choose: other.findings.chosen.label.clone(),
        lost: named(true),
        gained: named(false),
        known_within: own.findings.known_within,
        would_be_known_within: other.findings.known_within,
    }
}

/// The replay by whole certificates, as it could be done by hand.
fn by_certificates(disk: &Memory, policy: &PolicyTable, horizon: Option<u64>) -> Vec<Replayed> {
    let mut all = Vec::new();
    let visit = |step: &Step<'_>| {
        if let Event::Decided { .. } = step.event {
            let own = of_own(step);
            let horizon = horizon.or(step.state.horizon());
            all.push(compared(&own, &of_other(&own, step.state, policy, horizon)));
        }
        Ok(())
    };
    fold(disk, visit).unwrap();
    all
}

/// Whether a policy can only replace itself in a replay.
fn remembers(policy: &PolicyTable) -> bool {
    policy["kind"] == "elimination" || policy["kind"] == "explore-then-commit"
}

/// Whether the radius needs more than the sums that every log has.
fn needs_more(policy: &PolicyTable) -> bool {
    let needs = |radius: &Value| radius["kind"] == "bell" || radius["kind"] == "logistic";
    policy.get("radius").is_some_and(needs)
}

#[test]
fn a_replay_says_what_two_certificates_a_decision_say() {
    let mut decisions = 0;
    for seed in 0..120 {
        let plan = if seed % 12 == 0 { steady(seed, 200) } else { plan(seed, (8, 12), 40) };
        let disk = played(&plan);
        let mut others = policies(plan.columns == 0);
        // What that radius needs beside the sums is in the grounds of such a log alone.
        others.retain(|other| !remembers(other) && !needs_more(other));
        others.rotate_left(usize::try_from(seed).unwrap() % 7);
        others.truncate(if needs_more(&plan.policy) { 0 } else { 3 });
        others.push(plan.policy.clone());
        for other in others {
            let mut all = Vec::new();
            let looked = replay(&disk, &other, Some(70), |replayed| all.push(replayed)).unwrap();
            assert_eq!(all, by_certificates(&disk, &other, Some(70)), "{other:?} in {plan:?}");
            assert_eq!(looked, all.len() as u64);
            decisions += looked;
        }
    }
    assert!(decisions > 5_000, "{decisions}");
}

/// The same lines with events changed by `change`, and right hashes.
fn rehashed(disk: &Memory, mut change: impl FnMut(&mut Event)) -> Memory {
    let mut bodies = Vec::new();
    read(disk, &Checkpoint::START, |entry| {
        let mut event: Event = serde_json::from_str(entry.body).unwrap();
        change(&mut event);
        bodies.push((entry.at_us, serde_json::to_string(&event).unwrap()));
        Ok::<(), JournalError>(())
    })
    .unwrap();
    let forged = Memory::default();
    let mut journal = Journal::open(forged.clone()).unwrap();
    for (at_us, body) in &bodies {
        journal.append(*at_us, &[body]).unwrap();
    }
    forged
}

const NAMES: [&str; 4] = ["a", "b", "c", "d"];

/// Thirty decisions among four arms.
fn thirty() -> (Memory, PolicyTable) {
    let table = plausibly_log::table::Table::read(&b"name\na\nb\nc\nd\n"[..]).unwrap();
    let table = table.with_label(Some("name")).unwrap();
    let (disk, policy) = (Memory::default(), policies(true)[0].clone());
    let mut log: Log<Memory> = open(&disk);
    let recipe = Recipe::infer(&table, &Context::default()).unwrap();
    let opening = Opening { policy: policy.clone(), ..Opening::new(recipe, (0.0, 1.0), 1) };
    log.begin(1, opening).unwrap();
    for decision in 1..=30 {
        log.decide(2, &table, &Context::default(), 10).unwrap();
        log.reward(3, decision, 0.125 * (decision % 5) as f64).unwrap();
    }
    (disk, policy)
}

/// How many recorded choices do not follow, by a certificate for each.
fn differing(disk: &Memory) -> u64 {
    let mut differing = 0;
    let visit = |step: &Step<'_>| {
        if let Event::Decided { chosen, .. } = step.event {
            differing += u64::from(of_own(step).findings.chosen.id != *chosen);
        }
        Ok(())
    };
    fold(disk, visit).unwrap();
    differing
}

#[test]
fn choices_that_were_changed_are_found_wherever_they_are_shown() {
    let (disk, policy) = thirty();
    let looked_at = status(&disk, 5, 200).unwrap();
    assert_eq!((looked_at.checked, looked_at.decisions), (30, 30));
    assert_eq!(replay(&disk, &policy, None, |_| ()).unwrap(), 30);
    for from in [1, 7, 30] {
        let forged = rehashed(&disk, |event| {
            if let Event::Decided { decision, chosen, label, .. } = event
                && *decision >= from
            {
                *chosen = (*chosen + 1) % 4;
                *label = NAMES[usize::try_from(*chosen).unwrap()].into();
            }
        });
        assert!(fold(&forged, |_| Ok(())).is_ok(), "as events they follow");
        let expected = differing(&forged);
        for error in [
            replay(&forged, &policy, None, |_| ()).unwrap_err(),
            status(&forged, 5, 200).unwrap_err(),
        ] {
            let LogError::Choice { first, differing, checked } = &error else { panic!("{error}") };
            assert_eq!((first.decision, *differing, *checked), (from, expected, 30), "{error}");
            let text = format!("{expected} of 30 recorded choices compared do not follow");
            assert!(error.to_string().contains(&text), "{error}");
            let line = format!("line {} records that decision {from} chose", first.seq);
            assert!(error.to_string().starts_with(&line), "{error}");
        }
        let error = certificate(&forged, from, 10).unwrap_err().to_string();
        assert!(error.contains("follows from the lines before it: the log was changed"), "{error}");
    }
}

#[test]
fn a_status_with_few_looks_back_says_how_many_choices_it_checked() {
    let (disk, _) = thirty();
    let found = status(&disk, 5, 5).unwrap();
    assert_eq!(found.checked, found.history.len() as u64);
    assert!(!found.complete && found.checked < 10, "{}", found.checked);
}
