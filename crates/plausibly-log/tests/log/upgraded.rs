//! Logs of format 1, and the logs of format 2 that continue them.

use super::{Memory, Plan, begin, open, plan, play, table};
use plausibly::{ConfidenceRadius, Evidence, Fixed, Quantised, Ridge, Stream};
use plausibly_log::certificate::{Certificate, Findings};
use plausibly_log::event::{Event, FIRST_FORMAT, FORMAT};
use plausibly_log::journal::{Checkpoint, Journal, JournalError, Storage as _, read};
use plausibly_log::state::State;
use plausibly_log::{
    AuditError, LineField, LogError, audit, certificate, check_upgrade, fold, replay, upgrade,
};
use std::io::{self, Write};
use std::path::Path;

/// A log of format 1 with a random history, and the certificates of its decisions; `None` if the
/// policy of the plan is one of format 2.
fn of_format_1(plan: &Plan) -> Option<(Memory, Vec<Certificate>)> {
    let (newer, old) = (Memory::default(), Memory::default());
    let mut rng = Stream::new(plan.seed, 0, "history");
    let first = table(&mut rng, plan, 0.0);
    begin(&mut open(&newer), plan, &first, &mut rng);
    let mut opened = bodies(&newer).remove(0).1;
    let Event::Opened { format, policy, assumed, growth, .. } = &mut opened else { panic!() };
    (*format, *assumed, *growth) = (FIRST_FORMAT, Vec::new(), None);
    policy.clone_from(&plan.policy);
    policy.remove("exclusion");
    // As format 1 wrote it, every field with its value.
    let state = State::open(&opened).ok()?;
    if let Event::Opened { policy, .. } = &mut opened {
        policy.clone_from(state.policy().1);
    }
    let mut journal = Journal::open(old.clone()).unwrap();
    journal.append(1_000_000, &[&serde_json::to_string(&opened).unwrap()]).unwrap();
    drop(journal);
    let certificates = play(&mut open(&old), plan);
    Some((old, certificates))
}

fn bodies(disk: &Memory) -> Vec<(i64, Event)> {
    let mut found = Vec::new();
    read(disk, &Checkpoint::START, |entry| {
        found.push((entry.at_us, serde_json::from_str(entry.body).unwrap()));
        Ok::<(), JournalError>(())
    })
    .unwrap();
    found
}

fn rewritten(events: &[(i64, Event)]) -> Memory {
    let disk = Memory::default();
    let mut journal = Journal::open(disk.clone()).unwrap();
    for (at, event) in events {
        journal.append(*at, &[&serde_json::to_string(event).unwrap()]).unwrap();
    }
    disk
}

fn upgraded(old: &Memory) -> Memory {
    let mut bytes = Vec::new();
    upgrade(old, 2_000_000, &mut bytes, Path::new("new.log")).unwrap();
    let mut new = Memory::default();
    new.append(&bytes).unwrap();
    new
}

/// The statements of a decision that do not depend on the names of lines.
fn statements(found: &Certificate) -> (Findings, String) {
    let mut grounds = found.grounds.clone();
    // A log is known by its first line, and sums over forecasts are part of the digest.
    grounds.log.id.clear();
    grounds.log.hash.clear();
    grounds.digest.clear();
    (found.findings.clone(), serde_json::to_string(&grounds).unwrap())
}

