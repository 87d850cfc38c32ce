"""Every output flag aimed at files that must stay: the log, inputs, neighbours, foreign files."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

from .arena import Arena, Tally
from .material import FEATURES, play

FOREIGN = b"not written by plausibly\n"
SPEC = """name = "a"
runs = 1
horizon = 10
[environment]
kind = "linear"
dim = 2
actions = 3
noise = 0.5
[[policy]]
kind = "code"
"""

# Commands with an output flag, with their arguments in order; OUT stands for the file.
WRITERS: list[tuple[str, ...]] = [
    ("decide", "--log", "a.log", "--actions", "t.csv", "--certificate", "OUT"),
    (
        "decide",
        "--log",
        "a.log",
        "--actions",
        "t.csv",
        "--policy",
        "p.toml",
        "--yes",
        "--certificate",
        "OUT",
    ),
    ("explain", "--log", "a.log", "2", "--html", "OUT"),
    ("explain", "c.json", "--html", "OUT"),
    ("status", "--log", "a.log", "--html", "OUT"),
    ("status", "--log", "a.log", "--svg", "OUT"),
]
# The inputs of each command, beside the log and its neighbours.
INPUTS = ("a.log", "a.log.snapshot", "a.log.torn-9", "t.csv", "c.json", "p.toml")


def spellings(target: str) -> list[tuple[str, str, Callable[[Path], object]]]:
    """Ways to name a file: a description, the name, and how to prepare it."""
    return [
        ("by its name", target, lambda _: None),
        ("in another spelling", f"./inner/../{target}", lambda desk: (desk / "inner").mkdir()),
        ("through a symlink", "link.out", lambda desk: (desk / "link.out").symlink_to(target)),
        (
            "through two symlinks",
            "far.out",
            lambda desk: (
                (desk / "near.out").symlink_to(target),
                (desk / "far.out").symlink_to("near.out"),
            ),
        ),
        ("through a hard link", "hard.out", lambda desk: os.link(desk / target, desk / "hard.out")),
        (
            "through a linked folder",
            f"around/{target}",
            lambda desk: (desk / "around").symlink_to("."),
        ),
    ]


def dressed(arena: Arena, log: bytes, certificate: bytes) -> Path:
    desk = arena.desk()
    (desk / "a.log").write_bytes(log)
    (desk / "t.csv").write_text(FEATURES, encoding="utf-8")
    (desk / "c.json").write_bytes(certificate)
    (desk / "p.toml").write_text('kind = "lin-ucb"\n')
    (desk / "spec.toml").write_text(SPEC)
    (desk / "a.log.snapshot").write_bytes(FOREIGN)
    (desk / "a.log.torn-9").write_bytes(FOREIGN)
    (desk / "foreign.txt").write_bytes(FOREIGN)
    return desk


def listing(desk: Path) -> dict[str, bytes]:
    """Every file with its content; a symlink with its target, so that a replaced one is noticed."""
    found = {}
    for path in sorted(desk.rglob("*")):
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode):
            found[str(path.relative_to(desk))] = b"-> " + os.readlink(path).encode()
        elif stat.S_ISREG(mode):
            found[str(path.relative_to(desk))] = path.read_bytes()
        elif not stat.S_ISDIR(mode):
            found[str(path.relative_to(desk))] = f"special file {stat.S_IFMT(mode):o}".encode()
    return found


def refused_fault(arena: Arena, desk: Path, command: tuple[str, ...], out: str) -> str | None:
    """Runs a writer that must refuse; the folder must stay unchanged, including hidden files."""
    args = tuple(out if part == "OUT" else part for part in command)
    before = listing(desk)
    ran = arena.run(desk, *args)
    after = listing(desk)
    changed = sorted(
        name for name in before.keys() | after.keys() if before.get(name) != after.get(name)
    )
    if crash := ran.crashed():
        return f"{crash}: {ran}"
    if changed:
        return f"changed {', '.join(changed)}: {ran}"
    return None if ran.code == 2 else f"exit code 2 was promised: {ran}"


def allowed_fault(
    arena: Arena, desk: Path, command: tuple[str, ...], out: str, begins: bytes
) -> str | None:
    """Runs a writer that must work."""
    args = tuple(out if part == "OUT" else part for part in command)
    ran = arena.run(desk, *args)
    content = (desk / out).read_bytes() if (desk / out).exists() else b""
    return (
        None
        if ran.code == 0 and content.lstrip().startswith(begins)
        else f"an allowed output failed: {ran}"
    )


def attack(arena: Arena) -> Tally:
    tally = Tally(
        "outputs",
        "`--certificate`, `--html`, `--svg` and `--out` aimed at the log, its neighbours, inputs "
        "and foreign files",
    )
    desk = arena.desk()
    play(arena, desk, FEATURES, 5)
    log = (desk / "a.log").read_bytes()
    certificate = arena.run(desk, "explain", "--log", "a.log", 2, "--json").out
    arena.done_with(desk)

    chance = arena.random("outputs")

    def judge(
        outcome: str, what: str, make: Callable[[Path], object], fault: Callable[[Path], str | None]
    ) -> None:
        # All of them take seconds; a few are enough for a stand-in.
        if arena.size == "self-test" and chance.random() < 0.9:
            return
        here = dressed(arena, log, certificate)
        make(here)
        found = fault(here)
        tally.judge(outcome, found and f"{what}: {found}")
        arena.done_with(here)

    for command in WRITERS:
        for force in ((), ("--force",)):
            for target in INPUTS:
                # --force may replace files that the command does not read.
                if target not in command and (force or not target.startswith("a.log")):
                    continue
                for how, out, make in spellings(target):
                    judge(
                        "refused, nothing changed",
                        f"{target} {how}",
                        make,
                        lambda here, c=(*command, *force), out=out: refused_fault(
                            arena, here, c, out
                        ),
                    )
        for how, out, make in spellings("foreign.txt"):
            judge(
                "refused, nothing changed",
                f"a foreign file {how}",
                make,
                lambda here, c=command, out=out: refused_fault(arena, here, c, out),
            )
        for what, out, make in (
            ("a folder", "inner", lambda here: (here / "inner").mkdir()),
            ("a file in no folder", "none/x.out", lambda _: None),
        ):
            judge(
                "refused, nothing changed",
                what,
                make,
                lambda here, c=command, out=out: special_fault(arena, here, c, out),
            )
        judge(
            "written through or refused",
            "a pipe",
            lambda here: os.mkfifo(here / "pipe.out"),
            lambda here, c=command: pipe_fault(arena, here, c),
        )
        begins = b"{" if "--certificate" in command else b"<"
        judge(
            "allowed and written",
            "a new file",
            lambda _: None,
            lambda here, c=command, b=begins: allowed_fault(arena, here, c, "new.out", b),
        )
        judge(
            "allowed and written",
            "a foreign file with --force",
            lambda _: None,
            lambda here, c=command, b=begins: allowed_fault(
                arena, here, (*c, "--force"), "foreign.txt", b
            ),
        )
    for out in ("spec.toml", "a.log", "foreign.txt"):
        judge(
            "refused, nothing changed",
            f"--out is the file {out}",
            lambda _: None,
            lambda here, out=out: special_fault(
                arena, here, ("simulate", "spec.toml", "--out", "OUT"), out
            ),
        )
    return tally


def pipe_fault(arena: Arena, desk: Path, command: tuple[str, ...]) -> str | None:
    """A pipe with a reader may be written to, but not replaced by a file: it could be a device."""
    reader = os.open(desk / "pipe.out", os.O_RDONLY | os.O_NONBLOCK)
    try:
        ran = arena.run(
            desk, *("pipe.out" if part == "OUT" else part for part in command), patience=20
        )
        written = read_all(reader)
    finally:
        os.close(reader)
    if crash := ran.crashed():
        return f"{crash}: {ran}"
    if not stat.S_ISFIFO((desk / "pipe.out").lstat().st_mode):
        return f"it was replaced by a file: {ran}"
    return f"exit code 0, and nothing was written: {ran}" if ran.code == 0 and not written else None


def read_all(reader: int) -> bytes:
    """The unread content of a pipe."""
    try:
        return os.read(reader, 1 << 16)
    except BlockingIOError:
        return b""


def special_fault(arena: Arena, desk: Path, command: tuple[str, ...], out: str) -> str | None:
    """Impossible places for a file: nothing may change; the exit code is not promised.

    A decision without its certificate must not be taken, so the log must stay unchanged too.
    """
    fault = refused_fault(arena, desk, command, out)
    return None if fault and fault.startswith("exit code 2") and "exit code 1," in fault else fault
