"""A policy that was saved, pickled or copied continues unchanged, to the last bit."""

from __future__ import annotations

import contextlib
import copy
import json
import pickle
import random
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import plausibly
from plausibly import (
    UCB1,
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
from plausibly import BetaThompson, Explanation, Policy, Result, Thompson, simulate
from plausibly._policies import _KINDS

Make = Callable[[], Policy]
FACTS = {"noise_scale": 0.3, "theta_norm_bound": 1.0}
CLICKS: dict[str, Any] = {
    "outcomes": "yes/no",
    "model": "logistic",
    "usual_rate": 0.2,
    "odds_factor": 20,
    "action_norm_bound": 2.0,
}
MAKES: dict[str, tuple[int, Make]] = {
    "code": (3, lambda: Code(**FACTS, seed=1)),
    "code, many features": (20, lambda: Code(**FACTS, ridge=0.1)),
    "code, arms": (0, lambda: Code(noise_scale=0.3)),
    "code, greed": (3, lambda: Code(**FACTS, greed=0.5)),
    "code, deadline": (3, lambda: Code(**FACTS, target={"accuracy": 0.8, "by_round": 30})),
    "code, randomised": (3, lambda: Code(**FACTS, randomise=0.5, label="mixed")),
    "code, not pending": (3, lambda: Code(**FACTS, count_pending=False)),
    "lin-ucb": (3, lambda: LinUCB(radius=1.25)),
    "lin-ts": (3, lambda: LinTS(noise_scale=0.5, seed=9)),
    "elimination": (2, lambda: Elimination(delta=0.5)),
    "epsilon-greedy": (3, lambda: EpsilonGreedy(horizon=100, epsilon=0.5, exploration="design")),
    "epsilon-greedy, arms": (0, lambda: EpsilonGreedy(horizon=100, epsilon=0.5)),
    "explore-then-commit": (3, lambda: ExploreThenCommit(horizon=100, epsilon=0.3)),
    "explore-then-commit, arms": (0, lambda: ExploreThenCommit(horizon=100, epsilon=0.3)),
    "ucb1": (0, lambda: UCB1(noise_scale=0.5)),
    "thompson": (0, lambda: Thompson(noise_scale=0.5)),
    "beta-thompson": (0, lambda: BetaThompson()),
    "insured": (3, lambda: Insured(**FACTS, kappa=10.0)),
    "code, logistic": (3, lambda: Code(**CLICKS, seed=1)),
    "code, logistic, one set": (3, lambda: Code(**CLICKS, same_actions=True)),
    "code, poisson": (3, lambda: Code(model="poisson", theta_norm_bound=2.0, randomise=0.5)),
    "lin-ucb, logistic": (3, lambda: LinUCB(**CLICKS)),
    "laplace-ts": (3, lambda: LaplaceTS(**CLICKS, seed=9)),
    "epsilon-greedy, logistic": (3, lambda: EpsilonGreedy(horizon=100, epsilon=0.5, **CLICKS)),
    "insured, logistic": (3, lambda: Insured(**CLICKS, kappa=10.0)),
    "insured, arms": (0, lambda: Insured(inside={"kind": "beta-thompson"}, noise_scale=0.3)),
}
# Their models have sets of their own.
CURVED = tuple(name for name in MAKES if "logistic" in name or "poisson" in name) + ("laplace-ts",)
YES_NO = ("beta-thompson", "insured, arms", *CURVED)
BY_PLACE = ("ucb1", "thompson", "beta-thompson", "elimination", "code, logistic, one set")


def test_every_class_is_among_them() -> None:
    assert {type(make()).__name__ for _, make in MAKES.values()} == set(_KINDS)


class Game:
    """Plays a policy by a script that depends only on a seed, and records everything visible."""

    def __init__(self, name: str, seed: int) -> None:
        self.dim, make = MAKES[name]
        rng = np.random.default_rng(seed)
        self.rows = [
            rng.uniform(-1.0, 1.0, (4, self.dim))
            for _ in range(1 if name in BY_PLACE else 1 + seed % 2)
        ]
        self.labelled, self.radius = bool(seed % 3), None if name in CURVED else 1.5
        self.policy, self.script = make(), random.Random(seed)
        self.sets = [self.offers(i) for i in range(len(self.rows))]
        self.waiting: list[tuple[int, Any]] = []
        self.last: Any = None
        self.yes_no = name in YES_NO

    def offers(self, which: int) -> ActionSet:
        labels = (
            [("shop", which, i) if i % 2 else f"{which}/{i}" for i in range(4)]
            if self.labelled
            else None
        )
        return ActionSet(self.rows[which], labels) if self.dim else ActionSet.arms(4, labels)

    def reward(self) -> float:
        drawn = self.script.gauss(0.0, 1.0)
        return float(drawn > 0.0) if self.yes_no else drawn

    def refer(self) -> str:
        """Updates the last choice by its label alone."""
        try:
            self.policy.update(self.last, self.reward())
        except (TypeError, ValueError, KeyError) as error:
            return str(error)
        return "learned"

    def play(self) -> list[Any]:
        referred = self.refer() if self.script.random() < 0.5 else "not asked"
        which = 0 if self.script.random() < 0.8 else self.script.randrange(len(self.sets))
        # The same object, or the same rows in a new one: it must not matter.
        offers = self.sets[which] if self.script.random() < 0.7 else self.offers(which)
        chosen = self.policy.select(offers)
        if self.script.random() < 0.7:
            self.policy.decided(offers[chosen])
        self.waiting.append((which, chosen))
        for _ in range(min(self.script.randrange(3), len(self.waiting))):
            at, action = self.waiting.pop(0)
            if self.script.random() < 0.1:
                # Its reward may have come by its label alone.
                with contextlib.suppress(ValueError):
                    self.policy.dropped(self.sets[at][action])
            else:
                self.policy.update(self.sets[at][action], self.reward())
        # A plain label: the object that select returned carries its action.
        self.last = chosen.bare() if hasattr(chosen, "bare") else chosen
        found = self.policy.explain(offers, radius=self.radius)
        bits = [
            column.tobytes() for column in (found.mean, found.lower, found.upper, found.width_sq)
        ]
        return [chosen, referred, *bits, found.observations, found.target]


def through_a_file(policy: Policy, folder: Path) -> Policy:
    policy.save(folder / "policy.json")
    return Policy.load(folder / "policy.json")


def goes_on(name: str, seed: int, cut: int, again: Callable[[Policy], Policy]) -> bool:
    whole, parted = Game(name, seed), Game(name, seed)
    seen = [whole.play() for _ in range(60)]
    for _ in range(cut):
        parted.play()
    parted.policy = again(parted.policy)
    parted.sets = [parted.offers(i) for i in range(len(parted.rows))]
    return all(parted.play() == expected for expected in seen[cut:])


@pytest.mark.parametrize("name", MAKES)
def test_it_goes_on_to_the_bit(name: str, tmp_path: Path) -> None:
    rng = random.Random(name)
    for seed in range(6):
        cut = rng.randrange(60)
        assert goes_on(name, seed, cut, lambda policy: through_a_file(policy, tmp_path)), (
            seed,
            cut,
        )
        assert goes_on(name, seed, cut, lambda policy: pickle.loads(pickle.dumps(policy))), (
            seed,
            cut,
        )
        assert goes_on(name, seed, cut, copy.deepcopy) and goes_on(name, seed, cut, copy.copy)


def without(field: str) -> Callable[[Policy], Policy]:
    """Reads a policy back with one part as it was at the beginning."""
    neutral = {"drawn": 0, "offered": None, "played": None}

    def again(policy: Policy) -> Policy:
        text, sets, waiting = policy._save()
        state = json.loads(text)
        if field in neutral:
            state[field] = neutral[field]
        return type(policy)._restored(
            3, json.dumps(state), sets, [] if field == "waiting" else waiting
        )

    return again


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("lin-ts", "drawn"),
        ("code", "offered"),
        ("code", "waiting"),
        ("code", "played"),
        ("elimination", "played"),
    ],
)
def test_whatever_is_left_out_is_noticed(name: str, field: str) -> None:
    def fails(seed: int) -> bool:
        try:
            return not goes_on(name, seed, 20 + seed % 30, without(field))
        except (TypeError, ValueError):
            return True

    assert any(fails(seed) for seed in range(60))


