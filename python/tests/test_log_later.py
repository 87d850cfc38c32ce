"""Reasons made after the decision: the same bits as at once, and errors if the log is gone."""

from __future__ import annotations

import copy
import pickle
import random
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from plausibly import DamagedLogError, Decision, Log, verify
from plausibly import _core, _tables

BEGIN = 1_794_000_000_000_000
WINES: list[dict[str, Any]] = [
    {"name": "Alba", "price": 4.5, "stock": 12, "organic": True},
    {"name": "Boro; dry", "price": 8.0, "stock": 3, "organic": False},
    {"name": 'Cru, "old"', "price": 6.25, "stock": 700, "organic": True},
    {"name": "Dão", "price": 0.1, "stock": 1, "organic": False},
]


def ticking() -> Callable[[], int]:
    now = iter(range(BEGIN, 2**62, 1_000_000))
    return lambda: next(now)


def is_made(decision: Decision) -> bool:
    return "_document" in decision.__dict__


def history(log: Log, seen: Callable[[Decision], object]) -> list[Decision]:
    """Decisions among changing actions and contexts, with outcomes of all kinds in between."""
    rng, taken = random.Random(5), []
    for round_ in range(40):
        rows = WINES[: 2 + round_ % 3]
        if round_ == 20:
            log.change_policy("lin-ucb")
        if round_ >= 30:
            rows = [{**row, "stock": row["stock"] + 1} for row in rows]
        decision = log.decide(
            rows, context={"hour": round_ % 5}, most=(1, 200)[round_ % 2], key=f"visit {round_}"
        )
        seen(decision)
        taken.append(decision)
        if rng.random() < 0.7:
            log.reward(decision.id, rng.random())
        if round_ == 10:
            assert log.decide(rows, key="visit 3").id == 4
    log.drop(next(iter(log.pending)))
    settled = next(taken.id for taken in taken if taken.id not in log.pending and taken.id > 5)
    log.retract(settled)
    log.reward(settled, 0.25)
    log.correct(settled, 0.75)
    return taken


@pytest.mark.parametrize("where", ["memory", "file"])
def test_reasons_made_later_are_those_of_the_decision(where: str, tmp_path: Path) -> None:
    def path(name: str) -> Path | None:
        return None if where == "memory" else tmp_path / name

    expected: list[str] = []
    log = Log(path("at-once.log"), seed=3, clock=ticking())
    history(log, lambda decision: expected.append(decision.certificate_json()))
    assert len(set(expected)) == 40

    log = Log(path("later.log"), seed=3, clock=ticking())
    taken = history(log, lambda decision: None)
    assert not any(map(is_made, taken))
    assert taken[3] == log.decide(WINES, key="visit 3", most=200)
    for decision in taken[::-2]:
        verify(decision, log=log)
        assert decision.certificate()["grounds"]["decision"] == decision.id
    log.close()
    for decision, document in zip(taken, expected, strict=True):
        assert decision.certificate_json() == document
        assert decision.words().startswith(f"Decision {decision.id}: ")
        assert decision.explanation is decision.explanation
        assert decision.explanation.certificate() == decision.certificate()


def test_decisions_are_values() -> None:
    log, twin = Log(None, seed=3, clock=ticking()), Log(None, seed=3, clock=ticking())
    first, second = log.decide(WINES), log.decide(WINES)
    assert first != second and first != 1 and not is_made(first)
    assert first == twin.decide(WINES) == log.decision(1) and is_made(first)
    assert hash(first) == hash(log.decision(1)) and len({first, second, log.decision(2)}) == 2
    assert first != log.decision(1, most=1)
    with pytest.raises(AttributeError):
        first.label = "Alba"  # type: ignore[misc]
    for again in (copy.copy(second), copy.deepcopy(second), pickle.loads(pickle.dumps(second))):
        assert again == second and repr(again) == repr(second)
        assert again.explanation.actions == second.explanation.actions


def test_a_decision_does_not_keep_the_log_open(tmp_path: Path) -> None:
    path = tmp_path / "wines.log"
    decision = Log(path, seed=3, clock=ticking()).decide(WINES)
    with Log(path) as log:
        assert log.reward(decision.id, 0.5)
    assert len(decision.explanation.actions) == 4


def test_another_folder_is_the_same_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path)
    log = Log("wines.log", seed=3)
    decision = log.decide(WINES)
    monkeypatch.chdir(tmp_path / "other")
    assert log.status()["decisions"] == 1 and len(decision.explanation.actions) == 4