/// `√β` of the additive radius with the sums, λ and share of δ of a decision, and ten times as wide
/// a margin for its δ: what the forecast radius stays below.
fn net(found: &Certificate) -> Option<f64> {
    let grounds = &found.grounds;
    let radius = grounds.policy.get("radius")?;
    if radius["kind"] != "forecast" {
        return None;
    }
    let range = grounds.reward_range.1 - grounds.reward_range.0;
    let noise_scale =
        radius.get("noise_scale").map_or(0.5, |noise| noise.as_f64().unwrap() / range);
    let declared = radius.get("theta_norm_bound").map(|bound| bound.as_f64().unwrap());
    let declared = declared.map(|bound| if grounds.as_given { bound / range } else { bound });
    let theta_norm_bound = declared.unwrap_or(grounds.theta_norm_bound);
    let shares = if grounds.earned.is_empty() { 1.0 } else { 2.0 };
    let delta = radius["delta"].as_f64().unwrap() / shares;
    let (sums, dim) = (&grounds.statistics, grounds.features.len());
    let lambda = grounds.policy["ridge"].as_f64().unwrap();
    let ridge =
        Ridge::from_statistics(dim, lambda, &sums.gram.concat(), &sums.moment, sums.observations);
    let ridge = ridge.unwrap();
    let evidence: Evidence = plausibly::Estimator::evidence(&ridge);
    let additive = plausibly::Additive { delta, noise_scale, theta_norm_bound };
    let beta = additive.sqrt_beta(&evidence).powi(2) + 2.0 * noise_scale.powi(2) * 10_f64.ln();
    // What rounding to the grid adds: to β as the documentation of `Forecast` says, and the shift
    // of the estimate, which is that of a radius of zero.
    let n = sums.observations as f64;
    let error = (1.0 + (dim as f64).sqrt() * theta_norm_bound) / (1_u64 << 25) as f64;
    let farthest = grounds.reward_range.0.abs().max(grounds.reward_range.1.abs()) / range;
    let largest = if grounds.as_given { farthest } else { 0.5 };
    let beta = beta + 2.0 * (2.0 * largest * error + error * error) * n;
    let shift = Quantised { radius: Fixed { sqrt_beta: 0.0 }, theta_norm_bound };
    Some((beta.sqrt() + shift.sqrt_beta(&evidence)) * (1.0 + 1e-9))
}

/// The rules of format 1 have no forecasts, but the lines of an upgraded log do.
#[test]
fn a_forged_forecast_of_an_earlier_decision_is_named() {
    let mut tried = 0;
    for plan in (0..60).map(|seed| plan(seed, (8, 12), 40)) {
        let Some((old, _)) = of_format_1(&plan) else { continue };
        let mut events = bodies(&upgraded(&old));
        let has_forecasts =
            |event: &Event| matches!(event, Event::Decided { forecasts: Some(_), .. });
        let Some(at) = events.iter().rposition(|(_, event)| has_forecasts(event)) else { continue };
        if let Event::Decided { forecasts: Some(own), .. } = &mut events[at].1 {
            own.steps[0] += 1;
        }
        let Err(AuditError::Line(wrong)) = audit(&rewritten(&events)) else { panic!("{plan:?}") };
        assert_eq!((wrong.line, wrong.field), (at as u64 + 1, LineField::Forecasts), "{wrong}");
        tried += 1;
    }
    assert!(tried > 10, "{tried}");
}

/// The number of logs upgraded, and of later decisions by forecasts.
fn same_history_and_tighter_sets(seeds: std::ops::Range<u64>) -> (u32, u32) {
    let (mut logs, mut tighter) = (0, 0);
    for seed in seeds {
        let plan = plan(seed, (8, 12), 40);
        let Some((old, certificates)) = of_format_1(&plan) else { continue };
        logs += 1;
        let before = old.bytes();
        let new = upgraded(&old);
        assert_eq!(old.bytes(), before, "the old log is only read");
        check_upgrade(&old, &new).unwrap_or_else(|error| panic!("{error}: {plan:?}"));
        // Every earlier decision makes the same statements, derived from the new log.
        for one in &certificates {
            let again = certificate(&new, one.grounds.decision, plan.most).unwrap();
            again.check().unwrap();
            assert_eq!(statements(&again), statements(one), "{plan:?}");
        }
        // It goes on, is rebuilt to the bit, and each recorded choice follows by its rule.
        let mut log = open(&new);
        assert_eq!(log.state().unwrap().format(), FORMAT);
        let later = play(&mut log, &plan);
        let state = fold(&new, |_| Ok(())).unwrap().0.unwrap();
        assert_eq!(Some(&state), log.state());
        for log in [&old, &new] {
            audit(log).unwrap_or_else(|error| panic!("{error}: {plan:?}"));
        }
        let kind = state.policy().1["kind"].as_str().unwrap();
        if !["elimination", "explore-then-commit"].contains(&kind) {
            let checked = replay(&new, state.policy().1, None, |_| ()).unwrap();
            assert_eq!(checked, state.count_decisions(), "{plan:?}");
        }
        for one in &later {
            one.check().unwrap();
            assert_eq!(one.grounds.format, FORMAT);
            if let (Some(net), Some(sqrt_beta)) = (net(one), one.findings.sqrt_beta) {
                assert!(sqrt_beta <= net, "{sqrt_beta} above {net}: {plan:?}");
                tighter += 1;
            }
        }
    }
    (logs, tighter)
}