def test_a_policy_that_has_seen_nothing_is_saved_too(tmp_path: Path) -> None:
    policy = through_a_file(Code(noise_scale=0.3, seed=5, label="new"), tmp_path)
    assert (
        repr(policy) == "Code(noise_scale=0.3, seed=5, label='new')"
        and policy.select(ActionSet.arms(3)) == 0
    )


def test_labels_come_back_as_they_were(tmp_path: Path) -> None:
    labels = [
        "text",
        3,
        2.5,
        True,
        None,
        ("a", (1, None)),
        np.int64(7),
        np.str_("numpy"),
        "\ud800\n",
    ]
    offers = ActionSet.arms(len(labels), labels=labels)
    policy = Code(noise_scale=1.0)
    policy.select(offers)
    again = through_a_file(policy, tmp_path)
    for label in labels:
        again.update(label, 0.5)
    assert again.observations == len(labels)


def test_labels_that_no_file_can_hold_can_be_pickled(tmp_path: Path) -> None:
    policy = Code(noise_scale=1.0)
    policy.select(ActionSet.arms(1, labels=[frozenset({1})]))
    with pytest.raises(TypeError, match=r"label frozenset\(\{1\}\) cannot be saved"):
        policy.save(tmp_path / "policy.json")
    assert list(tmp_path.iterdir()) == []
    again = pickle.loads(pickle.dumps(policy))
    again.update(frozenset({1}), 0.5)
    assert again.observations == 1


