"""Wrong calls of the clients of the decision service; and their keys are not seen anywhere."""

from __future__ import annotations

import logging
import traceback
from http.client import HTTPConnection
from typing import Any

import pytest
from clients import CANARY, Connect, GOOD, PASSING, ROWS, WRONG, connect, refused_port
from standin import Step, problem, raw, serving

from plausibly import AsyncClient, Client, ServiceError


class Refuses:
    """Has every conversion, and refuses all of them."""

    def refuse(self, *_: object) -> Any:
        raise OSError("refused")

    __index__ = __float__ = __iter__ = __len__ = __fspath__ = __str__ = isoformat = refuse


# Wrong calls of `decide`, and what is wrong with them.
MISTAKES: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"context": [1]}, TypeError, "context: expected a dict"),
    ({"context": {1: 2}}, TypeError, "context: keys are text"),
    ({"context": {"a": {}}}, TypeError, "a cell is text"),
    ({"context": {"a": Refuses()}}, OSError, "refused"),
    ({"context": {"a": "\ud800"}}, ValueError, "cannot be sent"),
    ({"offer": "mug"}, TypeError, "offer: expected a list"),
    ({"offer": [1]}, TypeError, "offer: expected text"),
    ({"offer": 5}, TypeError, "offer: expected a list"),
    ({"offer": ["a"], "rows": ROWS}, TypeError, "give either offer"),
    ({"rows": 5}, TypeError, "actions: "),
    ({"rows": [{"name": []}]}, TypeError, "a cell is text"),
    ({"key": ""}, ValueError, "key: "),
    ({"key": "a\r\nb: c"}, ValueError, "key: "),
    ({"key": "é"}, ValueError, "key: "),
    ({"key": "x" * 201}, ValueError, "key: "),
    ({"key": 5}, TypeError, "key: expected text"),
    ({"certificate": "inline"}, TypeError, "certificate: expected True or False"),
]


@pytest.mark.parametrize("place", range(len(MISTAKES)))
def test_wrong_calls_raise_or_give_the_default(
    connect: Connect, place: int, caplog: pytest.LogCaptureFixture
) -> None:
    wrong, kind, words = MISTAKES[place]
    with serving(GOOD) as server:
        experiment = connect(server).experiment("wines")
        with pytest.raises(kind, match=words):
            experiment.decide(**wrong)
        assert experiment.decide(**wrong, default="mug").is_default
    assert server.asked == []
    assert [record.levelno for record in caplog.records] == [logging.ERROR]


def test_an_error_without_words_gives_the_default(connect: Connect) -> None:
    class Wordless(Exception):
        def __str__(self) -> str:
            raise OSError("no words")

    class Raises(Refuses):
        def isoformat(self) -> str:
            raise Wordless

        __str__ = isoformat

    experiment = connect(refused_port()).experiment("wines")
    with pytest.raises(Wordless):
        experiment.decide({"a": Raises()})
    assert experiment.decide({"a": Raises()}, default="mug").is_default


def test_wrong_calls_of_other_methods(connect: Connect) -> None:
    client = connect(refused_port())
    experiment = client.experiment("wines")
    for act, kind, words in [
        (lambda: client.experiment("a/b"), ValueError, "name: 'a/b'"),
        (lambda: client.experiment(".a"), ValueError, "name: "),
        (lambda: client.experiment("wines\n"), ValueError, "name: "),
        (lambda: client.experiment(5), TypeError, "name: expected text"),
        (lambda: client.create("a/b", ROWS), ValueError, "name: "),
        (lambda: client.create("a", ROWS, default=0.0), ValueError, "default: .* needs a window"),
        (lambda: client.create("a", ROWS, window=0), ValueError, "window: "),
        (lambda: client.create("a", ROWS, window=0.5), ValueError, "window: expected whole"),
        (lambda: client.create("a", ROWS, window=float("inf")), ValueError, "window: "),
        (lambda: client.create("a", ROWS, outcomes="often"), ValueError, "outcomes: "),
        (lambda: client.create("a", ROWS, reward_range=(1, 0)), ValueError, "reward_range: "),
        (lambda: client.create("a", ROWS, seed=0.5), TypeError, "seed: expected a whole number"),
        (lambda: client.create("a", ROWS, label=5), TypeError, "label: expected text"),
        (lambda: client.create("a", ROWS, check=1), TypeError, "check: expected True or False"),
        (lambda: client.create("a", [[1.0, 2.0]]), TypeError, "theta_norm_bound"),
        (lambda: experiment.reward("1", 0.5), TypeError, "decision: expected a whole number"),
        (lambda: experiment.reward(1), TypeError, "value: expected a number"),
        (lambda: experiment.reward(1, 1.0, of=2), TypeError, "either a value, or both"),
        (lambda: experiment.reward(1, float("nan")), ValueError, "JSON"),
        (lambda: experiment.drop(1, undo="yes"), TypeError, "undo: expected True or False"),
        (lambda: experiment.rewards([]), ValueError, "a request takes 1 to 1000"),
        (lambda: experiment.rewards([1]), TypeError, r"rewards\[0\]: expected a dict"),
        (lambda: experiment.rewards([{"decision": 1, "valu": 1}]), TypeError, "value"),
        (lambda: experiment.rewards([{"decision": 1, "drop": True, "value": 1}]), TypeError,
         "together with drop: value"),
        (lambda: experiment.decide_many([{}] * 101), ValueError, "takes 1 to 100, and these are"),
        (lambda: experiment.decide_many([{"contxt": {}}]), TypeError, r"requests\[0\]"),
        (lambda: experiment.decide_many({}), TypeError, "requests: expected a list"),
        (lambda: experiment.compare("a", 1), TypeError, "action: expected text"),
        (lambda: list(experiment.log("1")), TypeError, "from_: expected a whole number"),
    ]:  # fmt: skip
        with pytest.raises(kind, match=words):
            act()
    assert len(experiment.decide_many([{}] * 101, default="mug")) == 101


