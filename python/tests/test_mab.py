"""Laws of `plausibly.compat.mabwiser.MAB` itself."""

from __future__ import annotations

import copy
import math
import pickle
from typing import Any

import numpy as np
import pandas
import polars
import pytest
from mabwiser.mab import LearningPolicy as TheirPolicy

import plausibly
from plausibly import _core
from plausibly.compat.mabwiser import MAB, LearningPolicy, NeighborhoodPolicy

POLICIES = [
    LearningPolicy.LinGreedy(epsilon=0.3),
    LearningPolicy.LinUCB(alpha=0.8, l2_lambda=0.5),
    LearningPolicy.LinTS(alpha=0.8),
    LearningPolicy.Code(noise_scale=0.5, theta_norm_bound=3.0),
    LearningPolicy.Code(alpha=1.0),
    LearningPolicy.EpsilonGreedy(epsilon=0.3),
    LearningPolicy.UCB1(),
    LearningPolicy.Code(noise_scale=0.5),
    LearningPolicy.Code(outcomes=(-9, 9)),
    LearningPolicy.Code(outcomes=(-9, 9), target={"kappa": 2.0}),
]
WITH_CONTEXTS = POLICIES[:5]


def state(bandit: MAB) -> Any:
    found = bandit.__getstate__()["learned"]
    return found["observations"], found["sums"].tobytes(), found["removed"], found["squares"]


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
        pieces.partial_fit(
            decisions[part], rewards[part], contexts[part] if contexts is not None else None
        )
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
    code = plausibly.Code(
        noise_scale=0.3,
        theta_norm_bound=4.0,
        ridge=2.0,
        radius={"kind": "determinant"},
        exclusion="intervals",
        greed=0.0,
    )
    for _ in range(150):
        context = rng.normal(size=dim)
        blocks = plausibly.ActionSet(np.kron(np.eye(3), context), labels=arms)
        arm = mab.predict([context])
        assert arm == code.select(blocks)
        one, other = mab.explain([context]), code.explain(blocks)
        assert (
            np.allclose(one.lower, other.lower, rtol=0, atol=1e-9)
            and one.plausible == other.plausible
        )
        assert one.confidence == other.confidence and one.decides_by == other.decides_by
        reward = context @ theta[arms.index(arm)] + 0.3 * rng.normal()
        mab.partial_fit([arm], [reward], [context])
        code.update(arm, reward)


