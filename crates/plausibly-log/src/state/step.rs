//! Applies events to the state. Checks come before changes, so that a refused event leaves the
//! state unchanged.

use super::decisions::{Decisions, Details, Facts, read_forecasts};
use super::keys::Keys;
use super::needs::Line;
use super::parts::Parts;
use super::request_rows::check_rows;
use super::window::Windowed;
use super::{
    ActionRecord, Committed, Decision, Outcome, Seen, State, StepError, check_request, index,
};
use crate::assumed::assumed;
use crate::certificate::Amended;
use crate::event::{
    Cells, Event, FIRST_FORMAT, FORMAT, LONGEST_KEY, Outcomes, RecordedForecasts, RequestRows,
    Upgraded,
};
use crate::policy::{PolicyTable, natural_ridge, read_settled, setting};
use crate::recipe::{Context, Extension, Recipe};
use crate::reward::Reward;
use crate::scale::Scale;
use crate::statistics::{Change, Statistics, StatisticsError};
use plausibly::Forecasts;
use plausibly::spec::{MOST_PAIRED, PolicyKind, PolicySpec};
use std::collections::BTreeMap;
use std::sync::Arc;

impl State {
    /// The state after the first event.
    ///
    /// # Errors
    /// If it is not `opened`, or its settings are not consistent.
    pub fn open(event: &Event) -> Result<Self, StepError> {
        let Event::Opened {
            format,
            policy,
            reward_range,
            horizon,
            seed,
            outcomes,
            upgraded,
            growth,
            window,
            recipe,
            ..
        } = event
        else {
            return Err(StepError::Opening);
        };
        check_format(*format, upgraded.as_ref(), *outcomes, growth.is_some())?;
        let rules = rules(*format, upgraded.as_ref(), 0);
        let length = check_range(*reward_range, recipe)?;
        let natural = |spec: &PolicySpec| natural_ridge(spec, recipe, *reward_range);
        let (spec, table) = read_settled(policy, setting(recipe.dim()), *horizon, rules, natural)?;
        check_outcomes(&spec, *outcomes)?;
        // The first set decides whether it stays so.
        let by_action = *format >= 2 && !recipe.is_given() && recipe.context().is_empty();
        let statistics = Statistics::new(recipe.dim(), by_action).map_err(StatisticsError::from)?;
        let mut opened = Self {
            format: *format,
            upgraded: upgraded.clone(),
            policy: spec,
            table,
            reward_range: *reward_range,
            outcomes: *outcomes,
            amended: Amended::default(),
            horizon: *horizon,
            seed: *seed,
            recipe: recipe.clone(),
            first_dim: recipe.dim(),
            first_bound: recipe.theta_norm_bound(length),
            growth: *growth,
            actions: Vec::new(),
            live: BTreeMap::new(),
            sets: Vec::new(),
            set_of: BTreeMap::new(),
            last_set: None,
            last_context: Context::default(),
            decisions: Decisions::default(),
            keys: Keys::default(),
            paused: false,
            windowed: window.map(Windowed::new),
            seen: Seen::default(),
            statistics,
            rows: None,
            committed: None,
            phases: None,
            parts: Parts::default(),
            terms_at: 1,
            settled_at: 1,
        };
        opened.check_link(&opened.policy)?;
        if opened.policy.link().is_some() {
            opened.keep_rows();
        }
        opened.check_window(*outcomes)?;
        Ok(opened)
    }

    /// Applies the event of a line. Changes of settled outcomes need [`State::keep_details`].
    ///
    /// # Errors
    /// If the event cannot follow; the state is then unchanged.
    pub fn step(&mut self, line: Line, event: &Event) -> Result<(), StepError> {
        let applied = self.apply_event(line, event);
        if let Some(decision) = event.outcome_of() {
            self.decisions.forget(decision);
        }
        applied?;
        let seq = line.seq;
        match event {
            Event::Decided { .. }
            | Event::ActionAdded { .. }
            | Event::ActionRetired { .. }
            | Event::SetOffered { .. }
            | Event::Reported { .. }
            | Event::Late { .. }
            | Event::Dropped { .. }
            | Event::Undropped { .. }
            | Event::Paused { .. }
            | Event::Resumed { .. } => {}
            Event::Rewarded { .. } | Event::Corrected { .. } | Event::Retracted { .. } => {
                self.settled_at = seq;
            }
            Event::Opened { .. }
            | Event::PolicyChanged { .. }
            | Event::OutcomesChanged { .. }
            | Event::RecipeExtended { .. } => (self.terms_at, self.settled_at) = (seq, seq),
        }
        Ok(())
    }

