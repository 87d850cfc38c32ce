"""Problems on disk, contenders as processes, and their turns."""

import json
import math
import os
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

SIGMA = 0.5
POOL_BYTES = 64 << 20  # of changing sets; more than a cache holds

MOST_TURNS, SHORT_SECONDS = 40, 6.0
# Other programs can slow memory-bound contenders for seconds, so those race longer.
MEMORY_SECONDS = 25.0
# Between two rotations of all contenders the compiled ones rotate this often among themselves, if
# all of their turns are shorter than this.
EXTRA_TURNS, SHORT_TURN_SECONDS = 29, 0.1

ONE_THREAD = {
    name: "1"
    for name in (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "NUMBA_NUM_THREADS",
        "RAYON_NUM_THREADS",
    )
}
# NumPy requests huge pages for its large arrays; this makes all other allocators do so too.
HUGE_PAGES = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}


def write_problem(folder, dim, actions, rounds, changing=False, number=0):
    """Writes a problem: θ* ~ N(0, I), actions uniform on [-1, 1]ᵈ, and noise per round.

    The size and the number determine the seed.
    """
    rng = np.random.default_rng([2024, dim, actions, rounds, changing, *[number] * (number > 0)])
    folder.mkdir(parents=True, exist_ok=True)
    theta = rng.standard_normal(dim)
    features = rng.uniform(-1.0, 1.0, (actions, dim))
    pool = min(rounds, max(2, POOL_BYTES // (8 * actions * dim))) if changing else 0
    sets = rng.uniform(-1.0, 1.0, (pool, actions, dim))
    (folder / "shape.txt").write_text(f"{dim} {actions} {SIGMA}\n")
    features.tofile(folder / "features.f64")
    (features @ theta).tofile(folder / "means.f64")
    (SIGMA * rng.standard_normal(rounds)).tofile(folder / "noise.f64")
    sets.tofile(folder / "set-features.f64")
    (sets @ theta).tofile(folder / "set-means.f64")
    return folder


def write_clicks(folder, dim, actions, rounds):
    """Writes a problem of clicks: an intercept and features uniform on [-1, 1], with rates that run
    from 1 to 10 % in logits. The noise of a round is uniform on [0, 1], and an action is clicked in
    it if that is below its rate.
    """
    rng = np.random.default_rng([2025, dim, actions])
    folder.mkdir(parents=True, exist_ok=True)
    features = rng.uniform(-1.0, 1.0, (actions, dim))
    features[:, 0] = 1.0
    score = features[:, 1:] @ rng.standard_normal(dim - 1)
    low, high = (math.log(rate / (1.0 - rate)) for rate in (0.01, 0.1))
    logits = low + (high - low) * (score - score.min()) / np.ptp(score)
    (folder / "shape.txt").write_text(f"{dim} {actions} {SIGMA}\n")
    features.tofile(folder / "features.f64")
    (1.0 / (1.0 + np.exp(-logits))).tofile(folder / "means.f64")
    rng.random(rounds).tofile(folder / "noise.f64")
    for name in ("set-features", "set-means"):
        (folder / f"{name}.f64").write_bytes(b"")
    return folder


@dataclass
class Entry:
    """A contender: a kind that one of the contender programs knows, and how to time it."""

    kind: str  # `ours:…`, `numba:…`, `numpy:…`, `library:…` or `crate:…`
    radius: str = "paper"
    whole: bool = (
        False  # plays all rounds in every turn, because they differ in cost or are compared
    )
    rounds: int = 0
    turns: list = field(default_factory=list)  # seconds
    on_core: list = field(
        default_factory=list
    )  # seconds in which it had a core; more than `turns` with a second thread
    about: str = ""
    before_kb: int = 0
    peak_kb: int = 0
    error: str = ""
    choices: np.ndarray | None = None

    @property
    def micros(self):
        return min(self.turns) / self.rounds * 1e6

    @property
    def is_compiled(self):
        """Whether it is ours or numba's, except those that compute every width from scratch."""
        return self.kind.startswith(("ours:", "numba:")) and "full" not in self.kind

    @property
    def core_share(self):
        """The share of its fastest turn in which it had a core; None if the turn is too short.

        Below one other programs had the core; above one it had a second thread.
        """
        fastest = min(self.turns)
        return self.on_core[self.turns.index(fastest)] / fastest if fastest > 0.05 else None


class Failed(Exception):
    pass


class Contender:
    """A process that plays one turn per request."""

    def __init__(self, entry, folder, target):
        family, _, name = entry.kind.partition(":")
        here = Path(__file__).parent
        command = {
            "ours": [target / "release/contender", name],
            "crate": [target / "bench/rust-rivals/release/rust-rivals", name],
        }.get(family, [sys.executable, here / "rivals/contender.py", entry.kind])
        self.process = subprocess.Popen(
            [*map(str, command), str(folder), entry.radius],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | ONE_THREAD | HUGE_PAGES,
        )
        ready = self.read()
        entry.about, entry.before_kb = ready["ready"], ready["before_kb"]

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            said = [text for text in self.process.stderr.read().splitlines() if text.strip()]
            raise Failed(said[-1] if said else f"ended with code {self.process.wait()}")
        return json.loads(line)

    def turn(self, rounds, file=None):
        command = f"turn {rounds} {file}" if file else f"turn {rounds}"
        print(command, file=self.process.stdin, flush=True)
        return self.read()

    def end(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()


def one_digit(count):
    """The largest number up to this one with a single nonzero digit."""
    size = 10 ** (len(str(count)) - 1)
    return count // size * size


def play_turn(entry, contender):
    """Plays one more turn, unless the contender has failed."""
    if entry.error:
        return
    try:
        answer = contender.turn(entry.rounds)
        entry.turns.append(answer["seconds"])
        entry.on_core.append(answer["on_core"])
        entry.peak_kb = answer["peak_kb"]
    except (Failed, OSError) as error:
        entry.error = entry.error or str(error)


def race(entries, folder, rounds, settings, compare=False, seconds=SHORT_SECONDS):
    """Plays the problem with all entries in turns, and fills them in.

    Short turns repeat for about `seconds` seconds. With `compare`, one more turn records the
    choices.
    """
    running = []
    for entry in entries:
        try:
            contender = Contender(entry, folder, settings.target)
            few = contender.turn(min(3, rounds))["seconds"] / min(3, rounds)
            if not entry.whole:
                again = (
                    contender.turn(min(20, rounds))["seconds"] / min(20, rounds)
                    if few < 0.1
                    else few
                )
                affordable = int(settings.turn_seconds / max(min(few, again), 1e-9))
                entry.rounds = (
                    rounds if affordable >= rounds else max(one_digit(max(affordable, 1)), 3)
                )
            else:
                entry.rounds = rounds
            running.append((entry, contender))
        except (Failed, OSError) as error:
            entry.error = str(error)
            settings.say(f"    {entry.kind} failed: {error}")
    begun, rotations = time.perf_counter(), 0
    # A turn of a millisecond can miss every quiet moment, so short rotations are repeated.
    while (
        rotations < settings.repeats
        or rotations < MOST_TURNS
        and time.perf_counter() - begun < seconds
    ):
        rotations += 1
        for entry, contender in running:
            play_turn(entry, contender)
        compiled = [
            (entry, contender)
            for entry, contender in running
            if entry.is_compiled and not entry.error
        ]
        if compiled and all(min(entry.turns) < SHORT_TURN_SECONDS for entry, _ in compiled):
            for _ in range(EXTRA_TURNS):
                for entry, contender in compiled:
                    play_turn(entry, contender)
    for entry, contender in running:
        if compare and not entry.error:
            file = settings.scratch / "choices.i64"
            contender.turn(entry.rounds, file)
            entry.choices = np.fromfile(file, np.int64)
        contender.end()
    for entry in entries:
        if entry.turns and not entry.error:
            settings.say(
                f"    {entry.kind:34}{entry.radius:13}{entry.micros:12.3f} µs   {entry.rounds} "
                "rounds"
            )
