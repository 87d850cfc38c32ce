//! The fold: from the events of a log to what is known.

use crate::certificate::{Grounds, Offered, Position, Unlisted, midpoint};
use crate::event::{Cells, Event, FORMAT};
use crate::policy::{PolicyRefusal, PolicyTable, arms_sharing, read_policy};
use crate::recipe::{Context, Extension, Recipe, RecipeError};
use crate::statistics::{Change, Statistics, StatisticsError};
use plausibly::spec::{PolicySpec, Setting};
use std::collections::{BTreeMap, BTreeSet};
use thiserror::Error;

/// Why an event cannot follow what came before. The state is as it was.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum StepError {
    /// An event before the first, or a first that is not one.
    #[error("a log begins with the event `opened`, once")]
    Opening,
    /// A format of a newer version.
    #[error(
        "the events have format {found}, and this version reads {FORMAT}; use the version that wrote them"
    )]
    Format {
        /// The format found.
        found: u32,
    },
    /// A policy that cannot decide here.
    #[error(transparent)]
    Policy(#[from] PolicyRefusal),
    /// A range that is none.
    #[error("the range of rewards must be two numbers, the smaller one first, got {low} and {high}")]
    Range {
        /// The smaller one, supposedly.
        low: f64,
        /// The larger one, supposedly.
        high: f64,
    },
    /// Features that cannot be had.
    #[error(transparent)]
    Features(#[from] RecipeError),
    /// A number out of turn.
    #[error("{what} {found} is out of turn: the next is {next}")]
    OutOfTurn {
        /// What is numbered.
        what: &'static str,
        /// The number found.
        found: u64,
        /// The next one.
        next: u64,
    },
    /// Something that is not there.
    #[error("there is no {what} {number}")]
    Unknown {
        /// What.
        what: &'static str,
        /// Its number.
        number: u64,
    },
    /// A name that is taken.
    #[error("there is an action \"{label}\" already")]
    Taken {
        /// The name.
        label: String,
    },
    /// An action that was retired, or not in the set.
    #[error("action {action} cannot be {done}: {why}")]
    Unfit {
        /// Which.
        action: u64,
        /// What cannot be done.
        done: &'static str,
        /// Why not.
        why: &'static str,
    },
    /// A change that the outcome of a decision does not allow.
    #[error("decision {decision} {stored}; {refused}")]
    Outcome {
        /// Which decision.
        decision: u64,
        /// What is stored.
        stored: String,
        /// What was refused, and what to do.
        refused: &'static str,
    },
    /// A reward beyond the range.
    #[error("a reward must be from {low} to {high}, got {reward}; the range was fixed when the log began")]
    Reward {
        /// What was given.
        reward: f64,
        /// The smallest.
        low: f64,
        /// The largest.
        high: f64,
    },
    /// Sums that do not fit.
    #[error(transparent)]
    Statistics(#[from] StatisticsError),
}

/// What became of a decision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome {
    /// Its reward is outstanding.
    Pending,
    /// Its reward came with this line.
    Settled {
        /// What it paid.
        reward: f64,
        /// The line.
        seq: u64,
    },
    /// Its reward will never come.
    Dropped {
        /// The line that says so.
        seq: u64,
    },
}

/// A decision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decision {
    /// What was chosen.
    pub action: u64,
    /// From which set.
    pub set: u64,
    /// In which context, by number.
    context: u32,
    /// When, in microseconds since 1970.
    pub at_us: i64,
    /// With which line.
    pub seq: u64,
    /// What became of it.
    pub outcome: Outcome,
}

/// An action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionRecord {
    /// Its name.
    pub label: String,
    /// Its row.
    pub cells: Cells,
    /// Whether it is retired.
    pub retired: bool,
}

/// Everything a log says, at one of its lines. Equal logs give equal states, to the bit.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    policy: PolicySpec,
    table: PolicyTable,
    reward_range: (f64, f64),
    horizon: Option<u64>,
    seed: u64,
    recipe: Recipe,
    actions: Vec<ActionRecord>,
    live: BTreeMap<String, u64>,
    sets: Vec<Vec<u64>>,
    contexts: Vec<Context>,
    decisions: Vec<Decision>,
    pending: BTreeSet<u64>,
    statistics: Statistics,
    committed: Option<Committed>,
    encoded: Encoded,
}

/// Features of actions in the context that was looked at last: most decisions are about the same rows in the same context.
#[derive(Clone, Debug, Default)]
struct Encoded {
    context: Option<u32>,
    rows: BTreeMap<u64, Vec<f64>>,
}

