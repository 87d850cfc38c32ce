"""The policies. Parameters have the names and defaults of the specs, and are read by the same code."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Literal, TypeVar, Union

import numpy.typing as npt

from . import _core, _saved
from ._explanation import Explanation

Radius = Union[float, Mapping[str, Any]]
"""A confidence radius: a table as in specs, or a number, which is the radius itself (LinUCB's alpha)."""

_P = TypeVar("_P", bound="Policy")

# The label of a policy that was given none: its kind.
_KINDS = {
    "Code": "code",
    "Elimination": "elimination",
    "EpsilonGreedy": "epsilon-greedy",
    "ExploreThenCommit": "explore-then-commit",
    "LinTS": "lin-ts",
    "LinUCB": "lin-ucb",
    "Thompson": "thompson",
    "UCB1": "ucb1",
}


class Policy(_core.Policy):
    """What all policies share; use one of its subclasses.

    >>> from plausibly import Policy
    >>> Policy()
    Traceback (most recent call last):
    TypeError: use Code, LinUCB, LinTS, Elimination, EpsilonGreedy, ExploreThenCommit, UCB1 or Thompson
    """

    __slots__ = ()

    def __new__(cls) -> Policy:
        raise TypeError(
            "use Code, LinUCB, LinTS, Elimination, EpsilonGreedy, ExploreThenCommit, UCB1 or Thompson"
        )

    def explain(self, actions: _core.ActionSet | npt.ArrayLike, *, radius: Radius | None = None) -> Explanation:
        """Of every action: how good it may be, whether it could still be best, and if not, which other rules it out.

        Under the policy's own radius, unless another is given; a policy that decides by none (LinTS, Thompson, Elimination,
        EpsilonGreedy, ExploreThenCommit) is explained by the default one for such actions, whose constants must be known.
        Asking changes nothing.

        >>> from plausibly import ActionSet, UCB1
        >>> arms = ActionSet.arms(2)
        >>> policy = UCB1(noise_scale=1.0)
        >>> policy.select(arms)
        0
        >>> policy.update(0, 1.5)
        >>> policy.explain(arms).mean
        array([1.5, 0. ])
        """
        return Explanation(**self._explain(actions, radius))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the policy to a file, whole or not at all: what it was told, all it has learned, the decisions that wait for
        their rewards, and how far its random numbers have been drawn.

        The file is JSON, with every number exact. Labels of the actions it remembers must be text, numbers, booleans, None or
        tuples of these.

        >>> import tempfile, pathlib
        >>> from plausibly import ActionSet, Policy, UCB1
        >>> policy = UCB1(noise_scale=1.0)
        >>> policy.update(ActionSet.arms(2)[0], 0.5)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     policy.save(pathlib.Path(folder, "arms.json"))
        ...     again = Policy.load(pathlib.Path(folder, "arms.json"))
        >>> again
        UCB1(1 rewards)
        """
        text, sets = self._save()
        _saved.write(path, _saved.document(text, sets))

    @classmethod
    def load(cls: type[_P], path: str | os.PathLike[str]) -> _P:
        """The policy of a file that save has written; it goes on as the one that was saved would have, to the last bit.

        `Policy.load` takes any kind of policy, and a subclass its own kind alone.
        """
        text, sets, kind = _saved.read(path)
        wanted = next((_KINDS[base.__name__] for base in cls.__mro__ if base.__name__ in _KINDS), None)
        if wanted not in (None, kind):
            raise ValueError(f"path: {os.fspath(path)} holds a policy of the kind {kind!r}, and {cls.__name__} is {wanted!r}")
        made = cls if wanted is not None else _class_of(kind, path)
        try:
            return made._restored(_saved.VERSION, text, sets)
        except (TypeError, ValueError) as error:
            raise ValueError(f"path: {os.fspath(path)} cannot be read back: {error}") from error

    @classmethod
    def _restored(cls: type[_P], version: int, text: str, sets: list[_core.ActionSet]) -> _P:
        table, facts, seed = _saved.settings(version, text)
        policy = _core.Policy.__new__(cls, table, facts, seed)
        policy._restore(text, sets)
        return policy

    def __reduce__(self) -> tuple[Any, ...]:
        text, sets = self._save()
        return (_restored, (type(self), _saved.VERSION, text, sets), getattr(self, "__dict__", None) or None)

    def __repr__(self) -> str:
        name = type(self).__name__
        called = "" if self.label == _KINDS.get(name) else f"{self.label!r}, "
        return f"{name}({called}{self.observations} rewards)"


class Code(Policy):
    """CODE: among the actions that could still be best, the one it knows least about.

    For actions with features and for plain arms. `noise_scale` bounds the noise and `theta_norm_bound` the true parameter
    (arms have none); the paper's radius needs `action_norm_bound` too. All three can stand in `radius` instead.

    >>> from plausibly import ActionSet, Code
    >>> policy = Code(noise_scale=0.5, target={"accuracy": 0.1}, seed=7)
    >>> policy.select(ActionSet.arms(3))
    0
    """

    __slots__ = ()

    def __new__(
        cls,
        *,
        ridge: float | None = None,
        radius: Radius | None = None,
        greed: float | None = None,
        target: Mapping[str, float] | None = None,
        randomise: float | None = None,
        count_pending: bool | None = None,
        noise_scale: float | None = None,
        theta_norm_bound: float | None = None,
        action_norm_bound: float | None = None,
        seed: int = 0,
        label: str | None = None,
    ) -> Code:
        table = {
            "kind": "code",
            "label": label,
            "ridge": ridge,
            "radius": radius,
            "greed": greed,
            "target": target,
            "randomise": randomise,
            "count_pending": count_pending,
        }
        facts = {
            "noise_scale": noise_scale,
            "theta_norm_bound": theta_norm_bound,
            "action_norm_bound": action_norm_bound,
        }
        return _core.Policy.__new__(cls, table, facts, seed)


class LinUCB(Policy):
    """LinUCB: the largest upper confidence bound. For actions with features.

    >>> from plausibly import LinUCB
    >>> policy = LinUCB(radius=1.25)  # a number is the radius itself
    >>> policy.select([[1.0, 0.0], [0.0, 2.0]])
    1
    """

    __slots__ = ()

    def __new__(
        cls,
        *,
        ridge: float | None = None,
        radius: Radius | None = None,
        noise_scale: float | None = None,
        theta_norm_bound: float | None = None,
        action_norm_bound: float | None = None,
        seed: int = 0,
        label: str | None = None,
    ) -> LinUCB:
        facts = {
            "noise_scale": noise_scale,
            "theta_norm_bound": theta_norm_bound,
            "action_norm_bound": action_norm_bound,
        }
        table = {"kind": "lin-ucb", "label": label, "ridge": ridge, "radius": radius}
        return _core.Policy.__new__(cls, table, facts, seed)


class LinTS(Policy):
    """LinTS: Thompson sampling for actions with features.

    >>> from plausibly import LinTS
    >>> policy = LinTS(noise_scale=0.5, seed=7)
    >>> policy.select([[1.0, 0.0], [0.0, 1.0]]) in (0, 1)
    True
    """

    __slots__ = ()

    def __new__(
        cls,
        *,
        noise_scale: float | None = None,
        ridge: float | None = None,
        seed: int = 0,
        label: str | None = None,
    ) -> LinTS:
        table = {"kind": "lin-ts", "label": label, "ridge": ridge, "noise_scale": noise_scale}
        return _core.Policy.__new__(cls, table, {}, seed)


class Elimination(Policy):
    """Phased elimination with an optimal design in each phase. For the same actions with features in every round.

    >>> from plausibly import Elimination
    >>> policy = Elimination(delta=0.1)
    >>> policy.select([[1.0, 0.0], [0.0, 1.0]]) in (0, 1)
    True
    """

    __slots__ = ()

    def __new__(
        cls,
        *,
        delta: float | None = None,
        ridge: float | None = None,
        seed: int = 0,
        label: str | None = None,
    ) -> Elimination:
        table = {"kind": "elimination", "label": label, "ridge": ridge, "delta": delta}
        return _core.Policy.__new__(cls, table, {}, seed)


class EpsilonGreedy(Policy):
    """The largest estimate, and in a share of rounds that decays towards the horizon a draw from all actions.

    >>> from plausibly import ActionSet, EpsilonGreedy
    >>> policy = EpsilonGreedy(horizon=1000, epsilon=0.1)
    >>> policy.select(ActionSet.arms(3)) in (0, 1, 2)
    True
    """

    __slots__ = ()

    def __new__(
        cls,
        *,
        horizon: int | None = None,
        epsilon: float | None = None,
        exploration: Literal["uniform", "design"] | None = None,
        ridge: float | None = None,
        seed: int = 0,
        label: str | None = None,
    ) -> EpsilonGreedy:
        table = {
            "kind": "epsilon-greedy",
            "label": label,
            "ridge": ridge,
            "epsilon": epsilon,
            "exploration": exploration,
        }
        return _core.Policy.__new__(cls, table, {"horizon": horizon}, seed)


class ExploreThenCommit(Policy):
    """A draw from all actions for a share of the horizon, and then the action that came out best.

    >>> from plausibly import ActionSet, ExploreThenCommit
    >>> policy = ExploreThenCommit(horizon=1000)
    >>> policy.select(ActionSet.arms(3)) in (0, 1, 2)
    True
    """

    __slots__ = ()

    def __new__(
        cls,
        *,
        horizon: int | None = None,
        epsilon: float | None = None,
        exploration: Literal["uniform", "design"] | None = None,
        ridge: float | None = None,
        seed: int = 0,
        label: str | None = None,
    ) -> ExploreThenCommit:
        table = {
            "kind": "explore-then-commit",
            "label": label,
            "ridge": ridge,
            "epsilon": epsilon,
            "exploration": exploration,
        }
        return _core.Policy.__new__(cls, table, {"horizon": horizon}, seed)


class UCB1(Policy):
    """UCB1: the largest upper bound, each action known by its place alone.

    >>> from plausibly import ActionSet, UCB1
    >>> UCB1(noise_scale=1.0).select(ActionSet.arms(3))
    0
    """

    __slots__ = ()

    def __new__(
        cls, *, noise_scale: float | None = None, seed: int = 0, label: str | None = None
    ) -> UCB1:
        table = {"kind": "ucb1", "label": label, "noise_scale": noise_scale}
        return _core.Policy.__new__(cls, table, {}, seed)


class Thompson(Policy):
    """Gaussian Thompson sampling, each action known by its place alone.

    >>> from plausibly import ActionSet, Thompson
    >>> Thompson(noise_scale=1.0, seed=7).select(ActionSet.arms(3))
    0
    """

    __slots__ = ()

    def __new__(
        cls, *, noise_scale: float | None = None, seed: int = 0, label: str | None = None
    ) -> Thompson:
        table = {"kind": "thompson", "label": label, "noise_scale": noise_scale}
        return _core.Policy.__new__(cls, table, {}, seed)


def _class_of(kind: str, path: str | os.PathLike[str]) -> type[Any]:
    for name, its_kind in _KINDS.items():
        if its_kind == kind:
            made: type[Any] = globals()[name]
            return made
    raise ValueError(f"path: {os.fspath(path)} holds a policy of the kind {kind!r}, which this version does not know")


def _restored(made: type[Policy], version: int, text: str, sets: list[_core.ActionSet]) -> Policy:
    """For pickles, which name this function."""
    return made._restored(version, text, sets)
