"""What the clients of the decision service send and read; the server answers as told."""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from clients import BASE, CANARY, Connect, ROWS, SENT_ROWS, connect, refused_port
from standin import DECISION, HASH, OUTCOME, Step, answer, serving

import plausibly
from plausibly import AsyncClient, Client, ServiceDecision, ServiceError, ServiceOutcome

# What is asked, and what is answered.


def test_a_decision_is_asked_for_and_read(connect: Connect) -> None:
    certificate = {"grounds": {}, "findings": {}}
    with serving(answer({**DECISION, "certificate": certificate, "later": 1}, 201)) as server:
        experiment = connect(server, key=CANARY).experiment("wines")
        decision = experiment.decide({"hour": 9, "vip": True, "unknown": None}, certificate=True)
    (asked,) = server.asked
    assert (asked.method, asked.path) == ("POST", "/v1/experiments/wines/decisions")
    assert asked.headers["content-type"] == "application/json"
    assert asked.headers["authorization"] == f"Bearer {CANARY}"
    assert asked.headers["host"] == server.base.removeprefix("http://")
    body = {"context": {"hour": "9", "vip": "True"}, "certificate": "inline"}
    assert asked.json() == body
    assert decision == ServiceDecision(
        id=7,
        action="mug",
        reason="least-known",
        propensity=1.0,
        plausible=2,
        known_within=0.25,
        seq=9,
        hash=HASH,
        key=asked.headers["idempotency-key"],
        certificate=certificate,
    )
    assert not decision.is_default and not decision.repeated


PAID = ServiceDecision(id=3, action="mug")
# A call of an experiment; the method, path and body it sends; a body it is answered with.
CALLS: list[tuple[str, Callable[[Any], Any], str, str, Any, Any]] = [
    ("offer", lambda e: e.decide(offer=["mug", "jug"]), "POST", "/decisions",
     {"offer": ["mug", "jug"]}, DECISION),
    ("rows", lambda e: e.decide(rows=ROWS), "POST", "/decisions", {"rows": SENT_ROWS}, DECISION),
    ("reward", lambda e: e.reward(3, 0.5), "PUT", "/decisions/3/reward", {"value": 0.5}, OUTCOME),
    ("reward of it", lambda e: e.reward(PAID, True and 1), "PUT", "/decisions/3/reward",
     {"value": 1.0}, OUTCOME),
    ("counts", lambda e: e.reward(3, successes=2, of=5), "PUT", "/decisions/3/reward",
     {"successes": 2, "of": 5}, OUTCOME),
    ("correct", lambda e: e.correct(3, np.float64(0.25)), "PATCH", "/decisions/3/reward",
     {"value": 0.25}, OUTCOME),
    ("retract", lambda e: e.retract(3), "DELETE", "/decisions/3/reward", None, OUTCOME),
    ("drop", lambda e: e.drop(3), "POST", "/decisions/3/drop", {}, OUTCOME),
    ("undrop", lambda e: e.drop(3, undo=True), "POST", "/decisions/3/drop", {"undo": True},
     OUTCOME),
    ("decision", lambda e: e.decision(3), "GET", "/decisions/3", None, {"decision": 3}),
    ("certificate", lambda e: e.certificate(PAID), "GET", "/decisions/3/certificate", None, {}),
    ("about", lambda e: e.about(), "GET", "", None, {"name": "wines"}),
    ("status", lambda e: e.status(), "GET", "/status", None, {"decisions": 3}),
    ("compare", lambda e: e.compare("mug & jug", "a/b"), "GET",
     "/compare?a=mug%20%26%20jug&b=a%2Fb", None, {}),
    ("pause", lambda e: e.pause(), "POST", "/pause", {}, {"paused": True}),
    ("resume", lambda e: e.resume(), "POST", "/resume", {}, {"paused": False}),
    ("actions", lambda e: e.actions(ROWS), "PUT", "/actions", {"actions": SENT_ROWS}, {}),
    ("delete", lambda e: e.delete(), "DELETE", "", None, {"moved_to": "x"}),
]  # fmt: skip


