"""The engines of a sweep: threads, processes and a Ray cluster, behind the same methods."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import subprocess
import sys
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol

from .. import _core
from . import worker


@dataclass(frozen=True)
class Task:
    """A range of runs of one spec."""

    setting: str
    """The spec, for messages."""
    key: str
    spec: str
    """The spec as JSON text, with its defaults filled in."""
    experiment: _core.Experiment
    cache: str | None
    """The folder of the data sets."""
    first: int
    end: int

    @property
    def order(self) -> tuple[str, int, int, str, str | None]:
        """The arguments that another process or node needs."""
        return self.spec, self.first, self.end, _core.__version__, self.cache

    def __str__(self) -> str:
        return f"runs {self.first} to {self.end - 1} of {self.setting}"


class Lost(Exception):
    """A worker ended before its task did."""


class Engine(Protocol):
    """Runs tasks."""

    slots: int
    """How many tasks to keep in progress at once."""

    def submit(self, task: Task) -> Future[bytes]:
        """Starts a task."""

    def cause(self, error: BaseException) -> BaseException:
        """The error of a failed task: `Lost` if its worker died, so that another can take it."""

    def close(self) -> None:
        """Stops all tasks in progress."""


class Threads:
    """Threads of this process; Rust runs without Python's lock."""

    def __init__(self, workers: int) -> None:
        self.slots = workers
        self._stop = _core.Stop()
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="plausibly-sweep")

    def submit(self, task: Task) -> Future[bytes]:
        return self._pool.submit(task.experiment.play, task.first, task.end, self._stop)

    def cause(self, error: BaseException) -> BaseException:
        return error

    def close(self) -> None:
        self._stop.set()
        self._pool.shutdown(cancel_futures=True)


class Child:
    """A process that runs tasks.

    It does not import the main module, so scripts and notebooks need no guard.
    """

    def __init__(self) -> None:
        if not sys.executable:
            raise RuntimeError(
                'engine: "processes" needs to know its Python, and sys.executable is empty; use '
                '"threads"'
            )
        start = (
            f"import sys; sys.path[:] = {sys.path!r}; from plausibly._sweep.worker import "
            "serve; serve()"
        )
        pipe = subprocess.PIPE
        self._process = subprocess.Popen([sys.executable, "-c", start], stdin=pipe, stdout=pipe)

    def play(self, task: Task) -> bytes:
        ask, answers = self._process.stdin, self._process.stdout
        assert ask is not None and answers is not None
        try:
            ask.write(json.dumps(task.order).encode() + b"\n")
            ask.flush()
            line = answers.readline()
            head: dict[str, Any] = json.loads(line) if line.endswith(b"\n") else {"bytes": -1}
            played = answers.read(max(0, head.get("bytes", 0)))
        except OSError:
            head, played = {"bytes": -1}, b""
        if "error" in head:
            raise (ValueError if head["wrong"] else RuntimeError)(head["error"])
        if len(played) != head["bytes"]:
            self.kill()
            self.close()
            raise Lost(f"its process ended with status {self._process.returncode}")
        return played

    def kill(self) -> None:
        """Ends it, also while a thread waits for its answer."""
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """Closes its pipes, once no thread waits for it."""
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            # Tasks that were sent and never read are lost with it.
            with contextlib.suppress(OSError):
                pipe.close()


class Processes:
    """Processes of this machine, each with a thread here, so that a dead one loses one task."""

    def __init__(self, workers: int) -> None:
        self.slots = workers
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="plausibly-sweep")
        self._own = threading.local()
        self._lock = threading.Lock()
        self._children: list[Child] = []
        self._closed = False

    def submit(self, task: Task) -> Future[bytes]:
        return self._pool.submit(self._play, task)

    def _play(self, task: Task) -> bytes:
        child: Child | None = getattr(self._own, "child", None)
        if child is None:
            child = self._own.child = self._start()
        try:
            return child.play(task)
        except Lost:
            self._own.child = None
            with self._lock:
                self._children.remove(child)
            raise

    def _start(self) -> Child:
        with self._lock:
            if self._closed:
                raise RuntimeError("stopped")
            child = Child()
            self._children.append(child)
            return child

    def cause(self, error: BaseException) -> BaseException:
        return error

    def close(self) -> None:
        with self._lock:
            self._closed = True
            for child in self._children:
                child.kill()
        self._pool.shutdown(cancel_futures=True)
        for child in self._children:
            child.close()


class OnRay:
    """Tasks of a Ray cluster: this program's, that of RAY_ADDRESS, or one started for the sweep."""

    # Enough that no node waits for its next task, and that a growing cluster sees the demand.
    _AHEAD = 4

    def __init__(self, workers: int | None) -> None:
        try:
            # Not a plain import, because type checkers may not find this optional package.
            self._ray: Any = importlib.import_module("ray")
        except ImportError as error:
            raise ImportError(
                'engine: "ray" needs the package ray; pip install "plausibly[ray]"'
            ) from error
        ray = self._ray
        self._owned = not ray.is_initialized()
        if self._owned:
            local = (
                {}
                if os.environ.get("RAY_ADDRESS")
                else {"num_cpus": workers, "include_dashboard": False}
            )
            ray.init(log_to_driver=False, **local)
        cores = int(ray.cluster_resources().get("CPU", 1))
        self.slots = workers or max(64, self._AHEAD * cores)
        # The sweep counts lost workers, so that it can name a task that kills its worker.
        self._play = ray.remote(num_cpus=1, max_retries=0)(worker.play)
        self._flying: dict[Future[bytes], Any] = {}

    def submit(self, task: Task) -> Future[bytes]:
        reference = self._play.remote(*task.order)
        future: Future[bytes] = reference.future()
        self._flying[future] = reference
        future.add_done_callback(lambda done: self._flying.pop(done, None))
        return future

    def cause(self, error: BaseException) -> BaseException:
        kinds = self._ray.exceptions
        if isinstance(error, kinds.RayTaskError):
            return error.cause if isinstance(error.cause, BaseException) else error
        # A cluster that cannot take the task at all will not take it later either.
        final = (kinds.RuntimeEnvSetupError, kinds.TaskUnschedulableError, kinds.TaskCancelledError)
        return (
            Lost(str(error))
            if isinstance(error, kinds.RayError) and not isinstance(error, final)
            else error
        )

    def close(self) -> None:
        for reference in list(self._flying.values()):
            self._ray.cancel(reference, force=True)
        if self._owned:
            self._ray.shutdown()


# Larger numbers are more likely typing errors than machines or clusters.
_MOST = {"threads": 1024, "processes": 1024, "ray": 100_000}


def check_engine(name: object, workers: int | None) -> None:
    """Raises an error for an unknown engine or an impossible number of workers."""
    if not isinstance(name, str) or name not in _MOST:
        raise ValueError(f'engine: expected "threads", "processes" or "ray", found {name!r}')
    if workers is not None and workers > _MOST[name]:
        raise ValueError(
            f"workers: {workers} is out of range, {name} can be from 1 to {_MOST[name]}"
        )


def open_engine(name: str, workers: int | None) -> Engine:
    """The engine with this name."""
    if name == "ray":
        return OnRay(workers)
    count = workers or os.cpu_count() or 1
    return Threads(count) if name == "threads" else Processes(count)
