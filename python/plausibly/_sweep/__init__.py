"""Runs many comparisons on threads, processes or a Ray cluster, with the same table from each."""

from __future__ import annotations

import os

from .._simulate import Progress, check_count, checked_cache, shown_progress
from .engines import check_engine, open_engine
from .folder import Folder
from .jobs import Job, run_jobs
from .settings import Grid, Specs, read_experiments, read_settings
from .table import Sweep

__all__ = ["Sweep", "sweep"]


def sweep(
    specs: Specs,
    grid: Grid | None = None,
    *,
    engine: str = "threads",
    workers: int | None = None,
    task_runs: int | None = None,
    out: str | os.PathLike[str] | None = None,
    cache: str | os.PathLike[str] | None = None,
    progress: Progress = False,
) -> Sweep:
    """Runs many comparisons, and returns a table of their results.

    `specs` is a list of specs, each as for `simulate`; or it is one spec, and `grid` a dict from
    paths in it to lists of values. Every combination of the values is run. A path is
    `"environment.dim"`, or `"policy[1].greed"` with policies counted from 1, as in messages about
    specs.

    `engine` is `"threads"` or `"processes"` of this machine, or `"ray"` for a Ray cluster
    (`pip install "plausibly[ray]"`). `workers` is the number of tasks in progress at once, by
    default one per core. A task is `task_runs` runs of one spec, by default about a second of work.
    The results are those of `simulate`, to the last bit, whatever the engine, the workers or the
    tasks.

    `out` is a folder that keeps finished tasks. An interrupted sweep continues from there, also
    with another engine; at the end it contains the table as `sweep.csv`. A task with a dead worker
    is run again; after three deaths it is an error. `cache` and `progress` are as for `simulate`;
    on a cluster every node needs the data sets in its own cache.

    >>> from plausibly import sweep
    >>> spec = {
    ...     "runs": 4,
    ...     "horizon": 100,
    ...     "environment": {"kind": "linear", "dim": 2, "actions": 5},
    ...     "policy": [{"kind": "code", "label": "CODE"}, {"kind": "lin-ucb"}],
    ... }
    >>> result = sweep(spec, {"environment.dim": [2, 3, 4], "policy[1].greed": [0.0, 0.5]})
    >>> len(result)
    6
    >>> result.settings[1]
    {'environment.dim': 2, 'policy[1].greed': 0.5}
    >>> result["regret_mean"].shape
    (12,)
    """
    for name, value in (("workers", workers), ("task_runs", task_runs)):
        if value is not None:
            check_count(name, value, least=1)
    check_engine(engine, workers)
    settings = read_settings(specs, grid)
    where = checked_cache(cache)
    experiments = read_experiments(settings, where)
    order = [
        Job.of(setting, experiment, where) for setting, experiment in zip(settings, experiments)
    ]
    # Settings that give the same spec are run once.
    jobs = {job.key: job for job in reversed(order)}
    folder = None if out is None else Folder(out)
    with shown_progress(progress) as tell:
        distinct = [job for job in order if job is jobs[job.key]]
        run_jobs(distinct, lambda: open_engine(engine, workers), folder, task_runs, tell)
    table = Sweep(
        [setting.values for setting in settings], [jobs[job.key].result() for job in order]
    )
    if folder is not None:
        folder.finish(table.csv)
    return table
