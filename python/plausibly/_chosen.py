"""What `select` returns: a label, or an index, that carries the action it stands for.

It is equal to the plain label, hashes like it and prints like it, so it can be a key, an index or a part of a message; and
`update`, `decided` and `dropped` know by it which action of which set was chosen. Labels of other classes than str, int,
float and tuple are returned as they are.
"""

from __future__ import annotations

from typing import Any

from . import _core


class Chosen:
    """What all of them share."""

    __slots__ = ()
    action: _core.Action

    def bare(self) -> Any:
        """The label by itself."""
        raise NotImplementedError

    def __reduce__(self) -> tuple[Any, ...]:
        return (_chosen, (type(self), self.bare(), self.action))


class ChosenText(Chosen, str):
    """A text label."""

    __slots__ = ("action",)

    def bare(self) -> str:
        return str.__str__(self)


class ChosenInteger(Chosen, int):
    """A whole number: the index of an action without a label, or a label."""

    def bare(self) -> int:
        return int(self)


class ChosenFloat(Chosen, float):
    """A number that is a label."""

    __slots__ = ("action",)

    def bare(self) -> float:
        return float(self)


class ChosenTuple(Chosen, tuple[Any, ...]):
    """A tuple that is a label."""

    def bare(self) -> tuple[Any, ...]:
        return tuple(self)


def _chosen(made: type[Any], label: Any, action: _core.Action) -> Any:
    """For pickles, which name this function."""
    chosen = made(label)
    chosen.action = action
    return chosen
