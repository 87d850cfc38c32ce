//! Windows: outcomes are held until the deadlines of their decisions, and each decision settles
//! once, however outcomes and clocks come.

use super::requests::{begun_with, events, rows};
use super::{Memory, open};
use plausibly::Stream;
use plausibly_log::event::{Event, Outcomes, Unreported, Window};
use plausibly_log::recipe::{Context, Recipe};
use plausibly_log::state::{Line, Outcome, StepError};
use plausibly_log::{
    Log, LogError, NewOutcome, Opening, OutcomeStatus, Recorded, Time, history, status,
};
use std::collections::BTreeMap;

const SECOND: i64 = 1_000_000;
const HOUR: i64 = 3_600 * SECOND;

fn opening(seconds: u64, unreported: Unreported) -> Opening {
    let recipe = Recipe::infer(&rows(), &Context::default()).unwrap();
    let window = Some(Window { seconds, unreported });
    Opening { window, ..Opening::new(recipe, (-1.0, 3.0), 7) }
}

fn begun(seconds: u64, unreported: Unreported) -> (Memory, Log<Memory>) {
    begun_with(opening(seconds, unreported))
}

fn decide(log: &mut Log<Memory>, at: i64) -> u64 {
    log.decide(at, &rows(), &Context::default(), 1).unwrap().grounds.decision
}

/// The frame of an event that is in no file.
fn line(seq: u64, at_us: i64) -> Line {
    Line { seq, at_us, begin: 0 }
}

/// What is known of a decision beside the log.
#[derive(Default)]
struct Told {
    /// Its deadline by the lines of the log.
    deadline: i64,
    /// What came in time and was not taken back.
    held: Option<f64>,
    /// How often it settled.
    settled: u32,
}

/// A history with outcomes around the deadlines and a clock that jumps.
struct Played {
    disk: Memory,
    log: Log<Memory>,
    unreported: Unreported,
    rng: Stream,
    /// What the clock shows, and the time of the last line.
    clock: i64,
    last: i64,
    /// By decision, from 1.
    told: BTreeMap<u64, Told>,
    /// The decisions that are not settled.
    open: Vec<u64>,
}

impl Played {
    const WINDOW: u64 = 60;

    fn new(seed: u64, unreported: Unreported) -> Self {
        let (disk, log) = begun(Self::WINDOW, unreported);
        let rng = Stream::new(seed, 0, "windows");
        let (told, open) = (BTreeMap::new(), Vec::new());
        Self { disk, log, unreported, rng, clock: 1_000 * SECOND, last: 0, told, open }
    }

    /// The time that a line gets now: lines never go back.
    fn at(&self) -> i64 {
        self.clock.max(self.last)
    }

    fn index(&mut self, below: usize) -> i64 {
        i64::try_from(self.rng.index(below)).unwrap()
    }

    fn tick(&mut self) {
        self.clock += match self.index(40) {
            0 => HOUR,
            1 => -HOUR.min(self.clock - SECOND),
            2..20 => 1,
            _ => self.index(20) * SECOND,
        };
        // A microsecond before a deadline, at it, or after it.
        if let Some(near) = self.open.first().map(|one| self.told[one].deadline)
            && self.index(3) == 0
        {
            self.clock = near + self.index(3) - 1;
        }
    }

    fn decide(&mut self) {
        let at = self.at();
        let decision = decide(&mut self.log, self.clock);
        let deadline = at + i64::try_from(Self::WINDOW).unwrap() * SECOND;
        self.told.insert(decision, Told { deadline, ..Told::default() });
        self.open.push(decision);
        self.last = at;
    }

