"""Turns tables of actions into the CSV that a log reads, so that frames mean what files mean."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from . import _core
from ._files import read_file
from ._rows import arrow_table, to_rows

_PLAIN = frozenset((str, int, float, bool))


def read_table(actions: object, vectors: bool, last: _core.Table | None) -> _core.Table:
    """The table of these actions; `last` if its rows are the same, because reading takes longer.

    >>> mugs = [{"name": "mug", "price": 4.5}]
    >>> table = read_table(mugs, False, None)
    >>> read_table([{"name": "mug", "price": 4.5}], False, table) is table
    True
    >>> read_table([{"name": "mug", "price": 5}], False, table) is table
    False
    """
    if last is not None and last.is_of(actions):
        return last
    if isinstance(actions, list) and all(type(row) is dict for row in actions):
        # A copy, because other threads can change the rows between the two steps.
        rows = [dict(row) for row in actions]
        return _core.Table(to_csv(rows, vectors), rows)
    return _core.Table(to_csv(actions, vectors), None)


def to_csv(actions: object, vectors: bool = False) -> bytes:
    """The table as its own library writes it, with every cell in quotes.

    With `vectors`, rows of plain numbers are accepted too.

    >>> to_csv([{"name": "mug", "price": 4.5}, {"name": "bowl"}])
    b'"name","price"\\r\\n"mug","4.5"\\r\\n"bowl",""\\r\\n'
    """
    module = type(actions).__module__.partition(".")[0]
    if isinstance(actions, _core.ActionSet):
        return _from_set(actions, vectors)
    if isinstance(actions, (str, os.PathLike)):
        return read_file(actions, _core.TABLE_MIB, "a table")
    if module in ("pandas", "polars") and hasattr(actions, "columns"):
        return _from_pandas(actions) if module == "pandas" else _from_polars(actions)
    if hasattr(actions, "__arrow_c_stream__") or hasattr(actions, "__arrow_c_array__"):
        return _from_arrow(actions)
    if isinstance(actions, np.ndarray) or _is_rows(actions):
        return _from_set(_core.ActionSet(to_rows(actions, "actions")), vectors)
    if isinstance(actions, Sequence) and not isinstance(actions, (bytes, bytearray, memoryview)):
        return _from_dicts(actions)
    raise TypeError(
        "actions: a log makes its features from a table with named columns, so that they can be "
        "read later; pass a frame, an Arrow table, a list of dicts or the path of a CSV file; "
        f"found {type(actions).__name__}"
    )


def to_context(context: object) -> dict[str, str]:
    """Facts about an occasion, as text; None means unknown."""
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
    """Refuses a column of arbitrary objects, because their text would look like a value."""
    if str(column.dtype) == "object":
        for value in column:
            _text(value, f"actions: {where}")


def _from_polars(frame: Any) -> bytes:
    if not hasattr(frame, "write_csv"):
        raise TypeError(
            f"actions: expected a polars DataFrame, found {type(frame).__name__}; collect it first"
        )
    try:
        text: str = frame.write_csv(quote_style="always", line_terminator="\r\n")
    except Exception as error:  # polars has its own exceptions, for example for columns of lists
        raise TypeError(f"actions: the frame has a column that is no table's: {error}") from error
    return text.encode("utf-8")


def _from_arrow(rows: Any) -> bytes:
    table = arrow_table(rows, "actions")
    written: Any = import_module("pyarrow.csv")
    sink = io.BytesIO()
    try:
        written.write_csv(table, sink, written.WriteOptions(quoting_style="all_valid"))
    except Exception as error:  # pyarrow has its own exceptions, for example for columns of lists
        raise TypeError(f"actions: the table has a column that is no table's: {error}") from error
    return sink.getvalue()


def _from_dicts(rows: Sequence[Any]) -> bytes:
    names: dict[str, None] = {}
    for place, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise TypeError(
                f"actions[{place}]: expected a dict of columns, found {type(row).__name__}"
            )
        for name in row:
            if not isinstance(name, str):
                raise TypeError(f"actions[{place}]: names of columns are text, got {name!r}")
            if not name.strip():
                raise ValueError(f"actions[{place}]: a column needs a name")
            names[name] = None
    sink = io.StringIO(newline="")
    writer = csv.writer(sink, quoting=csv.QUOTE_ALL)
    writer.writerow(names)
    for place, row in enumerate(rows):
        cells = [
            str(value)
            if type(value := row.get(name)) in _PLAIN
            else _text(value, f"actions[{place}][{name!r}]")
            for name in names
        ]
        if not any(cell.strip() for cell in cells):
            # A file reader would skip it, like the blank lines that spreadsheets leave behind.
            raise ValueError(f"actions[{place}]: the row is empty")
        writer.writerow(cells)
    return sink.getvalue().encode("utf-8", "surrogatepass") if names else b""


def _is_rows(actions: object) -> bool:
    """Whether this is a list of lists of numbers, which has no column names."""
    return (
        isinstance(actions, (list, tuple))
        and bool(actions)
        and all(isinstance(row, (list, tuple, np.ndarray)) for row in actions)
    )


def _from_set(actions: _core.ActionSet, vectors: bool) -> bytes:
    if actions.dim > 0 and not vectors:
        raise TypeError(
            "actions: a log makes its features from a table with named columns, so that they can "
            "be read later; pass a frame, or begin a log with theta_norm_bound, which takes "
            "vectors as they are given"
        )
    labels = range(len(actions)) if actions.labels is None else actions.labels
    rows = (
        {f"x{place}": x for place, x in enumerate(action.features.tolist())} for action in actions
    )
    return _from_dicts([{"label": label, **row} for label, row in zip(labels, rows)])


def _text(value: object, where: str) -> str:
    """A cell as CSV text."""
    if hasattr(value, "ndim") and hasattr(value, "item") and getattr(value, "ndim") == 0:
        value = value.item()  # converts NumPy scalars to Python values
    if value is None or isinstance(value, (str, bool, int, float)) or _is_calendar(value):
        return "" if value is None else str(value)
    raise TypeError(
        f"{where}: a cell is text, a number, a truth value or a date, found {type(value).__name__}"
    )


def _is_calendar(value: object) -> bool:
    return hasattr(value, "isoformat") or type(value).__name__ in ("Decimal", "NAType", "NaTType")
