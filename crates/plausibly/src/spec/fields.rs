//! Reads one table of a spec.
//!
//! Each call names a field with its meaning, default and range, once. From that one statement come
//! the value, the error, the row of the reference page and the resolved spec, so they cannot
//! differ.

use super::error::{Complaint, FieldError, Range, closest};
use super::node::{Node, Number, Value};

/// The value of a field that is not set.
#[derive(Clone, Debug, PartialEq)]
pub enum FieldDefault {
    /// This value.
    Value(Value),
    /// A value that comes from elsewhere, as these words say.
    Derived(&'static str),
    /// It must be set.
    Required,
}

/// A field that was read: its row of the reference page, and its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// What it means.
    pub meaning: &'static str,
    /// The values it takes.
    pub allowed: String,
    /// Its value when it is not set.
    pub default: FieldDefault,
    /// Its value in this spec; `None` for a derived field that is not set.
    pub value: Option<Value>,
}

/// Reads a table field by field and collects every error in it.
///
/// After an error the reader returns a stand-in value and goes on, so that one run finds all errors
/// of a spec. Use the values only if the list of errors is empty.
#[derive(Debug)]
pub struct Fields<'a> {
    path: String,
    line: usize,
    entries: &'a [(String, Node)],
    read: Vec<Field>,
    problems: &'a mut Vec<FieldError>,
    /// Field names of the table around this one.
    outer: Vec<&'static str>,
    /// Set when the table itself is wrong: further errors would only repeat the first.
    given_up: bool,
}

impl<'a> Fields<'a> {
    /// Reads `node`, which is at `path` (empty for the root).
    pub fn new(path: &str, node: &'a Node, problems: &'a mut Vec<FieldError>) -> Self {
        let (entries, given_up): (&[_], _) = match &node.value {
            Value::Table(entries) => (entries, false),
            other => {
                let complaint =
                    Complaint::Type { expected: "a table".into(), found: describe(other) };
                problems.push(FieldError { line: node.line, path: path.into(), complaint });
                (&[], true)
            }
        };
        Self {
            path: path.into(),
            line: node.line,
            entries,
            read: Vec::new(),
            problems,
            outer: Vec::new(),
            given_up,
        }
    }

    /// A number with a default.
    pub fn number(
        &mut self,
        name: &'static str,
        meaning: &'static str,
        default: f64,
        range: Range,
    ) -> f64 {
        self.read_number(name, meaning, FieldDefault::Value(Value::Float(default)), range)
            .unwrap_or(default)
    }

    /// A number; if it is not set, `derived` says in words where it comes from.
    pub fn number_or(
        &mut self,
        name: &'static str,
        meaning: &'static str,
        derived: &'static str,
        range: Range,
    ) -> Option<f64> {
        self.read_number(name, meaning, FieldDefault::Derived(derived), range)
    }

    /// A whole number, required if it has no default.
    pub fn integer(
        &mut self,
        name: &'static str,
        meaning: &'static str,
        default: Option<i64>,
        range: (i64, i64),
    ) -> u64 {
        let default = default
            .map_or(FieldDefault::Required, |value| FieldDefault::Value(Value::Integer(value)));
        self.read_integer(name, meaning, default, range).unwrap_or(range.0.unsigned_abs())
    }

    /// A whole number; if it is not set, `derived` says in words where it comes from.
    pub fn integer_or(
        &mut self,
        name: &'static str,
        meaning: &'static str,
        derived: &'static str,
        range: (i64, i64),
    ) -> Option<u64> {
        self.read_integer(name, meaning, FieldDefault::Derived(derived), range)
    }

    fn read_integer(
        &mut self,
        name: &'static str,
        meaning: &'static str,
        default: FieldDefault,
        range: (i64, i64),
    ) -> Option<u64> {
        let allowed = format!("a whole number from {} to {}", range.0, range.1);
        let read = self.read(name, meaning, allowed.clone(), default, |value| match value {
            Value::Integer(x) if (range.0..=range.1).contains(x) => Ok(Value::Integer(*x)),
            Value::Integer(x) => {
                Err(Complaint::OutOfRange { found: x.to_string(), allowed: allowed.clone() })
            }
            Value::Float(x) if x.fract().abs() < f64::MIN_POSITIVE => {
                let found =
                    format!("{} with a point or exponent; write all its digits", Number(*x));
                Err(Complaint::Type { expected: allowed.clone(), found })
            }
            other => Err(Complaint::Type { expected: allowed.clone(), found: describe(other) }),
        });
        match read {
            Some(Value::Integer(x)) => Some(x.unsigned_abs()),
            _ => None,
        }
    }