@pytest.mark.parametrize(
    ("base", "words"),
    [
        (5, "expected an address"),
        ("127.0.0.1:8017", "expected an address such as"),
        ("ftp://127.0.0.1", "expected an address such as"),
        ("http://", "expected an address such as"),
        ("http://127.0.0.1:port", "not an address"),
        ("http://127.0.0.1:8017?x=1", "without spaces"),
        ("http://127.0.0.1:8017/a b", "without spaces"),
        (f"http://user:{CANARY}@127.0.0.1", "pass it as key"),
    ],
)
def test_addresses_that_are_none(base: Any, words: str) -> None:
    for kind in (Client, AsyncClient):
        with pytest.raises((TypeError, ValueError), match=words) as caught:
            kind(base)
        assert CANARY not in str(caught.value)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"key": CANARY + "\r\nX: y"}, "key: expected plk_"),
        ({"key": CANARY + " "}, "key: expected plk_"),
        ({"key": CANARY.encode()}, "key: expected text"),
        ({"timeout": 0}, "timeout: expected seconds above 0"),
        ({"timeout": float("nan")}, "timeout: expected seconds above 0"),
        ({"timeout": "2"}, "timeout: expected a number"),
        ({"timeout": None}, "timeout: expected a number"),
        ({"retries": -1}, "retries: -1 is out of range"),
        ({"retries": 1.5}, "retries: expected a whole number"),
        ({"cafile": "ca.pem"}, "does not use TLS"),
        ({"cafile": 5}, "cafile: expected a path"),
    ],
)
def test_settings_that_cannot_be(more: dict[str, Any], words: str) -> None:
    for kind in (Client, AsyncClient):
        with pytest.raises((TypeError, ValueError), match=words) as caught:
            kind(**more)
        assert CANARY not in str(caught.value)


# The key is not seen.


def echo(handler: Any) -> None:
    """Says the key in every place of a problem."""
    said = handler.server.asked[-1].headers["authorization"]
    body = problem(500, "internal", said, pointer=f"/{said}", stored={"a": [said]})
    body(handler)


def echo_line(handler: Any) -> None:
    """Says the key where the status should be."""
    said = handler.server.asked[-1].headers["authorization"]
    raw(f"HTTP/1.1 {said}\r\n\r\n".encode())(handler)


KEYED: dict[str, Step] = {**PASSING, **WRONG, "echo": echo, "echo line": echo_line}


@pytest.mark.parametrize("kind", [*KEYED, "refused"])
def test_the_key_is_in_no_error_and_in_no_log(
    connect: Connect,
    kind: str,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(HTTPConnection, "debuglevel", 1)
    monkeypatch.setenv("PLAUSIBLY_KEY", CANARY)
    caplog.set_level(logging.DEBUG)
    with serving(KEYED.get(kind, GOOD)) as server:
        client = connect(refused_port() if kind == "refused" else server.base, timeout=0.3)
        experiment = client.experiment("wines")
        experiment.decide(default="mug")
        with pytest.raises(ServiceError) as caught:
            experiment.decide()
    assert all(a.headers["authorization"] == f"Bearer {CANARY}" for a in server.asked)
    error = caught.value
    told = traceback.TracebackException.from_exception(error, capture_locals=True)
    seen = ["".join(told.format()), repr(error), str(error.args), repr(vars(error))]
    seen += [repr(client), repr(experiment), repr(client._secret), *capfd.readouterr()]
    seen += [
        record.getMessage() + str(record.args)
        for record in caplog.records
        # What a server says is written down by httpx if its own log is switched on.
        if not (kind == "echo line" and record.name.startswith("httpcore"))
    ]
    for text in seen:
        assert CANARY not in text
    assert "request" not in dir(error.__cause__)  # errors of httpx have it, with its headers
    assert any(record.name == "plausibly.client" for record in caplog.records)


def test_a_key_of_the_call_comes_before_that_of_the_environment(
    connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLAUSIBLY_KEY", CANARY)
    with serving(GOOD) as server:
        connect(server, key="plk_other").experiment("wines").decide()
        monkeypatch.setenv("PLAUSIBLY_KEY", "")
        connect(server).experiment("wines").decide()
    assert server.asked[0].headers["authorization"] == "Bearer plk_other"
    assert "authorization" not in server.asked[1].headers