    /// An outcome of one of the last decisions, most of which are not settled.
    fn report(&mut self) {
        let (at, recent) = (self.at(), self.told.len().min(6));
        let decision = self.told.len() as u64 - self.rng.index(recent) as u64;
        let reward: f64 = [-1.0, 0.0, 1.0][self.rng.index(3)];
        let one = &self.told[&decision];
        let counts = if one.settled == 0 { one.held } else { self.counted(one) };
        let expected = match counts {
            Some(counts) if counts.to_bits() == reward.to_bits() => Some(Recorded::Before),
            _ if at >= one.deadline => Some(Recorded::Late),
            Some(_) => None,
            None => Some(Recorded::Now),
        };
        let before = self.disk.bytes().len();
        match (self.log.reward(self.clock, decision, reward), expected) {
            (Ok(found), Some(expected)) => {
                assert_eq!(found, expected, "decision {decision} at {at}");
                if found == Recorded::Now {
                    self.told.get_mut(&decision).unwrap().held = Some(reward);
                }
            }
            (Err(LogError::Step(StepError::Outcome { .. })), None) => {}
            (found, expected) => panic!("{found:?}, but expected {expected:?}"),
        }
        self.wrote(before, at);
    }

    /// Replaces what was reported, or takes it back, before the deadline.
    fn amend(&mut self) {
        let (at, place) = (self.at(), self.rng.index(self.open.len()));
        let decision = self.open[place];
        let one = self.told.get_mut(&decision).unwrap();
        if one.held.is_none() || at >= one.deadline {
            return;
        }
        one.held = (self.rng.index(2) == 0).then_some(0.125);
        let before = self.disk.bytes().len();
        match one.held {
            Some(reward) => self.log.correct(self.clock, decision, reward).unwrap(),
            None => self.log.retract(self.clock, decision).unwrap(),
        };
        self.wrote(before, at);
    }

    /// Notes the time of a line, if the log has more bytes than before.
    fn wrote(&mut self, before: usize, at: i64) {
        if self.disk.bytes().len() > before {
            self.last = at;
        }
    }

    fn settle(&mut self) {
        let at = self.at();
        let due: Vec<u64> =
            self.open.iter().copied().filter(|one| self.told[one].deadline <= at).collect();
        let next = self.log.state().unwrap().next_deadline().map(Time::micros);
        assert_eq!(next, self.open.first().map(|one| self.told[one].deadline));
        assert_eq!(self.log.settle_due(self.clock).unwrap(), due.len() as u64, "at {at}");
        assert_eq!(self.log.settle_due(self.clock).unwrap(), 0);
        for decision in &due {
            self.told.get_mut(decision).unwrap().settled += 1;
        }
        self.open.retain(|one| !due.contains(one));
        self.last = if due.is_empty() { self.last } else { at };
    }

    /// What a decision counts once it is settled; `None` for a drop.
    fn counted(&self, one: &Told) -> Option<f64> {
        match self.unreported {
            Unreported::Reward(default) => one.held.or(Some(default)),
            Unreported::Drop => one.held,
        }
    }
}

/// Plays a history. Returns the log, and what each decision must have settled with.
fn play(seed: u64, decisions: u64, unreported: Unreported) -> (Memory, Vec<Option<f64>>) {
    let mut played = Played::new(seed, unreported);
    while (played.told.len() as u64) < decisions || !played.open.is_empty() {
        played.tick();
        match played.rng.index(8) {
            0..3 if (played.told.len() as u64) < decisions => played.decide(),
            3..6 if !played.told.is_empty() => played.report(),
            6 if !played.open.is_empty() => played.amend(),
            _ => played.settle(),
        }
    }
    assert!(played.told.values().all(|one| one.settled == 1));
    assert!(played.log.state() == open(&played.disk).state());
    let counted = played.told.values().map(|one| played.counted(one)).collect();
    (played.disk, counted)
}