@pytest.mark.parametrize("call", CALLS, ids=[call[0] for call in CALLS])
def test_what_each_method_sends(connect: Connect, call: Any) -> None:
    _, act, method, path, body, reply = call
    with serving(answer(reply)) as server:
        found = act(connect(server).experiment("wines"))
    (asked,) = server.asked
    assert (asked.method, asked.path) == (method, BASE + path)
    assert (asked.json() if asked.body else None) == body
    assert asked.headers.get("content-type") == (None if body is None else "application/json")
    assert "authorization" not in asked.headers
    if reply is OUTCOME:
        assert found == ServiceOutcome(7, True, False, None, 10, HASH)
    elif reply is not DECISION:
        assert found == reply


def test_an_experiment_is_begun_with_the_settings_of_a_log(connect: Connect) -> None:
    with serving(answer({"name": "wines"}, 201)) as server:
        client = connect(server)
        client.create("wines", ROWS)
        client.create(
            "wines",
            ROWS,
            context={"hour": 9},
            label="name",
            leave_out=["stock"],
            outcomes=(0, 2),
            policy="linucb",
            noise="bell",
            horizon=10,
            seed=7,
            growth=5,
            window=timedelta(hours=1),
            default=0.0,
            check=True,
        )
        client.create("wines", ROWS, outcomes="yes/no", window=90, policy={"kind": "code"})
    plain, full, last = server.asked
    assert plain.path == "/v1/experiments" and full.path == "/v1/experiments?check=true"
    assert plain.json() == {"name": "wines", "actions": SENT_ROWS}
    assert full.json() == {
        "name": "wines",
        "actions": SENT_ROWS,
        "context": {"hour": "9"},
        "label": "name",
        "leave_out": ["stock"],
        "reward_range": [0.0, 2.0],
        "policy": {"kind": "linucb"},
        "noise": "bell",
        "horizon": 10,
        "seed": 7,
        "growth": 5,
        "window": {"seconds": 3600, "default": 0.0},
    }
    assert last.json()["outcomes"] == "yes-no" and last.json()["window"] == {"seconds": 90}


def test_lists_and_certificates(connect: Connect) -> None:
    with serving(
        answer({"experiments": [{"name": "a"}]}), answer({"valid": True, "decision": 1})
    ) as server:
        client = connect(server)
        assert client.experiments() == [{"name": "a"}]
        assert client.verify({"grounds": {"x": 0.1}})["valid"]
    assert server.asked[1].path == "/v1/verify"
    assert server.asked[1].json() == {"grounds": {"x": 0.1}}


def test_several_decisions_and_outcomes_at_once(connect: Connect, caplog: Any) -> None:
    refused = {"status": 422, "code": "bad_offer", "detail": "no such action", "pointer": "/offer"}
    paid = {"status": 200, **OUTCOME}
    with serving(
        answer({"results": [{"status": 201, **DECISION}, refused]}),
        answer({"results": [{"status": 201, **DECISION}, refused]}),
        answer(
            {"results": [paid, {**refused, "status": 409, "code": "other_reward", "stored": 1}]}
        ),
    ) as server:
        experiment = connect(server).experiment("wines")
        wanted = [{"context": {"hour": 9}}, {"offer": ["none"]}]
        taken, error = experiment.decide_many(wanted, key="both")
        assert (taken.id, taken.key) == (7, "both")
        assert isinstance(error, ServiceError)
        assert (error.status, error.code, error.pointer) == (422, "bad_offer", "/offer")
        assert str(error) == "422 bad_offer at /offer: no such action"
        taken, default = experiment.decide_many(wanted, default="mug")
        assert taken.id == 7 and default.is_default and default.action == "mug"
        none = ServiceDecision(id=None, action="mug", is_default=True)
        first, skipped, second = experiment.rewards(
            [(taken, 1.0), (none, 0.5), {"decision": 8, "drop": True}]
        )
        assert first.applied and skipped.reason == "default" and not skipped.applied
        assert isinstance(second, ServiceError) and second.stored == 1
    assert server.asked[0].json() == [{"context": {"hour": "9"}}, {"offer": ["none"]}]
    assert server.asked[2].json() == {
        "rewards": [{"decision": 7, "value": 1.0}, {"decision": 8, "drop": True}]
    }


@pytest.mark.parametrize("count", [0, 1, 3])
def test_there_is_an_answer_to_each_request(connect: Connect, count: int) -> None:
    with serving(answer({"results": [{"status": 201, **DECISION, **OUTCOME}] * count})) as server:
        experiment = connect(server).experiment("wines")
        for act in (
            lambda: experiment.decide_many([{}, {}]),
            lambda: experiment.rewards([(1, 0.5), (2, 0.5)]),
        ):
            with pytest.raises(ServiceError, match=f"results has {count} entries for 2 requests"):
                act()
        assert all(one.is_default for one in experiment.decide_many([{}, {}], default="mug"))


