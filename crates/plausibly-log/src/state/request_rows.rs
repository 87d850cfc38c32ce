//! Rows that belong to one decision alone, such as distances and prices that change by the minute.
//! They stand in the line of the decision. The state keeps the chosen one, because its outcome
//! counts with these features; the others are only needed to derive the choice.

use super::{State, StepError};
use crate::event::RequestRows;
use crate::recipe::Context;
use crate::table::brief;
use plausibly::spec::{PolicyKind, PolicySpec};

/// Checks that rows are those of a set with this number of actions.
pub(super) fn check_rows(rows: &RequestRows, actions: usize) -> Result<(), StepError> {
    let RequestRows { columns, cells } = rows;
    let is_whole = cells.len() == actions && cells.iter().all(|row| row.len() == columns.len());
    if is_whole { Ok(()) } else { Err(StepError::RowsOfOthers { rows: cells.len(), actions }) }
}

impl State {
    /// Checks that a decision by this policy can be about rows of its own.
    ///
    /// # Errors
    /// If the policy needs the same rows throughout, or the log judges actions one by one.
    pub(crate) fn may_have_rows(&self, policy: &PolicySpec) -> Result<(), StepError> {
        self.needs_format(2, "rows of one request")?;
        let refuse = |why| Err(StepError::RequestRows { why });
        if matches!(policy.kind, PolicyKind::Elimination { .. }) {
            return refuse("phased elimination needs the same rows from its first decision on");
        }
        if policy.is_bell() && self.recipe.context().is_empty() {
            return refuse("a bell curve is judged by the rows of the first decision");
        }
        if self.statistics.keeps_earned() && self.count_decisions() > 0 {
            return refuse(
                "this log also judges each action by what it has paid, which is no single number \
                 once its row changes; begin a new log, with such rows from the first decision on",
            );
        }
        Ok(())
    }

    /// The parts of an action with the row at this place.
    pub(super) fn parts_of_row(
        &self,
        action: u64,
        rows: &RequestRows,
        place: usize,
    ) -> Result<Vec<f64>, StepError> {
        let label = &self.action(action)?.label;
        let row = rows.cells.get(place).ok_or(StepError::NoActions)?;
        let cell = |name: &str| {
            let at = rows.columns.iter().position(|column| column == name)?;
            row.get(at)?.as_deref()
        };
        Ok(self.recipe.parts_of_cells(label, &rows.columns, cell)?)
    }

    /// Checks that an action has a row that does not belong to one decision alone.
    pub(crate) fn check_has_row(&self, action: u64) -> Result<(), StepError> {
        let record = self.action(action)?;
        if record.cells.is_empty() && self.recipe.uses_columns() {
            return Err(StepError::NoRow { label: brief(&record.label) });
        }
        Ok(())
    }

    /// The features of an action in a context, with the row at a place of these rows if it has one
    /// there.
    pub(crate) fn features_in(
        &self,
        action: u64,
        context: &Context,
        rows: Option<(&RequestRows, usize)>,
    ) -> Result<Vec<f64>, StepError> {
        let context_parts = self.recipe.context_values(context)?;
        match rows {
            None => self.features(action, &context_parts),
            Some((rows, place)) => {
                let parts = self.parts_of_row(action, rows, place)?;
                Ok(self.recipe.products(0, &parts, &context_parts)?)
            }
        }
    }
}
