"""A contender in Python: `contender.py KIND FOLDER paper|determinant|likelihood`.

Prints `{"ready": …}`, then answers `turn ROUNDS [FILE]` until the input ends, like our contender in
Rust (crates/plausibly-bench). So all contenders can take turns.
"""

import importlib
import json
import math
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np

# The module of each kind of contender; a failed import affects only its own kinds.
MODULES = {"numba": "compiled_play", "numpy": "vectorised", "library": "libraries"}
LOGISTIC = {"numpy": "logistic", "library": "click_libraries"}

# What is known of clicks in advance: the logit of a rate of 5 %, S, and δ. As in our contender.
CLICKS = {"offset": math.log(0.05 / 0.95), "bound": 3.0, "delta": 0.05}


def resident(field):
    """A field of Linux's status of this process, in kB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1])
    return 0


def read_problem(folder, radius):
    """The problem of a folder, with the radius as `(kind, R, λ, L, S, δ)`."""
    folder = Path(folder)
    dim, actions, sigma = (folder / "shape.txt").read_text().split()
    dim, actions, sigma = int(dim), int(actions), float(sigma)

    def doubles(name, *shape):
        return np.fromfile(folder / f"{name}.f64").reshape(*shape)

    radii = {
        "paper": (0, sigma, 1e4, 1.0, 0.0, 0.05),
        "determinant": (1, sigma, 1.0, 1.0, math.sqrt(dim), 0.05),
        "likelihood": None,  # belongs to the model
    }
    return SimpleNamespace(
        dim=dim,
        actions=actions,
        sigma=sigma,
        features=doubles("features", actions, dim),
        means=doubles("means", actions),
        noise=doubles("noise", -1),
        sets=doubles("set-features", -1, actions, dim),
        set_means=doubles("set-means", -1, actions),
        radius=radii[radius],
    )


def sqrt_beta(radius, observations, log_det, dim):
    kind, noise, lam, action_bound, theta_bound, delta = radius
    if kind == 0:
        spread = dim * (math.log(1.0 + observations * action_bound**2 / lam) - math.log(delta))
    else:
        spread = log_det - 2.0 * math.log(delta)
    return noise * math.sqrt(spread) + math.sqrt(lam) * theta_bound


def main():
    kind, folder, radius = sys.argv[1:]
    family, _, name = kind.partition(":")
    before = resident("VmRSS")
    modules = LOGISTIC if radius == "likelihood" else MODULES
    module = importlib.import_module(modules[family])
    about, begin = module.prepare(name, read_problem(folder, radius))
    print(json.dumps({"ready": about, "before_kb": before}), flush=True)
    for line in sys.stdin:
        verb, rounds, *file = line.split()
        if verb != "turn":
            sys.exit(f"`turn ROUNDS [FILE]`, got `{line.strip()}`")
        choices = np.zeros(int(rounds), np.int64)
        play = begin()
        on_core, begun = time.process_time(), time.perf_counter()
        play(choices)
        seconds, on_core = time.perf_counter() - begun, time.process_time() - on_core
        if file:
            choices.tofile(file[0])
        print(
            json.dumps({"seconds": seconds, "on_core": on_core, "peak_kb": resident("VmHWM")}),
            flush=True,
        )


if __name__ == "__main__":
    main()