def test_copies_go_their_own_ways() -> None:
    policy = UCB1(noise_scale=1.0)
    policy.update(policy.select(ActionSet.arms(2)), 1.0)
    other = copy.copy(policy)
    other.update(0, 5.0)
    assert (policy.observations, other.observations) == (1, 2)


class Mine(Code):
    """A subclass with a method of its own."""

    note: str


def test_a_subclass_keeps_its_class_and_what_it_was_given(tmp_path: Path) -> None:
    policy = Mine(noise_scale=1.0)
    policy.note = "kept"
    policy.select(ActionSet.arms(2))
    for again in (pickle.loads(pickle.dumps(policy)), copy.deepcopy(policy)):
        assert type(again) is Mine and again.note == "kept" and again.select(ActionSet.arms(2)) == 0
    policy.save(tmp_path / "mine.json")
    assert type(Mine.load(tmp_path / "mine.json")) is Mine
    assert type(Policy.load(tmp_path / "mine.json")) is Code


def test_a_class_takes_its_own_kind_alone(tmp_path: Path) -> None:
    path = tmp_path / "policy.json"
    UCB1(noise_scale=1.0).save(path)
    assert isinstance(UCB1.load(path), UCB1) and isinstance(Policy.load(str(path)), UCB1)
    with pytest.raises(
        ValueError,
        match="policy.json holds a policy of the kind 'ucb1', made by UCB1, and Code is 'code'",
    ):
        Code.load(path)


def saved(tmp_path: Path) -> Path:
    path = tmp_path / "policy.json"
    policy = Code(noise_scale=0.3, theta_norm_bound=1.0)
    policy.update(policy.select([[0.5, 0.25], [0.1, 0.9]]), 0.75)
    policy.save(path)
    return path


