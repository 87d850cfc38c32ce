"""The return value of `select`: a label or an index that also carries the chosen action.

It equals the plain label, hashes like it and prints like it, so it works as a key, an index or part
of a message. `update`, `decided` and `dropped` read from it which action of which set was chosen.
Labels of other classes than str, int, float and tuple are returned unchanged.
"""

from __future__ import annotations

from typing import Any

from . import _core


class Chosen:
    """Shared behaviour of all chosen labels."""

    __slots__ = ()
    action: _core.Action

    def bare(self) -> Any:
        """The plain label."""
        raise NotImplementedError

    def __reduce__(self) -> tuple[Any, ...]:
        return (_chosen, (type(self), self.bare(), self.action))


class ChosenText(Chosen, str):
    """A text label."""

    __slots__ = ("action",)

    def bare(self) -> str:
        return str.__str__(self)


class ChosenInteger(Chosen, int):
    """An integer: the index of an action without a label, or an integer label."""

    def bare(self) -> int:
        return int(self)


class ChosenFloat(Chosen, float):
    """A float label."""

    __slots__ = ("action",)

    def bare(self) -> float:
        return float(self)


class ChosenTuple(Chosen, tuple[Any, ...]):
    """A tuple label."""

    def bare(self) -> tuple[Any, ...]:
        return tuple(self)


CARRIERS: dict[type[Any], type[Chosen]] = {
    str: ChosenText,
    int: ChosenInteger,
    float: ChosenFloat,
    tuple: ChosenTuple,
}
"""The class that carries an action, for each class of label."""


def _chosen(made: type[Any], label: Any, action: _core.Action) -> Any:
    """Unpickles a chosen label; pickles name this function."""
    chosen = made(label)
    chosen.action = action
    return chosen
