"""Logs and certificates to attack, with hashes computed from the documentation alone."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

from .arena import Arena

ZERO = b"0" * 64
FRAME = re.compile(
    rb'(\{"v":1,"seq":([1-9][0-9]{0,14}),"at":"([^"]{27})"'
    rb',"prev":"([0-9a-f]{64})","body":"([0-9a-f]{64})")'
    rb',"event":(\{.*\}),"hash":"([0-9a-f]{64})"\}\n',
    re.DOTALL,
)

# Names with bytes that can be cut in the middle of a character or of an escape.
ARMS = 'name\nplain\nçédille\n日本語\n"a ""quoted"" \\ one"\n🙂\n'
FEATURES = (
    "name,price,kind,größe\nmug,4,cup,1e-7\nbowl,8.5,dish,2\npläte,-3,dish,0.25\n🙂 "
    "jug,1200,jar,7\n"
)


def sha256(data: bytes) -> bytes:
    return hashlib.sha256(data).hexdigest().encode()


def check_chain(log: bytes) -> str | None:
    """The first error in a log by docs/reference/log-format.md, or None."""
    previous, at = ZERO, b""
    for number, line in enumerate(
        log.splitlines(keepends=True) if b"\r" not in log else split(log), 1
    ):
        parts = FRAME.fullmatch(line)
        if parts is None:
            return f"line {number} is not a line of version 1"
        if (parts[4], int(parts[2])) != (previous, number) or parts[3] < at:
            return f"line {number} does not continue the line before"
        if (sha256(parts[6]), sha256(parts[1])) != (parts[5], parts[7]):
            return f"line {number} was changed"
        previous, at = parts[7], parts[3]
    return None


def split(log: bytes) -> list[bytes]:
    """Splits at newlines only: a label may contain a carriage return."""
    return [line + b"\n" for line in log.split(b"\n")[:-1]] + [
        line for line in [log.split(b"\n")[-1]] if line
    ]


def events(log: bytes) -> list[dict[str, Any]]:
    """The events of the whole lines of a log."""
    lines = [FRAME.fullmatch(line) for line in split(log)]
    return [json.loads(line[6]) for line in lines if line is not None]


def rehashed(log: bytes, change: Callable[[int, bytes], bytes]) -> bytes:
    """The log with events changed and every hash recomputed, as a forger would."""
    previous, lines = ZERO, []
    for number, line in enumerate(split(log), 1):
        parts = FRAME.fullmatch(line)
        assert parts is not None
        event = change(number, parts[6])
        head = b'{"v":1,"seq":%d,"at":"%s","prev":"%s","body":"%s"' % (
            number,
            parts[3],
            previous,
            sha256(event),
        )
        previous = sha256(head)
        lines.append(head + b',"event":' + event + b',"hash":"' + previous + b'"}\n')
    return b"".join(lines)


class Number(str):
    """A number that keeps its spelling."""


def parse(text: str) -> Any:
    return json.loads(text, parse_float=Number, parse_int=Number)


def compact(value: Any) -> str:
    """Compact JSON with keys in their order and numbers as spelled."""
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, dict):
        return (
            "{"
            + ",".join(f"{compact(str(name))}:{compact(inner)}" for name, inner in value.items())
            + "}"
        )
    if isinstance(value, list):
        return "[" + ",".join(map(compact, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def canonical(value: Any) -> str:
    """The canonical form of RFC 8785, which the seal covers from version 2 on."""
    if isinstance(value, Number):
        return shortest(float(value)) if any(letter in ".eE" for letter in value) else str(value)
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: str(name).encode("utf-16-be", "surrogatepass"))
        return (
            "{"
            + ",".join(f"{canonical(str(name))}:{canonical(value[name])}" for name in names)
            + "}"
        )
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def shortest(number: float) -> str:
    """A number as ECMAScript writes it."""
    if number == 0 or number != number or number in (float("inf"), float("-inf")):
        return "0"
    sign, digits, exponent = Decimal(repr(number)).normalize().as_tuple()
    text = "".join(map(str, digits))
    point = len(text) + int(exponent)
    minus = "-" if sign else ""
    if len(text) <= point <= 21:
        return minus + text + "0" * (point - len(text))
    if 0 < point <= 21:
        return minus + text[:point] + "." + text[point:]
    if -6 < point <= 0:
        return minus + "0." + "0" * -point + text
    rest = "." + text[1:] if text[1:] else ""
    return f"{minus}{text[0]}{rest}e{point - 1:+d}"


def sealed(certificate: dict[str, Any]) -> str:
    """The certificate with a valid seal: the SHA-256 of all the rest."""
    rest = {name: value for name, value in certificate.items() if name != "seal"}
    covered = compact(rest) if str(certificate.get("version")) == "1" else canonical(rest)
    return compact(rest | {"seal": sha256(covered.encode()).decode()})


def day(number: int) -> str:
    """The morning of a past day: times ahead of the clock are refused."""
    return f"2025-{number // 28 + 1:02d}-{number % 28 + 1:02d}T08:00:00Z"


def play(
    arena: Arena,
    desk: Path,
    table: str,
    rounds: int,
    *first: object,
    context: tuple[object, ...] = (),
) -> None:
    """A log of a few decisions, some rewarded, one dropped and one outstanding.

    Every command must work.
    """
    (desk / "t.csv").write_text(table, encoding="utf-8")
    ran, log = [], "a.log"
    for number in range(1, rounds + 1):
        at = ("--at", day(number))
        begin = ("--yes", "--seed", 7, *first) if number == 1 else ()
        ran.append(
            arena.run(desk, "decide", "--log", log, "--actions", "t.csv", *begin, *context, *at)
        )
        if number % 5 == 4:
            ran.append(arena.run(desk, "drop", "--log", log, number, *at))
        elif number % 5 != 3:
            value = ("0.25", "1e-7", "0.75", "1", "0")[number * 3 % 5]
            ran.append(arena.run(desk, "reward", "--log", log, number, value, *at))
    failed = [one for one in ran if one.code != 0]
    if failed:
        raise RuntimeError(f"an honest command failed: {failed[0]}")


def long_log(
    arena: Arena, desk: Path, rounds: int, reward: Callable[[int], str], log: str = "long.log"
) -> Path:
    """A log of two arms that take turns, written from the documented format.

    Its choices follow as long as both arms have equal rewards. 25,000 rounds make the 50,000 lines
    from which earlier builds saved snapshots.
    """
    (desk / "t.csv").write_text("name\nleft\nright\n")
    ran = arena.run(
        desk, "decide", "--log", log, "--actions", "t.csv", "--yes", "--seed", 7, "--at", day(1)
    )
    if ran.code != 0:
        raise RuntimeError(f"an honest command failed: {ran}")
    path = desk / log
    lines = split(path.read_bytes())
    parts = FRAME.fullmatch(lines[-1])
    assert parts is not None
    at, previous, number = parts[3], parts[7], len(lines)
    decided = json.loads(parts[6])["decided"]
    written = []
    for decision in range(1, rounds + 1):
        following = []
        if decision > 1:
            arm = (decision - 1) % 2
            decided |= {"decision": decision, "chosen": arm, "label": ("left", "right")[arm]}
            following.append(json.dumps({"decided": decided}, separators=(",", ":")).encode())
        following.append(
            b'{"rewarded":{"decision":%d,"reward":%s}}' % (decision, reward(decision).encode())
        )
        for event in following:
            number += 1
            head = b'{"v":1,"seq":%d,"at":"%s","prev":"%s","body":"%s"' % (
                number,
                at,
                previous,
                sha256(event),
            )
            previous = sha256(head)
            written.append(head + b',"event":' + event + b',"hash":"' + previous + b'"}\n')
    path.write_bytes(b"".join(lines + written))
    return path
