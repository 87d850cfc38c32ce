"""Forges saved policies and uses them: `python forgeries.py SEED COUNT [SECONDS]`.

Prints every result that is not a ValueError. test_forged.py runs it in a separate process with
limits on memory and time, because a forged file must not hang or fill it.
"""

from __future__ import annotations

import copy
import json
import math
import random
import resource
import struct
import sys
import tempfile
import traceback
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from plausibly import (
    UCB1,
    ActionSet,
    Code,
    Elimination,
    EpsilonGreedy,
    ExploreThenCommit,
    LinTS,
    LinUCB,
)
from plausibly import Policy, Thompson
from plausibly._saved import _digest

FACTS = {"noise_scale": 0.3, "theta_norm_bound": 1.0}
MOST_MEMORY = 3 << 30
NUMBERS = [
    0,
    -1,
    1,
    2,
    7,
    0.5,
    -0.5,
    1e-320,
    1e-300,
    1e300,
    -1e300,
    1.7e308,
    2**31,
    2**53,
    2**63,
    2**64 - 1,
    10**30,
]
HEADER = len(b"plausibly policy 4\n")
OTHERS = [None, True, "x", [], {}, [1], float("nan"), float("inf")]


def makes() -> list[tuple[int, Policy]]:
    """A policy of each kind, with features and without."""
    return [
        (3, Code(**FACTS)),
        (0, Code(noise_scale=0.3)),
        (3, Code(**FACTS, greed=0.5)),
        (3, Code(**FACTS, target={"accuracy": 0.8, "by_round": 30})),
        (0, Code(noise_scale=0.3, target={"accuracy": 0.8, "by_round": 30})),
        (3, Code(**FACTS, randomise=0.5)),
        (20, Code(**FACTS, ridge=0.1)),
        (3, LinUCB(radius=1.25)),
        (3, LinTS(noise_scale=0.5)),
        (2, Elimination(delta=0.5)),
        (3, EpsilonGreedy(horizon=100, epsilon=0.5, exploration="design")),
        (0, EpsilonGreedy(horizon=100, epsilon=0.5)),
        (3, ExploreThenCommit(horizon=40, epsilon=0.3)),
        (0, ExploreThenCommit(horizon=40, epsilon=0.3)),
        (0, UCB1(noise_scale=0.5)),
        (0, Thompson(noise_scale=0.5)),
        (2, Thompson(noise_scale=0.5)),
    ]


def offers(dim: int, count: int, seed: int) -> ActionSet:
    labels = [f"action {i}" for i in range(count)]
    if dim == 0:
        return ActionSet.arms(labels)
    return ActionSet(np.random.default_rng(seed).uniform(-1.0, 1.0, (count, dim)), labels)


def genuine(rng: random.Random) -> list[tuple[int, dict[str, Any]]]:
    """Files of policies that have played: with waiting decisions, begun phases and promises."""
    saved = []
    for dim, policy in makes():
        count = rng.choice([3, 60])
        for round_ in range(rng.choice([1, 12, 70])):
            other = dim == 0 and round_ % 3 == 2
            actions = offers(dim, count - 1 if other else count, 1)
            chosen = policy.select(actions)
            if rng.random() < 0.5:
                policy.decided(chosen)
            if rng.random() < 0.8:
                policy.update(chosen, rng.gauss(0.0, 1.0))
        with tempfile.TemporaryDirectory() as folder:
            policy.save(Path(folder, "policy.json"))
            saved.append((dim, json.loads(Path(folder, "policy.json").read_text())))
    return saved


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """All places in a document that can be changed."""
    found = [path] if path else []
    entries = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for name, entry in entries:
        found += places(entry, (*path, name))
    return found


