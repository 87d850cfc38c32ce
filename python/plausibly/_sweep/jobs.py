"""Cuts the specs of a sweep into ranges of runs, runs them, and combines them by run number."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import closing
from dataclasses import dataclass, field

from .. import _core
from .._simulate import Result
from .engines import Engine, Lost, Task
from .folder import Folder
from .settings import Setting

# Default rounds times policies per task: about a second, so that starting it costs little and a
# lost worker loses little. Independent of the workers, so that one machine can resume what another
# began.
_TASK_DECISIONS = 1_000_000
# Losses of the same range of runs, after which the range itself is to blame.
_MOST_LOSSES = 3
# The longest wait, in seconds, before Python notices Ctrl-C, on platforms that need it.
_PULSE = 0.2


@dataclass
class Job:
    """A spec of a sweep, and its results so far."""

    setting: str
    key: str
    spec: str
    experiment: _core.Experiment
    cache: str | None
    _parts: dict[int, tuple[int, bytes]] = field(default_factory=dict)
    _result: Result | None = None

    @classmethod
    def of(cls, setting: Setting, experiment: _core.Experiment, cache: str | None = None) -> Job:
        """Its identity: the spec with all defaults filled in, and the version that runs it."""
        spec = json.dumps(experiment.resolved(), sort_keys=True, separators=(",", ":"))
        key = hashlib.sha256(f"plausibly {_core.__version__}\n{spec}".encode()).hexdigest()
        return cls(str(setting), key, spec, experiment, cache)

    @property
    def rounds(self) -> int:
        """Rounds of all its runs."""
        return self.experiment.runs * self.experiment.horizon

    def add(self, first: int, end: int, part: bytes) -> None:
        """Adds a range of runs; the last one sums up all runs in order, and frees them."""
        self._parts[first] = (end, part)
        if sum(end - first for first, (end, _) in self._parts.items()) == self.experiment.runs:
            parts = [self._parts[first][1] for first in sorted(self._parts)]
            self._result = Result(**self.experiment.sum_up(parts))
            self._parts.clear()

    def result(self) -> Result:
        """The result, once all ranges were added."""
        assert self._result is not None
        return self._result

    def tasks(self, task_runs: int | None) -> Iterator[Task]:
        """The missing runs, in ranges of at most `size` runs."""
        if self._result is not None:
            return
        size = task_runs or max(
            1, _TASK_DECISIONS // (self.experiment.horizon * len(self.experiment.policies))
        )
        begin = 0
        for first, end in [
            *sorted((first, end) for first, (end, _) in self._parts.items()),
            (self.experiment.runs,) * 2,
        ]:
            while begin < first:
                stop = min(begin + size, first)
                yield Task(
                    self.setting, self.key, self.spec, self.experiment, self.cache, begin, stop
                )
                begin = stop
            begin = end


def run_jobs(
    jobs: list[Job],
    start: Callable[[], Engine],
    folder: Folder | None,
    task_runs: int | None,
    tell: Callable[[int, int], object] | None,
) -> None:
    """Runs what the folder does not have, and keeps the results there."""
    by_key = {job.key: job for job in jobs}
    done, total = 0, sum(job.rounds for job in jobs)
    for job in jobs if folder else ():
        assert folder is not None
        for first, end, part in folder.read(job.key, job.experiment.runs):
            job.add(first, end, part)
            done += (end - first) * job.experiment.horizon
    if tell:
        tell(done, total)
    tasks = deque(task for job in jobs for task in job.tasks(task_runs))
    if not tasks:
        return
    with closing(_played(tasks, start())) as played:
        for task, part in played:
            if folder:
                folder.keep(task.key, task.first, task.end, part)
            by_key[task.key].add(task.first, task.end, part)
            done += (task.end - task.first) * task.experiment.horizon
            if tell:
                tell(done, total)


def _played(tasks: deque[Task], engine: Engine) -> Generator[tuple[Task, bytes], None, None]:
    """Yields finished tasks, in any order. A task with a dead worker returns to the front."""
    losses: Counter[tuple[str, int]] = Counter()
    flying: dict[Future[bytes], Task] = {}
    try:
        while tasks or flying:
            while tasks and len(flying) < engine.slots:
                task = tasks.popleft()
                flying[engine.submit(task)] = task
            for future in wait(flying, timeout=_PULSE, return_when=FIRST_COMPLETED).done:
                task = flying.pop(future)
                error = future.exception()
                if error is None:
                    yield task, future.result()
                    continue
                cause = engine.cause(error)
                if not isinstance(cause, Lost):
                    kind = ValueError if isinstance(cause, ValueError) else RuntimeError
                    raise kind(f"{task}: {cause}") from error
                losses[task.key, task.first] += 1
                if losses[task.key, task.first] == _MOST_LOSSES:
                    raise RuntimeError(
                        f"{task}: the worker was lost {_MOST_LOSSES} times; the last time, {cause}"
                    ) from error
                tasks.appendleft(task)
    finally:
        engine.close()
