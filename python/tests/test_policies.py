"""Policies in use: labels, late rewards, explanations, threads."""

from __future__ import annotations

import inspect
import json
import re
import threading
from pathlib import Path
from xml.etree import ElementTree
from typing import Any

import numpy as np
import pytest

import plausibly
from plausibly import (
    UCB1,
    Action,
    ActionSet,
    Code,
    Elimination,
    EpsilonGreedy,
    ExploreThenCommit,
    Insured,
    LaplaceTS,
    LinTS,
    LinUCB,
)
from plausibly import Policy, Thompson

OFFERS = ActionSet([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]], labels=["red", "blue", "both"])
MEANS = {"red": 0.9, "blue": 0.1, "both": 0.5}


def played(rounds: int = 400, **settings: Any) -> Code:
    policy = Code(**{"noise_scale": 0.1, "theta_norm_bound": 1.0, **settings})
    for _ in range(rounds):
        chosen = policy.select(OFFERS)
        policy.update(chosen, MEANS[chosen])
    return policy


def test_an_explanation_says_what_is_known() -> None:
    found = played().explain(OFFERS)
    assert found.actions == ["red", "blue", "both"]
    assert found.plausible == ["red"] and found.ruled_out_by == [None, "red", "red"]
    assert np.isnan(found.margin[0]) and (found.margin[1:] > 0).all()
    assert (found.lower < found.mean).all() and (found.mean < found.upper).all()
    assert abs(found.mean[0] - 0.9) < 0.1 and found.observations == 400 and found.confidence == 0.95
    half = float(found.upper[0] - found.mean[0])
    # No estimate errs more than this: the distance to the farther end of its interval.
    farthest = max(half, float(found.mean[0] - found.lower[0]))
    assert found.model_error_bound == pytest.approx(farthest**2, rel=1e-12)
    assert found.sqrt_beta * float(found.width_sq[0]) ** 0.5 == pytest.approx(half, rel=1e-12)
    assert found.decides_by == (
        "the plausible action with the largest half-width plus 0.3 times its estimate"
    )
    assert found.target is None
    assert found.intervals[0] == (found.lower[0], found.upper[0])
    plain = found.to_dict()
    assert plain["mean"] == found.mean.tolist() and plain["intervals"] == found.intervals
    assert re.search(r"ruled out: red beats blue by 0\.\d+ to \d[.\d]*\n", repr(found))
    assert (found.at_most[1:] > found.margin[1:]).all() and np.isnan(found.evidence).all()


def test_an_explanation_doubts_a_noise_scale_that_is_too_small() -> None:
    arms = ActionSet.arms(2)
    radius = {"kind": "mixture"}
    policies = {scale: Code(noise_scale=scale, radius=radius) for scale in (0.01, 1.0)}
    for policy in policies.values():
        policy.partial_fit([0, 1] * 100, [2.0, 1.0, 0.0, -1.0] * 50, offers=arms)
    doubted, trusted = (policies[scale].explain(arms) for scale in (0.01, 1.0))
    assert doubted.doubt is not None and "noise scale of 0.01" in doubted.doubt
    assert doubted.plausible == [0, 1] and np.isinf(doubted.upper).all()
    assert f"nothing is ruled out: {doubted.doubt}" in repr(doubted)
    assert doubted.doubt in doubted._repr_html_()
    assert doubted.to_dict()["doubt"] == doubted.doubt
    assert trusted.doubt is None and "nothing is ruled out" not in repr(trusted)


def test_an_explanation_says_whether_an_insured_policy_explores() -> None:
    arms = ActionSet.arms(2)
    policy = Insured(inside={"kind": "epsilon-greedy", "epsilon": 0.0}, noise_scale=0.1)
    assert policy.explain(arms).explores is True
    assert "the next round explores" in repr(policy.explain(arms))
    policy.partial_fit([0, 1] * 20, [0.5, 0.6] * 20, offers=arms)
    assert policy.explain(arms).explores is False
    assert policy.select(arms) == 1, "greedy, not the widest"
    assert played(5).explain(OFFERS).explores is None


def test_asking_changes_nothing() -> None:
    asked, silent = played(20, randomise=0.5), played(20, randomise=0.5)
    for _ in range(40):
        asked.explain(OFFERS)
        asked.explain(OFFERS, radius=3.0)
        chosen = asked.select(OFFERS)
        assert chosen == silent.select(OFFERS)
        asked.update(chosen, 0.3)
        silent.update(chosen, 0.3)


