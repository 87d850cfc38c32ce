"""Forged snapshots beside a long log: a decision must be the one that the log alone gives."""

from __future__ import annotations

import json
import os
import random
import shutil
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from .arena import MEMORY, Arena, Ran, Tally
from .certificates import altered, another, places
from .material import FRAME, compact, day, long_log, parse, sha256, split

# Early builds of 0.1.0 saved and trusted snapshots from 50,000 lines on. Later ones must trust no
# file beside a log.
ROUNDS = 26_000
DECIDE = ("decide", "--log", "long.log", "--actions", "t.csv", "--json", "--at", day(90))


@dataclass
class Prey:
    """A log and material for snapshots of it.

    The head and payload of a valid snapshot, the next decision without one, and the payload of a
    log with other rewards.
    """

    log: Path
    head: bytes
    payload: bytes
    other_payload: bytes
    truth: bytes


def resealed(head: bytes, payload: bytes) -> bytes:
    """A snapshot with a valid checksum: `head` is its first line up to its hash."""
    line = head + b',"bytes":%d' % len(payload)
    return line + b',"sha256":"' + sha256(line + payload) + b'"}\n' + payload


def payload_of(log: bytes, rewards: tuple[float, float]) -> bytes:
    """The snapshot that early builds saved of the log, if its two arms had paid these rewards.

    It has the hash of the first line, a line of JSON, and 53 bytes for each decision.
    """
    lines = split(log[:100_000])
    first, last = FRAME.fullmatch(lines[0]), FRAME.fullmatch(lines[4])
    assert first is not None and last is not None
    opened = json.loads(first[6])["opened"]
    plays = (ROUNDS // 2, ROUNDS // 2)
    # Sums of rewards scaled to [-1/2, 1/2], in units of 2^-24.
    sums = [round((reward - 0.5) * (1 << 24)) * count for reward, count in zip(rewards, plays)]
    head = {
        "version": "state 1 of plausibly 0.1.0",
        "policy": opened["policy"],
        "reward_range": opened["reward_range"],
        "horizon": None,
        "seed": opened["seed"],
        "recipe": opened["recipe"],
        "actions": [{"label": label, "cells": {}, "retired": False} for label in ("left", "right")],
        "sets": [[0, 1]],
        "contexts": [{}],
        "statistics": {"arms": [[count, str(total), 0] for count, total in zip(plays, sums)]},
        "committed": None,
        "phases": None,
    }
    at = round(datetime.fromisoformat(day(1).replace("Z", "+00:00")).timestamp() * 1_000_000)
    records = [
        struct.pack(
            "<QQIqQBdQ",
            (number - 1) % 2,
            0,
            0,
            at,
            2 * number + 3,
            1,
            rewards[(number - 1) % 2],
            2 * number + 4,
        )
        for number in range(1, ROUNDS + 1)
    ]
    return (
        first[7]
        + b"\n"
        + json.dumps(head, separators=(",", ":")).encode()
        + b"\n"
        + b"".join(records)
    )


def prepared(arena: Arena) -> Prey:
    desk = arena.desk()
    path = long_log(arena, desk, ROUNDS, lambda _: "0.5")
    log = path.read_bytes()
    # The other log has the same decisions, but the first arm paid nothing and the second
    # everything.
    prey = Prey(path, b"", payload_of(log, (0.5, 0.5)), payload_of(log, (0.0, 1.0)), b"")
    prey.head = head_at(prey, len(split(log)))
    copy = arena.desk()
    shutil.copy(path, copy / "long.log")
    shutil.copy(desk / "t.csv", copy)
    ran = arena.run(copy, *DECIDE)
    arena.done_with(copy)
    if ran.code != 0:
        raise RuntimeError(f"an honest command failed: {ran}")
    prey.truth = ran.out
    return prey


def head_at(prey: Prey, line: int) -> bytes:
    """The head of a snapshot made at a line, up to the line's hash."""
    lines = split(prey.log.read_bytes())[:line]
    parts = FRAME.fullmatch(lines[-1])
    assert parts is not None
    place = (line, parts[3], sum(map(len, lines)), parts[7])
    return b'{"v":1,"seq":%d,"at":"%s","offset":%d,"hash":"%s"' % place


def mutated_payload(payload: bytes, chance: random.Random) -> tuple[str, bytes]:
    """The payload with one value of its readable part, or one byte of the rest, changed."""
    first, _, rest = payload.partition(b"\n")
    readable, _, records = rest.partition(b"\n")
    try:
        document = parse(readable.decode())
    except (UnicodeDecodeError, json.JSONDecodeError):
        document = None
    if document is not None and chance.random() < 0.6:
        leaves = [
            path for path, value in places(document) if path and not isinstance(value, (dict, list))
        ]
        path = chance.choice(leaves)
        changed = compact(altered(document, path, another)).encode()
        return f"payload {'.'.join(map(str, path))} changed", b"\n".join((first, changed, records))
    at = chance.randrange(len(payload))
    wrong = payload[:at] + bytes([payload[at] ^ (1 << chance.randrange(8))]) + payload[at + 1 :]
    return f"bit in byte {at} of the payload", wrong


def forgeries(prey: Prey, chance: random.Random, count: int) -> Iterator[tuple[str, bytes]]:
    for times in range(count // 4):
        yield (
            f"the snapshot of a log that paid otherwise, time {times + 1}",
            resealed(prey.head, prey.other_payload),
        )
    early = head_at(prey, ROUNDS)
    yield "the same at an earlier line", resealed(early, prey.other_payload)
    yield "a true payload at an earlier line", resealed(early, prey.payload)
    yield "an empty payload", resealed(prey.head, b"")
    yield "half a payload", resealed(prey.head, prey.payload[: len(prey.payload) // 2])
    yield "twice the payload", resealed(prey.head, prey.payload * 2)
    yield "nothing", b""
    yield "a newline", b"\n"
    yield "not sealed", resealed(prey.head, prey.payload)[:-1] + b"\xff"
    yield "zeros", b"\0" * 4096
    yield "nested lists", resealed(prey.head, b"0" * 64 + b"\n" + b"[" * 100_000 + b"\n")
    huge = prey.head.replace(b'"offset":', b'"offset":9999999999999')
    yield "an offset beyond the log", resealed(huge, prey.payload)
    for _ in range(count):
        what, payload = mutated_payload(prey.payload, chance)
        yield what, resealed(prey.head, payload)


def verdict(ran: Ran, truth: bytes, log: bytes, path: Path) -> tuple[str, str | None]:
    if crash := ran.crashed():
        return "", f"{crash}: {ran}"
    if ran.code == 0:
        same = ran.out == truth
        difference = (
            f"decided {chosen(ran.out)}, and without it {chosen(truth)}: grounds or findings differ"
        )
        return "ignored, or found to be wrong", None if same else difference
    return (
        "command refused",
        None if path.read_bytes() == log else f"refused, and the log was changed: {ran}",
    )


def chosen(out: bytes) -> str:
    try:
        return str(json.loads(out)["findings"]["chosen"]["label"])
    except (ValueError, KeyError):
        return repr(out[:80])


def attack(arena: Arena) -> Tally:
    tally = Tally(
        "snapshots",
        "forged and sealed snapshots beside a log of 52,000 lines; the certificate of the next "
        "decision",
    )
    prey, chance = prepared(arena), arena.random("snapshots")
    log = prey.log.read_bytes()

    def beside(place: Callable[[Path], object]) -> tuple[str, str | None]:
        desk = arena.desk()
        shutil.copy(prey.log.parent / "t.csv", desk)
        (desk / "long.log").write_bytes(log)
        place(desk / "long.log.snapshot")
        ran = arena.run(desk, *DECIDE, memory=MEMORY, patience=30)
        found = verdict(ran, prey.truth, log, desk / "long.log")
        arena.done_with(desk)
        return found

    jobs: list[tuple[str, Callable[[Path], object]]] = [
        (what, lambda path, content=content: path.write_bytes(content))
        for what, content in forgeries(prey, chance, arena.count(16, 300))
    ]
    jobs += [
        ("a snapshot that is a folder", Path.mkdir),
        ("a snapshot that is /dev/zero", lambda path: path.symlink_to("/dev/zero")),
        ("a snapshot that is a pipe", os.mkfifo),
        ("a snapshot that is the log", lambda path: path.symlink_to("long.log")),
    ]
    jobs = arena.some(jobs, 40, "forged snapshots")
    for (what, _), (outcome, fault) in zip(jobs, arena.each(jobs, lambda job: beside(job[1]))):
        tally.judge(outcome, fault and f"{what}: {fault}")
    return tally
