"""Wrong calls on batches, files of policies, logs and certificates."""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from plausibly import ActionSet, Code, Log, Policy, explain_certificate, verify

Call = tuple[Callable[[Any], object], Any, str]
OFFERS = ActionSet([[1.0, 0.0], [0.0, 1.0]], labels=["a", "b"])
ROWS: list[dict[str, Any]] = [
    {"name": "mug", "price": 4, "new": True},
    {"name": "bowl", "price": 8, "new": False},
]


class Refuses:
    """Has every conversion, and refuses all of them."""

    def refuse(self, *_: object) -> Any:
        raise OSError("refused")

    __index__ = __float__ = __iter__ = __len__ = __hash__ = __fspath__ = __str__ = isoformat = (
        refuse
    )

    def __repr__(self) -> str:
        return "Refuses()"


class Endless(list[Any]):
    """Claims to have two entries, and never ends."""

    def __len__(self) -> int:
        return 2

    def __iter__(self) -> Any:
        return count()


def fit(actions: Any, rewards: Any, **more: Any) -> Callable[[Code], object]:
    return lambda policy: policy.partial_fit(actions, rewards, **more)


BATCHES: list[Call] = [
    (fit(["a"], [1.0, 2.0]), ValueError, "rewards: 1 actions were taken, and there are 2 rewards"),
    (fit(["a", "b"], [1.0]), ValueError, "rewards: 2 actions were taken, and there are 1 rewards"),
    (fit([], [1.0]), ValueError, "rewards: 0 actions"),
    (fit("ab", [1.0, 2.0]), TypeError, "actions: expected a list, found str"),
    (fit(b"ab", [1.0, 2.0]), TypeError, "actions: expected a list, found bytes"),
    (fit({"a": 1}, [1.0]), TypeError, "actions: expected a list, found dict"),
    (fit({"a"}, [1.0]), TypeError, "actions: expected a list, found set"),
    (fit(OFFERS, [1.0, 2.0]), TypeError, "actions: expected a list, found ActionSet"),
    (fit(None, [1.0]), TypeError, "actions: expected a list, found NoneType"),
    (fit(5, [1.0]), TypeError, "actions: expected a list, found int"),
    (fit(iter(["a"]), [1.0]), TypeError, "actions: expected a list"),
    (fit(count(), count()), TypeError, "actions: expected a list"),
    (fit(Refuses(), [1.0]), TypeError, "actions: expected a list"),
    (fit(Endless(), [1.0, 2.0]), KeyError, r"actions\[0\]: 0 is not a label"),
    (fit(["a", "c"], [1.0, 2.0]), KeyError, r"actions\[1\]: 'c' is not a label"),
    (fit(["a", 0], [1.0, 2.0]), KeyError, r"actions\[1\]: 0 is not a label"),
    (fit(["a", []], [1.0, 2.0]), TypeError, "unhashable"),
    (fit(["a", Refuses()], [1.0, 2.0]), OSError, "refused"),
    (fit(np.array([["a"], ["b"]]), [1.0, 2.0]), TypeError, "unhashable"),
    (fit(["a", "b"], None), TypeError, "rewards: expected a list"),
    (fit(["a", "b"], 1.0), TypeError, "rewards: expected a list"),
    (fit(["a", "b"], "12"), TypeError, "rewards: expected a list, found str"),
    (fit(["a", "b"], {1.0, 2.0}), TypeError, "rewards: expected a list, found set"),
    (fit(["a", "b"], [1.0, "2"]), TypeError, r"rewards\[1\]: expected a number, found str"),
    (fit(["a", "b"], [1.0, None]), TypeError, r"rewards\[1\]: expected a number"),
    (fit(["a", "b"], [1.0, float("nan")]), ValueError, r"rewards\[1\]: must be finite"),
    (fit(["a", "b"], [float("inf"), 1.0]), ValueError, r"rewards\[0\]: must be finite"),
    (fit(["a", "b"], [1.0, 1e101]), ValueError, r"rewards\[1\]: must be finite"),
    (fit(["a", "b"], [1.0, 10**400]), ValueError, r"rewards\[1\]: too large"),
    (fit(["a", "b"], np.ones((2, 2))), TypeError, r"rewards\[0\]: expected a number"),
    (fit(["a", "b"], np.array([1, 1j])), TypeError, r"rewards\[0\]: expected a number"),
    (fit(["a", ActionSet.arms(2)[0]], [1.0, 2.0]), ValueError, "actions: .*offered none"),
    (fit(["a", ActionSet([[1.0]])[0]], [1.0, 2.0]), ValueError, "actions: .*offered 1"),
    (fit([0], [1.0], offers=[[1.0, 0.0]]), TypeError, "offers: expected an ActionSet, found list"),
    (fit([0], [1.0], offers=5), TypeError, "offers: expected an ActionSet, found int"),
    (fit([0], [1.0], offers=ActionSet([[1.0]])), ValueError, "actions: .*offered 1"),
    (
        fit([2], [1.0], offers=ActionSet([[1.0, 0.0]])),
        IndexError,
        r"actions\[0\]: 2 is not from 0 to 0",
    ),
    (
        fit([True], [1.0], offers=ActionSet([[1.0, 0.0]])),
        TypeError,
        r"actions\[0\]: expected an index",
    ),
    (lambda policy: policy.partial_fit(["a"]), TypeError, "rewards"),
    (lambda policy: policy.partial_fit(["a"], [1.0], OFFERS), TypeError, "positional"),
]


