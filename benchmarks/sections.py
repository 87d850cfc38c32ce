"""The sections of the benchmark: each races its contenders and returns plain data."""

import json
import subprocess
import time
from dataclasses import replace

import numpy as np
from race import MEMORY_SECONDS, Entry, race, write_problem
from same import explain, first_difference

RADII = ("paper", "determinant")
PROBLEMS = 6  # of each size, where ours is compared with ours


def row(entry, size):
    """An entry as data."""
    data = {
        "contender": entry.kind,
        "radius": entry.radius,
        "size": list(size),
        "about": entry.about,
    }
    if entry.error or not entry.turns:
        return data | {"error": entry.error or "took no turn"}
    return data | {
        "micros": entry.micros,
        "rounds": entry.rounds,
        "turns": [seconds / entry.rounds * 1e6 for seconds in entry.turns],
        "core_share": entry.core_share,
        "before_kb": entry.before_kb,
        "peak_kb": entry.peak_kb,
    }


def fixed(settings):
    """One set for the whole run: CODE and LinUCB under two radii, LinTS, and the floor.

    The floor reads every action.
    """
    rows, same = [], []
    for size in settings.sizes:
        settings.say(f"  d, K = {size}")
        folder = write_problem(settings.scratch / "fixed", *size, settings.rounds)
        for radius in RADII:
            kinds = {
                "code": [
                    "ours:code", "ours:code-every", "numba:code-incremental",
                    "numba:code-incremental-rows",
                    "numba:code-lazy", "numba:code-full", "numpy:code-incremental",
                ],
                "lin-ucb": [
                    "ours:lin-ucb", "numba:lin-ucb-incremental",
                    "numba:lin-ucb-incremental-rows", "numba:lin-ucb-lazy",
                    "numpy:lin-ucb-incremental",
                ],
            }  # fmt: skip
            for policy, names in kinds.items():
                # Whole runs, so that all choices are compared; the full version would take too
                # long.
                entries = [Entry(name, radius, whole=not name.endswith("full")) for name in names]
                race(entries, folder, settings.rounds, settings, compare=True)
                rows += [row(entry, size) for entry in entries]
                same += compare(entries, folder, size, policy, radius)
        entries = [
            Entry("ours:lin-ts", whole=True),
            Entry("numba:lin-ts", whole=True),
            Entry("ours:floor"),
        ]
        race(entries, folder, settings.rounds, settings)
        rows += [row(entry, size) for entry in entries]
    return {"rows": rows, "same": same}


def compare(entries, folder, size, policy, radius):
    """Compares all choices with ours, the first entry."""
    ours, *others = entries
    found = []
    for entry in others:
        if ours.choices is None or entry.choices is None:
            found.append(
                {
                    "size": list(size),
                    "radius": radius,
                    "contender": entry.kind,
                    "error": entry.error or "did not play",
                }
            )
            continue
        at = first_difference(ours.choices, entry.choices)
        found.append(
            {
                "size": list(size),
                "radius": radius,
                "policy": policy,
                "contender": entry.kind,
                "rounds": len(entry.choices),
                "first": at,
            }
        )
        if at is not None and policy in ("code", "lin-ucb"):
            found[-1]["gap"] = gap(folder, size, policy, radius, ours.choices, entry.choices, at)
    return found


def gap(folder, size, policy, radius, ours, theirs, at):
    """The relative gap where the choices first differ."""
    dim, actions = size
    features = np.fromfile(folder / "features.f64").reshape(actions, dim)
    means, noise = np.fromfile(folder / "means.f64"), np.fromfile(folder / "noise.f64")
    sigma, delta = 0.5, 0.05

    def root_of(observations, log_det):
        if radius == "paper":
            return sigma * np.sqrt(dim * (np.log1p(observations / 1e4) - np.log(delta)))
        return sigma * np.sqrt(log_det - 2.0 * np.log(delta)) + np.sqrt(dim)

    return explain(features, means, noise, ours, at, (ours[at], theirs[at]), root_of, policy)


def changing(settings):
    """A new action set in every round, from rows in memory."""
    rows, same = [], []
    for size in settings.sizes:
        settings.say(f"  d, K = {size}")
        folder = write_problem(settings.scratch / "changing", *size, settings.rounds, changing=True)
        for policy in ("code", "lin-ucb"):
            names = [
                f"ours:changing-{policy}",
                f"numba:changing-{policy}",
                f"numba:changing-{policy}-blas",
            ]
            entries = [Entry(name, "determinant", whole=name.startswith("ours:")) for name in names]
            race(entries, folder, settings.rounds, settings, compare=True, seconds=MEMORY_SECONDS)
            rows += [row(entry, size) for entry in entries]
            same += compare(entries, folder, size, f"changing {policy}", "determinant")
        floor = Entry("ours:changing-floor", "determinant")
        race([floor], folder, settings.rounds, settings)
        rows.append(row(floor, size))
    return {"rows": rows, "same": same}


