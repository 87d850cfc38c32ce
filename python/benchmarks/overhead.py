"""Measures a round of CODE from Python: `python python/benchmarks/overhead.py`, on a quiet machine.

Makes the same decisions through Python with an `ActionSet`, inside Rust, and with NumPy. Where
MABWiser is installed, also compares its `MAB` with `plausibly.compat.mabwiser`. Contenders take
turns in short blocks in one process on one thread, and the fastest block of each counts. Writes
docs/benchmarks/python.md, and exits with 1 if a target was missed.
"""

from __future__ import annotations

import os

for _threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_threads] = "1"  # before NumPy reads them

import argparse
import datetime
import importlib.util
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy_code import NumpyCode

import plausibly
from plausibly import ActionSet, Code
from plausibly.compat import mabwiser

ACTIONS, DIM = 100, 5
CHECKED = 20_000
LARGEST_OVERHEAD, SMALLEST_FACTOR = 1.5, 8.0
SETTINGS: dict[str, Any] = {"ridge": 1.0, "noise_scale": 0.5, "theta_norm_bound": 2.0}
# What the NumPy implementation does.
PLAIN: dict[str, Any] = {
    **SETTINGS,
    "radius": {"kind": "determinant"},
    "exclusion": "intervals",
    "greed": 0.0,
}

Contender = tuple[str, Callable[[int], object]]


def race(contenders: list[Contender], turns: int, *, block: float | None = 1e-3) -> list[float]:
    """Seconds per round in the fastest block of each contender.

    A block holds as many rounds as fit into `block` seconds, or one round if it is None.
    """

    def timed(run: Callable[[int], object], rounds: int) -> float:
        begun = time.perf_counter()
        run(rounds)
        return (time.perf_counter() - begun) / rounds

    def in_block(run: Callable[[int], object]) -> int:
        # Much longer than a tick of the clock, much shorter than a busy spell of the machine.
        return 1 if block is None else max(1, int(block / min(timed(run, 1) for _ in range(20))))

    rounds = [in_block(run) for _, run in contenders]
    best = [float("inf")] * len(contenders)
    for _ in range(turns):
        for place, (_, run) in enumerate(contenders):
            best[place] = min(best[place], timed(run, rounds[place]))
    return best


def problem() -> tuple[Any, list[float]]:
    """Rows of features, and the constant reward of each row."""
    rng = np.random.default_rng(1)
    rows = rng.uniform(-1.0, 1.0, size=(ACTIONS, DIM))
    return rows, (rows @ rng.normal(size=DIM) / 2.0).tolist()


def loop_over(policy: Any, offered: Any, rewards: list[float], rounds: int) -> list[int]:
    """The loop that a user writes."""
    select, update = policy.select, policy.update
    chosen = []
    for _ in range(rounds):
        action = select(offered)
        update(action, rewards[action])
        chosen.append(action)
    return chosen


def loop_in_numpy(policy: NumpyCode, rewards: list[float], rounds: int) -> list[int]:
    chosen = []
    for _ in range(rounds):
        action = policy.select()
        policy.update(action, rewards[action])
        chosen.append(action)
    return chosen


def rounds_of_code(turns: int) -> list[tuple[str, float]]:
    """Microseconds per round, after a check that all contenders choose the same."""
    rows, rewards = problem()
    offered = ActionSet(rows)
    same = [
        loop_over(Code(**PLAIN), offered, rewards, CHECKED),
        Code(**PLAIN)._play(offered, rewards, CHECKED),
        loop_in_numpy(NumpyCode(rows, delta=0.05, **SETTINGS), rewards, CHECKED),
    ]
    if not same[0] == same[1] == same[2]:
        raise SystemExit("the contenders choose different actions: nothing to compare")
    print(f"the same {CHECKED} choices among {len(set(same[0]))} actions\n")
    python, bare, rust = Code(**PLAIN), Code(**PLAIN), Code(**PLAIN)
    numpy = NumpyCode(rows, delta=0.05, **SETTINGS)
    contenders: list[Contender] = [
        (
            "through Python, with an `ActionSet`",
            lambda rounds: loop_over(python, offered, rewards, rounds),
        ),
        ("inside Rust", lambda rounds: rust._play(offered, rewards, rounds)),
        ("NumPy", lambda rounds: loop_in_numpy(numpy, rewards, rounds)),
        (
            "through Python, with a bare array",
            lambda rounds: loop_over(bare, rows, rewards, rounds),
        ),
    ]
    seconds = race(contenders, turns)
    return [(name, 1e6 * best) for (name, _), best in zip(contenders, seconds)]


