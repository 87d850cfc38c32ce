//! Phased elimination in a log: the same choices as in memory, and a clear refusal where it cannot
//! continue.

use super::{Memory, open};
use plausibly::{ActionSet, Elimination, Policy, Ridge, Stream};
use plausibly_log::certificate::Certificate;
use plausibly_log::journal::Storage;
use plausibly_log::policy::PolicyTable;
use plausibly_log::recipe::{Context, Recipe};
use plausibly_log::state::StepError;
use plausibly_log::table::Table;
use plausibly_log::{Log, LogError, Opening, certificate, fold, replay, status};
use serde_json::json;

const SEED: u64 = 7;

fn policy(delta: f64) -> PolicyTable {
    json!({"kind": "elimination", "delta": delta}).as_object().unwrap().clone()
}

fn table(rows: &[Vec<f64>]) -> Table {
    let header: Vec<String> = (0..rows[0].len()).map(|k| format!("x{k}")).collect();
    let cells = rows.iter().map(|row| row.iter().map(|x| format!("{x:?}")).collect());
    Table::from_rows(&header, cells).unwrap()
}

fn begun(disk: &Memory, table: &Table, delta: f64) -> Log<Memory> {
    let mut log = open(disk);
    let recipe = Recipe::given(table, &[], 1.0).unwrap();
    let opening = Opening { policy: policy(delta), ..Opening::new(recipe, (-0.25, 0.75), SEED) };
    log.begin(1, opening).unwrap();
    log
}

fn decide(log: &mut Log<Memory>, table: &Table) -> Result<Certificate, LogError> {
    log.decide(2, table, &Context::default(), 100)
}

/// Two actions whose first phase is twelve plays of the longer one: one feature, K = 2, δ = 0.99.
fn short() -> (Memory, Log<Memory>, Table) {
    let (disk, rows) = (Memory::default(), table(&[vec![1.0], vec![-0.5]]));
    let log = begun(&disk, &rows, 0.99);
    (disk, log, rows)
}

/// The phase that waits, and the decisions it waits for.
fn waited_for(error: &LogError) -> Option<(u32, &[u64])> {
    match error {
        LogError::Step(StepError::Outstanding { phase, decisions }) => Some((*phase, decisions)),
        _ => None,
    }
}

/// Plays the first phase to its end; decisions 1 to 12.
fn play_first_phase(log: &mut Log<Memory>, rows: &Table) {
    for decision in 1..=12 {
        let found = decide(log, rows).unwrap();
        assert_eq!(found.grounds.phase.as_ref().unwrap().number, 1);
        assert_eq!(found.findings.plays_left, Some(13 - decision));
        log.reward(2, decision, 0.75).unwrap();
    }
}

#[test]
fn choices_are_those_of_elimination_in_memory() {
    let mut dropped = 0;
    for seed in 0..8 {
        let mut rng = Stream::new(seed, 0, "problem");
        let dim = 1 + rng.index(2);
        let on_grid = |x: f64| plausibly::quantise(x).unwrap();
        let rows: Vec<Vec<f64>> = (0..3)
            .map(|_| (0..dim).map(|_| on_grid(rng.normal().clamp(-2.0, 2.0) / 2.0)).collect())
            .collect();
        let (set, table) = (ActionSet::from_rows(&rows).unwrap(), table(&rows));
        let disk = Memory::default();
        let mut log = begun(&disk, &table, 0.9);
        let mut memory = Elimination::new(Ridge::new(dim, 1.0).unwrap(), 0.9).unwrap();
        let mut last = None;
        for decision in 1..=500 {
            let chosen = memory.select(set.view(), &mut Stream::new(SEED, decision, "decision"));
            let found = decide(&mut log, &table).unwrap();
            assert_eq!(found.findings.chosen.id, chosen as u64, "seed {seed}, decision {decision}");
            let survivors: Vec<u64> =
                memory.survivors().iter().map(|action| *action as u64).collect();
            assert_eq!(found.grounds.phase.as_ref().unwrap().survivors, survivors);
            let reward =
                on_grid((0.5 * rows[chosen][0] + 0.25 + 0.02 * rng.normal()).clamp(-0.25, 0.75));
            // Of length one and not centred: the scale of the log is that of the rewards.
            memory.update(set.view().get(chosen), reward);
            log.reward(2, decision, reward).unwrap();
            if decision % 25 == 0 {
                found.check().unwrap();
                certificate(&disk, decision, 100).unwrap().check_against(&found).unwrap();
            }
            last = Some(found);
        }
        let phase = last.unwrap().grounds.phase.unwrap();
        assert!(phase.number > 2, "seed {seed}");
        dropped += usize::from(phase.survivors.len() < 3);
    }
    assert!(dropped > 2, "an action was dropped in {dropped} of 8");
}

