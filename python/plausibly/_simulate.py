"""Comparisons of policies: from a spec to columns of figures."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

import numpy as np
import numpy.typing as npt

from . import _core
from ._files import read_file

if TYPE_CHECKING:
    import matplotlib.figure
    import pandas
    import polars

Spec = Union[Mapping[str, Any], str, "os.PathLike[str]"]
Progress = Union[bool, Callable[[int, int], object]]


@dataclass(frozen=True, repr=False, eq=False)
class Result:
    """The result of a comparison: one curve over rounds per policy, as means and standard errors
    over runs.
    """

    name: str
    """Its name in the spec."""
    seed: int
    """The seed of all its random numbers."""
    runs: int
    """Number of independent problems."""
    horizon: int
    """Rounds per run."""
    columns: dict[str, Any]
    """Columns of equal length, one row per policy and round.

    They are policy, round, regret_mean, regret_se, model_error_mean, model_error_se and
    plausible_mean. Standard errors of a single run are NaN.
    """
    theta_star_left: dict[str, float]
    """For each policy, the share of runs in which the truth left the confidence set."""
    csv: str
    """The summary.csv that the command `plausibly simulate` writes for the same spec, byte for
    byte.
    """

    @property
    def policies(self) -> list[str]:
        """Labels of the policies, in the order of the spec."""
        return list(self.theta_star_left)

    def __getitem__(self, column: str) -> Any:
        """A column, by name."""
        return self.columns[column]

    def final(self) -> list[dict[str, Any]]:
        """The figures at the horizon, one dict per policy."""
        last = [int(i) for i in np.flatnonzero(self.columns["round"] == self.horizon)]
        rows = [{name: column[i] for name, column in self.columns.items()} for i in last]
        return [{**row, "theta_star_left": self.theta_star_left[row["policy"]]} for row in rows]

    def to_pandas(self) -> pandas.DataFrame:
        """All columns as a pandas frame."""
        import pandas

        return pandas.DataFrame(self.columns)

    def to_polars(self) -> polars.DataFrame:
        """All columns as a polars frame."""
        import polars

        return polars.DataFrame(self.columns)

    def plot(self) -> matplotlib.figure.Figure:
        """Draws regret and model error over rounds, with two standard errors either way.

        Needs matplotlib.
        """
        from matplotlib.figure import Figure

        figure = Figure(figsize=(10, 4), layout="constrained")
        self.draw(figure)
        return figure

    def draw(self, figure: matplotlib.figure.FigureBase) -> None:
        """Draws what `plot` shows into an existing figure, or into a part of one."""
        policy = np.asarray(self.columns["policy"])
        panels = figure.subplots(1, 2)
        for axes, quantity in zip(panels, ("regret", "model_error"), strict=True):
            for label in self.policies:
                own = policy == label
                rounds: npt.NDArray[np.uint64] = self.columns["round"][own]
                mean, error = (
                    self.columns[f"{quantity}_mean"][own],
                    self.columns[f"{quantity}_se"][own],
                )
                axes.plot(rounds, mean, label=label)
                # Neither figure can be negative, and a negative band would fill half the panel.
                axes.fill_between(
                    rounds, np.maximum(mean - 2 * error, 0.0), mean + 2 * error, alpha=0.2
                )
            axes.set(
                xscale="log", yscale="symlog", xlabel="round", ylabel=quantity.replace("_", " ")
            )
            axes.set_ylim(bottom=0.0)
        panels[0].legend()
        figure.suptitle(self.name)

    def __repr__(self) -> str:
        return "\n".join([self._heading(), *aligned(self._rows(), words=1)])

    def _repr_html_(self) -> str:
        return html_table(self._heading(), self._rows())

    def _heading(self) -> str:
        return f"{self.name}: {self.runs} runs of {self.horizon} rounds, seed {self.seed}"

    def _rows(self) -> list[list[str]]:
        heading = [
            "policy",
            "regret",
            "± s.e.",
            "model error",
            "± s.e.",
            "plausible",
            "θ* left set",
        ]
        names = ("regret_mean", "regret_se", "model_error_mean", "model_error_se", "plausible_mean")
        figures = ([f"{row[name]:.4g}" for name in names] for row in self.final())
        shares = (f"{100 * share:.0f} %" for share in self.theta_star_left.values())
        return [
            heading,
            *([label, *row, share] for label, row, share in zip(self.policies, figures, shares)),
        ]


def aligned(rows: list[list[str]], words: int) -> Iterator[str]:
    """Rows as lines, with the first `words` columns aligned left and the figures right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = (
            cell.ljust(width) if i < words else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths))
        )
        yield "  ".join(cells).rstrip()


