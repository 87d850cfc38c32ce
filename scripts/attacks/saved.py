"""Saved policies with altered states and valid checksums: a ValueError or a working policy."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from .arena import Arena, Tally

CHILD = Path(__file__).with_name("saved_child.py")
# The allowed results of a mutant; any other result is a violation.
FINE = {
    "refused": "ValueError on loading",
    "worked": "a working policy",
    "refused later": "ValueError in use",
}
ENDS = {-14: "hung for 20 s", -6: "aborted", -11: "crashed by SIGSEGV", -9: "was killed"}


def batch(
    arena: Arena, python: Path, first: int, until: int
) -> tuple[dict[int, tuple[str, str]], int | None, str]:
    """Results of a range of mutants, the number at which the process died, and how."""
    desk = arena.desk()
    command = [str(python), str(CHILD), str(arena.seed), str(first), str(until)]
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1", "OPENBLAS_NUM_THREADS": "1"}
    ran = subprocess.run(command, cwd=desk, env=environment, capture_output=True, check=False)
    arena.done_with(desk)
    found: dict[int, tuple[str, str]] = {}
    begun = None
    for line in ran.stdout.decode("utf-8", "replace").splitlines():
        report = json.loads(line)
        if "begins" in report:
            begun = int(report["number"])
            found[begun] = ("begins", report["begins"])
        else:
            found[int(report["number"])] = (report["result"], found[int(report["number"])][1])
            begun = None
    how = ENDS.get(
        ran.returncode,
        f"ended with {ran.returncode}: {ran.stderr.decode('utf-8', 'replace')[-300:]}",
    )
    if ran.returncode != 0 and begun is None:
        raise RuntimeError(f"the attack on saved policies itself failed: {how}")
    return found, begun, how


def attack(arena: Arena) -> Tally:
    tally = Tally(
        "saved policies",
        "one value of a saved policy altered, left out or doubled, and its checksum made again",
    )
    python = arena.python
    if python is None:
        tally.skipped = "--python names no Python with the package"
        return tally
    seen = subprocess.run(
        [python, "-c", "import plausibly"], cwd=arena.folder, capture_output=True, check=False
    )
    if seen.returncode != 0:
        tally.skipped = f"{python} has no package plausibly"
        return tally
    count, step = arena.count(600, 12_000), 200

    def whole(first: int) -> list[tuple[str, str | None]]:
        verdicts: list[tuple[str, str | None]] = []
        until, at = min(first + step, count), first
        while at < until:
            found, died, how = batch(arena, python, at, until)
            for number, (result, what) in found.items():
                if number == died:
                    verdicts.append(("", f"{how}: mutant {number}, {what}"))
                elif result in FINE:
                    verdicts.append((FINE[result], None))
                else:
                    verdicts.append(("", f"{result}: mutant {number}, {what}"))
            at = until if died is None else died + 1
        return verdicts

    for verdicts in arena.each(range(0, count, step), whole):
        for outcome, fault in verdicts:
            tally.judge(outcome, fault)
    return tally
