"""The worker of a sweep: runs ranges of runs in its own process or on a node of a cluster."""

from __future__ import annotations

import json
import os
import signal
import sys

from .. import _core


# The spec of the last task, which is likely that of the next one too.
_known: tuple[str, str | None, _core.Experiment] | None = None


def _experiment(spec: str, cache: str | None) -> _core.Experiment:
    global _known
    if _known is None or _known[:2] != (spec, cache):
        _known = (spec, cache, _core.Experiment(json.loads(spec), cache=cache))
    return _known[2]


def play(spec: str, first: int, end: int, package: str, cache: str | None) -> bytes:
    """Runs `first` to before `end` of a spec given as JSON text, as bytes."""
    if package != _core.__version__:
        raise RuntimeError(
            f"this worker has plausibly {_core.__version__}, and the sweep was started by "
            f"{package}; install the same version everywhere"
        )
    return _experiment(spec, cache).play(first, end, _core.Stop())


def serve() -> None:
    """Answers requests from standard input on standard output, until the input ends."""
    # Ctrl-C reaches the whole process group; the parent process decides what happens to this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "wb")
    # Other output goes to stderr, for people.
    os.dup2(2, 1)
    for line in sys.stdin.buffer:
        head: dict[str, object]
        try:
            played = play(*json.loads(line))
            head = {"bytes": len(played)}
        except Exception as error:
            played, head = b"", {"error": str(error), "wrong": isinstance(error, ValueError)}
        try:
            answers.write(json.dumps(head).encode() + b"\n" + played)
            answers.flush()
        except BrokenPipeError:
            # The parent process is gone, so no answer is needed, and no complaint at exit.
            os._exit(1)