def differences(settings):
    """Ours beside ours: sets by differences, and those that are compared with rivals.

    What is left to compare differs from problem to problem, so several are played.
    """
    rows = []
    for size in settings.sizes:
        settings.say(f"  d, K = {size}")
        for number in range(1 if settings.quick else PROBLEMS):
            folder = write_problem(
                settings.scratch / "differences", *size, settings.rounds, number=number
            )
            entries = [
                Entry("ours:code", "determinant", whole=True),
                Entry("ours:code-differences", "additive", whole=True),
                Entry("ours:code-forecasts", "forecast", whole=True),
            ]
            race(entries, folder, settings.rounds, settings)
            rows += [row(entry, size) | {"problem": number} for entry in entries]
    return {"rows": rows}


def others(settings):
    """Libraries in Python and crates in Rust, in the same turns as ours."""
    rows = []
    for size in settings.sizes:
        settings.say(f"  d, K = {size}")
        folder = write_problem(settings.scratch / "others", *size, settings.rounds)
        whole = ["ours:code", "ours:lin-ucb", "ours:lin-ts"]
        names = [
            *whole, "library:contextualbandits", "library:bayesianbandits", "library:vw-regcbopt",
            "library:vw-squarecb", "library:coba", "crate:rill-ml-shared", "library:mabwiser",
            "crate:rill-ml", "crate:trashpanda",
        ]  # fmt: skip
        entries = [Entry(name, "paper", whole=name in whole) for name in names]
        race(entries, folder, settings.rounds, settings)
        rows += [row(entry, size) for entry in entries]
    return {"rows": rows}


def many(settings):
    """Very many actions, in a process without other data."""
    actions, dim, rounds = settings.many
    runs = []
    for _ in range(min(settings.repeats, 3)):
        command = [settings.target / "release/contender", "many", actions, dim, rounds]
        said = subprocess.run(
            [str(word) for word in command], capture_output=True, text=True, check=True
        ).stdout
        runs.append([json.loads(line) for line in said.splitlines()])
    best = [
        min((run[at] for run in runs), key=lambda run: run["micros"]) for at in range(len(runs[0]))
    ]
    for at, data in enumerate(best):
        data["build_s"] = min(run[at]["build_s"] for run in runs)
        settings.say(f"    {data}")
    return {"actions": actions, "dim": dim, "rounds": rounds, "runs": best}


SWEEPS = {
    "K": [(16, actions, 10_000) for actions in (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)],
    "d": [(dim, 1_000, 10_000) for dim in (4, 8, 16, 32, 64, 128)],
    "n": [(16, 1_000, rounds) for rounds in (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)],
}


def scaling(settings):
    """The cost of a round against K, d and the horizon."""
    settings = replace(
        settings, repeats=min(settings.repeats, 3), turn_seconds=settings.turn_seconds / 4
    )
    rows = []
    for axis, points in SWEEPS.items():
        points = (
            [(d, k, min(n, settings.rounds)) for d, k, n in points[:3]]
            if settings.quick and axis != "n"
            else points
        )
        points = (
            [(16, 1_000, n) for n in (50, 150, 500)] if settings.quick and axis == "n" else points
        )
        for dim, actions, rounds in points:
            settings.say(f"  against {axis}: d, K, n = {dim}, {actions}, {rounds}")
            folder = write_problem(settings.scratch / "scaling", dim, actions, rounds)
            lazily = [
                ("ours:code", "paper"),
                ("ours:code", "determinant"),
                ("numba:code-lazy", "determinant"),
            ]
            every = ["ours:code-every", "numba:code-incremental", "numba:code-full"]
            entries = [Entry(kind, radius, whole=True) for kind, radius in lazily]
            # The first rounds cost more, because of refactorisations. So compared contenders play
            # all rounds, except the full version, which would take too long.
            entries += [
                Entry(kind, "determinant", whole=not kind.endswith("full")) for kind in every
            ]
            race(entries, folder, rounds, settings)
            rows += [
                row(entry, (dim, actions))
                | {"axis": axis, "at": {"K": actions, "d": dim, "n": rounds}[axis]}
                for entry in entries
            ]
    return {"rows": rows}


def threads(settings):
    """Replications on one thread and on two, in turns."""
    runs = 8 if settings.quick else 200
    seconds = {1: [], 2: []}
    for _ in range(min(settings.repeats, 5)):
        for count in seconds:
            begun = time.perf_counter()
            out = settings.scratch / f"simulated-{count}-{len(seconds[count])}"
            command = [
                settings.target / "release/plausibly",
                "simulate",
                "examples/first-experiment.toml",
            ]
            command += ["--runs", runs, "--threads", count, "--out", out, "--quiet"]
            subprocess.run([str(word) for word in command], check=True, capture_output=True)
            seconds[count].append(time.perf_counter() - begun)
    settings.say(f"    {seconds}")
    return {"runs": runs, "one": seconds[1], "two": seconds[2]}


ALL = {
    "fixed": fixed,
    "changing": changing,
    "differences": differences,
    "others": others,
    "many": many,
    "scaling": scaling,
    "threads": threads,
}
