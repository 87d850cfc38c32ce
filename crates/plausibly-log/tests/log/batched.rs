//! Batches: the same requests one by one give the same answers and the same log.

use super::{Memory, Plan, begin, context, open, paid, plan, table};
use crate::journal::Draws;
use crate::journal::disk::{Disk, Fault};
use plausibly::Stream;
use plausibly_log::journal::{JournalError, Storage};
use plausibly_log::recipe::{Context, Recipe};
use plausibly_log::state::StepError;
use plausibly_log::table::Table;
use plausibly_log::{Among, Answer, Asked, Log, LogError, Opening, Recorded, Request, Reward};

/// A request that owns what it is about.
enum Wanted {
    Decide { among: Rows, context: Context, key: Option<String>, certificate: Option<usize> },
    Outcome(Request<'static>),
}

enum Rows {
    Table(Table),
    Named,
    All,
}

const NAMED: [&str; 2] = ["action 0", "action 1"];

impl Wanted {
    fn request(&self) -> Request<'_> {
        match self {
            Self::Outcome(request) => *request,
            Self::Decide { among, context, key, certificate } => {
                let among = match among {
                    Rows::Table(table) => Among::Table(table),
                    Rows::Named => Among::Named(&NAMED),
                    Rows::All => Among::All,
                };
                let (key, certificate) = (key.as_deref(), *certificate);
                Request::Decide(Asked { key, certificate, ..Asked::among(among, context) })
            }
        }
    }

    /// A random request. Some must be refused, and some were made before.
    fn random(log: &Log<Memory>, plan: &Plan, rng: &mut Stream) -> Self {
        let decisions = log.state().unwrap().count_decisions();
        if rng.index(10) < 4 || decisions == 0 {
            let among = match rng.index(10) {
                0 => Rows::Named,
                1 => Rows::All,
                2 => Rows::Table(table(rng, plan, 0.3)),
                _ => Rows::Table(table(rng, plan, 0.0)),
            };
            let key = (rng.uniform() < 0.3).then(|| format!("request {}", rng.index(12)));
            let certificate = (rng.uniform() < 0.3).then_some(plan.most);
            return Self::Decide { among, context: context(rng, plan), key, certificate };
        }
        let oldest = log.state().unwrap().pending().next();
        let any = 1 + rng.below(decisions + 1);
        let decision = if rng.uniform() < 0.6 { oldest.unwrap_or(any) } else { any };
        let reward = paid(log, plan, decision, rng);
        Self::Outcome(match rng.index(8) {
            0 => Request::Correct { decision, reward, by: None },
            1 => Request::Retract { decision, by: None },
            2 => Request::Drop { decision, by: None },
            3 => Request::Undrop { decision, by: None },
            _ => Request::Reward { decision, reward, by: None },
        })
    }
}

/// Carries out one request by the method that is for it alone.
fn alone<S: Storage>(log: &mut Log<S>, at: i64, request: &Request<'_>) -> Result<Answer, LogError> {
    let recorded = match *request {
        Request::Decide(asked) => return log.take(at, &asked).map(Answer::Taken),
        Request::Reward { decision, reward, .. } => log.reward(at, decision, reward),
        Request::Correct { decision, reward, .. } => log.correct(at, decision, reward),
        Request::Retract { decision, .. } => log.retract(at, decision),
        Request::Drop { decision, .. } => log.drop_decision(at, decision),
        Request::Undrop { decision, .. } => log.undrop(at, decision),
    };
    recorded.map(Answer::Recorded)
}

/// What the histories had in them.
#[derive(Debug, Default)]
struct Seen {
    taken: usize,
    before: usize,
    recorded: usize,
    refused: usize,
}

impl Seen {
    fn add(&mut self, answer: &Result<Answer, LogError>) {
        *match answer {
            Ok(Answer::Taken(taken)) if taken.recorded == Recorded::Now => &mut self.taken,
            Ok(Answer::Taken(_) | Answer::Recorded(Recorded::Before)) => &mut self.before,
            Ok(Answer::Recorded(Recorded::Now | Recorded::Late)) => &mut self.recorded,
            Err(_) => &mut self.refused,
        } += 1;
    }
}

