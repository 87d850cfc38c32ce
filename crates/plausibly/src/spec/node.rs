//! The tree that a spec is read from, whatever language it was written in.

use std::fmt;

/// A value, and the line of the source where it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The value.
    pub value: Value,
    /// Line in the source, from 1; 0 if it has none.
    pub line: usize,
}

/// A value of a spec.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// A number written with a point or exponent; may be infinite or NaN.
    Float(f64),
    /// Text.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// Names with values, in the order of the source.
    Table(Vec<(String, Node)>),
    /// A type that no spec uses, such as a date, by its name in the source language.
    Other(&'static str),
}

impl Value {
    /// The name of its type in errors.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Bool(_) => "a boolean",
            Self::Integer(_) | Self::Float(_) => "a number",
            Self::Text(_) => "text",
            Self::List(_) => "a list",
            Self::Table(_) => "a table",
            Self::Other(name) => name,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(value) => value.fmt(f),
            Self::Integer(value) => value.fmt(f),
            Self::Float(value) => write!(f, "{}", Number(*value)),
            Self::Text(value) => write!(f, "{value:?}"),
            Self::List(_) | Self::Table(_) | Self::Other(_) => f.write_str(self.type_name()),
        }
    }
}

/// A number as people write it: `10000` and `0.05`, but `1e-9` and `1e100`.
pub(crate) struct Number(pub(crate) f64);

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let magnitude = self.0.abs();
        if self.0.is_finite() && magnitude != 0.0 && !(1e-4..1e7).contains(&magnitude) {
            write!(f, "{:e}", self.0)
        } else {
            write!(f, "{}", self.0)
        }
    }
}
