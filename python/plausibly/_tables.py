"""Tables of actions as the CSV that a log reads: so that a frame means what its file would mean."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from . import _core
from ._rows import arrow_table


def to_csv(actions: object) -> bytes:
    """The table, every cell in quotes, as its own library writes it.

    >>> to_csv([{"name": "mug", "price": 4.5}, {"name": "bowl"}])
    b'"name","price"\\r\\n"mug","4.5"\\r\\n"bowl",""\\r\\n'
    """
    module = type(actions).__module__.partition(".")[0]
    if isinstance(actions, _core.ActionSet):
        return _from_arms(actions)
    if isinstance(actions, (str, os.PathLike)):
        with open(actions, "rb") as file:
            return file.read()
    if module in ("pandas", "polars") and hasattr(actions, "columns"):
        return _from_pandas(actions) if module == "pandas" else _from_polars(actions)
    if hasattr(actions, "__arrow_c_stream__") or hasattr(actions, "__arrow_c_array__"):
        return _from_arrow(actions)
    if isinstance(actions, Sequence) and not isinstance(actions, (bytes, bytearray, memoryview)):
        return _from_dicts(actions)
    raise TypeError(
        "actions: a log makes its features from a table whose columns have names, so that they can be read later; "
        f"pass a frame, an Arrow table, a list of dicts or the path of a CSV file, found {type(actions).__name__}"
    )


def to_context(context: object) -> dict[str, str]:
    """What is known of an occasion, as text; what is None is not known."""
    if context is None:
        return {}
    if not isinstance(context, Mapping):
        raise TypeError(f"context: expected a dict, found {type(context).__name__}")
    texts = {}
    for key, value in context.items():
        if not isinstance(key, str):
            raise TypeError(f"context: keys are text, got {key!r}")
        if value is not None:
            texts[key] = _text(value, f"context: {key!r}")
    return texts


def _from_pandas(frame: Any) -> bytes:
    if getattr(frame.columns, "nlevels", 1) > 1:
        raise TypeError("actions: columns need one name each, and these have several levels")
    for place, name in enumerate(frame.columns):
        _plain(frame.iloc[:, place], f"column {name!r}")
    text: str = frame.to_csv(index=False, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    return text.encode("utf-8")


def _plain(column: Any, where: str) -> None:
    """A column of objects may hold anything, and text of it would look like a value."""
    if str(column.dtype) == "object":
        for value in column:
            _text(value, f"actions: {where}")


def _from_polars(frame: Any) -> bytes:
    if not hasattr(frame, "write_csv"):
        raise TypeError(f"actions: expected a polars DataFrame, found {type(frame).__name__}; collect it first")
    try:
        text: str = frame.write_csv(quote_style="always", line_terminator="\r\n")
    except Exception as error:  # polars has exceptions of its own for columns of lists and the like
        raise TypeError(f"actions: the frame has a column that is no table's: {error}") from error
    return text.encode("utf-8")


def _from_arrow(rows: Any) -> bytes:
    table = arrow_table(rows, "actions")
    written: Any = import_module("pyarrow.csv")
    sink = io.BytesIO()
    try:
        written.write_csv(table, sink, written.WriteOptions(quoting_style="all_valid"))
    except Exception as error:  # pyarrow has exceptions of its own for columns of lists and the like
        raise TypeError(f"actions: the table has a column that is no table's: {error}") from error
    return sink.getvalue()


def _from_dicts(rows: Sequence[Any]) -> bytes:
    names: dict[str, None] = {}
    for place, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise TypeError(f"actions[{place}]: expected a dict of columns, found {type(row).__name__}")
        for name in row:
            if not isinstance(name, str):
                raise TypeError(f"actions[{place}]: names of columns are text, got {name!r}")
            names[name] = None
    sink = io.StringIO(newline="")
    writer = csv.writer(sink, quoting=csv.QUOTE_ALL)
    writer.writerow(names)
    for place, row in enumerate(rows):
        cells = ((name, row.get(name)) for name in names)
        writer.writerow(["" if cell is None else _text(cell, f"actions[{place}][{name!r}]") for name, cell in cells])
    return sink.getvalue().encode("utf-8", "surrogatepass") if names else b""


def _from_arms(actions: _core.ActionSet) -> bytes:
    if actions.dim > 0:
        raise TypeError(
            "actions: a log makes its features from a table whose columns have names, so that they can be read later; "
            "pass the frame that this ActionSet was made from"
        )
    labels = range(len(actions)) if actions.labels is None else actions.labels
    return _from_dicts([{"label": label} for label in labels])


def _text(value: object, where: str) -> str:
    """A cell as CSV has it."""
    if hasattr(value, "ndim") and hasattr(value, "item") and getattr(value, "ndim") == 0:
        value = value.item()  # a scalar of NumPy knows what it is in Python
    if value is None or isinstance(value, (str, bool, int, float)) or _is_calendar(value):
        return "" if value is None else str(value)
    raise TypeError(f"{where}: a cell is text, a number, a truth value or a date, found {type(value).__name__}")


def _is_calendar(value: object) -> bool:
    return hasattr(value, "isoformat") or type(value).__name__ in ("Decimal", "NAType", "NaTType")