#[test]
fn a_phase_ends_when_its_rewards_are_in_and_says_which_are_not() {
    let (disk, mut log, rows) = short();
    for _ in 1..=12 {
        decide(&mut log, &rows).unwrap();
    }
    for decision in (1..=12).filter(|decision| ![3, 7].contains(decision)) {
        log.reward(2, decision, 0.5).unwrap();
    }
    let before = disk.length().unwrap();
    let error = decide(&mut log, &rows).unwrap_err();
    assert_eq!(waited_for(&error), Some((1, &[3, 7][..])), "{error}");
    assert!(error.to_string().contains("reward or drop decisions 3, 7 first"), "{error}");
    assert_eq!(disk.length().unwrap(), before, "nothing was written");
    // The status still works, and lists the decisions waited for.
    let now = status(&disk, 3, 10).unwrap();
    assert_eq!((now.waiting, now.now.findings.plays_left), (vec![3, 7], Some(2)));
    // A drop frees its play, which is then played before the phase ends.
    log.drop_decision(2, 7).unwrap();
    let found = decide(&mut log, &rows).unwrap();
    assert_eq!((found.grounds.phase.unwrap().number, found.findings.plays_left), (1, Some(1)));
    let error = decide(&mut log, &rows).unwrap_err();
    assert_eq!(waited_for(&error), Some((1, &[3, 13][..])), "{error}");
    log.reward(2, 3, 0.5).unwrap();
    log.reward(2, 13, 0.5).unwrap();
    assert!(status(&disk, 3, 10).unwrap().waiting.is_empty());
    let phase = decide(&mut log, &rows).unwrap().grounds.phase.unwrap();
    assert_eq!((phase.number, phase.frozen.unwrap().plays[0].settled), (2, 12));
}

#[test]
fn what_a_phase_ended_on_stays_and_what_it_runs_on_follows() {
    let (disk, mut log, rows) = short();
    play_first_phase(&mut log, &rows);
    let before = decide(&mut log, &rows).unwrap().grounds.phase.unwrap();
    log.reward(2, 13, 0.5).unwrap();
    log.correct(2, 1, -0.25).unwrap();
    log.retract(2, 2).unwrap();
    let after = decide(&mut log, &rows).unwrap();
    let phase = after.grounds.phase.clone().unwrap();
    assert_eq!(
        (&phase.frozen, &phase.survivors),
        (&before.frozen, &before.survivors),
        "as it was known then"
    );
    assert_eq!((phase.plays[0].taken, phase.plays[0].settled, phase.plays[0].paid), (1, 1, 0.5));
    // The sums change with the correction, but the ended phase does not.
    assert_eq!((after.grounds.statistics.observations, after.words().pending()), (12, 1));
    log.correct(2, 13, 0.25).unwrap();
    log.drop_decision(2, 14).unwrap();
    let phase = decide(&mut log, &rows).unwrap().grounds.phase.unwrap();
    assert_eq!((phase.plays[0].taken, phase.plays[0].paid), (1, 0.25));
    // A retracted reward of an ended phase does not hold up a later phase.
    drop(log);
    assert_eq!(fold(&disk, |_| Ok(())).unwrap().0.unwrap().waiting(), [0_u64; 0]);
}

