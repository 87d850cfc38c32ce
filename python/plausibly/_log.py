"""Logs of decisions, in the same files that the command line uses."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import TracebackType
from typing import Any, Union

import numpy as np

from . import _core, _tables
from ._explanation import Explanation, Target
from ._files import read_file

MOST = 200
"""Default number of actions that a certificate lists, as on the command line."""
_POINTS = 200
_RULES = {
    "least-known": "the widest interval among the actions that could still be best",
    "tempered": "the plausible action with the largest width plus a share of its estimate",
    "most-promising": "the target is met, so the plausible action with the largest upper bound",
    "drawn-plausible": "a draw from the plausible actions",
    "largest-upper": "the largest upper bound",
    "largest-sample": "the largest reward under a sampled model",
    "largest-index": "the largest index",
    "explored": "a draw to explore",
    "largest-mean": "the largest estimate",
    "committed": "the largest estimate when the policy committed",
}
Certificate = Union[Mapping[str, Any], str, "os.PathLike[str]", "Decision", Explanation]


@dataclass(frozen=True, repr=False, eq=False)
class Decision:
    """A decision of a log: which action, and why.

    The reasons are those of the moment of the decision. They are made when they are first asked
    for, from the lines of the log before the decision, so the log must still be where it was then;
    afterwards they are kept. A log in memory stays as long as its decisions. The first lines of a
    long log may be taken from the file of milestones beside it; `verify` with the log reads all
    lines.
    """

    id: int
    """Its number in the log, from 1; its reward is recorded under this number."""
    label: str
    """The action to take."""
    _taken: _core.Decided | None = field(default=None)

    @cached_property
    def explanation(self) -> Explanation:
        """What was known about every listed action."""
        return _explained(self._document)

    def certificate(self) -> dict[str, Any]:
        """Its certificate (docs/reference/certificate.md): what the decision rests on, and what
        follows.
        """
        certificate: dict[str, Any] = json.loads(self._document)
        return certificate

    def certificate_json(self) -> str:
        """The certificate as the text that the command line writes, without the final newline."""
        return self._document

    def words(self) -> str:
        """The reasons in plain words."""
        return _core.certificate_words(self._document)

    @cached_property
    def _document(self) -> str:
        assert self._taken is not None, "a decision without a log is made with its document"
        return self._taken.certificate()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Decision):
            return NotImplemented
        same = self.id == other.id and self.label == other.label
        return same and self._document == other._document

    def __hash__(self) -> int:
        return hash((self.id, self.label))

    def __reduce__(self) -> tuple[Any, ...]:
        return _decision, (self._document,)

    def __repr__(self) -> str:
        return f"Decision({self.id}: {self.label!r})"


class Batch:
    """Requests to a log that are carried out together; see `Log.batch`.

    `decide`, `reward`, `correct`, `retract` and `drop` take the arguments of the methods of a log,
    and only note the request. `commit` carries all of them out.
    """

    def __init__(self, log: Log) -> None:
        self._log = log
        self._batch = _core.Batch()

    def decide(
        self,
        actions: object,
        *,
        context: Mapping[str, Any] | None = None,
        most: int = MOST,
        key: str | None = None,
    ) -> None:
        """Asks for a decision, as `Log.decide` takes it."""
        self._batch.decide(*self._log._asked(actions, context, most, key))

    def reward(
        self,
        decision: int,
        value: float | None = None,
        *,
        successes: int | None = None,
        of: int | None = None,
    ) -> None:
        """Asks to record the reward of a decision."""
        self._batch.reward(_whole("decision", decision), *_paid(value, successes, of), False)

    def correct(
        self,
        decision: int,
        value: float | None = None,
        *,
        successes: int | None = None,
        of: int | None = None,
    ) -> None:
        """Asks to replace the reward of a decision."""
        self._batch.reward(_whole("decision", decision), *_paid(value, successes, of), True)

    def retract(self, decision: int) -> None:
        """Asks to withdraw the reward of a decision."""
        self._batch.retract(_whole("decision", decision))

    def drop(self, decision: int, *, undo: bool = False) -> None:
        """Asks to drop a decision, or with `undo` to undo the drop."""
        self._batch.drop(_whole("decision", decision), _truth("undo", undo))

    def commit(self) -> list[Decision | bool | Exception]:
        """Carries out the requests one after the other, and empties the batch.

        The answers are in the order of the requests: what the method of the log would have
        returned, or the exception it would have raised. A refused request records no decision and
        no outcome, and the others are carried out. When this returns, all of these are on the disk.
        If it raises, none is acknowledged.
        """
        answers = self._log._log.batch(self._log._at(), self._batch)
        return [
            _taken(answer) if isinstance(answer, _core.Decided) else answer for answer in answers
        ]

    def __len__(self) -> int:
        """The number of requests that wait."""
        return len(self._batch)

    def __repr__(self) -> str:
        return f"Batch({len(self)} for {self._log!r})"


class Log:
    """Decisions and their rewards, in an append-only file.

    `path` is the file, the same as `--log` of the command line; either can continue a log of the
    other. The first decision creates it, because that shows the columns of the table. `Log(None)`
    stays in memory.

    These settings are fixed when a log begins: `policy` is a kind or a table as in specs, by
    default "code"; `reward_range` the smallest and the largest possible reward, by default (0, 1);
    `outcomes` what an outcome is: "number" (the default), "yes/no" (the smallest or the largest
    reward), "counts" (how many of how many were yes), or a pair of numbers, which is a
    `reward_range`; `noise` how much outcomes of the same action scatter, if you know: about two
    thirds of them must lie within this of their average, or "bell" if they scatter like a bell
    curve, as measurements do, by an amount that you do not know; `usual_rate` the usual share of
    yes, between 0 and 1, and `odds_factor` by what factor the odds of a yes can differ from the
    usual ones, whatever the columns say (by default 0.5 and 1000), where outcomes are yes/no or
    counts and actions have columns;
    `horizon` about how many decisions there will be, for policies that need it; `seed` the start of
    the random numbers; `leave_out` columns that must not become features. `theta_norm_bound` makes
    numbers features as they are, without an intercept, and bounds the norm of their parameters in
    units of reward; arrays and ActionSets need it. When a log is opened again, the settings may be
    left out and must not differ. `clock` returns the time in microseconds since 1970.

    When a method returns, its event is on the disk. Several threads may use one log; its calls take
    turns. One process writes at a time.

    >>> from plausibly import Log, verify
    >>> log = Log(None, seed=7, clock=lambda: 1_794_000_000_000_000)
    >>> prices = {"mug": 4, "bowl": 8, "jug": 5}
    >>> decision = log.decide([{"name": name, "price": price} for name, price in prices.items()])
    >>> decision
    Decision(1: 'mug')
    >>> log.reward(decision.id, 0.5)
    True
    >>> log.pending
    {}
    >>> verify(decision, log=log)
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None,
        *,
        policy: str | Mapping[str, Any] | None = None,
        reward_range: tuple[float, float] | None = None,
        outcomes: str | tuple[float, float] | None = None,
        noise: float | str | None = None,
        usual_rate: float | None = None,
        odds_factor: float | None = None,
        horizon: int | None = None,
        seed: int | None = None,
        leave_out: Iterable[str] = (),
        theta_norm_bound: float | None = None,
        clock: Callable[[], int] | None = None,
    ) -> None:
        if path is not None and not isinstance(path, (str, os.PathLike)):
            raise TypeError(f"path: expected a path or None, found {type(path).__name__}")
        if clock is not None and not callable(clock):
            raise TypeError(f"clock: expected a function, found {type(clock).__name__}")
        if outcomes is not None and not isinstance(outcomes, str):
            if reward_range is not None:
                raise ValueError("outcomes: give the range either here or as reward_range")
            reward_range, outcomes = _range(outcomes, "outcomes"), None
        self._given = theta_norm_bound is not None
        self._path = None if path is None else os.fsdecode(path)
        self._clock = clock if clock is not None else _now
        self._table: _core.Table | None = None
        self._log = _core.Log(
            self._path,
            None if policy is None else _policy(policy),
            None if reward_range is None else _range(reward_range),
            outcomes,
            noise if noise is None or isinstance(noise, str) else _number("noise", noise),
            None if usual_rate is None else _number("usual_rate", usual_rate),
            None if odds_factor is None else _number("odds_factor", odds_factor),
            None if horizon is None else _whole("horizon", horizon),
            None if seed is None else _whole("seed", seed),
            _names(leave_out),
            None if theta_norm_bound is None else _number("theta_norm_bound", theta_norm_bound),
        )

    def decide(
        self,
        actions: object,
        *,
        context: Mapping[str, Any] | None = None,
        most: int = MOST,
        key: str | None = None,
    ) -> Decision:
        """Takes the next decision among the rows of a table.

        The table is a pandas or polars frame, an Arrow table, a list of dicts, the path of a CSV
        file, or plain arms as in `ActionSet.arms(3)`. If numbers are features as given, it may also
        be an array or an ActionSet of vectors; their features are then called `x0`, `x1` and so on.

        Rows become features as on the command line, from the CSV that the frame's own library
        writes (without an index): see docs/concepts/features.md. `context` holds facts about this
        occasion; `most` is the number of actions that the certificate lists.

        `key` is your name for this request. The same key again gives the decision that was taken
        the first time, and writes nothing: so a request whose answer was lost can be repeated. A
        log remembers the last million keys.
        """
        asked = self._asked(actions, context, most, key)
        return _taken(self._log.decide(self._at(), *asked))

    def batch(self) -> Batch:
        """Collects decisions and outcomes that are then recorded with one write and one sync.

        A sync takes most of the time of a single decision, so a service that has many requests at
        the same time answers them faster with batches.

        >>> from plausibly import Log
        >>> log = Log(None, seed=7)
        >>> batch = log.batch()
        >>> batch.decide([{"name": "mug", "price": 4}, {"name": "bowl", "price": 8}])
        >>> batch.reward(1, 0.5)
        >>> batch.reward(9, 0.5)
        >>> for answer in batch.commit():
        ...     print(answer)
        Decision(1: 'mug')
        True
        'decision: there is no decision 9'
        """
        return Batch(self)

    def reward(
        self,
        decision: int,
        value: float | None = None,
        *,
        successes: int | None = None,
        of: int | None = None,
    ) -> bool:
        """Records the reward of a decision; False if the same reward was recorded already.

        Where outcomes are counts, `successes` of the `of` outcomes were yes.

        In a log with a window (`plausibly decide --window`) the reward is held until the deadline
        of its decision. False then also means that it came too late, and counts for nothing. A
        `Log` settles no decision at its deadline; the commands `decide`, `reward` and `drop` do.
        """
        return self._log.reward(
            self._at(), _whole("decision", decision), *_paid(value, successes, of)
        )

    def correct(
        self,
        decision: int,
        value: float | None = None,
        *,
        successes: int | None = None,
        of: int | None = None,
    ) -> bool:
        """Replaces the reward of a decision; False if it is the same."""
        return self._log.correct(
            self._at(), _whole("decision", decision), *_paid(value, successes, of)
        )

    def change_outcomes(self, outcomes: str) -> bool:
        """Changes what an outcome is from now on: "number", "yes/no" or "counts"; False if it is
        that already.
        """
        if not isinstance(outcomes, str):
            raise TypeError(f"outcomes: expected text, found {type(outcomes).__name__}")
        return self._log.change_outcomes(self._at(), outcomes)

    def retract(self, decision: int) -> bool:
        """Withdraws the reward of a decision, which is then pending again."""
        return self._log.retract(self._at(), _whole("decision", decision))

    def drop(self, decision: int, *, undo: bool = False) -> bool:
        """Records that the reward of a decision will never come; False if it was dropped already.

        With `undo` the decision is pending again; False if it is pending already. Whether you drop
        a decision, or undo that, must not depend on how good its reward was or would be.
        """
        return self._log.drop(self._at(), _whole("decision", decision), _truth("undo", undo))

    def change_policy(self, policy: str | Mapping[str, Any], *, horizon: int | None = None) -> bool:
        """Decides by another policy from now on; False if it is the same."""
        count = None if horizon is None else _whole("horizon", horizon)
        return self._log.change_policy(self._at(), _policy(policy), count)

    def decision(self, decision: int, *, most: int = MOST) -> Decision:
        """An earlier decision, derived again from the log and its milestones."""
        return _decision(self._log.certificate(_whole("decision", decision), _whole("most", most)))

    def status(self) -> dict[str, Any]:
        """The status of the log, as `plausibly status --json` prints it."""
        status: dict[str, Any] = json.loads(self._log.status(self._at(), _POINTS))
        return status

    def compare(self, first: str, second: str) -> dict[str, Any]:
        """How two actions of the last decision compare, as `plausibly compare --json` prints it.

        `ahead` has the higher estimate; its true average is `at_least` to `at_most` above that of
        `behind`. `decided` says whether it is certain to be better, and `outcomes` about how many
        more outcomes would decide it. All comparisons hold together, however the two are picked; an
        action may be out although it is not decided against another that is not the best either.
        """
        for name in (first, second):
            if not isinstance(name, str):
                raise TypeError(f"actions are named by text, found {type(name).__name__}")
        if first == second:
            raise ValueError(f"name two different actions; both are {first!r}")
        found: dict[str, Any] = json.loads(self._log.compare(self._at(), first, second))
        return found

    @property
    def pending(self) -> dict[int, str]:
        """The decisions without a reward, the oldest first, with the chosen labels."""
        return dict(self._log.pending())

    @property
    def recipe(self) -> str | None:
        """How rows become features, as a readable table; None before the first decision."""
        about = self._log.about()
        return None if about is None else about[3]

    @property
    def features(self) -> list[str] | None:
        """Names of the features; None before the first decision, empty for plain arms."""
        about = self._log.about()
        return None if about is None else about[2]

    @property
    def policy(self) -> dict[str, Any] | None:
        """The policy with every field; None before the first decision."""
        about = self._log.about()
        return None if about is None else json.loads(about[0])

    @property
    def reward_range(self) -> tuple[float, float] | None:
        """The smallest and the largest possible reward; None before the first decision."""
        about = self._log.about()
        return None if about is None else about[1]

    @property
    def recovery(self) -> str | None:
        """How opening handled an interrupted write, if there was one."""
        return self._log.recovery()

    def close(self) -> None:
        """Releases the file for other writers. A closed log accepts nothing more."""
        self._log.close()

    def __enter__(self) -> Log:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Log({self._path!r})"

    def _asked(
        self, actions: object, context: Mapping[str, Any] | None, most: int, key: str | None
    ) -> tuple[_core.Table, dict[str, str], int, str | None]:
        if key is not None and not isinstance(key, str):
            raise TypeError(f"key: expected text, found {type(key).__name__}")
        given = self._log.is_given()
        vectors = self._given if given is None else given
        table = self._table = _tables.read_table(actions, vectors, self._table)
        return table, _tables.to_context(context), _whole("most", most), key

    def _at(self) -> int:
        return _whole("clock", self._clock())


