"""Problems on disk, contenders as processes, and their turns."""

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

SIGMA = 0.5
POOL_BYTES = 64 << 20  # of changing sets: more than a cache holds

MOST_TURNS, SHORT_SECONDS = 40, 6.0
# Who waits for memory is slowed by whoever else on the machine uses it, for seconds on end.
MEMORY_SECONDS = 25.0
# Between two rotations of everybody those that are compiled rotate this often among themselves, if all of their turns are shorter than this.
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
# NumPy asks for its large arrays to be in huge pages; so does the allocator of everybody else then.
HUGE_PAGES = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}


def write_problem(folder, dim, actions, rounds, changing=False):
    """θ* ~ N(0, I), actions uniform on [-1, 1]ᵈ, noise by round, all from a seed that the size decides."""
    rng = np.random.default_rng([2024, dim, actions, rounds, changing])
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


@dataclass
class Entry:
    """Who takes part: a kind known to one of the contender programs, and how it is to be timed."""

    kind: str  # `ours:…`, `numba:…`, `numpy:…`, `library:…` or `crate:…`
    radius: str = "paper"
    whole: bool = (
        False  # plays all rounds in every turn, because they differ in cost or are to be compared
    )
    rounds: int = 0
    turns: list = field(default_factory=list)  # seconds
    on_core: list = field(
        default_factory=list
    )  # of which it had a core; more than one core would show as more than all
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
        """Ours or numba's, but for those that compute every width anew and take long by design."""
        return self.kind.startswith(("ours:", "numba:")) and "full" not in self.kind

    @property
    def core_share(self):
        """Of its fastest turn: below one if others had the core, above one if it had another thread. None if too short to tell."""
        fastest = min(self.turns)
        return self.on_core[self.turns.index(fastest)] / fastest if fastest > 0.05 else None


class Failed(Exception):
    pass


class Contender:
    """A process that plays when it is told to."""

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
    """A round number no larger than this, of one digit and zeros."""
    size = 10 ** (len(str(count)) - 1)
    return count // size * size


def play_turn(entry, contender):
    """One turn more, unless it has failed before."""
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
    """Everybody plays the problem in turns, for about so many seconds where turns are short; fills in the entries. With `compare` also what each chose, in one more turn."""
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
    # A turn of a millisecond can miss every quiet moment: where a rotation is short, there are more of them, for everybody.
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
                f"    {entry.kind:34}{entry.radius:13}{entry.micros:12.3f} µs   {entry.rounds} rounds"
            )