/// Checks a played history against a log without a window that gets the same choices and the
/// settled values.
fn check(seed: u64, decisions: u64) {
    let unreported = [Unreported::Reward(0.0), Unreported::Drop][(seed % 2) as usize];
    let (disk, expected) = play(seed, decisions, unreported);
    let all = events(&disk);
    let settlings = all.iter().filter_map(|event| match event {
        Event::Rewarded { decision, at_deadline: true, reward, .. } => {
            Some((*decision, Some(*reward)))
        }
        Event::Dropped { decision, at_deadline: true, .. } => Some((*decision, None)),
        Event::Rewarded { .. } | Event::Dropped { .. } => panic!("{event:?}"),
        _ => None,
    });
    let settlings: Vec<_> = settlings.collect();
    assert_eq!(settlings, (1..).zip(expected.iter().copied()).collect::<Vec<_>>());
    // The same choices, each with its settled value at the end, in a log without a window.
    let mut plain = None;
    for (seq, event) in (1..).zip(&all) {
        match (&mut plain, event) {
            (none @ None, Event::Opened { .. }) => {
                let mut opened = event.clone();
                if let Event::Opened { window, .. } = &mut opened {
                    *window = None;
                }
                *none = Some(plausibly_log::state::State::open(&opened).unwrap());
            }
            (
                Some(state),
                Event::ActionAdded { .. } | Event::SetOffered { .. } | Event::Decided { .. },
            ) => {
                state.step(line(seq, 1), event).unwrap();
            }
            _ => {}
        }
    }
    let mut plain = plain.unwrap();
    for (decision, value) in (1..).zip(expected) {
        let (at_deadline, by) = (false, None);
        let event = match value {
            Some(reward) => Event::Rewarded { decision, reward, of: None, at_deadline, by },
            None => Event::Dropped { decision, at_deadline, by },
        };
        plain.step(line(1, 1), &event).unwrap();
    }
    let log = open(&disk);
    let state = log.state().unwrap();
    assert_eq!(state.digest(), plain.digest());
    assert_eq!(state.statistics(), plain.statistics());
    assert_eq!(state.count_pending(), 0);
}

#[test]
fn each_decision_settles_once_with_what_came_in_time() {
    for seed in 0..6 {
        check(seed, 60);
    }
}

mod full {
    #[test]
    fn each_of_10_000_decisions_settles_once_with_what_came_in_time() {
        for seed in 0..20 {
            super::check(seed, 500);
        }
    }
}

/// A line of this time that says this.
fn refused(log: &Log<Memory>, at: i64, event: &Event) -> StepError {
    log.state().unwrap().clone().step(line(99, at), event).unwrap_err()
}

#[test]
fn the_fold_trusts_no_line_about_deadlines() {
    let (_, mut log) = begun(60, Unreported::Reward(0.0));
    let at = 10 * SECOND;
    decide(&mut log, at);
    decide(&mut log, at);
    log.reward(at + 1, 2, 1.5).unwrap();
    let deadline = at + 60 * SECOND;
    let (of, by) = (None, None);
    let rewarded = |decision, reward, at_deadline| Event::Rewarded {
        decision,
        reward,
        of,
        at_deadline,
        by: None,
    };
    let dropped = Event::Dropped { decision: 1, at_deadline: true, by: None };
    let reported = Event::Reported { decision: 1, reward: 0.5, of, by: by.clone() };
    let late = Event::Late { decision: 1, reward: 0.5, of, by };
    let is_time = |error| matches!(error, StepError::Deadline { .. });
    let is_other = |error| matches!(error, StepError::Settles { .. });
    assert!(is_time(refused(&log, deadline - 1, &rewarded(1, 0.0, true))));
    assert!(is_time(refused(&log, deadline - 1, &late)));
    assert!(is_time(refused(&log, deadline, &reported)));
    assert!(is_other(refused(&log, deadline, &rewarded(1, 0.5, true))));
    assert!(is_other(refused(&log, deadline, &rewarded(2, 0.0, true))));
    assert!(is_other(refused(&log, deadline, &dropped)));
    assert!(matches!(refused(&log, deadline, &rewarded(1, 0.0, false)), StepError::Unheld { .. }));
    for right in [rewarded(1, 0.0, true), rewarded(2, 1.5, true), late] {
        log.state().unwrap().clone().step(line(99, deadline), &right).unwrap();
    }
    log.state().unwrap().clone().step(line(99, deadline - 1), &reported).unwrap();
    // None of them can stand in a log without a window.
    let (_, mut plain) = begun_with(Opening { window: None, ..opening(60, Unreported::Drop) });
    decide(&mut plain, at);
    for event in [rewarded(1, 0.0, true), dropped, reported] {
        assert!(matches!(refused(&plain, deadline, &event), StepError::NoWindow { .. }));
    }
    assert_eq!(plain.settle_due(deadline).unwrap(), 0);
    assert_eq!(plain.state().unwrap().next_deadline(), None);
}

