//! Milestones save time and decide nothing: with them, without them and with wrong ones, every
//! certificate and every line is the same.

use super::{Memory, Plan, begin, context, few_arms, open, plan, rates, table};
use plausibly::Stream;
use plausibly_log::certificate::Certificate;
use plausibly_log::event::{Outcomes, Unreported, Window};
use plausibly_log::recipe::Recipe;
use plausibly_log::{
    Among, Asked, LINES, Log, LogError, Opening, Reward, certificate, certificate_near,
    keep_milestones,
};

/// Plans long enough for some milestones, of every kind of sums.
fn plans() -> Vec<Plan> {
    let long = |plan: Plan| Plan { steps: 6_500, ..plan };
    let find = |kind: &'static str, fits: fn(&Plan) -> bool| {
        let mut all = (0..).map(|seed| plan(seed, (5, 6), 10));
        all.find(|plan| {
            plan.policy["kind"] == kind && plan.policy.len() < 3 && plan.rows > 2 && fits(plan)
        })
        .unwrap()
    };
    [
        find("code", |plan| plan.context && plan.columns > 0),
        find("code", |plan| !plan.context && !plan.given && plan.columns > 1),
        find("lin-ts", |plan| plan.given),
        find("code", |plan| plan.outcomes == Outcomes::Counts && plan.columns > 0),
        find("code", |plan| is_windowed(plan) && !plan.given && plan.columns > 1),
        few_arms(3, 0),
        few_arms(4, 0),
        // A model of rows.
        rates(3, 0),
        rates(5, 0),
    ]
    .map(long)
    .into()
}

/// Whether outcomes of a plan are held for a window, and its rows belong to one decision each.
fn is_windowed(plan: &Plan) -> bool {
    plan.seed.is_multiple_of(2)
}

/// Begins a log, if it has no line yet.
fn begun(log: &mut Log<Memory>, plan: &Plan, rng: &mut Stream) {
    if log.state().is_some() {
        return;
    }
    let first = table(&mut Stream::new(plan.seed, 0, "first"), plan, 0.0);
    if !is_windowed(plan) {
        return begin(log, plan, &first, rng);
    }
    let recipe = Recipe::infer(&first, &context(rng, plan)).unwrap();
    let unreported = if plan.columns == 0 { Unreported::Reward(-5.0) } else { Unreported::Drop };
    let window = Some(Window { seconds: 40, unreported });
    let policy = plan.policy.clone();
    let opening = Opening::new(recipe, (-5.0, 15.0), plan.seed).about(plan.outcomes);
    let opening = Opening { window, policy, ..opening };
    log.begin(0, opening).unwrap();
}

/// Plays a history in which nothing depends on what the state in memory knows.
fn play(log: &mut Log<Memory>, plan: &Plan, rng: &mut Stream, steps: usize) {
    begun(log, plan, rng);
    for step in 0..steps {
        let decisions = log.state().unwrap().count_decisions();
        let at = 1_000_000 * i64::try_from(decisions).unwrap();
        log.settle_due(at).unwrap();
        let recent = |rng: &mut Stream| {
            let most = if rng.uniform() < 0.1 { 5_000 } else { 40 };
            let back = rng.index(most) as u64;
            decisions.saturating_sub(back).max(1)
        };
        let refused = match rng.index(16) {
            8..13 => {
                let decision = recent(rng);
                log.reward(at, decision, reward(plan, rng)).map(|_| ())
            }
            13 => log.correct(at, recent(rng), reward(plan, rng)).map(|_| ()),
            14 => log.retract(at, recent(rng)).map(|_| ()),
            15 if rng.uniform() < 0.5 => log.undrop(at, recent(rng)).map(|_| ()),
            15 => log.drop_decision(at, recent(rng)).map(|_| ()),
            _ => {
                let leave_out = if rng.uniform() < 0.2 { 0.3 } else { 0.0 };
                let offered = table(rng, plan, leave_out);
                let known = context(rng, plan);
                let among = if is_windowed(plan) && plan.columns > 0 {
                    Among::Rows(&offered)
                } else {
                    Among::Table(&offered)
                };
                // Some keys come again, also those of decisions before a snapshot.
                let key = format!("request {}", rng.index(2 * steps));
                let key = (step % 3 == 0).then_some(key.as_str());
                log.take(at, &Asked { key, ..Asked::among(among, &known) }).map(|_| ())
            }
        };
        match refused {
            Ok(()) | Err(LogError::Step(_) | LogError::Recipe(_)) => {}
            Err(other) => panic!("{other}"),
        }
    }
}