fn batches_are_calls_one_by_one(seeds: std::ops::Range<u64>) -> Seen {
    let mut seen = Seen::default();
    for seed in seeds {
        let plan = plan(seed, (6, 8), 30);
        let (single, together) = (Memory::default(), Memory::default());
        let (mut one, mut batched) = (open(&single), open(&together));
        let mut rng = Stream::new(seed, 0, "history");
        let first = table(&mut rng, &plan, 0.0);
        for log in [&mut one, &mut batched] {
            begin(log, &plan, &first, &mut Stream::new(seed, 0, "begin"));
        }
        let mut at = 1_000_000;
        let mut left = plan.steps;
        while left > 0 {
            let most = 1 << rng.index(5);
            let size = left.min(1 + rng.index(most));
            left -= size;
            // A clock may go back.
            at += [-10, 0, 5, 20][rng.index(4)];
            let (mut wanted, mut expected) = (Vec::new(), Vec::new());
            for _ in 0..size {
                let request = Wanted::random(&one, &plan, &mut rng);
                expected.push(alone(&mut one, at, &request.request()));
                wanted.push(request);
            }
            let requests: Vec<Request<'_>> = wanted.iter().map(Wanted::request).collect();
            let answers = batched.batch(at, &requests).unwrap();
            assert_eq!(answers.len(), expected.len());
            for (answer, expected) in answers.iter().zip(&expected) {
                seen.add(answer);
                match (answer, expected) {
                    (Ok(answer), Ok(expected)) => assert_eq!(answer, expected, "{plan:?}"),
                    (answer, expected) => {
                        assert_eq!(format!("{answer:?}"), format!("{expected:?}"), "{plan:?}");
                    }
                }
            }
            assert!(together.bytes() == single.bytes(), "other lines: {plan:?}");
        }
        assert_eq!(batched.state(), one.state(), "{plan:?}");
        let digest = |log: &Log<Memory>| log.state().unwrap().digest();
        assert_eq!(digest(&batched), digest(&one));
        drop(batched);
        assert_eq!(open(&together).state(), one.state(), "what the lines say: {plan:?}");
    }
    seen
}

#[test]
fn a_batch_is_its_requests_one_by_one() {
    let seen = batches_are_calls_one_by_one(0..300);
    let Seen { taken, before, recorded, refused } = seen;
    assert!(taken > 2_000 && before > 200 && recorded > 1_000 && refused > 500, "{seen:?}");
}

mod full {
    #[test]
    fn a_batch_is_its_requests_one_by_one() {
        super::batches_are_calls_one_by_one(1_000..11_000);
    }
}

fn rows() -> Table {
    let text = "name,price\nbowl,1\nmug,2\njug,4\n";
    Table::read(text.as_bytes()).unwrap().with_label(Some("name")).unwrap()
}

fn begun<S: Storage>(storage: S) -> Log<S> {
    let mut log = Log::open(storage).unwrap();
    let recipe = Recipe::infer(&rows(), &Context::default()).unwrap();
    log.begin(1, Opening::new(recipe, (0.0, 1.0), 7)).unwrap();
    log
}

fn asked<'a>(table: &'a Table, context: &'a Context, key: Option<&'a str>) -> Request<'a> {
    Request::Decide(Asked { key, ..Asked::among(Among::Table(table), context) })
}

