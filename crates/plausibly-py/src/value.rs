//! Converts Python's dicts, lists and numbers to the tree that specs are read from, and back.

use crate::errors::raise;
use plausibly::spec::{Node, Value};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple};

/// Values may be nested this deep. Specs need three levels; deeper ones are mistakes, or contain
/// themselves.
const DEEPEST: usize = 16;

/// Converts a Python value to a node without a line number.
///
/// # Errors
/// If a dict has a key that is not text, or Python code that runs during the conversion raises.
pub(crate) fn node(value: &Bound<'_, PyAny>) -> PyResult<Node> {
    Ok(Node { value: convert(value, DEEPEST)?, line: 0 })
}

/// Whether a value is a whole number: not 1.0 and not True, although both equal 1.
pub(crate) fn is_whole(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(!value.is_instance_of::<PyBool>() && value.hasattr("__index__")?)
}

fn convert(value: &Bound<'_, PyAny>, deepest: usize) -> PyResult<Value> {
    if deepest == 0 {
        return Ok(Value::Other("something nested too deeply"));
    }
    let inside = |item: &Bound<'_, PyAny>| Ok(Node { value: convert(item, deepest - 1)?, line: 0 });
    if let Ok(truth) = value.cast::<PyBool>() {
        return Ok(Value::Bool(truth.is_true()));
    }
    if let Ok(number) = value.cast::<PyInt>() {
        // No field takes an integer of more than 64 bits. As a float it can still be shown in the
        // error.
        return Ok(match number.extract::<i64>() {
            Ok(integer) => Value::Integer(integer),
            Err(_) => Value::Float(number.extract::<f64>().unwrap_or(f64::INFINITY)),
        });
    }
    if let Ok(number) = value.cast::<PyFloat>() {
        return Ok(Value::Float(number.value()));
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(text.extract().map_or(Value::Other("text that is not Unicode"), Value::Text));
    }
    if let Ok(table) = value.cast::<PyMapping>() {
        return entries(table, inside);
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        let items = value.try_iter()?.map(|item| inside(&item?));
        return Ok(Value::List(items.collect::<PyResult<_>>()?));
    }
    // A NumPy scalar, or an array without dimensions, converts itself to a Python number.
    match value.getattr("ndim").and_then(|dimensions| dimensions.extract::<usize>()) {
        Ok(0) => convert(&value.call_method0("item")?, deepest - 1),
        _ => Ok(Value::Other("an object that no spec holds")),
    }
}

/// The entries of a dict, without those that are `None`, which means unset as in a call.
fn entries(
    table: &Bound<'_, PyMapping>,
    inside: impl Fn(&Bound<'_, PyAny>) -> PyResult<Node>,
) -> PyResult<Value> {
    let mut entries = Vec::new();
    // Iterates over a copy, because converting a value may run Python code that changes the dict.
    for item in table.items()? {
        let (name, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item.extract()?;
        let Ok(name) = name.extract::<String>() else {
            raise!(PyTypeError, "names in a spec are text, got the key {}", name.repr()?);
        };
        if !value.is_none() {
            entries.push((name, inside(&value)?));
        }
    }
    Ok(Value::Table(entries))
}

/// Converts a tree to Python's dicts, lists and numbers.
///
/// # Errors
/// If Python has no memory left.
pub(crate) fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Bool(truth) => PyBool::new(py, *truth).to_owned().into_any(),
        Value::Integer(integer) => integer.into_pyobject(py)?.into_any(),
        Value::Float(float) => PyFloat::new(py, *float).into_any(),
        Value::Text(text) => PyString::new(py, text).into_any(),
        Value::Other(name) => PyString::new(py, name).into_any(),
        Value::List(items) => {
            let list = PyList::empty(py);
            items.iter().try_for_each(|item| list.append(to_python(py, &item.value)?))?;
            list.into_any()
        }
        Value::Table(entries) => {
            let table = PyDict::new(py);
            let mut entries = entries.iter();
            entries
                .try_for_each(|(name, node)| table.set_item(name, to_python(py, &node.value)?))?;
            table.into_any()
        }
    })
}
