"""The results of a sweep, as a table."""

from __future__ import annotations

import csv
import io
import json
import math
import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._files import write_file
from .._simulate import Result, aligned, html_table

if TYPE_CHECKING:
    import pandas
    import polars

# Rows of a sweep that are shown; the others are only counted.
_SHOWN = 20


@dataclass(frozen=True, repr=False, eq=False)
class Sweep:
    """The result of a sweep: one row per setting and policy, with the figures at the horizon."""

    settings: list[dict[str, Any]]
    """For every setting the values of the grid, by path; empty dicts without a grid."""
    results: list[Result]
    """For every setting the full result, as `simulate` returns it, with its curves."""

    def __len__(self) -> int:
        """The number of settings."""
        return len(self.settings)

    def __getitem__(self, column: str) -> Any:
        """A column, by name."""
        return self.columns[column]

    @cached_property
    def columns(self) -> dict[str, Any]:
        """Columns of equal length.

        They are setting (its index), name, one per path of the grid, policy, seed, runs, horizon,
        and the figures regret_mean, regret_se, model_error_mean, model_error_se, plausible_mean and
        theta_star_left. Figures are NumPy arrays; standard errors of a single run are NaN.
        """
        finals = [
            (index, row) for index, result in enumerate(self.results) for row in result.final()
        ]
        indices = [index for index, _ in finals]

        def of_result(name: str) -> list[Any]:
            return [getattr(self.results[index], name) for index in indices]

        columns: dict[str, Any] = {
            "setting": np.asarray(indices, dtype=np.int64),
            "name": of_result("name"),
        }
        for path in self.settings[0]:
            # A path of the grid may have the name of a column; the columns of figures win.
            name = f"grid.{path}" if path in ("setting", "policy") else path
            columns[name] = _column([self.settings[index][path] for index in indices])
        columns["policy"] = [row["policy"] for _, row in finals]
        columns |= {
            name: np.asarray(of_result(name), dtype=np.int64)
            for name in ("seed", "runs", "horizon")
        }
        figures = (
            "regret_mean",
            "regret_se",
            "model_error_mean",
            "model_error_se",
            "plausible_mean",
            "theta_star_left",
        )
        columns |= {
            name: np.asarray([row[name] for _, row in finals], dtype=np.float64) for name in figures
        }
        return columns

    @cached_property
    def csv(self) -> str:
        """The table as CSV: the same bytes for any engine, number of workers or order."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows(
            zip(*([_cell(value) for value in _plain(column)] for column in self.columns.values()))
        )
        return text.getvalue()

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One dict per setting and policy."""
        return [dict(zip(self.columns, row)) for row in zip(*map(_plain, self.columns.values()))]

    def to_pandas(self) -> pandas.DataFrame:
        """The table as a pandas frame."""
        import pandas

        return pandas.DataFrame(self.columns)

    def to_polars(self) -> polars.DataFrame:
        """The table as a polars frame."""
        import polars

        return polars.DataFrame(self.columns)

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Writes the table to a file, complete or not at all."""
        write_file(Path(path), self.csv.encode())

    def __repr__(self) -> str:
        left = len(self.columns["setting"]) - _SHOWN
        more = [f"and {left} more rows"] if left > 0 else []
        rows = self._rows()
        return "\n".join(
            [self._heading(), *aligned(rows, words=rows[0].index("policy") + 1), *more]
        )

    def _repr_html_(self) -> str:
        return html_table(self._heading(), self._rows())

    def _heading(self) -> str:
        runs = sum(result.runs for result in self.results)
        return f"sweep of {len(self)} settings, {runs} runs"

    def _rows(self) -> list[list[str]]:
        # Columns with one value in all settings say nothing; without a grid the name identifies a
        # spec.
        swept = set(self.settings[0]) or {"name"}
        for name in ("seed", "runs", "horizon"):
            swept |= {name} if len(set(_plain(self.columns[name]))) > 1 else set()
        left_out = {"setting", "name", "seed", "runs", "horizon"} - swept
        named = [name for name in self.columns if name not in left_out]
        shown = [[_shown(value) for value in _plain(self.columns[name])[:_SHOWN]] for name in named]
        return [named, *(list(row) for row in zip(*shown))]


def _plain(column: Any) -> list[Any]:
    return list(column.tolist() if isinstance(column, np.ndarray) else column)


def _column(values: list[Any]) -> Any:
    """Numbers as an array, texts unchanged, and anything else as JSON text."""
    kinds = {type(value) for value in values}
    if kinds == {bool} or kinds == {int} or kinds == {float} or kinds == {int, float}:
        return np.asarray(values)
    return (
        values
        if kinds == {str}
        else [json.dumps(value, ensure_ascii=False, default=repr) for value in values]
    )


def _cell(value: Any) -> Any:
    return "" if isinstance(value, float) and math.isnan(value) else value


def _shown(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