def forge(document: dict[str, Any], others: list[dict[str, Any]], rng: random.Random) -> str:
    """Changes one place, and returns a description.

    Short names are as likely as long lists of numbers.
    """
    played = document["played"]
    if rng.random() < 0.7 and played and isinstance(played.get("state"), str):
        return forge_state(played, others, rng)
    depth = rng.randrange(1, 8)
    value: Any = document
    path: list[Any] = []
    while isinstance(value, (dict, list)) and value and (len(path) < depth or len(path) < 3):
        names = (
            [name for name in value if name not in ("format", "version", "written_by")]
            if isinstance(value, dict)
            else range(len(value))
        )
        parent, name = value, rng.choice(list(names))
        path.append(name)
        value = parent[name]
    kind = rng.randrange(6)
    if isinstance(value, list) and value and kind == 0:
        del value[rng.randrange(len(value)) :]
    elif isinstance(value, list) and value and kind == 1:
        value.append(copy.deepcopy(rng.choice(value)))
    elif (
        isinstance(value, list)
        and value
        and kind == 2
        and all(isinstance(x, (int, float)) for x in value)
    ):
        factor = rng.choice([-1, 0, 1e-200, 1e200, 2])
        parent[name] = [x * factor for x in value]
    elif kind == 3:
        donor: Any = rng.choice(others)
        for step in path:
            if not (isinstance(donor, dict) and step in donor) and not (
                isinstance(donor, list) and isinstance(step, int) and step < len(donor)
            ):
                break
            donor = donor[step]
        parent[name] = copy.deepcopy(donor)
    else:
        parent[name] = copy.deepcopy(rng.choice(NUMBERS + OTHERS))
    return "/".join(map(str, path)) + (
        f" = {str(parent[name])[:60] if not isinstance(parent, dict) or name in parent else 'gone'}"
    )


def forge_state(
    played: dict[str, Any], others: list[dict[str, Any]], rng: random.Random
) -> str:
    """Changes a word of the state, cuts it, or takes that of another policy."""
    state = bytearray.fromhex(played["state"])
    words = (len(state) - HEADER) // 8
    at = rng.randrange(max(words, 1))
    start, kind = HEADER + 8 * at, rng.randrange(8)
    number = rng.choice(NUMBERS + [float("nan"), float("inf")])
    if kind == 0:
        del state[start:]
    elif kind == 1:
        donor = rng.choice(others)["played"]
        played["state"] = donor["state"] if donor else "00"
        return "state of another policy"
    elif kind < 5:
        state[start : start + 8] = struct.pack("<d", number)
    else:
        count = int(number) if math.isfinite(number) else 2**63
        state[start : start + 8] = (count % 2**64).to_bytes(8, "little")
    played["state"] = state.hex()
    return f"state word {at} of {words}, kind {kind}: {number}"


def use(path: Path, dim: int) -> None:
    """Loads a file and uses all its methods."""
    policy = Policy.load(path)
    for count in (3, 60):
        for seed in (1, 2):
            actions = offers(dim, count, seed)
            for step in range(3):
                try:
                    policy.explain(actions, radius=1.0)
                    chosen = policy.select(actions)
                    policy.decided(chosen)
                    policy.explain(actions, radius=1.0)
                    if step == 2:
                        policy.dropped(chosen)
                    else:
                        policy.update(chosen, 0.25)
                    policy.update("action 0", 0.5)
                    policy._save()
                except ValueError:
                    pass


def main(seed: int, count: int) -> int:
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    rng, failures, kinds = random.Random(seed), 0, Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "policy.json")
        saved: list[tuple[int, dict[str, Any]]] = []
        for number in range(count):
            if number % 200 == 0:
                saved = genuine(rng)
            dim, document = rng.choice(saved)
            forged = copy.deepcopy(document)
            forged.pop("sha256")
            what = [
                forge(forged, [other for _, other in saved], rng)
                for _ in range(rng.choice([1, 1, 1, 2]))
            ]
            try:
                path.write_text(json.dumps({**forged, "sha256": _digest(forged)}))
            except ValueError:
                continue  # NaN and infinity have no sum; they are written without one below
            try:
                use(path, dim)
                kinds["taken"] += 1
            except ValueError:
                kinds["refused"] += 1
            except BaseException as error:
                failures += 1
                kinds[type(error).__name__] += 1
                where = traceback.extract_tb(error.__traceback__)[-1]
                print(
                    f"{document['policy']} {what}: {where.line}: {type(error).__name__}: "
                    f"{str(error)[:300]}"
                )
    print(dict(kinds))
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