@pytest.mark.parametrize(("call", "error", "message"), BATCHES, ids=range(len(BATCHES)))
def test_batches(call: Callable[[Code], object], error: Any, message: str) -> None:
    policy = Code(noise_scale=1.0, theta_norm_bound=1.0)
    policy.update(policy.select(OFFERS), 0.5)
    before = policy._save()[0]
    with pytest.raises(error, match=message):
        call(policy)
    assert policy._save()[0] == before


FILES: list[Call] = [
    *[
        (lambda folder, path=path, call=call: call(path), TypeError, "path: expected a path, found")
        for path in (None, 5, 1.5, b"policy.json", [], {}, object())
        for call in (Code(radius=1.0).save, Policy.load, Code.load)
    ],
    (lambda folder: Code(radius=1.0).save(Refuses()), OSError, "refused"),
    (lambda folder: Policy.load(Refuses()), OSError, "refused"),
    (lambda folder: Code(radius=1.0).save(folder), OSError, "."),
    (
        lambda folder: Code(radius=1.0).save(folder / "none" / "policy.json"),
        FileNotFoundError,
        "none",
    ),
    (lambda folder: Code(radius=1.0).save("a\0b"), ValueError, "null"),
    (lambda folder: Policy.load(folder), OSError, "."),
    (lambda folder: Policy.load(folder / "missing.json"), FileNotFoundError, "missing"),
    (lambda folder: Policy.load("a\0b"), ValueError, "null"),
    (lambda folder: Code(radius=1.0)._restore("{", [], []), ValueError, "not a policy's state"),
    (
        lambda folder: Code(radius=1.0)._restore("{}", [], []),
        ValueError,
        "not a policy's state: missing field",
    ),
    (lambda folder: Code(radius=1.0)._restore(5, [], []), TypeError, "text"),
    (lambda folder: Code(radius=1.0)._restore("{}", [5], []), TypeError, "sets"),
]