    /// Applies an event that makes settings, actions or the recipe.
    pub(super) fn apply_structure(&mut self, event: &Event) -> Result<(), StepError> {
        match event {
            Event::PolicyChanged { policy, horizon, .. } => self.change_policy(policy, *horizon),
            Event::OutcomesChanged { outcomes, .. } => self.change_outcomes(*outcomes),
            Event::RecipeExtended { extension } => self.extend_recipe(extension),
            Event::ActionAdded { action, label, cells } => self.add_action(*action, label, cells),
            Event::ActionRetired { action } => self.retire(*action),
            _ => Err(StepError::Opening),
        }
    }

    /// Refuses an event about all outcomes there have ever been, if some are in the log alone.
    fn check_whole(&self, event: &Event) -> Result<(), StepError> {
        let looks_back = match event {
            Event::OutcomesChanged { outcomes, .. } => *outcomes != Outcomes::Number,
            Event::PolicyChanged { policy, horizon, .. } => {
                self.resolved(policy, *horizon, self.rules())?.0.is_bell()
            }
            _ => false,
        };
        if looks_back && !self.is_whole() { Err(StepError::Unread) } else { Ok(()) }
    }

    fn apply_event(&mut self, line: Line, event: &Event) -> Result<(), StepError> {
        let Line { seq, at_us, begin } = line;
        self.check_by(event.by())?;
        match event {
            Event::Opened { .. }
            | Event::PolicyChanged { .. }
            | Event::OutcomesChanged { .. }
            | Event::RecipeExtended { .. }
            | Event::ActionAdded { .. }
            | Event::ActionRetired { .. } => {
                self.check_whole(event)?;
                self.apply_structure(event)
            }
            Event::SetOffered { set, actions } => self.offer(*set, actions),
            Event::Decided {
                decision,
                set,
                context,
                chosen,
                label,
                key,
                request,
                rows,
                forecasts,
                ..
            } => {
                self.check_running()?;
                let forecasts = self.forecasts_of(*forecasts)?;
                check_request(key.as_deref(), request.as_deref())?;
                let key = key.as_deref().map(|key| self.new_key(key)).transpose()?;
                let taken = Decision {
                    action: *chosen,
                    set: *set,
                    run: 0,
                    at_us,
                    seq,
                    begin,
                    outcome: Outcome::Pending,
                };
                let taken = (taken, forecasts);
                self.decide(*decision, taken, (context, rows.as_ref()), label)?;
                if let Some(key) = key {
                    self.keys.add(&key, *decision);
                }
                Ok(())
            }
            Event::Reported { decision, reward, of, .. } => {
                self.report(*decision, Reward { value: *reward, of: *of }, at_us)
            }
            Event::Late { decision, reward, of, .. } => {
                self.note_late(*decision, Reward { value: *reward, of: *of }, at_us)
            }
            Event::Rewarded { decision, reward, of, at_deadline, .. } => {
                let reward = Reward { value: *reward, of: *of };
                self.reward(*decision, reward, seq, (at_us, *at_deadline))
            }
            Event::Corrected { decision, reward, of, .. } => {
                self.correct(*decision, Reward { value: *reward, of: *of }, seq)
            }
            Event::Retracted { decision, .. } => self.retract(*decision),
            Event::Dropped { decision, at_deadline, .. } => {
                self.drop_decision(*decision, seq, (at_us, *at_deadline))
            }
            Event::Undropped { decision, .. } => self.undrop(*decision, at_us),
            Event::Paused { .. } => self.pause(true),
            Event::Resumed { .. } => self.pause(false),
        }
    }

    fn change_policy(
        &mut self,
        policy: &PolicyTable,
        horizon: Option<u64>,
    ) -> Result<(), StepError> {
        let (spec, table) = self.resolved(policy, horizon, self.rules())?;
        check_outcomes(&spec, self.outcomes)?;
        if !self.sets.is_empty() {
            // Refused here, if no decision could follow.
            self.bell_for(&spec, &[], &self.last_context)?;
        }
        self.check_link(&spec)?;
        if spec.link().is_some() && self.rows.is_none() {
            return Err(StepError::NoRows);
        }
        (self.policy, self.table, self.horizon) = (spec, table, horizon);
        (self.committed, self.phases) = (None, None);
        Ok(())
    }

    fn extend_recipe(&mut self, extension: &Extension) -> Result<(), StepError> {
        let recipe = self.extended(extension)?;
        let mut wide = self.statistics.clone();
        wide.widen(recipe.dim()).map_err(StatisticsError::from)?;
        let rows = self.widened_rows(recipe.dim())?;
        if let Some(committed) = &mut self.committed {
            committed.statistics.widen(recipe.dim()).map_err(StatisticsError::from)?;
        }
        (self.statistics, self.rows) = (wide, rows);
        self.recipe = recipe;
        self.parts.clear();
        Ok(())
    }