def test_the_file_can_be_read_by_people(tmp_path: Path) -> None:
    text = saved(tmp_path).read_text(encoding="utf-8")
    content = json.loads(text)
    assert content["format"] == "plausibly policy" and content["version"] == 4
    assert content["policy"] == {"kind": "code"} and content["sets"] == [
        {"rows": [[0.5, 0.25], [0.1, 0.9]]}
    ]
    assert '  "seed": 0,\n' in text and "[0.5, 0.25]" in text
    assert bytes.fromhex(content["played"]["state"]).startswith(b"plausibly policy 4\n")


def test_any_damage_is_noticed(tmp_path: Path) -> None:
    path = saved(tmp_path)
    whole, text = path.read_bytes(), Policy.load(path)._save()[0]
    rng = random.Random(1)
    places = rng.sample(range(len(whole)), 150)
    for place in places:
        damaged = bytearray(whole)
        damaged[place] = (damaged[place] + rng.randrange(1, 255)) % 256
        path.write_bytes(bytes(damaged))
        try:
            again = Policy.load(path)
        except ValueError as error:
            assert "path: " in str(error)
        else:
            # White space does not matter: the content is unchanged.
            assert again._save()[0] == text
    for length in (0, 1, len(whole) // 2, len(whole) - 3):
        path.write_bytes(whole[:length])
        with pytest.raises(ValueError, match="path: .*is no saved policy, or is damaged"):
            Policy.load(path)


def test_a_save_that_fails_leaves_the_file_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = saved(tmp_path)
    before = path.read_bytes()

    def refuse(*_: object) -> None:
        raise OSError("no space left")

    for name in ("fsync", "replace"):
        with monkeypatch.context() as patched:
            patched.setattr(f"os.{name}", refuse)
            with pytest.raises(OSError, match="no space left"):
                UCB1(noise_scale=1.0).save(path)
        assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]


