"""Sweeps on Ray: two workers of this machine, one of them killed.

`scripts/test --full` runs them in a separate environment.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sweeps import GRID, SLOW, SPEC, Killer, children

from plausibly import sweep

pytestmark = [
    pytest.mark.ray,
    # Ignores what Ray itself leaves open or warns about.
    pytest.mark.filterwarnings("default"),
]


@pytest.fixture(scope="module")
def raylet() -> Iterator[int]:
    """A cluster of two workers; yields the process that starts them."""
    ray: Any = pytest.importorskip("ray")
    ray.init(
        num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=100_000_000
    )
    yield ray.get(ray.remote(lambda: os.getppid()).remote())
    ray.shutdown()


def test_the_table_is_that_of_threads(raylet: int) -> None:
    expected = sweep(SPEC, GRID)
    for workers, task_runs in ((1, 2), (2, 3), (None, None)):
        found = sweep(SPEC, GRID, engine="ray", workers=workers, task_runs=task_runs)
        assert found.csv == expected.csv
        assert [result.csv for result in found.results] == [
            result.csv for result in expected.results
        ]


def test_a_killed_worker_costs_nothing_but_time(raylet: int) -> None:
    killer = Killer(raylet, "ray::play", times=2)
    found = sweep(SLOW, engine="ray", workers=2, task_runs=1, progress=killer)
    assert len(set(killer.killed)) == 2
    assert found.csv == sweep(SLOW).csv
    assert killer.heard[-1] == (24 * 20_000,) * 2 and killer.heard == sorted(killer.heard)


def test_a_range_that_is_always_lost_is_named(raylet: int) -> None:
    # No task ever finishes, so progress is never called; a thread kills the worker instead.
    import signal
    import threading

    over = threading.Event()

    def kill() -> None:
        while not over.wait(0.05):
            for victim in children(raylet, "ray::play"):
                os.kill(victim, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        with pytest.raises(
            RuntimeError, match="^runs 0 to 9 of setting 0: the worker was lost 3 times"
        ):
            sweep({**SLOW, "horizon": 1_000_000}, engine="ray", workers=1, task_runs=10)
    finally:
        over.set()
        killer.join()


def test_what_goes_wrong_in_a_task_is_told_with_its_setting(raylet: int) -> None:
    spec = {**SPEC, "policy": [{"kind": "code", "radius": {"kind": "paper"}}]}
    with pytest.raises(
        ValueError, match=r"^runs 0 to 10 of setting 1 \(environment.dim = 1\): .*cannot be built"
    ):
        sweep(spec, {"environment.dim": [2, 1]}, engine="ray")


def test_threads_go_on_with_what_ray_left(raylet: int, tmp_path: Path) -> None:
    class Enough(Exception):
        pass

    def tell(done: int, total: int) -> None:
        if done > 2000:
            raise Enough

    with pytest.raises(Enough):
        sweep(SPEC, GRID, engine="ray", workers=2, task_runs=3, out=tmp_path, progress=tell)
    heard: list[int] = []
    again = sweep(SPEC, GRID, out=tmp_path, progress=lambda done, _: heard.append(done))
    assert heard[0] > 2000 and again.csv == sweep(SPEC, GRID).csv


def test_a_cluster_of_its_own_ends_with_the_sweep() -> None:
    # Last: the fixture's cluster must be gone.
    ray = pytest.importorskip("ray")
    ray.shutdown()
    assert sweep(SPEC, GRID, engine="ray", workers=2).csv == sweep(SPEC, GRID).csv
    assert not ray.is_initialized()