    fn add_action(&mut self, action: u64, label: &str, cells: &Cells) -> Result<(), StepError> {
        in_turn("action", action, self.actions.len() as u64)?;
        if self.live.contains_key(label) {
            return Err(StepError::Taken { label: label.into() });
        }
        self.live.insert(label.into(), action);
        self.actions.push(ActionRecord {
            label: label.into(),
            cells: cells.clone(),
            retired: false,
            taken: false,
        });
        self.parts.add_action();
        self.statistics.add_arm();
        if let Some(committed) = &mut self.committed {
            committed.statistics.add_arm();
        }
        Ok(())
    }

    fn retire(&mut self, action: u64) -> Result<(), StepError> {
        if self.action(action)?.retired {
            return Err(StepError::Unfit { action, done: "retired", why: "it is retired already" });
        }
        let record = &mut self.actions[index(action)];
        record.retired = true;
        self.live.remove(&record.label);
        Ok(())
    }

    fn offer(&mut self, set: u64, actions: &[u64]) -> Result<(), StepError> {
        in_turn("set", set, self.sets.len() as u64)?;
        let unfit = |action, why| Err(StepError::Unfit { action, done: "offered", why });
        if actions.is_empty() {
            return Err(StepError::NoActions);
        }
        if let Some(pair) = actions.windows(2).find(|pair| pair[0] >= pair[1]) {
            return unfit(pair[1], "a set lists each action once, in the order of their numbers");
        }
        for &action in actions {
            if self.action(action)?.retired {
                return unfit(action, "it is retired");
            }
        }
        if set == 0 && actions.len() > MOST_PAIRED {
            self.statistics.forget_earned();
        }
        let actions: Arc<[u64]> = actions.into();
        self.set_of.entry(Arc::clone(&actions)).or_insert(set);
        self.sets.push(actions);
        Ok(())
    }

    fn decide(
        &mut self,
        decision: u64,
        (mut taken, forecasts): (Decision, Option<Forecasts>),
        (context, rows): (&Context, Option<&RequestRows>),
        label: &str,
    ) -> Result<(), StepError> {
        in_turn("decision", decision, self.decisions.len() + 1)?;
        let (set, action) = (self.set(taken.set)?, taken.action);
        let unfit = |why| Err(StepError::Unfit { action, done: "chosen", why });
        let Ok(place) = set.binary_search(&action) else {
            return unfit("it is not in the set");
        };
        let record = self.action(action)?;
        if record.retired || record.label != label {
            return unfit("it is retired, or has another name");
        }
        let phases = self.phases_for(&self.policy.kind, set, context)?;
        if let Some(rows) = rows {
            self.may_have_rows(&self.policy)?;
            check_rows(rows, set.len())?;
        }
        let features = self.features_in(action, context, rows.map(|rows| (rows, place)))?;
        let own_parts = rows.map(|rows| self.parts_of_row(action, rows, place)).transpose()?;
        self.change_rows(&features, Change::Taken)?;
        if let Err(refused) = self.statistics.apply(index(action), &features, Change::Taken) {
            self.change_rows(&features, Change::Dropped)?;
            return Err(refused.into());
        }
        let commits = self
            .policy
            .commits_after(self.horizon.unwrap_or(1))
            .is_some_and(|rounds| decision > rounds);
        if commits && self.committed.is_none() {
            self.committed =
                Some(Committed { seq: taken.seq, statistics: self.statistics.clone() });
        }
        if let Some(mut phases) = phases {
            phases.apply(decision, action, Change::Taken)?;
            self.phases = Some(phases);
        }
        if own_parts.is_some() {
            // What an action pays with rows that change is no single number.
            self.statistics.forget_earned();
            self.seen.own_rows = true;
        }
        self.seen.other_sets |= taken.set != 0;
        taken.run = self.run_of(context);
        self.last_set = Some(taken.set);
        self.actions[index(action)].taken = true;
        let facts = Facts { context: context.clone(), forecasts, own_parts };
        self.decisions.push(taken, Details::new(&facts));
        Ok(())
    }

    /// The forecasts of a decision. Each decision about actions with features has them, so that
    /// they stand in the log before its reward does.
    fn forecasts_of(
        &self,
        recorded: Option<RecordedForecasts>,
    ) -> Result<Option<Forecasts>, StepError> {
        let forecasts = recorded.map(read_forecasts).transpose()?;
        if forecasts.is_some() == self.forecasts() {
            return Ok(forecasts);
        }
        Err(if self.forecasts() { StepError::NoForecasts } else { StepError::Forecasts })
    }

