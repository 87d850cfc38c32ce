//! Features of actions from the cells of their rows. Cells become numbers once for each action and
//! recipe; a context then only multiplies them.

use super::{State, StepError, index};
use crate::recipe::Context;
use plausibly::ActionSet;
use std::sync::OnceLock;

/// The parts of each action, made on first use. They follow from the recipe and the rows.
#[derive(Clone, Debug, Default)]
pub(super) struct Parts(Vec<OnceLock<Vec<f64>>>);

/// A cache is not part of the state, so all caches are equal.
impl PartialEq for Parts {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Parts {
    pub(super) fn add_action(&mut self) {
        self.0.push(OnceLock::new());
    }

    /// Forgets all parts, after the recipe has grown.
    pub(super) fn clear(&mut self) {
        self.0.fill(OnceLock::new());
    }
}

impl State {
    fn parts(&self, action: u64) -> Result<&[f64], StepError> {
        let record = self.action(action)?;
        let cell = &self.parts.0[index(action)];
        if cell.get().is_none() {
            let made = self.recipe.parts(&record.label, &record.cells)?;
            // Another thread may have been first, with the same parts.
            let _ = cell.set(made);
        }
        Ok(cell.get().expect("set above"))
    }

    /// The features of an action in a context with these parts.
    pub(super) fn features(
        &self,
        action: u64,
        context_parts: &[f64],
    ) -> Result<Vec<f64>, StepError> {
        Ok(self.recipe.products(0, self.parts(action)?, context_parts)?)
    }

    /// A set of these actions in a context.
    ///
    /// # Errors
    /// If there are none, or a row cannot be encoded.
    pub(crate) fn set_of(
        &self,
        actions: &[u64],
        context: &Context,
    ) -> Result<ActionSet, StepError> {
        let context_parts = self.recipe.context_values(context)?;
        let dim = self.recipe.dim();
        let mut features = Vec::with_capacity(actions.len() * dim);
        for action in actions {
            self.recipe.combine_into(&mut features, 0, self.parts(*action)?, &context_parts)?;
        }
        let made = if dim == 0 {
            ActionSet::arms(actions.len())
        } else {
            ActionSet::from_flat(features, dim)
        };
        // Features of a log are finite, so nothing else can be wrong with a set.
        made.map_err(|_empty| StepError::NoActions)
    }
}
