//! Asks about a table before a log begins with it, because the recipe cannot be changed later.

use super::args::Decide;
use super::decide::{agree, at_terminal};
use crate::exit::refuse;
use crate::output;
use anyhow::Result;
use plausibly_log::recipe::{Doubt, Recipe};
use plausibly_log::table::{FirstLine, Table};

/// Checks that the first line of the table names its columns.
///
/// # Errors
/// A refusal if it looks like a row.
pub(super) fn check_header(args: &Decide, table: &Table) -> Result<()> {
    if args.header || table.first_line() != FirstLine::Data {
        return Ok(());
    }
    refuse!(
        "{}: the first line ({}) looks like a row, not like names of columns; put a line with \
         names above it, such as `name,price`, or add --header if these are the names. Nothing was \
         written.",
        args.actions.display(),
        names(table)
    )
}

/// Asks about everything that the user may not have meant; with `--yes`, prints it as notes.
///
/// # Errors
/// A refusal if an answer is no, or there is no terminal to ask at.
pub(super) fn ask(args: &Decide, table: &Table, recipe: &Recipe) -> Result<()> {
    let doubts = doubts(args, table, recipe);
    if args.yes {
        for doubt in doubts {
            output::note(&format!("note: {doubt}"));
        }
        return Ok(());
    }
    if !doubts.is_empty() {
        let all = format!("{}: {}", args.actions.display(), doubts.join(". Also, "));
        at_terminal(&all, "continue with the table as it is")?;
    }
    doubts
        .iter()
        .try_for_each(|doubt| agree(&format!("{doubt}. Continue with the table as it is?")))
}

fn doubts(args: &Decide, table: &Table, recipe: &Recipe) -> Vec<String> {
    let mut doubts = Vec::new();
    if !args.header && table.first_line() == FirstLine::PerhapsData {
        doubts.push(format!(
            "the first line ({}) may be a row instead of names of columns; put a line with names \
             above it, or add --header if these are the names",
            names(table)
        ));
    }
    let of_labels = |doubt: &Doubt| {
        matches!(doubt, Doubt::NumbersAsLabels { .. } | Doubt::DatesAsLabels { .. })
    };
    let open =
        recipe.doubts(table).into_iter().filter(|doubt| args.label.is_none() || !of_labels(doubt));
    doubts.extend(open.map(|doubt| doubt.to_string()));
    doubts
}

/// The cells of the first line.
fn names(table: &Table) -> String {
    const MOST: usize = 5;
    let more = if table.columns().len() > MOST { ", …" } else { "" };
    let names: Vec<String> =
        table.columns().iter().take(MOST).map(|name| format!("`{name}`")).collect();
    names.join(", ") + more
}
