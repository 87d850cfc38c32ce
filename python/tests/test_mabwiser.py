"""Compares `plausibly.compat.mabwiser` with MABWiser, and shows where MABWiser is wrong."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from mabwiser.mab import MAB as Theirs
from mabwiser.mab import LearningPolicy as TheirPolicy

from plausibly.compat.mabwiser import MAB, LearningPolicy

CLOSE = 1e-9


def histories(seed: int, contextual: bool) -> Iterator[tuple[str, Any]]:
    """Histories of a bandit that begins with arms 0 to 3: batches, added and removed arms."""
    rng = np.random.default_rng(seed)
    arms, dim = [0, 1, 2, 3], int(rng.integers(1, 8))
    theta = rng.normal(size=(20, dim))
    for step in range(int(rng.integers(4, 12))):
        what = "learn" if step == 0 else rng.choice(["learn", "learn", "learn", "add", "remove"])
        if what == "add":
            arms.append(4 + step)
            yield "add", 4 + step
        elif what == "remove" and len(arms) > 1:
            yield "remove", arms.pop(int(rng.integers(len(arms))))
        else:
            count = int(rng.integers(1, 60))
            decisions = rng.choice(arms, size=count).tolist()
            contexts = rng.normal(size=(count, dim)) * 10.0 ** rng.integers(-1, 2)
            rewards = (contexts * theta[decisions]).sum(axis=1) + rng.normal(size=count)
            yield "learn", (decisions, rewards.tolist(), contexts if contextual else None)


def played(seed: int, contextual: bool, *bandits: Any) -> np.ndarray[Any, Any]:
    """Plays a history on all bandits; returns contexts to ask about."""
    dim = 1
    for what, detail in histories(seed, contextual):
        for bandit in bandits:
            if what == "learn":
                bandit.partial_fit(*detail)
                dim = 1 if detail[2] is None else detail[2].shape[1]
            else:
                (bandit.add_arm if what == "add" else bandit.remove_arm)(detail)
    return np.random.default_rng(seed + 1).normal(size=(7, dim))


def same(ours: dict[Any, float], theirs: dict[Any, float]) -> bool:
    scale = 1.0 + max(abs(float(value)) for value in theirs.values())
    return ours.keys() == theirs.keys() and all(
        abs(ours[arm] - theirs[arm]) <= CLOSE * scale for arm in ours
    )


LAMBDAS = [0.1, 1.0, 7.5]


@pytest.mark.parametrize("l2_lambda", LAMBDAS)
@pytest.mark.parametrize("seed", range(12))
def test_linear_estimates_are_the_same(seed: int, l2_lambda: float) -> None:
    theirs = Theirs([0, 1, 2, 3], TheirPolicy.LinGreedy(epsilon=0, l2_lambda=l2_lambda))
    greedy = MAB([0, 1, 2, 3], LearningPolicy.LinGreedy(epsilon=0, l2_lambda=l2_lambda))
    others = [
        MAB([0, 1, 2, 3], policy)
        for policy in (
            LearningPolicy.LinGreedy(epsilon=0.5, l2_lambda=l2_lambda),
            LearningPolicy.LinUCB(alpha=2, l2_lambda=l2_lambda),
            LearningPolicy.LinTS(alpha=2, l2_lambda=l2_lambda),
            LearningPolicy.Code(alpha=2, l2_lambda=l2_lambda),
        )
    ]
    contexts = played(seed, True, theirs, greedy, *others)
    wanted = theirs.predict_expectations(contexts)
    # Estimates are estimates, whatever the policy decides by.
    for ours in (greedy, *others):
        found = ours.predict_expectations(contexts)
        assert all(same(mine, other) for mine, other in zip(found, wanted, strict=True))
    assert greedy.predict(contexts) == theirs.predict(contexts)
    assert greedy.arms == theirs.arms and greedy.cold_arms == theirs.cold_arms
    assert same(
        greedy.predict_expectations(contexts[:1]), theirs.predict_expectations(contexts[:1])
    )


@pytest.mark.parametrize("alpha", [0, 0.3, 1.0, 4])
@pytest.mark.parametrize("l2_lambda", LAMBDAS)
@pytest.mark.parametrize("seed", range(6))
def test_upper_bounds_and_choices_of_lin_ucb_are_the_same(
    seed: int, l2_lambda: float, alpha: float
) -> None:
    theirs = Theirs([0, 1, 2, 3], TheirPolicy.LinUCB(alpha, l2_lambda))
    ours = MAB([0, 1, 2, 3], LearningPolicy.LinUCB(alpha, l2_lambda))
    contexts = played(seed, True, theirs, ours)
    uppers = theirs.predict_expectations(contexts)
    for context, upper in zip(contexts, uppers, strict=True):
        found = ours.explain([context], radius=alpha or 1.0)
        mean, width = np.asarray(found.mean), np.sqrt(found.width_sq)
        mine = dict(zip(ours.arms, mean + alpha * width))
        warm = [arm for arm in ours.arms if arm not in ours.cold_arms]
        assert same({arm: mine[arm] for arm in warm}, {arm: upper[arm] for arm in warm})
    if not ours.cold_arms:
        assert ours.predict(contexts) == theirs.predict(contexts)


@pytest.mark.parametrize("seed", range(12))
def test_means_are_the_same(seed: int) -> None:
    theirs = Theirs([0, 1, 2, 3], TheirPolicy.EpsilonGreedy(epsilon=0))
    bandits = [
        MAB([0, 1, 2, 3], policy)
        for policy in (
            LearningPolicy.EpsilonGreedy(epsilon=0),
            LearningPolicy.EpsilonGreedy(epsilon=1),
            LearningPolicy.UCB1(alpha=1.25),
            LearningPolicy.Code(noise_scale=1.0),
        )
    ]
    played(seed, False, theirs, *bandits)
    for ours in bandits:
        assert same(ours.predict_expectations(), theirs.predict_expectations())
    assert bandits[0].predict() == theirs.predict()
    several = bandits[0].predict_expectations([[1.0], [2.0]])
    assert several == [bandits[0].predict_expectations()] * 2


def test_successes_are_counted_alike() -> None:
    def high(arm: Any, reward: float) -> bool:
        return reward > 10

    theirs = Theirs(["a", "b"], TheirPolicy.ThompsonSampling(high))
    ours = MAB(["a", "b"], LearningPolicy.ThompsonSampling(high))
    for bandit in (theirs, ours):
        bandit.fit(["a", "a", "b", "a"], [10, 17, 25, 9])
    # A uniform prior adds one success and one failure.
    counts = {
        arm: (theirs._imp.arm_to_success_count[arm] - 1, theirs._imp.arm_to_fail_count[arm] - 1)
        for arm in "ab"
    }
    assert ours.predict_expectations() == {
        arm: won / (won + lost) for arm, (won, lost) in counts.items()
    }


# Places where MABWiser is wrong or odd, as the guide says. If one of these tests fails, MABWiser
# was fixed and the guide is wrong.


def test_theirs_gives_arms_without_data_the_wrong_width() -> None:
    theirs = Theirs([1, 2], TheirPolicy.LinUCB(alpha=1, l2_lambda=4))
    ours = MAB([1, 2], LearningPolicy.LinUCB(alpha=1, l2_lambda=4))
    for bandit in (theirs, ours):
        bandit.fit([1], [0.0], [[1.0, 0.0]])
    # A ridge of 4 is a prior of standard deviation 1/2, and an unseen action is as wide as the
    # prior.
    assert theirs.predict_expectations([[0.0, 1.0]]) == {1: 0.5, 2: 2.0}
    assert ours.explain([[0.0, 1.0]]).upper.tolist() == [0.5, 0.5]


def test_theirs_adds_up_draws_of_lin_ts_where_there_is_one_feature() -> None:
    theirs = Theirs([1, 2], TheirPolicy.LinTS(alpha=1e-9, l2_lambda=1))
    ours = MAB([1, 2], LearningPolicy.LinTS(alpha=1e-9, l2_lambda=1))
    for bandit in (theirs, ours):
        bandit.fit([1, 1, 2], [1.0, 1.0, 5.0], [[1.0]] * 3)
    alone, five = theirs.predict_expectations([[1.0]]), theirs.predict_expectations([[1.0]] * 5)
    assert abs(alone[2] - 2.5) < 1e-6
    assert all(abs(row[2] - 5 * 2.5) < 1e-6 for row in five)
    assert all(same(row, {1: 2 / 3, 2: 2.5}) for row in ours.predict_expectations([[1.0]] * 5))


def test_theirs_loses_what_it_learned_of_labels_of_several_types() -> None:
    arms = [1, "a"]
    theirs = Theirs(arms, TheirPolicy.EpsilonGreedy(epsilon=0))
    ours = MAB(arms, LearningPolicy.EpsilonGreedy(epsilon=0))
    for bandit in (theirs, ours):
        bandit.fit([1, 1, "a"], [9.0, 9.0, 1.0])
    assert theirs.predict_expectations() == {1: 0, "a": 1.0}
    assert ours.predict_expectations() == {1: 9.0, "a": 1.0}
    linear = Theirs(arms, TheirPolicy.LinUCB())
    linear.fit([1, "a"], [9.0, 1.0], [[1.0], [2.0]])
    with pytest.raises(KeyError):
        linear.predict([[1.0]])


def test_theirs_without_a_ridge() -> None:
    theirs = Theirs([1, 2], TheirPolicy.LinUCB(alpha=1, l2_lambda=0))
    with pytest.raises(np.linalg.LinAlgError):
        theirs.fit([1], [1.0], [[1.0, 0.0]])
    theirs.fit([1, 1], [1.0, 1.0], [[1.0, 0.0], [0.0, 1.0]])
    assert theirs.predict_expectations([[1.0, 1.0]])[2] == 0.0
    # As close to least squares as the guide says.
    ours = MAB([1], LearningPolicy.LinUCB(l2_lambda=1e-6))
    ours.fit([1, 1], [1.0, 2.0], [[1.0, 0.0], [0.0, 1.0]])
    assert ours.predict_expectations([[1.0, 1.0]])[1] == pytest.approx(3.0, rel=1e-5)


def test_theirs_needs_data_first() -> None:
    with pytest.raises(Exception, match="Call fit"):
        Theirs([1, 2], TheirPolicy.LinUCB()).predict([[1.0]])
    assert MAB([1, 2], LearningPolicy.LinUCB(), n_jobs=-1, backend="loky").predict([[1.0]]) == 1


def test_theirs_leaves_out_rows_of_unknown_arms() -> None:
    theirs = Theirs([1, 2], TheirPolicy.EpsilonGreedy(epsilon=0))
    theirs.fit([1, 3], [0.5, 9.0])
    assert theirs.predict_expectations() == {1: 0.5, 2: 0}
    with pytest.raises(ValueError, match="decisions: 3 in row 1 is not an arm"):
        MAB([1, 2], LearningPolicy.EpsilonGreedy()).fit([1, 3], [0.5, 9.0])


def test_theirs_never_tries_an_arm_of_ucb1_by_itself() -> None:
    theirs = Theirs([1, 2], TheirPolicy.UCB1(alpha=1))
    ours = MAB([1, 2], LearningPolicy.UCB1(alpha=1))
    for bandit in (theirs, ours):
        bandit.fit([1], [0.1])
        for _ in range(50):
            bandit.partial_fit([1], [0.1])
    assert theirs.predict() == 1 and theirs.cold_arms == [2]
    assert ours.predict() == 2


def test_theirs_depends_on_pieces_where_it_scales() -> None:
    rng = np.random.default_rng(3)
    contexts, rewards = rng.normal(size=(40, 2)) * (1, 9) + 4, rng.normal(size=40)
    contexts[20:] += 7
    policy = TheirPolicy.LinGreedy(epsilon=0, scale=True)
    whole, pieces = Theirs([1], policy), Theirs([1], policy)
    whole.fit([1] * 40, rewards, contexts)
    pieces.fit([1] * 20, rewards[:20], contexts[:20])
    pieces.partial_fit([1] * 20, rewards[20:], contexts[20:])
    one, other = (
        whole.predict_expectations([[4.0, 4.0]])[1],
        pieces.predict_expectations([[4.0, 4.0]])[1],
    )
    assert abs(one - other) > 0.01
    with pytest.raises(NotImplementedError, match="scale: .* before fit"):
        MAB([1], LearningPolicy.LinGreedy(scale=True))


def test_theirs_learns_what_is_no_number() -> None:
    contexts = [[math.nan, 1.0], [1.0, 1.0]]
    theirs = Theirs([1, 2], TheirPolicy.LinGreedy(epsilon=0))
    theirs.fit([1, 2], [0.1, 9.0], contexts)
    assert math.isnan(theirs.predict_expectations([[1.0, 2.0]])[1])
    with pytest.raises(ValueError, match="contexts: nan in row 0, column 0"):
        MAB([1, 2], LearningPolicy.LinGreedy()).fit([1, 2], [0.1, 9.0], contexts)


@pytest.mark.parametrize(
    "policy", ["EpsilonGreedy", "LinGreedy", "LinUCB", "LinTS", "UCB1", "ThompsonSampling"]
)
def test_their_expectations_are_not_estimates(policy: str) -> None:
    contexts = [[1.0, 0.5]] if policy.startswith("Lin") else None
    theirs = Theirs([1, 2], getattr(TheirPolicy, policy)(*([1.0] if "Greedy" in policy else [])))
    ours = MAB([1, 2], getattr(LearningPolicy, policy)(*([1.0] if "Greedy" in policy else [])))
    rows = None if contexts is None else [[1.0, 0.5], [0.2, 1.0], [0.3, 0.3]]
    for bandit in (theirs, ours):
        bandit.fit([1, 2, 2], [1.0, 0.0, 1.0], rows)
    assert ours.predict_expectations(contexts) == ours.predict_expectations(contexts)
    assert not same(ours.predict_expectations(contexts), theirs.predict_expectations(contexts))


def test_samples_of_lin_ts_move_together_as_theirs_do() -> None:
    """Shares of choices in 20,000 rounds agree within 5 standard errors.

    That is at most 0.025, with a false alarm in a million, and far from the shares with separate
    draws.
    """
    rng, rounds = np.random.default_rng(8), 20_000
    contexts = rng.normal(size=(60, 3))
    decisions = rng.choice([1, 2, 3], size=60).tolist()
    rewards = (
        contexts @ [0.4, 0.1, 0.2] + 0.15 * np.array(decisions) + 0.3 * rng.normal(size=60)
    ).tolist()
    asked = np.repeat([[0.8, 0.5, 1.0]], rounds, axis=0)

    def shares(bandit: Any) -> np.ndarray[Any, Any]:
        bandit.fit(decisions, rewards, contexts)
        chosen = np.array(bandit.predict(asked))
        return np.array([np.mean(chosen == arm) for arm in (1, 2, 3)])

    theirs = shares(Theirs([1, 2, 3], TheirPolicy.LinTS(alpha=0.5)))
    shared = shares(MAB([1, 2, 3], LearningPolicy.LinTS(alpha=0.5)))
    alone = shares(MAB([1, 2, 3], LearningPolicy.LinTS(alpha=0.5, shared_draws=False)))
    assert np.abs(shared - theirs).max() < 0.025, (shared, theirs)
    assert np.abs(alone - theirs).max() > 0.1, (alone, theirs)