#[test]
fn a_report_can_be_replaced_and_taken_back_and_a_different_second_one_is_refused() {
    let (disk, mut log) = begun(60, Unreported::Reward(-1.0));
    decide(&mut log, SECOND);
    assert_eq!(log.reward(2 * SECOND, 1, 0.5).unwrap(), Recorded::Now);
    assert_eq!(log.reward(2 * SECOND, 1, 0.5).unwrap(), Recorded::Before);
    let second = log.reward(2 * SECOND, 1, 0.75).unwrap_err().to_string();
    assert!(second.contains("has the reward 0.5, which counts from its deadline on"), "{second}");
    assert!(log.drop_decision(2 * SECOND, 1).is_err());
    assert_eq!(log.correct(3 * SECOND, 1, 0.75).unwrap(), Recorded::Now);
    assert_eq!(log.correct(3 * SECOND, 1, 0.75).unwrap(), Recorded::Before);
    assert_eq!(log.state().unwrap().reported(1), Some(0.75.into()));
    assert_eq!(log.state().unwrap().count_pending(), 1);
    log.retract(4 * SECOND, 1).unwrap();
    assert_eq!(log.state().unwrap().reported(1), None);
    // As a whole form would have it: the first is reported, the second is another one.
    let all = [(1, NewOutcome::Reward(1.0.into())), (1, NewOutcome::Reward(2.0.into()))];
    assert!(log.record_all(5 * SECOND, &all, false).is_err());
    let recorded = log.record_all(5 * SECOND, &all, true).unwrap();
    assert_eq!(recorded, [Recorded::Now, Recorded::Now]);
    assert_eq!(log.settle_due(61 * SECOND).unwrap(), 1);
    let outcome = log.state().unwrap().decision(1).unwrap().outcome;
    assert!(matches!(outcome, Outcome::Settled { reward, .. } if reward == 2.0.into()));
    // Taken back after the deadline, it is as if no outcome had come.
    log.retract(62 * SECOND, 1).unwrap();
    assert_eq!(log.reward(62 * SECOND, 1, 1.0).unwrap(), Recorded::Late);
    assert_eq!(log.reward(62 * SECOND, 1, 1.0).unwrap(), Recorded::Late);
    assert_eq!(log.settle_due(62 * SECOND).unwrap(), 1);
    let outcome = log.state().unwrap().decision(1).unwrap().outcome;
    assert!(matches!(outcome, Outcome::Settled { reward, .. } if reward == (-1.0).into()));
    let late = events(&disk).iter().filter(|event| matches!(event, Event::Late { .. })).count();
    assert_eq!((late, open(&disk).state()), (1, log.state()));
}

#[test]
fn a_drop_may_come_before_the_deadline_and_is_undone_only_where_it_would_not_be_repeated() {
    let (_, mut log) = begun(60, Unreported::Drop);
    decide(&mut log, SECOND);
    decide(&mut log, SECOND);
    log.drop_decision(2 * SECOND, 1).unwrap();
    assert!(log.reward(3 * SECOND, 1, 0.5).is_err());
    log.undrop(3 * SECOND, 1).unwrap();
    log.reward(4 * SECOND, 1, 0.5).unwrap();
    assert_eq!(log.settle_due(100 * SECOND).unwrap(), 2);
    let refused = log.undrop(101 * SECOND, 2);
    assert!(matches!(refused, Err(LogError::Step(StepError::StaysDropped { decision: 2 }))));
    assert_eq!(log.reward(102 * SECOND, 2, 0.5).unwrap(), Recorded::Late);
}

