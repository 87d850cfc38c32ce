//! Windows: an outcome that comes before the deadline of its decision is held, and counts from the
//! deadline on. Without a window early outcomes would bias what is known, because a success mostly
//! comes soon and a failure is only the end of waiting.
//!
//! The state never looks at a clock. That a deadline has passed is an event, and the state checks
//! that the time of its line allows it.

use super::outcomes::is_of_kind;
use super::{Outcome, State, StepError};
use crate::event::{Event, Outcomes, Unreported, Window};
use crate::reward::Reward;
use crate::scale::Scale;
use crate::time::Time;
use std::collections::BTreeMap;

/// The longest window: a hundred years of 365 days.
pub const LONGEST_WINDOW: u64 = 3_153_600_000;

/// A decision, and what came of it.
pub(super) type KeptOutcome = (u64, f64, Option<u64>);

/// What has come before and after deadlines.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Windowed {
    window: Window,
    /// Whether it is unknown which outcomes are held, because only some lines were read.
    partial: bool,
    /// The outcomes held until the deadlines of their decisions.
    reported: BTreeMap<u64, Reward>,
    /// The last outcome of a decision that came too late, so that a repeated one writes nothing.
    late: BTreeMap<u64, Reward>,
}

impl Windowed {
    /// A window without any outcome yet.
    pub(super) fn new(window: Window) -> Self {
        Self { window, partial: false, reported: BTreeMap::new(), late: BTreeMap::new() }
    }

    /// The outcomes that are held, and those that came too late.
    pub(super) fn outcomes(&self) -> [Vec<KeptOutcome>; 2] {
        let kept = |outcomes: &BTreeMap<u64, Reward>| {
            outcomes.iter().map(|(decision, reward)| (*decision, reward.value, reward.of)).collect()
        };
        [kept(&self.reported), kept(&self.late)]
    }

    /// Restores the outcomes, if they are known.
    pub(super) fn restore(&mut self, outcomes: Option<&[Vec<KeptOutcome>; 2]>) {
        self.partial = outcomes.is_none();
        let read = |kept: &Vec<KeptOutcome>| {
            kept.iter().map(|&(decision, value, of)| (decision, Reward { value, of })).collect()
        };
        if let Some([reported, late]) = outcomes {
            (self.reported, self.late) = (read(reported), read(late));
        }
    }
}

/// Read access.
impl State {
    /// How long outcomes count, if that is limited.
    pub fn window(&self) -> Option<Window> {
        self.windowed.as_ref().map(|windowed| windowed.window)
    }

    /// The first instant at which no outcome of a decision counts any more; `None` in a log without
    /// a window.
    ///
    /// # Errors
    /// If there is no decision of this number.
    pub fn deadline(&self, decision: u64) -> Result<Option<Time>, StepError> {
        let at_us = self.decision(decision)?.at_us;
        Ok(self.window().map(|window| window.deadline(at_us)))
    }

    /// The outcome of a decision that is held until its deadline.
    pub fn reported(&self, decision: u64) -> Option<Reward> {
        self.windowed.as_ref()?.reported.get(&decision).copied()
    }

    /// The number of outcomes that are held until deadlines.
    pub fn held(&self) -> usize {
        self.windowed.as_ref().map_or(0, |windowed| windowed.reported.len())
    }

    /// The last outcome of a decision that came too late.
    pub(crate) fn late(&self, decision: u64) -> Option<Reward> {
        self.windowed.as_ref()?.late.get(&decision).copied()
    }

    /// The next deadline of a decision that is not settled. It may have passed.
    pub fn next_deadline(&self) -> Option<Time> {
        // Times of lines never go back, so the oldest pending decision has the first deadline.
        let oldest = self.pending().next()?;
        self.deadline(oldest).ok()?
    }

    /// The event that settles a pending decision at its deadline, if that is at this time or
    /// before.
    pub(crate) fn due(&self, decision: u64, at_us: i64) -> Result<Option<Event>, StepError> {
        let Some(windowed) = &self.windowed else { return Ok(None) };
        if self.is_early(decision, at_us)? {
            return Ok(None);
        }
        Ok(Some(match windowed.follows(decision) {
            Some(Reward { value: reward, of }) => {
                Event::Rewarded { decision, reward, of, at_deadline: true, by: None }
            }
            None => Event::Dropped { decision, at_deadline: true, by: None },
        }))
    }
}

impl Windowed {
    /// What a decision settles with at its deadline; `None` if it is dropped.
    fn follows(&self, decision: u64) -> Option<Reward> {
        let default = match self.window.unreported {
            Unreported::Reward(value) => Some(Reward::from(value)),
            Unreported::Drop => None,
        };
        self.reported.get(&decision).copied().or(default)
    }
}

/// Events.
impl State {
    fn need_window(&self, what: &'static str) -> Result<&Windowed, StepError> {
        self.windowed.as_ref().ok_or(StepError::NoWindow { what })
    }