@pytest.mark.parametrize(("call", "error", "message"), FILES, ids=range(len(FILES)))
def test_files(call: Callable[[Path], object], error: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(error, match=message):
        call(tmp_path)
    assert list(tmp_path.iterdir()) == []


def opened(path: Any = None, **settings: Any) -> Callable[[Path], object]:
    return lambda folder: Log(path, **settings)


LOGS: list[Call] = [
    *[
        (opened(path), TypeError, "path: expected a path or None, found")
        for path in (5, 1.5, b"x.log", [], {}, object())
    ],
    (opened(Refuses()), OSError, "refused"),
    (lambda folder: Log(), TypeError, "path"),
    (lambda folder: Log(None, "code"), TypeError, "positional"),
    (opened(policy=5), TypeError, "policy: expected a kind or a table, found int"),
    (opened(policy=["code"]), TypeError, "policy: expected a kind or a table, found list"),
    (opened(policy=Code(radius=1.0)), TypeError, "policy: expected a kind or a table, found Code"),
    (opened(policy=b"code"), TypeError, "policy: expected a kind or a table, found bytes"),
    (opened(policy="coda"), ValueError, "policy: .*did you mean code"),
    (opened(policy=""), ValueError, "policy: "),
    (opened(policy={}), ValueError, "policy: .*kind: missing"),
    (opened(policy={"kind": "code", "rigde": 1}), ValueError, "policy: .*rigde: unknown field"),
    (opened(policy={"kind": "code", "ridge": 0}), ValueError, "policy: .*ridge: 0 is out of range"),
    (opened(policy={"kind": "code", "ridge": float("nan")}), ValueError, "policy: "),
    (opened(policy={"kind": "code", "ridge": object()}), ValueError, "policy: no table"),
    (opened(policy={"kind": "code", "greed": "much"}), ValueError, "policy: .*greed"),
    (
        opened(policy={"kind": "code", "target": {"accuracy": 1.0, "by_round": 9}}),
        ValueError,
        "policy: a deadline",
    ),
    (opened(policy="epsilon-greedy"), ValueError, "policy: .*horizon"),
    (opened(reward_range=5), TypeError, "reward_range: expected two numbers"),
    (opened(reward_range=(0,)), TypeError, "reward_range: expected two numbers"),
    (opened(reward_range=(0, 1, 2)), TypeError, "reward_range: expected two numbers"),
    (opened(reward_range="01"), TypeError, "reward_range: expected a number, found str"),
    (opened(reward_range=(None, 1)), TypeError, "reward_range: expected a number"),
    (
        opened(reward_range=(1, 0)),
        ValueError,
        "reward_range: must be two numbers with the smaller one first",
    ),
    (opened(reward_range=(1, 1)), ValueError, "reward_range: "),
    (opened(reward_range=(0, float("nan"))), ValueError, "reward_range: "),
    (opened(reward_range=(0, float("inf"))), ValueError, "reward_range: "),
    (opened(reward_range=(-1.7e308, 1.7e308)), ValueError, "reward_range: "),
    (opened(reward_range=(0, 10**400)), ValueError, "reward_range: too large"),
    (opened(reward_range=Refuses()), OSError, "refused"),
    *[
        (opened(**{name: value}), error, f"{name}: ")
        for name in ("horizon", "seed")
        for value, error in (
            (-1, ValueError),
            (2**63, ValueError),
            (1.5, TypeError),
            ("3", TypeError),
            (True, TypeError),
        )
    ],
    (opened(seed=Refuses()), OSError, "refused"),
    (opened(leave_out="price"), TypeError, "leave_out: expected a list of columns, found str"),
    (opened(leave_out=5), TypeError, "leave_out: expected a list of columns"),
    (opened(leave_out=[5]), TypeError, "leave_out: names of columns are text"),
    (opened(leave_out=None), TypeError, "leave_out: "),
    (opened(clock=5), TypeError, "clock: expected a function"),
    (opened(theta_norm_bound="1"), TypeError, "theta_norm_bound: expected a number"),
    (opened(theta_norm_bound=True), TypeError, "theta_norm_bound: expected a number"),
    (opened(usual_rate="3 %"), TypeError, "usual_rate: expected a number"),
    (opened(odds_factor=True), TypeError, "odds_factor: expected a number"),
    (
        lambda folder: Log(None, usual_rate=0.03).decide(ROWS),
        ValueError,
        "usual_rate, odds_factor: usual rates and odds are for outcomes that are yes/no or counts",
    ),
    (
        lambda folder: Log(None, outcomes="yes/no", usual_rate=1).decide(ROWS),
        ValueError,
        "usual_rate, odds_factor: the usual rate must be between 0 and 1",
    ),
    (
        lambda folder: Log(None, outcomes="counts", odds_factor=0.1).decide(ROWS),
        ValueError,
        "usual_rate, odds_factor: the odds factor must be above 1",
    ),
    (opened(horizn=5), TypeError, "horizn"),
    (
        lambda folder: Log(None, clock=lambda: 1.5).decide(ROWS),
        TypeError,
        "clock: expected a whole number",
    ),  # type: ignore[arg-type,return-value]
    (
        lambda folder: Log(None, clock=lambda: -1).decide(ROWS),
        ValueError,
        "clock: -1 is out of range",
    ),
    (
        lambda folder: Log(None, clock=lambda: 2**62).decide(ROWS),
        ValueError,
        "path: .*years 1970 to 9999",
    ),
    (lambda folder: Log(None, clock=lambda: 1 // 0).decide(ROWS), ZeroDivisionError, "."),
    (lambda folder: Log(None, theta_norm_bound=-1.0).decide(ROWS), ValueError, "actions: "),
    (lambda folder: Log(None, theta_norm_bound=float("nan")).decide(ROWS), ValueError, "actions: "),
    (lambda folder: Log(None, leave_out=["colour"]).decide(ROWS), ValueError, "actions: .*colour"),
    (lambda folder: Log(None, policy="thompson").decide(ROWS), ValueError, "policy: "),
    (lambda folder: Log("a\0b.log").decide(ROWS), (OSError, ValueError), "."),
]


@pytest.mark.parametrize(("call", "error", "message"), LOGS, ids=range(len(LOGS)))
def test_logs(call: Callable[[Path], object], error: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(error, match=message):
        call(tmp_path)
    assert list(tmp_path.iterdir()) == []


def table(actions: Any, **more: Any) -> Callable[[Log], object]:
    return lambda log: log.decide(actions, **more)


def mugs(**more: Any) -> list[dict[str, Any]]:
    return [{**ROWS[0], **more}, ROWS[1]]


TABLES: list[Call] = [
    *[
        (table(actions), TypeError, "actions: a log makes its features from a table")
        for actions in (
            None,
            5,
            1.5,
            b"name,price\n",
            bytearray(b"x"),
            {"a": [1]},
            {1, 2},
            object(),
            io.StringIO("a"),
            iter(ROWS),
        )
    ],
    (table("no-such-file.csv"), FileNotFoundError, "no-such-file"),
    (table(Path("/")), OSError, "."),
    (table([]), ValueError, "actions: "),
    (table([{}]), ValueError, r"actions\[0\]: the row is empty"),
    (table([5]), TypeError, r"actions\[0\]: expected a dict of columns, found int"),
    (table([ROWS[0], None]), TypeError, r"actions\[1\]: expected a dict of columns"),
    (table(["mug", "bowl"]), TypeError, r"actions\[0\]: expected a dict of columns, found str"),
    (table([{5: 1}]), TypeError, r"actions\[0\]: names of columns are text, got 5"),
    (table([{"": 1}]), ValueError, r"actions\[0\]: a column needs a name"),
    (table([ROWS[0], {"name": None}]), ValueError, r"actions\[1\]: the row is empty"),
    (table([{"name": "a", "price": 1}, {"name": "a", "price": 2}]), ValueError, "actions: "),
    (table([{"price": 1}]), ValueError, "actions: "),
    (table([{"name": "mug"}]), ValueError, "actions: "),
    (table([{"name": "mug", "price": 1, " price": 2}]), ValueError, "actions: .*price"),
    (table(mugs(price="dear")), ValueError, "actions: .*price"),
    (table(mugs(price=1e30)), ValueError, "actions: .*price"),
    (table(mugs(price=float("inf"))), ValueError, "actions: .*price"),
    (table(mugs(price=[1])), TypeError, r"actions\[0\]\['price'\]: a cell is text"),
    (table(mugs(price={})), TypeError, r"actions\[0\]\['price'\]: a cell is text"),
    (table(mugs(price=1j)), TypeError, r"actions\[0\]\['price'\]: a cell is text"),
    (table(mugs(price=np.ones(2))), TypeError, r"actions\[0\]\['price'\]: a cell is text"),
    (table(mugs(price=object())), TypeError, r"actions\[0\]\['price'\]: a cell is text"),
    (table(mugs(price=Refuses())), OSError, "refused"),
    (table(mugs(name="\ud800")), ValueError, "actions: .*UTF-8"),
    (table(mugs(name=None)), ValueError, "actions: .*name"),
    (table(OFFERS), TypeError, "actions: .*theta_norm_bound"),
    (table([[1.0, 2.0], [3.0, 4.0]]), TypeError, "actions: .*theta_norm_bound"),
    (table(np.eye(2)), TypeError, "actions: .*theta_norm_bound"),
    (table(np.array([["a"]])), TypeError, "actions: expected numbers"),
    (table([[1.0], [1.0, 2.0]]), ValueError, "actions: not a table"),
    (table(ActionSet.arms(2)), ValueError, "actions: "),
    (table(ROWS, context=5), TypeError, "context: expected a dict, found int"),
    (table(ROWS, context="device=mobile"), TypeError, "context: expected a dict, found str"),
    (table(ROWS, context=["device"]), TypeError, "context: expected a dict"),
    (table(ROWS, context={5: "mobile"}), TypeError, "context: keys are text, got 5"),
    (table(ROWS, context={"": "mobile"}), ValueError, "context: .*no key"),
    (table(ROWS, context={"device": []}), TypeError, "context: 'device': a cell is text"),
    (table(ROWS, context={"device": Refuses()}), OSError, "refused"),
    (table(ROWS, context={"d": 1, " d": 2}), ValueError, "context: .*twice"),
    (table(ROWS, most=-1), ValueError, "most: -1 is out of range"),
    (table(ROWS, most=1.5), TypeError, "most: expected a whole number"),
    (table(ROWS, most="all"), TypeError, "most: expected a whole number"),
    (table(ROWS, most=None), TypeError, "most: expected a whole number"),
    (lambda log: log.decide(), TypeError, "actions"),
    (lambda log: log.decide(ROWS, {}), TypeError, "positional"),
]

NUMBERS: list[tuple[Any, Any]] = [
    (0, KeyError),
    (9, KeyError),
    (10**18, KeyError),
    (-1, ValueError),
    (2**63, ValueError),
    (10**400, ValueError),
    (1.0, TypeError),
    ("1", TypeError),
    (True, TypeError),
    (None, TypeError),
    ([1], TypeError),
    (Refuses(), OSError),
]
VALUES: list[tuple[Any, Any, str]] = [
    (1.5, ValueError, "value: a reward must be from 0 to 1, got 1.5"),
    (-0.1, ValueError, "value: a reward must be from 0 to 1"),
    (float("nan"), ValueError, "value: "),
    (float("inf"), ValueError, "value: "),
    (10**400, ValueError, "value: too large"),
    ("0.5", TypeError, "value: expected a number, found str"),
    (None, TypeError, "value: expected a number"),
    (True, TypeError, "value: expected a number, found bool"),
    (1j, TypeError, "value: expected a number"),
    ([0.5], TypeError, "value: expected a number"),
    (np.ones(2), TypeError, "value: expected a number|only"),
    (Refuses(), OSError, "refused"),
]
OUTCOMES: list[Call] = [
    *[
        (
            lambda log, name=name, number=number, more=more: getattr(log, name)(number, *more),
            error,
            "refused|decision: ",
        )
        for name, more in (
            ("reward", [0.5]),
            ("correct", [0.5]),
            ("retract", []),
            ("drop", []),
            ("decision", []),
        )
        for number, error in NUMBERS
    ],
    *[
        (
            lambda log, name=name, number=number, value=value: getattr(log, name)(number, value),
            error,
            message,
        )
        for name, number in (("reward", 2), ("correct", 1))
        for value, error, message in VALUES
    ],
    (lambda log: log.reward(1, 0.9), ValueError, "decision: decision 1 "),
    (lambda log: log.correct(2, 0.9), ValueError, "decision: decision 2 "),
    (lambda log: log.retract(2), ValueError, "decision: decision 2 "),
    (lambda log: log.drop(1), ValueError, "decision: decision 1 "),
    (lambda log: log.drop(1, undo=True), ValueError, "decision: decision 1 .* not dropped"),
    (lambda log: log.drop(1, undo="yes"), TypeError, "undo: expected True or False"),
    (lambda log: log.decide(ROWS, key=7), TypeError, "key: expected text, found int"),
    (lambda log: log.decide(ROWS, key=""), ValueError, "a key has 1 to 256 bytes"),
    (lambda log: log.decide(ROWS, key="k" * 257), ValueError, "this one has 257 bytes"),
    (lambda log: log.decide(ROWS, key="\ud800"), ValueError, "surrogate|utf-8|UTF-8"),
    (lambda log: log.compare("mug", "mug"), ValueError, "name two different actions"),
    (lambda log: log.compare("mug", 5), TypeError, "actions are named by text, found int"),
    (lambda log: log.compare("mug", "none"), ValueError, "not among the actions"),
    (lambda log: log.change_policy("elimination-ish"), ValueError, "policy: "),
    (lambda log: log.change_policy(None), TypeError, "policy: expected a kind or a table"),
    (lambda log: log.change_policy("ucb1"), ValueError, "policy: "),
    (lambda log: log.change_policy("code", horizon=-1), ValueError, "horizon: "),
    (lambda log: setattr(log, "pending", {}), AttributeError, "pending"),
]


def begun() -> Log:
    log = Log(None, seed=1, clock=lambda: 1_794_000_000_000_000)
    log.decide(ROWS)
    log.reward(1, 0.5)
    log.decide(ROWS)
    return log


@pytest.mark.parametrize(
    ("call", "error", "message"), [*TABLES, *OUTCOMES], ids=range(len(TABLES) + len(OUTCOMES))
)
def test_what_a_log_refuses_leaves_it_as_it_was(
    call: Callable[[Log], object], error: Any, message: str
) -> None:
    log, twin = begun(), begun()
    with pytest.raises(error, match=message):
        call(log)
    assert log.status() == twin.status() and log.decide(ROWS) == twin.decide(ROWS)


def changed(**more: Any) -> dict[str, Any]:
    return {**begun().decision(1).certificate(), **more}


CERTIFICATES: list[tuple[Any, Any, str]] = [
    (None, TypeError, "certificate: expected a decision"),
    (5, TypeError, "certificate: expected a decision"),
    (b"{}", TypeError, "certificate: expected a decision"),
    ([], TypeError, "certificate: expected a decision"),
    (object(), TypeError, "certificate: expected a decision"),
    (Refuses(), OSError, "refused"),
    ("{", ValueError, "certificate: not a certificate"),
    ("{}", ValueError, "certificate: not a certificate"),
    ({}, ValueError, "certificate: not a certificate"),
    ({"format": object()}, ValueError, "certificate: not a certificate"),
    ("no-such-file.json", FileNotFoundError, "no-such-file"),
    (Path("/"), OSError, "."),
    ("", (OSError, ValueError), "."),
    (changed(more=1), ValueError, "certificate: not a certificate: unknown field"),
    (changed(version="1"), ValueError, "certificate: not a certificate"),
    (changed(version=1), ValueError, "format|version"),
    (changed(version=3), ValueError, "format|version"),
    (changed(seal="0" * 64), ValueError, "seal"),
    (changed(grounds=None), ValueError, "certificate: not a certificate"),
    (changed(findings={}), ValueError, "certificate: not a certificate"),
    (json.dumps(changed()).replace("mug", "jug"), ValueError, "wrong"),
]


@pytest.mark.parametrize(
    ("certificate", "error", "message"), CERTIFICATES, ids=range(len(CERTIFICATES))
)
def test_certificates(certificate: Any, error: Any, message: str) -> None:
    log = begun()
    for call in (verify, explain_certificate, lambda found: verify(found, log=log)):
        with pytest.raises(error, match=message):
            call(certificate)


@pytest.mark.parametrize("log", [5, b"x", [], object()])
def test_what_is_no_log(log: Any) -> None:
    with pytest.raises(TypeError, match="log: expected a Log or a path, found"):
        verify(begun().decision(1), log=log)


def test_threads_that_close_and_use_a_log_get_answers_or_exceptions() -> None:
    for _ in range(10):
        log, failures = begun(), []
        start = threading.Barrier(3)

        def use() -> None:
            start.wait()
            try:
                for _ in range(5):
                    log.reward(log.decide(ROWS).id, 0.5)
            except ValueError as error:
                if "the log is closed" not in str(error):
                    failures.append(error)
            except BaseException as error:  # the cause is shown below
                failures.append(error)

        def close() -> None:
            start.wait()
            log.close()

        threads = [threading.Thread(target=work) for work in (use, use, close)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []


CALLS = len(BATCHES) + len(FILES) + len(LOGS) + len(TABLES) + len(OUTCOMES) + 3 * len(CERTIFICATES)
