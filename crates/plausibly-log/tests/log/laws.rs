//! Laws that hold for every use of a log.

use super::{Memory, open, policies};
use plausibly_log::event::Event;
use plausibly_log::journal::{Checkpoint, Journal, JournalError, Storage, read};
use plausibly_log::recipe::{Context, Recipe};
use plausibly_log::state::Outcome;
use plausibly_log::table::Table;
use plausibly_log::{Log, LogError, Opening, Recorded, certificate, fold};

fn table(text: &str) -> Table {
    Table::read(text.as_bytes()).unwrap().with_label(Some("name")).unwrap()
}

fn begun(
    disk: &Memory,
    text: &str,
    range: (f64, f64),
    set: &[(&str, serde_json::Value)],
) -> Log<Memory> {
    let mut log = open(disk);
    let recipe = Recipe::infer(&table(text), &Context::default()).unwrap();
    let mut policy = policies(false)[0].clone();
    policy.extend(set.iter().map(|(name, value)| ((*name).to_string(), value.clone())));
    log.begin(1, Opening { policy, ..Opening::new(recipe, range, 1) }).unwrap();
    log
}

const ARMS: &str = "name\na\nb\nc\n";

#[test]
fn after_a_write_that_failed_nothing_more_is_taken_or_told() {
    let disk = Memory::default();
    let mut log = begun(&disk, ARMS, (0.0, 1.0), &[]);
    log.decide(2, &table(ARMS), &Context::default(), 10).unwrap();
    // On a full disk the state is ahead of the lines.
    disk.set_broken(true);
    assert!(matches!(log.reward(5, 1, 0.5), Err(LogError::Journal(_))));
    disk.set_broken(false);
    assert!(
        matches!(log.reward(5, 1, 0.5), Err(LogError::Stopped)),
        "an unwritten reward is never called recorded"
    );
    assert!(matches!(log.decide(6, &table(ARMS), &Context::default(), 10), Err(LogError::Stopped)));
    assert!(log.state().is_none());
    drop(log);
    let mut log = open(&disk);
    assert_eq!(log.state().unwrap().decision(1).unwrap().outcome, Outcome::Pending);
    assert_eq!(log.reward(7, 1, 0.5).unwrap(), Recorded::Now);
    assert_eq!(log.reward(8, 1, 0.5).unwrap(), Recorded::Before);
}

#[test]
fn a_line_that_cannot_be_written_leaves_the_log_as_it_was() {
    let disk = Memory::default();
    let mut log = open(&disk);
    // A column with one value is left out, and the recipe remembers that value.
    let huge = "x".repeat(17 << 20);
    let table_of = |note: &str| table(&format!("name,note,price\na,{note},1\nb,{note},2\n"));
    let opening = |note: &str| {
        let recipe = Recipe::infer(&table_of(note), &Context::default()).unwrap();
        Opening::new(recipe, (0.0, 1.0), 1)
    };
    // Too long, and a time that no line can have.
    assert!(matches!(log.begin(1, opening(&huge)), Err(LogError::Journal(_))));
    assert!(matches!(log.begin(-1, opening("short")), Err(LogError::Journal(_))));
    assert_eq!(disk.bytes(), b"");
    log.begin(2, opening("short")).unwrap();
    log.decide(3, &table_of("short"), &Context::default(), 10).unwrap();
    drop(log);
    assert_eq!(open(&disk).state().unwrap().count_decisions(), 1);
}