def verify(certificate: Certificate, *, log: Log | str | os.PathLike[str] | None = None) -> None:
    """Checks that a certificate follows from its grounds and, with the log, that these are true.

    `certificate` is a decision, a dict, JSON text or the path of a file; `log` a Log or the path of
    one. Raises a CertificateError that names the first thing that is wrong.
    """
    text = _certificate(certificate)
    if isinstance(log, Log):
        _core.check_certificate(text, log._log, None)
    elif log is None or isinstance(log, (str, os.PathLike)):
        _core.check_certificate(text, None, None if log is None else os.fsdecode(log))
    else:
        raise TypeError(f"log: expected a Log or a path, found {type(log).__name__}")


def explain_certificate(certificate: Certificate) -> str:
    """A certificate in plain words. Raises a CertificateError if it is wrong."""
    return _core.certificate_words(_certificate(certificate))


def _taken(taken: _core.Decided) -> Decision:
    return Decision(taken.decision, taken.label, taken)


def _decision(document: str) -> Decision:
    """The decision that a certificate is about."""
    certificate = json.loads(document)
    label = certificate["findings"]["chosen"]["label"]
    decision = Decision(certificate["grounds"]["decision"], label)
    decision.__dict__["_document"] = document  # as `cached_property` keeps it
    return decision


