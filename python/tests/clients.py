"""Both clients of the decision service behind one face, and what tests of them share."""

from __future__ import annotations

import asyncio
import inspect
import json
import socket
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from standin import DECISION, Server, Step, answer, cut, hang, problem, raw, then_close

from plausibly import AsyncClient, Client

CANARY = "plk_" + "c0ffee" * 10 + "abcd"
GOOD = answer(DECISION, 201)
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


BASE = "/v1/experiments/wines"
ROWS = [{"name": "mug", "price": 4.5}, {"name": "bowl", "price": None}]
SENT_ROWS = [{"name": "mug", "price": "4.5"}, {"name": "bowl", "price": ""}]
PASSING: dict[str, Step] = {
    "cut": cut,
    "hang": hang,
    "half an answer": then_close(raw(HEAD + b'Content-Length: 99\r\n\r\n{"decision"')),
    "half a chunk": raw(HEAD + b"Transfer-Encoding: chunked\r\n\r\n99\r\n{"),
    "not HTTP": raw(b"220 mail\r\n"),
    "408": problem(408, "too_slow"),
    "429": problem(429, "too_fast"),
    "502": answer(b"<html>", 502),
    "503": problem(503, "busy"),
    "504": answer(b"<html>", 504),
}


WRONG: dict[str, Step] = {
    "empty": answer(b""),
    "not JSON": answer(b"<html>"),
    "a list": answer([1]),
    "not UTF-8": answer(b'{"decision": "\xff"}'),
    "deep": answer(b"[" * 100_000),
    "NaN": answer(json.dumps({**DECISION, "propensity": float("nan")}).encode()),
    "no action": answer({**DECISION, "action": None}),
    "an action in a list": answer({**DECISION, "action": ["mug"]}),
    "a number as text": answer({**DECISION, "decision": "7"}),
    "a number as truth": answer({**DECISION, "decision": True}),
    "a number below 0": answer({**DECISION, "decision": -1}),
    "a number without end": answer(b'{"decision": 1' + b"0" * 5000 + b"}"),
    "a propensity of text": answer({**DECISION, "propensity": "1"}),
    "a propensity too large": answer(json.dumps({**DECISION, "propensity": 10**400}).encode()),
    "repeated as text": answer({**DECISION, "repeated": "no"}),
}


class Waiting:
    """An AsyncClient whose calls are awaited here, so that one test is for both clients."""

    def __init__(self, loop: asyncio.AbstractEventLoop, held: Any) -> None:
        self.__dict__.update(loop=loop, held=held)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.held, name)
        if not inspect.isroutine(found):
            return found

        def call(*args: Any, **more: Any) -> Any:
            made = found(*args, **more)
            if inspect.isasyncgen(made):
                return iter(self.loop.run_until_complete(listed(made)))
            if inspect.iscoroutine(made):
                return self.loop.run_until_complete(made)
            return Waiting(self.loop, made)

        return call

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.held, name, value)

    def __repr__(self) -> str:
        return repr(self.held)


async def listed(lines: Any) -> list[Any]:
    return [line async for line in lines]


Connect = Callable[..., Any]


@pytest.fixture(params=["threads", "loop"])
def connect(request: pytest.FixtureRequest) -> Iterator[Connect]:
    """Makes a client of either kind."""
    made: list[Any] = []
    loop = asyncio.new_event_loop()

    def begin(base: str | Server, **more: Any) -> Any:
        base = base if isinstance(base, str) else base.base
        if request.param == "threads":
            made.append(Client(base, **more))
        else:
            pytest.importorskip("httpx")
            made.append(Waiting(loop, AsyncClient(base, **more)))
        return made[-1]

    yield begin
    for client in made:
        client.close()
    loop.run_until_complete(loop.shutdown_asyncgens())  # as `asyncio.run` does
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()


class Time:
    """A clock and waits that take no time."""

    def __init__(self, client: Any, draw: float = 0.0) -> None:
        self.now, self.waits = 0.0, list[float]()
        client._patience = replace(client._patience, clock=lambda: self.now, draw=lambda: draw)
        client._sleep = self.wait_there if isinstance(client, Waiting) else self.wait

    def wait(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds

    async def wait_there(self, seconds: float) -> None:
        self.wait(seconds)


def refused_port() -> str:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{held.getsockname()[1]}"