#[test]
fn other_actions_are_refused_and_another_policy_begins_anew() {
    let (disk, mut log, rows) = short();
    play_first_phase(&mut log, &rows);
    let second = decide(&mut log, &rows).unwrap().grounds.phase.unwrap();
    assert_eq!(second.number, 2);
    let before = disk.length().unwrap();
    for (other, word) in [
        (table(&[vec![1.0]]), "\"row 2\" is missing"),
        (table(&[vec![1.0], vec![0.5]]), "\"row 2\" is missing or has changed"),
        (table(&[vec![1.0], vec![-0.5], vec![0.25]]), "there are new actions"),
    ] {
        let error = decide(&mut log, &other).unwrap_err();
        assert!(matches!(&error, LogError::Step(StepError::OtherActions { .. })), "{error}");
        assert!(
            error.to_string().contains(word) && error.to_string().contains("--policy code"),
            "{error}"
        );
    }
    assert_eq!(disk.length().unwrap(), before, "nothing was written");
    // Another policy accepts the new actions, and elimination after it starts without phases.
    let code = json!({"kind": "code"}).as_object().unwrap().clone();
    log.change_policy(2, &code, None).unwrap();
    let more = table(&[vec![1.0], vec![-0.5], vec![0.25]]);
    assert!(decide(&mut log, &more).unwrap().grounds.phase.is_none());
    log.change_policy(2, &policy(0.99), None).unwrap();
    let phase = decide(&mut log, &more).unwrap().grounds.phase.unwrap();
    assert_eq!((phase.number, phase.plays, phase.frozen), (1, vec![], None));
    assert_eq!(phase.survivors.len(), 3);
    assert_eq!(fold(&disk, |_| Ok(())).unwrap().0.as_ref(), log.state());
}

#[test]
fn a_context_stays_what_it_was() {
    let rows = Table::read("name,x\na,1\nb,2\n".as_bytes()).unwrap();
    let (mobile, desktop) =
        (Context::parse(["on=mobile"]).unwrap(), Context::parse(["on=desktop"]).unwrap());
    let mut log = open(&Memory::default());
    let recipe = Recipe::infer(&rows, &mobile).unwrap();
    let opening = Opening { policy: policy(0.5), ..Opening::new(recipe, (0.0, 1.0), SEED) };
    log.begin(1, opening).unwrap();
    log.decide(2, &rows, &mobile, 10).unwrap().check().unwrap();
    let error = log.decide(2, &rows, &desktop, 10).unwrap_err();
    assert!(error.to_string().contains("the context differs"), "{error}");
    log.decide(2, &rows, &mobile, 10).unwrap().check().unwrap();
}

#[test]
fn a_replay_needs_the_same_phases() {
    let (disk, mut log, rows) = short();
    play_first_phase(&mut log, &rows);
    decide(&mut log, &rows).unwrap();
    drop(log);
    let other = |table: &PolicyTable| replay(&disk, table, None, |_| ());
    assert!(other(&policy(0.99)).is_ok());
    assert!(other(json!({"kind": "code"}).as_object().unwrap()).is_ok());
    let error = other(&policy(0.5)).unwrap_err();
    assert!(error.to_string().contains("another delta"), "{error}");
}

#[test]
fn a_list_of_a_few_states_the_choice_and_leaves_the_phase_to_the_log() {
    let mut rng = Stream::new(3, 0, "problem");
    let rows: Vec<Vec<f64>> =
        (0..40).map(|_| vec![rng.normal() / 4.0, rng.normal() / 4.0]).collect();
    let (disk, table) = (Memory::default(), table(&rows));
    let mut log = begun(&disk, &table, 0.9);
    let partial = log.decide(2, &table, &Context::default(), 8).unwrap();
    let whole = certificate(&disk, 1, 100).unwrap();
    partial.check().unwrap();
    assert!(partial.grounds.unlisted.unwrap().chosen.is_some());
    assert_eq!(partial.grounds.phase, whole.grounds.phase);
    assert_eq!((partial.findings.plays_left, partial.findings.chosen.propensity), (None, None));
    let propensity = whole.findings.chosen.propensity.unwrap();
    assert!(propensity > 0.0 && propensity < 1.0 && whole.findings.plays_left.unwrap() > 10);
    assert!(whole.words().to_string().contains("This is phase 1, with"));
}