def _explained(document: str) -> Explanation:
    certificate = json.loads(document)
    grounds, findings = certificate["grounds"], certificate["findings"]
    listed = findings["actions"]
    names = {action["id"]: action["label"] for action in listed}

    def column(name: str, unknown: float) -> Any:
        return np.array(
            [unknown if action[name] is None else action[name] for action in listed],
            dtype=np.float64,
        )

    out = [
        action["standing"]["ruled-out"] if action["standing"] != "plausible" else None
        for action in listed
    ]
    bound = findings["model_error_bound"]
    return Explanation(
        actions=[action["label"] for action in listed],
        mean=column("mean", np.nan),
        lower=column("lower", np.nan),
        upper=column("upper", np.nan),
        width_sq=column("width", np.inf) ** 2,
        plausible=[action["label"] for action, ruled in zip(listed, out) if ruled is None],
        ruled_out_by=[None if ruled is None else names.get(ruled["by"]) for ruled in out],
        margin=np.array([_behind(ruled)[0] for ruled in out], dtype=np.float64),
        at_most=np.array([_behind(ruled)[1] for ruled in out], dtype=np.float64),
        evidence=np.array(
            [np.nan if ruled is None else ruled.get("evidence", np.nan) for ruled in out],
            dtype=np.float64,
        ),
        sqrt_beta=np.inf if findings["sqrt_beta"] is None else findings["sqrt_beta"],
        confidence=findings["confidence"],
        model_error_bound=np.inf if bound is None else bound,
        observations=grounds["statistics"]["observations"],
        decides_by=_RULES.get(findings["chosen"]["reason"], findings["chosen"]["reason"]),
        target=_target(findings.get("target"), grounds["policy"]),
        _document=document,
    )


