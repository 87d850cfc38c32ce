"""SIGINT and SIGTERM at any moment, and failing outputs: the exit code says what was recorded."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from pathlib import Path

from .arena import Arena, Ran, Tally, finish
from .kills import SAID, usual_seconds
from .material import FEATURES, check_chain, events, play


def decisions(log: Path) -> dict[int, str]:
    found = [event["decided"] for event in events(log.read_bytes()) if "decided" in event]
    return {decided["decision"]: decided["label"] for decided in found}


def answer_fault(ran: Ran, before: dict[int, str], after: dict[int, str]) -> str | None:
    """How the exit code, the answer and the log contradict each other, if they do."""
    new = {number: label for number, label in after.items() if number not in before}
    said = SAID.search(ran.out)
    if ran.code == 130 or (ran.code is not None and ran.code < 0):
        # A signal before the program is loaded has the system's default effect; a shell also
        # reports 130 or 143.
        return f"exit code {ran.code}, and {new} was written" if new else None
    if ran.code != 0:
        return f"neither done nor interrupted: {ran}"
    if said is None:
        return f"exit code 0 without an answer; written: {new}"
    if new != {int(said[1]): said[2].decode()}:
        return f"{said[0]!r} was printed, and {new} was written"
    return None


def interrupted(arena: Arena, tally: Tally, count: int) -> None:
    desk, chance = arena.desk(), arena.random("signals")
    play(arena, desk, FEATURES, 3)
    log = desk / "a.log"
    args = ("decide", "--log", "a.log", "--actions", "t.csv")
    usual = usual_seconds(arena, desk, *args)
    before = decisions(log)
    for _ in range(count):
        which = chance.choice([signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
        after = usual * 1.2 * chance.random()
        child = arena.start(desk, *args)
        time.sleep(after)
        child.send_signal(which)
        ran = finish(child, args)
        now = decisions(log)
        fault = answer_fault(ran, before, now) or check_chain(log.read_bytes())
        outcome = {0: "decided and said so", 130: "nothing written, exit code 130"}.get(
            ran.code or 0, "ended by the signal before the command could catch it"
        )
        tally.judge(outcome, fault and f"{which.name} after {after * 1000:.1f} ms: {fault}")
        before = now
    arena.done_with(desk)


def to_full_disk(arena: Arena, desk: Path, args: tuple[object, ...]) -> Ran:
    with open("/dev/full", "wb") as full:
        return arena.run(desk, *args, stdout=full)


def to_closed_pipe(arena: Arena, desk: Path, args: tuple[object, ...]) -> Ran:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        return arena.run(desk, *args, stdout=writing)
    finally:
        os.close(writing)


def unwritable(arena: Arena, tally: Tally, count: int) -> None:
    """Standard output on a full disk and into a closed pipe.

    The exit code must be 4, and stderr must name the decision.
    """
    desk = arena.desk()
    play(arena, desk, FEATURES, 3)
    log = desk / "a.log"
    for number in range(count):
        for name, run in (("/dev/full", to_full_disk), ("a closed pipe", to_closed_pipe)):
            for extra in ((), ("--json",), ("--explain",)):
                before = decisions(log)
                args = ("decide", "--log", "a.log", "--actions", "t.csv", *extra)
                ran = run(arena, desk, args)
                new = [decision for decision in decisions(log) if decision not in before]
                tally.judge("exit code 4, and named", unanswered_fault(ran, new, name))
            due = max(decisions(log))
            ran = run(arena, desk, ("reward", "--log", "a.log", due, f"0.{number + 1}"))
            tally.judge("exit code 4, and named", unanswered_fault(ran, [due], name))
            # A command that only reads records nothing, but a lost answer is no success.
            ran = run(arena, desk, ("status", "--log", "a.log"))
            fault = (
                f"status into {name}: {ran}"
                if ran.crashed() or (name == "/dev/full" and ran.code == 0)
                else None
            )
            tally.judge("reader ended in order", fault)
    arena.done_with(desk)


def unanswered_fault(ran: Ran, recorded: list[int], name: str) -> str | None:
    words = ran.err.decode("utf-8", "replace")
    if ran.code != 4:
        return (
            f"stdout is {name}, decision {recorded} was recorded, exit code 4 was promised: {ran}"
        )
    if len(recorded) != 1 or not re.search(rf"\b{recorded[0]}\b", words):
        return f"stdout is {name}, stderr does not name decision {recorded}: {ran}"
    return None


def deaf_stderr(arena: Arena, tally: Tally) -> None:
    """Notes that cannot be written must not make the command fail."""
    desk = arena.desk()
    play(arena, desk, FEATURES, 3)
    with open("/dev/full", "wb") as full:
        ran = arena.run(desk, "decide", "--log", "a.log", "--actions", "t.csv", stderr=full)
    fault = (
        None
        if ran.code == 0 and SAID.match(ran.out)
        else f"stderr is /dev/full: {ran}, stdout {ran.out!r}"
    )
    tally.judge("decided and said so", fault)
    closed = subprocess.run(
        ["sh", "-c", '"$0" decide --log a.log --actions t.csv 2>&-', str(arena.command)],
        cwd=desk,
        capture_output=True,
        check=False,
    )
    fault = (
        None
        if closed.returncode == 0 and SAID.match(closed.stdout)
        else f"stderr is closed: {closed}"
    )
    tally.judge("decided and said so", fault)
    arena.done_with(desk)


def attack(arena: Arena) -> Tally:
    tally = Tally(
        "signals",
        "SIGINT, SIGTERM and SIGHUP at random moments; output to a full disk and to a closed pipe",
    )
    interrupted(arena, tally, arena.count(80, 800))
    unwritable(arena, tally, arena.count(2, 10))
    deaf_stderr(arena, tally)
    return tally
