"""`plausibly.compat.mabwiser` beside MABWiser itself: the same estimates where MABWiser's are right, and where they are not."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas
import polars
import pytest
from mabwiser.mab import MAB as Theirs
from mabwiser.mab import LearningPolicy as TheirPolicy

import plausibly
from plausibly import _core
from plausibly.compat.mabwiser import MAB, LearningPolicy, NeighborhoodPolicy

CLOSE = 1e-9


def histories(seed: int, contextual: bool) -> Iterator[tuple[str, Any]]:
    """What may happen to a bandit that begins with arms 0 to 3: batches to learn, arms that come and go."""
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
    """Plays a history on all of them; some contexts to ask about."""
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
    return ours.keys() == theirs.keys() and all(abs(ours[arm] - theirs[arm]) <= CLOSE * scale for arm in ours)


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
    # Whatever a policy decides by, its estimates are estimates.
    for ours in (greedy, *others):
        found = ours.predict_expectations(contexts)
        assert all(same(mine, other) for mine, other in zip(found, wanted, strict=True))
    assert greedy.predict(contexts) == theirs.predict(contexts)
    assert greedy.arms == theirs.arms and greedy.cold_arms == theirs.cold_arms
    assert same(greedy.predict_expectations(contexts[:1]), theirs.predict_expectations(contexts[:1]))


@pytest.mark.parametrize("alpha", [0, 0.3, 1.0, 4])
@pytest.mark.parametrize("l2_lambda", LAMBDAS)
@pytest.mark.parametrize("seed", range(6))
def test_upper_bounds_and_choices_of_lin_ucb_are_the_same(seed: int, l2_lambda: float, alpha: float) -> None:
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
    # A uniform prior counts one success and one failure more.
    counts = {arm: (theirs._imp.arm_to_success_count[arm] - 1, theirs._imp.arm_to_fail_count[arm] - 1) for arm in "ab"}
    assert ours.predict_expectations() == {arm: won / (won + lost) for arm, (won, lost) in counts.items()}


# Where MABWiser's are wrong or odd, as the guide says. Should one of these begin to fail, MABWiser was mended and the guide is wrong.


def test_theirs_gives_arms_without_data_the_wrong_width() -> None:
    theirs = Theirs([1, 2], TheirPolicy.LinUCB(alpha=1, l2_lambda=4))
    ours = MAB([1, 2], LearningPolicy.LinUCB(alpha=1, l2_lambda=4))
    for bandit in (theirs, ours):
        bandit.fit([1], [0.0], [[1.0, 0.0]])
    # A ridge of 4 is a prior of standard deviation 1/2, and what was never seen is as wide as the prior.
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
    one, other = whole.predict_expectations([[4.0, 4.0]])[1], pieces.predict_expectations([[4.0, 4.0]])[1]
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


@pytest.mark.parametrize("policy", ["EpsilonGreedy", "LinGreedy", "LinUCB", "LinTS", "UCB1", "ThompsonSampling"])
def test_their_expectations_are_not_estimates(policy: str) -> None:
    contexts = [[1.0, 0.5]] if policy.startswith("Lin") else None
    theirs = Theirs([1, 2], getattr(TheirPolicy, policy)(*([1.0] if "Greedy" in policy else [])))
    ours = MAB([1, 2], getattr(LearningPolicy, policy)(*([1.0] if "Greedy" in policy else [])))
    rows = None if contexts is None else [[1.0, 0.5], [0.2, 1.0], [0.3, 0.3]]
    for bandit in (theirs, ours):
        bandit.fit([1, 2, 2], [1.0, 0.0, 1.0], rows)
    assert ours.predict_expectations(contexts) == ours.predict_expectations(contexts)
    assert not same(ours.predict_expectations(contexts), theirs.predict_expectations(contexts))


# Laws of our own.

POLICIES = [
    LearningPolicy.LinGreedy(epsilon=0.3),
    LearningPolicy.LinUCB(alpha=0.8, l2_lambda=0.5),
    LearningPolicy.LinTS(alpha=0.8),
    LearningPolicy.Code(noise_scale=0.5, theta_norm_bound=3.0),
    LearningPolicy.Code(alpha=1.0),
    LearningPolicy.EpsilonGreedy(epsilon=0.3),
    LearningPolicy.UCB1(),
    LearningPolicy.Code(noise_scale=0.5),
]
WITH_CONTEXTS = POLICIES[:5]


def state(bandit: MAB) -> Any:
    found = bandit.__getstate__()["learned"]
    return found["observations"], found["sums"].tobytes(), found["removed"]


@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_pieces_copies_and_pickles_are_the_same_bits(policy: Any) -> None:
    contextual = policy in WITH_CONTEXTS
    rng = np.random.default_rng(4)
    decisions, rewards = rng.choice(["a", "b", "c"], size=90), rng.normal(size=90)
    contexts = rng.normal(size=(90, 4)) if contextual else None
    whole, pieces = MAB(["a", "b", "c"], policy), MAB(["a", "b", "c"], policy)
    whole.fit(decisions, rewards, contexts)
    for start in range(0, 90, 7):
        part = slice(start, start + 7)
        pieces.partial_fit(decisions[part], rewards[part], contexts[part] if contexts is not None else None)
        pieces = pickle.loads(pickle.dumps(pieces))
    assert state(whole) == state(pieces)
    asked = rng.normal(size=(30, 4)) if contextual else [[0.0]] * 30
    copied = copy.deepcopy(whole)
    assert whole.predict(asked) == pieces.predict(asked) == copied.predict(asked)
    assert whole.predict_expectations(asked) == pieces.predict_expectations(asked)
    whole.fit(decisions[:9], rewards[:9], None if contexts is None else contexts[:9])
    assert sum(state(whole)[0]) == 9


@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_a_copy_goes_on_as_the_original_does(policy: Any) -> None:
    rng = np.random.default_rng(5)
    contextual = policy in WITH_CONTEXTS
    original = MAB([1, 2, 3], policy, seed=9)
    copied = None
    chosen: list[list[int]] = [[], []]
    for step in range(60):
        if step == 20:
            copied = pickle.loads(pickle.dumps(original))
        context = rng.normal(size=(1, 2)) if contextual else None
        noise = rng.normal()
        for bandit, choices in zip([original, copied], chosen):
            if bandit is not None:
                arm = bandit.predict(context)
                bandit.partial_fit([arm], [arm + noise], context)
                choices.append(arm)
    assert chosen[0][20:] == chosen[1] and len(set(chosen[0])) > 1


def test_code_is_code_over_one_block_an_arm() -> None:
    rng = np.random.default_rng(6)
    arms, dim = ["x", "y", "z"], 3
    theta = rng.normal(size=(3, dim))
    mab = MAB(arms, LearningPolicy.Code(noise_scale=0.3, theta_norm_bound=4.0, l2_lambda=2.0))
    code = plausibly.Code(noise_scale=0.3, theta_norm_bound=4.0, ridge=2.0)
    for _ in range(150):
        context = rng.normal(size=dim)
        blocks = plausibly.ActionSet(np.kron(np.eye(3), context), labels=arms)
        arm = mab.predict([context])
        assert arm == code.select(blocks)
        one, other = mab.explain([context]), code.explain(blocks)
        assert np.allclose(one.lower, other.lower, rtol=0, atol=1e-9) and one.plausible == other.plausible
        assert one.confidence == other.confidence and one.decides_by == other.decides_by
        reward = context @ theta[arms.index(arm)] + 0.3 * rng.normal()
        mab.partial_fit([arm], [reward], [context])
        code.update(arm, reward)


def test_lin_ts_draws_from_the_posterior() -> None:
    rng = np.random.default_rng(7)
    mab = MAB(["a", "b"], LearningPolicy.LinTS(alpha=0.7))
    mab.fit(["a"] * 4 + ["b"] * 9, [0.6] * 4 + [0.2] * 9, rng.normal(size=(13, 2)))
    context, draws = [[0.8, -0.3]], 20_000
    found = mab.explain(context, radius=1.0)
    spread = 0.7 * math.sqrt(sum(found.width_sq))
    p = 0.5 * math.erfc(-(found.mean[0] - found.mean[1]) / spread / math.sqrt(2))
    first = mab.predict(context * draws).count("a")
    sd = math.sqrt(draws * p * (1 - p))
    # Beyond 5 sd with probability 6e-7; a width in place of its square root would be.
    assert abs(first - draws * p) < 5 * sd
    wrong = 0.5 * math.erfc(-(found.mean[0] - found.mean[1]) / (0.7 * sum(found.width_sq)) / math.sqrt(2))
    assert abs(first - draws * wrong) > 5 * sd


def test_greed_explores_as_often_as_it_says() -> None:
    mab = MAB([0, 1], LearningPolicy.EpsilonGreedy(epsilon=0.2))
    mab.fit([0, 1], [1.0, 0.0])
    draws = 20_000
    worse = sum(mab.predict([[0.0]] * draws))
    assert abs(worse - 0.1 * draws) < 5 * math.sqrt(draws * 0.1 * 0.9)


def test_arms_that_are_gone_keep_their_share_of_the_radius() -> None:
    rng = np.random.default_rng(8)
    mab = MAB([1, 2, 3], LearningPolicy.Code(noise_scale=0.5, theta_norm_bound=2.0))
    mab.fit(rng.choice([1, 2, 3], size=60), rng.normal(size=60), rng.normal(size=(60, 2)))
    before = mab.explain([[1.0, 1.0]])
    mab.remove_arm(2)
    after = mab.explain([[1.0, 1.0]])
    assert after.sqrt_beta == pytest.approx(before.sqrt_beta, rel=1e-12)
    assert after.actions == [1, 3] and after.mean.tolist() == before.mean[[0, 2]].tolist()
    fewer = MAB([1, 3], mab.learning_policy)
    fewer.partial_fit([1], [0.0], [[1.0, 1.0]])
    assert fewer.explain([[1.0, 1.0]]).sqrt_beta < before.sqrt_beta


def test_frames_and_series_are_contexts_too() -> None:
    decisions, rewards = ["a", "b", "a"], [1.0, 2.0, 3.0]
    rows = [[0.0, 1.0], [1.0, 2.0], [2.0, 1.0]]
    wanted = MAB(["a", "b"], LearningPolicy.LinUCB())
    wanted.fit(decisions, rewards, rows)
    pandas_rows = pandas.DataFrame(rows, columns=["x", "y"])
    for frame in (pandas_rows, polars.DataFrame(rows, schema=["x", "y"], orient="row"), np.asfortranarray(rows)):
        mab = MAB(["a", "b"], LearningPolicy.LinUCB())
        mab.fit(pandas.Series(decisions), np.array(rewards, dtype=np.float32), frame)
        assert state(mab) == state(wanted)
    # A row cut out of a frame is one context, a column many of one feature: as MABWiser takes them.
    assert wanted.predict(pandas_rows.iloc[0]) == wanted.predict(rows[:1])
    single = MAB(["a", "b"], LearningPolicy.LinUCB())
    single.fit(decisions, rewards, pandas_rows["x"])
    assert len(single.predict(pandas_rows["x"])) == 3


def test_wrong_calls_say_what_is_wrong() -> None:
    lin, plain = LearningPolicy.LinUCB(), LearningPolicy.EpsilonGreedy()
    rows = [[1.0, 2.0]]
    cases: list[tuple[Any, type[Exception], str]] = [
        (lambda: MAB([], lin), ValueError, "arms"),
        (lambda: MAB("ab", lin), TypeError, "arms"),
        (lambda: MAB([[1]], lin), TypeError, "arms"),
        (lambda: MAB([1, 1.0], lin), ValueError, "arms"),
        (lambda: MAB([None], lin), ValueError, "arms"),
        (lambda: MAB([math.nan], lin), ValueError, "arms"),
        (lambda: MAB(3, lin), TypeError, "arms"),
        (lambda: MAB([1], "LinUCB"), TypeError, "learning_policy"),
        (lambda: MAB([1], TheirPolicy.LinUCB()), TypeError, "learning_policy"),
        (lambda: MAB([1], LearningPolicy.Softmax()), NotImplementedError, "Softmax; use EpsilonGreedy"),
        (lambda: MAB([1], LearningPolicy.Popularity()), NotImplementedError, "Popularity; use"),
        (lambda: MAB([1], LearningPolicy.Random()), NotImplementedError, "epsilon=1"),
        (lambda: MAB([1], lin, NeighborhoodPolicy.KNearest(3)), NotImplementedError, "neighborhood_policy"),
        (lambda: MAB([1], LearningPolicy.LinUCB(alpha=-1)), ValueError, "alpha"),
        (lambda: MAB([1], LearningPolicy.LinUCB(alpha="1")), TypeError, "alpha"),
        (lambda: MAB([1], LearningPolicy.LinUCB(l2_lambda=0)), ValueError, "l2_lambda: must be above 0"),
        (lambda: MAB([1], LearningPolicy.LinTS(alpha=0)), ValueError, "alpha"),
        (lambda: MAB([1], LearningPolicy.EpsilonGreedy(epsilon=1.1)), ValueError, "epsilon"),
        (lambda: MAB([1], LearningPolicy.UCB1(alpha=math.nan)), ValueError, "alpha"),
        (lambda: MAB([1], LearningPolicy.Code()), ValueError, "noise_scale"),
        (lambda: MAB([1], LearningPolicy.Code(noise_scale=1)).predict(rows), ValueError, "theta_norm_bound"),
        (lambda: MAB([1], LearningPolicy.Code(noise_scale=-1)).predict(), ValueError, "noise_scale"),
        (lambda: MAB([1], LearningPolicy.ThompsonSampling(binarizer=3)), TypeError, "binarizer"),
        (lambda: MAB([1], LearningPolicy.ThompsonSampling()).fit([1], [0.5]), ValueError, "rewards"),
        (lambda: MAB([1], plain, seed=-1), ValueError, "seed"),
        (lambda: MAB([1], plain, seed="x"), TypeError, "seed"),
        (lambda: MAB([1], lin).fit([1], [1.0]), ValueError, "contexts"),
        (lambda: MAB([1], plain).fit([1], [1.0], rows), ValueError, "contexts"),
        (lambda: MAB([1], lin).predict(), ValueError, "contexts"),
        (lambda: MAB([1], lin).fit([1, 1], [1.0, 1.0], rows), ValueError, "contexts: 1 rows for 2"),
        (lambda: MAB([1], lin).fit([1], [1.0], [1.0, 2.0]), ValueError, "contexts"),
        (lambda: MAB([1], lin).fit([1], [1.0], [["x", "y"]]), TypeError, "contexts"),
        (lambda: MAB([1], lin).fit([1], [1.0], [[math.inf, 0.0]]), ValueError, "contexts: inf in row 0, column 0"),
        (lambda: MAB([1], lin).fit([1], [1.0, 2.0], rows), ValueError, "rewards"),
        (lambda: MAB([1], lin).fit([1], [None], rows), ValueError, "rewards"),
        (lambda: MAB([1], lin).fit([1], ["x"], rows), TypeError, "rewards"),
        (lambda: MAB([1], lin).fit([2], [1.0], rows), ValueError, "decisions: 2 in row 0"),
        (lambda: MAB([1], lin).fit([[2]], [1.0], rows), TypeError, "unhashable|decisions"),
        (lambda: MAB([1], lin).fit(1, [1.0], rows), TypeError, "decisions"),
        (lambda: MAB([1], plain).add_arm(1), ValueError, "arms: 1 is there twice"),
        (lambda: MAB([1], plain).add_arm(2, binarizer=bool), ValueError, "binarizer"),
        (lambda: MAB([1, 2], plain).remove_arm(3), ValueError, "arm: 3"),
        (lambda: MAB([1], plain).remove_arm(1), ValueError, "last"),
        (lambda: MAB([1], plain).warm_start({}, 0.5), NotImplementedError, "warm_start"),
        (lambda: MAB([1], lin).explain([[1.0], [2.0]]), ValueError, "context: expected one row"),
    ]
    for call, error, match in cases:
        with pytest.raises(error, match=match):
            call()


def test_a_refused_call_changes_nothing() -> None:
    mab = MAB(["a", "b"], LearningPolicy.LinUCB())
    mab.fit(["a", "b"], [1.0, 2.0], [[1.0, 0.0], [0.0, 1.0]])
    before = state(mab)
    for call in (
        lambda: mab.partial_fit(["a", "c"], [1.0, 1.0], [[1.0, 0.0]] * 2),
        lambda: mab.partial_fit(["a"], [1.0], [[1.0, 0.0, 0.0]]),
        lambda: mab.partial_fit(["a"], [math.inf], [[1.0, 0.0]]),
        lambda: mab.fit(["a"], [1.0], [[math.nan, 0.0]]),
        lambda: mab.fit(["a"], [1.0]),
        lambda: mab.add_arm("a"),
        lambda: mab.predict([[1.0]]),
    ):
        with pytest.raises(ValueError):
            call()
        assert state(mab) == before and mab.arms == ["a", "b"]


def test_policies_without_contexts_take_them_to_count_rounds_alone() -> None:
    mab = MAB([1, 2], LearningPolicy.UCB1())
    mab.fit([1, 2], [0.0, 1.0])
    assert mab.predict([[0.0], [0.0], [0.0]]) == [2, 2, 2]
    assert mab.predict([[0.0]]) == 2


def test_the_compiled_part_refuses_what_nobody_should_hand_it() -> None:
    ridge, arms = {"kind": "lin-ucb", "radius": 1.0}, {"kind": "ucb1", "noise_scale": 1.0}
    linear, plain = _core.ArmModels(2, 3, ridge, {}, None, 1), _core.ArmModels(2, 0, arms, {}, None, 1)
    places, rewards, rows = np.array([0, 1]), np.array([0.5, 0.25]), np.ones((2, 3))
    linear.learn(places, rewards, rows)
    before = linear.state()["sums"].tobytes()
    calls: list[Any] = [
        lambda: _core.ArmModels(0, 3, ridge, {}, None, 1),
        lambda: _core.ArmModels(0, 0, arms, {}, None, 1),
        lambda: _core.ArmModels(2, 0, ridge, {}, None, 1),
        lambda: _core.ArmModels(2, 3, arms, {}, 2.0, 1).select(rows, 1, 1),
        lambda: linear.learn(np.array([0, 2]), rewards, rows),
        lambda: linear.learn(np.array([0, -1]), rewards, rows),
        lambda: linear.learn(places[:1], rewards, rows),
        lambda: linear.learn(places, rewards),
        lambda: linear.learn(places, rewards, np.asfortranarray(rows)),
        lambda: linear.learn(places, rewards, rows[:, :2].copy()),
        lambda: linear.learn(places, rewards, rows * math.nan),
        lambda: linear.learn(places, rewards * math.inf, rows),
        lambda: linear.select(None, 1, 1),
        lambda: linear.select(np.ones((1, 2)), 1, 1),
        lambda: linear.estimates(),
        lambda: linear.remove_arm(2),
        lambda: plain.restore([], np.array([]), (0, 0, 0.0)),
        lambda: plain.restore([1, 0], np.array([1.0, 1.0]), (0, 0, 0.0)),
        lambda: plain.restore([1, 1], np.array([1.0, math.nan]), (0, 0, 0.0)),
        lambda: linear.restore([1, 1], np.zeros(3), (0, 0, 0.0)),
        lambda: linear.restore([1, 1], np.zeros(48), (0, 0, 0.0)),
        lambda: linear.restore([1, 1], np.full(48, math.nan), (0, 0, 0.0)),
    ]
    for call in calls:
        with pytest.raises(ValueError):
            call()
    with pytest.raises(RuntimeError):
        linear.explain(plausibly.ActionSet(np.ones((3, 3))))
    assert linear.state()["sums"].tobytes() == before
