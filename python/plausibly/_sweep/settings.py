"""Reads the specs of a sweep: a list of specs, or one spec and a grid of settings."""

from __future__ import annotations

import itertools
import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Union

from .. import _core
from .._simulate import Spec, read_spec

Grid = Mapping[str, Iterable[Any]]
Specs = Union[Spec, Sequence[Spec]]

_NAME = r"[^.\[\]]+(?:\[\d+\])*"
_PATH = re.compile(rf"{_NAME}(?:\.{_NAME})*")
_SHOWN = 5


@dataclass(frozen=True)
class Setting:
    """One spec of a sweep."""

    index: int
    values: dict[str, Any]
    """The values of the grid, by path."""
    spec: Mapping[str, Any] | str

    def __str__(self) -> str:
        values = ", ".join(
            f"{path} = {value if isinstance(value, str) else shown(value)}"
            for path, value in self.values.items()
        )
        return f"setting {self.index} ({values})" if values else f"setting {self.index}"


def shown(value: object) -> str:
    """A value of a grid in a few characters."""
    text = json.dumps(value, default=repr, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "..."


def read_settings(specs: Specs, grid: Grid | None) -> list[Setting]:
    """The specs in order; in a grid the last path changes fastest."""
    if grid is not None:
        return _over_grid(specs, grid)
    if isinstance(specs, (Mapping, str, os.PathLike)):
        return [Setting(0, {}, read_spec(specs))]
    if not isinstance(specs, Iterable):
        raise TypeError(
            f"specs: expected a list of specs, or a spec and a grid, found {type(specs).__name__}"
        )
    settings = [Setting(index, {}, _read(spec, index)) for index, spec in enumerate(specs)]
    if not settings:
        raise ValueError("specs: an empty list; there is nothing to run")
    return settings


def _read(spec: Spec, index: int) -> Mapping[str, Any] | str:
    try:
        return read_spec(spec)
    except (TypeError, ValueError, OSError) as error:
        raise type(error)(f"specs[{index}]: {error}") from error


def read_experiments(settings: list[Setting], cache: str | None) -> list[_core.Experiment]:
    """Reads and checks all specs, or raises an error that names the wrong ones."""
    experiments: list[_core.Experiment] = []
    wrong: list[tuple[Setting, Exception]] = []
    for setting in settings:
        try:
            experiments.append(_core.Experiment(setting.spec, cache=cache))
        except (TypeError, ValueError) as error:
            wrong.append((setting, error))
    if not wrong:
        return experiments
    lines = [f"{setting}: {error}" for setting, error in wrong[:_SHOWN]]
    if len(wrong) > _SHOWN:
        lines.append(f"and {len(wrong) - _SHOWN} more of {len(settings)}")
    kind = TypeError if all(isinstance(error, TypeError) for _, error in wrong) else ValueError
    raise kind("\n".join(lines)) from wrong[0][1]


def _over_grid(specs: Specs, grid: Grid) -> list[Setting]:
    if not isinstance(specs, (Mapping, str, os.PathLike)):
        raise TypeError("specs: with a grid, expected one spec that its settings are put into")
    if not isinstance(grid, Mapping):
        raise TypeError(
            f"grid: expected a dict from paths to lists of values, found {type(grid).__name__}"
        )
    base = read_spec(specs)
    root = _core.parse_spec(base) if isinstance(base, str) else base
    columns = {path: _values(path, values) for path, values in grid.items()}
    settings = []
    for index, chosen in enumerate(itertools.product(*columns.values())):
        values = dict(zip(columns, chosen))
        spec: Any = root
        for path, value in values.items():
            spec = _with(spec, _steps(path), value, path)
        settings.append(Setting(index, values, spec))
    return settings


def _values(path: object, values: object) -> list[Any]:
    if not isinstance(path, str):
        raise TypeError(f"grid: paths are text, found {path!r}")
    _steps(path)
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        raise TypeError(f"grid[{path!r}]: expected a list of values, found {type(values).__name__}")
    # Converts NumPy values to Python's own; anything else stays as it is.
    found = [value.item() if getattr(value, "ndim", None) == 0 else value for value in values]
    if not found:
        raise ValueError(f"grid[{path!r}]: an empty list leaves nothing to run")
    return found


def _steps(path: str) -> list[str | int]:
    """Splits `policy[1].radius` into "policy", 1, "radius"; places count from 1."""
    if not _PATH.fullmatch(path):
        raise ValueError(
            f'grid[{path!r}]: expected a path such as "environment.dim" or "policy[1].greed"'
        )
    found: list[str | int] = []
    for part in re.findall(r"\[\d+\]|[^.\[\]]+", path):
        found.append(int(part[1:-1]) if part.startswith("[") else part)
    if 0 in found:
        raise ValueError(f"grid[{path!r}]: places are counted from 1")
    return found


def _with(node: Any, steps: list[str | int], value: Any, path: str) -> Any:
    """A copy with a value at a path.

    Copies only what leads there, and creates missing tables.
    """
    if not steps:
        return value
    step, rest = steps[0], steps[1:]
    if isinstance(step, int):
        if not isinstance(node, (list, tuple)) or step > len(node):
            count = len(node) if isinstance(node, (list, tuple)) else 0
            raise ValueError(
                f"grid[{path!r}]: the spec has {count} such entries, and none has the number {step}"
            )
        changed = list(node)
        changed[step - 1] = _with(changed[step - 1], rest, value, path)
        return changed
    if node is not None and not isinstance(node, Mapping):
        raise ValueError(
            f"grid[{path!r}]: {step} cannot be set, because its parent is not a table in the spec"
        )
    table = dict(node or {})
    table[step] = _with(table.get(step), rest, value, path)
    return table
