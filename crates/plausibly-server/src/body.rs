//! Reads the body of a request, and says at which field it is wrong.

use crate::problem::{Code, Problem};
use crate::refusal::{escaped, of_context, of_table};
use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use plausibly_log::json::{JsonError, check_keys};
use plausibly_log::recipe::Context;
use plausibly_log::table::Table;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_path_to_error::{Path, Segment};
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use utoipa::{PartialSchema, ToSchema};

/// Arrays and objects are nested at most this deeply.
const DEEPEST: usize = 32;
/// A request has at most this many rows.
pub(crate) const MOST_ROWS: usize = 10_000;
/// Whole numbers from here on have more than 64 bits: 2⁶⁴.
const BEYOND: f64 = (1_u128 << 64) as f64;
/// Actions times features are at most this many.
const MOST_CELLS: usize = 1_000_000;

/// Checks that a body is sent as JSON. Without that, a web page could make a browser send it to a
/// service on loopback.
pub(crate) fn check_type(headers: &HeaderMap) -> Result<(), Problem> {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if kind.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    let found = if kind.is_empty() { "nothing" } else { kind };
    Err(Problem::new(
        Code::NotSentAsJson,
        format!(
            "send the header `Content-Type: application/json`, also without a body; got {found}"
        ),
    ))
}

/// Reads a value from a body.
pub(crate) fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, Problem> {
    let text = std::str::from_utf8(body)
        .map_err(|error| Problem::new(Code::NotJson, format!("the body is not UTF-8: {error}")))?;
    if let Some(at) = too_deep(text.as_bytes()) {
        let detail =
            format!("byte {at} begins a level of nesting beyond {DEEPEST}, the most allowed");
        return Err(Problem::new(Code::TooDeep, detail));
    }
    let mut from = serde_json::Deserializer::from_str(text);
    let value = serde_path_to_error::deserialize(&mut from).map_err(|error| {
        let (pointer, error) = (pointer(error.path()), error.into_inner());
        wrong(&error, pointer)
    })?;
    from.end().map_err(|error| wrong(&error, String::new()))?;
    check_keys(text).map_err(|doubled| match doubled {
        JsonError::Syntax(error) => wrong(&error, String::new()),
        doubled => Problem::new(Code::BadField, doubled.to_string()),
    })?;
    Ok(value)
}

/// Reads an object.
pub(crate) fn read_object<T: DeserializeOwned>(body: &[u8]) -> Result<T, Problem> {
    read(body).map(|Object(found)| found)
}

/// Reads an object that may be missing.
pub(crate) fn read_or_default<T: DeserializeOwned + Default>(body: &[u8]) -> Result<T, Problem> {
    if body.trim_ascii().is_empty() { Ok(T::default()) } else { read_object(body) }
}

fn wrong(error: &serde_json::Error, pointer: String) -> Problem {
    let text = error.to_string();
    // JSON has such numbers, and a double has not.
    let code = if text.starts_with("number out of range") {
        Code::OutOfRange
    } else if error.is_data() {
        Code::BadField
    } else {
        return Problem::new(Code::NotJson, text);
    };
    Problem::new(code, text).at(pointer)
}

/// The JSON pointer of a path.
fn pointer(path: &Path) -> String {
    let segments = path.iter().filter_map(|segment| match segment {
        Segment::Seq { index } => Some(format!("/{index}")),
        Segment::Map { key } => Some(format!("/{}", escaped(key))),
        Segment::Enum { .. } | Segment::Unknown => None,
    });
    segments.collect()
}

/// The byte at which a text is nested too deeply.
fn too_deep(text: &[u8]) -> Option<usize> {
    let (mut depth, mut quoted, mut escape) = (0_usize, false, false);
    for (at, byte) in text.iter().enumerate() {
        match byte {
            _ if escape => escape = false,
            b'\\' if quoted => escape = true,
            b'"' => quoted = !quoted,
            b'[' | b'{' if !quoted => {
                depth += 1;
                if depth > DEEPEST {
                    return Some(at);
                }
            }
            b']' | b'}' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

/// A value that is written as an object. Serde would take an array of its fields too.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Object<T>(pub(crate) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Reader<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Reader<T> {
            type Value = Object<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Object<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(Object)
            }
        }
        from.deserialize_map(Reader(PhantomData))
    }
}

/// A value as a person would write it into a table: text, a number, true or false; null is blank.
#[derive(Clone, Debug)]
pub(crate) struct Cell(String);

