"""The same choices as the simulator's, one by one."""

from __future__ import annotations

from typing import Any

import pytest
from conftest import ROOT

import plausibly
from plausibly import ActionSet, Policy
from plausibly._policies import _KINDS

tomllib = pytest.importorskip("tomllib")

CLASSES = {
    "code": plausibly.Code,
    "insured": plausibly.Insured,
    "lin-ucb": plausibly.LinUCB,
    "lin-ts": plausibly.LinTS,
    "laplace-ts": plausibly.LaplaceTS,
    "elimination": plausibly.Elimination,
    "epsilon-greedy": plausibly.EpsilonGreedy,
    "explore-then-commit": plausibly.ExploreThenCommit,
    "ucb1": plausibly.UCB1,
    "thompson": plausibly.Thompson,
    "beta-thompson": plausibly.BetaThompson,
}


def spec(name: str) -> dict[str, Any]:
    return tomllib.loads((ROOT / f"testdata/traces/{name}.toml").read_text(encoding="utf-8"))


def recorded(name: str) -> tuple[list[float], list[list[float]], list[list[tuple[int, float]]]]:
    """Bounds on norms, features of the actions, and each policy's choices with their rewards."""
    norms: list[float] = []
    actions: list[list[float]] = []
    policies: list[list[tuple[int, float]]] = []
    for line in (ROOT / f"testdata/traces/{name}.txt").read_text(encoding="utf-8").splitlines():
        head, *rest = line.split(" ")
        if head == "norms":
            norms = [float(x) for x in rest]
        elif head == "action":
            actions.append([float(x) for x in rest])
        elif head == "policy":
            policies.append([])
        else:
            policies[-1].append((int(head), float(rest[0])))
    return norms, actions, policies


def made(table: dict[str, Any], experiment: dict[str, Any], norms: list[float]) -> Policy:
    """The policy of a spec, with the simulator's facts about the problem."""
    facts = {
        "noise_scale": experiment["environment"].get("noise", 0.5),
        "theta_norm_bound": norms[0],
        "action_norm_bound": norms[1],
        "horizon": experiment["horizon"],
    }
    takes = {
        "code": ("noise_scale", "theta_norm_bound", "action_norm_bound"),
        "insured": ("noise_scale", "theta_norm_bound", "action_norm_bound"),
        "lin-ucb": ("noise_scale", "theta_norm_bound", "action_norm_bound"),
        "lin-ts": ("noise_scale",),
        "elimination": (),
        "epsilon-greedy": ("horizon",),
        "explore-then-commit": ("horizon",),
        "ucb1": ("noise_scale",),
        "thompson": ("noise_scale",),
        "beta-thompson": (),
    }
    kind = table["kind"]
    given = {name: value for name, value in table.items() if name != "kind"}
    if experiment["environment"].get("rewards") == "yes-no" and kind in ("code", "insured"):
        known_outcomes = {"outcomes": "yes/no"}
        del facts["noise_scale"]
        takes[kind] = ("theta_norm_bound", "action_norm_bound")
        given = {**known_outcomes, **given}
    if kind == "code" and "target" not in table:
        given.setdefault("greed", 0.0)  # in the simulator
    known = {name: facts[name] for name in takes[kind]}
    return CLASSES[kind](**{**known, **given, "seed": experiment["seed"]})


@pytest.mark.parametrize("name", ["linear", "arms", "yes-no"])
def test_every_policy_chooses_as_in_the_simulator(name: str) -> None:
    experiment = spec(name)
    norms, rows, policies = recorded(name)
    actions = ActionSet(rows) if rows[0] else ActionSet.arms(len(rows))
    assert len(policies) == len(experiment["policy"])
    for table, steps in zip(experiment["policy"], policies, strict=True):
        policy = made(table, experiment, norms)
        assert len(steps) == experiment["horizon"]
        follow(policy, actions, steps)
        assert policy.observations == len(steps)


