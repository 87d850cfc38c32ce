"""Rewards that come late, out of order or never: which decision an update means."""

from __future__ import annotations

import copy
import enum
import gc
import json
import pickle
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from plausibly import UCB1, ActionSet, Code, Elimination, LinUCB, Policy, Thompson

LABELS = ["red", "blue", "both"]


def fresh_set(rng: np.random.Generator, labels: list[Any] | None = None) -> ActionSet:
    return ActionSet(rng.uniform(-1.0, 1.0, (3, 4)), labels or LABELS)


def test_rewards_that_never_come_break_nothing() -> None:
    """One reward in ten is lost, and every round has other features.

    Each reward that arrives is learned with the features of its own decision.
    """
    rng, script = np.random.default_rng(1), np.random.default_rng(2)
    policy, twin = LinUCB(radius=1.0), LinUCB(radius=1.0)
    for _ in range(300):
        offers = fresh_set(rng)
        chosen = policy.select(offers)
        if script.random() < 0.9:
            policy.update(chosen, 0.5)
            twin.update(offers[chosen], 0.5)
    probe = fresh_set(rng)
    assert policy.observations == twin.observations > 200
    assert policy.explain(probe).mean.tobytes() == twin.explain(probe).mean.tobytes()


def test_rewards_in_any_order_reach_the_action_they_are_of() -> None:
    rng = np.random.default_rng(3)
    policy, twin = (
        Code(noise_scale=0.3, theta_norm_bound=1.0),
        Code(noise_scale=0.3, theta_norm_bound=1.0),
    )
    taken = []
    for _ in range(40):
        offers = fresh_set(rng)
        chosen = policy.select(offers)
        policy.decided(chosen)
        twin.decided(offers[chosen])
        taken.append((chosen, offers[chosen]))
    for place in rng.permutation(40):
        chosen, action = taken[place]
        if place % 5 == 0:
            policy.dropped(chosen)
            twin.dropped(action)
        else:
            policy.update(chosen, float(place))
            twin.update(action, float(place))
    probe = fresh_set(rng)
    assert policy.observations == 32 and policy.select(probe) == twin.select(probe)
    assert policy.explain(probe).mean.tobytes() == twin.explain(probe).mean.tobytes()


@pytest.mark.parametrize(
    "labels", [None, LABELS, [3, 1, 2], [2.5, 1.5, 0.5], [("a", 1), ("b", 2), ("c", 3)]]
)
def test_what_select_returns_is_the_label(labels: list[Any] | None) -> None:
    offers = ActionSet(np.eye(3), labels)
    chosen = LinUCB(radius=1.0).select(offers)
    plain = 0 if labels is None else labels[0]
    assert chosen == plain and hash(chosen) == hash(plain) and {plain: "found"}[chosen] == "found"
    assert repr(chosen) == repr(plain) and str(chosen) == str(plain) and f"{chosen}" == f"{plain}"
    assert isinstance(chosen, type(plain)) and json.dumps([chosen]) == json.dumps([plain])
    assert np.array([chosen]).tolist() == np.array([plain]).tolist()
    for again in (copy.copy(chosen), copy.deepcopy(chosen), pickle.loads(pickle.dumps(chosen))):
        assert again == plain and again.action.features.tolist() == [1.0, 0.0, 0.0]
    assert ActionSet(np.eye(1), [chosen]).labels == [plain]
    assert type(ActionSet(np.eye(1), [chosen]).labels[0]) is type(plain)  # type: ignore[index]


class Colour(enum.Enum):
    RED = 1
    BLUE = 2
    BOTH = 3


def test_labels_of_other_classes_come_back_as_they_are() -> None:
    offers = ActionSet(np.eye(3), list(Colour))
    policy = LinUCB(radius=1.0)
    assert policy.select(offers) is Colour.RED
    policy.update(Colour.RED, 1.0)
    for scale in (2.0, 3.0):
        assert (
            policy.select(ActionSet([[scale, 0.0, 0.0], [0.1, 0.0, 0.0]], list(Colour)[:2]))
            is Colour.RED
        )
    with pytest.raises(ValueError, match="Colour.RED.* was chosen from different action sets"):
        policy.update(Colour.RED, 1.0)


def test_collecting_what_was_chosen_keeps_no_set_alive() -> None:
    policy, rng = LinUCB(radius=1.0), np.random.default_rng(4)

    class Label:
        pass

    kept, marks = [], []
    for _ in range(5):
        mark = Label()
        marks.append(weakref.ref(mark))
        offers = ActionSet(rng.uniform(1.0, 2.0, (2, 3)) * [[1.0], [0.001]], ["chosen", mark])
        kept.append(policy.select(offers))
        del mark, offers
    gc.collect()
    assert kept == ["chosen"] * 5
    assert sum(mark() is not None for mark in marks) <= 1, (
        "the set offered last is all that is kept"
    )


