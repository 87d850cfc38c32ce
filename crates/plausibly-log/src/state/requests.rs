//! Checks who asks for what: names, hashes of requests, and whether decisions are taken at all.

use super::{State, StepError};
use crate::event::LONGEST_NAME;
use crate::journal::LineHash;
use crate::recipe::{Context, Extension, MAX_FEATURES, Recipe, RecipeError};
use crate::table::Table;

impl State {
    /// Whether decisions are refused for now.
    pub fn is_paused(&self) -> bool {
        self.paused
    }

    /// Refuses decisions while the log is paused.
    pub(crate) fn check_running(&self) -> Result<(), StepError> {
        if self.paused { Err(StepError::Paused) } else { Ok(()) }
    }

    /// Pauses the log, or lets it go on.
    pub(super) fn pause(&mut self, pause: bool) -> Result<(), StepError> {
        self.needs_format(2, "a pause")?;
        if self.paused == pause {
            return Err(StepError::PausedAlready { paused: pause });
        }
        self.paused = pause;
        Ok(())
    }

    /// Checks the name of who asks, or says so.
    pub(crate) fn check_by(&self, by: Option<&str>) -> Result<(), StepError> {
        let Some(by) = by else { return Ok(()) };
        self.needs_format(2, "a name of who asked (`by`)")?;
        check_by(by)
    }

    /// The number of features that the recipe may grow to. A log that began with more cannot grow.
    pub fn most_features(&self) -> usize {
        let said = self.growth.and_then(|growth| usize::try_from(growth).ok());
        said.map_or(MAX_FEATURES, |growth| growth.clamp(self.first_dim, MAX_FEATURES))
    }

    /// The extension of the recipe that a table and a context need, within the growth of this log.
    pub(crate) fn extension(
        &self,
        table: Option<&Table>,
        context: Option<&Context>,
    ) -> Result<Option<Extension>, RecipeError> {
        self.recipe.extension_within(table, context, self.most_features())
    }

    /// The recipe with an extension, within the growth of this log.
    pub(crate) fn extended(&self, extension: &Extension) -> Result<Recipe, RecipeError> {
        self.recipe.extended_within(extension, self.most_features())
    }
}

/// Checks the form of the hash of what was asked with a key.
pub(crate) fn check_request(key: Option<&str>, request: Option<&str>) -> Result<(), StepError> {
    let Some(request) = request else { return Ok(()) };
    if key.is_none() {
        return Err(StepError::RequestWithoutKey);
    }
    let hash = LineHash::parse(request);
    hash.map(drop).ok_or(StepError::Request { length: request.len() })
}

/// Checks the form of a name of who asks. A caller can do so before it begins a log.
///
/// # Errors
/// If it is empty, longer than [`LONGEST_NAME`] bytes or has control characters.
pub fn check_by(by: &str) -> Result<(), StepError> {
    if by.is_empty() || by.len() > LONGEST_NAME || by.contains(char::is_control) {
        return Err(StepError::By { length: by.len() });
    }
    Ok(())
}
