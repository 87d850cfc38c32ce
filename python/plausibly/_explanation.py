"""What a policy knows about a set of actions, for people and for programs."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from html import escape
from typing import Any, TypedDict

import numpy as np
import numpy.typing as npt

from ._bars import interval_bars


def _plain(value: Any) -> Any:
    """The value as JSON can represent it."""
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if isinstance(value, dict):
        return {name: _plain(entry) for name, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_plain(entry) for entry in value)
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


@dataclass(frozen=True)
class Difference:
    """What a policy knows about the difference between two actions; `str()` says it in words.

    >>> from plausibly import ActionSet, Code
    >>> arms = ActionSet.arms(["red", "blue"])
    >>> policy = Code(outcomes="counts")
    >>> policy.partial_fit(["red", "blue"], [(180, 500), (90, 500)], offers=arms)
    >>> found = policy.compare("red", "blue", arms)
    >>> found.better
    'red'
    """

    ahead: Any
    """The action with the higher estimate."""
    behind: Any
    """The other one."""
    lower: float
    """At least how far the true average of `ahead` is above that of `behind`; negative if it may be
    below.
    """
    upper: float
    """At most how far it is above."""
    better: Any
    """`ahead` if it is certain to be better, else None. It can be certain although `lower` is
    negative: what the two have paid can show it.
    """
    outcomes: int | None
    """About how many more outcomes decide it; None if it is decided, and if that cannot be said
    yet.
    """
    confidence: float | None
    """The probability that all statements of the policy hold at all times at once; None without a
    guarantee.
    """
    _words: str = field(repr=False)

    def __str__(self) -> str:
        return self._words


@dataclass(frozen=True)
class Outlook:
    """Which action will probably be the next to be out, and when; `str()` says it in words. It is a
    forecast and promises nothing.
    """

    action: Any
    """The action; None if that cannot be said yet, or only one action is left."""
    outcomes: int | None
    """About how many more outcomes it takes; None where `action` is."""
    _words: str = field(repr=False)

    def __str__(self) -> str:
        return self._words


_LONGEST = 20
"""Rows shown of a long table; the others are only counted."""


class _Reached(TypedDict):
    kind: str
    wanted: float
    reached: float
    met: bool


class Target(_Reached, total=False):
    """The state of a target: the wanted and the reached accuracy and, for a deadline, whether it
    was guaranteed and met.
    """

    by_round: int
    promised: bool
    outcome: str


@dataclass(frozen=True, repr=False, eq=False)
class Explanation:
    """What a policy's model says about every action at one moment.

    Columns have one entry per action, in the order of the set. Actions are identified by label, or
    by index if they have none.

    >>> from plausibly import ActionSet, Code
    >>> offers = ActionSet([[1.0, 0.0], [0.0, 1.0]], labels=["red", "blue"])
    >>> policy = Code(noise=0.1, theta_norm_bound=1.0)
    >>> for _ in range(40):
    ...     chosen = policy.select(offers)
    ...     policy.update(chosen, {"red": 0.9, "blue": 0.1}[chosen])
    >>> print(policy.explain(offers))  # doctest: +ELLIPSIS
    1 of 2 actions could still be best after 40 rewards
    action  estimate  from    to     standing
    red     0.8995    0.829   0.97   could still be best
    blue    0.09804   -0.339  0.535  ruled out: red beats blue by 0.36 to 1.2
    chosen by: the plausible action with the largest half-width plus 0.3 times its estimate; ...
    """

    actions: list[Any]
    """Labels or indices of the actions."""
    mean: npt.NDArray[np.float64]
    """Estimates: the model's means, never samples or upper bounds."""
    lower: npt.NDArray[np.float64]
    """Lower ends of the intervals."""
    upper: npt.NDArray[np.float64]
    """Upper ends of the intervals."""
    width_sq: npt.NDArray[np.float64]
    """Width of each action: how little is known about it, independent of the radius."""
    plausible: list[Any]
    """The actions that could still be best."""
    ruled_out_by: list[Any]
    """For each action the one that rules it out, or None."""
    margin: npt.NDArray[np.float64]
    """At least how far each action is behind the one that rules it out. NaN for actions that are
    not ruled out, and for those ruled out by what both have paid, which shows no distance.
    """
    sqrt_beta: float
    """The radius in force."""
    confidence: float | None
    """The probability that all intervals hold at all times at once; None for a width without a
    guarantee.
    """
    model_error_bound: float
    """The largest squared error of the estimate of a plausible action, while the intervals hold."""
    observations: int
    """Number of rewards learned from."""
    decides_by: str
    """The rule of the policy's choice, in words."""
    target: Target | None
    """The state of its target, if it has one."""
    at_most: npt.NDArray[np.float64]
    """At most how far each action is behind the one that rules it out; NaN where margin is."""
    evidence: npt.NDArray[np.float64]
    """For actions ruled out by what both have paid: the evidence for it in nats. NaN for others."""
    explores: bool | None = None
    """Whether the next round of an insured policy explores; None for other policies."""
    doubt: str | None = None
    """Why nothing can be ruled out, for example because rewards scatter more than the noise scale
    allows; None where actions can be ruled out.
    """
    _document: str | None = None

    @property
    def intervals(self) -> list[tuple[float, float]]:
        """Lower and upper end of each action's interval."""
        return list(zip(self.lower.tolist(), self.upper.tolist(), strict=True))

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain Python that JSON can hold: lists, numbers, text, None.

        JSON has no infinity and no NaN, so a bound, width or margin that is not finite becomes
        None: an arm that was never taken has the interval (None, None). A label without a JSON
        value becomes its text.

        >>> import json
        >>> from plausibly import ActionSet, UCB1
        >>> found = UCB1(noise_scale=1.0).explain(ActionSet.arms(2)).to_dict()
        >>> json.dumps(found["intervals"], allow_nan=False)
        '[[null, null], [null, null]]'
        """
        fields = {
            name: getattr(self, name) for name in self.__dataclass_fields__ if name != "_document"
        }
        return {
            name: _plain(value) for name, value in {**fields, "intervals": self.intervals}.items()
        }

    def certificate(self) -> dict[str, Any]:
        """The certificate of the explained decision, which anyone can derive again from its log.

        >>> from plausibly import ActionSet, UCB1
        >>> UCB1(noise_scale=1.0).explain(ActionSet.arms(2)).certificate()
        Traceback (most recent call last):
        ValueError: only decisions of a log have certificates; use plausibly.Log
        """
        if self._document is None:
            raise ValueError(
                "only decisions of a log have certificates, and this explains a policy in memory; "
                "decide with plausibly.Log instead (Log(None) keeps its log in memory)"
            )
        certificate: dict[str, Any] = json.loads(self._document)
        return certificate

    def __repr__(self) -> str:
        rows = [
            ["action", "estimate", "from", "to", "standing"],
            *(self._row(i) for i in self._shown()),
        ]
        widths = [max(len(row[column]) for row in rows) for column in range(4)]
        table = [
            "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths)), row[4]])
            for row in rows
        ]
        return "\n".join([self._heading(), *table, *self._notes()])

    def _repr_html_(self) -> str:
        head = "".join(
            f"<th>{name}</th>"
            for name in ("action", "interval", "estimate", "from", "to", "standing")
        )
        shown = self._shown()
        bars = interval_bars(self, shown)
        body = ""
        for i, bar in zip(shown, bars, strict=True):
            action, *rest = (f"<td>{escape(cell)}</td>" for cell in self._row(i))
            body += f"<tr>{action}<td>{bar}</td>{''.join(rest)}</tr>"
        legend = (
            "The dashed line is the best lower end: an action whose interval ends left of it is "
            "out. Comparing two actions directly can rule out more, although intervals overlap."
        )
        lines = [legend, *self._notes()]
        return (
            f"<div><p><strong>{escape(self._heading())}</strong></p>"
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
            f"{''.join(f'<p>{escape(line)}</p>' for line in lines)}</div>"
        )

    def _heading(self) -> str:
        rewards = "1 reward" if self.observations == 1 else f"{self.observations} rewards"
        return (
            f"{len(self.plausible)} of {len(self.actions)} actions could still be best after "
            f"{rewards}"
        )

    def _shown(self) -> list[int]:
        """Places of the actions, the largest upper bound first."""
        order = np.argsort(-self.upper, kind="stable")
        return [int(i) for i in order[:_LONGEST]]

    def _notes(self) -> list[str]:
        left = len(self.actions) - _LONGEST
        more = [f"and {left} more, with smaller upper bounds"] if left > 0 else []
        doubt = [] if self.doubt is None else [f"nothing is ruled out: {self.doubt}"]
        return [*more, *doubt, self._closing()]

    def _row(self, i: int) -> list[str]:
        by = self.ruled_out_by[i]
        standing = "could still be best" if by is None else f"ruled out: {self._beaten(i)}"
        numbers = (f"{self.mean[i]:.4g}", f"{self.lower[i]:.3g}", f"{self.upper[i]:.3g}")
        return [str(self.actions[i]), *numbers, standing]

    def _beaten(self, i: int) -> str:
        beats = f"{self.ruled_out_by[i]} beats {self.actions[i]}"
        if np.isnan(self.margin[i]):
            return f"{beats} by what both have paid"
        if np.isnan(self.at_most[i]):
            return f"{beats} by at least {self.margin[i]:.2g}"
        return f"{beats} by {self.margin[i]:.2g} to {self.at_most[i]:.2g}"

    def _closing(self) -> str:
        held = (
            f"the intervals hold with probability {self.confidence:.6g} if the given constants "
            "are right"
            if self.confidence is not None
            else "the intervals only guide exploration and promise no coverage"
        )
        target = ""
        if self.target is not None:
            met = "met" if self.target["met"] else "not yet met"
            reached, wanted = self.target["reached"], self.target["wanted"]
            target = f"; target {met}: reached {reached:.3g}, wanted {wanted:.3g}"
        deciding = {None: "", True: "; the next round explores", False: "; the next round does not"}
        return f"chosen by: {self.decides_by}; {held}{target}{deciding[self.explores]}"