def test_asking_first_decides_nothing() -> None:
    policy = Code(noise_scale=1.0, theta_norm_bound=1.0)
    assert policy.explain(ActionSet.arms(4)).plausible == [0, 1, 2, 3]
    assert policy.explain(np.eye(5)).observations == 0
    assert policy.select(OFFERS) == "red"


def test_rows_converted_on_every_call_keep_a_promise() -> None:
    policy, rows = Code(radius=1.0, target={"accuracy": 0.5, "by_round": 100}), [[1.0], [0.5]]
    for _ in range(5):
        policy.update(policy.select(rows), 0.5)
    target = policy.explain(rows).target
    assert target is not None and target["promised"]
    policy.update(policy.select([[1.0]]), 0.5)
    target = policy.explain(rows).target
    assert target is not None and not target["promised"]


def test_names_cannot_smuggle_html() -> None:
    offers = ActionSet([[1.0], [2.0]], labels=["<script>", "&"])
    page = LinUCB(radius=1.0).explain(offers)._repr_html_()
    assert "<script>" not in page and "&lt;script&gt;" in page and "&amp;" in page


def test_intervals_are_drawn_in_notebooks() -> None:
    """The picture is well-formed, with one bar per row on one scale.

    Bars of ruled-out actions end left of the dashed line.
    """
    found = played(400).explain(OFFERS)
    page = ElementTree.fromstring(found._repr_html_())
    bars = page.findall(".//svg")
    assert len(bars) == 3
    ends = {}
    for name, row in zip(["red", "both", "blue"], page.findall(".//tbody/tr"), strict=True):
        assert row[0].text == name
        interval, dashed = row[1][0].findall("line")
        ends[name] = (
            float(interval.get("x1", "")),
            float(interval.get("x2", "")),
            float(dashed.get("x1", "")),
        )
    assert ends["red"][0] == ends["red"][2], "the best lower end is its own"
    assert ends["both"][1] < ends["both"][2] and ends["blue"][1] < ends["blue"][2]
    unknown = ElementTree.fromstring(UCB1(noise_scale=1.0).explain(ActionSet.arms(2))._repr_html_())
    assert "nan" not in str(ElementTree.tostring(unknown.find(".//svg"))).lower()  # type: ignore[arg-type]


def test_long_explanations_are_cut_and_say_so() -> None:
    found = LinUCB(radius=1.0).explain(np.arange(1.0, 101.0).reshape(-1, 1))
    assert "and 80 more" in repr(found) and "and 80 more" in found._repr_html_()


def test_targets_are_reported() -> None:
    target = played(5, target={"accuracy": 0.01}).explain(OFFERS).target
    assert target is not None and target["kind"] == "accuracy" and not target["met"]
    late = played(5, target={"accuracy": 5.0, "by_round": 3}).explain(OFFERS).target
    assert late is not None and late["met"] and late["by_round"] == 3 and late["outcome"] == "met"
    kappa = played(5, target={"kappa": 2.0}).explain(OFFERS)
    assert kappa.target is not None and kappa.target["kind"] == "kappa" and "target" in repr(kappa)


def test_a_policy_without_a_radius_is_explained_by_one_that_is_given() -> None:
    policy = LinTS(noise_scale=0.1)
    policy.select(OFFERS)
    with pytest.raises(ValueError, match="radius.theta_norm_bound: missing"):
        policy.explain(OFFERS)
    given = {"kind": "determinant", "theta_norm_bound": 1.0}
    assert policy.explain(OFFERS, radius=given).confidence == 0.95
    assert policy.explain(OFFERS, radius=2.0).confidence is None
    assert Thompson(noise_scale=0.1).explain(OFFERS).confidence == 0.95
    with pytest.raises(ValueError, match="radius.kind: determinant needs actions with features"):
        Thompson(noise_scale=0.1).explain(OFFERS, radius=given)


def test_outstanding_decisions_count_in_the_design() -> None:
    policy = Code(noise_scale=1.0, theta_norm_bound=1.0)
    offers = ActionSet([[1.0, 0.0], [0.0, 1.0]])
    assert policy.select(offers) == 0
    assert policy.select(offers) == 0, "the policy does not know that it was taken"
    policy.decided(0)
    assert policy.select(offers) == 1
    policy.dropped(0)
    assert policy.select(offers) == 0


def test_late_rewards_of_other_sets_need_the_action_itself() -> None:
    policy = Code(noise_scale=1.0, theta_norm_bound=1.0)
    monday, tuesday = ActionSet([[1.0, 0.0], [0.0, 1.0]]), ActionSet([[0.5, 0.5]])
    first = monday[policy.select(monday)]
    policy.decided(first)
    second = tuesday[policy.select(tuesday)]
    with pytest.raises(ValueError, match="action: 0 was chosen from different action sets"):
        policy.update(0, 1.0)
    policy.update(first, 1.0)
    policy.update(second, 1.0)
    policy.select(tuesday)
    policy.update(0, 1.0)
    assert policy.observations == 3


