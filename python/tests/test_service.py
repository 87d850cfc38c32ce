"""The clients on the real service: `plausibly serve`."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

from plausibly import AsyncClient, Client, Log, ServiceDecision, ServiceError, verify

WINES: list[dict[str, Any]] = [
    {"name": "Alba", "price": 4.5, "colour": "red", "organic": True},
    {"name": 'Boro, "dry"', "price": 8.0, "colour": "white", "organic": False},
    {"name": "Dão", "price": 1e-7, "colour": None, "organic": True},
]


@dataclass
class Service:
    """A service that runs."""

    process: subprocess.Popen[str]
    base: str
    data: Path

    def stop(self) -> None:
        """Ends it as an operator does."""
        self.process.terminate()
        try:
            self.process.wait(15)
        finally:
            self.process.kill()


def begin(command: str, data: Path) -> Service:
    process = subprocess.Popen(
        [command, "serve", "--data", str(data), "--listen", "127.0.0.1:0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    found = re.fullmatch(r"listening on (http://127\.0\.0\.1:[0-9]+)\n", line)
    if found is None:
        process.kill()
        process.wait()
        process.stdout.close()
    assert found is not None, line
    return Service(process, found[1], data)


@pytest.fixture
def service(command: str, tmp_path: Path) -> Iterator[Service]:
    looked = subprocess.run([command, "serve", "--help"], capture_output=True)
    if looked.returncode != 0:
        pytest.skip("this command has no `serve`")
    begun = begin(command, tmp_path / "data")
    yield begun
    begun.stop()
    assert begun.process.stdout is not None
    begun.process.stdout.close()


def events(lines: Any) -> list[Any]:
    """The events of a log without the names of requests, which a `Log` does not need."""
    found = [json.loads(line)["event"] for line in lines]
    for event in found:
        for name in ("key", "request"):
            event.get("decided", {}).pop(name, None)
    return found


def test_a_decision_its_outcome_and_its_certificate(service: Service) -> None:
    with Client(service.base, timeout=10) as client:
        looked = client.create("wines", WINES, context={"hour": 9}, seed=7, check=True)
        assert client.experiments() == []
        begun = client.create("wines", WINES, context={"hour": 9}, seed=7)
        assert begun["recipe"] == looked["recipe"] and begun["seed"] == 7
        experiment = client.experiment("wines")
        decision = experiment.decide({"hour": 10}, certificate=True)
        assert decision.id == 1 and not decision.repeated and decision.certificate
        verify(decision.certificate)
        again = experiment.decide({"hour": 10}, certificate=True, key=decision.key)
        assert again.repeated and (again.id, again.seq, again.hash) == (1, *line_of(decision))
        assert experiment.certificate(1) == decision.certificate
        assert client.verify(decision.certificate)["valid"]
        outcome = experiment.reward(decision, 0.5)
        assert outcome.applied and not outcome.duplicate
        assert experiment.reward(1, 0.5).duplicate
        assert experiment.decision(1)["action"] == decision.action
        with pytest.raises(ServiceError) as caught:
            experiment.reward(1, 0.25)
        assert (caught.value.status, caught.value.code) == (409, "other_reward")
        assert caught.value.stored is not None
        assert experiment.correct(1, 0.25).applied
        assert experiment.retract(1).applied
        assert experiment.retract(1).duplicate
        assert experiment.drop(1).applied
        assert experiment.drop(1, undo=True).applied
        assert experiment.about()["decisions"] == 1
        assert experiment.status() and experiment.compare("Alba", "Dão")
        assert [found["name"] for found in client.experiments()] == ["wines"]


def line_of(decision: ServiceDecision) -> tuple[int | None, str | None]:
    return decision.seq, decision.hash


def test_the_log_is_mirrored_and_verifies(service: Service, tmp_path: Path) -> None:
    with Client(service.base, timeout=10) as client:
        client.create("wines", WINES, seed=7)
        experiment = client.experiment("wines")
        for place in range(30):
            experiment.reward(experiment.decide(), place % 2)
        lines = list(experiment.log())
        assert "".join(lines).encode() == (service.data / "wines" / "log").read_bytes()
        assert list(experiment.log(11)) == lines[10:]
        mirror = tmp_path / "mirror"
        mirror.write_text("".join(lines), encoding="utf-8", newline="")
        verify(experiment.certificate(17), log=mirror)


def test_the_service_writes_the_events_that_a_log_writes(service: Service, tmp_path: Path) -> None:
    contexts = [{"hour": hour, "rate": hour / 7, "new": hour > 3} for hour in range(8)]
    with Log(tmp_path / "log", policy="code", outcomes="counts", seed=7) as log:
        for context in contexts:
            decision = log.decide(WINES, context=context)
            log.reward(decision.id, successes=3, of=5)
    with Client(service.base, timeout=10) as client:
        client.create("wines", WINES, context=contexts[0], policy="code", outcomes="counts", seed=7)
        experiment = client.experiment("wines")
        for context in contexts:
            experiment.reward(experiment.decide(context), successes=3, of=5)
        with open(tmp_path / "log", encoding="utf-8", newline="") as lines:
            assert events(experiment.log()) == events(lines)


def test_what_was_answered_is_in_the_log_at_once(service: Service) -> None:
    with Client(service.base, timeout=10) as client:
        client.create("wines", WINES, seed=7)
        experiment = client.experiment("wines")
        for _ in range(200):
            decision = experiment.decide()
            (line,) = experiment.log(decision.seq or 0)
            assert json.loads(line)["hash"] == decision.hash


def test_several_at_once(service: Service) -> None:
    with Client(service.base, timeout=10) as client:
        client.create("wines", WINES, seed=7)
        experiment = client.experiment("wines")
        asked = [{}, {"offer": ["none such"]}, {"offer": ["Alba"], "certificate": True}]
        first, refused, alba = experiment.decide_many(asked, key="all")
        assert isinstance(refused, ServiceError) and refused.status == 422
        assert isinstance(first, ServiceDecision) and isinstance(alba, ServiceDecision)
        assert alba.action == "Alba" and alba.certificate is not None
        known = experiment.decide_many(asked, key="all")
        assert [getattr(one, "id", None) for one in known] == [first.id, None, alba.id]
        done = experiment.rewards([(first, 1), {"decision": alba.id, "drop": True}, (99, 1)])
        assert [getattr(one, "applied", None) for one in done] == [True, True, None]
        assert isinstance(done[2], ServiceError) and done[2].code == "no_decision"


def test_what_is_refused(service: Service) -> None:
    with Client(service.base, timeout=10) as client:
        client.create("wines", WINES, seed=7)
        experiment = client.experiment("wines")
        for act, status, code in [
            (lambda: client.experiment("beers").decide(), 404, "no_experiment"),
            (lambda: client.create("wines", WINES), 409, "name_taken"),
            (lambda: experiment.decision(5), 404, "no_decision"),
            (lambda: experiment.decide(offer=["none"]), 422, "bad_offer"),
            (lambda: client.verify({"no": "certificate"}), 422, "bad_certificate"),
        ]:
            with pytest.raises(ServiceError) as caught:
                act()
            assert (caught.value.status, caught.value.code) == (status, code)
        assert experiment.pause()["paused"]
        with pytest.raises(ServiceError, match="paused"):
            experiment.decide()
        assert experiment.decide(default="Alba").is_default
        assert not experiment.resume()["paused"]
        assert experiment.decide(default="Alba").id == 1
        changed = experiment.actions(WINES[:2])
        assert changed["retired"] == ["Dão"] and changed["actions"] == 2
        assert experiment.delete()["moved_to"]
        assert client.experiments() == []


def test_a_default_while_the_service_is_away(service: Service, command: str) -> None:
    with Client(service.base, timeout=1.0) as client:
        client.create("wines", WINES, seed=7)
        experiment = client.experiment("wines")
        decision = experiment.decide(key="one")
        service.stop()
        missed = experiment.decide(default="Alba")
        assert missed.is_default and experiment.reward(missed, 1.0).reason == "default"
        with pytest.raises(ServiceError, match="unreachable"):
            experiment.decide()
    begun = begin(command, service.data)
    try:
        with Client(begun.base, timeout=10) as client:
            again = client.experiment("wines").decide(key="one")
            assert again.repeated and (again.id, *line_of(again)) == (1, *line_of(decision))
    finally:
        begun.stop()
        assert begun.process.stdout is not None
        begun.process.stdout.close()


def test_in_an_event_loop(service: Service) -> None:
    pytest.importorskip("httpx")

    async def work() -> None:
        async with AsyncClient(service.base, timeout=20) as client:
            await client.create("wines", WINES, seed=7)
            experiment = client.experiment("wines")
            found = await asyncio.gather(*(experiment.decide() for _ in range(50)))
            assert sorted(decision.id or 0 for decision in found) == list(range(1, 51))
            await asyncio.gather(*(experiment.reward(decision, 1) for decision in found))
            lines = [line async for line in experiment.log()]
            assert "".join(lines).encode() == (service.data / "wines" / "log").read_bytes()

    asyncio.run(work())


def test_the_guide(service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs the blocks of the guide, on the address of this service."""
    pytest.importorskip("httpx")
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs/guides/service-python.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    space: dict[str, Any] = {}
    for block in blocks:
        here = block.replace("http://127.0.0.1:8017", service.base)
        exec(compile(here, "service-python.md", "exec"), space)
    space["client"].close()
    assert len(blocks) > 8