#[test]
fn what_is_held_is_said_to_be_held() {
    let (disk, mut log) = begun(60, Unreported::Reward(0.0));
    for _ in 0..3 {
        decide(&mut log, SECOND);
    }
    log.reward(2 * SECOND, 1, 3.0).unwrap();
    let found = history(&disk).unwrap();
    let said: Vec<_> = found.iter().map(|one| (one.outcome, one.reward, one.late)).collect();
    let (held, pending) = (OutcomeStatus::Reported, OutcomeStatus::Pending);
    assert_eq!(said, [(held, Some(3.0), false), (pending, None, false), (pending, None, false)]);
    let now = status(&disk, 3 * SECOND, 10).unwrap();
    assert_eq!((now.settled, now.pending.len(), now.reported), (0, 3, 1));
    assert_eq!(now.next_deadline.as_deref(), Some("1970-01-01T00:01:01.000000Z"));
    // Held outcomes are in no sum.
    assert!(now.tried.values().all(|tried| tried.outcomes == 0));
    log.settle_due(61 * SECOND).unwrap();
    log.reward(62 * SECOND, 2, 3.0).unwrap();
    let found = history(&disk).unwrap();
    let said: Vec<_> = found.iter().map(|one| (one.reward, one.late)).collect();
    assert_eq!(said, [(Some(3.0), false), (Some(0.0), true), (Some(0.0), false)]);
    let now = status(&disk, 63 * SECOND, 10).unwrap();
    assert_eq!((now.settled, now.reported, now.next_deadline), (3, 0, None));
}

#[test]
fn a_window_fits_its_log() {
    let window = |seconds, unreported| Some(Window { seconds, unreported });
    let plain = || opening(1, Unreported::Drop);
    let counts = |window| Opening { window, ..plain().about(Outcomes::Counts) };
    let yes_no = |window| Opening { window, ..plain().about(Outcomes::YesNo) };
    for (opening, words) in [
        (Opening { window: window(0, Unreported::Drop), ..plain() }, "a window has 1 to"),
        (Opening { window: window(u64::MAX, Unreported::Drop), ..plain() }, "a window has 1 to"),
        (opening(1, Unreported::Reward(3.5)), "a reward must be from -1 to 3, got 3.5"),
        (opening(1, Unreported::Reward(f64::NAN)), "a reward must be from -1 to 3, got NaN"),
        (yes_no(window(1, Unreported::Reward(0.0))), "no outcome where outcomes are yes or no"),
        (counts(window(1, Unreported::Reward(-1.0))), "no outcome where outcomes are counts"),
    ] {
        let error = opening.check().unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    counts(window(1, Unreported::Drop)).check().unwrap();
    yes_no(window(1, Unreported::Reward(-1.0))).check().unwrap();
    let said = opening(7 * 86_400, Unreported::Reward(0.0)).assumed().unwrap();
    assert_eq!(
        said[0],
        "An outcome is one number from -1 to 3. It counts if it comes within 7 days of its \
         decision; a decision without one by then gets 0."
    );
    // What is held must fit what outcomes become.
    let (_, mut log) = begun(60, Unreported::Drop);
    decide(&mut log, SECOND);
    log.reward(2 * SECOND, 1, 0.5).unwrap();
    let refused = log.change_outcomes(3 * SECOND, Outcomes::YesNo);
    assert!(matches!(refused, Err(LogError::Step(StepError::Contradicted { decision: 1, .. }))));
    log.correct(4 * SECOND, 1, 3.0).unwrap();
    log.change_outcomes(5 * SECOND, Outcomes::Counts).unwrap();
    assert_eq!(log.settle_due(61 * SECOND).unwrap(), 1);
}
