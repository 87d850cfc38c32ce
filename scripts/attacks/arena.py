"""Shared parts of all attacks: running the command, and counting results."""

from __future__ import annotations

import os
import random
import re
import resource
import shutil
import signal
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

# More than any command needs for these small inputs, and less than a runaway one takes.
MEMORY = 1 << 30
# Seconds. The slowest correct command takes about one; the rest is for a busy machine.
PATIENCE = 60.0


@dataclass
class Ran:
    """How a command ended; `code` is negative for a signal and None for a hang."""

    args: tuple[str, ...]
    code: int | None
    out: bytes
    err: bytes

    @property
    def said(self) -> str:
        return (self.out + self.err).decode("utf-8", "replace")

    def crashed(self) -> str | None:
        """A description of the crash, if it was one. No input may cause it."""
        if self.code is None:
            return "did not end"
        if self.code < 0:
            return f"was ended by signal {-self.code}"
        if self.code == 101 or b"panicked at" in self.err:
            return "panicked"
        if self.code not in (0, 1, 2, 3, 4, 130):
            return f"ended with the undocumented exit code {self.code}"
        return None

    def __str__(self) -> str:
        said = self.err.decode("utf-8", "backslashreplace").strip()
        return (
            f"`plausibly {' '.join(self.args)}` gave exit code {self.code}, stderr {said[-300:]!r}"
        )


@dataclass
class Tally:
    """The results of one kind of attack."""

    name: str
    tried: str
    attempts: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    violations: list[str] = field(default_factory=list)
    skipped: str = ""
    seconds: float = 0.0
    # Called with each violation; the self-test stops an attack here once it has found its
    # violation.
    found: ClassVar[Callable[[str], None]] = lambda violation: None

    def judge(self, outcome: str, violation: str | None) -> None:
        """Counts one attempt: its result, or the promise that it broke."""
        self.attempts += 1
        if violation is None:
            self.outcomes[outcome] += 1
        else:
            self.violations.append(violation)
            Tally.found(violation)


def kind(violation: str) -> str:
    """A violation without the parts that differ between attempts: numbers and quoted texts."""
    return re.sub(r"""`[^`]*`|'[^']*'|"[^"]*"|[0-9.]+""", "…", violation)[:100]


@dataclass
class Arena:
    """The setting of the attacks: one command, one folder, one seed."""

    command: Path
    python: Path | None
    folder: Path
    size: str
    seed: int
    _desks: int = 0

    def count(self, quick: int, full: int) -> int:
        """The number of attempts; a tenth of the quick ones for a stand-in."""
        return {"full": full, "quick": quick}.get(self.size, max(quick // 10, 1))

    def some(self, jobs: Iterable[Any], quick: int, name: str) -> list[Any]:
        """All jobs at full size, else the first `count` of them, in their order."""
        jobs = list(jobs)
        if self.size == "full" or len(jobs) <= self.count(quick, quick):
            return jobs
        kept = sorted(self.random(name).sample(range(len(jobs)), self.count(quick, quick)))
        return [jobs[at] for at in kept]

    def random(self, name: str) -> random.Random:
        return random.Random(f"{self.seed} {name}")

    def desk(self) -> Path:
        """A new folder."""
        self._desks += 1
        desk = self.folder / f"desk-{self._desks}"
        desk.mkdir()
        return desk

    def done_with(self, desk: Path) -> None:
        shutil.rmtree(desk, ignore_errors=True)

    def start(
        self, desk: Path, *args: object, memory: int | None = None, **pipes: Any
    ) -> subprocess.Popen[bytes]:
        def limit() -> None:
            if memory is not None:
                resource.setrlimit(resource.RLIMIT_AS, (memory, memory))

        pipes = {
            "stdin": subprocess.DEVNULL,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
        } | pipes
        environment = {
            name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ
        }
        return subprocess.Popen(
            [str(self.command), *map(str, args)],
            cwd=desk,
            env=environment,
            # Without a limit there is no function to call, and starting is several times faster.
            preexec_fn=limit if memory is not None else None,
            **pipes,
        )

    def run(self, desk: Path, *args: object, patience: float = PATIENCE, **more: Any) -> Ran:
        return finish(self.start(desk, *args, **more), tuple(map(str, args)), patience)

    def each(self, jobs: Iterable[Any], attempt: Callable[[Any], Any]) -> Iterable[Any]:
        """The results of all attempts in their order; runs one per core at a time."""
        pool = ThreadPoolExecutor(os.cpu_count() or 2)
        try:
            yield from pool.map(attempt, jobs)
        finally:
            # Stopping early must not wait for attempts that have not begun.
            pool.shutdown(cancel_futures=True)


def finish(
    child: subprocess.Popen[bytes], args: tuple[str, ...], patience: float = PATIENCE
) -> Ran:
    try:
        out, err = child.communicate(timeout=patience)
        code: int | None = child.returncode
    except subprocess.TimeoutExpired:
        child.send_signal(signal.SIGKILL)
        out, err = child.communicate()
        code = None
    return Ran(args, code, out or b"", err or b"")
