"""Wrong calls: each raises the right exception, names the argument, and changes nothing."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from fractions import Fraction
from itertools import count
from typing import Any

import numpy as np
import pytest

import plausibly
from plausibly import (
    UCB1,
    Action,
    ActionSet,
    BetaThompson,
    Code,
    Elimination,
    EpsilonGreedy,
    ExploreThenCommit,
    Insured,
    LaplaceTS,
    LinTS,
    LinUCB,
)
from plausibly import Policy, Thompson, simulate
from test_hostile_lasting import CALLS

OFFERS = ActionSet([[1.0, 0.0], [0.0, 1.0]])
NAMED = ActionSet([[1.0, 0.0], [0.0, 1.0]], labels=["a", "b"])
ARMS = ActionSet.arms(3)
GOOD: dict[str, Any] = {
    "runs": 1,
    "horizon": 10,
    "environment": {"kind": "linear", "dim": 2, "actions": 3},
    "policy": [{"kind": "code"}],
}
CYCLE: dict[str, Any] = {}
CYCLE["environment"] = CYCLE
LOOP: list[Any] = []
LOOP.append(LOOP)


class Refuses:
    """Has every numeric conversion, and refuses all of them."""

    def __index__(self) -> int:
        raise OSError("no index")

    def __float__(self) -> float:
        raise OSError("no float")

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise OSError("no array")

    def __hash__(self) -> int:
        raise OSError("no hash")


ROWS: list[tuple[Any, type[Exception], str]] = [
    (None, TypeError, "rows: expected rows"),
    ("text", TypeError, "rows: expected rows"),
    (b"bytes", TypeError, "rows: expected rows"),
    ({"a": 1}, TypeError, "rows: expected rows"),
    ({1, 2}, TypeError, "rows: expected rows"),
    (5, ValueError, "rows: .*ActionSet.arms"),
    (1.5, ValueError, "rows: .*shape"),
    (object(), TypeError, "rows: expected numbers"),
    (Refuses(), OSError, "no array"),
    ([], ValueError, "rows: .*shape"),
    ([[]], ValueError, "rows: actions need at least one feature"),
    ([[], []], ValueError, "rows: actions need at least one feature"),
    ([1.0, 2.0], ValueError, "rows: .*shape"),
    ([[[1.0]]], ValueError, "rows: .*shape"),
    ([[1.0], [1.0, 2.0]], ValueError, "rows: not a table"),
    ([[1.0], 2.0], ValueError, "rows: not a table"),
    ([["a", "b"]], TypeError, "rows: expected numbers"),
    ([[None, 1.0]], TypeError, "rows: expected numbers"),
    ([[1j]], TypeError, "rows: expected numbers"),
    ([[Fraction(1, 2)]], TypeError, "rows: expected numbers"),
    ([[10**400]], TypeError, "rows: expected numbers"),
    ([[datetime.date(2020, 1, 1)]], TypeError, "rows: expected numbers"),
    (LOOP, (ValueError, TypeError), "rows: "),  # type: ignore[list-item]
    (np.zeros((0, 3)), ValueError, "rows: .*at least one action"),
    (np.zeros((3, 0)), ValueError, "rows: .*at least one feature"),
    (np.zeros(3), ValueError, "rows: .*shape"),
    (np.zeros((2, 2, 2)), ValueError, "rows: .*shape"),
    (np.array("x"), TypeError, "rows: expected numbers"),
    (np.array([["a"]]), TypeError, "rows: expected numbers"),
    (np.array([[1 + 2j]]), TypeError, "rows: expected numbers"),
    (np.array([["2020-01-01"]], dtype="datetime64[D]"), TypeError, "rows: expected numbers"),
    (np.array([[1]], dtype="timedelta64[s]"), TypeError, "rows: expected numbers"),
    (np.array([(1, 2.0)], dtype=[("a", int), ("b", float)]), TypeError, "rows: expected numbers"),
    (np.array([[object()]]), TypeError, "rows: expected numbers"),
    (np.array([[np.nan]]), ValueError, "rows: feature 0 of action 0 is NaN"),
    (np.array([[1.0, np.inf]]), ValueError, "rows: feature 1 of action 0"),
    (np.array([[1.0], [-np.inf]]), ValueError, "rows: feature 0 of action 1"),
    (np.array([[1e101]]), ValueError, "rows: feature 0 of action 0"),
    (np.array([[np.finfo(np.longdouble).max]]), ValueError, "rows: feature 0 of action 0"),
    (np.ma.masked_array([[1.0, 2.0]], mask=[[False, True]]), ValueError, "rows: .*masked"),
]


@pytest.mark.parametrize(("rows", "error", "message"), ROWS, ids=range(len(ROWS)))
def test_rows(rows: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        ActionSet(rows)
    policy = Code(noise_scale=1.0, theta_norm_bound=1.0)
    for call in (policy.select, policy.explain):
        with pytest.raises(error, match=message.replace("rows: ", "actions: ")):
            call(rows)
    assert policy.select(OFFERS) == 0 and policy.observations == 0


def code(**settings: Any) -> Callable[[], object]:
    return lambda: Code(**{"noise_scale": 1.0, "theta_norm_bound": 1.0, **settings})


def clicks(made: Callable[..., Policy] = Code, **settings: Any) -> Callable[[], Policy]:
    """A logistic model that is right but for these settings; None leaves one out."""
    right: dict[str, Any] = {"outcomes": "yes/no", "model": "logistic", "action_norm_bound": 1.0}
    return lambda: made(**{**right, **settings})


def counts(**settings: Any) -> Policy:
    return Code(**{"model": "poisson", "theta_norm_bound": 1.0, **settings})


MADE: list[tuple[Callable[[], object], type[Exception], str]] = [
    (lambda: Policy(), TypeError, "use Code"),
    (lambda: Code(), ValueError, "noise_scale: missing"),
    (lambda: Code(1.0), TypeError, "positional"),  # type: ignore[call-arg]
    (lambda: Code(rigde=1.0), TypeError, "rigde"),  # type: ignore[call-arg]
    (code(ridge=0.0), ValueError, "ridge: 0 is out of range"),
    (code(ridge=-1.0), ValueError, "ridge: -1 is out of range"),
    (code(ridge=float("nan")), ValueError, "ridge: NaN is out of range"),
    (code(ridge=float("inf")), ValueError, "ridge: inf is out of range"),
    (code(ridge=10**400), ValueError, "ridge: .*out of range"),
    (code(ridge="1"), TypeError, "ridge: expected a number"),
    (code(ridge=True), TypeError, "ridge: expected a number"),
    (code(ridge=[1.0]), TypeError, "ridge: expected a number"),
    (code(ridge=np.ones(2)), TypeError, "ridge: expected a number"),
    (code(ridge=1j), TypeError, "ridge: expected a number"),
    (code(ridge=Refuses()), TypeError, "ridge: expected a number"),
    (code(greed=1.5), ValueError, "greed: 1.5 is out of range"),
    (code(greed=0.5, target={"kappa": 1.0}), ValueError, "greed: "),
    (code(randomise=1.0), ValueError, "randomise: 1 is out of range"),
    (code(count_pending=1), TypeError, "count_pending: expected true or false"),
    (code(target=0.5), TypeError, "target: expected a table"),
    (code(target={}), ValueError, "target.kappa: a target needs either"),
    (code(target={"kappa": 1.0, "accuracy": 1.0}), ValueError, "target.kappa: "),
    (code(target={"accuracy": 0.1, "by_round": 1.5}), TypeError, "target.by_round: "),
    (code(target={"accuracy": 0.1, "by_round": 0}), ValueError, "target.by_round: "),
    (code(target={1: 2}), TypeError, "names in a spec are text"),
    (code(radius="wide"), TypeError, "radius: expected a table"),
    (code(radius={}), ValueError, "radius.kind: missing"),
    (code(radius={"kind": "wide"}), ValueError, "radius.kind: "),
    (
        code(radius={"kind": "fixed", "sqrt_beta": 0}),
        ValueError,
        "radius.sqrt_beta: 0 is out of range",
    ),
    (code(radius={"kind": "fixed", "alpha": 1}), ValueError, "radius.alpha: unknown field"),
    (
        code(radius={"kind": "determinant", "delta": 1.0}),
        ValueError,
        "radius.delta: 1 is out of range",
    ),
    (code(radius=0), ValueError, "radius.sqrt_beta: 0 is out of range"),
    (code(radius=-1.0), ValueError, "radius.sqrt_beta: -1 is out of range"),
    (code(radius=float("nan")), ValueError, "radius.sqrt_beta: NaN"),
    (code(radius=CYCLE), (ValueError, TypeError), "radius"),  # type: ignore[list-item]
    (code(radius={"kind": "paper"}), ValueError, "action_norm_bound: missing"),
    (code(noise_scale=0.0), ValueError, "noise_scale: 0 is out of range"),
    (code(noise_scale="loud"), TypeError, "noise_scale: expected a number"),
    (code(theta_norm_bound=-1.0), ValueError, "theta_norm_bound: -1 is out of range"),
    (code(outcomes="yes"), TypeError, "outcomes: expected .yes/no., .counts. or a pair"),
    (code(outcomes=1.0), TypeError, "outcomes: expected .*found a number"),
    (code(outcomes=(0, 1, 2)), TypeError, "outcomes: expected .*found a list"),
    (code(outcomes=(0, "1")), TypeError, "outcomes: expected "),
    (code(outcomes=(1, 0)), ValueError, r"outcomes: \(1, 0\) is out of range"),
    (code(outcomes=(1, 1)), ValueError, "outcomes: .*out of range"),
    (code(outcomes=(0, float("nan"))), ValueError, "outcomes: .*out of range"),
    (code(outcomes=(0, float("inf"))), ValueError, "outcomes: .*out of range"),
    (code(noise=0.5), ValueError, "noise: a number is the same as noise_scale"),
    (lambda: Code(noise=0), ValueError, "noise: 0 is out of range"),
    (lambda: Code(noise=-1.0), ValueError, "noise: -1 is out of range"),
    (lambda: Code(noise=float("nan")), ValueError, "noise: NaN is out of range"),
    (lambda: Code(noise="bel"), TypeError, "noise: expected a number, .bell. or None"),  # type: ignore[arg-type]
    (lambda: Code(noise=True), TypeError, "noise: expected "),
    (lambda: Code(noise=[1.0]), TypeError, "noise: expected .*found a list"),  # type: ignore[arg-type]
    (lambda: Code(outcomes="yes/no", noise=0.1), ValueError, "noise: yes and no scatter by"),
    (lambda: Code(outcomes="counts", noise="bell"), ValueError, "noise: yes and no scatter by"),
    (
        lambda: Code(outcomes="yes/no", radius={"kind": "bell"}),
        ValueError,
        "radius: bell is not for yes and no",
    ),
    (lambda: Code(noise="bell", radius=1.0), ValueError, "noise: bell is a radius of its own"),
    (
        lambda: Insured(outcomes="counts", theta_norm_bound=1, inside={"kind": "elimination"}),
        ValueError,
        "outcomes: counts do not go with elimination",
    ),
    (clicks(model="probit"), ValueError, "model: .probit. is not one of linear, logistic, poisson"),
    (clicks(model=1), TypeError, "model: expected one of linear"),
    (clicks(outcomes=None), ValueError, "outcomes: missing: .*yes/no"),
    (clicks(action_norm_bound=None), ValueError, "action_norm_bound: missing: .*theta_norm_bound"),
    (clicks(ridge=1.0), ValueError, "ridge: .*leave out ridge"),
    (clicks(EpsilonGreedy, horizon=9, ridge=1.0), ValueError, "ridge: .*leave out ridge"),
    (clicks(noise_scale=0.5), ValueError, "noise_scale: logistic has no scale of noise"),
    (clicks(outcomes=(0, 1), noise=0.5), ValueError, "noise: logistic has no scale of noise"),
    (clicks(outcomes=(0, 1), noise="bell"), ValueError, "noise: logistic has no scale of noise"),
    (
        clicks(odds_factor=2, theta_norm_bound=1.0),
        ValueError,
        "odds_factor: a factor says the same as theta_norm_bound",
    ),
    (clicks(odds_factor=1), ValueError, "odds_factor: 1 is out of range"),
    (clicks(odds_factor=float("nan")), ValueError, "odds_factor: NaN is out of range"),
    (clicks(odds_factor="10"), TypeError, "odds_factor: expected a number"),
    (clicks(theta_norm_bound=0), ValueError, "theta_norm_bound: 0 is out of range"),
    (clicks(usual_rate=1.0), ValueError, "usual_rate: .*above 0 and below 1, got 1"),
    (clicks(usual_rate=0), ValueError, "usual_rate: .*above 0 and below 1, got 0"),
    (clicks(usual_rate=1e-30), ValueError, "usual_rate: the offset must be"),
    (clicks(usual_rate=True), TypeError, "usual_rate: expected a number"),
    (clicks(outcomes=(0, 10), usual_rate=11), ValueError, "usual_rate: .*above 0 and below 10"),
    (clicks(model=None, usual_rate=0.1), ValueError, "usual_rate: this is for another model"),
    (clicks(model="linear", odds_factor=2), ValueError, "odds_factor: this is for another model"),
    (clicks(radius=1.0), ValueError, "model: logistic does not go with this radius"),
    (clicks(radius={"kind": "poisson"}), ValueError, "model: logistic does not go with this"),
    (
        clicks(model="linear", radius={"kind": "logistic"}),
        ValueError,
        "model: linear does not go with this radius",
    ),
    (
        clicks(usual_rate=0.1, radius={"kind": "logistic", "usual": 0.1}),
        ValueError,
        "usual_rate: this is in the radius as well",
    ),
    (clicks(model="poisson"), ValueError, "outcomes: poisson is for counts without a largest one"),
    (lambda: counts(usual_rate=0), ValueError, "usual_rate: .*above 0 and below 1024"),
    (lambda: LaplaceTS(), ValueError, "outcomes: missing"),
    (clicks(LaplaceTS, model="linear"), ValueError, "model: linear is not for Laplace"),
    (clicks(UCB1), TypeError, "unexpected keyword"),
    (code(same_actions=1), TypeError, "same_actions: expected true or false"),
    (code(exclusion="both"), ValueError, "exclusion: "),
    (lambda: Thompson(outcomes="maybe"), TypeError, "outcomes: expected"),  # type: ignore[arg-type]
    (
        lambda: Thompson(outcomes="yes/no", noise_scale=0.5),
        ValueError,
        "noise_scale: yes and no scatter",
    ),
    (code(action_norm_bound=0.0), ValueError, "action_norm_bound: 0 is out of range"),
    (code(label=""), TypeError, "label: expected text"),
    (code(label="a\nb"), TypeError, "label: expected text"),
    (code(label=7), TypeError, "label: expected text"),
    (code(label="\ud800"), TypeError, "label: expected text"),
    (code(seed=-1), ValueError, "seed: must be from 0"),
    (code(seed=2**63), ValueError, "seed: must be from 0"),
    (code(seed=10**100), ValueError, "seed: must be from 0"),
    (code(seed=1.0), TypeError, "seed: expected a whole number"),
    (code(seed="1"), TypeError, "seed: expected a whole number"),
    (code(seed=True), TypeError, "seed: expected a whole number"),
    (code(seed=None), TypeError, "seed: expected a whole number"),
    (lambda: LinUCB(), ValueError, "noise_scale: missing"),
    (lambda: LinUCB(radius={"kind": "mixture"}, noise_scale=1.0), ValueError, "radius.kind: "),
    (lambda: LinTS(), ValueError, "noise_scale: missing"),
    (lambda: LinTS(noise_scale=1e60), ValueError, "noise_scale: 1e60 is out of range"),
    (lambda: Elimination(delta=0.0), ValueError, "delta: 0 is out of range"),
    (lambda: Elimination(horizon=3), TypeError, "horizon"),  # type: ignore[call-arg]
    (lambda: EpsilonGreedy(), ValueError, "horizon: missing"),
    (lambda: EpsilonGreedy(horizon=0), ValueError, "horizon: 0 is out of range"),
    (lambda: EpsilonGreedy(horizon=1.5), TypeError, "horizon: expected a whole number"),  # type: ignore[arg-type]
    (lambda: EpsilonGreedy(horizon=10, epsilon=0.0), ValueError, "epsilon: 0 is out of range"),
    (lambda: EpsilonGreedy(horizon=10, exploration="wild"), ValueError, "exploration: "),  # type: ignore[arg-type]
    (lambda: ExploreThenCommit(horizon=10, epsilon=2.0), ValueError, "epsilon: 2 is out of range"),
    (lambda: UCB1(), ValueError, "noise_scale: missing"),
    (lambda: Thompson(noise_scale=-1.0), ValueError, "noise_scale: -1 is out of range"),
    (lambda: ActionSet.arms(0), ValueError, "arms: "),
    (lambda: ActionSet.arms(-1), ValueError, "arms: "),
    (lambda: ActionSet.arms(10**9), ValueError, "arms: "),
    (lambda: ActionSet.arms(10**30), ValueError, "arms: "),
    (lambda: ActionSet.arms(2.0), TypeError, "arms: expected a whole number or a list of labels"),  # type: ignore[arg-type]
    (lambda: ActionSet.arms("2"), TypeError, "arms: expected a whole number or a list of labels"),  # type: ignore[arg-type]
    (lambda: ActionSet.arms(True), TypeError, "arms: expected a whole number or a list of labels"),
    (lambda: ActionSet.arms([]), ValueError, "arms: "),
    (lambda: ActionSet.arms(["a", "a"]), ValueError, "labels: 'a' is there twice"),
    (lambda: ActionSet.arms([[]]), TypeError, "labels: a label must be hashable"),
    (lambda: ActionSet.arms(["a"], labels=["b"]), TypeError, "labels: the arms are labels already"),
    (lambda: ActionSet.arms(2, labels=["a"]), ValueError, "labels: 2 actions need 2 labels, got 1"),
    (lambda: ActionSet.arms(2, labels=["a", "a"]), ValueError, "labels: 'a' is there twice"),
    (lambda: ActionSet.arms(2, labels="ab"), TypeError, "labels: expected a list"),
    (lambda: ActionSet.arms(2, labels=5), TypeError, "labels: expected a list"),  # type: ignore[arg-type]
    (lambda: ActionSet.arms(2, labels=[[], []]), TypeError, "labels: a label must be hashable"),  # type: ignore[list-item]
    (
        lambda: ActionSet.arms(2, labels=[1, Refuses()]),
        TypeError,
        "labels: a label must be hashable",
    ),
    (
        lambda: ActionSet.arms(2, labels=count()),
        ValueError,
        "labels: 2 actions need 2 labels, got more",
    ),
    (lambda: Action(), TypeError, "Action"),
    (lambda: OFFERS[2], IndexError, "action: 2 is not from 0 to 1"),
    (lambda: OFFERS[-1], IndexError, "action: -1 is not from 0 to 1"),
    (lambda: OFFERS[10**30], IndexError, "action: "),
    (lambda: OFFERS["a"], TypeError, "action: expected an index"),
    (lambda: OFFERS[0.0], TypeError, "action: expected an index"),
    (lambda: OFFERS[True], TypeError, "action: expected an index"),
    (lambda: OFFERS[0:1], TypeError, "action: one action at a time"),
    (lambda: OFFERS[Refuses()], OSError, "no index"),
    (lambda: NAMED["c"], KeyError, "action: 'c' is not a label"),
    (lambda: NAMED[0], KeyError, "action: 0 is not a label"),
    (lambda: NAMED[[]], TypeError, "unhashable"),
    (lambda: setattr(OFFERS, "dim", 5), AttributeError, "dim"),
]


@pytest.mark.parametrize(("call", "error", "message"), MADE, ids=range(len(MADE)))
def test_making(call: Callable[[], object], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


USED: list[tuple[Callable[[Code], object], type[Exception], str]] = [
    (lambda policy: policy.update(0, float("nan")), ValueError, "reward: must be finite"),
    (lambda policy: policy.update(0, float("inf")), ValueError, "reward: must be finite"),
    (lambda policy: policy.update(0, -1e101), ValueError, "reward: must be finite"),
    (lambda policy: policy.update(0, 10**400), ValueError, "reward: too large"),
    (lambda policy: policy.update(0, "1"), TypeError, "reward: expected a number, found str"),  # type: ignore[arg-type]
    (lambda policy: policy.update(0, None), TypeError, "reward: expected a number"),  # type: ignore[arg-type]
    (lambda policy: policy.update(0, 1j), TypeError, "reward: expected a number"),  # type: ignore[arg-type]
    (lambda policy: policy.update(0, np.ones(2)), TypeError, "reward: expected a number"),  # type: ignore[arg-type]
    (lambda policy: policy.update(0, Refuses()), TypeError, "reward: expected a number"),
    (lambda policy: policy.update(0), TypeError, "reward"),  # type: ignore[call-arg]
    (lambda policy: policy.update(2, 1.0), IndexError, "action: 2 is not from 0 to 1"),
    (lambda policy: policy.update(-1, 1.0), IndexError, "action: -1 is not from 0 to 1"),
    (lambda policy: policy.update("a", 1.0), TypeError, "action: expected an index"),
    (lambda policy: policy.update(None, 1.0), TypeError, "action: expected an index"),
    (lambda policy: policy.update(0.0, 1.0), TypeError, "action: expected an index"),
    (lambda policy: policy.update(OFFERS, 1.0), TypeError, "action: expected an index"),
    (lambda policy: policy.update(ARMS[0], 1.0), ValueError, "actions: .*offered none"),
    (lambda policy: policy.decided(5), IndexError, "action: 5"),
    (lambda policy: policy.dropped("x"), TypeError, "action: expected an index"),
    (lambda policy: policy.decided(ActionSet([[1.0]])[0]), ValueError, "actions: .*offered 1"),
    (
        lambda policy: policy.select(ActionSet([[1.0]])),
        ValueError,
        "actions: .*2 features and is offered 1",
    ),
    (lambda policy: policy.select(np.ones((1, 3))), ValueError, "actions: .*offered 3"),
    (lambda policy: policy.select(ARMS), ValueError, "actions: .*offered none"),
    (lambda policy: policy.select(), TypeError, "actions"),  # type: ignore[call-arg]
    (lambda policy: policy.select(OFFERS, 1), TypeError, "positional"),  # type: ignore[call-arg]
    (lambda policy: policy.explain(ARMS), ValueError, "actions: .*offered none"),
    (lambda policy: policy.explain(OFFERS, radius="x"), TypeError, "radius: expected a table"),  # type: ignore[arg-type]
    (
        lambda policy: policy.explain(OFFERS, radius={"kind": "mixture"}),
        ValueError,
        "radius.kind: ",
    ),
    (lambda policy: policy.explain(OFFERS, radius=float("inf")), ValueError, "radius.sqrt_beta: "),
    (lambda policy: setattr(policy, "label", "x"), AttributeError, "label"),
]


@pytest.mark.parametrize(("call", "error", "message"), USED, ids=range(len(USED)))
def test_using(call: Callable[[Code], object], error: type[Exception], message: str) -> None:
    policy, twin = (Code(noise_scale=1.0, theta_norm_bound=1.0) for _ in range(2))
    for one in (policy, twin):
        one.update(one.select(OFFERS), 0.5)
        one.select(OFFERS)
    with pytest.raises(error, match=message):
        call(policy)
    assert repr(policy.explain(OFFERS).to_dict()) == repr(twin.explain(OFFERS).to_dict())
    assert policy.select(OFFERS) == twin.select(OFFERS)


def clicks_then(call: Callable[[Policy], object]) -> Callable[[], object]:
    return lambda: call(clicks()())


UNFIT: list[tuple[Callable[[], object], str]] = [
    (lambda: LinUCB(radius=1.0).select(ARMS), "actions: plain arms do not suit this policy"),
    (lambda: LinTS(noise_scale=1.0).select(ARMS), "actions: plain arms do not suit this policy"),
    (lambda: Elimination().select(ARMS), "actions: plain arms do not suit this policy"),
    (
        lambda: Code(noise_scale=1.0, ridge=2.0, theta_norm_bound=1.0).select(ARMS),
        "actions: .*ridge: unknown field",
    ),
    (lambda: Code(noise_scale=1.0).select(OFFERS), "actions: .*theta_norm_bound: missing"),
    (
        lambda: Code(radius={"kind": "union"}, noise_scale=1.0).select(OFFERS),
        "actions: .*radius.kind: union",
    ),
    (
        lambda: Code(
            radius={"kind": "paper"}, noise_scale=1, theta_norm_bound=1, action_norm_bound=1
        ).select([[1.0]]),
        "one dimension",
    ),
    (lambda: Code(radius=1.0).select(np.ones((1, 5000))), "actions: 5000 features"),
    (lambda: Code(radius=1.0).update(0, 1.0), "action: nothing was selected yet"),
    (lambda: Code(radius=1.0).dropped("a"), "action: nothing was selected yet"),
    (
        lambda: Insured(
            inside={"kind": "lin-ucb"}, noise_scale=1.0, theta_norm_bound=1.0
        ).select(ARMS),
        "actions: .*inside.kind: lin-ucb",
    ),
    (lambda: Code(radius={"kind": "two-point"}).select(ARMS), "outcomes: missing: .*yes/no"),
    (lambda: Code(outcomes="counts").update(ARMS[0], 1.0), "reward: .*pass .*successes=21, of=100"),
    (
        lambda: Code(outcomes="counts").update(ARMS[0], successes=3, of=2),
        "successes: 3 of 2 outcomes",
    ),
    (
        lambda: Code(outcomes="counts").update(ARMS[0], successes=0, of=0),
        "of: there must be at least one",
    ),
    (
        lambda: Code(outcomes="counts").update(ARMS[0], successes=-1, of=2),
        "successes: must be from 0 to 1000000, got -1",
    ),
    (
        lambda: Code(outcomes="counts").update(ARMS[0], successes=1, of=10**7),
        "of: must be from 0 .*in parts",
    ),
    (
        lambda: Code(outcomes="yes/no").update(ARMS[0], successes=1, of=2),
        'successes: .*make it with outcomes="counts"',
    ),
    (
        lambda: UCB1(noise_scale=1.0).update(ARMS[0], successes=1, of=2),
        "successes: this policy takes single rewards",
    ),
    (
        lambda: Code(outcomes="counts").partial_fit([0], [1.0], offers=ARMS),
        r"rewards\[0\]: outcomes are counts; pass .*\(21, 100\)",
    ),
    (
        lambda: Code(outcomes="counts").partial_fit([0, 1], [(1, 2), (3, 2)], offers=ARMS),
        r"rewards\[1\]: 3 of 2",
    ),
    (lambda: Code(outcomes="yes/no").update(ARMS[0], 0.5), "reward: outcomes are yes or no"),
    (lambda: Code(outcomes=(0, 10)).update(ARMS[0], 10.5), "reward: outcomes are from 0 to 10"),
    (lambda: Thompson(outcomes=(0, 10)).update(ARMS[0], -1), "reward: outcomes are from 0 to 10"),
    (
        lambda: Code(outcomes=(0, 10)).partial_fit([0, 1], [1, 11], offers=ARMS),
        r"rewards\[1\]: outcomes are from 0 to 10",
    ),
    (lambda: Code(noise="bell").select(OFFERS), "theta_norm_bound: missing: .*same_actions=True"),
    (
        lambda: Code(noise="bell", same_actions=True).update(OFFERS[0], 1.0),
        "action: the bell-curve set takes its coordinates",
    ),
    (
        lambda: Code(noise="bell").update(
            UCB1(noise_scale=1.0).select(ActionSet.arms(["a", "b"])), 1.0
        ),
        "action: .*has not seen it yet",
    ),
    (lambda: LinTS(noise_scale=1.0).compare(0, 1, OFFERS), "radius.theta_norm_bound: missing"),
    (lambda: Code(outcomes=(0, 1)).compare(0, 0, ARMS), "b: the same action as a"),
    (
        lambda: LinTS(noise_scale=1.0).explain(
            OFFERS, radius={"kind": "forecast", "theta_norm_bound": 1.0}
        ),
        "radius.kind: forecast needs forecasts",
    ),
    (clicks_then(lambda made: made.select(ARMS)), "actions: plain arms .*model: logistic is a"),
    (
        clicks_then(lambda made: made.explain(OFFERS, radius=1.0)),
        "radius.kind: fixed does not go with the model",
    ),
    (
        clicks_then(lambda made: made.compare(0, 1, OFFERS, radius={"kind": "logistic"})),
        "radius.kind: logistic does not go with the model",
    ),
    (
        lambda: Code(outcomes="yes/no", theta_norm_bound=1.0).explain(
            OFFERS, radius={"kind": "logistic"}
        ),
        "radius.kind: logistic is the set of another model",
    ),
    (clicks_then(lambda made: made.update(OFFERS[0], 0.5)), "reward: outcomes are yes or no"),
    (
        lambda: clicks(outcomes=(0, 1))().update(OFFERS[0], 1e-9),
        "reward: must be 0, 1, or more than 2.-25 of the way",
    ),
    (
        lambda: clicks(target={"accuracy": 0.1, "by_round": 50})().select(OFFERS),
        "deadline",
    ),
    (lambda: counts().update(OFFERS[0], 0.3), "reward: counts must be multiples"),
    (lambda: counts().update(OFFERS[0], -1), "reward: this policy takes rewards from 0 to 1024"),
    (lambda: counts().update(OFFERS[0], 1025), "reward: this policy takes rewards from 0 to 1024"),
    (
        lambda: counts().partial_fit([0, 1], [1.0, 0.1], offers=OFFERS),
        r"rewards\[1\]: counts must be multiples",
    ),
    (
        lambda: Code(noise="bell").explain(ARMS, radius=1.0),
        "radius.kind: fixed does not go with the model",
    ),
]


@pytest.mark.parametrize(("call", "message"), UNFIT, ids=range(len(UNFIT)))
def test_unfit(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


BOUNDED: list[Callable[[], Policy]] = [
    BetaThompson,
    lambda: Insured(inside={"kind": "beta-thompson"}, noise_scale=0.5),
]


@pytest.mark.parametrize("make", BOUNDED, ids=range(len(BOUNDED)))
def test_rewards_that_a_policy_does_not_take(make: Callable[[], Policy]) -> None:
    refused = "this policy takes rewards from 0 to 1, got"
    fresh = make()
    with pytest.raises(ValueError, match=f"^reward: {refused} -0.5$"):
        fresh.update(ARMS[0], -0.5)
    assert fresh.select(ActionSet.arms(5)) in range(5), "it is not bound to the arms refused"
    policy, twin = make(), make()
    for one in (policy, twin):
        one.update(one.select(ARMS), 0.5)
        one.select(ARMS)
    with pytest.raises(ValueError, match=f"^reward: {refused} 2.5$"):
        policy.update(0, 2.5)
    with pytest.raises(ValueError, match=rf"^rewards\[1\]: {refused} 2.5$"):
        policy.partial_fit([0, 1], [1.0, 2.5], offers=ARMS)
    assert policy.observations == 1
    assert repr(policy.explain(ARMS, radius=1.0)) == repr(twin.explain(ARMS, radius=1.0))
    assert [policy.select(ARMS) for _ in range(9)] == [twin.select(ARMS) for _ in range(9)]


def test_features_after_plain_arms() -> None:
    policy = Code(noise_scale=1.0, theta_norm_bound=1.0)
    policy.select(ARMS)
    with pytest.raises(ValueError, match="began with no features and is offered 2$"):
        policy.select(OFFERS)


@pytest.mark.parametrize("make", [lambda: UCB1(noise_scale=1.0), lambda: Elimination()])
def test_other_numbers_of_actions(make: Callable[[], Policy]) -> None:
    policy = make()
    policy.select(ActionSet(np.eye(3)))
    fewer = ActionSet(np.eye(3)[:2])
    with pytest.raises(
        ValueError, match="actions: the policy began with 3 actions and is offered 2"
    ):
        policy.select(fewer)


SPECS: list[tuple[Any, type[Exception], str]] = [
    (None, TypeError, "spec: expected a dict"),
    (5, TypeError, "spec: expected a dict"),
    ([GOOD], TypeError, "spec: expected a dict"),
    ("no-such-file.toml", FileNotFoundError, "no-such-file"),
    ({}, ValueError, "environment: missing"),
    ("runs = \n", ValueError, "line 1"),
    ("\n", ValueError, "environment: missing"),
    (CYCLE, (ValueError, TypeError), "environment"),
    ({**GOOD, 5: 6}, TypeError, "names in a spec are text"),
    ({**GOOD, "runs": 0}, ValueError, "runs: 0 is out of range"),
    ({**GOOD, "runs": 1.0}, TypeError, "runs: expected a whole number"),
    ({**GOOD, "runs": 10**30}, (ValueError, TypeError), "runs: "),
    ({**GOOD, "runs": "many"}, TypeError, "runs: expected a whole number"),
    ({**GOOD, "horizon": -5}, ValueError, "horizon: -5 is out of range"),
    ({**GOOD, "horizn": 5}, ValueError, "horizn: unknown field .did you mean horizon"),
    ({**GOOD, "policy": []}, ValueError, "policy: missing"),
    ({**GOOD, "policy": {"kind": "code"}}, TypeError, "policy: expected a list"),
    ({**GOOD, "policy": [5]}, TypeError, r"policy\[1\]: expected a table"),
    ({**GOOD, "policy": [{"kind": "code"}] * 2}, ValueError, "already the label"),
    (
        {**GOOD, "policy": [{"kind": "ucb1", "ridge": 2}]},
        ValueError,
        r"policy\[1\].ridge: unknown field",
    ),
    ({**GOOD, "environment": {"kind": "wine"}}, ValueError, "environment.kind: "),
    (
        {**GOOD, "environment": {"kind": "linear", "dim": 1024, "actions": 10**6}},
        ValueError,
        "environment.actions",
    ),
    ({**GOOD, "environment": [1]}, TypeError, "environment: expected a table"),
    ({**GOOD, "environment": object()}, TypeError, "environment: expected a table"),
    ({**GOOD, "name": "a\0b"}, TypeError, "name: expected text"),
    (
        {
            **GOOD,
            "environment": {"kind": "linear", "dim": 1, "actions": 3},
            "policy": [{"kind": "code", "radius": {"kind": "paper"}}],
        },
        ValueError,
        "cannot be built",
    ),
]


@pytest.mark.parametrize(("spec", "error", "message"), SPECS, ids=range(len(SPECS)))
def test_specs(spec: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        simulate(spec)


@pytest.mark.parametrize("name", ["runs", "seed", "threads"])
@pytest.mark.parametrize(
    ("value", "error"),
    [
        (-1, ValueError),
        (2**63, ValueError),
        (1.5, TypeError),
        ("2", TypeError),
        (True, TypeError),
        ([1], TypeError),
    ],
)
def test_counts(name: str, value: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=name):
        simulate(GOOD, **{name: value})


@pytest.mark.parametrize(
    ("name", "value"), [("threads", 0), ("threads", 10**6), ("runs", 0), ("runs", 10**10)]
)
def test_counts_out_of_range(name: str, value: int) -> None:
    with pytest.raises(ValueError, match=name):
        simulate(GOOD, **{name: value})  # type: ignore[arg-type]


def test_extreme_numbers_that_are_allowed_do_no_harm() -> None:
    """Features, rewards and ridges at the ends of their ranges.

    They give answers or exceptions, and the policy can still explain itself.
    """
    rng = np.random.default_rng(3)
    classes: list[Callable[..., Policy]] = [
        lambda ridge: Code(ridge=ridge, noise_scale=1.0, theta_norm_bound=1.0),
        lambda ridge: Code(ridge=ridge, radius=1e50, randomise=0.5),
        lambda ridge: LinUCB(ridge=ridge, radius=1e-50),
        lambda ridge: LinTS(ridge=ridge, noise_scale=1e50),
        lambda ridge: Elimination(ridge=ridge, delta=1e-300),
        lambda ridge: EpsilonGreedy(ridge=ridge, horizon=10**12, exploration="design"),
        lambda ridge: ExploreThenCommit(ridge=ridge, horizon=100),
    ]
    for make in classes:
        for ridge in (1e-100, 1.0, 1e100):
            for scale in (1e-320, 1e-100, 1e100):
                policy = make(ridge)
                offers = ActionSet(
                    np.vstack([rng.uniform(-scale, scale, (6, 3)), np.zeros((1, 3)), np.eye(3)])
                )
                for _ in range(30):
                    policy.update(
                        policy.select(offers), float(rng.choice([-1e100, 0.0, 1e-320, 1e100]))
                    )
                policy.explain(offers, radius=1.0)


def test_there_are_enough_of_them() -> None:
    assert 3 * len(ROWS) + len(MADE) + len(USED) + len(UNFIT) + len(SPECS) + CALLS >= 500
    assert plausibly.__version__