def test_the_same_rows_again_are_the_same_set() -> None:
    policy, rows = LinUCB(radius=1.0), [[1.0, 0.0], [0.0, 2.0]]
    assert (policy.select(rows), policy.select(rows)) == (1, 1)
    policy.update(1, 0.5)
    assert policy.observations == 1


def test_sets_may_change_where_actions_have_features() -> None:
    policy = LinUCB(radius=1.0)
    for count in (1, 5, 3):
        policy.update(policy.select(np.ones((count, 4))), 0.5)
    assert policy.observations == 3


def test_a_place_keeps_its_meaning_where_it_is_all_that_is_known() -> None:
    policy = UCB1(noise_scale=1.0)
    policy.update(policy.select([[1.0], [2.0]]), 0.5)
    policy.update(policy.select([[1.0], [2.0]]), 0.5)
    with pytest.raises(ValueError, match="actions: the policy knows actions by their place alone"):
        policy.select([[1.0], [3.0]])


def test_a_subclass_is_a_policy_too() -> None:
    class Mine(Code):
        pass

    policy = Mine(noise_scale=1.0, label="mine")
    assert policy.select(ActionSet.arms(2)) == 0
    assert repr(policy) == "Mine(noise_scale=1.0, label='mine')"
    assert repr(Code(radius=1.0)) == "Code(radius=1.0)"


MADE: list[Policy] = [
    Code(
        noise_scale=0.5,
        theta_norm_bound=1.0,
        target={"accuracy": 0.1, "by_round": 50},
        seed=7,
        label="late",
    ),
    Code(
        radius={"kind": "paper", "delta": 0.1},
        noise_scale=1,
        theta_norm_bound=1,
        action_norm_bound=2,
        count_pending=False,
    ),
    Code(radius=1.25, greed=0.5, ridge=0.1, randomise=0.25),
    LinUCB(radius=1.25),
    LinUCB(noise_scale=0.3, theta_norm_bound=1.0),
    Code(outcomes="yes/no", model="logistic", usual_rate=0.05, odds_factor=10, action_norm_bound=1),
    Code(model="poisson", theta_norm_bound=3.0, radius={"kind": "poisson", "delta": 0.01}),
    Insured(outcomes="counts", model="logistic", theta_norm_bound=3.0, kappa=10),
    LaplaceTS(outcomes=(0, 10), usual_rate=2.5, action_norm_bound=1),
    LinTS(noise_scale=0.5, ridge=2.0),
    Elimination(delta=0.1),
    EpsilonGreedy(horizon=1000, epsilon=0.1, exploration="design"),
    EpsilonGreedy(horizon=1000, model="poisson", theta_norm_bound=3.0),
    ExploreThenCommit(horizon=1000),
    UCB1(noise_scale=1e-3, seed=2**62),
    Thompson(noise_scale=1.0, label="a 'quoted' \"one\""),
]


@pytest.mark.parametrize("policy", MADE, ids=repr)
def test_a_policy_shows_its_parameters(policy: Policy) -> None:
    for again in (eval(repr(policy), vars(plausibly)), type(policy)(**policy.get_params())):
        assert type(again) is type(policy)
        assert again.get_params() == policy.get_params() and repr(again) == repr(policy)
        assert again._save() == policy._save()


@pytest.mark.parametrize(
    "made", sorted({type(policy) for policy in MADE}, key=lambda made: made.__name__)
)
def test_help_explains_every_parameter(made: type[Policy]) -> None:
    text = made.__doc__ or ""
    named = dict(re.findall(r"^    (\w+) : (.*)\n        \S", text, flags=re.MULTILINE))
    assert list(named) and set(named) == set(inspect.signature(made).parameters)
    for name, what in named.items():
        needed = name in ("noise_scale", "theta_norm_bound", "action_norm_bound", "horizon")
        assert needed or "default" in what, (name, what)
    assert "A_t = " in text or "phase" in text or made is Insured


def test_many_threads_on_one_policy() -> None:
    policy, failures = Code(noise_scale=0.1, theta_norm_bound=1.0), []
    rounds, start = 3000, threading.Barrier(4)

    def work() -> None:
        try:
            start.wait()
            for _ in range(rounds):
                chosen = policy.select(OFFERS)
                policy.update(chosen, MEANS[chosen])
                policy.explain(OFFERS)
        except Exception as error:  # the cause is shown below
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == [] and policy.observations == 4 * rounds
    found = policy.explain(OFFERS)
    assert found.plausible == ["red"] and abs(found.mean[0] - 0.9) < 0.01