def test_a_log_that_is_gone_or_changed(tmp_path: Path) -> None:
    path = tmp_path / "wines.log"

    def decided() -> tuple[Decision, Decision]:
        path.unlink(missing_ok=True)
        with Log(path, seed=3, clock=ticking()) as log:
            first = log.decide(WINES)
            log.reward(1, 0.5)
            return first, log.decide(WINES)

    kept, later = decided()
    document = kept.certificate_json()
    path.rename(tmp_path / "moved.log")
    message = "path: cannot open .*wines.log: No such file.*decision 2 is made from the log when"
    for ask in (later.certificate, later.words, lambda: later.explanation, lambda: later == later):
        with pytest.raises(FileNotFoundError, match=message):
            ask()
    assert kept.certificate_json() == document
    (tmp_path / "moved.log").rename(path)
    assert later.certificate()["grounds"]["decision"] == 2

    # Another log in its place, which has decisions of these numbers too.
    _, later = decided()
    path.unlink()
    with Log(path, seed=4, clock=ticking()) as other:
        for _ in range(3):
            other.decide(WINES)
    with pytest.raises(DamagedLogError, match="wines.log is not the log that took decision 2"):
        later.explanation

    # Its own line damaged or cut off, and a line before it damaged.
    _, later = decided()
    whole = path.read_bytes()
    own = whole.splitlines(keepends=True)[-1]
    changed = own.replace(b'"decision":2', b'"decision":3')
    for damaged in (whole[: -len(own)], whole[: -len(own)] + changed, b""):
        path.write_bytes(damaged)
        with pytest.raises(DamagedLogError, match="not the log that took decision 2, or was ch"):
            later.certificate()
    path.write_bytes(whole.replace(b'"decision":1', b'"decision":7'))
    with pytest.raises(DamagedLogError, match="damaged in line .*decision 2 is made from the log"):
        later.certificate()
    path.write_bytes(whole)
    verify(later, log=path)


def test_reasons_are_made_while_others_write(tmp_path: Path) -> None:
    path, failures = tmp_path / "wines.log", []
    with Log(path, seed=3, clock=ticking()) as log:
        taken = [log.decide(WINES) for _ in range(10)]
        stop = threading.Event()

        def ask() -> None:
            try:
                while not stop.is_set():
                    for decision in taken:
                        decision.__dict__.pop("_document", None)
                        assert decision.certificate()["grounds"]["decision"] == decision.id
            except BaseException as error:  # the cause is shown below
                failures.append(error)

        askers = [threading.Thread(target=ask) for _ in range(3)]
        for asker in askers:
            asker.start()
        for _ in range(60):
            log.reward(log.decide(WINES).id, 0.5)
        stop.set()
        for asker in askers:
            asker.join()
    assert failures == []


def test_rows_are_recognised_only_if_their_csv_is_the_same() -> None:
    # Among them values that are equal in Python, but not as text.
    cells = [0, 0.0, -0.0, False, 1, 1.0, True, "1", "1.0", "True", None, "", "a", 2**70, 0.1]
    rng = random.Random(1)
    recognised = 0
    for _ in range(4_000):
        rows = [{"name": f"row {i}", "x": rng.choice(cells), "y": i} for i in range(2)]
        table = _tables.read_table(rows, False, None)
        again: Any = [dict(row) for row in rows]
        change = rng.randrange(8)
        if change < 3:
            again[rng.randrange(2)][rng.choice("xy")] = rng.choice(cells)
        elif change == 3:
            again[1] = {name: again[1][name] for name in ("name", "y", "x")}
        elif change == 4:
            again.reverse()
        elif change == 5:
            again[rng.randrange(2)]["z"] = 1
        elif change == 6:
            del again[rng.randrange(2)]["y"]
        is_same = _tables.to_csv(again) == _tables.to_csv(rows)
        assert is_same or not table.is_of(again), (rows, again)
        assert not table.is_of(again[:1]) and not table.is_of(iter(again))
        recognised += table.is_of(again)
    assert recognised > 400
    for other in (None, 5, "rows", [], [5], [{}], [{"name": "\ud800"}], object()):
        assert not table.is_of(other)
    # Types that can give another value each time are read each time.
    assert not _core.Table(b"name\nmug\n", [{"name": type("Text", (str,), {})("mug")}]).is_of(
        [{"name": "mug"}]
    )


def test_rows_that_change_in_place_are_noticed() -> None:
    log = Log(None, seed=1)
    rows = [{"name": "a", "price": 4}, {"name": "b", "price": 5}]
    log.decide(rows)
    rows[1]["price"] = 6
    log.decide(rows)
    offered = log.decision(2).certificate()["grounds"]["actions"]
    assert [action["id"] for action in offered] == [0, 2]
