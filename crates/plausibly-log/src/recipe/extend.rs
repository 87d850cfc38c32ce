//! Adds features at the end of a recipe, up to a limit.

use super::column::{parts_of, used};
use super::stored::require;
use super::{Column, Context, MAX_FEATURES, Part, Recipe, RecipeError, Shape, infer};
use crate::table::{Table, brief};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The features that a later table or context adds to a recipe. The log records it, and
/// [`Recipe::extended`] applies it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Extension {
    /// The number of features of the recipe it extends.
    after: usize,
    /// New context keys.
    context: Vec<Column>,
    action_parts: Vec<Part>,
    context_parts: Vec<Part>,
}

impl Extension {
    /// The number of features of the recipe it extends.
    pub fn after(&self) -> usize {
        self.after
    }

    /// The new parts of actions and of the context.
    pub fn parts(&self) -> impl Iterator<Item = &Part> {
        self.action_parts.iter().chain(&self.context_parts)
    }
}

impl Recipe {
    /// The extension that this table and context need; `None` if the recipe has features for
    /// everything.
    ///
    /// An extension adds new categories, a first blank in a column, actions without a
    /// [block](Shape::Blocks), context keys, and the first absence of a context key that the recipe
    /// was inferred with. Every new feature is 0 for every action and context that could be encoded
    /// before. A context key added later has 0 in all its parts while it is absent; so that an
    /// absent number is not read as zero, a number gets a second part, `KEY given`, which is 1
    /// while it is present.
    ///
    /// # Errors
    /// If the table lacks a column or takes its labels from another column, plain arms or vectors
    /// as given get a context, or there would be more than [`MAX_FEATURES`] features.
    pub fn extension<'t>(
        &self,
        table: impl Into<Option<&'t Table>>,
        context: &Context,
    ) -> Result<Option<Extension>, RecipeError> {
        self.extension_within(table.into(), Some(context), MAX_FEATURES)
    }

    /// Like [`Recipe::extension`], up to this number of features. Without a context, what a table
    /// needs in any.
    pub(crate) fn extension_within(
        &self,
        table: Option<&Table>,
        context: Option<&Context>,
        most: usize,
    ) -> Result<Option<Extension>, RecipeError> {
        if let Some(table) = table {
            self.check_table(table)?;
            self.check_lengths(table)?;
        }
        if self.is_arms() || self.is_given() {
            let mut keys = context.into_iter().flat_map(Context::iter);
            return keys.next().map_or(Ok(None), |(key, _)| Err(self.unknown_key(key)));
        }
        let mut extension = Extension {
            after: self.dim(),
            context: Vec::new(),
            action_parts: table.map_or_else(Vec::new, |table| self.new_action_parts(table)),
            context_parts: context.map_or_else(Vec::new, |context| self.new_context_parts(context)),
        };
        for (key, value) in context.into_iter().flat_map(|context| self.unknown_pairs(context)) {
            let (column, parts) = infer::key_of_context(key, value, true)?;
            extension.context.push(column);
            extension.context_parts.extend(parts);
        }
        if extension.parts().next().is_none() {
            return Ok(None);
        }
        self.extended_within(&extension, most)?;
        Ok(Some(extension))
    }

    /// The recipe with the features of an extension added at the end.
    ///
    /// # Errors
    /// If the extension is for another recipe, or there would be more than [`MAX_FEATURES`]
    /// features.
    pub fn extended(&self, extension: &Extension) -> Result<Self, RecipeError> {
        self.extended_within(extension, MAX_FEATURES)
    }

    /// Like [`Recipe::extended`], up to this number of features.
    pub(crate) fn extended_within(
        &self,
        extension: &Extension,
        most: usize,
    ) -> Result<Self, RecipeError> {
        if extension.after != self.dim() {
            return Err(RecipeError::OutOfOrder { expected: extension.after, found: self.dim() });
        }
        let late = extension.context.iter().all(|column| column.late);
        require(late, "a context key of an extension must be late")?;
        let mut recipe = self.clone();
        recipe.context.extend_from_slice(&extension.context);
        recipe.action_parts.extend_from_slice(&extension.action_parts);
        recipe.context_parts.extend_from_slice(&extension.context_parts);
        if recipe.size() > most.min(MAX_FEATURES) {
            let new = extension.parts().map(Part::name).collect();
            return Err(RecipeError::NoRoom { features: self.dim(), most, new });
        }
        recipe.grow()?;
        recipe.check()?;
        Ok(recipe)
    }

    /// Notes on a later table: columns that the recipe ignores although they may matter.
    pub fn ignored(&self, table: &Table) -> Vec<String> {
        let mut notes = Vec::new();
        for name in table.columns().iter().filter(|name| Some(name.as_str()) != self.label()) {
            match self.columns.iter().find(|column| column.name == *name) {
                None => {
                    notes.push(format!("column `{name}` is not part of the recipe and is ignored"));
                }
                Some(column) => notes.extend(column.no_longer_constant(table)),
            }
        }
        notes
    }

    /// The parts of actions that a table adds.
    pub(super) fn new_action_parts(&self, table: &Table) -> Vec<Part> {
        let is_new = |part: &Part| !self.action_parts.contains(part);
        if self.shape == Shape::Blocks {
            let labels: BTreeSet<_> = table.labels().iter().cloned().collect();
            return labels.into_iter().map(|label| Part::Action { label }).filter(is_new).collect();
        }
        let mut parts = Vec::new();
        for column in used(&self.columns) {
            // `check_table` has found every column in use.
            let Some(position) = table.position(&column.name) else { continue };
            // Sorts categories first and the blank last.
            let distinct: BTreeSet<_> =
                table.cells(position).map(|cell| (cell.is_none(), cell)).collect();
            parts.extend(
                distinct.into_iter().filter_map(|(_, cell)| column.part_for(cell)).filter(is_new),
            );
        }
        parts
    }

    fn new_context_parts(&self, context: &Context) -> Vec<Part> {
        let part = |column: &Column| column.part_for(context.get(&column.name));
        let is_new = |part: &Part| !self.context_parts.contains(part);
        used(&self.context).filter_map(part).filter(is_new).collect()
    }

    /// The number of features that its parts make.
    pub(super) fn size(&self) -> usize {
        let (actions, each) = (self.action_parts.len(), self.context_parts.len() + 1);
        match self.shape {
            Shape::Arms => 0,
            Shape::Blocks => actions * each,
            Shape::Shared => (actions + 1) * each,
            Shape::Given => actions,
        }
    }

    /// Checks the number of features. The error says how many each column and key costs.
    pub(super) fn check_size(&self) -> Result<(), RecipeError> {
        let (actions, each) = (self.action_parts.len(), self.context_parts.len() + 1);
        let (total, most) = (self.size(), MAX_FEATURES);
        if total <= most {
            return Ok(());
        }
        if self.shape == Shape::Blocks {
            return Err(RecipeError::TooManyBlocks { actions, each, total, most });
        }
        let of_action = |Column { name, .. }: &Column| {
            (name.clone(), parts_of(&self.action_parts, name).count(), 0)
        };
        let of_context = |Column { name, .. }: &Column| {
            (name.clone(), 0, parts_of(&self.context_parts, name).count())
        };
        let mut items: Vec<_> =
            self.columns.iter().map(of_action).chain(self.context.iter().map(of_context)).collect();
        let cost = |&(_, a, c): &(String, usize, usize), (actions, each): (usize, usize)| {
            a * each + c * (actions + 1)
        };
        items.sort_by_key(|item| std::cmp::Reverse(cost(item, (actions, each))));
        let costs = items.iter().map(|item| (item.0.clone(), cost(item, (actions, each))));
        let costs = costs.filter(|(_, cost)| *cost > 0).collect();
        let (mut left, mut leave_out) = ((actions, each), Vec::new());
        let intercept = usize::from(self.shape == Shape::Shared);
        while (left.0 + intercept) * left.1 > most && !items.is_empty() {
            items.sort_by_key(|item| std::cmp::Reverse(cost(item, left)));
            let (name, a, c) = items.remove(0);
            left = (left.0 - a, left.1 - c);
            leave_out.push(name);
        }
        Err(RecipeError::TooManyFeatures { total, most, costs, leave_out })
    }
}