/// What is remembered for speed is no part of what is known.
impl PartialEq for Encoded {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// What explore-then-commit committed to.
#[derive(Clone, Debug, PartialEq)]
struct Committed {
    /// Rewards before this line are in it.
    seq: u64,
    statistics: Statistics,
}

impl State {
    /// The state after the first event.
    ///
    /// # Errors
    /// If it is not `opened`, or what it says does not hold together.
    pub fn open(event: &Event) -> Result<Self, StepError> {
        let Event::Opened { format, policy, reward_range, horizon, seed, recipe } = event else {
            return Err(StepError::Opening);
        };
        if *format != FORMAT {
            return Err(StepError::Format { found: *format });
        }
        let (low, high) = *reward_range;
        if !(low < high && (high - low).is_finite()) {
            return Err(StepError::Range { low, high });
        }
        let (spec, table) = read_policy(policy, setting(recipe), *horizon)?;
        let statistics = Statistics::new(recipe.dim()).map_err(StatisticsError::from)?;
        Ok(Self {
            policy: spec,
            table,
            reward_range: *reward_range,
            horizon: *horizon,
            seed: *seed,
            recipe: recipe.clone(),
            actions: Vec::new(),
            live: BTreeMap::new(),
            sets: Vec::new(),
            contexts: Vec::new(),
            decisions: Vec::new(),
            pending: BTreeSet::new(),
            statistics,
            committed: None,
            encoded: Encoded::default(),
        })
    }

    /// One event further, at line `seq`.
    ///
    /// # Errors
    /// If it cannot follow; the state is then as it was.
    pub fn step(&mut self, seq: u64, at_us: i64, event: &Event) -> Result<(), StepError> {
        match event {
            Event::Opened { .. } => Err(StepError::Opening),
            Event::PolicyChanged { policy, horizon } => self.change_policy(policy, *horizon),
            Event::RecipeExtended { extension } => self.extend_recipe(extension),
            Event::ActionAdded { action, label, cells } => self.add_action(*action, label, cells),
            Event::ActionRetired { action } => self.retire(*action),
            Event::SetOffered { set, actions } => self.offer(*set, actions),
            Event::Decided { decision, set, context, chosen, label } => {
                let taken = Decision {
                    action: *chosen,
                    set: *set,
                    context: 0,
                    at_us,
                    seq,
                    outcome: Outcome::Pending,
                };
                self.decide(*decision, taken, context, label)
            }
            Event::Rewarded { decision, reward } => self.reward(*decision, *reward, seq),
            Event::Corrected { decision, reward } => self.correct(*decision, *reward, seq),
            Event::Retracted { decision } => self.retract(*decision),
            Event::Dropped { decision } => self.drop_decision(*decision, seq),
        }
    }

    fn change_policy(&mut self, policy: &PolicyTable, horizon: Option<u64>) -> Result<(), StepError> {
        let (spec, table) = self.resolved(policy, horizon)?;
        (self.policy, self.table, self.horizon, self.committed) = (spec, table, horizon, None);
        Ok(())
    }

    fn extend_recipe(&mut self, extension: &Extension) -> Result<(), StepError> {
        let recipe = self.recipe.extended(extension)?;
        let mut wide = self.statistics.clone();
        wide.widen(recipe.dim()).map_err(StatisticsError::from)?;
        if let Some(committed) = &mut self.committed {
            committed.statistics.widen(recipe.dim()).map_err(StatisticsError::from)?;
        }
        (self.statistics, self.recipe, self.encoded) = (wide, recipe, Encoded::default());
        Ok(())
    }

    fn add_action(&mut self, action: u64, label: &str, cells: &Cells) -> Result<(), StepError> {
        let next = self.actions.len() as u64;
        if action != next {
            return Err(StepError::OutOfTurn { what: "action", found: action, next });
        }
        if self.live.contains_key(label) {
            return Err(StepError::Taken { label: label.into() });
        }
        self.live.insert(label.into(), action);
        self.actions.push(ActionRecord { label: label.into(), cells: cells.clone(), retired: false });
        self.statistics.add_arm();
        if let Some(committed) = &mut self.committed {
            committed.statistics.add_arm();
        }
        Ok(())
    }

    fn retire(&mut self, action: u64) -> Result<(), StepError> {
        let record =
            at_mut(&mut self.actions, action).ok_or(StepError::Unknown { what: "action", number: action })?;
        if record.retired {
            return Err(StepError::Unfit { action, done: "retired", why: "it is retired already" });
        }
        record.retired = true;
        self.live.remove(&record.label);
        Ok(())
    }

