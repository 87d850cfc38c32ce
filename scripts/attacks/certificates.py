"""Forged certificates with valid seals: `verify` and `verify --log` refuse changed statements."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .arena import Arena, Tally
from .material import ARMS, FEATURES, Number, compact, parse, play, sealed

Path_ = tuple[Any, ...]


@dataclass(frozen=True)
class Forgery:
    what: str
    text: str
    # Only the log can disprove grounds that could be true of another log.
    alone: bool


def places(value: Any, path: Path_ = ()) -> Iterator[tuple[Path_, Any]]:
    """Every value inside a document, with its path."""
    yield path, value
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for name, one in inner:
        yield from places(one, (*path, name))


def altered(document: Any, path: Path_, change: Callable[[Any], Any]) -> Any:
    """A copy with the value at a path changed."""
    document = copy.deepcopy(document)
    holder = document
    for name in path[:-1]:
        holder = holder[name]
    holder[path[-1]] = change(holder[path[-1]])
    return document


def another(value: Any) -> Any:
    """Another value of the same kind, in the spelling that the seal covers."""
    if isinstance(value, Number):
        if value.lstrip("-").isdigit():
            return Number(int(value) + 1)
        return Number("0.5" if float(value) != 0.5 else "0.25")
    if isinstance(value, bool):
        return not value
    if value is None:
        return Number("0.5")
    if isinstance(value, str):
        if len(value) == 64:
            return ("1" if value[0] != "1" else "2") + value[1:]
        return (
            "2026-11-02T08:00:01.000000Z"
            if value.endswith("Z") and value[:2] == "20"
            else value + "x"
        )
    return value


def dotted(path: Path_) -> str:
    return ".".join(map(str, path))


def changed_values(certificate: Any) -> Iterator[Forgery]:
    """One value changed, at every place."""
    for path, value in places(certificate):
        if path and path[0] in ("grounds", "findings") and not isinstance(value, (dict, list)):
            text = sealed(altered(certificate, path, another))
            yield Forgery(f"{dotted(path)} changed", text, path[0] == "findings")


def changed_shapes(certificate: Any) -> Iterator[Forgery]:
    """Entries left out, doubled or added."""
    for path, value in places(certificate):
        if not path or path[0] not in ("grounds", "findings"):
            continue
        alone = path[0] == "findings"
        if isinstance(value, list) and value:
            yield Forgery(
                f"the last of {dotted(path)} left out",
                sealed(altered(certificate, path, lambda v: v[:-1])),
                alone,
            )
            yield Forgery(
                f"the last of {dotted(path)} twice",
                sealed(altered(certificate, path, lambda v: [*v, v[-1]])),
                alone,
            )
        if isinstance(value, dict):
            # Leaving out a null value does not change the statement.
            for name in (name for name, inner in value.items() if inner is not None):
                rest = altered(
                    certificate,
                    path,
                    lambda v, name=name: {k: x for k, x in v.items() if k != name},
                )
                yield Forgery(f"{dotted(path)}.{name} left out", sealed(rest), alone)
            added = altered(certificate, path, lambda v: v | {"also": Number("1")})
            yield Forgery(f"{dotted(path)}.also added", sealed(added), alone)


def impossible_grounds(certificate: Any) -> Iterator[Forgery]:
    """Grounds that no log can give."""

    def forged(what: str, path: Path_, value: Any) -> Forgery:
        return Forgery(what, sealed(altered(certificate, path, lambda _: value)), True)

    sums = ("grounds", "statistics")
    yield forged("decision 0", ("grounds", "decision"), Number("0"))
    yield forged("a decision before its own line", ("grounds", "decision"), Number("1000000"))
    yield forged("line 0", ("grounds", "log", "seq"), Number("0"))
    yield forged("a time that is none", ("grounds", "at"), "2026-13-41T08:00:00.000000Z")
    yield forged("a hash that is none", ("grounds", "log", "hash"), "g" * 64)
    yield forged("a digest that is none", ("grounds", "digest"), "")
    yield forged("more rewards than decisions", (*sums, "observations"), Number("1000000"))
    yield forged("a sum beyond its bound", (*sums, "moment", 0), Number("1000.0"))
    if "gram" in certificate["grounds"]["statistics"]:
        yield forged("a matrix that no features give", (*sums, "gram", 0, 0), Number("1000000.0"))
        yield forged("a matrix below its ridge", (*sums, "gram", 0, 0), Number("0.5"))
        yield forged("a matrix that is not symmetric", (*sums, "gram", 0, 1), Number("0.125"))
    else:
        yield forged("plays beyond their sum", (*sums, "plays", 0), Number("1000000"))
        yield forged("shares fewer than arms", ("grounds", "arms_sharing"), Number("1"))
    yield forged(
        "an empty range of rewards", ("grounds", "reward_range"), [Number("1.0"), Number("1.0")]
    )
    yield forged("another version", ("version",), Number("3"))
    yield forged("another format", ("format",), "plausibly certificates")


def doubled_names(certificate: Any) -> Iterator[Forgery]:
    """A duplicate key in an object, plain and escaped: readers differ in which one they use."""
    marker = "doubled here"
    for path, value in places(certificate):
        if not isinstance(value, dict) or not value:
            continue
        for name, inner in value.items():
            if path and path[0] == "findings" and len(path) > 2 and name != next(iter(value)):
                continue  # one object of each kind is enough, and the first key of long lists
            lie = compact(another(inner))
            escaped = f'"\\u{ord(name[0]):04x}{name[1:]}"' if name else '""'
            for spelling, first in ((f'"{name}"', True), (escaped, True), (escaped, False)):
                marked = {marker: Number("0")} | value if first else value | {marker: Number("0")}
                document = sealed_with(certificate, path, marked)
                text = document.replace(f'"{marker}":0', f"{spelling}:{lie}", 1)
                where = "before" if first else "behind"
                yield Forgery(
                    f"{spelling} a second time in {dotted(path) or 'the document'}, {where} the "
                    "true one",
                    text,
                    True,
                )


def sealed_with(certificate: Any, path: Path_, value: Any) -> str:
    """The document with another object at a path, under the seal of the original.

    A reader that takes the last or the first of two keys would compute this.
    """
    seal = json.loads(sealed(certificate))["seal"]
    document = altered(certificate, path, lambda _: value) if path else value
    return compact(document | {"seal": seal})


def refusal_fault(arena: Arena, desk: Path, number: int, forgery: Forgery) -> str | None:
    file = f"forged-{number}.json"
    (desk / file).write_text(forgery.text, encoding="utf-8")
    runs = [arena.run(desk, "verify", file, "--log", "a.log")]
    if forgery.alone:
        runs.append(arena.run(desk, "verify", file))
        runs.append(arena.run(desk, "explain", file))
    (desk / file).unlink()
    for ran in runs:
        if crash := ran.crashed():
            return f"{forgery.what}: {crash}: {ran}"
        if ran.code == 0:
            return f"{forgery.what}: accepted by {ran}"
        if (
            "seal:" in ran.said
            and " twice" not in forgery.what
            and "second time" not in forgery.what
        ):
            return (
                f"{forgery.what}: refused for its seal alone, so this forgery proves nothing: {ran}"
            )
    return None


def genuine(arena: Arena, tally: Tally, desk: Path, certificate: str) -> None:
    """Genuine certificates must pass: as written, and sealed again by these attacks."""
    for what, text in (("genuine", certificate), ("sealed again", sealed(parse(certificate)))):
        (desk / "genuine.json").write_text(text, encoding="utf-8")
        for more in ((), ("--log", "a.log")):
            ran = arena.run(desk, "verify", "genuine.json", *more)
            tally.judge("genuine accepted", None if ran.code == 0 else f"{what}: {ran}")


def attack(arena: Arena) -> Tally:
    tally = Tally(
        "certificates",
        "values changed, left out, added or impossible, and names doubled, all sealed again",
    )
    for table, first in (
        (ARMS, ()),
        (FEATURES, ("--set", "greed=0.3")),
        (FEATURES, ("--policy", "lin-ts")),
    ):
        desk = arena.desk()
        play(arena, desk, table, 9, *first)
        for decision in (5, 9):
            text = arena.run(desk, "explain", "--log", "a.log", decision, "--json").out.decode()
            genuine(arena, tally, desk, text)
            certificate = parse(text)
            forgeries = list(impossible_grounds(certificate))
            for kind in (changed_values, changed_shapes, doubled_names):
                forgeries += arena.some(kind(certificate), 40, f"{kind.__name__} {decision}")
            jobs = list(enumerate(forgeries))
            for fault in arena.each(jobs, lambda job, desk=desk: refusal_fault(arena, desk, *job)):
                tally.judge(
                    "forgery refused",
                    fault and f"decision {decision} of {' '.join(first) or 'arms'}: {fault}",
                )
        arena.done_with(desk)
    return tally