#[test]
fn a_bad_item_leaves_the_others_of_its_batch_taken() {
    let (rows, none) = (rows(), Context::default());
    let wrong = Context::parse(["device=tv"]).unwrap();
    let reward =
        |decision, value| Request::Reward { decision, reward: Reward::from(value), by: None };
    let disk = Memory::default();
    let mut log = begun(disk.clone());
    let requests = [
        asked(&rows, &none, Some("first")),
        reward(9, 0.5),
        reward(1, 0.5),
        asked(&rows, &none, Some("")),
        asked(&rows, &none, Some("first")),
        reward(1, 0.75),
        reward(1, 2.0),
        reward(1, f64::NAN),
        Request::Undrop { decision: 1, by: None },
        asked(&rows, &none, None),
    ];
    let answers = log.batch(2, &requests).unwrap();
    let refused: Vec<usize> =
        (0..).zip(&answers).filter_map(|(at, one)| one.is_err().then_some(at)).collect();
    assert_eq!(refused, [1, 3, 5, 6, 7, 8], "{answers:?}");
    assert!(matches!(answers[1], Err(LogError::Step(StepError::Unknown { number: 9, .. }))));
    let decision = |at: usize| match &answers[at] {
        Ok(Answer::Taken(taken)) => (taken.decision, taken.recorded),
        other => panic!("{other:?}"),
    };
    assert_eq!(decision(0), (1, Recorded::Now));
    assert_eq!(decision(4), (1, Recorded::Before), "taken in the same batch");
    assert_eq!(decision(9), (2, Recorded::Now));
    // The log is that of the requests that were taken.
    let good = Memory::default();
    let mut other = begun(good.clone());
    for at in [0, 2, 9] {
        alone(&mut other, 2, &requests[at]).unwrap();
    }
    assert!(disk.bytes() == good.bytes());
    assert_eq!(log.state(), other.state());
    let before = disk.bytes();
    let nothing = log.batch(3, &[asked(&rows, &wrong, Some("\n")), reward(7, 0.0)]).unwrap();
    assert!(nothing.iter().all(Result::is_err) && log.batch(3, &[]).unwrap().is_empty());
    assert!(disk.bytes() == before, "a batch without a good item writes nothing");
}

#[test]
fn a_decision_among_nothing_is_refused_and_leaves_no_trace() {
    let (disk, none) = (Memory::default(), Context::parse(["device=tv"]).unwrap());
    let mut log = begun(disk.clone());
    let before = disk.bytes();
    for among in [Among::All, Among::Named(&[])] {
        let asked = Asked::among(among, &none);
        let refused = log.take(2, &asked).unwrap_err();
        assert!(matches!(refused, LogError::Step(StepError::NoActions)), "{refused}");
    }
    assert!(disk.bytes() == before);
}

/// Every step of a batch fails in turn, once and for good, with parts of its bytes written.
#[test]
fn a_batch_whose_commit_fails_acknowledges_nothing_and_stops_the_log() {
    let (rows, none) = (rows(), Context::default());
    let reward = Request::Reward { decision: 1, reward: Reward::from(0.5), by: None };
    let requests = [asked(&rows, &none, None), reward, asked(&rows, &none, Some("k"))];
    let (mut draws, mut failed) = (Draws(4), 0);
    for (for_good, quarters) in (0..10).map(|case| (case % 2 == 0, case / 2)) {
        for step in 0.. {
            let disk = Disk::new();
            let mut log = begun(disk.storage());
            log.batch(2, &requests[..1]).unwrap();
            let safe = disk.log();
            let at = disk.steps().len() + step;
            disk.set_fault(Some(Fault { at, for_good, quarters }));
            let outcome = log.batch(3, &requests);
            if disk.steps().len() <= at {
                outcome.unwrap();
                assert_eq!(step, 3, "length, append and sync can fail");
                break;
            }
            failed += 1;
            assert!(matches!(outcome, Err(LogError::Journal(_))), "{outcome:?}");
            disk.set_fault(None);
            assert!(log.state().is_none(), "the state is ahead of the disk");
            let again = log.batch(4, &requests);
            assert!(matches!(again, Err(LogError::Stopped)), "{again:?}");
            assert!(matches!(log.reward(4, 1, 0.5), Err(LogError::Stopped)));
            let cut_back = match outcome {
                Err(LogError::Journal(JournalError::NotAcknowledged { cut_back, .. })) => cut_back,
                _ => true,
            };
            drop(log);
            // What was acknowledged before is there, and then perhaps a first part of the batch.
            let whole = whole_log(&requests);
            for _ in 0..6 {
                let after = disk.power_cut(&mut draws);
                drop(Log::open(after.storage()).unwrap());
                let found = after.log();
                assert!(found.starts_with(&safe) && whole.starts_with(&found));
            }
            if cut_back {
                assert!(disk.log() == safe, "nothing of the batch is left");
            }
        }
    }
    assert_eq!(failed, 30);
}

/// The same log when nothing fails.
fn whole_log(requests: &[Request<'_>]) -> Vec<u8> {
    let disk = Memory::default();
    let mut log = begun(disk.clone());
    log.batch(2, &requests[..1]).unwrap();
    log.batch(3, requests).unwrap();
    disk.bytes()
}
