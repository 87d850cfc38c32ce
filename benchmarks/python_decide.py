"""Measures a decision of a log from Python, in two versions of the package that take turns.

`python benchmarks/python_decide.py BEFORE AFTER`, where each argument is the Python of a virtual
environment that has one of the versions:

    git archive 2286e7f --prefix before/ | tar -x
    for version in before .; do pip wheel --no-deps --wheel-dir wheels/$version ./$version; done
    python -m venv env-before && env-before/bin/pip install wheels/before/*.whl
    python -m venv env-after && env-after/bin/pip install wheels/./plausibly-*.whl
    python benchmarks/python_decide.py env-before/bin/python env-after/bin/python

Logs are in memory, so no sync is counted. Each log has 200 outcomes, and every measured decision
stays pending. The fastest call of each task counts. Prints a table, and exits with 1 if a decision
is less than ten times as fast.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from typing import Any

DIM, ACTIONS, SETTLED = 32, 50, 200
CALLS = 5
WANTED = 10.0
TASKS = {
    "same": "decide among the same rows",
    "equal": "decide among equal rows in new dicts",
    "other": "decide among rows with one other number",
    "words": "decide, and its explanation",
    "reward": "record a reward",
}


def measured(turns: Any) -> None:
    """Measures every task once for each line of `turns`, and prints nanoseconds by task."""
    import numpy as np
    from plausibly import Log

    rng = np.random.default_rng(1)
    features = rng.normal(size=(ACTIONS, DIM - 1)).round(3).tolist()  # and an intercept
    rows = [
        {"name": f"action {i}", **{f"x{j}": x for j, x in enumerate(row)}}
        for i, row in enumerate(features)
    ]
    log = Log(None, seed=1, clock=lambda: 1_794_000_000_000_000)
    for reward in rng.uniform(size=SETTLED):
        log.reward(log.decide(rows).id, reward)
    waiting: list[int] = []
    # A log of its own, because every other number adds an action.
    changing = Log(None, seed=1, clock=lambda: 1_794_000_000_000_000)
    changing.decide(rows)

    def other() -> object:
        rows[0]["x0"] += 0.001
        return changing.decide(rows)

    tasks = {
        "same": lambda: waiting.append(log.decide(rows).id),
        "equal": lambda: log.decide([dict(row) for row in rows]),
        "other": other,
        "words": lambda: log.decide(rows).explanation,
        "reward": lambda: log.reward(waiting.pop(), 0.5),
    }
    for _ in turns:
        best = {}
        for name, task in tasks.items():
            times = []
            for _ in range(CALLS):
                begun = time.perf_counter_ns()
                task()
                times.append(time.perf_counter_ns() - begun)
            best[name] = min(times)
        print(json.dumps(best), flush=True)


def race(pythons: list[str], turns: int) -> list[dict[str, float]]:
    """Microseconds by task of each version."""
    call = [__file__, "--measure"]
    workers = [
        subprocess.Popen([python, *call], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for python in pythons
    ]
    best = [dict.fromkeys(TASKS, float("inf")) for _ in workers]
    for _ in range(turns):
        for worker, own in zip(workers, best, strict=True):
            worker.stdin.write("\n")
            worker.stdin.flush()
            line = worker.stdout.readline()
            if not line:
                raise SystemExit(f"{worker.args[0]}: the measurement failed")
            for name, nanoseconds in json.loads(line).items():
                own[name] = min(own[name], nanoseconds / 1e3)
    for worker in workers:
        worker.stdin.close()
        worker.wait()
    return best


def main() -> int:
    if sys.argv[1:] == ["--measure"]:
        measured(sys.stdin)
        return 0
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("before", help="the Python that has the earlier version")
    arguments.add_argument("after", help="the Python that has this version")
    arguments.add_argument("--turns", type=int, default=60, help="turns of each version")
    given = arguments.parse_args()
    before, after = race([given.before, given.after], given.turns)
    print(f"| task, {DIM} features and {ACTIONS} actions | before, µs | now, µs | times as fast |")
    print("| --- | --- | --- | --- |")
    for name, words in TASKS.items():
        times = before[name] / after[name]
        print(f"| {words} | {before[name]:.0f} | {after[name]:.0f} | {times:.1f} |")
    met = before["same"] >= WANTED * after["same"]
    print(f"\na decision must be at least {WANTED:g} times as fast: {'met' if met else 'missed'}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
