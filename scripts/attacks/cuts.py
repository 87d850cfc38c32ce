"""A log cut at any byte opens with all its whole lines; a flipped bit is named, never repaired."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from .arena import Arena, Ran, Tally
from .material import ARMS, FEATURES, FRAME, check_chain, play, split

CONTEXT = ("--context", "gerät=téléphone 🙂", "temperature=-1.5e-3")


@dataclass(frozen=True)
class Case:
    """A log, and the arguments of its next decision."""

    table: str
    first: tuple[object, ...]
    context: tuple[object, ...]
    log: bytes


def cases(arena: Arena) -> list[Case]:
    """Logs of arms, of features, of features with a context, and of vectors as given."""
    vectors = "name,x,y\nα,0.5,-1e-3\nβ,-0.25,1\n"
    given = ("--as-given", "--theta-norm-bound", 1, "--reward-range=-1..1")
    made = []
    for table, first, context in (
        (ARMS, (), ()),
        (FEATURES, (), ()),
        (FEATURES, (), CONTEXT),
        (vectors, given, ()),
    ):
        desk = arena.desk()
        play(arena, desk, table, 6, *first, context=context)
        made.append(Case(table, first, context, (desk / "a.log").read_bytes()))
        arena.done_with(desk)
    return made


def cut_fault(arena: Arena, case: Case, at: int, zeros: int) -> str | None:
    """Cuts a log at a byte, perhaps with zeros behind as after a power cut, and continues it."""
    desk = arena.desk()
    path, beginning = desk / "a.log", case.log[:at]
    (desk / "t.csv").write_text(case.table, encoding="utf-8")
    path.write_bytes(beginning + b"\0" * zeros)
    whole = beginning[: beginning.rfind(b"\n") + 1]
    what = f"a log of {len(split(case.log))} lines cut at byte {at}" + (
        f", {zeros} zeros behind" if zeros else ""
    )
    read = arena.run(desk, "status", "--log", "a.log")
    # If the first line is gone, the command needs the arguments of a first decision.
    begin = ("--yes", "--seed", 7, *case.first) if not has_begun(beginning) else ()
    wrote = arena.run(desk, "decide", "--log", "a.log", "--actions", "t.csv", *begin, *case.context)
    after = path.read_bytes()
    kept = [file.read_bytes() for file in desk.glob("a.log.torn-*")]
    arena.done_with(desk)
    if crash := read.crashed():
        return f"{what}: status {crash}: {read}"
    # A reader shows the whole lines; if there are none, it may say that the log has not begun.
    if whole.count(b'"decided"') > 0 and read.code != 0:
        return f"{what}: status refuses it: {read}"
    if wrote.code != 0:
        return f"{what}: does not open: {wrote}"
    if not after.startswith(whole) or check_chain(after):
        return (
            f"{what}: opened, and the log is now "
            f"{check_chain(after) or 'without some of its whole lines'}"
        )
    torn = beginning[len(whole) :]
    if torn and not after.startswith(beginning) and not any(torn in part for part in kept):
        return f"{what}: the {len(torn)} bytes cut off were not kept beside the log"
    return None


def has_begun(beginning: bytes) -> bool:
    """Whether the first line is there, with or without its newline."""
    first = beginning.split(b"\n")[0] + b"\n"
    return FRAME.fullmatch(first) is not None


def cuts(arena: Arena, tally: Tally) -> None:
    chance = arena.random("cuts")
    jobs = []
    for case in cases(arena):
        log = case.log
        last = log.rfind(b"\n", 0, -1) + 1
        places = arena.some(range(last), 50, "cuts before") + arena.some(
            range(last, len(log)), 100, "cuts"
        )
        jobs += [(case, at, 0) for at in places]
        jobs += [
            (case, at, chance.choice([1, 7, 512, 4096]))
            for at in chance.sample(places, len(places) // 10)
        ]
    for fault in arena.each(jobs, lambda job: cut_fault(arena, *job)):
        tally.judge("recovered to its whole lines", fault)


def names_line(ran: Ran, lines: set[int]) -> bool:
    named = {int(number) for number in re.findall(r"\bline (\d+)", ran.said)}
    if "its first line is damaged" in ran.said:
        named.add(1)
    return bool(named & lines)


def flip_fault(arena: Arena, case: Case, at: int, bit: int) -> str | None:
    desk, log = arena.desk(), case.log
    path = desk / "a.log"
    (desk / "t.csv").write_text(case.table, encoding="utf-8")
    damaged = bytearray(log)
    damaged[at] ^= 1 << bit
    path.write_bytes(damaged)
    line = log.count(b"\n", 0, at) + 1
    # A lost newline joins two lines and a new one makes two: either may be named.
    lines = {line, line + 1} if b"\n" in (log[at : at + 1], bytes(damaged[at : at + 1])) else {line}
    what = f"bit {bit} of byte {at} (line {line}) flipped"
    faults = []
    for args in (
        ("status", "--log", "a.log"),
        ("decide", "--log", "a.log", "--actions", "t.csv", *case.context),
        ("reward", "--log", "a.log", "3", "0.5"),
    ):
        ran = arena.run(desk, *args)
        faults.append(flip_verdict(ran, lines, path, bytes(damaged)))
    arena.done_with(desk)
    return next((f"{what}: {fault}" for fault in faults if fault), None)


def flip_verdict(ran: Ran, lines: set[int], path: Path, damaged: bytes) -> str | None:
    if crash := ran.crashed():
        return f"{crash}: {ran}"
    if ran.code == 0:
        return f"not found by {ran}"
    if path.read_bytes() != damaged:
        return f"the log was changed by {ran}"
    if not names_line(ran, lines):
        return f"line {min(lines)} is not named by {ran}"
    return None


def flips(arena: Arena, tally: Tally) -> None:
    chance = arena.random("flips")
    jobs = []
    for case in cases(arena):
        log = case.log
        places = chance.sample(range(len(log)), arena.count(40, 700))
        newlines = [at for at, byte in enumerate(log) if byte == 10]
        jobs += [(case, at, chance.randrange(8)) for at in places]
        jobs += [(case, at, bit) for at in newlines[-arena.count(2, 40) :] for bit in range(8)]
    for fault in arena.each(jobs, lambda job: flip_fault(arena, *job)):
        tally.judge("found and named", fault)


def attack_cuts(arena: Arena) -> Tally:
    tally = Tally(
        "cuts", "four logs cut at a byte, some with zeros behind; `status`, then `decide`"
    )
    cuts(arena, tally)
    return tally


def attack_flips(arena: Arena) -> Tally:
    tally = Tally("flips", "one bit of a log flipped; `status`, `decide` and `reward`")
    flips(arena, tally)
    return tally