def _behind(ruled: dict[str, Any] | None) -> tuple[float, float]:
    """How far an action is behind at least and at most; NaN where that is not said."""
    if ruled is None:
        return np.nan, np.nan
    at_least, at_most = ruled.get("behind_by", (np.nan, np.nan))
    return float(ruled.get("margin", at_least)), float(at_most)


def _target(found: dict[str, Any] | None, policy: dict[str, Any]) -> Target | None:
    if found is None:
        return None
    reached = np.inf if found["reached"] is None else found["reached"]
    kind = "kappa" if "kappa" in policy["target"] else "accuracy"
    return Target(kind=kind, wanted=found["wanted"], reached=reached, met=found["met"])


def _certificate(certificate: object) -> str:
    if isinstance(certificate, Decision):
        return certificate.certificate_json()
    if isinstance(certificate, Explanation):
        certificate = certificate.certificate()
    if isinstance(certificate, Mapping):
        try:
            return json.dumps(dict(certificate), ensure_ascii=False)
        except (TypeError, ValueError, RecursionError) as error:
            raise ValueError(f"certificate: not a certificate: {error}") from error
    if isinstance(certificate, str) and certificate.lstrip().startswith("{"):
        return certificate
    if isinstance(certificate, (str, os.PathLike)):
        try:
            return read_file(certificate, _core.CERTIFICATE_MIB, "a certificate").decode("utf-8")
        except UnicodeDecodeError as error:
            raise ValueError(
                f"certificate: {os.fsdecode(certificate)} is not a certificate: {error}"
            ) from error
    raise TypeError(
        "certificate: expected a decision, a dict, JSON or a path, found "
        f"{type(certificate).__name__}"
    )