def test_nothing_is_sent_about_a_default(connect: Connect) -> None:
    experiment = connect(refused_port()).experiment("wines")
    none = ServiceDecision(id=None, action="mug", is_default=True)
    expected = ServiceOutcome(None, applied=False, duplicate=False, reason="default")
    for found in (
        experiment.reward(none, 1.0),
        experiment.correct(none, 1.0),
        experiment.retract(none),
        experiment.drop(none),
        *experiment.rewards([(none, 1.0)]),
    ):
        assert found == expected
    with pytest.raises(ValueError, match="this is the default"):
        experiment.decision(none)
    with pytest.raises(TypeError, match="value"):
        experiment.reward(none)


def test_the_lines_of_a_log_are_mirrored(connect: Connect, tmp_path: Path) -> None:
    lines = [
        json.dumps({"seq": seq, "é": "\u2028"}, ensure_ascii=False) + "\n" for seq in (5, 6, 7)
    ]
    pages = [lines[:2], lines[2:], []]
    steps, at = [], 5
    for page in pages:
        at += len(page)
        steps.append(answer("".join(page).encode(), Plausibly_Next=str(at)))
    with serving(*steps) as server:
        assert list(connect(server).experiment("wines").log(5)) == lines
    assert [asked.path for asked in server.asked] == [f"{BASE}/log?from={at}" for at in (5, 7, 8)]


@pytest.mark.parametrize(
    "step",
    [
        answer(b'{"seq":1}\n{"se', Plausibly_Next="3"),
        answer(b'{"seq":1}\n', Plausibly_Next="3"),
        answer(b'{"seq":1}\n'),
        answer(b'{"seq":1}\n', Plausibly_Next="-1"),
        answer(b"\xff\n", Plausibly_Next="2"),
    ],
)
def test_lines_that_are_not_complete_are_refused(connect: Connect, step: Step) -> None:
    with serving(step) as server:
        with pytest.raises(ServiceError, match="bad_answer"):
            list(connect(server).experiment("wines").log())


# The two clients, and what they take.


def test_both_clients_have_the_same_methods() -> None:
    one: Any
    other: Any
    for one, other, more in [
        (Client, AsyncClient, {"__init__"}),
        (plausibly.Experiment, plausibly.AsyncExperiment, set()),
    ]:
        names = {name for name in vars(one) if not name.startswith("_")}
        assert names == {name for name in vars(other) if not name.startswith("_")}
        for name in names - {"name"} | more:
            here, there = (inspect.signature(getattr(kind, name)) for kind in (one, other))
            assert list(here.parameters.values()) == list(there.parameters.values()), name


def test_without_httpx_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(ImportError, match=r"pip install 'plausibly\[async\]'"):
        AsyncClient()


def test_httpx_is_not_imported_with_the_package() -> None:
    import subprocess

    code = "import sys, plausibly; plausibly.Client(); sys.exit('httpx' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_tables_of_all_kinds_become_the_same_rows(tmp_path: Path) -> None:
    from plausibly._service.requests import rows_of

    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    rows = [
        {"name": 'Cru, "old"', "stock": 3, "red": True},
        {"name": "Dão", "stock": 1, "red": False},
    ]
    sent = [
        {"name": 'Cru, "old"', "stock": "3", "red": "True"},
        {"name": "Dão", "stock": "1", "red": "False"},
    ]
    assert rows_of(rows) == sent == rows_of(pandas.DataFrame(rows))
    lower = [{**row, "red": row["red"].lower()} for row in sent]
    assert rows_of(polars.DataFrame(rows)) == lower
    for text in (
        "name,stock\r\nmug,3\r\n\r\n",
        "\ufeffname;stock\nmug;3\n",
        '"name","stock"\nmug,3',
    ):
        (tmp_path / "table.csv").write_bytes(text.encode())
        assert rows_of(tmp_path / "table.csv") == [{"name": "mug", "stock": "3"}]
    for text, words in [("a,a\n1,2\n", "same name"), ("a,b\n1\n", "1 cells"), ('a\n"1', "CSV")]:
        (tmp_path / "table.csv").write_text(text)
        with pytest.raises(ValueError, match=words):
            rows_of(str(tmp_path / "table.csv"))
