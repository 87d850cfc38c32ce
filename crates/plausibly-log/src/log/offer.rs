//! What a decision chooses from, and the events that a log needs before such a decision.

use super::LogError;
use crate::event::{Cells, Event};
use crate::recipe::{Context, Recipe};
use crate::state::{State, StepError};
use crate::table::{Table, brief};
use std::borrow::Cow;

/// The actions to choose from.
#[derive(Clone, Copy, Debug)]
pub enum Among<'a> {
    /// The rows of a table. New and changed rows become new actions.
    Table(&'a Table),
    /// The actions with these names, which the log has already.
    Named(&'a [&'a str]),
    /// Every action that is not retired.
    All,
}

/// A table that a decision was about, and the number of the set that it gave. While the terms stay,
/// the same table gives the same set, so its rows are not read again.
#[derive(Debug)]
pub(super) struct Offered {
    table: Table,
    set: u64,
    terms_at: u64,
}

impl Offered {
    /// The set that a table gave before, if it gives the same now without any event.
    pub(super) fn again(&self, state: &State, table: &Table, context: &Context) -> Option<u64> {
        let is_live = |action: &u64| state.action(*action).is_ok_and(|action| !action.retired);
        let same = self.terms_at == state.terms_at()
            && self.table.is_same(table)
            && state.set(self.set).is_ok_and(|actions| actions.iter().all(is_live));
        // A context that can be encoded needs no new features.
        (same && state.recipe().context_values(context).is_ok()).then_some(self.set)
    }

    pub(super) fn new(state: &State, table: &Table, set: u64) -> Self {
        Self { table: table.clone(), set, terms_at: state.terms_at() }
    }
}

/// What must be recorded before a decision, and the actions it is about.
pub(super) struct Needed {
    pub(super) events: Vec<Event>,
    /// The actions, in the order of their numbers.
    pub(super) actions: Vec<u64>,
    /// The number of their set.
    pub(super) set: u64,
}

impl Needed {
    pub(super) fn of(state: &State, among: Among<'_>, context: &Context) -> Result<Self, LogError> {
        let mut events = Vec::new();
        let mut recipe = Cow::Borrowed(state.recipe());
        let table = if let Among::Table(table) = among { Some(table) } else { None };
        if let Some(extension) = state.extension(table, context)? {
            recipe = Cow::Owned(state.extended(&extension)?);
            events.push(Event::RecipeExtended { extension });
        }
        let mut actions = match among {
            Among::Table(table) => {
                // Checked before anything is written: a row that cannot be encoded could never be
                // chosen.
                recipe.check_rows(table, context)?;
                rows(state, &recipe, table, &mut events)?
            }
            Among::Named(names) => {
                let named = names.iter().map(|name| named(state, name));
                named.collect::<Result<Vec<_>, _>>()?
            }
            Among::All => state.live_actions().collect(),
        };
        if actions.is_empty() {
            return Err(StepError::NoActions.into());
        }
        actions.sort_unstable();
        if let Some(twice) = actions.windows(2).find(|pair| pair[0] == pair[1]) {
            let label = brief(&state.action(twice[0])?.label);
            return Err(StepError::OfferedTwice { label }.into());
        }
        let next = state.sets().len() as u64;
        let set = state.set_of_these(&actions).unwrap_or(next);
        if set == next {
            events.push(Event::SetOffered { set, actions: actions.clone() });
        }
        Ok(Self { events, actions, set })
    }
}

/// The actions of the rows of a table. Adds the events that new and changed rows need.
fn rows(
    state: &State,
    recipe: &Recipe,
    table: &Table,
    events: &mut Vec<Event>,
) -> Result<Vec<u64>, LogError> {
    let mut next = state.actions().len() as u64;
    let mut offered = Vec::with_capacity(table.len());
    for row in table.rows() {
        let cells: Cells = recipe.cells(row)?;
        if let Some(action) = state.live(row.label()) {
            if recipe.is_same_row(&state.action(action)?.cells, &cells) {
                offered.push(action);
                continue;
            }
            events.push(Event::ActionRetired { action });
        }
        events.push(Event::ActionAdded { action: next, label: row.label().into(), cells });
        offered.push(next);
        next += 1;
    }
    Ok(offered)
}

/// The action with a name.
fn named(state: &State, name: &str) -> Result<u64, StepError> {
    state.live(name).ok_or_else(|| StepError::NoSuchAction { label: brief(name) })
}