    fn offer(&mut self, set: u64, actions: &[u64]) -> Result<(), StepError> {
        let next = self.sets.len() as u64;
        if set != next {
            return Err(StepError::OutOfTurn { what: "set", found: set, next });
        }
        for pair in actions.windows(2) {
            if pair[0] >= pair[1] {
                let why = "a set lists each action once, in the order of their numbers";
                return Err(StepError::Unfit { action: pair[1], done: "offered", why });
            }
        }
        for &action in actions {
            match at(&self.actions, action) {
                None => return Err(StepError::Unknown { what: "action", number: action }),
                Some(record) if record.retired => {
                    return Err(StepError::Unfit { action, done: "offered", why: "it is retired" });
                }
                Some(_) => {}
            }
        }
        self.sets.push(actions.to_vec());
        Ok(())
    }

    fn decide(
        &mut self,
        decision: u64,
        mut taken: Decision,
        context: &Context,
        label: &str,
    ) -> Result<(), StepError> {
        let next = self.decisions.len() as u64 + 1;
        if decision != next {
            return Err(StepError::OutOfTurn { what: "decision", found: decision, next });
        }
        let unknown = StepError::Unknown { what: "set", number: taken.set };
        let set = at(&self.sets, taken.set).ok_or(unknown)?;
        let action = taken.action;
        if set.binary_search(&action).is_err() {
            return Err(StepError::Unfit { action, done: "chosen", why: "it is not in the set" });
        }
        let record =
            at(&self.actions, action).ok_or(StepError::Unknown { what: "action", number: action })?;
        if record.retired || record.label != label {
            let why = "it is retired, or has another name";
            return Err(StepError::Unfit { action, done: "chosen", why });
        }
        let known = self.contexts.last() == Some(context);
        // A context that is not known yet is interned only when nothing can go wrong any more.
        let features = if known {
            self.encode(action, self.contexts.len() - 1)?
        } else {
            self.recipe.encode(label, &record.cells, context)?
        };
        self.statistics.apply(index(action), &features, Change::Taken)?;
        let commits =
            self.policy.commits_after(self.horizon.unwrap_or(1)).is_some_and(|rounds| decision > rounds);
        if commits && self.committed.is_none() {
            self.committed = Some(Committed { seq: taken.seq, statistics: self.statistics.clone() });
        }
        taken.context = self.intern(context);
        self.decisions.push(taken);
        self.pending.insert(decision);
        Ok(())
    }

    /// Contexts that repeat mostly do so in a row, and where there is none all are the same.
    fn intern(&mut self, context: &Context) -> u32 {
        if self.contexts.last() != Some(context) {
            self.contexts.push(context.clone());
        }
        u32::try_from(self.contexts.len() - 1).expect("fewer contexts than decisions of any log")
    }

    fn reward(&mut self, decision: u64, reward: f64, seq: u64) -> Result<(), StepError> {
        let scaled = self.scaled(reward)?;
        let stored = self.decision(decision)?;
        if stored.outcome != Outcome::Pending {
            let refused = "use --correct to replace a reward; drops are final";
            return Err(self.refusal(decision, refused));
        }
        self.apply(decision, Change::Settled(scaled))?;
        self.set_outcome(decision, Outcome::Settled { reward, seq });
        Ok(())
    }

    fn correct(&mut self, decision: u64, reward: f64, seq: u64) -> Result<(), StepError> {
        let scaled = self.scaled(reward)?;
        let Outcome::Settled { reward: before, .. } = self.decision(decision)?.outcome else {
            return Err(self.refusal(decision, "there is no reward to correct"));
        };
        let before = self.scaled(before)?;
        self.apply(decision, Change::Unsettled(before))?;
        self.apply(decision, Change::Settled(scaled))?;
        if self.is_committed(decision) {
            self.apply_committed(decision, Change::Unsettled(before))?;
            self.apply_committed(decision, Change::Settled(scaled))?;
            // It keeps its place among the rewards that were committed to.
            let Outcome::Settled { seq, .. } = self.decision(decision)?.outcome else {
                unreachable!("looked at above")
            };
            self.set_outcome(decision, Outcome::Settled { reward, seq });
        } else {
            self.set_outcome(decision, Outcome::Settled { reward, seq });
        }
        Ok(())
    }

    fn retract(&mut self, decision: u64) -> Result<(), StepError> {
        let Outcome::Settled { reward, .. } = self.decision(decision)?.outcome else {
            return Err(self.refusal(decision, "there is no reward to retract"));
        };
        let before = self.scaled(reward)?;
        self.apply(decision, Change::Unsettled(before))?;
        if self.is_committed(decision) {
            self.apply_committed(decision, Change::Unsettled(before))?;
        }
        self.set_outcome(decision, Outcome::Pending);
        Ok(())
    }

