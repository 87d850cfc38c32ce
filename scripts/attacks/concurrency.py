"""Many commands on one log at once: all answer, no two with the same decision."""

from __future__ import annotations

from .arena import Arena, Tally, finish
from .kills import SAID, Book
from .material import ARMS, FEATURES, check_chain, play

AT_ONCE = 20


def at_once(arena: Arena, tally: Tally, table: str, newborn: bool) -> None:
    desk = arena.desk()
    if newborn:
        (desk / "t.csv").write_text(table, encoding="utf-8")
    else:
        play(arena, desk, table, 3)
    args = ("decide", "--log", "a.log", "--actions", "t.csv", *(("--yes",) if newborn else ()))
    children = [arena.start(desk, *args) for _ in range(AT_ONCE)]
    book = Book()
    for child in children:
        ran = finish(child, args)
        answered = ran.code == 0 and book.decided(ran.out)
        what = f"one of {AT_ONCE} decisions at once{' in a new log' if newborn else ''}"
        tally.judge("answered", None if answered else f"{what} got no answer: {ran}")
    log = (desk / "a.log").read_bytes()
    tally.judge("all distinct and in the log", check_chain(log) or book.missing(log))
    ran = arena.run(desk, "status", "--log", "a.log")
    tally.judge("log read", None if ran.code == 0 else f"the log cannot be read afterwards: {ran}")
    arena.done_with(desk)


def mixed(arena: Arena, tally: Tally) -> None:
    """Decisions, the same reward repeatedly, and readers, all at once."""
    desk = arena.desk()
    play(arena, desk, FEATURES, 3)
    kinds: list[tuple[object, ...]] = [
        ("decide", "--log", "a.log", "--actions", "t.csv"),
        ("reward", "--log", "a.log", 3, "0.5"),
        ("status", "--log", "a.log", "--json"),
    ]
    begun = [(kind, arena.start(desk, *kind)) for kind in kinds * (AT_ONCE // 2)]
    book = Book()
    for kind, child in begun:
        ran = finish(child, tuple(map(str, kind)))
        if kind[0] == "decide":
            book.decided(ran.out)
        tally.judge("answered", None if ran.code == 0 else f"beside others: {ran}")
    book.rewards[3] = "0.5"
    log = (desk / "a.log").read_bytes()
    tally.judge("all distinct and in the log", check_chain(log) or book.missing(log))
    arena.done_with(desk)


def attack(arena: Arena) -> Tally:
    tally = Tally(
        "concurrency",
        f"{AT_ONCE} decisions at once in one log, new or not; rewards and readers beside them",
    )
    for _ in range(arena.count(1, 8)):
        at_once(arena, tally, ARMS, newborn=False)
        at_once(arena, tally, FEATURES, newborn=False)
        at_once(arena, tally, FEATURES, newborn=True)
        mixed(arena, tally)
    return tally
