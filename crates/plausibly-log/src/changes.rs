//! Compares a table and a context with those of the last decision, so that a person sees changes,
//! and names that look mistyped, before the next decision.

use crate::recipe::{Context, RecipeError};
use crate::state::State;
use crate::table::{Table, brief, first_few};
use std::collections::BTreeSet;

/// Shows at most five lines per kind of change, and counts the rest.
const LINES: usize = 5;
/// Looks for typing errors only among up to 20 new names: a table with more is new, not mistyped.
const COMPARED: usize = 20;
/// Looks for typing errors only if there are at most 10,000 old names to compare with.
const CANDIDATES: usize = 10_000;
/// Calls a new name a typing error if its similarity to an old one, from 0 to 1, is above this.
const ALIKE: f64 = 0.85;

/// The differences since the last decision.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Rows with labels that are new to the log.
    pub new: Vec<NewName>,
    /// Labels of the last decision that are not in the table.
    pub gone: Vec<String>,
    /// Rows with a known label and changed cells.
    pub changed: Vec<ChangedRow>,
    /// Context keys that no decision had before.
    pub keys: Vec<NewName>,
}

/// A name that is new.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewName {
    /// The name.
    pub name: String,
    /// The most similar old name among those that are missing now.
    pub like: Option<String>,
}

/// A row with a known label and changed cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedRow {
    /// Its label.
    pub label: String,
    /// Columns with their values before and now.
    pub cells: Vec<(String, Option<String>, Option<String>)>,
}

impl Changes {
    /// Compares a table and a context with a log. Empty before the first decision.
    ///
    /// # Errors
    /// If the table lacks a column, or takes its labels from another column than the log.
    pub fn between(state: &State, table: &Table, context: &Context) -> Result<Self, RecipeError> {
        let Some((_, last)) = state.last_set() else { return Ok(Self::default()) };
        let mut changes = Self::default();
        let mut strangers = Vec::new();
        for row in table.rows() {
            let Some(record) = state.live(row.label()).and_then(|action| state.action(action).ok())
            else {
                strangers.push(row.label());
                continue;
            };
            let cells = state.recipe().cells(row)?;
            if !state.recipe().is_same_row(&record.cells, &cells) {
                let differing = state.recipe().differing(&record.cells, &cells);
                changes.changed.push(ChangedRow { label: row.label().into(), cells: differing });
            }
        }
        let missing = |label: &&str| table.find(label).is_none();
        let of_last =
            last.iter().filter_map(|&action| Some(state.action(action).ok()?.label.as_str()));
        changes.gone = of_last.filter(missing).map(str::to_string).collect();
        let away: Vec<&str> = state.live_labels().filter(missing).collect();
        changes.new = compared(&strangers, &away);
        let known: Vec<&str> =
            state.recipe().context().iter().map(|key| key.name.as_str()).collect();
        let strange: Vec<&str> =
            context.iter().map(|(key, _)| key).filter(|key| !known.contains(key)).collect();
        let absent: Vec<&str> =
            known.into_iter().filter(|key| context.get(key).is_none()).collect();
        changes.keys = compared(&strange, &absent);
        Ok(changes)
    }

    /// One line per change, the first few of each kind.
    pub fn notes(&self) -> Vec<String> {
        let new = |one: &NewName| format!("\"{}\" is new{}", brief(&one.name), like(one));
        let key =
            |one: &NewName| format!("the context key \"{}\" is new{}", brief(&one.name), like(one));
        let mut notes = lines(&self.new, "new rows", new);
        notes.extend(self.gone_line());
        notes.extend(lines(&self.changed, "changed rows", ChangedRow::note));
        notes.extend(lines(&self.keys, "new context keys", key));
        notes
    }

    fn gone_line(&self) -> Option<String> {
        let names = first_few(&self.gone, LINES, |name| format!("\"{}\"", brief(name)));
        (!self.gone.is_empty()).then(|| {
            format!(
                "no longer in the table: {names}; an action that returns keeps what was learned \
                 about it"
            )
        })
    }
}

impl ChangedRow {
    fn note(&self) -> String {
        let shown = |value: &Option<String>| value.as_deref().map_or_else(|| "blank".into(), brief);
        let cells = self.cells.iter().take(3);
        let cells: Vec<String> = cells
            .map(|(name, before, now)| format!("{name} was {}, is {}", shown(before), shown(now)))
            .collect();
        let more = if self.cells.len() > 3 { ", …" } else { "" };
        let (label, cells) = (brief(&self.label), cells.join(", "));
        format!("\"{label}\" has changed ({cells}{more}) and counts as a new action")
    }
}

fn like(one: &NewName) -> String {
    one.like
        .as_ref()
        .map_or_else(String::new, |like| format!("; did you mean \"{}\"?", brief(like)))
}

/// One line for each of the first few, and a line that counts the rest.
fn lines<T>(all: &[T], what: &str, line: impl Fn(&T) -> String) -> Vec<String> {
    let mut notes: Vec<String> = all.iter().take(LINES).map(line).collect();
    if all.len() > LINES {
        notes.push(format!("and {} more {what}", all.len() - LINES));
    }
    notes
}

/// The new names, each with the most similar old one; likely typing errors come first.
fn compared(new: &[&str], old: &[&str]) -> Vec<NewName> {
    let few = new.len() <= COMPARED && old.len() <= CANDIDATES;
    let old: BTreeSet<&str> = if few { old.iter().copied().collect() } else { BTreeSet::new() };
    let mut all: Vec<NewName> = new
        .iter()
        .map(|name| NewName { name: (*name).into(), like: closest(name, &old).map(str::to_string) })
        .collect();
    all.sort_by_key(|one| one.like.is_none());
    all
}

/// The most similar old name, if it is similar enough for a typing error. Names with other digits
/// do not count: they number different things.
fn closest<'a>(name: &str, old: &BTreeSet<&'a str>) -> Option<&'a str> {
    let digits = |name: &str| name.chars().filter(char::is_ascii_digit).collect::<String>();
    let name = name.to_lowercase();
    let score = |old: &str| {
        // One wrong letter changes a large part of a short name, so it counts as similar at once.
        let one_slip = name.chars().count() > 2 && strsim::osa_distance(&name, old) <= 1;
        if one_slip { 1.0 } else { strsim::jaro_winkler(&name, old) }
    };
    let old = old.iter().filter(|old| digits(old) == digits(&name));
    let scored = old.map(|old| (score(&old.to_lowercase()), *old));
    scored
        .filter(|(score, _)| *score > ALIKE)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, old)| old)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_recognised_and_other_names_are_not() {
        let old = BTreeSet::from(["jug", "A question", "version 10", "Müsli", "ab"]);
        for (name, like) in [
            ("jgu", Some("jug")),
            ("a qestion", Some("A question")),
            ("version 11", None),
            ("versoin 10", Some("version 10")),
            ("Musli", Some("Müsli")),
            ("plate", None),
            ("ac", None),
        ] {
            assert_eq!(closest(name, &old), like, "{name}");
        }
    }

    #[test]
    fn a_table_of_new_names_is_told_in_a_few_lines() {
        let names: Vec<String> = (0..30).map(|number| format!("row {number}")).collect();
        let new = compared(&names.iter().map(String::as_str).collect::<Vec<_>>(), &["row"]);
        let changes = Changes { new, gone: names, ..Changes::default() };
        let notes = changes.notes();
        assert_eq!(notes.len(), LINES + 2, "{notes:?}");
        assert_eq!(notes[LINES], "and 25 more new rows");
        assert!(notes[LINES + 1].contains("\"row 4\" and 25 more;"), "{notes:?}");
    }
}
