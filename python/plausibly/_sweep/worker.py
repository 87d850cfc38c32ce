"""The other end of a sweep: plays ranges of runs where it is told to, in a process of its own or on a node of a cluster."""

from __future__ import annotations

import json
import os
import signal
import sys

from .. import _core


# The spec last played here, which is likely the next one too.
_known: tuple[str, str | None, _core.Experiment] | None = None


def _experiment(spec: str, cache: str | None) -> _core.Experiment:
    global _known
    if _known is None or _known[:2] != (spec, cache):
        _known = (spec, cache, _core.Experiment(json.loads(spec), cache=cache))
    return _known[2]


def play(spec: str, first: int, end: int, package: str, cache: str | None) -> bytes:
    """Runs `first` to before `end` of a spec that is JSON text, as bytes."""
    if package != _core.__version__:
        raise RuntimeError(
            f"this worker has plausibly {_core.__version__}, and the sweep was started by {package}; install the same version everywhere"
        )
    return _experiment(spec, cache).play(first, end, _core.Stop())


def serve() -> None:
    """Answers on standard output what is asked on standard input, until there is nothing more to come."""
    # Ctrl-C reaches the whole group of processes; the one that started this decides what becomes of it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "wb")
    # Whatever else is printed here is for people.
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
            # Whoever asked is gone; so is the need for an answer, and for a complaint at exit.
            os._exit(1)
