"""The requests of the service, made of the arguments of a call.

Cells of actions and facts of a context are sent as the text that a `Log` reads from the same
arguments, so that the service writes the same lines as Python.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import uuid
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from enum import Enum
from typing import Any, Union
from urllib.parse import quote

from .. import _core, _tables
from .._log import _names, _number, _paid, _policy, _range, _truth, _whole
from .answers import (
    Fields,
    Hide,
    Reply,
    ServiceDecision,
    ServiceError,
    ServiceOutcome,
    decision_of,
    document,
    outcome_of,
    results_of,
)
from .exchange import MIB, Request

MOST_DECISIONS = 100
MOST_REWARDS = 1000
_OUTCOMES = {"number": "number", "yes/no": "yes-no", "yes-no": "yes-no", "counts": "counts"}
_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}")
_KEY = re.compile(r"[!-~](?:[ -~]{0,198}[!-~])?")
_ASKED = ("context", "offer", "rows", "certificate")
Decided = Union[int, ServiceDecision]
"""A decision, or its number."""


class NoDefault(Enum):
    """Stands for a default that was not given, because None could be one."""

    GIVEN = "no default"

    def __repr__(self) -> str:
        return "no default"


def experiment_path(name: object) -> str:
    """The path of an experiment."""
    if not isinstance(name, str):
        raise TypeError(f"name: expected text, found {type(name).__name__}")
    if not _NAME.fullmatch(name):
        raise ValueError(
            f"name: {name!r} is no name of an experiment; it takes 1 to 128 letters, digits, "
            "'.', '_' and '-', and no '.' at the beginning"
        )
    return f"/experiments/{name}"


def new_key() -> str:
    """A key that no other call has."""
    return str(uuid.uuid4())


def get(path: str, most: int = 64 * MIB) -> Request[dict[str, Any]]:
    """Reads a document."""
    return Request("GET", path, document, most=most)


def post(path: str, body: object = None, method: str = "POST") -> Request[dict[str, Any]]:
    """A change that is the same when it is made twice."""
    return Request(method, path, document, _json({} if body is None else body))


def create(name: object, actions: object, check: bool, **settings: Any) -> Request[dict[str, Any]]:
    """Begins an experiment, or only looks at what it would be."""
    experiment_path(name)
    vectors = settings.get("theta_norm_bound") is not None
    body = {"name": name, "actions": rows_of(actions, vectors), **_settings(**settings)}
    path = "/experiments?check=true" if _truth("check", check) else "/experiments"
    # The second time, the name would be taken.
    return Request("POST", path, document, _json(body), repeatable=check)


def _settings(
    *,
    context: object,
    label: str | None,
    leave_out: Iterable[str],
    reward_range: object,
    outcomes: object,
    policy: object,
    window: object,
    default: object,
    **numbers: object,
) -> dict[str, Any]:
    """The settings that were given, as the service takes them."""
    body: dict[str, Any] = {"context": _tables.to_context(context), "leave_out": _names(leave_out)}
    if label is not None:
        body["label"] = _text("label", label)
    if outcomes is not None and not isinstance(outcomes, str):
        if reward_range is not None:
            raise ValueError("outcomes: give the range either here or as reward_range")
        reward_range, outcomes = _range(outcomes, "outcomes"), None
    if reward_range is not None:
        body["reward_range"] = list(_range(reward_range))
    if outcomes is not None:
        if outcomes not in _OUTCOMES:
            raise ValueError(f"outcomes: expected number, yes/no or counts, found {outcomes!r}")
        body["outcomes"] = _OUTCOMES[outcomes]
    if policy is not None:
        body["policy"] = json.loads(_policy(policy))
    if window is not None:
        body["window"] = {"seconds": _seconds(window)}
        if default is not None:
            body["window"]["default"] = _number("default", default)
    elif default is not None:
        raise ValueError("default: the reward at the deadline needs a window")
    for name, value in numbers.items():
        if name == "noise" and isinstance(value, str):
            body[name] = value
        elif value is not None:
            read = _whole if name in ("horizon", "seed", "growth") else _number
            body[name] = read(name, value)
    return {name: value for name, value in body.items() if value not in ({}, [])}


def actions(path: str, rows: object) -> Request[dict[str, Any]]:
    """The rows from now on."""
    return post(path + "/actions", {"actions": rows_of(rows)}, "PUT")


def delete(path: str) -> Request[dict[str, Any]]:
    """Puts an experiment aside; the second time, it would not be there."""
    return Request("DELETE", path, document, repeatable=False)


def decide(
    path: str, context: object, offer: object, rows: object, key: object, certificate: object
) -> Request[ServiceDecision]:
    """Asks for a decision."""
    wanted = _truth("certificate", certificate)
    body, checked = _json(_asked(context, offer, rows, wanted)), _key(key)

    def read(reply: Reply) -> ServiceDecision:
        return decision_of(document(reply), reply.status, checked, wanted)

    return Request("POST", path + "/decisions", read, body, checked)


def decide_many(
    path: str, asked: object, key: object, hide: Hide
) -> Request[list[ServiceDecision | ServiceError]]:
    """Asks for several decisions at once."""
    entries = _entries("requests", asked, MOST_DECISIONS)
    bodies = []
    for place, entry in enumerate(entries):
        if not isinstance(entry, Mapping) or not set(entry) <= set(_ASKED):
            raise TypeError(f"requests[{place}]: expected a dict with some of {', '.join(_ASKED)}")
        wanted = _truth("certificate", entry.get("certificate", False))
        bodies.append(_asked(entry.get("context"), entry.get("offer"), entry.get("rows"), wanted))
    checked = _key(key)

    def read(reply: Reply) -> list[ServiceDecision | ServiceError]:
        results = results_of(document(reply), len(bodies), reply.status, hide)
        return [
            problem or decision_of(found, status, checked, "certificate" in body)
            for (found, status, problem), body in zip(results, bodies)
        ]

    return Request("POST", path + "/decisions", read, _json(bodies), checked)


def outcome(
    method: str, path: str, decision: object, *paid: object
) -> Request[ServiceOutcome] | ServiceOutcome:
    """Records, corrects or retracts a reward."""
    number = number_of(decision)
    body = None if method == "DELETE" else _json(_reward(*paid))
    if number is None:
        return of_default()
    address = f"{path}/decisions/{number}/reward"
    return Request(method, address, _read_outcome, body)


def drop(path: str, decision: object, undo: object) -> Request[ServiceOutcome] | ServiceOutcome:
    """Says that the reward of a decision will never come, or that it may come after all."""
    number, body = number_of(decision), _json({"undo": True} if _truth("undo", undo) else {})
    if number is None:
        return of_default()
    return Request("POST", f"{path}/decisions/{number}/drop", _read_outcome, body)


def rewards(
    path: str, paid: object, hide: Hide
) -> Request[list[ServiceOutcome | ServiceError]] | list[ServiceOutcome | ServiceError]:
    """Records several outcomes at once; those of defaults are not sent."""
    entries = _entries("rewards", paid, MOST_REWARDS)
    bodies = [_rewarded(entry, f"rewards[{place}]") for place, entry in enumerate(entries)]
    sent = [body for body in bodies if body is not None]
    if not sent:
        return [of_default() for _ in bodies]

    def read(reply: Reply) -> list[ServiceOutcome | ServiceError]:
        results = iter(results_of(document(reply), len(sent), reply.status, hide))
        answers: list[ServiceOutcome | ServiceError] = []
        for body in bodies:
            if body is None:
                answers.append(of_default())
            else:
                found, status, problem = next(results)
                answers.append(problem or outcome_of(found, status))
        return answers

    return Request("POST", path + "/rewards", read, _json({"rewards": sent}))


def log_page(path: str, from_: int) -> Request[tuple[list[str], int]]:
    """Lines of the log, each with its newline, and the number of the line that follows them."""

    def read(reply: Reply) -> tuple[list[str], int]:
        try:
            lines = reply.body.decode("utf-8").split("\n")
        except UnicodeDecodeError:
            raise ServiceError(reply.status, "bad_answer", "the log is not UTF-8") from None
        after = reply.headers.get("plausibly-next", "")
        follows = from_ + len(lines) - 1
        if lines.pop() or after != str(follows):
            raise ServiceError(
                reply.status, "bad_answer", f"the lines of the log from {from_} are not complete"
            )
        return [line + "\n" for line in lines], follows

    return Request("GET", f"{path}/log?from={from_}", read, most=256 * MIB)


def verify(certificate: str) -> Request[dict[str, Any]]:
    """Lets the service check a certificate."""
    return Request("POST", "/verify", document, certificate.encode("utf-8"))


def decision_path(path: str, decision: object) -> str:
    """The path of a decision of an experiment."""
    number = number_of(decision)
    if number is None:
        raise ValueError("decision: this is the default, and the service knows nothing of it")
    return f"{path}/decisions/{number}"


def certificate(path: str, decision: object) -> Request[dict[str, Any]]:
    """The certificate of a decision."""
    return get(decision_path(path, decision) + "/certificate", _core.CERTIFICATE_MIB * MIB)


def compare(path: str, first: object, second: object) -> Request[dict[str, Any]]:
    """How two actions compare."""
    a, b = (quote(_text("action", name), safe="") for name in (first, second))
    return get(f"{path}/compare?a={a}&b={b}")


def experiments_of(answer: dict[str, Any]) -> list[dict[str, Any]]:
    """The entries of the list of experiments."""
    rows = Fields(answer, 200).rows("experiments")
    for place, row in enumerate(rows):
        Fields(row, 200, f"experiments[{place}]").text("name")
    return rows


def number_of(decision: object) -> int | None:
    """The number of a decision; None for a default."""
    if isinstance(decision, ServiceDecision):
        return decision.id
    return _whole("decision", decision)


def of_default() -> ServiceOutcome:
    """What becomes of the outcome of a default."""
    return ServiceOutcome(None, applied=False, duplicate=False, reason="default")


def rows_of(actions: object, vectors: bool = False) -> list[dict[str, str]]:
    """The rows of a table as the service takes them, with every cell as text.

    >>> rows_of([{"name": "mug", "price": 4.5}, {"name": "bowl", "price": None}])
    [{'name': 'mug', 'price': '4.5'}, {'name': 'bowl', 'price': ''}]
    """
    text = _tables.to_csv(actions, vectors).decode("utf-8-sig")
    first = text.partition("\n")[0]
    is_file = isinstance(actions, (str, os.PathLike))
    delimiter = ";" if is_file and ";" in first and "," not in first else ","
    table = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        names, *rows = [row for row in table if any(cell.strip() for cell in row)] or [[]]
    except csv.Error as error:
        raise ValueError(f"actions: not a CSV table: {error}") from error
    if len(set(names)) < len(names):
        raise ValueError("actions: two columns have the same name")
    for place, row in enumerate(rows):
        if len(row) != len(names):
            raise ValueError(
                f"actions[{place}]: the row has {len(row)} cells; there are {len(names)} columns"
            )
    return [dict(zip(names, row)) for row in rows]


def _asked(context: object, offer: object, rows: object, certificate: bool) -> dict[str, Any]:
    if offer is not None and rows is not None:
        raise TypeError("give either offer, names of actions, or rows, a table of them")
    body: dict[str, Any] = {}
    if facts := _tables.to_context(context):
        body["context"] = facts
    if offer is not None:
        if isinstance(offer, str) or not isinstance(offer, Iterable):
            raise TypeError(f"offer: expected a list of names, found {type(offer).__name__}")
        body["offer"] = [_text("offer", name) for name in offer]
    if rows is not None:
        body["rows"] = rows_of(rows)
    if certificate:
        body["certificate"] = "inline"
    return body


def _rewarded(entry: object, where: str) -> dict[str, Any] | None:
    """One outcome of several; None for a default."""
    if isinstance(entry, tuple) and len(entry) == 2:
        entry = {"decision": entry[0], "value": entry[1]}
    if not isinstance(entry, Mapping) or "decision" not in entry:
        raise TypeError(f"{where}: expected a dict with decision and value, or a pair of them")
    given = dict(entry)
    number = number_of(given.pop("decision"))
    if _truth("drop", given.pop("drop", False)):
        body: dict[str, Any] = {"drop": True}
    else:
        paid = [given.pop(name, None) for name in ("value", "successes", "of")]
        body = _reward(*paid)
    if given:
        raise TypeError(f"{where}: unknown or together with drop: {', '.join(map(str, given))}")
    return None if number is None else {"decision": number, **body}


def _reward(value: object, successes: object, of: object) -> dict[str, Any]:
    number, counts = _paid(value, successes, of)
    return {"value": number} if counts is None else {"successes": counts[0], "of": counts[1]}


def _read_outcome(reply: Reply) -> ServiceOutcome:
    return outcome_of(document(reply), reply.status)


def _entries(name: str, found: object, most: int) -> list[Any]:
    if isinstance(found, (str, Mapping)) or not isinstance(found, Sequence):
        raise TypeError(f"{name}: expected a list, found {type(found).__name__}")
    if not 1 <= len(found) <= most:
        raise ValueError(f"{name}: a request takes 1 to {most}, and these are {len(found)}")
    return list(found)


def _key(key: object) -> str:
    if not _KEY.fullmatch(_text("key", key)):
        raise ValueError("key: expected 1 to 200 printable characters of ASCII")
    return str(key)


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name}: expected text, found {type(value).__name__}")
    return value


def _seconds(window: object) -> int:
    seconds = window.total_seconds() if isinstance(window, timedelta) else _number("window", window)
    if not seconds.is_integer() or seconds <= 0:
        raise ValueError(f"window: expected whole seconds above 0, found {seconds:g}")
    return int(seconds)


def _json(body: object) -> bytes:
    try:
        return json.dumps(body, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except (UnicodeEncodeError, ValueError, TypeError, RecursionError) as error:
        raise ValueError(f"this cannot be sent as JSON: {error}") from error