    /// The format whose rules the next decision follows: the first decisions of an upgraded log
    /// follow those of the log that it was made from.
    pub(crate) fn rules(&self) -> u32 {
        rules(self.format, self.upgraded.as_ref(), self.count_decisions())
    }

    /// The event of another policy.
    pub(crate) fn policy_changed(
        &self,
        policy: &PolicyTable,
        horizon: Option<u64>,
    ) -> Result<Event, StepError> {
        let (spec, policy) = self.resolved(policy, horizon, self.rules())?;
        let is_said = self.format >= 2;
        let assumed = if is_said { assumed(self, &spec, self.outcomes) } else { Vec::new() };
        Ok(Event::PolicyChanged { policy, horizon, assumed })
    }

    /// Whether every decision records what its reward was forecast to be.
    pub(crate) fn forecasts(&self) -> bool {
        self.format >= 2 && self.recipe.dim() > 0
    }

    /// Refuses what the format of this log does not have.
    pub(super) fn needs_format(&self, format: u32, what: &'static str) -> Result<(), StepError> {
        let own = self.format;
        if own < format { Err(StepError::Earlier { what, format, own }) } else { Ok(()) }
    }

    /// A key for the next decision.
    pub(crate) fn new_key(&self, key: &str) -> Result<String, StepError> {
        self.needs_format(2, "a key")?;
        check_key(key)?;
        match self.decision_with_key(key) {
            Some(decision) => Err(StepError::KeyTaken { key: key.into(), decision }),
            None => Ok(key.into()),
        }
    }

    /// The number of the run of decisions in the same context that the next one belongs to.
    fn run_of(&mut self, context: &Context) -> u32 {
        let last = self.last_decision().map(|last| last.run);
        if last.is_some() && self.last_context == *context {
            return last.unwrap_or(0);
        }
        self.last_context.clone_from(context);
        last.map_or(0, |last| last + 1)
    }
}

/// Checks the range of rewards, and returns its length.
fn check_range((low, high): (f64, f64), recipe: &Recipe) -> Result<f64, StepError> {
    if !(low < high && (high - low).is_finite()) {
        return Err(StepError::Range { low, high });
    }
    let scale = Scale::new((low, high), recipe.is_given());
    if !scale.fits() {
        return Err(StepError::FarRange { low, high });
    }
    recipe.check_scaled_bound(scale.length())?;
    Ok(high - low)
}

/// Checks that a log of this format can begin like this.
fn check_format(
    format: u32,
    upgraded: Option<&Upgraded>,
    outcomes: Outcomes,
    limits_growth: bool,
) -> Result<(), StepError> {
    if !(FIRST_FORMAT..=FORMAT).contains(&format) {
        return Err(StepError::Format { found: format });
    }
    if upgraded.is_some_and(|old| old.from < FIRST_FORMAT || old.from >= format) {
        return Err(StepError::Upgrade);
    }
    let later = [
        (outcomes != Outcomes::Number, "another kind of outcome"),
        (limits_growth, "a limit to growth"),
    ];
    match later.into_iter().find(|(is_asked, _)| *is_asked && format < 2) {
        Some((_, what)) => Err(StepError::Earlier { what, format: 2, own: format }),
        None => Ok(()),
    }
}

/// The format whose rules decide after this many decisions.
fn rules(format: u32, upgraded: Option<&Upgraded>, decisions: u64) -> u32 {
    upgraded.filter(|old| decisions < old.decisions).map_or(format, |old| old.from)
}

/// Checks that a policy can decide by such outcomes. Phased elimination plays each action a fixed
/// number of times, and a count is worth many plays; a bell curve is one of measurements.
pub(super) fn check_outcomes(policy: &PolicySpec, outcomes: Outcomes) -> Result<(), StepError> {
    let is_elimination = matches!(policy.kind, PolicyKind::Elimination { .. });
    match outcomes {
        Outcomes::Counts if is_elimination => Err(StepError::CountedPhases),
        Outcomes::YesNo | Outcomes::Counts if policy.is_bell() => {
            Err(StepError::BellOfYesNo { outcomes })
        }
        _ => Ok(()),
    }
}

/// Checks the form of a key. A caller can do so before it begins a log.
///
/// # Errors
/// If it is empty, longer than [`LONGEST_KEY`] bytes or has control characters.
pub fn check_key(key: &str) -> Result<(), StepError> {
    if key.is_empty() || key.len() > LONGEST_KEY || key.contains(char::is_control) {
        return Err(StepError::Key { length: key.len() });
    }
    Ok(())
}

/// Checks that a number is the next one.
fn in_turn(what: &'static str, found: u64, next: u64) -> Result<(), StepError> {
    if found == next { Ok(()) } else { Err(StepError::OutOfTurn { what, found, next }) }
}