impl Column {
    /// The part that this value needs; `None` for numbers, and for the absence of a late key.
    fn part_for(&self, value: Option<&str>) -> Option<Part> {
        use super::Encoding::{Categories, Flag};
        let column = self.name.clone();
        match (value, &self.encoding) {
            (None, _) => (!self.late).then_some(Part::Missing { column }),
            (Some(text), Flag { yes, no })
                if text.eq_ignore_ascii_case(yes) || text.eq_ignore_ascii_case(no) =>
            {
                None
            }
            (Some(text), Categories {} | Flag { .. }) => {
                Some(Part::Category { column, category: text.into() })
            }
            (Some(_), _) => None,
        }
    }

    /// A note if the column was left out for having one value or none, and has another value now.
    fn no_longer_constant(&self, table: &Table) -> Option<String> {
        use super::{Encoding, Why};
        let Encoding::LeftOut { why } = &self.encoding else { return None };
        let only = match why {
            Why::Blank => None,
            Why::Constant(value) | Why::ConstantOrBlank(value) => Some(value.as_str()),
            Why::Identifier { .. } | Why::Asked => return None,
        };
        let name = &self.name;
        let new =
            table.cells(table.position(name)?).flatten().find(|value| Some(*value) != only)?;
        let before =
            only.map_or_else(|| "was blank".into(), |only| format!("was `{only}` throughout"));
        let new = brief(new);
        Some(format!(
            "column `{name}` {before} when the recipe was made; it is ignored, although it has \
             `{new}` now"
        ))
    }
}
