//! The reader of one table of a spec.

use super::error::{Complaint, FieldError, Range, closest};
use super::node::{Node, Number, Value};

/// What a field is when it is not set.
#[derive(Clone, Debug, PartialEq)]
pub enum FieldDefault {
    /// This.
    Value(Value),
    /// Something taken from elsewhere, in words.
    Derived(&'static str),
    /// It must be set.
    Required,
}

/// One field as it was read: the row of the reference page, and the value in force.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// What it means.
    pub meaning: &'static str,
    /// What it may be.
    pub allowed: String,
    /// What it is when unset.
    pub default: FieldDefault,
    /// What it is here; `None` for an unset derived one.
    pub value: Option<Value>,
}

/// Reads a table field by field and collects everything that is wrong with it.
///
/// A reader that has recorded a problem goes on with a stand-in value, so that one look at a spec
/// finds all of its problems; whoever owns the list must not use the values unless it is empty.
#[derive(Debug)]
pub struct Fields<'a> {
    path: String,
    line: usize,
    entries: &'a [(String, Node)],
    read: Vec<Field>,
    problems: &'a mut Vec<FieldError>,
    /// Names of the table around this one.
    outer: Vec<&'static str>,
    /// Set when the table itself is wrong, so that more complaints about it would only repeat the
    /// first.
    given_up: bool,
}

impl<'a> Fields<'a> {
    /// A reader of `node`, which is found at `path` (empty for the root).
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

    /// A number that comes from elsewhere, as `derived` says, unless it is set.
    pub fn number_or(
        &mut self,
        name: &'static str,
        meaning: &'static str,
        derived: &'static str,
        range: Range,
    ) -> Option<f64> {
        self.read_number(name, meaning, FieldDefault::Derived(derived), range)
    }

    /// A whole number with a default, or required.
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

    /// A whole number that comes from elsewhere, as `derived` says, unless it is set.
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

    /// Yes or no.
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

    /// Text with a default in words, which is `fallback` here.
    pub fn text_or(
        &mut self,
        name: &'static str,
        meaning: &'static str,
        derived: &'static str,
        fallback: &str,
    ) -> String {
        let allowed = "text that is not empty and has no control characters";
        let usable = |text: &str| !text.trim().is_empty() && !text.chars().any(char::is_control);
        let read =
            self.read(name, meaning, allowed.into(), FieldDefault::Derived(derived), |value| {
                match value {
                    Value::Text(text) if usable(text) => Ok(value.clone()),
                    other => {
                        Err(Complaint::Type { expected: allowed.into(), found: describe(other) })
                    }
                }
            });
        let text = match read {
            Some(Value::Text(text)) => text,
            _ => fallback.into(),
        };
        self.fill(name, Value::Text(text.clone()));
        text
    }

    /// Records what an unset field came to be, for the resolved spec.
    pub fn fill(&mut self, name: &'static str, value: Value) {
        if let Some(field) = self.read.iter_mut().find(|field| field.name == name) {
            field.value.get_or_insert(value);
        }
    }

    /// One of some words, on which depends what else the table holds. `None` if it is missing or
    /// none of them: that is recorded, and nothing more is said of the table.
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

    /// Records that a field, or the table itself if `name` is empty, cannot be used, on the field's
    /// own line.
    pub fn object(&mut self, name: &'static str, complaint: Complaint) {
        let line = self.line_of(name);
        self.complain(line, name, complaint);
    }

    /// The line of a field, or of the table if it is not set.
    pub fn line_of(&self, name: &str) -> usize {
        self.find(name).map_or(self.line, |node| node.line)
    }

    /// What has been read so far, in order: the rows of a reference page.
    pub fn rows(&self) -> &[Field] {
        &self.read
    }

    /// Records every field that nobody read, and returns the table with defaults filled in.
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

    /// The one place where a field is looked up, checked, defaulted and remembered.
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

/// A value for an error: what kind of thing, and the thing itself where it is short.
fn describe(value: &Value) -> String {
    match value {
        Value::Text(text) if text.trim().is_empty() => "empty text".into(),
        Value::List(_) | Value::Table(_) | Value::Other(_) => value.type_name().into(),
        _ => format!("{} ({value})", value.type_name()),
    }
}
