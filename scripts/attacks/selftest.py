"""Broken stand-ins for the command: an attack that misses its own stand-in tests nothing.

Each stand-in is a short script around the true command that breaks one promise. It is written into
the folder of the attacks and attacked instead of the command.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .arena import Arena, Tally, kind

BEGINNING = """\
#!{python}
import json, os, re, shutil, signal, subprocess, sys, time
COMMAND = {command!r}
ARGS = sys.argv[1:]
def after(flag):
    return ARGS[ARGS.index(flag) + 1] if flag in ARGS else None
def run(args=ARGS, **more):
    return subprocess.run([COMMAND, *args], stdin=subprocess.DEVNULL, capture_output=True, **more)
def say(ran):
    sys.stdout.buffer.write(ran.stdout); sys.stdout.flush()
    sys.stderr.buffer.write(ran.stderr); sys.stderr.flush()
    sys.exit(ran.returncode)
LOG = after("--log")
"""


@dataclass(frozen=True)
class StandIn:
    """A broken command: the attack that must catch it, a description, and its script."""

    attack: str
    does: str
    body: str


STAND_INS = [
    StandIn(
        "kills",
        "answers, and then loses the line it had acknowledged",
        """
        ran = run()
        if ARGS[0] == "decide" and ran.returncode == 0 and len(open(LOG, "rb").readlines()) > 18:
            lines = open(LOG, "rb").readlines()
            open(LOG, "wb").writelines(lines[:-1])
        say(ran)
    """,
    ),
    StandIn(
        "signals",
        "decides after an interrupt, and says that nothing was written",
        """
        def stop(*_):
            run()
            os._exit(130)
        for which in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(which, stop)
        say(run())
    """,
    ),
    StandIn(
        "signals",
        "calls an answer that was lost a success",
        """
        for which in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(which, signal.SIG_IGN)
        ran = run()
        try:
            sys.stdout.buffer.write(ran.stdout); sys.stdout.flush()
        except OSError:
            os._exit(0)
        os._exit(ran.returncode)
    """,
    ),
    StandIn(
        "cuts",
        "cuts off one line more than was torn",
        """
        if ARGS[0] == "decide" and LOG and os.path.exists(LOG):
            data = open(LOG, "rb").read()
            if data and not data.endswith(b"\\n"):
                open(LOG, "wb").write(b"".join(data.splitlines(True)[:-2]))
                if not os.path.getsize(LOG): os.unlink(LOG)
        say(run(ARGS + (["--yes"] if ARGS[0] == "decide" and "--yes" not in ARGS else [])))
    """,
    ),
    StandIn(
        "flips",
        "repairs a damaged log without a word",
        """
        ran = run()
        if LOG and os.path.exists(LOG) and b"line" in ran.stderr and ran.returncode == 1:
            number = int(re.search(rb"line (\\d+)", ran.stderr)[1])
            lines = open(LOG, "rb").readlines()
            open(LOG, "wb").writelines(lines[:number - 1])
            ran = run()
        say(ran)
    """,
    ),
    StandIn(
        "certificates",
        "verifies everything",
        """
        ran = run()
        if ARGS[0] == "verify": ran.returncode = 0
        say(ran)
    """,
    ),
    StandIn(
        "certificates",
        "refuses what is true",
        """
        ran = run()
        if ARGS[0] == "verify": ran.returncode = 1
        say(ran)
    """,
    ),
    StandIn(
        "certificates",
        "alters a finding before it verifies",
        """
        if ARGS[0] == "verify":
            text = open(ARGS[1]).read()
            try:
                found = json.loads(text)
                decision = str(found["grounds"]["decision"])
                true = json.loads(run(["explain", "--log", "a.log", decision, "--json"]).stdout)
                open(ARGS[1], "w").write(json.dumps(true))
            except ValueError: pass
        say(run())
    """,
    ),
    StandIn(
        "snapshots",
        "believes any snapshot that is there",
        """
        ran = run()
        if LOG and os.path.exists(LOG + ".snapshot") and ARGS[0] == "decide":
            ran.stdout = ran.stdout.replace(b'"left"', b'"right"')
        say(ran)
    """,
    ),
    StandIn(
        "rehashed",
        "reads a log without checking its choices",
        """
        ran = run()
        if ARGS[0] in ("status", "replay", "explain"):
            ran.returncode, ran.stderr = 0, b""
        say(ran)
    """,
    ),
    StandIn(
        "tables",
        "prints a label as it is in the table",
        """
        ran = run()
        if ARGS[0] == "decide" and ran.returncode == 0: ran.stdout += b"\\x1b[0m\\n"
        say(ran)
    """,
    ),
    StandIn(
        "tables",
        "leaves an empty log behind a refusal",
        """
        ran = run()
        if ARGS[0] == "decide" and ran.returncode == 2: open(LOG, "a").close()
        say(ran)
    """,
    ),
    StandIn(
        "terminal",
        "repeats its arguments in its errors",
        """
        ran = run()
        if ran.returncode: ran.stderr += " ".join(ARGS).encode()
        say(ran)
    """,
    ),
    StandIn(
        "outputs",
        "writes to any given path",
        """
        for flag in ("--certificate", "--html", "--svg"):
            if flag in ARGS and os.path.exists(after(flag)):
                open(after(flag), "w").write("{}")
        say(run())
    """,
    ),
    StandIn(
        "concurrency",
        "decides in a copy of the log and moves it back",
        """
        if ARGS[0] == "decide":
            mine = f"{LOG}.{os.getpid()}"
            if os.path.exists(LOG): shutil.copy(LOG, mine)
            ran = run([mine if part == LOG else part for part in ARGS])
            time.sleep(0.05)
            if os.path.exists(mine): os.replace(mine, LOG)
            say(ran)
        say(run())
    """,
    ),
]

PANICKING = """\
class PanicException(BaseException): pass
class Policy:
    def __init__(self, **_): self.seen = 0
    def select(self, actions): return 0
    def update(self, *_): pass
    decided = explain = update
    def save(self, path):
        import json
        open(path, "w").write(json.dumps({"format": "plausibly policy", "version": 1, "seed": 5}))
    @classmethod
    def load(cls, path):
        import json
        if json.load(open(path)).get("seed") != 5: raise PanicException("index out of bounds")
        return cls()
