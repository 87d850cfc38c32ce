//! Features of actions from the cells of their rows. Cells become numbers once for each action and
//! recipe; a context then only multiplies them.

use super::decisions::Facts;
use super::{State, StepError, index};
use crate::certificate::Unlisted;
use crate::event::RequestRows;
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

    /// The features of what a decision chose, in its context.
    pub(super) fn features_of(&self, decision: u64) -> Result<Vec<f64>, StepError> {
        let action = self.decision(decision)?.action;
        let Facts { context, own_parts, .. } = self.facts(decision)?;
        let context_parts = self.recipe.context_values(&context)?;
        match own_parts {
            Some(mut parts) => {
                // A recipe grows at its end, and new parts are zero in every earlier row.
                parts.resize(self.recipe.action_parts(), 0.0);
                Ok(self.recipe.products(0, &parts, &context_parts)?)
            }
            None => self.features(action, &context_parts),
        }
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
        made(features, actions.len(), dim)
    }

    /// The actions of a set, or those listed, with these rows in a context.
    pub(super) fn set_of_rows(
        &self,
        set: &[u64],
        rows: &RequestRows,
        context: &Context,
        listed: Option<(&[usize], Unlisted)>,
    ) -> Result<ActionSet, StepError> {
        let places = match listed {
            Some((places, _)) => places.to_vec(),
            None => (0..set.len()).collect(),
        };
        let context_parts = self.recipe.context_values(context)?;
        let dim = self.recipe.dim();
        let mut features = Vec::with_capacity(places.len() * dim);
        for &place in &places {
            let parts = self.parts_of_row(set[place], rows, place)?;
            self.recipe.combine_into(&mut features, 0, &parts, &context_parts)?;
        }
        made(features, places.len(), dim)
    }
}

/// A set of this many actions with these features, which are finite: so it can only be empty.
fn made(features: Vec<f64>, actions: usize, dim: usize) -> Result<ActionSet, StepError> {
    let made =
        if dim == 0 { ActionSet::arms(actions) } else { ActionSet::from_flat(features, dim) };
    made.map_err(|_empty| StepError::NoActions)
}
