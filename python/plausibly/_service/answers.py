"""What the service answers, checked before anybody relies on it, and what is wrong if it refuses.

An answer can come from something else than the service, for example from a proxy. So every field
that a caller gets has been checked, and no error quotes a body that could not be read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

_LONGEST = 1000
"""Characters of a text in an error."""
_CODE = re.compile(r"[a-z0-9_]{1,64}")
Hide = Callable[[str], str]
"""Replaces the key in a text."""


class ServiceError(Exception):
    """The decision service did not carry out a request, or its answer did not arrive.

    `status` is the HTTP status, or None if no answer arrived. `code` is the word in which the
    service says what is wrong, such as "no_experiment"; its page `/docs` lists them. The client has
    four of its own: "timed_out" and "unreachable" if no answer arrived, "bad_answer" if the answer
    is not that of the service, and "http_" with the status if something else than the service
    refused. `detail` says it in words, `pointer` names the place in the body, `retry_after` is the
    number of seconds after which the same request may succeed, and `stored` is what the service
    holds instead.
    """

    def __init__(
        self,
        status: int | None,
        code: str,
        detail: str,
        pointer: str | None = None,
        retry_after: int | None = None,
        stored: Any = None,
    ) -> None:
        super().__init__(status, code, detail, pointer, retry_after, stored)
        self.status = status
        self.code = code
        self.detail = detail
        self.pointer = pointer
        self.retry_after = retry_after
        self.stored = stored

    def __str__(self) -> str:
        place = "" if self.pointer is None else f" at {self.pointer}"
        status = "" if self.status is None else f"{self.status} "
        return f"{status}{self.code}{place}: {self.detail}"


@dataclass(frozen=True)
class ServiceDecision:
    """A decision of the service, or the default if the service could not decide."""

    id: int | None
    """Its number in the experiment, from 1; None for a default."""
    action: str
    """The action to take."""
    reason: str | None = None
    """Why this action: the rule that decided, in one word."""
    propensity: float | None = None
    """The probability with which it was chosen; None if the policy does not state it."""
    plausible: int | None = None
    """How many actions could still be best."""
    known_within: float | None = None
    """The largest possible error of an estimate among these; None while there is no bound."""
    seq: int | None = None
    """The number of its line in the log."""
    hash: str | None = None
    """The hash of that line."""
    repeated: bool = False
    """Whether the key was used before, and this is the decision of then."""
    is_default: bool = False
    """Whether the service did not answer, and `action` is the default."""
    key: str = ""
    """The Idempotency-Key of the request: with it, the same request gives the same decision."""
    certificate: dict[str, Any] | None = field(default=None, repr=False)
    """Its certificate, if it was asked for."""


@dataclass(frozen=True)
class ServiceOutcome:
    """What the service did with an outcome."""

    decision: int | None
    """The number of the decision; None for a default, of which the service knows nothing."""
    applied: bool
    """Whether the outcome counts."""
    duplicate: bool
    """Whether the same outcome had been recorded before."""
    reason: str | None = None
    """Why it does not count: "late" after the deadline, "default" for a default."""
    seq: int | None = None
    """The number of the last line of the log."""
    hash: str | None = None
    """The hash of that line."""


@dataclass(frozen=True)
class Reply:
    """An answer as it arrived."""

    status: int
    headers: Mapping[str, str] = field(repr=False)
    """With names in lower case."""
    body: bytes = field(repr=False)


class Fields:
    """The fields of a JSON object; a field that is not what it must be raises."""

    def __init__(self, found: object, status: int, where: str = "the answer") -> None:
        self._status, self._where = status, where
        if not isinstance(found, dict):
            self._refuse(f"{where} is not an object but {_kind(found)}")
        self._fields: dict[str, Any] = found

    def whole(self, name: str) -> int:
        value = self._fields.get(name)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**63:
            self._refuse(f"{self._where}: {name} is not a whole number but {_kind(value)}")
        return value

    def number(self, name: str) -> float | None:
        value = self._fields.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            self._refuse(f"{self._where}: {name} is not a number but {_kind(value)}")
        try:
            return float(value)
        except OverflowError:
            self._refuse(f"{self._where}: {name} is too large for a number")

    def text(self, name: str) -> str:
        value = self._fields.get(name)
        if not isinstance(value, str):
            self._refuse(f"{self._where}: {name} is not text but {_kind(value)}")
        return value

    def truth(self, name: str) -> bool:
        value = self._fields.get(name)
        if not isinstance(value, bool):
            self._refuse(f"{self._where}: {name} is not true or false but {_kind(value)}")
        return value

    def table(self, name: str) -> dict[str, Any]:
        value = self._fields.get(name)
        if not isinstance(value, dict):
            self._refuse(f"{self._where}: {name} is not an object but {_kind(value)}")
        return value

    def rows(self, name: str, count: int | None = None) -> list[Any]:
        value = self._fields.get(name)
        if not isinstance(value, list):
            self._refuse(f"{self._where}: {name} is not a list but {_kind(value)}")
        if count is not None and len(value) != count:
            self._refuse(f"{self._where}: {name} has {len(value)} entries for {count} requests")
        return value

    def has(self, name: str) -> bool:
        return self._fields.get(name) is not None

    def _refuse(self, what: str) -> NoReturn:
        raise ServiceError(self._status, "bad_answer", what)


def document(reply: Reply) -> dict[str, Any]:
    """The JSON object of an answer."""
    try:
        found = json.loads(reply.body, parse_constant=_no_constant)
    except (ValueError, RecursionError):  # its message would quote what arrived
        raise ServiceError(
            reply.status, "bad_answer", "the answer is not JSON: is this the address of a service?"
        ) from None
    Fields(found, reply.status)
    answer: dict[str, Any] = found
    return answer


def decision_of(found: object, status: int, key: str, certificate: bool) -> ServiceDecision:
    """One decision."""
    fields = Fields(found, status)
    return ServiceDecision(
        id=fields.whole("decision"),
        action=fields.text("action"),
        reason=fields.text("reason") if fields.has("reason") else None,
        propensity=fields.number("propensity"),
        plausible=fields.whole("plausible") if fields.has("plausible") else None,
        known_within=fields.number("known_within"),
        seq=fields.whole("seq"),
        hash=fields.text("hash"),
        repeated=fields.truth("repeated"),
        key=key,
        certificate=fields.table("certificate") if certificate else None,
    )


def outcome_of(found: object, status: int) -> ServiceOutcome:
    """What was done with one outcome."""
    fields = Fields(found, status)
    return ServiceOutcome(
        decision=fields.whole("decision"),
        applied=fields.truth("applied"),
        duplicate=fields.truth("duplicate"),
        reason=fields.text("reason") if fields.has("reason") else None,
        seq=fields.whole("seq") if fields.has("seq") else None,
        hash=fields.text("hash") if fields.has("hash") else None,
    )


def problem_of(reply: Reply, hide: Hide) -> ServiceError:
    """The error that an answer with another status than 2xx stands for."""
    after = reply.headers.get("retry-after", "").strip()
    retry_after = int(after) if re.fullmatch(r"[0-9]{1,9}", after) else None
    try:
        found = json.loads(reply.body)
    except (ValueError, RecursionError):
        found = None
    problem = problem_in(found, reply.status, hide, retry_after)
    if problem is not None:
        return problem
    detail = "the answer is not that of the service: does something stand before it?"
    if 300 <= reply.status < 400:
        detail = "the answer points to another address, and the client does not follow it"
    return ServiceError(reply.status, f"http_{reply.status}", detail, retry_after=retry_after)


def problem_in(
    found: object, status: int, hide: Hide, retry_after: int | None = None
) -> ServiceError | None:
    """The problem that an object describes, if it does."""
    if not isinstance(found, dict):
        return None
    code, detail, pointer = found.get("code"), found.get("detail"), found.get("pointer")
    if not isinstance(code, str) or not isinstance(detail, str) or not _CODE.fullmatch(code):
        return None
    stored = found.get("stored")
    shown = json.dumps(stored, ensure_ascii=False)
    return ServiceError(
        status,
        code,
        cleaned(detail, hide),
        cleaned(pointer, hide) if isinstance(pointer, str) else None,
        retry_after,
        stored if hide(shown) == shown else None,
    )


def results_of(
    answer: dict[str, Any],
    count: int,
    status: int,
    hide: Hide,
) -> list[tuple[object, int, ServiceError | None]]:
    """The entries of the answer to several requests, each with its status and its problem."""
    entries: list[tuple[object, int, ServiceError | None]] = []
    for place, entry in enumerate(Fields(answer, status).rows("results", count)):
        its = Fields(entry, status, f"results[{place}]").whole("status")
        problem = None
        if not 200 <= its < 300:
            problem = problem_in(entry, its, hide) or ServiceError(
                its, f"http_{its}", "the service does not say what is wrong"
            )
        entries.append((entry, its, problem))
    return entries


def cleaned(text: str, hide: Hide) -> str:
    """A text of the service, fit for one line of a log."""
    text = hide(text)
    text = "".join(sign if sign.isprintable() else " " for sign in text[:_LONGEST])
    return text


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _kind(value: object) -> str:
    kinds = {bool: "a truth value", int: "a number", float: "a number", str: "text"}
    kinds |= {list: "a list", dict: "an object", type(None): "missing or null"}
    return kinds.get(type(value), type(value).__name__)
