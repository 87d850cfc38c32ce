"""Logistic and Poisson models: what they learn, and what they say in units of rewards."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import plausibly
from plausibly import ActionSet, Code, EpsilonGreedy, Insured, LaplaceTS, LinUCB, Policy, simulate
from plausibly import sweep

NAMES = ["plain", "photo", "video", "both"]
ROWS = [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [1.0, 0.0, 1.0], [1.0, 1.0, 1.0]]
BANNERS = ActionSet(ROWS, labels=NAMES)
# 5 % click on a plain one; a photo doubles the odds, and a video halves them.
ODDS = np.exp(np.array(ROWS) @ np.log([0.05 / 0.95, 6.0, 0.5]))
RATES = dict(zip(NAMES, ODDS / (1 + ODDS), strict=True))
SAID: dict[str, Any] = {
    "outcomes": "yes/no",
    "model": "logistic",
    "usual_rate": 0.05,
    "odds_factor": 10,
    "action_norm_bound": 2.0,
}
MAKES: dict[str, Callable[..., Policy]] = {
    "code": Code,
    "insured": Insured,
    "lin-ucb": LinUCB,
    "laplace-ts": LaplaceTS,
    "epsilon-greedy": lambda **said: EpsilonGreedy(horizon=2000, **said),
}


def clicked(policy: Policy, rounds: int, seed: int = 1, offers: ActionSet = BANNERS) -> Policy:
    world = np.random.default_rng(seed)
    for _ in range(rounds):
        chosen = policy.select(offers)
        policy.update(chosen, bool(world.random() < RATES[chosen]))
    return policy


def fields(policy: Policy, offers: ActionSet = BANNERS) -> str:
    return repr(policy.explain(offers).to_dict())


@pytest.mark.parametrize("name", MAKES)
def test_rates_are_explained_in_units_of_rewards(name: str) -> None:
    policy = MAKES[name](**SAID)
    before = policy.explain(BANNERS)
    # The usual rate is that of a row of zeros.
    assert before.mean == pytest.approx(0.05) and len(before.plausible) == 4
    assert before.leaning == 0.0 and before.confidence == 0.95
    found = clicked(policy, 2000).explain(BANNERS)
    assert (found.lower > 0).all() and (found.upper < 1).all()
    assert (found.lower < found.mean).all() and (found.mean < found.upper).all()
    for place, rate in enumerate(RATES.values()):
        # The set fails with probability 0.05 in theory; this is one seed.
        assert found.lower[place] < rate < found.upper[place]
    assert "photo" in found.plausible and found.doubt is None
    assert found.leaning is not None and 0 < found.leaning < 1
    difference = policy.compare("photo", "video", BANNERS)
    gap = RATES["photo"] - RATES["video"]
    assert difference.ahead == "photo" and difference.lower < gap < difference.upper
    assert str(policy.outlook(BANNERS))


def test_a_range_of_rewards_stretches_the_rates() -> None:
    said = {**SAID, "outcomes": (0, 1), "odds_factor": 1000}
    plain = Code(**said)
    stretched = Code(**{**said, "outcomes": (-10, 30), "usual_rate": -10 + 40 * 0.05})
    world = np.random.default_rng(2)
    for _ in range(300):
        chosen = plain.select(BANNERS)
        assert stretched.select(BANNERS) == chosen
        # Quarters are exact in both units.
        share = float(world.integers(0, 5)) / 4
        plain.update(chosen, share)
        stretched.update(chosen, -10 + 40 * share)
    one, other = plain.explain(BANNERS), stretched.explain(BANNERS)
    for name in ("mean", "lower", "upper"):
        assert getattr(other, name) == pytest.approx(-10 + 40 * getattr(one, name), abs=1e-10)
    assert one.ruled_out_by == other.ruled_out_by and one.doubt is None


@pytest.mark.parametrize("same", [False, True])
def test_counts_are_outcomes_one_by_one_in_any_order(same: bool) -> None:
    makes = [
        lambda kind: Code(**{**SAID, "outcomes": kind}, same_actions=same),
        lambda kind: LinUCB(**{**SAID, "outcomes": kind}, same_actions=same),
        lambda kind: Insured(**{**SAID, "outcomes": kind}, same_actions=same),
        *([] if same else [lambda kind: LaplaceTS(**{**SAID, "outcomes": kind})]),
    ]
    # 160 outcomes, so that every policy refits after each of them.
    told = [("plain", 3, 60), ("photo", 10, 40), ("video", 0, 50), ("both", 1, 10)]
    single = [(name, place < yes) for name, yes, of in told for place in range(of)]
    shuffled = copy.copy(single)
    np.random.default_rng(3).shuffle(shuffled)  # type: ignore[arg-type]
    for make in makes:
        counted, batched = make("counts"), make("counts")
        for name, yes, of in told:
            counted.update(BANNERS[name], successes=yes, of=of)
        batched.partial_fit(
            [name for name, *_ in told], [(yes, of) for _, yes, of in told], offers=BANNERS
        )
        orders = [make("yes/no"), make("yes/no")]
        for policy, order in zip(orders, (single, shuffled), strict=True):
            for name, outcome in order:
                policy.update(BANNERS[str(name)], bool(outcome == True))  # noqa: E712
        shown = {fields(policy) for policy in (counted, batched, *orders)}
        assert len(shown) == 1
        fewer = make("counts")
        fewer.partial_fit([name for name, *_ in told[1:]], [(1, 9)] * 3, offers=BANNERS)
        assert fields(fewer) not in shown


def test_explanations_lag_by_one_outcome_in_two_hundred() -> None:
    policy = Code(**SAID)
    policy.partial_fit(["plain", "photo"] * 100, [True, False] * 100, offers=BANNERS)
    shown = []
    for _ in range(20):
        policy.update(BANNERS["video"], True)
        shown.append(policy.explain(BANNERS).mean[2])
    changed = [place for place in range(1, 20) if shown[place] != shown[place - 1]]
    assert changed == list(range(1, 20, 2)), "with 200 outcomes two are taken in together"
    assert policy.observations == 220


def test_pending_and_dropped_decisions_never_count_in_the_set() -> None:
    policy = clicked(Code(**SAID), 50)
    before = policy.explain(BANNERS)
    chosen = [policy.select(BANNERS)]
    policy.decided(chosen[0])
    for _ in range(3):
        chosen.append(policy.select(BANNERS))
        policy.decided(chosen[-1])
    after = policy.explain(BANNERS)
    for name in ("mean", "lower", "upper"):
        assert (getattr(after, name) == getattr(before, name)).all()
    policy.dropped(chosen[0])
    policy.update(chosen[1], True)
    assert policy.observations == 51


@pytest.mark.parametrize("name", MAKES)
def test_sets_may_change(name: str, tmp_path: Path) -> None:
    world = np.random.default_rng(5)
    policy = MAKES[name](**SAID)
    for round_ in range(120):
        names = sorted(world.choice(NAMES, size=world.integers(1, 5), replace=False).tolist())
        offers = ActionSet([ROWS[NAMES.index(name)] for name in names], labels=names)
        chosen = policy.select(offers)
        policy.decided(chosen)
        policy.update(chosen, bool(world.random() < RATES[chosen]))
        if round_ == 60:
            policy.save(tmp_path / "policy.json")
            again = Policy.load(tmp_path / "policy.json")
            assert type(again) is type(policy) and repr(again) == repr(policy)
            policy = pickle.loads(pickle.dumps(again))
    assert policy.observations == 120
    assert policy.explain(BANNERS).actions == NAMES


def test_counts_without_a_largest_one() -> None:
    rates = {"plain": 1.5, "photo": 6.0, "video": 0.5, "both": 2.0}
    world = np.random.default_rng(6)
    policy = Code(model="poisson", usual_rate=1.5, odds_factor=10, action_norm_bound=2.0)
    for _ in range(400):
        chosen = policy.select(BANNERS)
        policy.update(chosen, int(world.poisson(rates[chosen])))
    found = policy.explain(BANNERS)
    assert found.plausible == ["photo"] and found.doubt is None
    for place, rate in enumerate(rates.values()):
        assert found.lower[place] < rate < found.upper[place]
    before = policy._save()[0]
    for wrong in (0.3, -1, 1025):
        with pytest.raises(ValueError, match="reward: "):
            policy.update(BANNERS["photo"], wrong)
    assert policy._save()[0] == before
    policy.update(BANNERS["photo"], 1024)


def test_an_estimate_at_the_edge_of_what_was_said_is_told_of() -> None:
    policy = Code(**{**SAID, "odds_factor": 5})
    policy.partial_fit(["photo"] * 150, [True] * 40 + [False] * 110, offers=BANNERS)
    found = policy.explain(BANNERS)
    assert found.leaning is not None and found.leaning > plausibly._core.LEANING
    share = f"{100 * found.leaning:.0f} %"
    assert f"rates differ from the usual one by {share} of what odds_factor" in repr(found)
    assert "of what odds_factor" in found._repr_html_()
    assert found.to_dict()["leaning"] == found.leaning
    wide = Code(**{**SAID, "odds_factor": 1e4})
    wide.partial_fit(["photo"] * 150, [True] * 40 + [False] * 110, offers=BANNERS)
    assert "odds_factor" not in repr(wide.explain(BANNERS))
    linear = Code(outcomes="yes/no", theta_norm_bound=1.0)
    assert linear.explain(BANNERS).leaning is None


@pytest.mark.parametrize("same", [False, True])
def test_estimates_are_rates_also_where_nothing_can_be_ruled_out(same: bool) -> None:
    policy = Code(**{**SAID, "odds_factor": 1.2}, same_actions=same)
    policy.partial_fit(["photo"] * 200, [True] * 160 + [False] * 40, offers=BANNERS)
    found = policy.explain(BANNERS)
    assert found.doubt is not None and "an assumption of the intervals is wrong" in found.doubt
    assert len(found.plausible) == 4 and np.isinf(found.upper).all()
    assert (found.mean > 0).all() and 0.2 < found.mean[1] < 0.9


def test_inside_an_insured_policy_the_same_model_decides() -> None:
    radius = {"kind": "logistic", "usual": 0.05, "factor": 10.0}
    made = [
        Insured(**SAID),
        Insured(**SAID, inside={"kind": "laplace-ts"}),
        Insured(**SAID, inside={"kind": "laplace-ts", "radius": radius}),
    ]
    states = [clicked(policy, 300)._save()[0] for policy in made]
    assert len({state[state.index('"played"') :] for state in states}) == 1
    with pytest.raises(ValueError, match="inside: .*use laplace-ts"):
        Insured(**SAID, inside={"kind": "lin-ts"})


def test_the_radius_may_say_it_all() -> None:
    told = Code(**SAID)
    radius = {"kind": "logistic", "usual": 0.05, "factor": 10.0, "action_norm_bound": 2.0}
    table = Code(outcomes="yes/no", radius=radius)
    assert fields(clicked(told, 100)) == fields(clicked(table, 100))
    bound = float(np.sqrt(3) * np.log(10.0) / 2.0)
    stated = {k: v for k, v in SAID.items() if k not in ("odds_factor", "action_norm_bound")}
    same = clicked(Code(**stated, theta_norm_bound=bound), 100).explain(BANNERS)
    assert same.mean == pytest.approx(told.explain(BANNERS).mean, rel=1e-9)
    sure = Code(**SAID, radius={"kind": "logistic", "delta": 0.001})
    assert sure.explain(BANNERS).confidence == 0.999


def test_extreme_features_give_answers_or_exceptions() -> None:
    rng = np.random.default_rng(7)
    for scale in (1e-320, 1e-100, 1.0, 1e100):
        for made in (Code, LaplaceTS, LinUCB):
            for said in ({"outcomes": "yes/no", "model": "logistic"}, {"model": "poisson"}):
                policy = made(**said, theta_norm_bound=1.0)
                offers = np.vstack([rng.uniform(-scale, scale, (5, 3)), np.zeros((1, 3))])
                for _ in range(30):
                    policy.update(policy.select(offers), int(rng.integers(2)))
                assert policy.explain(offers).mean.shape == (6,)


SPEC: dict[str, Any] = {
    "runs": 2,
    "horizon": 100,
    "environment": {"kind": "clicks", "dim": 3, "actions": 5},
    "policy": [
        {"kind": "code", "radius": {"kind": "logistic", "usual": 0.05}},
        {"kind": "laplace-ts", "radius": {"kind": "logistic", "usual": 0.05}},
        {"kind": "epsilon-greedy", "radius": {"kind": "logistic"}},
    ],
}


def test_specs_have_them_too() -> None:
    assert simulate(SPEC).policies == ["code", "laplace-ts", "epsilon-greedy"]
    counts = {**SPEC, "environment": {"kind": "poisson", "dim": 3, "actions": 5}}
    counts["policy"] = [{"kind": "lin-ucb", "radius": {"kind": "poisson", "factor": 10.0}}]
    assert simulate(counts).policies == ["lin-ucb"]
    swept = sweep(SPEC, {"policy[1].radius.usual": [0.02, 0.1]}, task_runs=1)
    for usual, result in zip((0.02, 0.1), swept.results, strict=True):
        code = {"kind": "code", "radius": {"kind": "logistic", "usual": usual}}
        assert result.csv == simulate({**SPEC, "policy": [code, *SPEC["policy"][1:]]}).csv
    assert swept.results[0].csv != swept.results[1].csv
    with pytest.raises(ValueError, match="laplace-ts needs actions with features"):
        simulate({**SPEC, "environment": {"kind": "k-armed", "actions": 3}})