    fn drop_decision(&mut self, decision: u64, seq: u64) -> Result<(), StepError> {
        if self.decision(decision)?.outcome != Outcome::Pending {
            return Err(self.refusal(decision, "only a decision whose reward is outstanding can be dropped"));
        }
        self.apply(decision, Change::Dropped)?;
        self.set_outcome(decision, Outcome::Dropped { seq });
        Ok(())
    }

    fn set_outcome(&mut self, decision: u64, outcome: Outcome) {
        if outcome == Outcome::Pending {
            self.pending.insert(decision);
        } else {
            self.pending.remove(&decision);
        }
        self.decisions[index(decision) - 1].outcome = outcome;
    }

    fn apply(&mut self, decision: u64, change: Change) -> Result<(), StepError> {
        let (action, features) = self.taken(decision)?;
        Ok(self.statistics.apply(action, &features, change)?)
    }

    fn apply_committed(&mut self, decision: u64, change: Change) -> Result<(), StepError> {
        let (action, features) = self.taken(decision)?;
        match &mut self.committed {
            Some(committed) => Ok(committed.statistics.apply(action, &features, change)?),
            None => Ok(()),
        }
    }

    fn is_committed(&self, decision: u64) -> bool {
        let settled = match self.decisions[index(decision) - 1].outcome {
            Outcome::Settled { seq, .. } => seq,
            Outcome::Pending | Outcome::Dropped { .. } => return false,
        };
        self.committed.as_ref().is_some_and(|committed| settled < committed.seq)
    }

    fn taken(&mut self, decision: u64) -> Result<(usize, Vec<f64>), StepError> {
        let &Decision { action, context, .. } = self.decision(decision)?;
        Ok((index(action), self.encode(action, context as usize)?))
    }

    /// The features of an action in a context, by their numbers.
    fn encode(&mut self, action: u64, context: usize) -> Result<Vec<f64>, StepError> {
        let number = u32::try_from(context).ok();
        if self.encoded.context != number {
            self.encoded = Encoded { context: number, rows: BTreeMap::new() };
        }
        if let Some(features) = self.encoded.rows.get(&action) {
            return Ok(features.clone());
        }
        let record = &self.actions[index(action)];
        let features = self.recipe.encode(&record.label, &record.cells, &self.contexts[context])?;
        self.encoded.rows.insert(action, features.clone());
        Ok(features)
    }

    fn refusal(&self, decision: u64, refused: &'static str) -> StepError {
        let stored = match self.decisions[index(decision) - 1].outcome {
            Outcome::Pending => "has no reward yet".into(),
            Outcome::Settled { reward, .. } => format!("has the reward {reward}"),
            Outcome::Dropped { .. } => "was dropped: its reward was said to never come".into(),
        };
        StepError::Outcome { decision, stored, refused }
    }

    /// A reward on the scale statistics are kept in, from −½ to ½.
    fn scaled(&self, reward: f64) -> Result<f64, StepError> {
        let (low, high) = self.reward_range;
        if reward >= low && reward <= high {
            // Rounding may carry the quotient beyond the ends.
            Ok(((reward - midpoint(self.reward_range)) / (high - low)).clamp(-0.5, 0.5))
        } else {
            Err(StepError::Reward { reward, low, high })
        }
    }
}

/// What can be asked.
impl State {
    /// Who decides.
    pub fn policy(&self) -> (&PolicySpec, &PolicyTable) {
        (&self.policy, &self.table)
    }

    /// A policy with every field filled in, as it would decide here.
    pub(crate) fn resolved(
        &self,
        policy: &PolicyTable,
        horizon: Option<u64>,
    ) -> Result<(PolicySpec, PolicyTable), StepError> {
        Ok(read_policy(policy, setting(&self.recipe), horizon)?)
    }

    /// Whether this policy is another than the one there is.
    ///
    /// # Errors
    /// If it cannot decide here.
    pub fn would_change(&self, policy: &PolicyTable, horizon: Option<u64>) -> Result<bool, StepError> {
        let (_, table) = self.resolved(policy, horizon)?;
        Ok(table != self.table || horizon != self.horizon)
    }

    /// The smallest and the largest reward there can be.
    pub fn reward_range(&self) -> (f64, f64) {
        self.reward_range
    }

    /// Decisions expected in all, if that was said.
    pub fn horizon(&self) -> Option<u64> {
        self.horizon
    }

    /// How rows become features.
    pub fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// All actions there ever were, by number.
    pub fn actions(&self) -> &[ActionRecord] {
        &self.actions
    }