def resealed(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Changes a file like a forger who knows the format."""
    from plausibly._saved import _digest

    content = json.loads(path.read_text(encoding="utf-8"))
    content.pop("sha256")
    change(content)
    path.write_text(json.dumps({**content, "sha256": _digest(content)}), encoding="utf-8")


def word(content: dict[str, Any], at: int, value: bytes) -> None:
    """Changes one of the words of eight bytes behind the header of a state."""
    state = bytearray.fromhex(content["played"]["state"])
    start = len(b"plausibly policy 4\n") + 8 * at
    state[start : start + 8] = value
    content["played"]["state"] = state.hex()


# The length of the kind and the four letters of `code` come first, then the observations.
OBSERVATIONS = 5
# Observations, the last refactorisation and the length of V come before V.
GRAM = 8


WRONG: list[tuple[Callable[[dict[str, Any]], object], str]] = [
    (lambda content: content.update(version=5), "version 5 of the format, .* install a newer one"),
    (lambda content: content.update(version=2), "version 2 of the format, .* no longer reads"),
    (lambda content: content.update(version="1"), "names no version"),
    (lambda content: content.update(version=True), "names no version"),
    (lambda content: content.update(format="other"), "is no saved policy"),
    (lambda content: content.pop("sets"), "cannot be read back"),
    (lambda content: content.update(sets=[5]), "cannot be read back"),
    (lambda content: content.update(waiting=[5]), "cannot be read back"),
    (lambda content: content.update(drawn=2**63), "no policy has drawn"),
    (
        lambda content: word(content, OBSERVATIONS, (2**60).to_bytes(8, "little")),
        "observations holds a number that no policy",
    ),
    (lambda content: content.pop("drawn"), "missing field `drawn`"),
    (lambda content: content.update(more=1), "unknown field `more`"),
    (lambda content: content.update(seed=-1), "seed: must be from 0"),
    (
        lambda content: content["policy"].update(kind="coda"),
        "kind 'coda', which this version does not know",
    ),
    (lambda content: content["policy"].update(kind="lin-ts"), "another kind of policy"),
    (
        lambda content: content["policy"].update(target={"accuracy": 1.0, "by_round": 9}),
        "the deadline does not fit",
    ),
    (lambda content: content["facts"].pop("noise_scale"), "noise_scale: missing"),
    (lambda content: content.update(sets=[]), "an action set that is not there"),
    (lambda content: content.update(sets=[{"arms": 2}]), "(features|set)"),
    (lambda content: content.update(sets=[{"rows": [[1.0, 1e200]]}]), "rows: feature 1"),
    (
        lambda content: content.update(sets=[{"rows": [[0.5, 0.25], [0.1, 0.9]], "labels": ["a"]}]),
        "labels: ",
    ),
    (lambda content: content["played"].update(features=3), "must have 9 entries, but has 4"),
    (lambda content: content["played"].update(features=10**9), "takes at most 4096"),
    (lambda content: content["played"].update(actions=0), "no policy has "),
    (lambda content: content["played"].update(first=0), "does not fit its kind"),
    (
        lambda content: word(content, GRAM, struct.pack("<d", float("nan"))),
        "gram holds a number that no policy",
    ),
    (lambda content: word(content, GRAM - 1, b"\xff" * 8), "cut short"),
    (lambda content: content["played"].update(state="0g"), "hexadecimal"),
    (lambda content: content["played"].update(state="00"), "another version"),
    (
        lambda content: content["played"].update(state=content["played"]["state"] + "00"),
        "bytes after its end",
    ),
]


@pytest.mark.parametrize(("change", "message"), WRONG, ids=range(len(WRONG)))
def test_what_is_no_policy_is_refused(
    change: Callable[[dict[str, Any]], object], message: str, tmp_path: Path
) -> None:
    path = saved(tmp_path)
    resealed(path, change)
    with pytest.raises(ValueError, match=f"path: .*policy.json .*({message})"):
        Policy.load(path)


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"{}", b"null", b"\xff\xfe", b"NaN", b"[" * 100000, b'{"format": 1}']
)
def test_foreign_files_are_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "policy.json"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="path: .*policy.json is no saved policy"):
        Policy.load(path)


def test_a_pickle_of_a_newer_version_is_refused() -> None:
    text, sets, waiting = UCB1(noise_scale=1.0)._save()
    with pytest.raises(ValueError, match="version 5 of the format, .* install a newer one"):
        UCB1._restored(5, text, sets, waiting)


def test_sets_actions_explanations_and_results_can_be_copied() -> None:
    offers = ActionSet([[1.0, 0.0], [0.0, 1.0]], labels=["a", ("b", 2)])
    policy = Code(noise_scale=1.0, theta_norm_bound=1.0)
    policy.update(policy.select(offers), 0.5)
    found = policy.explain(offers)
    spec = {
        "runs": 2,
        "horizon": 10,
        "environment": {"kind": "k-armed", "actions": 2},
        "policy": [{"kind": "ucb1"}],
    }
    result = simulate(spec)
    for again in (lambda thing: pickle.loads(pickle.dumps(thing)), copy.copy, copy.deepcopy):
        same: ActionSet = again(offers)
        assert same.labels == offers.labels and repr(same) == repr(offers)
        assert [action.features.tolist() for action in same] == [[1.0, 0.0], [0.0, 1.0]]
        assert (again(offers[("b", 2)]).index, again(offers["a"]).label) == (1, "a")
        assert repr(again(ActionSet.arms(3))) == "ActionSet.arms(3)"
        explained: Explanation = again(found)
        assert repr(explained) == repr(found) and explained.mean.tobytes() == found.mean.tobytes()
        compared: Result = again(result)
        assert compared.csv == result.csv and repr(compared) == repr(result)


def test_all_of_it_is_public() -> None:
    assert plausibly.Policy.save.__doc__ and plausibly.Policy.load.__doc__
