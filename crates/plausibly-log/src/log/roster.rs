//! Replaces the actions of a log without taking a decision.

use super::offer::rows;
use super::{Log, LogError};
use crate::event::Event;
use crate::journal::{Checkpoint, Storage};
use crate::table::Table;
use crate::time::Time;
use std::borrow::Cow;

/// How the actions of a log changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roster {
    /// The names of actions that are new, or have a new row.
    pub added: Vec<String>,
    /// The names of actions that are retired, also those that have a new row.
    pub retired: Vec<String>,
    /// The last line of the log afterwards.
    pub line: Checkpoint,
}

impl<S: Storage> Log<S> {
    /// Makes the rows of a table the actions of the log from now on. New names and changed rows
    /// become new actions, and every other action is retired.
    ///
    /// Decisions among [`All`](super::Among::All) actions are then about these. If nothing is
    /// different, nothing is written.
    ///
    /// # Errors
    /// If the log has not begun, a row cannot be encoded, or the lines cannot be written. After a
    /// refusal the actions are what they were.
    pub fn replace_actions(
        &mut self,
        at: impl Into<Time>,
        table: &Table,
    ) -> Result<Roster, LogError> {
        let events = self.new_roster(table)?;
        let at = at.into();
        let (mut added, mut retired) = (Vec::new(), Vec::new());
        for event in &events {
            match event {
                Event::ActionAdded { label, .. } => added.push(label.clone()),
                Event::ActionRetired { action } => {
                    retired.push(self.begun()?.action(*action)?.label.clone());
                }
                _ => {}
            }
            self.prepare(at, event)?;
        }
        self.commit()?;
        Ok(Roster { added, retired, line: self.last() })
    }

    /// The events that make these rows the actions.
    fn new_roster(&self, table: &Table) -> Result<Vec<Event>, LogError> {
        let state = self.begun()?;
        let mut events = Vec::new();
        let mut recipe = Cow::Borrowed(state.recipe());
        if let Some(extension) = state.extension(Some(table), None)? {
            recipe = Cow::Owned(state.extended(&extension)?);
            events.push(Event::RecipeExtended { extension });
        }
        recipe.check_actions(table)?;
        rows(state, &recipe, table, &mut events)?;
        let gone = state.live_labels().filter(|label| table.find(label).is_none());
        let retired = gone.filter_map(|label| state.live(label));
        events.extend(retired.map(|action| Event::ActionRetired { action }));
        Ok(events)
    }
}
