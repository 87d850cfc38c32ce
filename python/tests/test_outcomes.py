"""What a policy is told about outcomes, and what follows from it."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_saved import resealed

import plausibly
from plausibly import ActionSet, BetaThompson, Code, Insured, LinUCB, Policy, Thompson

ROWS = [[1.0, 0.0], [0.3, 0.7], [0.6, 0.6]]
TABLE = ActionSet(ROWS, labels=["a", "b", "c"])
ARMS = ActionSet.arms(["a", "b", "c"])
RATES = {"a": 0.8, "b": 0.3, "c": 0.5}


def taught(policy: Policy, offers: ActionSet, rounds: int, seed: int = 1) -> Policy:
    """Plays yes/no rewards, or ten at a time as counts."""
    world = np.random.default_rng(seed)
    for _ in range(rounds):
        chosen = policy.select(offers)
        policy.update(chosen, bool(world.random() < RATES[chosen]))
    return policy


def fields(policy: Policy, offers: ActionSet) -> str:
    return repr(policy.explain(offers).to_dict())


@pytest.mark.parametrize(
    ("offers", "settings", "explicit"),
    [
        (ARMS, {"outcomes": "yes/no"}, {"kind": "two-point"}),
        (ARMS, {"outcomes": (0, 1)}, {"kind": "two-point"}),
        (ARMS, {"outcomes": (0, 1), "noise": 0.5}, {"kind": "mixture"}),
        (ARMS, {"noise": 0.5}, {"kind": "mixture"}),
        (TABLE, {"outcomes": "yes/no"}, {"kind": "forecast"}),
        (TABLE, {"outcomes": (0, 1), "noise": 0.5}, {"kind": "forecast"}),
        (TABLE, {"noise": 0.5}, {"kind": "additive"}),
        (TABLE, {"outcomes": "yes/no", "same_actions": True}, {"kind": "forecast"}),
    ],
)
def test_the_defaults_follow_from_what_is_said(
    offers: ActionSet, settings: dict[str, Any], explicit: dict[str, Any]
) -> None:
    bound = {"theta_norm_bound": 1.0} if offers is TABLE else {}
    said = taught(Code(**settings, **bound), offers, 150)
    # Constants in the radius itself, so that nothing is left to what was said.
    if explicit["kind"] in ("two-point", "forecast"):
        explicit = {**explicit, "lowest_reward": 0.0, "highest_reward": 1.0}
    if explicit["kind"] != "two-point":
        explicit = {**explicit, "noise_scale": 0.5}
    if offers is TABLE:
        explicit = {**explicit, "theta_norm_bound": 1.0}
    facts = {"theta_norm_bound": 1.0, "noise_scale": 0.5} if offers is TABLE else {}
    same = {"same_actions": True} if "same_actions" in settings else {}
    set_ = taught(Code(radius=explicit, greed=0.3, **same, **facts), offers, 150)
    assert fields(said, offers) == fields(set_, offers)
    paper = taught(Code(**settings, **bound, greed=0), offers, 150)
    assert fields(paper, offers) != fields(said, offers), "greed makes no difference here"


def test_pairs_need_the_promise_of_one_set_which_is_kept() -> None:
    without, with_pairs = (
        taught(Code(outcomes="yes/no", theta_norm_bound=1.0, same_actions=same), TABLE, 400)
        for same in (False, True)
    )
    assert np.isnan(without.explain(TABLE).evidence).all()
    found = with_pairs.explain(TABLE)
    assert found.evidence[1] > 0 and "by what both have paid" in repr(found)
    other = ActionSet([[1.0, 0.0], [0.3, 0.7], [0.6, 0.5]], labels=["a", "b", "c"])
    before = with_pairs._save()[0]
    for call in (
        lambda: with_pairs.select(other),
        lambda: with_pairs.explain(other),
        lambda: with_pairs.update(other["c"], 1),
        lambda: with_pairs.select(ActionSet(ROWS[:2])),
    ):
        with pytest.raises(ValueError, match="actions: .*(promised the same actions|began with 3)"):
            call()
    assert with_pairs._save()[0] == before
    assert without.select(other) in RATES, "without the promise another set is taken"


@pytest.mark.parametrize(
    ("make", "offers"),
    [
        (lambda **said: Code(**said), ARMS),
        (lambda **said: Code(**said, theta_norm_bound=1.0), TABLE),
        (lambda **said: Code(**said, theta_norm_bound=1.0, same_actions=True), TABLE),
        (lambda **said: Insured(**said, theta_norm_bound=1.0), TABLE),
        (lambda **said: LinUCB(**said, theta_norm_bound=1.0), TABLE),
        (lambda **said: Thompson(**said), ARMS),
    ],
)
def test_a_count_is_its_outcomes_one_by_one(make: Any, offers: ActionSet) -> None:
    counted, single = make(outcomes="counts", label="x"), make(outcomes="yes/no", label="x")
    batched = make(outcomes="counts", label="x")
    for policy in (counted, single, batched):
        policy.select(offers)
    told = [("a", 3, 8), ("b", 0, 5), ("a", 2, 2), ("c", 1, 4)]
    for name, successes, of in told:
        counted.update(offers[name], successes=successes, of=of)
        # Each outcome is a decision with the same forecast, made before the first of them.
        for _ in range(of):
            single.decided(offers[name])
        for place in range(of):
            single.update(offers[name], place < successes)
    batched.partial_fit([name for name, *_ in told], [(k, n) for _, k, n in told], offers=offers)
    assert counted.observations == single.observations == batched.observations == 19
    assert fields(counted, offers) == fields(single, offers) == fields(batched, offers)
    assert counted._save()[0] == batched._save()[0]
    assert [counted.select(offers) for _ in range(9)] == [single.select(offers) for _ in range(9)]


def test_a_count_settles_one_decision() -> None:
    policy = Code(outcomes="counts")
    first, second = policy.select(ARMS), policy.select(ARMS)
    policy.decided(first)
    policy.decided(second)
    policy.update(first, successes=1, of=3)
    policy.dropped(second)
    with pytest.raises(ValueError, match="none can be dropped"):
        policy.dropped(second)


def test_a_forecast_belongs_to_its_choice_however_late_the_reward() -> None:
    """With another set each round, announced or not, and saved in between."""
    rng = np.random.default_rng(4)
    sets = [np.column_stack([np.ones(4), rng.normal(size=4)]) for _ in range(60)]
    rewards = (rng.random(60) < 0.5).tolist()

    def radius(announced: bool, saved: bool, lag: int) -> float:
        policy: Policy = LinUCB(outcomes="yes/no", theta_norm_bound=1.0)
        late: list[Any] = []
        for round_, rows in enumerate(sets):
            chosen = policy.select(rows)
            if announced:
                policy.decided(chosen)
            late.append((chosen, rewards[round_]))
            if saved and round_ == 30:
                policy = pickle.loads(pickle.dumps(policy))
            if len(late) > lag:
                policy.update(*late.pop(0))
        found = policy.explain(np.eye(2))
        assert found.doubt is None
        return found.sqrt_beta

    assert radius(False, False, 7) == radius(True, False, 7) == radius(False, True, 7)
    assert radius(False, False, 7) != radius(False, False, 0)


def test_rewards_outside_of_what_was_said_change_nothing() -> None:
    policy = taught(Code(outcomes="yes/no"), ARMS, 20)
    before = policy._save()[0]
    for wrong in (0.5, 2, -1, np.nan):
        with pytest.raises(ValueError, match="reward: "):
            policy.update(ARMS["a"], wrong)
    assert policy._save()[0] == before
    for right in (True, False, 0, 1, 1.0, np.bool_(True)):
        policy.update(ARMS["a"], right)


def test_a_saved_policy_knows_how_many_arms_were_offered_first(tmp_path: Path) -> None:
    """Verdicts between pairs share their probability by that number, once arms have changed."""
    policy: Policy = Code(outcomes="yes/no")
    for names in (["a", "b"], ["a", "b", "c", "d"], ["b", "a"]):
        offers = ActionSet.arms(names)
        policy.select(offers)
        policy.partial_fit(["a", "b"] * 20, [True, False] * 20, offers=offers)
    policy.save(tmp_path / "arms.json")
    again = Policy.load(tmp_path / "arms.json")
    assert again._save()[0] == policy._save()[0]
    for names in (["b", "a"], ["d", "a", "c"], ["a", "b", "c", "d", "e"]):
        offers = ActionSet.arms(names)
        assert fields(again, offers) == fields(policy, offers)
        assert again.select(offers) == policy.select(offers)
        assert again._save()[0] == policy._save()[0]


def test_the_bell_curve_needs_no_scale_and_the_same_arms() -> None:
    world = np.random.default_rng(2)
    policy = Code(noise="bell")
    for _ in range(300):
        chosen = policy.select(ARMS)
        policy.update(chosen, 1000.0 * (RATES[chosen] + 0.05 * world.normal()))
    assert policy.explain(ARMS).plausible == ["a"]
    before = policy._save()[0]
    for offers in (ActionSet.arms(["a", "b"]), ActionSet.arms(["a", "b", "d"])):
        with pytest.raises(ValueError, match="actions: the bell-curve set is for the same arms"):
            policy.select(offers)
    with pytest.raises(ValueError, match="actions: the bell-curve set is for the same arms"):
        policy.update(ActionSet.arms(["d", "e", "f"])["d"], 1.0)
    assert policy._save()[0] == before
    again = pickle.loads(pickle.dumps(policy))
    assert fields(again, ARMS) == fields(policy, ARMS)


def test_compare_and_outlook_say_what_explain_shows() -> None:
    policy = Code(outcomes="counts")
    assert "cannot be said yet" in str(policy.outlook(ARMS))
    assert policy.outlook(ARMS).action is None
    unknown = policy.compare("a", "b", ARMS)
    assert unknown.better is None and (unknown.lower, unknown.upper) == (-1.0, 1.0)
    policy.partial_fit(["a", "b", "c"], [(60, 100), (45, 100), (50, 100)], offers=ARMS)
    before = policy._save()[0]
    found, soon = policy.compare("b", ARMS["a"], ARMS), policy.outlook(ARMS)
    assert (found.ahead, found.behind, found.better) == ("a", "b", None)
    assert found.lower < 0.15 < found.upper and found.outcomes is not None
    # That "b" is not the best shows sooner than which of any two is better.
    assert soon.action == "b" and soon.outcomes < found.outcomes < 2 * soon.outcomes
    assert str(soon) == (
        f'If outcomes go on like this, "b" is probably the next to be out, after about '
        f"{soon.outcomes} more outcomes."
    )
    assert f"about {found.outcomes} more decide it" in str(found)
    # As many more, at the same rates.
    scale = 1 + 2 * found.outcomes // 300
    policy.partial_fit(
        ["a", "b", "c"], [(k * scale, 100 * scale) for k in (60, 45, 50)], offers=ARMS
    )
    decided = policy.compare("a", "b", ARMS)
    assert decided.better == "a" and decided.outcomes is None
    assert str(decided).startswith('"a" beats "b" by ') and "(95 % sure)" in str(decided)
    assert before != policy._save()[0]
    same = Code(outcomes="yes/no", theta_norm_bound=1.0)
    taught(same, TABLE, 400)
    explained, compared = same.explain(TABLE), same.compare("a", "b", TABLE)
    assert explained.ruled_out_by[1] == "a"
    assert (compared.lower, compared.upper) == pytest.approx(
        (explained.margin[1], min(explained.at_most[1], 1.0)), rel=1e-12
    )
    state = same._save()[0]
    same.compare("a", "b", TABLE), same.outlook(TABLE)
    assert same._save()[0] == state


def test_thompson_is_told_what_outcomes_are(tmp_path: Path) -> None:
    beta, told = BetaThompson(seed=5), Thompson(outcomes="yes/no", seed=5)
    for policy in (beta, told):
        taught(policy, ARMS, 100)
    assert beta._save()[0].replace('"facts":{}', "") == told._save()[0].replace(
        '"facts":{"outcomes":"yes/no"}', ""
    )
    for policy in (beta, told):
        policy.save(tmp_path / "policy.json")
        again = Policy.load(tmp_path / "policy.json")
        assert type(again) is type(policy) and repr(again) == repr(policy)
        other = Thompson if type(policy) is BetaThompson else BetaThompson
        with pytest.raises(ValueError, match="made by "):
            other.load(tmp_path / "policy.json")
    halved = Thompson(outcomes=(0, 10))
    assert repr(eval(repr(halved), vars(plausibly))) == "Thompson(outcomes=(0, 10))"
    with pytest.raises(ValueError, match="noise_scale: yes and no scatter"):
        Thompson(outcomes="counts", noise_scale=0.5)


@pytest.mark.parametrize(
    ("settings", "offers"),
    [
        ({"noise_scale": 0.5, "theta_norm_bound": 1.0}, TABLE),
        ({"noise_scale": 0.5, "theta_norm_bound": 1.0, "target": {"accuracy": 0.4}}, TABLE),
        ({"radius": 1.5}, TABLE),
        ({"noise_scale": 0.5}, ARMS),
    ],
)
def test_a_file_of_version_3_goes_on_with_its_defaults(
    settings: dict[str, Any], offers: ActionSet, tmp_path: Path
) -> None:
    """The file of a policy with the earlier defaults spelled out, with them taken out again."""
    kind = "determinant" if offers is TABLE else "mixture"
    explicit: dict[str, Any] = {"radius": {"kind": kind}, **settings}
    if "target" not in settings:
        explicit["greed"] = 0.0
    if offers is TABLE:
        explicit |= {"ridge": 1.0, "exclusion": "intervals"}
    policy, path = taught(Code(**explicit), offers, 60), tmp_path / "policy.json"
    policy.save(path)

    def of_version_3(content: dict[str, Any]) -> None:
        content["version"] = 3
        given = {"kind", *settings}
        content["policy"] = {k: v for k, v in content["policy"].items() if k in given}

    resealed(path, of_version_3)
    again = Code.load(path)
    assert again._save()[0] == policy._save()[0] or again.get_params() == policy.get_params()
    assert fields(again, offers) == fields(policy, offers)
    taught(policy, offers, 40, seed=3), taught(again, offers, 40, seed=3)
    assert fields(again, offers) == fields(policy, offers)


def test_a_file_of_version_3_without_actions_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "policy.json"
    Code(noise_scale=0.5).save(path)
    resealed(path, lambda content: content.update(version=3))
    with pytest.raises(ValueError, match="saved before it had seen any actions.* make a new one"):
        Code.load(path)
    plausibly.UCB1(noise_scale=0.5).save(path)
    resealed(path, lambda content: content.update(version=3))
    assert repr(Policy.load(path)) == "UCB1(noise_scale=0.5)"