def test_a_label_that_was_written_down_means_the_choice_that_waits() -> None:
    policy, twin = LinUCB(radius=1.0), LinUCB(radius=1.0)
    monday = ActionSet([[1.0, 0.0], [0.0, 0.5]], ["a", "b"])
    tuesday = ActionSet([[0.0, 0.1], [0.0, 2.0]], ["a", "b"])
    assert (policy.select(monday), policy.select(tuesday)) == ("a", "b")
    policy.update("a", 1.0)  # chosen on Monday, and not on Tuesday
    twin.update(monday["a"], 1.0)
    assert policy.explain(monday).mean.tobytes() == twin.explain(monday).mean.tobytes()
    policy.update("b", 0.5)
    policy.update("a", 0.5)  # nothing with this label waits: the set offered last
    twin.update(tuesday["b"], 0.5)
    twin.update(tuesday["a"], 0.5)
    assert policy.explain(monday).mean.tobytes() == twin.explain(monday).mean.tobytes()


def test_a_label_that_could_mean_different_features_is_refused_until_that_is_settled() -> None:
    policy = LinUCB(radius=1.0)
    one, other = ActionSet([[1.0, 0.0]], ["a"]), ActionSet([[0.0, 1.0]], ["a"])
    policy.select(one)
    policy.select(one)
    policy.update("a", 0.5)  # both are the same action
    policy.select(other)
    with pytest.raises(
        ValueError,
        match=r"action: 'a' was chosen from different action sets.*offers\['a'\].*dropped",
    ):
        policy.update("a", 0.5)
    assert policy.observations == 1
    policy.dropped(one["a"])
    policy.update("a", 0.5)
    assert policy.observations == 2


@pytest.mark.parametrize(
    "again", [copy.copy, lambda policy: pickle.loads(pickle.dumps(policy)), "file"]
)
def test_choices_wait_through_a_file(
    again: Callable[[Policy], Policy] | str, tmp_path: Path
) -> None:
    policy = Code(noise_scale=0.3, theta_norm_bound=1.0)
    one, other = ActionSet([[1.0, 0.0]], ["a"]), ActionSet([[0.0, 1.0], [0.1, 0.1]], ["a", None])
    early, late = policy.select(one), policy.select(other)
    policy.decided(early)
    policy.decided(other[None])
    if callable(again):
        policy = again(policy)
    else:
        policy.save(tmp_path / "policy.json")
        policy = Policy.load(tmp_path / "policy.json")
    with pytest.raises(ValueError, match="'a' was chosen from different action sets"):
        policy.update("a", 0.5)
    policy.update(late, 0.5)
    policy.update("a", 0.25)
    policy.dropped(None)
    with pytest.raises(ValueError, match="no choice of 'a' waits"):
        policy.dropped(early)
    assert policy.observations == 2


@pytest.mark.parametrize(
    "make",
    [
        lambda: LinUCB(radius=1.0),
        lambda: Code(noise_scale=1.0, theta_norm_bound=1.0),
        lambda: Elimination(),
        lambda: UCB1(noise_scale=1.0),
    ],
)
def test_what_was_never_decided_cannot_be_dropped(make: Callable[[], Policy]) -> None:
    policy, offers = make(), ActionSet(np.eye(3), LABELS)
    with pytest.raises(ValueError, match="no choice of 'red' waits for its reward"):
        policy.dropped(offers["red"])
    chosen = policy.select(offers)
    other = next(label for label in LABELS if label != chosen)
    with pytest.raises(ValueError, match=f"no choice of '{other}' waits"):
        policy.dropped(other)
    policy.dropped(chosen)
    with pytest.raises(ValueError, match=f"no choice of '{chosen}' waits"):
        policy.dropped(chosen)
    policy.update(policy.select(offers), 0.5)
    with pytest.raises(ValueError, match="waits for its reward, so none can be dropped"):
        policy.dropped(chosen)


def test_a_program_that_only_selects_keeps_its_size() -> None:
    policy, rng = LinUCB(radius=1.0), np.random.default_rng(5)
    for _ in range(1000):
        policy.select(rng.uniform(size=(2, 3)))
    assert len(policy._save()[2]) == 100


def test_one_policy_learns_from_what_another_chose() -> None:
    chooses, learns = LinUCB(radius=1.0), LinUCB(radius=1.0)
    chosen = chooses.select([[0.0, 1.0], [2.0, 0.0]])
    learns.update(chosen, 0.5)
    assert learns.explain([[2.0, 0.0]]).mean[0] == pytest.approx(0.4)
    with pytest.raises(ValueError, match="for one set of actions, and has not seen it yet"):
        Thompson(noise_scale=1.0).update(chosen, 0.5)


def test_elimination_refuses_another_set() -> None:
    policy, rows = Elimination(), np.eye(3)
    policy.update(policy.select(rows), 0.5)
    policy.update(policy.select(rows.copy()), 0.5)  # the same rows, converted again
    with pytest.raises(
        ValueError, match="actions: elimination plays one fixed set.*Code or LinUCB"
    ):
        policy.select(2.0 * rows)
    with pytest.raises(ValueError, match="actions: elimination plays one fixed set"):
        policy.update(ActionSet(2.0 * rows)[0], 0.5)
    with pytest.raises(ValueError, match="began with 3 actions and is offered 2"):
        policy.select(rows[:2])
    assert policy.observations == 2
    again: Elimination = pickle.loads(pickle.dumps(policy))
    with pytest.raises(ValueError, match="actions: elimination plays one fixed set"):
        again.select(2.0 * rows)
