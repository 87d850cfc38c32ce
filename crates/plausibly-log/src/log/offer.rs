//! What a decision chooses from, and the events that a log needs before such a decision.

use super::LogError;
use crate::event::{Cells, Event, RequestRows};
use crate::recipe::{Context, Recipe};
use crate::state::{State, StepError};
use crate::table::{Row, Table, brief};
use std::borrow::Cow;

/// The actions to choose from.
#[derive(Clone, Copy, Debug)]
pub enum Among<'a> {
    /// The rows of a table. New and changed rows become new actions.
    Table(&'a Table),
    /// The rows of a table, for this decision alone. Actions are recognised by their names, and new
    /// names become new actions; the rows stand in the line of the decision and nowhere else.
    /// Phased elimination has no such rows, the radius `bell` only with a context, and logs of few
    /// actions without a context only from their first decision on.
    Rows(&'a Table),
    /// The actions with these names, which the log has already.
    Named(&'a [&'a str]),
    /// Every action that has a row and is not retired.
    All,
}

/// A table that a decision was about, and the number of the set that it gave. While policy, recipe
/// and kind of outcomes stay, the same table gives the same set, so its rows are not read again.
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
    /// The rows of the actions, if they are for this decision alone.
    pub(super) rows: Option<RequestRows>,
}

impl Needed {
    pub(super) fn of(state: &State, among: Among<'_>, context: &Context) -> Result<Self, LogError> {
        let mut events = Vec::new();
        let mut recipe = Cow::Borrowed(state.recipe());
        let table = match among {
            Among::Table(table) | Among::Rows(table) => Some(table),
            Among::Named(_) | Among::All => None,
        };
        if let Some(extension) = state.extension(table, Some(context))? {
            recipe = Cow::Owned(state.extended(&extension)?);
            events.push(Event::RecipeExtended { extension });
        }
        let mut own = None;
        let mut actions = match among {
            Among::Rows(table) => {
                recipe.check_rows(table, context)?;
                let named = named_rows(state, table, &mut events);
                own = rows_of(&recipe, &named);
                if own.is_some() {
                    state.may_have_rows(state.policy().0)?;
                }
                named.into_iter().map(|(action, _)| action).collect()
            }
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
            Among::All => {
                // An action that was named in the rows of one request has none of its own. If there
                // are no others, that is refused below.
                let has_row = |action: &u64| state.check_has_row(*action).is_ok();
                let with_row: Vec<u64> = state.live_actions().filter(has_row).collect();
                if with_row.is_empty() { state.live_actions().collect() } else { with_row }
            }
        };
        if table.is_none() {
            actions.iter().try_for_each(|action| state.check_has_row(*action))?;
        }
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
        if table.is_none() && !events.is_empty() {
            // As for tables above: nothing is written for a context that cannot be encoded.
            for action in &actions {
                let action = state.action(*action)?;
                recipe.encode(&action.label, &action.cells, context)?;
            }
        }
        Ok(Self { events, actions, set, rows: own })
    }
}

/// The actions of the rows of a table. Adds the events that new and changed rows need.
pub(super) fn rows(
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

/// The actions with the labels of a table and their rows, in the order of their numbers. Adds the
/// events that new ones need: they have no row of their own.
fn named_rows<'t>(state: &State, table: &'t Table, events: &mut Vec<Event>) -> Vec<(u64, Row<'t>)> {
    let mut next = state.actions().len() as u64;
    let mut named = Vec::with_capacity(table.len());
    for row in table.rows() {
        let action = state.live(row.label()).unwrap_or_else(|| {
            let cells = Cells::new();
            events.push(Event::ActionAdded { action: next, label: row.label().into(), cells });
            next += 1;
            next - 1
        });
        named.push((action, row));
    }
    named.sort_unstable_by_key(|(action, _)| *action);
    named
}

/// The cells of these rows that features come from; `None` if features come from none.
fn rows_of(recipe: &Recipe, named: &[(u64, Row<'_>)]) -> Option<RequestRows> {
    let columns = recipe.used_columns();
    if columns.is_empty() {
        return None;
    }
    let cells = named.iter().map(|(_, row)| {
        let cell = |name: &String| row.cell(name).flatten().map(Into::into);
        columns.iter().map(cell).collect()
    });
    let cells = cells.collect();
    Some(RequestRows { columns, cells })
}

/// The action with a name.
fn named(state: &State, name: &str) -> Result<u64, StepError> {
    state.live(name).ok_or_else(|| StepError::NoSuchAction { label: brief(name) })
}
