"""`MAB` and `LearningPolicy` as MABWiser has them: change the import and keep the rest.

>>> from plausibly.compat.mabwiser import MAB, LearningPolicy
>>> mab = MAB(["a", "b"], LearningPolicy.LinUCB(alpha=1.25))
>>> mab.fit(["a", "a", "b"], [20, 17, 25], [[0, 1], [1, 2], [2, 3]])
>>> mab.predict([[3, 2]])
'b'
>>> {arm: round(mean, 2) for arm, mean in mab.predict_expectations([[3, 2]]).items()}
{'a': 16.25, 'b': 21.43}

`predict_expectations` returns estimates, never samples or upper bounds instead of them.
docs/guides/coming-from-mabwiser.md lists the other differences, with their reasons.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from .._explanation import Explanation
from .._policies import Radius
from .._rows import to_rows
from ._learning_policies import (
    LARGEST,
    LINEAR,
    WITHOUT_CONTEXTS,
    KnownPolicy,
    LearningPolicy,
    NeighborhoodPolicy,
    check_binarizer,
    check_policy,
    rule,
)

__all__ = ["MAB", "LearningPolicy", "NeighborhoodPolicy"]

Arm = Hashable


class MAB:
    """A bandit with one model per arm, like MABWiser's.

    `arms` are any hashable labels. The linear policies need contexts; Code learns with or without
    them, depending on its first use. `n_jobs` and `backend` are accepted and ignored.

    >>> mab = MAB(["red", ("blue", 2)], LearningPolicy.EpsilonGreedy(epsilon=0))
    >>> mab.partial_fit(["red", ("blue", 2)], [0.2, 0.7])
    >>> mab.predict()
    ('blue', 2)
    >>> print(mab.explain(radius=1.0))
    2 of 2 actions could still be best after 2 rewards
    action       estimate  from  to   standing
    ('blue', 2)  0.7       -0.3  1.7  could still be best
    red          0.2       -0.8  1.2  could still be best
    chosen by: the largest estimate; the intervals only guide exploration and promise no coverage
    """

    def __init__(
        self,
        arms: Iterable[Arm],
        learning_policy: KnownPolicy,
        neighborhood_policy: Any = None,
        seed: int = 123456,
        n_jobs: int = 1,
        backend: str | None = None,
    ) -> None:
        self._arms = _checked_arms(arms)
        check_policy(learning_policy)
        if neighborhood_policy is not None:
            raise NotImplementedError(
                "neighborhood_policy: Plausibly has none; use Code, LinUCB, LinTS or LinGreedy "
                "with the contexts as features"
            )
        if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)):
            raise TypeError(f"seed: expected a whole number, found {type(seed).__name__}")
        if not 0 <= seed < 2**63:
            raise ValueError(f"seed: must be from 0 to {2**63 - 1}")
        self.learning_policy = learning_policy
        self.neighborhood_policy = None
        self.seed = int(seed)
        self.n_jobs, self.backend = n_jobs, backend
        self._dim: int | None = None if not isinstance(learning_policy, WITHOUT_CONTEXTS) else 0
        self._models: _core.ArmModels | None = self._fresh(0) if self._dim == 0 else None
        self._calls = 0

    @property
    def arms(self) -> list[Any]:
        """The arms, in order."""
        return list(self._arms)

    @property
    def is_contextual(self) -> bool:
        """Whether it decides by contexts; for Code this is unknown before its first use."""
        return isinstance(self.learning_policy, LINEAR) or bool(self._dim)

    @property
    def cold_arms(self) -> list[Any]:
        """The arms without rewards."""
        if self._models is None:
            return self.arms
        return [arm for arm, seen in zip(self._arms, self._models.observations) if seen == 0]

    def fit(self, decisions: Any, rewards: Any, contexts: Any = None) -> None:
        """Learns from scratch: one arm, reward and, for linear policies, context per row."""
        self._learn(decisions, rewards, contexts, again=True)

    def partial_fit(self, decisions: Any, rewards: Any, contexts: Any = None) -> None:
        """Learns from more rows.

        The estimates do not depend on how the rows are split, bit for bit.
        """
        self._learn(decisions, rewards, contexts, again=False)

    def predict(self, contexts: Any = None) -> Any:
        """The arm to take: one arm for one context or none, else a list with one arm per context.

        Each row is answered as if it came alone. Works before `fit` too.
        """
        models, table, rounds = self._asked(contexts)
        self._calls += 1
        chosen = models.select(table, rounds, self._calls).tolist()
        return self._arms[chosen[0]] if len(chosen) == 1 else [self._arms[arm] for arm in chosen]

    def predict_expectations(self, contexts: Any = None) -> Any:
        """The estimated reward of each arm, as a dict; a list of dicts for several contexts.

        For every policy these are the estimates themselves; arms without rewards have the estimate
        0.
        """
        models, table, rounds = self._asked(contexts)
        estimates = models.estimates(table).tolist()
        if table is None:
            estimates *= rounds
        each = [dict(zip(self._arms, row)) for row in estimates]
        return each[0] if len(each) == 1 else each

    def explain(self, context: Any = None, *, radius: Radius | None = None) -> Explanation:
        """How good each arm may be here, whether it could still be best, and which arm rules it
        out.

        Uses the policy's own radius unless another is given; `alpha` is a radius without a
        guarantee. MABWiser has no such method.
        """
        models, table, _ = self._asked(context)
        if table is not None and len(table) != 1:
            raise ValueError(f"context: expected one row, found {len(table)}")
        count, labels = len(self._arms), self._arms
        if table is None:
            offered = _core.ActionSet.arms(count, labels=labels)
        else:
            offered = _core.ActionSet(np.repeat(table, count, axis=0), labels=labels)
        found = models.explain(offered, radius)
        decides_by = rule(self.learning_policy, bool(self._dim)).decides_by
        return Explanation(**found if decides_by is None else {**found, "decides_by": decides_by})

    def add_arm(self, arm: Arm, binarizer: Callable[[Any, float], Any] | None = None) -> None:
        """Adds an arm without data."""
        added = _checked_arms([*self._arms, arm])
        if binarizer is not None:
            if not isinstance(self.learning_policy, LearningPolicy.ThompsonSampling):
                raise ValueError("binarizer: only ThompsonSampling takes one")
            check_binarizer(binarizer)
            self.learning_policy = LearningPolicy.ThompsonSampling(binarizer)
        if self._models is not None:
            self._models.add_arm()
        self._arms = added

    def remove_arm(self, arm: Arm) -> None:
        """Removes an arm and everything learned about it."""
        if arm not in self._arms:
            raise ValueError(f"arm: {arm!r} is not an arm")
        if len(self._arms) == 1:
            raise ValueError("arm: the last arm cannot be removed")
        place = self._arms.index(arm)
        if self._models is not None:
            self._models.remove_arm(place)
        del self._arms[place]

    def warm_start(self, arm_to_features: Any, distance_quantile: float) -> None:
        """Not available: an arm's intervals would count data of another arm."""
        raise NotImplementedError(
            "warm_start: it would copy the data of one arm to another, and the intervals would "
            "count them; give arms features of their own in an ActionSet, and Code or LinUCB learn "
            "about all of them at once"
        )

    def __repr__(self) -> str:
        seen = 0 if self._models is None else sum(self._models.observations)
        return f"MAB({len(self._arms)} arms, {self.learning_policy!r}, {seen} rewards)"

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        models = state.pop("_models")
        return {
            "version": 3,
            "bandit": state,
            "learned": None if models is None else models.state(),
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        if state.get("version") not in (1, 2, 3):
            raise ValueError(
                f"state: version {state.get('version')!r} is not known to this release"
            )
        self.__dict__.update(state["bandit"])
        if state["version"] == 1 and isinstance(self.learning_policy, LearningPolicy.LinTS):
            # Arms were drawn separately then, and the bandit keeps choosing that way.
            self.learning_policy = self.learning_policy._replace(shared_draws=False)
        self._models = None
        if state["learned"] is not None:
            assert self._dim is not None
            self._models = self._fresh(self._dim)
            self._models.restore(**state["learned"])

    def _fresh(self, dim: int) -> _core.ArmModels:
        made = rule(self.learning_policy, dim > 0)
        return _core.ArmModels(
            len(self._arms), dim, made.table, made.facts, made.epsilon, self.seed, made.shared_draws
        )

    def _learn(self, decisions: Any, rewards: Any, contexts: Any, *, again: bool) -> None:
        places = self._places(decisions)
        paid = self._rewards(rewards, decisions, len(places))
        table = (
            None
            if contexts is None
            else self._table(contexts, None if again else self._dim, len(places))
        )
        if table is not None and len(table) != len(places):
            raise ValueError(f"contexts: {len(table)} rows for {len(places)} decisions")
        dim = self._width(table, self._dim if not again else None)
        models = self._fresh(dim) if again or self._models is None else self._models
        models.learn(places, paid, table)
        self._dim, self._models = dim, models

    def _asked(self, contexts: Any) -> tuple[_core.ArmModels, npt.NDArray[np.float64] | None, int]:
        """The models, the contexts to ask about if they use contexts, and the number of rounds."""
        table = None if contexts is None else self._table(contexts, self._dim, None)
        rounds = 1 if table is None else len(table)
        if isinstance(self.learning_policy, WITHOUT_CONTEXTS) or (
            table is not None and self._dim == 0
        ):
            table = None
        dim = self._width(table, self._dim)
        if self._models is None:
            self._dim, self._models = dim, self._fresh(dim)
        return self._models, table, rounds

    def _width(self, table: npt.NDArray[np.float64] | None, known: int | None) -> int:
        """The number of context features; 0 without contexts."""
        name = type(self.learning_policy).__name__
        if table is None:
            if isinstance(self.learning_policy, LINEAR) or known:
                raise ValueError(
                    f"contexts: {name} learned from and decides by contexts, and none were given"
                )
            return 0
        if isinstance(self.learning_policy, WITHOUT_CONTEXTS) or known == 0:
            raise ValueError(
                f"contexts: {name} learned without contexts; use Code, LinUCB, LinTS or LinGreedy "
                "from the start"
            )
        if known is not None and table.shape[1] != known:
            raise ValueError(f"contexts: {table.shape[1]} features, and there were {known} before")
        return int(table.shape[1])

    def _places(self, decisions: Any) -> npt.NDArray[np.int64]:
        place = {arm: at for at, arm in enumerate(self._arms)}
        labels = _listed(decisions, "decisions")
        try:
            return np.fromiter(map(place.__getitem__, labels), dtype=np.int64, count=len(labels))
        except KeyError as error:
            unknown = error.args[0]
            raise ValueError(
                f"decisions: {unknown!r} in row {labels.index(unknown)} is not an arm; add it, or "
                "leave such rows out"
            ) from None

    def _rewards(self, rewards: Any, decisions: Any, count: int) -> npt.NDArray[np.float64]:
        try:
            paid = np.ascontiguousarray(rewards, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise TypeError(f"rewards: expected numbers: {error}") from error
        if paid.shape != (count,):
            raise ValueError(
                f"rewards: expected {count}, one per decision, found an array of shape {paid.shape}"
            )
        if not _within(paid):
            row = int(np.argmin(np.abs(paid) <= LARGEST))
            raise ValueError(
                f"rewards: {paid[row]} in row {row}; rewards must be finite and at most 1e100 in "
                "magnitude"
            )
        if isinstance(self.learning_policy, LearningPolicy.ThompsonSampling):
            return self._binary(paid, decisions)
        if isinstance(self.learning_policy, LearningPolicy.Code):
            _check_outcomes(paid, self.learning_policy.outcomes)
        return paid

    def _binary(self, paid: npt.NDArray[np.float64], decisions: Any) -> npt.NDArray[np.float64]:
        binarizer = self.learning_policy.binarizer  # type: ignore[union-attr]
        if binarizer is not None:
            each = zip(_listed(decisions, "decisions"), paid.tolist())
            paid = np.array([float(bool(binarizer(arm, reward))) for arm, reward in each])
        elif not np.isin(paid, (0.0, 1.0)).all():
            raise ValueError(
                "rewards: ThompsonSampling takes 0 and 1; give it a binarizer, or use UCB1 or Code"
            )
        return paid

    def _table(self, contexts: Any, dim: int | None, rows: int | None) -> npt.NDArray[np.float64]:
        if type(contexts).__module__.partition(".")[0] in ("pandas", "polars") and not hasattr(
            contexts, "columns"
        ):
            # A column: one feature of many rows, or one row cut from a frame.
            one_row = rows == 1 or (rows is None and dim != 1)
            contexts = np.asarray(contexts).reshape((1, -1) if one_row else (-1, 1))
        table = to_rows(contexts, "contexts")
        if not _within(table):
            row, column = np.argwhere(~(np.abs(table) <= LARGEST))[0]
            raise ValueError(
                f"contexts: {table[row, column]} in row {row}, column {column}; features must be "
                "finite and at most 1e100 in magnitude"
            )
        return table


def _check_outcomes(paid: npt.NDArray[np.float64], outcomes: Any) -> None:
    if outcomes is None:
        return
    if outcomes == "yes/no":
        fits, wanted = np.isin(paid, (0.0, 1.0)), 'are 0 or 1, because outcomes are "yes/no"'
    else:
        low, high = outcomes
        fits, wanted = (low <= paid) & (paid <= high), f"are from {low} to {high}, as outcomes say"
    if not fits.all():
        row = int(np.argmin(fits))
        raise ValueError(f"rewards: {paid[row]} in row {row}; rewards {wanted}")


def _within(numbers: npt.NDArray[np.float64]) -> bool:
    # Not the opposite comparison, because NaN must be refused too.
    return bool((np.abs(numbers) <= LARGEST).all())


def _listed(labels: Any, argument: str) -> list[Any]:
    if isinstance(labels, (str, bytes, dict)):
        raise TypeError(f"{argument}: expected a list of arms, found {type(labels).__name__}")
    for method in ("tolist", "to_list"):
        if hasattr(labels, method):
            listed = getattr(labels, method)()
            if not isinstance(listed, list):
                raise TypeError(f"{argument}: expected a list of arms, found a single one")
            return listed
    try:
        return list(labels)
    except TypeError:
        raise TypeError(
            f"{argument}: expected a list of arms, found {type(labels).__name__}"
        ) from None


def _checked_arms(arms: Iterable[Arm]) -> list[Any]:
    listed = _listed(arms, "arms")
    if not listed:
        raise ValueError("arms: there must be at least one")
    seen: set[Any] = set()
    for arm in listed:
        try:
            twice = arm in seen
        except TypeError:
            raise TypeError(f"arms: {arm!r} is not hashable, and cannot be a label") from None
        if twice:
            raise ValueError(f"arms: {arm!r} is there twice")
        if arm is None or arm != arm:
            raise ValueError(f"arms: {arm!r} cannot be a label")
        seen.add(arm)
    return listed
