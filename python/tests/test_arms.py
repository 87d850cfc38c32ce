"""Plain arms that come and go: what was learned about an arm follows its label."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from plausibly import UCB1, ActionSet, Code, EpsilonGreedy, ExploreThenCommit, Policy, Thompson

Make = Callable[[], Policy]
MAKES: dict[str, Make] = {
    "ucb1": lambda: UCB1(noise_scale=0.5),
    "thompson": lambda: Thompson(noise_scale=0.5, seed=3),
    "code": lambda: Code(noise_scale=0.5),
    "code, greed": lambda: Code(noise_scale=0.5, greed=0.5),
    "code, deadline": lambda: Code(noise_scale=0.5, target={"accuracy": 0.5, "by_round": 50}),
    "epsilon-greedy": lambda: EpsilonGreedy(horizon=100, epsilon=0.5),
    "explore-then-commit": lambda: ExploreThenCommit(horizon=60, epsilon=0.5),
}


@pytest.mark.parametrize("name", MAKES)
def test_estimates_follow_labels(name: str) -> None:
    """Random lists of arms in random orders.

    Every estimate is the mean of that label's rewards, and every choice is on offer.
    """
    rng, policy = np.random.default_rng(1), MAKES[name]()
    paid: dict[str, list[float]] = {}
    late: list[str] = []
    for round_ in range(120):
        labels = rng.permutation(list("abcdefg"))[: 1 + rng.integers(6)].tolist()
        offers = ActionSet.arms(labels)
        chosen = policy.select(offers)
        assert chosen in labels
        policy.decided(chosen)
        late.append(chosen)
        for _ in range(rng.integers(3) if round_ < 100 else 2):
            if late:
                arm = late.pop(rng.integers(len(late)))
                if rng.random() < 0.2:
                    policy.dropped(arm)
                else:
                    paid.setdefault(arm, []).append(rng.normal())
                    policy.update(arm, paid[arm][-1])
        found = policy.explain(offers, radius=1.0)
        for label, mean, width_sq in zip(labels, found.mean, found.width_sq, strict=True):
            seen = paid.get(label, [])
            assert mean == pytest.approx(np.mean(seen) if seen else 0.0, abs=1e-12)
            assert width_sq == (1.0 / len(seen) if seen else np.inf)
        assert policy.observations == found.observations == sum(map(len, paid.values()))


def play(policy: Policy, rng: np.random.Generator, rounds: int, waiting: list[str]) -> list[str]:
    chosen = []
    for _ in range(rounds):
        labels = rng.permutation(list("abcde"))[: 1 + rng.integers(4)].tolist()
        chosen.append(policy.select(ActionSet.arms(labels)))
        policy.decided(chosen[-1])
        waiting.append(chosen[-1])
        if len(waiting) > 3:
            policy.update(str(waiting.pop(0)), rng.normal())
    return chosen


@pytest.mark.parametrize("name", MAKES)
def test_they_go_on_from_a_file(name: str, tmp_path: Path) -> None:
    for cut in (0, 1, 7, 40):
        whole, parted = MAKES[name](), MAKES[name]()
        streams, waiting = [np.random.default_rng(cut) for _ in range(2)], [[], []]  # type: ignore[var-annotated]
        play(whole, streams[0], cut, waiting[0])
        play(parted, streams[1], cut, waiting[1])
        parted.save(tmp_path / "policy.json")
        for again in (Policy.load(tmp_path / "policy.json"), pickle.loads(pickle.dumps(parted))):
            rng = np.random.default_rng()
            rng.bit_generator.state = streams[1].bit_generator.state
            expected, late = pickle.loads(pickle.dumps(whole)), list(waiting[0])
            follow = np.random.default_rng()
            follow.bit_generator.state = streams[0].bit_generator.state
            assert play(again, rng, 30, list(waiting[1])) == play(expected, follow, 30, late), cut
        follow = np.random.default_rng()
        follow.bit_generator.state = streams[0].bit_generator.state
        assert play(whole, follow, 30, list(waiting[0])) == play(
            Policy.load(tmp_path / "policy.json"), streams[1], 30, waiting[1]
        )


def test_the_same_arms_in_another_order_are_the_same_arms() -> None:
    policy = UCB1(noise_scale=0.1)
    arms, turned = ActionSet.arms(["good", "bad"]), ActionSet.arms(["bad", "good"])
    for _ in range(20):
        chosen = policy.select(arms)
        policy.update(chosen, {"good": 1.0, "bad": 0.0}[chosen])
    assert policy.select(turned) == "good" and policy.explain(turned).mean.tolist() == [0.0, 1.0]


def test_arms_without_labels_are_known_by_place() -> None:
    policy = UCB1(noise_scale=1.0)
    for _ in range(2):
        policy.update(policy.select(ActionSet.arms(2)), 1.0)
    assert policy.select(ActionSet.arms(3)) == 2
    policy.update(2, 0.5)
    assert policy.explain(ActionSet.arms(3)).mean.tolist() == [1.0, 1.0, 0.5]
    assert policy.explain(ActionSet.arms(1)).mean.tolist() == [1.0] and policy.observations == 3
    with pytest.raises(
        ValueError, match="began with arms that have no labels, and these have some"
    ):
        policy.select(ActionSet.arms(["a", "b"]))
    with pytest.raises(ValueError, match="began with arms that have no labels"):
        policy.partial_fit([ActionSet.arms(2)[0], ActionSet.arms(["a"])["a"]], [1.0, 1.0])
    assert policy.observations == 3


def test_delta_is_shared_among_all_arms_ever_offered() -> None:
    """Fewer arms make no interval narrower, and one more arm makes all of them wider."""
    policy, all_arms = Code(noise_scale=0.5), ActionSet.arms(["a", "b", "c"])
    for _ in range(9):
        policy.update(policy.select(all_arms), 0.5)
    three = policy.explain(all_arms)
    two = policy.explain(ActionSet.arms(["a", "b"]))
    four = policy.explain(ActionSet.arms(["a", "b", "c", "d"]))
    assert two.intervals == three.intervals[:2]
    assert all(wide[0] < narrow[0] for wide, narrow in zip(four.intervals, three.intervals))
    assert policy.explain(all_arms).intervals == three.intervals, "asking enlists no arm"


def test_a_policy_of_an_earlier_version_is_refused_by_name() -> None:
    text, sets, waiting = UCB1(noise_scale=1.0)._save()
    for version in (1, 2):
        with pytest.raises(ValueError, match=f"version {version} of the format, .* no longer"):
            UCB1._restored(version, text, sets, waiting)
