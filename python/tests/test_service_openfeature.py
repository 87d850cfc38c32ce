"""The provider of OpenFeature's remote protocol decides, as the guide to the service shows."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import ROOT
from services import Service

api = pytest.importorskip("openfeature.api", reason="openfeature-sdk is not installed")
ofrep = pytest.importorskip(
    "openfeature.contrib.provider.ofrep", reason="openfeature-provider-ofrep is not installed"
)
from openfeature.evaluation_context import EvaluationContext
from openfeature.exception import ErrorCode
from openfeature.flag_evaluation import Reason

LETTERS = {
    "name": "letters",
    "seed": 7,
    "context": {"device": "phone"},
    "actions": [{"name": "short", "words": 60}, {"name": "long", "words": 400}],
}


@pytest.fixture
def service(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    monkeypatch.setenv("NO_PROXY", "*")
    with Service(command, tmp_path / "data") as service:
        assert service.ask("POST", "/v1/experiments", LETTERS)[0] == 201
        yield service
    api.shutdown()


def test_the_snippet_of_the_guide_decides(service: Service) -> None:
    guide = (ROOT / "docs/guides/service.md").read_text()
    snippet = re.search(r"```python file=flag.py\n(.*?)```", guide, re.DOTALL)
    assert snippet
    program = snippet[1].replace("http://127.0.0.1:8017", service.address)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    value, reason, decision = done.stdout.split()
    _, past = service.ask("GET", f"/v1/experiments/letters/decisions/{decision}")
    assert past["action"] == value and reason == "SPLIT"
    assert past["context"] == {"device": "phone"}


def test_a_decision_gets_its_reward_by_the_number_in_the_metadata(service: Service) -> None:
    api.set_provider(ofrep.OFREPProvider(service.address))
    client = api.get_client()
    for visitor in range(5):
        # The experiment has no feature `country`, so that is left out.
        context = EvaluationContext(f"visitor {visitor}", {"device": "phone", "country": "NZ"})
        flag = client.get_string_details("letters", "none", context)
        assert flag.error_code is None and flag.variant == flag.value in {"short", "long"}
        place = f"/v1/experiments/letters/decisions/{flag.flag_metadata['decision']}"
        assert service.ask("PUT", f"{place}/reward", {"value": 0.5})[0] == 200
        assert service.ask("GET", place)[1]["context"] == {"device": "phone"}
    assert service.ask("GET", "/v1/experiments/letters")[1]["decisions"] == 5


def test_without_an_experiment_or_a_service_there_is_the_default(service: Service) -> None:
    api.set_provider(ofrep.OFREPProvider(service.address))
    flag = api.get_client().get_string_details("posters", "none")
    assert (flag.value, flag.reason) == ("none", Reason.ERROR)
    assert flag.error_code == ErrorCode.FLAG_NOT_FOUND
    assert service.ask("POST", "/v1/experiments/letters/pause", {})[0] == 200
    flag = api.get_client().get_string_details("letters", "none")
    assert (flag.value, flag.reason) == ("none", Reason.ERROR)
    # Nothing listens at port 1.
    api.set_provider(ofrep.OFREPProvider("http://127.0.0.1:1"))
    flag = api.get_client().get_string_details("letters", "none")
    assert (flag.value, flag.reason) == ("none", Reason.ERROR)


def test_the_key_goes_into_the_headers(service: Service) -> None:
    key = service.add_key("flags", "decide")
    api.set_provider(ofrep.OFREPProvider(service.address))
    flag = api.get_client().get_string_details("letters", "none")
    assert flag.value == "none"
    headers = {"Authorization": f"Bearer {key}"}
    api.set_provider(ofrep.OFREPProvider(service.address, headers_factory=lambda: headers))
    flag = api.get_client().get_string_details("letters", "none")
    assert flag.value in {"short", "long"}