#[test]
fn an_upgraded_log_says_the_same_of_the_past_and_goes_on_with_tighter_sets() {
    let (logs, tighter) = same_history_and_tighter_sets(20_000..20_200);
    assert!(logs > 100 && tighter > 100);
}

mod full {
    #[test]
    fn a_thousand_logs_are_upgraded() {
        assert!(super::same_history_and_tighter_sets(30_000..32_400).0 >= 1000);
    }
}

/// A log with features, and what it becomes.
fn pair() -> (Memory, Memory) {
    let wanted = |plan: &Plan| plan.columns > 1 && plan.policy["kind"] == "code" && !plan.context;
    let old = (0..).map(|seed| plan(seed, (8, 12), 40)).filter(wanted).find_map(|plan| {
        let (old, taken) = of_format_1(&plan)?;
        (taken.len() > 8).then_some(old)
    });
    let old = old.unwrap();
    let new = upgraded(&old);
    (old, new)
}

#[test]
fn a_changed_line_of_an_upgraded_log_is_found() {
    let (old, new) = pair();
    let events = bodies(&new);
    let check = |events: &[(i64, Event)]| check_upgrade(&old, &rewritten(events));
    check(&events).unwrap();
    // One forecast, another outcome, a missing line.
    let mut forged = events.clone();
    let decided = forged.iter_mut().rev().find_map(|(_, event)| match event {
        Event::Decided { forecasts, .. } => Some(forecasts.as_mut().unwrap()),
        _ => None,
    });
    decided.unwrap().steps[1] += 1;
    assert!(matches!(check(&forged), Err(LogError::Forecast { .. })));
    let mut forged = events.clone();
    let rewarded = forged.iter_mut().rev().find_map(|(_, event)| match event {
        Event::Rewarded { reward, .. } => Some(reward),
        _ => None,
    });
    *rewarded.unwrap() += 0.125;
    let found = check(&forged).unwrap_err();
    // Outcomes that later forecasts rest on are found by these, too.
    assert!(matches!(found, LogError::Differs("decisions") | LogError::Forecast { .. }), "{found}");
    let last = events.len() - 2;
    assert!(check(&events[..last]).is_err());
}

#[test]
fn only_a_log_of_format_1_is_upgraded() {
    let (_, new) = pair();
    let again = upgrade(&new, 3_000_000, io::sink(), Path::new("again.log")).unwrap_err();
    assert_eq!(again.to_string(), "the log has format 2 already, so there is nothing to upgrade");
    let empty = upgrade(&Memory::default(), 1, io::sink(), Path::new("new.log")).unwrap_err();
    assert!(matches!(empty, LogError::Empty));
    let mut damaged = Memory::default();
    let mut bytes = pair().0.bytes();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    damaged.append(&bytes).unwrap();
    let found = upgrade(&damaged, 1, io::sink(), Path::new("new.log")).unwrap_err();
    assert!(matches!(found, LogError::Journal(_)), "{found}");
    // A log that says it continues a later one, or itself, is none.
    let mut events = bodies(&new);
    let Event::Opened { upgraded: Some(origin), .. } = &mut events[0].1 else { panic!() };
    origin.from = FORMAT;
    assert!(State::open(&events[0].1).is_err());
}

/// Fails after some bytes.
struct Full(usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0 == 0 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let written = bytes.len().min(self.0);
        self.0 -= written;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_disk_is_named_and_the_old_log_stays() {
    let (old, new) = pair();
    let (before, whole) = (old.bytes(), new.bytes().len());
    for room in [0, 1, whole / 2, whole - 1] {
        let error = upgrade(&old, 2_000_000, Full(room), Path::new("new.log")).unwrap_err();
        assert!(error.to_string().contains("new.log"), "{error}");
    }
    assert!(upgrade(&old, 2_000_000, Full(whole), Path::new("new.log")).is_ok());
    assert_eq!(old.bytes(), before);
}