def test_lin_ts_draws_from_the_posterior() -> None:
    rng = np.random.default_rng(7)
    mab = MAB(["a", "b"], LearningPolicy.LinTS(alpha=0.7, shared_draws=False))
    mab.fit(["a"] * 4 + ["b"] * 9, [0.6] * 4 + [0.2] * 9, rng.normal(size=(13, 2)))
    context, draws = [[0.8, -0.3]], 20_000
    found = mab.explain(context, radius=1.0)
    spread = 0.7 * math.sqrt(sum(found.width_sq))
    p = 0.5 * math.erfc(-(found.mean[0] - found.mean[1]) / spread / math.sqrt(2))
    first = mab.predict(context * draws).count("a")
    sd = math.sqrt(draws * p * (1 - p))
    # Exceeds 5 sd with probability 6e-7; a width instead of its square root would exceed it.
    assert abs(first - draws * p) < 5 * sd
    wrong = 0.5 * math.erfc(
        -(found.mean[0] - found.mean[1]) / (0.7 * sum(found.width_sq)) / math.sqrt(2)
    )
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
    for frame in (
        pandas_rows,
        polars.DataFrame(rows, schema=["x", "y"], orient="row"),
        np.asfortranarray(rows),
    ):
        mab = MAB(["a", "b"], LearningPolicy.LinUCB())
        mab.fit(pandas.Series(decisions), np.array(rewards, dtype=np.float32), frame)
        assert state(mab) == state(wanted)
    # As in MABWiser, a row cut from a frame is one context, and a column is many of one feature.
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
        (
            lambda: MAB([1], LearningPolicy.Softmax()),
            NotImplementedError,
            "Softmax; use EpsilonGreedy",
        ),
        (lambda: MAB([1], LearningPolicy.Popularity()), NotImplementedError, "Popularity; use"),
        (lambda: MAB([1], LearningPolicy.Random()), NotImplementedError, "epsilon=1"),
        (
            lambda: MAB([1], lin, NeighborhoodPolicy.KNearest(3)),
            NotImplementedError,
            "neighborhood_policy",
        ),
        (lambda: MAB([1], LearningPolicy.LinUCB(alpha=-1)), ValueError, "alpha"),
        (lambda: MAB([1], LearningPolicy.LinUCB(alpha="1")), TypeError, "alpha"),
        (
            lambda: MAB([1], LearningPolicy.LinUCB(l2_lambda=0)),
            ValueError,
            "l2_lambda: must be above 0",
        ),
        (lambda: MAB([1], LearningPolicy.LinTS(alpha=0)), ValueError, "alpha"),
        (lambda: MAB([1], LearningPolicy.EpsilonGreedy(epsilon=1.1)), ValueError, "epsilon"),
        (lambda: MAB([1], LearningPolicy.UCB1(alpha=math.nan)), ValueError, "alpha"),
        (lambda: MAB([1], LearningPolicy.Code()), ValueError, "noise_scale"),
        (
            lambda: MAB([1], LearningPolicy.Code(noise_scale=1)).predict(rows),
            ValueError,
            "theta_norm_bound",
        ),
        (
            lambda: MAB([1], LearningPolicy.Code(noise_scale=-1)).predict(),
            ValueError,
            "noise_scale",
        ),
        (lambda: MAB([1], LearningPolicy.ThompsonSampling(binarizer=3)), TypeError, "binarizer"),
        (
            lambda: MAB([1], LearningPolicy.ThompsonSampling()).fit([1], [0.5]),
            ValueError,
            "rewards",
        ),
        (lambda: MAB([1], plain, seed=-1), ValueError, "seed"),
        (lambda: MAB([1], plain, seed="x"), TypeError, "seed"),
        (lambda: MAB([1], lin).fit([1], [1.0]), ValueError, "contexts"),
        (lambda: MAB([1], plain).fit([1], [1.0], rows), ValueError, "contexts"),
        (lambda: MAB([1], lin).predict(), ValueError, "contexts"),
        (lambda: MAB([1], lin).fit([1, 1], [1.0, 1.0], rows), ValueError, "contexts: 1 rows for 2"),
        (lambda: MAB([1], lin).fit([1], [1.0], [1.0, 2.0]), ValueError, "contexts"),
        (lambda: MAB([1], lin).fit([1], [1.0], [["x", "y"]]), TypeError, "contexts"),
        (
            lambda: MAB([1], lin).fit([1], [1.0], [[math.inf, 0.0]]),
            ValueError,
            "contexts: inf in row 0, column 0",
        ),
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
    linear, plain = (
        _core.ArmModels(2, 3, ridge, {}, None, 1),
        _core.ArmModels(2, 0, arms, {}, None, 1),
    )
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


def test_what_outcomes_are_makes_the_set_of_code() -> None:
    """Without contexts the same as `plausibly.Code`, with the same explanations and choices."""
    rng, arms = np.random.default_rng(3), ["x", "y", "z"]
    offers = plausibly.ActionSet.arms(arms)
    settings: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"outcomes": "yes/no"}, {}),
        ({"outcomes": (0, 1)}, {"greed": 0.0}),
        ({"outcomes": "yes/no"}, {"target": {"accuracy": 0.3}}),
        ({"outcomes": (0, 1), "noise": 0.5}, {}),
    ]
    for said, rule in settings:
        mab = MAB(arms, LearningPolicy.Code(**said, **rule))
        code = plausibly.Code(**said, **rule)
        for _ in range(200):
            arm = mab.predict()
            assert arm == code.select(offers)
            reward = float(rng.random() < {"x": 0.8, "y": 0.4, "z": 0.2}[arm])
            mab.partial_fit([arm], [reward])
            code.update(arm, reward)
        assert repr(mab.explain()) == repr(code.explain(offers))
        assert np.array_equal(mab.explain().evidence, code.explain(offers).evidence, equal_nan=True)