#[test]
fn a_choice_that_does_not_follow_is_found_in_the_log() {
    let disk = Memory::default();
    let mut log = begun(&disk, ARMS, (0.0, 1.0), &[]);
    log.decide(2, &table(ARMS), &Context::default(), 10).unwrap();
    assert!(certificate(&disk, 1, 10).is_ok());
    // The same lines with another choice, and right hashes.
    let (forged, mut bodies) = (Memory::default(), Vec::new());
    read(&disk, &Checkpoint::START, |entry| {
        let mut event: Event = serde_json::from_str(entry.body).unwrap();
        if let Event::Decided { chosen, label, .. } = &mut event {
            (*chosen, *label) = (2, "c".into());
        }
        bodies.push(serde_json::to_string(&event).unwrap());
        Ok::<(), JournalError>(())
    })
    .unwrap();
    let mut journal = Journal::open(forged.clone()).unwrap();
    for body in &bodies {
        journal.append(2, &[body]).unwrap();
    }
    drop(journal);
    assert!(fold(&forged, |_| Ok(())).is_ok(), "as events they follow");
    let error = certificate(&forged, 1, 10).unwrap_err();
    assert!(
        matches!(error, LogError::Choice { .. }) && error.to_string().contains("chose \"c\""),
        "{error}"
    );
}

#[test]
fn intervals_cover_what_rounding_moves_and_what_bounds_are_for() {
    // Rewards of a fiftieth on a scale of a million round to zero; the interval still contains
    // them.
    let disk = Memory::default();
    let radius = serde_json::json!({"kind": "mixture", "noise_scale": 0.001});
    let mut log = begun(&disk, ARMS, (0.0, 1e6), &[("radius", radius)]);
    for decision in 1..=24 {
        log.decide(2, &table(ARMS), &Context::default(), 10).unwrap();
        log.reward(3, decision, 0.02).unwrap();
    }
    let found = log.decide(4, &table(ARMS), &Context::default(), 10).unwrap();
    for action in &found.findings.actions {
        assert!(action.lower <= 0.02 && action.upper >= 0.02, "{action:?}");
    }
    // A bound on θ* is for rewards scaled around zero: with a truth far from the middle of the
    // range, nothing is claimed before the first outcome.
    let radius =
        serde_json::json!({"kind": "determinant", "noise_scale": 1.0, "theta_norm_bound": 0.5});
    let rows = "name,x\na,1\nb,2\n";
    let mut log = begun(&Memory::default(), rows, (0.0, 100.0), &[("radius", radius)]);
    let found = log.decide(2, &table(rows), &Context::default(), 10).unwrap();
    assert!(
        found.findings.actions.iter().all(|action| action.lower <= 0.5),
        "{:?}",
        found.findings.actions
    );
}

#[test]
fn nothing_and_minus_nothing_are_one_outcome() {
    let disk = Memory::default();
    let mut log = begun(&disk, ARMS, (-1.0, 1.0), &[]);
    log.decide(2, &table(ARMS), &Context::default(), 10).unwrap();
    assert_eq!(log.reward(3, 1, 0.0).unwrap(), Recorded::Now);
    assert_eq!(log.reward(3, 1, -0.0).unwrap(), Recorded::Before);
    assert_eq!(log.correct(3, 1, -0.0).unwrap(), Recorded::Before);
}

/// Earlier versions kept a snapshot beside the log, and trusted it.
#[test]
fn nothing_beside_the_log_is_believed() {
    let kept = |seq: u64| {
        format!(
            "{{\"v\":1,\"seq\":{seq},\"offset\":0}}\n{{\"version\":\"state 1 of plausibly \
             0.1.0\"}}\n"
        )
    };
    for content in [Vec::new(), vec![0xff; 999], kept(7).into_bytes(), b"{\"v\":2}\n".to_vec()] {
        let (alone, beside) = (Memory::default(), Memory::default());
        for disk in [&alone, &beside] {
            let mut log = begun(disk, ARMS, (0.0, 1.0), &[]);
            for decision in 1..=6 {
                log.decide(2, &table(ARMS), &Context::default(), 10).unwrap();
                log.reward(3, decision, 0.125 * decision as f64).unwrap();
            }
        }
        beside.clone().write_side("snapshot", &content).unwrap();
        let (mut log, mut other) = (open(&beside), open(&alone));
        assert_eq!(log.state(), other.state());
        let decide =
            |log: &mut Log<Memory>| log.decide(4, &table(ARMS), &Context::default(), 10).unwrap();
        assert_eq!(decide(&mut log), decide(&mut other));
        assert_eq!(
            beside.read_side("snapshot").unwrap(),
            Some(content),
            "it is not ours to change"
        );
    }
}
