"""SIGKILL at any moment: printed events are in the log exactly once, and the log opens."""

from __future__ import annotations

import random
import re
import time
from pathlib import Path

from .arena import Arena, Tally
from .material import ARMS, FEATURES, check_chain, events, play

SAID = re.compile(rb"decision (\d+)(?: \([^\n]*\))?: ([^\n]*)\n")


def usual_seconds(arena: Arena, desk: Path, *args: str) -> float:
    """The duration of a command on this machine, so that kills cover all of it."""
    times = []
    for _ in range(5):
        begun = time.monotonic()
        arena.run(desk, *args)
        times.append(time.monotonic() - begun)
    return sorted(times)[2]


def killed(arena: Arena, desk: Path, after: float | None, *args: object) -> bytes:
    """Runs the command and kills it after some seconds or, for None, at its first byte.

    Returns what it had printed.
    """
    child = arena.start(desk, *args)
    assert child.stdout is not None
    first = b""
    if after is None:
        first = child.stdout.read(1)
    else:
        time.sleep(after)
    child.kill()
    rest, _ = child.communicate()
    return first + rest


class Book:
    """The acknowledged events."""

    def __init__(self) -> None:
        self.decisions: dict[int, str] = {}
        self.rewards: dict[int, str] = {}
        self.doubled: list[int] = []

    def decided(self, said: bytes) -> bool:
        match = SAID.match(said)
        if match is None:
            return False
        number, label = int(match[1]), match[2].decode("utf-8", "replace")
        if number in self.decisions:
            self.doubled.append(number)
        self.decisions[number] = label
        return True

    def missing(self, log: bytes) -> str | None:
        """The first acknowledged event that is not in the log exactly once."""
        if self.doubled:
            return f"decision {self.doubled[0]} was acknowledged twice"
        chosen: dict[int, list[str]] = {}
        paid: dict[int, list[float]] = {}
        for event in events(log):
            if "decided" in event:
                decided = event["decided"]
                chosen.setdefault(decided["decision"], []).append(decided["label"])
            if "rewarded" in event:
                rewarded = event["rewarded"]
                paid.setdefault(rewarded["decision"], []).append(rewarded["reward"])
        for number, label in self.decisions.items():
            if chosen.get(number) != [label]:
                return (
                    f"decision {number}: {label} was acknowledged, and the log holds "
                    f"{chosen.get(number, 'nothing')}"
                )
        for number, value in self.rewards.items():
            if paid.get(number) != [float(value)]:
                return (
                    f"the reward {value} of decision {number} was acknowledged, and the log "
                    f"holds {paid.get(number, 'nothing')}"
                )
        return None


def strike(arena: Arena, desk: Path, book: Book, chance: random.Random, usual: float) -> str:
    """Runs and kills one command; returns its result."""
    after = None if chance.random() < 0.3 else usual * 1.2 * chance.random()
    due = [number for number in book.decisions if number not in book.rewards]
    if due and chance.random() < 0.5:
        number, value = due[0], f"{chance.randrange(101) / 100}"
        said = killed(arena, desk, after, "reward", "--log", "a.log", number, value)
        if said.endswith(b"\n"):
            book.rewards[number] = value
            return "acknowledged"
        # It may or may not be recorded, so this decision must not get another reward.
        book.decisions.pop(number)
        return "killed before an answer"
    said = killed(arena, desk, after, "decide", "--log", "a.log", "--actions", "t.csv")
    return "acknowledged" if book.decided(said) else "killed before an answer"


def continued(arena: Arena, tally: Tally, table: str, kills: int) -> None:
    """Kills commands on a log that continues."""
    desk, chance = arena.desk(), arena.random(f"kills {table}")
    play(arena, desk, table, 3)
    usual = usual_seconds(arena, desk, "decide", "--log", "a.log", "--actions", "t.csv")
    book = Book()
    for _ in range(kills):
        outcome = strike(arena, desk, book, chance, usual)
        tally.judge(outcome, None)
    # Twice: opening may have to cut off what a kill left, and must do so permanently.
    for _ in range(2):
        ran = arena.run(desk, "decide", "--log", "a.log", "--actions", "t.csv")
        fault = None if ran.code == 0 else f"after {kills} kills the log does not open: {ran}"
        tally.judge("opened again", fault)
    log = (desk / "a.log").read_bytes()
    tally.judge("chain whole", check_chain(log))
    tally.judge("nothing lost or doubled", book.missing(log))
    arena.done_with(desk)


def newborn(arena: Arena, tally: Tally, kills: int) -> None:
    """Kills the very first decision, which begins the log."""
    chance = arena.random("newborn")
    desk = arena.desk()
    (desk / "t.csv").write_text(FEATURES, encoding="utf-8")
    usual = usual_seconds(arena, desk, "decide", "--log", "warm.log", "--actions", "t.csv", "--yes")
    for number in range(kills):
        log = f"{number}.log"
        after = None if chance.random() < 0.2 else usual * 1.2 * chance.random()
        said = killed(
            arena, desk, after, "decide", "--log", log, "--actions", "t.csv", "--yes", "--seed", 1
        )
        book = Book()
        book.decided(said)
        ran = arena.run(desk, "decide", "--log", log, "--actions", "t.csv", "--yes")
        content = (desk / log).read_bytes() if (desk / log).exists() else b""
        fault = (
            f"the log does not open: {ran}"
            if ran.code != 0
            else check_chain(content) or book.missing(content)
        )
        where = "at its first byte of output" if after is None else f"after {after * 1000:.1f} ms"
        tally.judge("opened again", fault and f"first decision killed {where}: {fault}")
    arena.done_with(desk)


def attack(arena: Arena) -> Tally:
    tally = Tally(
        "kills",
        "SIGKILL of `decide` and `reward` at random moments and at their first byte of output",
    )
    for table in (ARMS, FEATURES):
        continued(arena, tally, table, arena.count(60, 600))
    newborn(arena, tally, arena.count(30, 300))
    return tally