impl<'de> Deserialize<'de> for Cell {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Reader;
        impl Visitor<'_> for Reader {
            type Value = Cell;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("text, a number, true, false or null")
            }

            fn visit_str<E>(self, text: &str) -> Result<Cell, E> {
                Ok(Cell(text.into()))
            }

            fn visit_bool<E>(self, truth: bool) -> Result<Cell, E> {
                // As Python writes it, so that both mean the same category.
                Ok(Cell(if truth { "True" } else { "False" }.into()))
            }

            fn visit_i64<E>(self, number: i64) -> Result<Cell, E> {
                Ok(Cell(number.to_string()))
            }

            fn visit_u64<E>(self, number: u64) -> Result<Cell, E> {
                Ok(Cell(number.to_string()))
            }

            fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<Cell, E> {
                // A whole number beyond 64 bits arrives rounded.
                if number.abs() >= BEYOND {
                    return Err(E::custom("the number is too large to be exact; send it as text"));
                }
                // As JSON writes it, so that the same number is the same text.
                Ok(Cell(serde_json::to_string(&number).unwrap_or_default()))
            }

            fn visit_unit<E>(self) -> Result<Cell, E> {
                Ok(Cell(String::new()))
            }
        }
        from.deserialize_any(Reader)
    }
}

/// An action by its columns, in the order of the text.
#[derive(Clone, Debug)]
pub(crate) struct Row(Vec<(String, Cell)>);

impl<'de> Deserialize<'de> for Row {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Row;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object with the columns of an action")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Row, A::Error> {
                let mut cells = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    cells.push(entry);
                }
                Ok(Row(cells))
            }
        }
        from.deserialize_map(Reader)
    }
}

impl PartialSchema for Row {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
        <BTreeMap<String, CellSchema> as PartialSchema>::schema()
    }
}

impl ToSchema for Row {
    fn name() -> std::borrow::Cow<'static, str> {
        "Row".into()
    }
}

/// How a cell is described.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only its schema is used")]
#[schema(as = Cell)]
#[serde(untagged)]
pub(crate) enum CellSchema {
    Text(String),
    Number(f64),
    Truth(bool),
    Blank,
}

/// Makes a table of rows, with labels from this column or else from the one that suits.
pub(crate) fn table(rows: &[Row], label: Option<&str>, pointer: &str) -> Result<Table, Problem> {
    let (columns, cells) = cells(rows, pointer)?;
    let table = match label {
        Some(label) => {
            Table::unlabelled(&columns, cells).and_then(|table| table.with_label(Some(label)))
        }
        None => Table::from_rows(&columns, cells),
    };
    table.map_err(|error| of_table(&error, pointer))
}

/// Makes a table of rows whose labels are yet to come from the column of an experiment.
pub(crate) fn rows(rows: &[Row], pointer: &str) -> Result<Table, Problem> {
    let (columns, cells) = cells(rows, pointer)?;
    Table::unlabelled(&columns, cells).map_err(|error| of_table(&error, pointer))
}

/// The columns of rows in the order in which they first occur, and the cells of each row. A row
/// without a column has a blank there.
fn cells<'a>(
    rows: &'a [Row],
    pointer: &str,
) -> Result<(Vec<&'a str>, impl Iterator<Item = Vec<&'a str>>), Problem> {
    if rows.len() > MOST_ROWS {
        let detail = format!("{} rows are too many, at most {MOST_ROWS} are allowed", rows.len());
        return Err(Problem::new(Code::OutOfRange, detail).at(pointer));
    }
    let mut columns: Vec<&str> = Vec::new();
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for (name, _) in rows.iter().flat_map(|Row(cells)| cells) {
        places.entry(name).or_insert_with(|| {
            columns.push(name);
            columns.len() - 1
        });
    }
    if columns.is_empty() {
        let detail = "there must be at least one object, with the columns of an action";
        return Err(Problem::new(Code::BadTable, detail).at(pointer));
    }
    let width = columns.len();
    let filled = rows.iter().map(move |Row(cells)| {
        let mut filled = vec![""; width];
        for (name, Cell(text)) in cells {
            filled[places[name.as_str()]] = text;
        }
        filled
    });
    Ok((columns, filled))
}

/// Checks that every decision among these actions stays quick.
pub(crate) fn check_size(actions: usize, features: usize, pointer: &str) -> Result<(), Problem> {
    if actions.saturating_mul(features.max(1)) <= MOST_CELLS {
        return Ok(());
    }
    let detail = format!(
        "{actions} actions with {features} features each are too many, {MOST_CELLS} numbers are \
         allowed in all; leave out actions or columns"
    );
    Err(Problem::new(Code::OutOfRange, detail).at(pointer))
}

/// Makes a context of its values.
pub(crate) fn context(values: BTreeMap<String, Cell>) -> Result<Context, Problem> {
    let values: BTreeMap<String, String> =
        values.into_iter().map(|(key, Cell(text))| (key, text)).collect();
    Context::try_from(values).map_err(|error| of_context(&error))
}

/// Makes a context of those values whose keys are known.
pub(crate) fn known_context(
    values: BTreeMap<String, Option<Cell>>,
    is_known: impl Fn(&str) -> bool,
) -> Result<Context, Problem> {
    let known = values.into_iter().filter(|(key, _)| is_known(key));
    let known = known.map(|(key, value)| {
        let Some(value) = value else {
            let detail = format!("`{key}` must be text, a number, true, false or null");
            let problem = Problem::new(Code::BadContext, detail);
            return Err(problem.at(format!("/context/{}", escaped(&key))));
        };
        Ok((key, value))
    });
    context(known.collect::<Result<_, _>>()?)
}