fn reward(plan: &Plan, rng: &mut Stream) -> Reward {
    match plan.outcomes {
        Outcomes::Number => Reward::from(20.0 * rng.uniform() - 5.0),
        Outcomes::YesNo => Reward::from(if rng.uniform() < 0.3 { 15.0 } else { -5.0 }),
        Outcomes::Counts => Reward::counts(rng.index(4) as u64, 9),
    }
}

fn decisions_of(disk: &Memory) -> u64 {
    open(disk).state().unwrap().count_decisions()
}

/// Asserts that some certificates are those of a reading from the first line. Returns for how many
/// lines were saved.
fn same_certificates(disk: &Memory, rng: &mut Stream, count: usize) -> usize {
    let decisions = decisions_of(disk);
    let mut near = 0;
    for _ in 0..count {
        let decision = 1 + rng.index(usize::try_from(decisions).unwrap()) as u64;
        let (found, saved) = certificate_near(disk, decision, 1000).unwrap();
        let whole: Certificate = certificate(disk, decision, 1000).unwrap();
        assert_eq!(found.to_json(), whole.to_json(), "decision {decision}");
        near += usize::from(saved > 0);
    }
    near
}

#[test]
fn certificates_near_a_milestone_are_those_from_the_first_line() {
    for plan in plans() {
        let mut disk = Memory::default();
        let mut rng = Stream::new(plan.seed, 0, "near");
        play(&mut open(&disk), &plan, &mut rng, plan.steps);
        let kept = keep_milestones(&mut disk).unwrap();
        assert!(kept.milestones > 0, "{plan:?}");
        let near = same_certificates(&disk, &mut rng, 12);
        assert!(near > 0, "{plan:?}");
    }
}

#[test]
fn milestones_made_bit_by_bit_are_those_made_at_once() {
    for plan in plans() {
        let mut disk = Memory::default();
        let mut rng = Stream::new(plan.seed, 1, "bit by bit");
        for part in [1_000, 4_200, 200, 1_500] {
            play(&mut open(&disk), &plan, &mut rng, part);
            keep_milestones(&mut disk).unwrap();
        }
        let mut other = disk.copied();
        for suffix in ["milestones", "snapshot"] {
            other.set_beside(suffix, None);
        }
        let lines = u64::try_from(disk.bytes().split(|byte| *byte == b'\n').count()).unwrap() - 1;
        let kept = keep_milestones(&mut other).unwrap();
        assert_eq!((kept.read, kept.milestones as u64), (lines, lines / LINES));
        for suffix in ["milestones", "snapshot"] {
            assert!(disk.beside(suffix) == other.beside(suffix), "{suffix} of {plan:?}");
        }
        // Nothing is new, so nothing is read.
        assert_eq!(keep_milestones(&mut disk).unwrap().read, 0);
    }
}