class ActionSet:
    def __init__(self, *_, **__): pass
    @classmethod
    def arms(cls, count): return cls()
    def __getitem__(self, at): return at
Code = LinUCB = LinTS = Elimination = EpsilonGreedy = ExploreThenCommit = UCB1 = Thompson = Policy
"""


class Caught(Exception):
    """A violation that the true command does not have."""


def broken_command(stand_in: StandIn, command: Path, folder: Path) -> Path:
    path = folder / "plausibly"
    path.write_text(
        BEGINNING.format(python=sys.executable, command=str(command))
        + textwrap.dedent(stand_in.body)
    )
    path.chmod(0o755)
    return path


def broken_python(folder: Path) -> Path:
    """A Python with a package whose policies panic."""
    (folder / "package" / "plausibly").mkdir(parents=True)
    (folder / "package" / "plausibly" / "__init__.py").write_text(PANICKING)
    path = folder / "python"
    path.write_text(f'#!/bin/sh\nPYTHONPATH="{folder / "package"}" exec "{sys.executable}" "$@"\n')
    path.chmod(0o755)
    return path


def caught(what: str, attack: Callable[[Arena], Tally], arena: Arena, known: set[str]) -> bool:
    """Whether an attack finds violations of a kind that the true command does not have."""

    def found(violation: str) -> None:
        if kind(violation) not in known:
            raise Caught(violation)

    Tally.found = found
    try:
        attack(arena)
    except Caught as violation:
        print(f"self-test: {what}: caught: {str(violation)[:160]}", flush=True)
        return True
    except RuntimeError as error:
        # The stand-in was too broken to be attacked, which shows nothing about the attack.
        print(f"self-test: {what}: the attack could not be made: {error}", flush=True)
        return False
    finally:
        Tally.found = lambda violation: None
    print(f"self-test: {what}: NOT CAUGHT", flush=True)
    return False


def main(attacks: dict[str, Callable[[Arena], Tally]], command: Path, folder: Path) -> int:
    """Attacks the true command, and then every stand-in."""
    results = []
    place = folder / "true"
    place.mkdir()
    true_arena = Arena(command, None, place, "self-test", 1)
    known = {
        name: {kind(text) for text in attack(true_arena).violations}
        for name, attack in attacks.items()
    }
    for number, stand_in in enumerate(STAND_INS):
        if stand_in.attack not in attacks:
            continue
        place = folder / f"stand-in-{number}"
        place.mkdir()
        arena = Arena(broken_command(stand_in, command, place), None, place, "self-test", 1)
        what = f"{stand_in.attack}: a command that {stand_in.does}"
        results.append(caught(what, attacks[stand_in.attack], arena, known[stand_in.attack]))
    if "saved" in attacks:
        place = folder / "stand-in-python"
        place.mkdir()
        arena = Arena(command, broken_python(place), place, "self-test", 1)
        results.append(
            caught("saved: a package whose policies panic", attacks["saved"], arena, set())
        )
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return 0 if all(results) else 1