    /// `true` or `false`.
    pub fn boolean(&mut self, name: &'static str, meaning: &'static str, default: bool) -> bool {
        let allowed = "true or false";
        let read = self.read(
            name,
            meaning,
            allowed.into(),
            FieldDefault::Value(Value::Bool(default)),
            |value| match value {
                Value::Bool(_) => Ok(value.clone()),
                other => Err(Complaint::Type { expected: allowed.into(), found: describe(other) }),
            },
        );
        matches!(read, Some(Value::Bool(true)))
    }

    /// Text. If it is not set it is `fallback`, which `derived` describes.
    pub fn text_or(
        &mut self,
        name: &'static str,
        meaning: &'static str,
        derived: &'static str,
        fallback: &str,
    ) -> String {
        let read = self.text(name, meaning, FieldDefault::Derived(derived));
        let text = read.unwrap_or_else(|| fallback.into());
        self.fill(name, Value::Text(text.clone()));
        text
    }

    /// Text, required or described by its default; `None` if it is not set.
    pub fn text(
        &mut self,
        name: &'static str,
        meaning: &'static str,
        default: FieldDefault,
    ) -> Option<String> {
        let allowed = "text that is not empty and has no control characters";
        let usable = |text: &str| !text.trim().is_empty() && !text.chars().any(char::is_control);
        let read = self.read(name, meaning, allowed.into(), default, |value| match value {
            Value::Text(text) if usable(text) => Ok(value.clone()),
            other => Err(Complaint::Type { expected: allowed.into(), found: describe(other) }),
        });
        match read {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// Records the value that a field took although it was not set, for the resolved spec.
    pub fn fill(&mut self, name: &'static str, value: Value) {
        if let Some(field) = self.read.iter_mut().find(|field| field.name == name) {
            field.value.get_or_insert(value);
        }
    }

    /// One of these words. The other fields of the table depend on it, so after a missing or
    /// unknown word, which is recorded, the reader reports nothing more about the table and returns
    /// `None`.
    pub fn choice(
        &mut self,
        name: &'static str,
        meaning: &'static str,
        default: Option<&'static str>,
        options: &[&'static str],
    ) -> Option<&'static str> {
        let default = default
            .map_or(FieldDefault::Required, |word| FieldDefault::Value(Value::Text(word.into())));
        let allowed = format!("one of {}", options.join(", "));
        let read = self.read(name, meaning, allowed.clone(), default, |value| match value {
            Value::Text(word) if options.contains(&word.as_str()) => Ok(value.clone()),
            Value::Text(word) => Err(Complaint::Choice {
                found: word.clone(),
                options: options.to_vec(),
                suggestion: closest(word, options),
            }),
            other => Err(Complaint::Type { expected: allowed.clone(), found: describe(other) }),
        });
        let word = match read {
            Some(Value::Text(word)) => options.iter().copied().find(|option| *option == word),
            _ => None,
        };
        self.given_up = self.given_up || word.is_none();
        word
    }

    /// A table inside this one, read by `read` if it is there.
    pub fn table<T>(
        &mut self,
        name: &'static str,
        meaning: &'static str,
        default: FieldDefault,
        read: impl FnOnce(&mut Fields<'_>) -> T,
    ) -> Option<T> {
        let path = self.path_of(name);
        let found = self.find(name);
        if found.is_none() && default == FieldDefault::Required {
            self.complain(
                self.line,
                name,
                Complaint::Missing { expected: format!("a table [{path}]") },
            );
        }
        let outer = self.names();
        let (result, value) = found
            .map(|node| {
                let mut inner = Fields::new(&path, node, self.problems);
                inner.outer = outer;
                (read(&mut inner), inner.finish())
            })
            .unzip();
        self.read.push(Field { name, meaning, allowed: "a table".into(), default, value });
        result
    }

    /// One or more tables under one name, each read by `read`.
    pub fn tables<T>(
        &mut self,
        name: &'static str,
        meaning: &'static str,
        mut read: impl FnMut(&mut Fields<'_>) -> T,
    ) -> Vec<T> {
        let path = self.path_of(name);
        let nodes: &[Node] = match self.find(name).map(|node| (&node.value, node.line)) {
            Some((Value::List(nodes), _)) if !nodes.is_empty() => nodes,
            Some((other, line)) if !matches!(other, Value::List(_)) => {
                let expected = format!("a list of tables, written [[{path}]]");
                self.complain(line, name, Complaint::Type { expected, found: describe(other) });
                &[]
            }
            _ => {
                let expected = format!("at least one [[{path}]] table");
                self.complain(self.line, name, Complaint::Missing { expected });
                &[]
            }
        };
        let outer = self.names();
        let mut resolved = Vec::new();
        let mut results = Vec::new();
        for (position, node) in nodes.iter().enumerate() {
            let mut inner = Fields::new(&format!("{path}[{}]", position + 1), node, self.problems);
            inner.outer.clone_from(&outer);
            results.push(read(&mut inner));
            resolved.push(Node { value: inner.finish(), line: 0 });
        }
        let (allowed, value) = ("one or more tables".into(), Some(Value::List(resolved)));
        self.read.push(Field { name, meaning, allowed, default: FieldDefault::Required, value });
        results
    }

    /// Records an error of a field, on its own line; of the table itself if `name` is empty.
    pub fn object(&mut self, name: &'static str, complaint: Complaint) {
        let line = self.line_of(name);
        self.complain(line, name, complaint);
    }

    /// The line of a field, or of the table if it is not set.
    pub fn line_of(&self, name: &str) -> usize {
        self.find(name).map_or(self.line, |node| node.line)
    }

    /// The fields read so far, in order: the rows of a reference page.
    pub fn rows(&self) -> &[Field] {
        &self.read
    }

    /// Records every field that was not read as unknown, and returns the table with defaults filled
    /// in.
    pub fn finish(self) -> Value {
        let known = self.names();
        for (name, node) in self.entries {
            if !known.contains(&name.as_str()) && !self.given_up {
                let complaint = Complaint::Unknown {
                    suggestion: closest(name, &known),
                    belongs_outside: self.outer.contains(&name.as_str()),
                    known: known.clone(),
                };
                let path = join(&self.path, name);
                self.problems.push(FieldError { line: node.line, path, complaint });
            }
        }
        let filled =
            self.read.into_iter().filter_map(|field| Some((field.name.to_string(), field.value?)));
        Value::Table(filled.map(|(name, value)| (name, Node { value, line: 0 })).collect())
    }

    fn read_number(
        &mut self,
        name: &'static str,
        meaning: &'static str,
        default: FieldDefault,
        range: Range,
    ) -> Option<f64> {
        let allowed = format!("a number {range}");
        let read = self.read(name, meaning, allowed.clone(), default, |value| {
            let x = match value {
                Value::Integer(x) => *x as f64,
                Value::Float(x) => *x,
                other => {
                    return Err(Complaint::Type {
                        expected: allowed.clone(),
                        found: describe(other),
                    });
                }
            };
            if range.contains(x) {
                Ok(Value::Float(x))
            } else {
                Err(Complaint::OutOfRange {
                    found: Number(x).to_string(),
                    allowed: allowed.clone(),
                })
            }
        });
        match read {
            Some(Value::Float(x)) => Some(x),
            _ => None,
        }
    }

    /// Looks up a field, checks it, takes its default and remembers it: every read goes through
    /// here.
    fn read(
        &mut self,
        name: &'static str,
        meaning: &'static str,
        allowed: String,
        default: FieldDefault,
        check: impl FnOnce(&Value) -> Result<Value, Complaint>,
    ) -> Option<Value> {
        let value = match self.find(name) {
            Some(node) => match check(&node.value) {
                Ok(value) => Some(value),
                Err(complaint) => {
                    self.complain(node.line, name, complaint);
                    None
                }
            },
            None => match &default {
                FieldDefault::Value(value) => Some(value.clone()),
                FieldDefault::Derived(_) => None,
                FieldDefault::Required => {
                    self.complain(
                        self.line,
                        name,
                        Complaint::Missing { expected: allowed.clone() },
                    );
                    None
                }
            },
        };
        self.read.push(Field { name, meaning, allowed, default, value: value.clone() });
        value
    }

    fn complain(&mut self, line: usize, name: &str, complaint: Complaint) {
        if !self.given_up {
            let path = self.path_of(name);
            self.problems.push(FieldError { line, path, complaint });
        }
    }

    fn names(&self) -> Vec<&'static str> {
        self.read.iter().map(|field| field.name).collect()
    }

    /// Whether a field is set.
    pub(super) fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    fn find(&self, name: &str) -> Option<&'a Node> {
        self.entries.iter().find(|(key, _)| key == name).map(|(_, node)| node)
    }

    fn path_of(&self, name: &str) -> String {
        join(&self.path, name)
    }
}

fn join(path: &str, name: &str) -> String {
    match (path.is_empty(), name.is_empty()) {
        (true, _) => name.into(),
        (_, true) => path.into(),
        _ => format!("{path}.{name}"),
    }
}

/// A value as errors show it: its type and, if it is short, the value.
fn describe(value: &Value) -> String {
    match value {
        Value::Text(text) if text.trim().is_empty() => "empty text".into(),
        Value::List(_) | Value::Table(_) | Value::Other(_) => value.type_name().into(),
        _ => format!("{} ({value})", value.type_name()),
    }
}
