//! Tables of actions. Most decisions are about the same table as the one before, so a table that
//! was read is kept, together with what it takes to recognise its rows.

use plausibly_log::table::Table;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use std::sync::Arc;

/// A table that was read.
#[pyclass(frozen, name = "Table", module = "plausibly._core")]
pub(crate) struct PyTable {
    table: Arc<Table>,
    rows: Option<Rows>,
}

#[pymethods]
impl PyTable {
    /// Reads a CSV; `rows` are the dicts that it was made from, if they were dicts.
    #[new]
    fn new(py: Python<'_>, csv: &[u8], rows: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let rows = rows.and_then(Rows::of);
        let table = py.detach(|| Table::read(csv)).map_err(|error| refused(&error))?;
        Ok(Self { table: Arc::new(table), rows })
    }

    /// Whether these rows would give this table. If false, they may still give it.
    fn is_of(&self, rows: &Bound<'_, PyAny>) -> bool {
        self.rows.as_ref().is_some_and(|own| own.are(rows))
    }
}

impl PyTable {
    pub(super) fn shared(&self) -> Arc<Table> {
        Arc::clone(&self.table)
    }
}

/// The exception for a table that a log cannot use.
pub(super) fn refused(error: &dyn std::fmt::Display) -> PyErr {
    PyValueError::new_err(format!("actions: {error}"))
}

/// A copy of dicts with the same keys in the same order, whose values have one meaning as text.
struct Rows {
    names: Vec<String>,
    /// Row after row.
    cells: Vec<Cell>,
}

impl Rows {
    fn of(rows: &Bound<'_, PyAny>) -> Option<Self> {
        let rows = dicts(rows)?;
        let name = |name: Bound<'_, PyAny>| Some(plain_text(&name)?.to_owned());
        let names: Vec<_> =
            rows.first()?.iter().map(|(key, _)| name(key)).collect::<Option<_>>()?;
        let mut cells = Vec::with_capacity(rows.len() * names.len());
        for row in &rows {
            if row.len() != names.len() {
                return None;
            }
            for ((key, value), name) in row.iter().zip(&names) {
                if plain_text(&key)? != name {
                    return None;
                }
                cells.push(Cell::of(&value)?);
            }
        }
        Some(Self { names, cells })
    }

    /// Whether these rows have the same keys and values, of the same types.
    fn are(&self, rows: &Bound<'_, PyAny>) -> bool {
        let Some(rows) = dicts(rows) else { return false };
        let width = self.names.len();
        rows.len() * width == self.cells.len()
            && rows.iter().zip(self.cells.chunks(width.max(1))).all(|(row, cells)| {
                let mut expected = self.names.iter().zip(cells);
                row.len() == width
                    && row.iter().zip(&mut expected).all(|((key, value), (name, cell))| {
                        plain_text(&key).is_some_and(|key| key == name) && cell.is(&value)
                    })
            })
    }
}

/// The items of a list or tuple, if all of them are dicts. Types that are derived from these may
/// give other values each time they are read.
fn dicts<'py>(rows: &Bound<'py, PyAny>) -> Option<Vec<Bound<'py, PyDict>>> {
    let dict = |row: Bound<'py, PyAny>| row.cast_into_exact::<PyDict>().ok();
    match rows.cast_exact::<PyList>() {
        Ok(list) => list.iter().map(dict).collect(),
        Err(_) => rows.cast_exact::<PyTuple>().ok()?.iter().map(dict).collect(),
    }
}

fn plain_text<'a>(value: &'a Bound<'_, PyAny>) -> Option<&'a str> {
    value.cast_exact::<PyString>().ok()?.to_str().ok()
}

/// A value that cannot change. Values that are equal in Python may differ as text, as 1, 1.0 and
/// True do.
#[derive(PartialEq)]
enum Cell {
    Nothing,
    Truth(bool),
    Whole(i64),
    Number(u64),
    Text(Box<str>),
}

impl Cell {
    fn of(value: &Bound<'_, PyAny>) -> Option<Self> {
        if let Some(text) = plain_text(value) {
            return Some(Self::Text(text.into()));
        }
        if let Ok(number) = value.cast_exact::<PyFloat>() {
            return Some(Self::Number(number.value().to_bits()));
        }
        if let Ok(number) = value.cast_exact::<PyInt>() {
            return number.extract().ok().map(Self::Whole);
        }
        if let Ok(truth) = value.cast_exact::<PyBool>() {
            return Some(Self::Truth(truth.is_true()));
        }
        value.is_none().then_some(Self::Nothing)
    }

    fn is(&self, value: &Bound<'_, PyAny>) -> bool {
        match self {
            Self::Text(own) => plain_text(value).is_some_and(|text| text == &**own),
            own => Self::of(value).is_some_and(|value| value == *own),
        }
    }
}