#[test]
fn a_log_opened_from_its_snapshot_goes_on_as_if_it_had_been_read() {
    for plan in plans() {
        let mut disk = Memory::default();
        let mut rng = Stream::new(plan.seed, 2, "snapshot");
        play(&mut open(&disk), &plan, &mut rng, plan.steps);
        let kept = keep_milestones(&mut disk).unwrap();
        assert!(kept.milestones > 0, "{plan:?}");
        // Lines behind the snapshot too.
        play(&mut open(&disk), &plan, &mut rng, 50);
        let other = disk.copied();
        let mut short = Log::open_from_snapshot(disk.clone()).unwrap();
        let mut whole = open(&other);
        assert!(short.state().unwrap().decisions().count() < 100, "{plan:?}");
        let mut same = rng.clone();
        play(&mut short, &plan, &mut rng, 500);
        play(&mut whole, &plan, &mut same, 500);
        assert!(disk.bytes() == other.bytes(), "{plan:?}");
        let of = |log: &Log<Memory>| log.state().unwrap().pending().collect::<Vec<_>>();
        assert_eq!(of(&short), of(&whole));
        // And its own next milestones are the same.
        drop((short, whole));
        let mut made = other.copied();
        made.set_beside("snapshot", None);
        keep_milestones(&mut disk).unwrap();
        keep_milestones(&mut made).unwrap();
        assert!(disk.beside("snapshot") == made.beside("snapshot"), "{plan:?}");
    }
}

#[test]
fn milestones_that_do_not_fit_are_not_used() {
    let plan = &plans()[1];
    let mut disk = Memory::default();
    let mut rng = Stream::new(plan.seed, 3, "unfit");
    play(&mut open(&disk), plan, &mut rng, plan.steps);
    keep_milestones(&mut disk).unwrap();
    let file = disk.beside("milestones").unwrap();
    let snapshot = disk.beside("snapshot").unwrap();
    let other = Memory::default();
    play(&mut open(&other), &Plan { seed: plan.seed + 1, ..plan.clone() }, &mut rng, plan.steps);
    keep_milestones(&mut other.clone()).unwrap();

    let lines = disk.bytes();
    let mut unfit = vec![
        (None, None),
        (other.beside("milestones"), other.beside("snapshot")),
        (other.beside("milestones"), Some(snapshot.clone())),
        (Some(file.clone()), other.beside("snapshot")),
        (Some(Vec::new()), Some(Vec::new())),
        (Some(b"no milestones\n".to_vec()), Some(b"no snapshot\n".to_vec())),
        (Some(file[..file.len() - 1].to_vec()), Some(snapshot.clone())),
        (Some([file.as_slice(), file.as_slice()].concat()), Some(snapshot.clone())),
    ];
    for _ in 0..40 {
        let (mut file, mut snapshot) = (file.clone(), snapshot.clone());
        let damaged = if rng.uniform() < 0.5 { &mut file } else { &mut snapshot };
        let at = rng.index(damaged.len());
        damaged[at] ^= 1 << rng.index(7);
        unfit.push((Some(file), Some(snapshot)));
    }
    for (milestones, snapshot) in unfit {
        disk.set_beside("milestones", milestones);
        disk.set_beside("snapshot", snapshot);
        same_certificates(&disk, &mut rng, 2);
        let whole = open(&disk.copied()).state().unwrap().digest();
        let log = Log::open_from_snapshot(disk.copied()).unwrap();
        assert_eq!(log.state().unwrap().digest(), whole);
        drop(log);
        // They are made again.
        let mut again = disk.copied();
        keep_milestones(&mut again).unwrap();
        assert_eq!(again.beside("milestones").as_ref(), Some(&file));
    }
    assert_eq!(disk.bytes(), lines, "readers never write to the log");
}

#[test]
fn a_log_whose_decisions_need_more_than_sums_has_no_milestones() {
    let mut plans = (0..).map(|seed| plan(seed, (5, 6), 10));
    let is_bell = |plan: &Plan| plan.policy.get("radius").is_some_and(|r| r["kind"] == "bell");
    let bell = plans.find(|plan| is_bell(plan) && !is_windowed(plan));
    let plan = Plan { steps: 6_500, ..bell.unwrap() };
    let mut disk = Memory::default();
    play(&mut open(&disk), &plan, &mut Stream::new(1, 0, "bell"), plan.steps);
    let kept = keep_milestones(&mut disk).unwrap();
    assert_eq!((kept.milestones, kept.read), (0, LINES));
    assert_eq!(disk.beside("milestones"), None);
}
