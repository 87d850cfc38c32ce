//! Parses TOML into the tree that specs are read from.

use ::toml::Spanned;
use ::toml::de::{DeTable, DeValue};
use plausibly::spec::{Complaint, FieldError, Node, Value};

/// Parses a document.
pub(super) fn parse(text: &str) -> Result<Node, FieldError> {
    let lines = Lines::new(text);
    let document = DeTable::parse(text).map_err(|error| FieldError {
        line: error.span().map_or(0, |span| lines.at(span.start)),
        path: String::new(),
        complaint: Complaint::Syntax { message: error.message().trim_end().replace('\n', "; ") },
    })?;
    Ok(Node { value: lines.table(document.get_ref()), line: 1 })
}

/// Where each line begins.
struct Lines(Vec<usize>);

impl Lines {
    fn new(text: &str) -> Self {
        let breaks =
            text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Self(std::iter::once(0).chain(breaks).collect())
    }

    fn at(&self, offset: usize) -> usize {
        self.0.partition_point(|start| *start <= offset)
    }

    fn node(&self, line: usize, value: &Spanned<DeValue<'_>>) -> Node {
        let value = match value.get_ref() {
            DeValue::String(text) => Value::Text(text.to_string()),
            // No field accepts an integer beyond 64 bits; as a float it still appears in the error.
            DeValue::Integer(integer) => i64::from_str_radix(integer.as_str(), integer.radix())
                .map_or_else(|_| float(integer.as_str()), Value::Integer),
            DeValue::Float(number) => float(number.as_str()),
            DeValue::Boolean(truth) => Value::Bool(*truth),
            DeValue::Datetime(_) => Value::Other("a date or time"),
            DeValue::Array(items) => Value::List(
                items.iter().map(|item| self.node(self.at(item.span().start), item)).collect(),
            ),
            DeValue::Table(table) => self.table(table),
        };
        Node { value, line }
    }

    /// A field's line is that of its name, even if its value begins further down.
    fn table(&self, table: &DeTable<'_>) -> Value {
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_by_key(|(name, _)| name.span().start);
        let named = |(name, value): (&Spanned<_>, _)| {
            (
                std::borrow::Cow::to_string(name.get_ref()),
                self.node(self.at(name.span().start), value),
            )
        };
        Value::Table(entries.into_iter().map(named).collect())
    }
}

fn float(text: &str) -> Value {
    Value::Float(text.parse().unwrap_or(f64::NAN))
}