    /// Whether a time is before the deadline of a decision.
    fn is_early(&self, decision: u64, at_us: i64) -> Result<bool, StepError> {
        Ok(self.deadline(decision)?.is_some_and(|deadline| at_us < deadline.micros()))
    }

    /// Checks that a line of this time can say that the deadline of a decision has passed, or that
    /// it has not.
    fn check_time(&self, decision: u64, at_us: i64, passed: bool) -> Result<(), StepError> {
        let Some(deadline) = self.deadline(decision)? else { return Ok(()) };
        if self.is_early(decision, at_us)? != passed {
            return Ok(());
        }
        Err(StepError::Deadline { decision, deadline, at: Time::from_micros(at_us), passed })
    }

    /// Holds an outcome until the deadline of its decision.
    pub(super) fn report(
        &mut self,
        decision: u64,
        reward: Reward,
        at_us: i64,
    ) -> Result<(), StepError> {
        self.need_window("a reported outcome")?;
        self.check_reward(decision, reward)?;
        let is_open = self.decision(decision)?.outcome == Outcome::Pending;
        if !is_open || self.reported(decision).is_some() {
            return Err(self.refusal(decision, "to replace it, add --correct"));
        }
        self.check_time(decision, at_us, false)?;
        self.seen.counts |= reward.of.is_some();
        self.hold(decision, Some(reward));
        Ok(())
    }

    /// Records an outcome that came too late, and counts for nothing.
    pub(super) fn note_late(
        &mut self,
        decision: u64,
        reward: Reward,
        at_us: i64,
    ) -> Result<(), StepError> {
        self.need_window("a late outcome")?;
        self.check_reward(decision, reward)?;
        self.check_time(decision, at_us, true)?;
        if let Some(windowed) = &mut self.windowed {
            windowed.late.insert(decision, reward);
        }
        Ok(())
    }

    /// With `at_deadline`, checks that the deadline has passed and that the decision settles like
    /// this: with this reward, or dropped. Without it, checks that outcomes count when they come.
    pub(super) fn check_settling(
        &self,
        decision: u64,
        settles: Option<Reward>,
        (at_us, at_deadline): (i64, bool),
    ) -> Result<(), StepError> {
        if !at_deadline {
            // A drop says that no outcome can come, which may be known before the deadline.
            let counts_now = self.windowed.is_none() || settles.is_none();
            return if counts_now { Ok(()) } else { Err(StepError::Unheld { decision }) };
        }
        let windowed = self.need_window("an end of a window")?;
        let follows = windowed.follows(decision);
        self.check_time(decision, at_us, true)?;
        if windowed.partial {
            return Ok(());
        }
        let same = match (follows, settles) {
            (Some(follows), Some(settles)) => follows.is(settles),
            (follows, settles) => follows.is_none() && settles.is_none(),
        };
        if same { Ok(()) } else { Err(StepError::Settles { decision }) }
    }

    /// Replaces the outcome that is held for a decision, or removes it.
    pub(super) fn hold(&mut self, decision: u64, reward: Option<Reward>) {
        let Some(windowed) = &mut self.windowed else { return };
        match reward {
            Some(reward) => windowed.reported.insert(decision, reward),
            None => windowed.reported.remove(&decision),
        };
    }

    /// Whether a dropped decision would be dropped again at once if it were pending.
    pub(super) fn stays_dropped(&self, decision: u64, at_us: i64) -> Result<bool, StepError> {
        let drops = self.windowed.as_ref().is_some_and(|own| own.follows(decision).is_none());
        Ok(drops && !self.is_early(decision, at_us)?)
    }

    /// Checks that a log with such outcomes can have its window.
    pub(super) fn check_window(&self, outcomes: Outcomes) -> Result<(), StepError> {
        let Some(Windowed { window, reported, .. }) = &self.windowed else { return Ok(()) };
        self.needs_format(2, "a window")?;
        let seconds = window.seconds;
        if !(1..=LONGEST_WINDOW).contains(&seconds) {
            return Err(StepError::Window { seconds });
        }
        if let Unreported::Reward(default) = window.unreported {
            self.on(Scale::shares(self.reward_range), default.into())?;
            if !is_of_kind(default.into(), outcomes, self.reward_range) {
                return Err(StepError::WindowDefault { default, outcomes });
            }
        }
        // Earlier outcomes may be yes or no where later ones are counts.
        let is_yes_or_no = |reward| is_of_kind(reward, Outcomes::YesNo, self.reward_range);
        let mut singles = reported.iter().filter(|(_, reward)| reward.of.is_none());
        match singles.find(|(_, reward)| outcomes != Outcomes::Number && !is_yes_or_no(**reward)) {
            Some((&decision, reward)) => {
                Err(StepError::Contradicted { decision, reward: reward.value, outcomes })
            }
            None => Ok(()),
        }
    }
}