@pytest.mark.parametrize("name", ["clicks", "counts"])
def test_models_that_are_not_linear_choose_as_in_the_simulator(name: str) -> None:
    experiment = spec(name)
    norms, rows, policies = recorded(name)
    actions = ActionSet(rows)
    assert len(policies) == len(experiment["policy"])
    for table, steps in zip(experiment["policy"], policies, strict=True):
        # As arguments where there are some, and the table as it is.
        for said in (named(table), {"radius": table["radius"]}):
            given = {k: v for k, v in table.items() if k not in ("kind", "radius")}
            outcomes = {"outcomes": "yes/no"} if name == "clicks" else {}
            if table["kind"] in ("laplace-ts", "epsilon-greedy"):
                if "radius" in said:
                    continue
            else:
                outcomes["same_actions"] = True
            if table["kind"] == "epsilon-greedy":
                given["horizon"] = experiment["horizon"]
            if table["kind"] == "code":
                given.setdefault("greed", 0.0)  # in the simulator
            policy = CLASSES[table["kind"]](
                **said, **given, **outcomes, action_norm_bound=norms[1], seed=experiment["seed"]
            )
            assert len(steps) == experiment["horizon"]
            follow(policy, actions, steps)
            assert policy.observations == len(steps)


def named(table: dict[str, Any]) -> dict[str, Any]:
    """The radius of a spec as arguments, but for constants that are no arguments."""
    radius = dict(table["radius"])
    names = {"usual": "usual_rate", "factor": "odds_factor", "theta_norm_bound": "theta_norm_bound"}
    said = {names[name]: radius.pop(name) for name in names if name in radius}
    model = radius["kind"]
    return {"model": model, **said, **({"radius": radius} if len(radius) > 1 else {})}


def test_nothing_said_but_outcomes_is_the_default_of_the_library() -> None:
    """The first policy of `table.toml`, and CODE in `yes-no.toml`, with nothing else set."""
    norms, rows, policies = recorded("table")
    seed = spec("table")["seed"]
    fixed = plausibly.Code(
        outcomes=(-0.5, 0.5), theta_norm_bound=norms[0], same_actions=True, seed=seed
    )
    changing = plausibly.Code(
        outcomes=(-0.5, 0.5), theta_norm_bound=norms[0], seed=seed, label="without pairs"
    )
    upper = plausibly.LinUCB(
        outcomes=(-0.5, 0.5), theta_norm_bound=norms[0], same_actions=True, seed=seed
    )
    insured = plausibly.Insured(
        outcomes=(-0.5, 0.5), theta_norm_bound=norms[0], same_actions=True, seed=seed
    )
    actions = ActionSet(rows)
    for policy, steps in zip((fixed, changing, upper, insured), policies, strict=True):
        follow(policy, actions, steps)
    assert policies[0] != policies[1], "pairs make no difference here"
    _, rows, policies = recorded("yes-no")
    seed = spec("yes-no")["seed"]
    arms = [
        plausibly.Thompson(outcomes="yes/no", seed=seed),
        None,
        plausibly.Code(outcomes="yes/no", seed=seed),
        plausibly.Insured(outcomes="yes/no", seed=seed),
    ]
    for made, steps in zip(arms, policies, strict=True):
        if made is not None:
            follow(made, ActionSet.arms(len(rows)), steps)


def follow(policy: Policy, actions: ActionSet, steps: list[tuple[int, float]]) -> None:
    for round_, (chosen, reward) in enumerate(steps):
        assert policy.select(actions) == chosen, (policy, round_)
        policy.update(chosen, reward)


def test_every_kind_of_policy_has_a_class_and_is_in_the_traces() -> None:
    unknown = {"environment": {"kind": "k-armed", "actions": 2}, "policy": [{"kind": "?"}]}
    with pytest.raises(ValueError, match="is not one of") as refused:
        plausibly.simulate(unknown)
    kinds = str(refused.value).split(" is not one of ")[1].split(", ")
    names = ("linear", "arms", "yes-no", "table", "clicks", "counts")
    played = {table["kind"] for name in names for table in spec(name)["policy"]}
    assert set(kinds) == set(CLASSES) == played
    for kind, made in CLASSES.items():
        assert made.__name__ in plausibly.__all__ and _KINDS[made.__name__] == kind


def test_the_seed_and_the_label_decide_the_random_numbers() -> None:
    arms = ActionSet.arms(10)

    def choices(**settings: Any) -> list[int]:
        policy = plausibly.EpsilonGreedy(horizon=10**6, **settings)
        return [policy.select(arms) for _ in range(50)]

    assert choices(seed=1) == choices(seed=1)
    assert choices(seed=1) != choices(seed=2)
    assert choices(seed=1) != choices(seed=1, label="another")