class Caller:
    """A label that calls the policy during its lookup."""

    def __init__(self, policy: plausibly.Policy) -> None:
        self.policy = policy

    def __hash__(self) -> int:
        self.policy.select(OFFERS)
        return hash("red")

    def __eq__(self, other: object) -> bool:
        self.policy.update("red", 0.5)
        return other == "red"


def test_calls_back_from_a_label_neither_hang_nor_harm() -> None:
    policy = played(10)
    policy.select(OFFERS)
    policy.update(Caller(policy), 0.5)
    assert policy.observations == 12


class Rows:
    """Rows that call the policy during their conversion."""

    def __init__(self, policy: plausibly.Policy) -> None:
        self.policy = policy

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        self.policy.select(OFFERS)
        return np.ones((2, 2))


def test_calls_back_from_rows_neither_hang_nor_harm() -> None:
    policy = played(10)
    assert policy.select(Rows(policy)) == 0


class Last:
    """An iterator that calls the policy."""

    def __init__(self, policy: plausibly.Policy, heard: list[object]) -> None:
        self.policy, self.heard = policy, heard

    def __del__(self) -> None:
        try:
            self.heard.append(self.policy.select(OFFERS))
        except RuntimeError as error:
            self.heard.append(error)


def test_a_call_from_a_dying_label_gets_an_answer() -> None:
    policy, heard = Code(noise_scale=0.1, theta_norm_bound=1.0), []
    policy.update(policy.select(ActionSet([[1.0, 0.0]], labels=[Last(policy, heard)])), 1.0)
    policy.update(OFFERS["red"], 1.0)
    assert policy.select(OFFERS) in MEANS
    assert len(heard) == 1
    assert heard[0] in MEANS or "busy with another call" in str(heard[0])


@pytest.mark.parametrize("wrong", [None, 3])
def test_a_batch_is_one_update_after_another_or_nothing(wrong: int | None) -> None:
    rng = np.random.default_rng(5)
    other = ActionSet([[0.5, 0.1], [0.2, 0.9], [0.3, 0.3]], labels=["red", "blue", "both"])
    batched, single = played(20, randomise=0.5), played(20, randomise=0.5)
    for policy in (batched, single):
        policy.select(OFFERS)
    names: list[Any] = [
        *rng.choice(["red", "blue", "both"], 40).tolist(),
        other["red"],
        OFFERS["both"],
    ]
    rewards = rng.normal(size=len(names))
    if wrong is not None:
        for actions, paid in ((names, [*rewards[:-1], np.nan]), ([*names[:-1], "green"], rewards)):
            before = batched._save()[0]
            with pytest.raises((ValueError, KeyError), match=r"(actions|rewards)\[41\]: "):
                batched.partial_fit(actions, paid)
            assert batched._save()[0] == before
    batched.partial_fit(names, rewards)
    for name, reward in zip(names, rewards, strict=True):
        single.update(name, reward)
    assert batched._save()[0] == single._save()[0]
    for policy in (batched, single):
        policy.partial_fit(
            np.array([0, 2]), (1, 2.0), offers=ActionSet([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
        )
        policy.partial_fit([], [])
    assert batched._save()[0] == single._save()[0]


def test_what_they_are_made_of_is_public() -> None:
    assert isinstance(OFFERS["red"], Action)
    for name in plausibly.__all__:
        assert hasattr(plausibly, name)


def test_explanations_are_json(tmp_path: Path) -> None:
    labels: list[Any] = [
        "text",
        3,
        2.5,
        None,
        True,
        ("a", 1),
        np.int64(7),
        np.str_("numpy"),
        frozenset({1}),
        np.float64(0.5),
    ]
    offers = ActionSet.arms(len(labels), labels=labels)
    policy = Code(noise_scale=0.5, target={"accuracy": 0.1})
    for _ in range(12):
        plain = policy.explain(offers).to_dict()
        again = json.loads(json.dumps(plain, allow_nan=False))
        assert list(again) == list(plain) and again["observations"] == plain["observations"]
        assert [entry[0] for entry in again["intervals"]] == again["lower"]
        policy.update(policy.select(offers), 0.5)
    assert again["margin"].count(None) == len(again["plausible"])
    for value in plain["actions"]:
        assert not isinstance(value, np.generic)
