"""Shared parts of the sweep tests: a sweep to run, and workers to kill."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

SPEC: dict[str, Any] = {
    "name": "swept, twice",
    "seed": 3,
    "runs": 11,
    "horizon": 200,
    "environment": {"kind": "linear", "dim": 3, "actions": 10, "noise": 0.5},
    "policy": [{"kind": "code", "label": "CODE"}, {"kind": "epsilon-greedy"}],
}
GRID: dict[str, Any] = {"environment.dim": [2, 3], "policy[1].greed": [0.0, 0.5]}
# Seconds of work in tasks of a tenth of a second, so that there is time to kill.
SLOW: dict[str, Any] = {**SPEC, "runs": 24, "horizon": 20_000}


def children(parent: int, called: str) -> list[int]:
    """Child processes of a process with this text in their command line."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            status, command = (folder / "status").read_text(), (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if f"\nPPid:\t{parent}\n" in status and called.encode() in command:
            found.append(int(folder.name))
    return found


class Killer:
    """A progress function that kills a worker on its first few calls."""

    def __init__(self, parent: int, called: str, times: int) -> None:
        self.parent, self.called, self.left = parent, called, times
        self.killed: list[int] = []
        self.heard: list[tuple[int, int]] = []

    def __call__(self, done: int, total: int) -> None:
        self.heard.append((done, total))
        if self.left and done:
            victims = children(self.parent, self.called)
            if victims:
                os.kill(victims[0], signal.SIGKILL)
                self.killed.append(victims[0])
                self.left -= 1
