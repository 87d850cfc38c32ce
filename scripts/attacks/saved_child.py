"""Loads mutants SEED FIRST UNTIL with the package's Python, and prints one line of JSON each.

saved.py runs it.
"""

from __future__ import annotations

import copy
import hashlib
import json
import pickle
import random
import resource
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import plausibly
from plausibly import ActionSet, Policy

ROOM = 1 << 30  # bytes of memory beyond those of the package itself
HANG = 20  # seconds, after which the process ends itself
ROWS = ActionSet(
    [[1.0, 0.0, 0.5], [0.0, 1.0, -0.5], [0.3, 0.3, 0.3], [-1.0, 0.2, 0.0]],
    labels=["a", "b", ("c", 1), "d"],
)
ARMS = ActionSet.arms(4)
STRANGE: list[Any] = [
    None,
    True,
    False,
    0,
    -1,
    1,
    2,
    3,
    1.5,
    -1.5,
    1e-320,
    1e308,
    -1e308,
    2**31,
    2**32,
    2**53,
    2**63 - 1,
    2**63,
    2**64 - 1,
    2**64,
    10**400,
    10**9,
    "",
    "x",
    "code",
    "nan",
    [],
    [0],
    [[]],
    {},
    {"kind": "code"},
    "\x00",
    "a" * 100_000,
    [1.0] * 10_000,
]


def policies() -> Iterator[tuple[str, Policy, ActionSet]]:
    """Policies of every kind, some in use and one without data."""
    features = {
        "Code": {"noise_scale": 0.5, "theta_norm_bound": 1.0},
        "LinUCB": {"noise_scale": 0.5, "theta_norm_bound": 1.0},
        "LinTS": {"noise_scale": 0.5},
        "Elimination": {},
        "EpsilonGreedy": {"horizon": 100},
        "ExploreThenCommit": {"horizon": 20},
    }
    arms = {
        "Code": {"noise_scale": 0.5},
        "UCB1": {"noise_scale": 0.5},
        "Thompson": {"noise_scale": 0.5},
        "EpsilonGreedy": {"horizon": 100},
    }
    for actions, kinds in ((ROWS, features), (ARMS, arms)):
        for kind, settings in kinds.items():
            policy = getattr(plausibly, kind)(seed=5, **settings)
            for number in range(12):
                chosen = policy.select(actions)
                if number % 4 != 3:
                    policy.update(chosen, 0.1 * number)
                elif kind in ("Code", "LinUCB"):
                    policy.decided(chosen)
            yield f"{kind} with {'features' if actions is ROWS else 'arms'}", policy, actions
    told: list[tuple[str, ActionSet, dict[str, Any]]] = [
        ("a table", ROWS, {"outcomes": (0, 2), "theta_norm_bound": 1.0, "same_actions": True}),
        ("changing sets", ROWS, {"outcomes": (0, 2), "theta_norm_bound": 1.0}),
        ("arms in a range", ARMS, {"outcomes": (0, 2)}),
        ("bell-curve arms", ARMS, {"noise": "bell"}),
    ]
    for name, actions, settings in told:
        policy = plausibly.Code(seed=5, **settings)
        for number in range(12):
            chosen = policy.select(actions)
            if number % 4 != 3:
                policy.update(chosen, 0.1 * number)
        yield f"Code with {name}", policy, actions
    yield "a Code that has seen nothing", plausibly.Code(noise_scale=1.0), ARMS


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for name, one in inner:
        yield from places(one, (*path, name))


def mutant(document: dict[str, Any], chance: random.Random) -> tuple[str, dict[str, Any]]:
    """The document with one change, rarely two, and a valid checksum."""
    document = copy.deepcopy(document)
    done = []
    for _ in range(chance.choice([1, 1, 1, 2])):
        found = [
            path for path in places(document) if path[0] not in ("sha256", "format", "written_by")
        ]
        path = chance.choice(found)
        holder = document
        for name in path[:-1]:
            holder = holder[name]
        old, name = holder[path[-1]], ".".join(map(str, path))
        how = chance.choice(["other", "other", "other", "gone", "twice", "shorter", "sign"])
        if how == "gone":
            del holder[path[-1]]
        elif how == "twice" and isinstance(old, list):
            holder[path[-1]] = old + old
        elif how == "shorter" and isinstance(old, list):
            holder[path[-1]] = old[:-1]
        elif how == "sign" and isinstance(old, (int, float)) and not isinstance(old, bool):
            holder[path[-1]] = -old
        else:
            holder[path[-1]] = copy.deepcopy(chance.choice(STRANGE))
            how = f"{str(holder[path[-1]])[:20]!r}"
        done.append(f"{name} {how}")
    rest = {name: value for name, value in document.items() if name != "sha256"}
    plain = json.dumps(rest, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return ", ".join(done), rest | {"sha256": hashlib.sha256(plain.encode()).hexdigest()}


def used(path: Path, actions: ActionSet) -> str:
    """Loads a policy and uses all its methods."""
    try:
        policy = Policy.load(path)
    except ValueError:
        return "refused"
    except MemoryError:
        return "MemoryError on loading"
    except Exception as error:
        return f"{type(error).__name__} on loading: {str(error)[:200]}"
    except BaseException as error:  # a panic of the compiled part is not an Exception
        return f"{type(error).__name__} on loading: {str(error)[:200]}"
    try:
        for _ in range(3):
            explained(policy, actions)
            policy.update(policy.select(actions), 0.5)
        again = pickle.loads(pickle.dumps(policy))
        again.select(actions)
        policy.save(path)
        if Policy.load(path).select(actions) != policy.select(actions):
            return "saved and loaded, it chooses otherwise"
    except ValueError:
        return "refused later"
    except BaseException as error:
        return f"{type(error).__name__} in use: {str(error)[:200]}"
    return "worked"


def explained(policy: Policy, actions: ActionSet) -> None:
    try:
        policy.explain(actions)
    except ValueError:
        pass  # some kinds have no constants for an explanation


def say(**report: Any) -> None:
    print(json.dumps(report), flush=True)


def main(seed: str, first: int, until: int) -> None:
    found = []
    for name, policy, actions in policies():
        policy.save("policy.json")
        document = json.loads(Path("policy.json").read_text(encoding="utf-8"))
        assert used(Path("policy.json"), actions) == "worked", name
        found.append((name, document, actions))
    pages = (
        int(Path("/proc/self/statm").read_text().split()[0])
        if Path("/proc/self/statm").exists()
        else 0
    )
    if pages:
        limit = pages * resource.getpagesize() + ROOM
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    for number in range(first, until):
        chance = random.Random(f"{seed} saved {number}")
        name, document, actions = chance.choice(found)
        what, changed = mutant(document, chance)
        Path("mutant.json").write_text(json.dumps(changed), encoding="utf-8")
        say(number=number, begins=f"{name}: {what}")
        signal.alarm(HANG)
        result = used(Path("mutant.json"), actions)
        signal.alarm(0)
        say(number=number, result=result)


main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
