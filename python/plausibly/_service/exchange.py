"""One call of the service with its retries, without a network and without waiting.

`exchange` says what to do next, and is told how it went: a client with threads and one without
carry out the same steps.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Generic, TypeVar, Union

from .._log import _number, _whole
from .answers import Hide, Reply, ServiceError, cleaned, problem_of

T = TypeVar("T")
MIB = 1 << 20
_FIRST_WAIT = 0.05
_LONGEST_WAIT = 5.0
_REFUSED = (429, 503)
"""Statuses of requests that the service did not carry out for the moment."""
_PERHAPS = (408, 502, 504)
"""Statuses of servers before the service, which do not know what the service did."""


@dataclass(frozen=True)
class Request(Generic[T]):
    """A request, and how its answer is read."""

    method: str
    path: str
    """What follows `/v1` in the address."""
    read: Callable[[Reply], T]
    body: bytes | None = None
    key: str | None = None
    """The Idempotency-Key."""
    repeatable: bool = True
    """Whether carrying it out twice is the same as once."""
    most: int = 64 * MIB
    """Bytes of an answer."""


@dataclass(frozen=True)
class Patience:
    """How long a call may take, and what it does meanwhile."""

    timeout: float
    """Seconds for a call, with all its retries."""
    retries: int
    clock: Callable[[], float] = time.monotonic
    draw: Callable[[], float] = random.random

    @classmethod
    def of(cls, timeout: object, retries: object) -> Patience:
        """Checks what a client is given."""
        seconds = _number("timeout", timeout)
        if not 0 < seconds <= threading.TIMEOUT_MAX:
            raise ValueError(f"timeout: expected seconds above 0, found {seconds:g}")
        return cls(seconds, _whole("retries", retries))


@dataclass(frozen=True)
class Send:
    """Send the request, and wait for its answer until the deadline."""

    deadline: float


@dataclass(frozen=True)
class Pause:
    """Wait."""

    seconds: float


@dataclass
class Unanswered(Exception):
    """A request to which no answer arrived."""

    cause: Exception = field(repr=False)
    timed_out: bool = False
    sent: bool = True
    """Whether the service may have seen some of it."""
    stale: bool = False
    """Whether the connection had been idle, so that the server may have closed it before."""


Step = Union[Send, Pause]
Told = Union[Reply, Unanswered, None]


def exchange(
    request: Request[T], patience: Patience, hide: Hide, where: str
) -> Generator[Step, Told, T]:
    """Yields what to do next: after `Send`, it is told the reply or why there is none."""
    deadline = patience.clock() + patience.timeout
    tries, free = 0, request.repeatable
    while True:
        now = patience.clock()
        # While there are retries, a try has half of the time: the others need the rest.
        more = request.repeatable and tries < patience.retries
        told = yield Send(now + (deadline - now) / (2 if more else 1))
        if isinstance(told, Unanswered) and told.stale and free:
            free = False
            continue
        tries += 1
        if isinstance(told, Reply):
            if 200 <= told.status < 300:
                return request.read(told)
            error: ServiceError = problem_of(told, hide)
        else:
            assert told is not None, "a send is answered"
            error = _unanswered(told, patience, hide, where, tries)
        if tries > patience.retries or not _can_repeat(request, told):
            raise error
        wait = _wait(tries, error.retry_after, patience)
        if patience.clock() + wait >= deadline:
            raise error
        yield Pause(wait)


def _can_repeat(request: Request[T], told: Reply | Unanswered) -> bool:
    if isinstance(told, Unanswered):
        return request.repeatable or not told.sent
    return told.status in _REFUSED or request.repeatable and told.status in _PERHAPS


def _wait(tries: int, retry_after: int | None, patience: Patience) -> float:
    """Seconds until the next try: doubled each time, and drawn, so that clients spread out."""
    longest = min(_LONGEST_WAIT, _FIRST_WAIT * 2.0 ** min(tries - 1, 20))
    return (retry_after or 0) + longest * (0.5 + 0.5 * patience.draw())


def _unanswered(
    told: Unanswered, patience: Patience, hide: Hide, where: str, tries: int
) -> ServiceError:
    # Without its traceback: the frames of HTTP libraries hold the headers, so also the key.
    cause = told.cause.with_traceback(None)
    cause.__cause__ = cause.__context__ = None
    count = f"{tries} tries" if tries > 1 else "1 try"
    words = str(cause) or type(cause).__name__
    if told.timed_out:
        code, what = "timed_out", f"no answer from {where} within {patience.timeout:g} s"
    else:
        code, what = "unreachable", f"no answer from {where}: {cleaned(words, hide)}"
    error = ServiceError(None, code, f"{what} ({count})")
    if hide(words) == words:
        error.__cause__ = cause
    return error
