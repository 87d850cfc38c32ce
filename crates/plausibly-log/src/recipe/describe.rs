//! Shows a recipe as a table before the first decision.

use super::column::{parts_of, shown};
use super::{Column, Encoding, Part, Recipe, Shape, Why};
use crate::table::{MOST_CHARACTERS, brief, first_few};
use std::fmt;

/// A recipe as an aligned table: see [`Recipe::describe`].
#[derive(Clone, Copy, Debug)]
pub struct Description<'a>(pub(super) &'a Recipe);

/// Name, encoding, number of features.
type Line = (String, String, usize);

impl Description<'_> {
    fn lines(self) -> Vec<Line> {
        let recipe = self.0;
        let shared = recipe.shape == Shape::Shared;
        let mut lines: Vec<Line> = Vec::new();
        lines.push(match &recipe.label {
            Some(name) => (name.clone(), "the label of an action".into(), 0),
            None => ("(position)".into(), "the label of an action: row 1, row 2, …".into(), 0),
        });
        if shared {
            lines.push(("(intercept)".into(), "always 1".into(), 1));
        }
        for column in &recipe.columns {
            let parts = parts_of(&recipe.action_parts, &column.name).count();
            lines.push((column.name.clone(), becomes(column, &recipe.action_parts), parts));
        }
        for column in &recipe.context {
            let parts = parts_of(&recipe.context_parts, &column.name).count();
            let becomes = format!("context: {}", becomes(column, &recipe.context_parts));
            lines.push((column.name.clone(), becomes, if shared { parts } else { 0 }));
        }
        let (actions, contexts) = (recipe.action_parts.len(), recipe.context_parts.len());
        match recipe.shape {
            Shape::Shared if contexts > 0 => {
                let text = format!("{actions} of the actions × {contexts} of the context");
                lines.push(("(crosses)".into(), text, actions * contexts));
            }
            Shape::Blocks => {
                let text = format!(
                    "{actions} actions, each with an intercept and {contexts} of the context"
                );
                lines.push(("(blocks)".into(), text, actions * (contexts + 1)));
            }
            Shape::Shared | Shape::Arms | Shape::Given => {}
        }
        lines
    }
}

/// The encoding of a column in words.
fn becomes(column: &Column, parts: &[Part]) -> String {
    let own = || parts_of(parts, &column.name);
    let categories: Vec<&str> = own()
        .filter_map(|part| {
            if let Part::Category { category, .. } = part { Some(category.as_str()) } else { None }
        })
        .collect();
    let mut text = match &column.encoding {
        Encoding::Linear { low, high, .. } => {
            format!("{} … {} becomes -1 … 1", shown(*low), shown(*high))
        }
        Encoding::Log { low, high, .. } => {
            format!("{} … {} becomes -1 … 1, logarithmically", shown(*low), shown(*high))
        }
        Encoding::Magnitude { scale } => format!("divided by {}", shown(*scale)),
        Encoding::AsGiven {} => "the number as it is".into(),
        Encoding::Flag { yes, no } => format!("{no} becomes -1, {yes} becomes 1"),
        Encoding::Categories {} => format!("one of {}", some(&categories)),
        Encoding::LeftOut { why } => format!("left out: {}", reason(why)),
    };
    if matches!(column.encoding, Encoding::Flag { .. }) && !categories.is_empty() {
        text = format!("{text}, or one of {}", some(&categories));
    }
    if own().any(|part| matches!(part, Part::Missing { .. })) {
        text += ", or missing";
    }
    if column.late {
        text += ", or absent";
    }
    text
}

fn reason(why: &Why) -> String {
    match why {
        Why::Blank => "it has no values".into(),
        Why::Constant(value) => format!("always `{}`", brief(value)),
        Why::ConstantOrBlank(value) => {
            format!(
                "always `{}` or blank; write yes and no instead if that means something",
                brief(value)
            )
        }
        Why::Identifier { values, cells } => {
            format!("{values} different values in {cells} cells, like an identifier")
        }
        Why::Asked => "as asked for".into(),
    }
}

/// The first five names of a list, and the number of others.
fn some(names: &[&str]) -> String {
    first_few(names, 5, |name| brief(name))
}

impl fmt::Display for Description<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Names and categories may contain newlines, and the table has one line per column.
        let flat = |text: String| text.replace(char::is_control, " ");
        let lines: Vec<Line> =
            self.lines().into_iter().map(|(name, text, d)| (flat(name), flat(text), d)).collect();
        // Logs of earlier versions may hold longer names; those exceed the column.
        let width = |text: &str| text.chars().count().min(MOST_CHARACTERS);
        let (name, text) = ("column", "what becomes of it");
        let names = lines.iter().map(|line| width(&line.0)).fold(width(name), usize::max);
        let texts = lines.iter().map(|line| width(&line.1)).fold(width(text), usize::max);
        writeln!(f, "{name:names$}  {text:texts$}  features")?;
        for (name, text, features) in &lines {
            writeln!(f, "{name:names$}  {text:texts$}  {features:8}")?;
        }
        let recipe = self.0;
        if recipe.is_arms() {
            writeln!(f, "no features: the log learns about each action separately")?;
        } else {
            writeln!(f, "{:names$}  {:texts$}  {:8}", "total", "", recipe.dim())?;
        }
        if let Some(bound) = recipe.declared_bound {
            writeln!(
                f,
                "the norm of the parameters is assumed to be at most {}, in units of reward",
                shown(bound)
            )?;
        }
        for Column { name, note, .. } in recipe.columns.iter().chain(&recipe.context) {
            if let Some(note) = note {
                writeln!(f, "note: {name}: {note}")?;
            }
        }
        Ok(())
    }
}