def _now() -> int:
    return time.time_ns() // 1000


def _policy(policy: object) -> str:
    if isinstance(policy, str):
        return json.dumps({"kind": policy})
    if isinstance(policy, Mapping):
        table = {name: value for name, value in policy.items() if value is not None}
        try:
            return json.dumps(table, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            raise ValueError(f"policy: no table of a policy: {error}") from error
    raise TypeError(f"policy: expected a kind or a table, found {type(policy).__name__}")


def _range(reward_range: object, name: str = "reward_range") -> tuple[float, float]:
    try:
        ends: tuple[object, object] = (*reward_range,)  # type: ignore[misc]
        first, last = ends
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name}: expected two numbers, found {reward_range!r}") from error
    low, high = _number(name, first), _number(name, last)
    if not low < high or not np.isfinite(high - low):
        raise ValueError(
            f"{name}: must be two numbers with the smaller one first, got {low} and {high}"
        )
    return low, high


def _names(leave_out: object) -> list[str]:
    if isinstance(leave_out, str) or not isinstance(leave_out, Iterable):
        raise TypeError(f"leave_out: expected a list of columns, found {type(leave_out).__name__}")
    names = list(leave_out)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"leave_out: names of columns are text, found {type(name).__name__}")
    return names


def _number(name: str, value: object) -> float:
    if (
        isinstance(value, (bool, str, bytes))
        or not hasattr(value, "__float__")
        and not hasattr(value, "__index__")
    ):
        raise TypeError(f"{name}: expected a number, found {type(value).__name__}")
    try:
        return float(value)  # type: ignore[arg-type]
    except OverflowError as error:
        raise ValueError(f"{name}: too large for a number") from error


def _whole(name: str, value: object) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name}: expected a whole number, found {type(value).__name__}")
    number: int = value.__index__()
    if not 0 <= number < 2**63:
        raise ValueError(f"{name}: {number} is out of range")
    return number


def _truth(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{name}: expected True or False, found {type(value).__name__}")
    return value


def _paid(
    value: object, successes: object, of: object
) -> tuple[float | None, tuple[int, int] | None]:
    """A reward, or a count of outcomes that were yes."""
    if successes is None and of is None:
        if value is None:
            raise TypeError("value: expected a number, or successes and of")
        return _number("value", value), None
    if value is not None or successes is None or of is None:
        raise TypeError("give either a value, or both successes and of")
    return None, (_whole("successes", successes), _whole("of", of))