    /// The number of the action of this name that is not retired.
    pub fn live(&self, label: &str) -> Option<u64> {
        self.live.get(label).copied()
    }

    /// The last set offered, with its number.
    pub fn last_set(&self) -> Option<(u64, &[u64])> {
        Some((self.sets.len().checked_sub(1)? as u64, self.sets.last()?))
    }

    /// All decisions, in order; the first has number 1.
    pub fn decisions(&self) -> &[Decision] {
        &self.decisions
    }

    /// A decision.
    ///
    /// # Errors
    /// If there is none of this number.
    pub fn decision(&self, decision: u64) -> Result<&Decision, StepError> {
        let unknown = StepError::Unknown { what: "decision", number: decision };
        decision.checked_sub(1).and_then(|before| at(&self.decisions, before)).ok_or(unknown)
    }

    /// The context a decision was taken in.
    pub fn context(&self, decision: &Decision) -> &Context {
        &self.contexts[decision.context as usize]
    }

    /// Decisions whose rewards are outstanding, the oldest first.
    pub fn pending(&self) -> impl ExactSizeIterator<Item = u64> {
        self.pending.iter().copied()
    }

    /// Exact sums.
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// The grounds of a decision about this set in this context, if it were taken now. `listed` says which of the set's actions to list, by their places in it; all
    /// others are counted as `unlisted` says.
    ///
    /// # Errors
    /// If the set is unknown or empty, or a row cannot be encoded in the context.
    pub fn grounds(
        &self,
        moment: Moment<'_>,
        listed: Option<(&[usize], Unlisted)>,
    ) -> Result<Grounds, StepError> {
        self.grounds_under(moment, listed, (&self.policy, &self.table, self.horizon))
    }

    /// The same under another policy than the log's.
    ///
    /// # Errors
    /// As [`State::grounds`].
    pub(crate) fn grounds_under(
        &self,
        moment: Moment<'_>,
        listed: Option<(&[usize], Unlisted)>,
        (policy, table, horizon): (&PolicySpec, &PolicyTable, Option<u64>),
    ) -> Result<Grounds, StepError> {
        let unknown = StepError::Unknown { what: "set", number: moment.set };
        let set = at(&self.sets, moment.set).ok_or(unknown)?;
        let (places, unlisted) = match listed {
            Some((places, unlisted)) => (places.to_vec(), Some(unlisted)),
            None => ((0..set.len()).collect(), None),
        };
        let chosen: Vec<u64> = places.iter().map(|place| set[*place]).collect();
        let actions = chosen.iter().map(|&id| {
            let record = &self.actions[index(id)];
            let features = self.recipe.encode(&record.label, &record.cells, moment.context)?;
            Ok(Offered { id, label: record.label.clone(), features })
        });
        let actions = actions.collect::<Result<Vec<_>, StepError>>()?;
        let (ridge, indices) = (policy.ridge(), chosen.iter().map(|id| index(*id)).collect::<Vec<_>>());
        let first = self.sets.first().map_or(1, Vec::len);
        Ok(Grounds {
            log: moment.position,
            decision: self.decisions.len() as u64 + 1,
            at: moment.at,
            policy: table.clone(),
            reward_range: self.reward_range,
            horizon,
            seed: self.seed,
            theta_norm_bound: self.recipe.theta_norm_bound(),
            arms_sharing: (self.recipe.dim() == 0).then(|| arms_sharing(first, self.actions.len())),
            context: moment.context.iter().map(|(key, value)| (key.into(), value.into())).collect(),
            features: self.recipe.feature_names(),
            statistics: self.statistics.settled(&indices, ridge),
            design: self.statistics.all(&indices, ridge),
            committed: self.committed.as_ref().map(|committed| committed.statistics.settled(&indices, ridge)),
            digest: self.statistics.digest(),
            actions,
            unlisted,
        })
    }
}

/// When and where a decision is taken.
#[derive(Clone, Debug)]
pub struct Moment<'a> {
    /// The place in the log.
    pub position: Position,
    /// The time, in UTC.
    pub at: String,
    /// From which set.
    pub set: u64,
    /// In which context.
    pub context: &'a Context,
}

fn setting(recipe: &Recipe) -> Setting {
    if recipe.dim() == 0 { Setting::Arms } else { Setting::Changing }
}

fn index(number: u64) -> usize {
    usize::try_from(number).expect("numbers count what is in memory")
}

fn at<T>(items: &[T], number: u64) -> Option<&T> {
    items.get(usize::try_from(number).ok()?)
}

fn at_mut<T>(items: &mut [T], number: u64) -> Option<&mut T> {
    items.get_mut(usize::try_from(number).ok()?)
}
