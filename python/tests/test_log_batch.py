"""Batches: the lines and answers of single calls, with one write."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from plausibly import Decision, Log

NOW = 1_794_000_000_000_000
ROWS = [{"name": "mug", "price": 4}, {"name": "bowl", "price": 8}, {"name": "jug", "price": 5}]


def call(log: Any, request: tuple[str, tuple[Any, ...], dict[str, Any]]) -> Any:
    name, arguments, named = request
    return getattr(log, name)(*arguments, **named)


def requests(rng: random.Random, many: int) -> list[tuple[str, tuple[Any, ...], dict[str, Any]]]:
    made: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []
    for _ in range(many):
        decision = rng.randrange(1, 12)
        row = {"name": "pot", "price": rng.choice([3, "dear"])}
        made.append(
            rng.choice(
                [
                    ("decide", (ROWS,), {"key": rng.choice([None, "a", "b"])}),
                    ("decide", ([*ROWS, row],), {"context": {"hour": rng.randrange(3)}}),
                    ("reward", (decision, rng.choice([0.25, 0.5, 7.0])), {}),
                    ("correct", (decision, 0.75), {}),
                    ("retract", (decision,), {}),
                    ("drop", (decision,), {"undo": rng.random() < 0.3}),
                ]
            )
        )
    return made


def one_by_one(log: Log, asked: list[Any]) -> list[Any]:
    answers: list[Any] = []
    for request in asked:
        try:
            answers.append(call(log, request))
        except Exception as error:
            answers.append(error)
    return answers


def compared(answers: list[Any]) -> list[Any]:
    return [
        (type(answer), str(answer)) if isinstance(answer, Exception) else answer
        for answer in answers
    ]


def test_a_batch_is_its_requests_one_by_one(tmp_path: Path) -> None:
    kinds: set[type] = set()
    for seed in range(20):
        rng = random.Random(seed)
        paths = [tmp_path / f"{name}-{seed}.log" for name in ("single", "batched")]
        single, batched = (Log(path, seed=1, clock=lambda: NOW) for path in paths)
        for _ in range(6):
            asked = requests(rng, rng.randrange(8))
            batch = batched.batch()
            for request in asked:
                assert call(batch, request) is None
            assert len(batch) == len(asked)
            expected, found = one_by_one(single, asked), batch.commit()
            assert len(batch) == 0 and batch.commit() == []
            assert compared(found) == compared(expected)
            kinds |= {type(answer) for answer in found}
        assert paths[0].read_bytes() == paths[1].read_bytes()
    assert kinds == {Decision, bool, KeyError, ValueError}


def test_a_batch_begins_a_log_with_the_first_decision_that_can() -> None:
    log = Log(None, seed=1)
    batch = log.batch()
    batch.reward(1, 0.5)
    batch.decide([{"name": "mug", "price": "dear"}])
    batch.decide(ROWS)
    batch.reward(1, 0.5)
    early, unread, decision, reward = batch.commit()
    assert isinstance(early, ValueError) and "no decisions yet" in str(early)
    assert isinstance(unread, (ValueError, Decision)) and isinstance(decision, Decision)
    assert reward is True and repr(batch) == "Batch(0 for Log(None))"


def test_what_a_batch_refuses_at_once() -> None:
    log = Log(None, seed=1)
    batch = log.batch()
    wrong: list[tuple[Any, Any, str]] = [
        (lambda: batch.decide(5), TypeError, "actions: "),
        (lambda: batch.decide([]), ValueError, "actions: "),
        (lambda: batch.decide(ROWS, key=5), TypeError, "key: expected text"),
        (lambda: batch.decide(ROWS, key=""), ValueError, "key: a key has 1 to 256 bytes"),
        (lambda: batch.decide(ROWS, most=-1), ValueError, "most: "),
        (lambda: batch.decide(ROWS, context={"": 1}), ValueError, "context: "),
        (lambda: batch.reward(1), TypeError, "value: expected a number"),
        (lambda: batch.reward(-1, 0.5), ValueError, "decision: -1 is out of range"),
        (lambda: batch.correct(1, "x"), TypeError, "value: expected a number"),
        (lambda: batch.retract(1.5), TypeError, "decision: expected a whole number"),
        (lambda: batch.drop(1, undo=1), TypeError, "undo: expected True or False"),
    ]
    for attempt, error, message in wrong:
        with pytest.raises(error, match=message):
            attempt()
    assert len(batch) == 0
    batch.decide(ROWS)
    log.close()
    with pytest.raises(ValueError, match="the log is closed"):
        batch.commit()
