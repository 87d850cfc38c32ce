"""Reads rows of features from arrays, lists, pandas or polars frames, and Arrow tables."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

# Booleans, signed and unsigned integers, floats: the types with one meaning as a number.
_NUMBERS = "biuf"
_ARROW_NUMBERS = {"bool", "halffloat", "float", "double"} | {
    f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
}


def to_rows(rows: object, argument: str) -> npt.NDArray[np.float64]:
    """Two-dimensional float64 in C order; errors call it `argument`.

    >>> to_rows([[1, 2], [3, 4]], "rows")
    array([[1., 2.],
           [3., 4.]])
    """
    module = type(rows).__module__.partition(".")[0]
    if module in ("pandas", "polars") and hasattr(rows, "columns"):
        return _from_frame(rows, module, argument)
    if hasattr(rows, "__arrow_c_stream__") or hasattr(rows, "__arrow_c_array__"):
        return _from_arrow(rows, argument)
    if isinstance(rows, (str, bytes, dict, set, frozenset)) or rows is None:
        raise TypeError(
            f"{argument}: expected rows of features or an ActionSet, found {type(rows).__name__}"
        )
    if isinstance(rows, np.ma.MaskedArray) and np.ma.getmaskarray(rows).any():
        raise ValueError(
            f"{argument}: the array has masked entries, and every feature needs a value"
        )
    try:
        array = np.asarray(rows)
    except ValueError as error:
        # NumPy's message for rows of different lengths.
        raise ValueError(f"{argument}: not a table of numbers: {error}") from error
    return _checked(array, argument)


def _checked(array: npt.NDArray[Any], argument: str) -> npt.NDArray[np.float64]:
    if array.dtype.kind not in _NUMBERS:
        raise TypeError(f"{argument}: expected numbers, found an array of {array.dtype}")
    if array.ndim != 2:
        hint = "; for plain arms use ActionSet.arms" if array.ndim == 0 else ""
        raise ValueError(
            f"{argument}: expected one row per action and one column per feature, found an array "
            f"of shape {array.shape}{hint}"
        )
    if array.shape[0] == 0:
        raise ValueError(f"{argument}: an action set needs at least one action")
    if array.shape[1] == 0:
        raise ValueError(
            f"{argument}: actions need at least one feature; for plain arms use ActionSet.arms"
        )
    # A number beyond float64 becomes infinite; the check of all features refuses it by name.
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(array, dtype=np.float64)


def _from_frame(frame: Any, module: str, argument: str) -> npt.NDArray[np.float64]:
    for place, name in enumerate(frame.columns):
        column = frame.iloc[:, place] if module == "pandas" else frame.get_column(name)
        if not _is_numeric(column.dtype, module):
            raise TypeError(
                f"{argument}: column {name!r} holds {column.dtype}, and features are numbers; "
                "drop it or turn it into numbers"
            )
        missing = column.isna().any() if module == "pandas" else column.null_count() > 0
        if missing:
            raise ValueError(
                f"{argument}: column {name!r} has missing values, and every feature needs one"
            )
    array = frame.to_numpy(dtype=np.float64) if module == "pandas" else frame.to_numpy()
    return _checked(np.asarray(array), argument)


def _from_arrow(rows: Any, argument: str) -> npt.NDArray[np.float64]:
    table = arrow_table(rows, argument)
    columns = []
    for place, name in enumerate(table.column_names):
        column = table.column(place)
        if str(column.type) not in _ARROW_NUMBERS:
            raise TypeError(
                f"{argument}: column {name!r} holds {column.type}, and features are numbers; drop "
                "it or turn it into numbers"
            )
        if column.null_count > 0:
            raise ValueError(
                f"{argument}: column {name!r} has missing values, and every feature needs one"
            )
        columns.append(np.asarray(column.to_numpy(), dtype=np.float64))
    rows = np.column_stack(columns) if columns else np.empty((table.num_rows, 0))
    return _checked(rows, argument)


def arrow_table(rows: Any, argument: str) -> Any:
    """A pyarrow table of anything with Arrow's C interface."""
    try:
        pyarrow: Any = import_module("pyarrow")  # has no type stubs
    except ImportError as error:
        raise ImportError(
            f"{argument}: an Arrow table needs pyarrow; install it, or pass a NumPy array"
        ) from error
    try:
        return pyarrow.table(rows)
    except (TypeError, ValueError) as error:  # for example, an array of one column
        raise TypeError(
            f"{argument}: expected an Arrow table, found {type(rows).__name__}: {error}"
        ) from error


def _is_numeric(dtype: Any, module: str) -> bool:
    if module == "pandas":
        # pandas has its own types beside NumPy's; both name their kind.
        return getattr(dtype, "kind", "O") in _NUMBERS
    return bool(dtype.is_numeric() or str(dtype) == "Boolean")