def html_table(heading: str, rows: list[list[str]]) -> str:
    """Rows as an HTML table, with the names in the first column."""
    head, *body = (
        "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in row)
        for row, tag in zip(rows, ["th"] + ["td"] * len(rows))
    )
    lines = "".join(f"<tr>{row}</tr>" for row in body)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>"
    return f"<div><p><strong>{escape(heading)}</strong></p>{table}</div>"


def simulate(
    spec: Spec,
    *,
    runs: int | None = None,
    seed: int | None = None,
    threads: int | None = None,
    cache: str | os.PathLike[str] | None = None,
    progress: Progress = False,
) -> Result:
    """Compares policies on the same problems, action sets and noise, on all cores.

    `spec` is a dict, the text of a TOML spec (a str with a line break in it), or the path of one.
    `runs` and `seed` replace those of the spec. Environments with data sets read them from the
    folder `cache`, else from the variable PLAUSIBLY_DATA, else from where `fetch_data` and the
    command put them. Only the command reads environments of kind "csv". `progress` is True for a
    bar by tqdm, or a function of the rounds done and of all rounds. The result is the same, to the
    last bit, for any number of `threads`, and the same as that of the command `plausibly simulate`.
    Other Python threads run meanwhile, and Ctrl-C stops it.

    >>> from plausibly import simulate
    >>> result = simulate({
    ...     "runs": 4,
    ...     "horizon": 100,
    ...     "environment": {"kind": "linear", "dim": 2, "actions": 5},
    ...     "policy": [{"kind": "code"}, {"kind": "lin-ucb"}],
    ... })
    >>> result.policies
    ['code', 'lin-ucb']
    >>> result["round"][:5]
    array([1, 2, 3, 4, 5], dtype=uint64)
    """
    text = read_spec(spec)
    for name, value in (("runs", runs), ("seed", seed), ("threads", threads)):
        if value is not None:
            check_count(name, value)
    with shown_progress(progress) as show:
        return Result(**_core.Experiment(text, runs, seed, checked_cache(cache)).run(threads, show))


def read_spec(spec: object) -> Mapping[str, Any] | str:
    """A spec as data or text, read from its file if it is a path."""
    if isinstance(spec, Mapping) or (isinstance(spec, str) and "\n" in spec):
        return spec
    if isinstance(spec, (str, os.PathLike)):
        try:
            return read_file(spec, _core.SPEC_MIB, "a spec").decode("utf-8")
        except UnicodeDecodeError as error:
            raise ValueError(f"spec: {os.fspath(spec)} is not UTF-8 text") from error
    raise TypeError(f"spec: expected a dict, TOML text or a path, found {type(spec).__name__}")


def checked_cache(cache: object) -> str | None:
    """The folder of the data set cache, as text."""
    if cache is None:
        return None
    if not isinstance(cache, (str, os.PathLike)):
        raise TypeError(f"cache: expected a path, found {type(cache).__name__}")
    return str(Path(cache))


def check_count(name: str, value: object, least: int = 0) -> None:
    """Raises an error unless the argument is an integer in range."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name}: expected a whole number, found {type(value).__name__}")
    if not least <= value.__index__() < 2**63:
        raise ValueError(f"{name}: {value} is out of range")


@contextmanager
def shown_progress(progress: Progress) -> Iterator[Callable[[int, int], object] | None]:
    """The listener for rounds done and all rounds: the given function, a bar, or none."""
    if callable(progress):
        yield progress
    elif progress:
        try:
            from tqdm.auto import tqdm
        except ImportError as error:
            raise ImportError(
                "progress: a bar needs tqdm; install it, or pass a function"
            ) from error
        with tqdm(unit=" rounds", unit_scale=True) as bar:

            def show(done: int, total: int) -> None:
                bar.total = total
                bar.update(done - bar.n)

            yield show
    else:
        yield None