def test_outcomes_of_a_bandit_are_kept_to() -> None:
    mab = MAB([1, 2], LearningPolicy.Code(outcomes="yes/no", theta_norm_bound=1.0))
    for wrong in (0.5, 2, -1):
        with pytest.raises(ValueError, match="rewards: .* in row 1; rewards are 0 or 1"):
            mab.fit([1, 2], [1, wrong], [[1.0], [1.0]])
    ranged = MAB([1, 2], LearningPolicy.Code(outcomes=(0, 10)))
    with pytest.raises(ValueError, match="rewards: 11.0 in row 0; rewards are from 0 to 10"):
        ranged.fit([1], [11])
    assert mab.cold_arms == ranged.cold_arms == [1, 2]


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"outcomes": "counts"}, NotImplementedError, "outcomes: a MAB learns single rewards"),
        ({"noise": "bell"}, NotImplementedError, "noise: the bell-curve set"),
        ({"outcomes": "maybe"}, TypeError, "outcomes: expected"),
        ({"outcomes": (1, 0)}, ValueError, "outcomes: "),
        ({"outcomes": "yes/no", "noise": 0.1}, ValueError, "noise: yes and no"),
        ({"noise": 0.1, "noise_scale": 0.1}, ValueError, "noise: a number is the same"),
        ({"outcomes": "yes/no", "greed": 2}, ValueError, "greed: must be at least 0"),
        ({"outcomes": "yes/no", "greed": "much"}, TypeError, "greed: expected a number"),
        (
            {"outcomes": "yes/no", "greed": 0.5, "target": {"kappa": 1.0}},
            ValueError,
            "greed: a target decides",
        ),
        (
            {"outcomes": "yes/no", "target": {"accuracy": 0.1, "by_round": 9}},
            NotImplementedError,
            "target: a deadline",
        ),
        ({}, ValueError, "noise_scale: Code needs to know"),
    ],
)
def test_wrong_settings_of_code(
    settings: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        MAB([1, 2], LearningPolicy.Code(**settings))


def test_arms_added_to_a_bandit_share_delta_with_all_pairs() -> None:
    """After a change of arms pairs need more evidence, which a pickled bandit knows."""
    policy = LearningPolicy.Code(outcomes="yes/no")
    steady, changed = MAB(["x", "y"], policy), MAB(["x", "y"], policy)
    changed.predict()
    changed.add_arm("z")
    changed.remove_arm("z")
    verdicts = []
    for bandit in (steady, changed):
        for outcomes in range(200):
            bandit.partial_fit(["x", "y"], [outcomes % 4 != 0, outcomes % 2])
            if len(bandit.explain().plausible) == 1:
                break
        verdicts.append(outcomes)
        again = pickle.loads(pickle.dumps(bandit))
        assert repr(again.explain()) == repr(bandit.explain())
        assert again.__getstate__()["learned"]["first"] == (2 if bandit is changed else None)
    assert verdicts[0] < verdicts[1] < 199, verdicts


def test_code_of_an_earlier_version_goes_on() -> None:
    """It had five fields, and its bandits kept neither squares nor the first number of arms."""
    old = LearningPolicy.Code(0.5, 3.0, 0.05, 2.0, None)
    bandit = MAB(["x", "y"], old)
    bandit.fit(["x", "y"] * 5, [0.1, 0.9] * 5)
    kept = bandit.__getstate__()
    for name in ("squares", "first"):
        del kept["learned"][name]
    kept["version"] = 2
    again = MAB.__new__(MAB)
    again.__setstate__(kept)
    assert again.predict() == bandit.predict()
    assert repr(again.explain()) == repr(bandit.explain())
    assert "widest interval" in again.explain().decides_by, "greed 0, as it had"