def beside_mabwiser(turns: int) -> list[tuple[str, str, float, float]]:
    """Milliseconds of MABWiser and of ours, per policy and task."""
    from mabwiser import mab as theirs  # type: ignore[import-untyped]

    rng = np.random.default_rng(2)
    rows, count, dim = 10_000, 10, 10
    arms = [f"arm {arm}" for arm in range(count)]
    decisions = [arms[arm] for arm in rng.integers(count, size=rows)]
    rewards, contexts = rng.normal(size=rows), rng.normal(size=(rows, dim))
    measured = []
    for name in ("LinGreedy", "LinUCB", "LinTS"):
        bandits = [
            library.MAB(arms, getattr(library.LearningPolicy, name)())
            for library in (theirs, mabwiser)
        ]
        one = contexts[:1]
        tasks: list[tuple[str, Callable[[Any], object]]] = [
            ("fit 10,000 rows", lambda mab: mab.fit(decisions, rewards, contexts)),
            ("predict 10,000 rows", lambda mab: mab.predict(contexts)),
            (
                "predict and learn one row",
                lambda mab: mab.partial_fit([mab.predict(one)], [0.5], one),
            ),
        ]
        for task, run in tasks:
            runs: list[Contender] = [
                (name, lambda _, mab=mab, run=run: run(mab)) for mab in bandits
            ]  # type: ignore[misc]
            their_best, our_best = race(runs, turns, block=None)
            measured.append((name, task, 1e3 * their_best, 1e3 * our_best))
    return measured


def verdicts(rounds: dict[str, float]) -> list[tuple[str, bool]]:
    python, rust, numpy, _ = rounds.values()
    overhead, factor = python - rust, numpy / python
    return [
        (
            f"overhead of Python {overhead:.2f} µs per round; wanted: at most {LARGEST_OVERHEAD}",
            overhead <= LARGEST_OVERHEAD,
        ),
        (
            f"{factor:.1f} times as fast as NumPy; wanted: at least {SMALLEST_FACTOR:g}",
            factor >= SMALLEST_FACTOR,
        ),
    ]


def page(rounds: list[tuple[str, float]], compared: list[tuple[str, str, float, float]]) -> str:
    load = f", load average {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    lines = [
        "# Benchmarks from Python",
        "",
        f"Command: `python python/benchmarks/overhead.py` · {datetime.date.today()} · "
        f"version {plausibly.__version__} · Python {platform.python_version()},",
        f"NumPy {np.__version__} · {os.cpu_count()} cores, {platform.machine()}, "
        f"one thread used{load}",
        "",
        f"CODE with {ACTIONS} actions of {DIM} features: choose, look up the reward in a list, "
        "learn. The script first",
        f"checks that all contenders make the same {CHECKED:,} choices. They take turns in short "
        "blocks, and the",
        "fastest block counts. The NumPy contender is "
        "[numpy_code.py](../../python/benchmarks/numpy_code.py).",
        "",
        "| one round | µs |",
        "| --- | --- |",
        *(f"| {name} | {best:.2f} |" for name, best in rounds),
        "",
        *(f"- {'met' if met else '**missed**'}: {words}" for words, met in verdicts(dict(rounds))),
        "",
    ]
    if compared:
        lines += [
            "## Beside MABWiser",
            "",
            "`plausibly.compat.mabwiser.MAB` beside MABWiser's own: 10 arms, contexts of 10 "
            "features, default",
            "settings.",
            "",
            "| policy | task | MABWiser, ms | ours, ms | times |",
            "| --- | --- | --- | --- | --- |",
            *(
                f"| {name} | {task} | {their:.2f} | {our:.2f} | {their / our:.1f} |"
                for name, task, their, our in compared
            ),
            "",
        ]
    return "\n".join(lines)


def main() -> int:
    home = Path(__file__).resolve().parents[2]
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument(
        "--out", type=Path, default=home / "docs/benchmarks/python.md", help="the page to write"
    )
    arguments.add_argument("--turns", type=int, default=400, help="blocks of each contender")
    given = arguments.parse_args()
    rounds = rounds_of_code(given.turns)
    there = importlib.util.find_spec("mabwiser") is not None
    compared = beside_mabwiser(max(given.turns // 20, 3)) if there else []
    text = page(rounds, compared)
    print(text)
    given.out.write_text(text, encoding="utf-8")
    return 0 if all(met for _, met in verdicts(dict(rounds))) else 1


if __name__ == "__main__":
    sys.exit(main())
