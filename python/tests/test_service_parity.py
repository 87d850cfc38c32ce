"""Python writes the lines that the service and the command line write for the same calls, clock and
seed: `testdata/service/parity.json` has the calls, and `parity/NAME.log` their lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

import plausibly

FOLDER = ROOT / "testdata/service"
CASES = json.loads((FOLDER / "parity.json").read_text())
BEGIN_US = 1_794_000_000_000_000
STEP = 60  # the seconds between calls, unless they say another


def outcome(call: dict[str, Any]) -> dict[str, Any]:
    """What a reward is, as arguments."""
    if "of" in call:
        return {"successes": call["successes"], "of": call["of"]}
    return {"value": call["value"]}


def carry_out(log: plausibly.Log, call: dict[str, Any], rows: list[dict[str, Any]]) -> None:
    if "decide" in call:
        batch = log.batch()
        for _ in range(call.get("count", 1)):
            batch.decide(rows, context=call["decide"])
        assert all(isinstance(answer, plausibly.Decision) for answer in batch.commit())
    elif "reward" in call:
        log.reward(call["reward"], **outcome(call))
    elif "correct" in call:
        log.correct(call["correct"], **outcome(call))
    elif "retract" in call:
        log.retract(call["retract"])
    else:
        log.drop(call.get("drop", call.get("undrop")), undo="undrop" in call)


# Python cannot begin a log with a window, nor settle or pause one.
@pytest.mark.parametrize("case", [one for one in CASES if "window" not in one["begin"]])
def test_the_lines_are_those_of_the_service(case: dict[str, Any], tmp_path: Path) -> None:
    settings = dict(case["begin"])
    rows = settings.pop("actions")
    settings.pop("context", None)
    if "outcomes" in settings:
        settings["outcomes"] = settings["outcomes"].replace("-", "/")
    now = BEGIN_US - STEP * 1_000_000
    with plausibly.Log(tmp_path / "shop.log", clock=lambda: now, **settings) as log:
        for call in case["calls"]:
            now += call.get("after", STEP) * 1_000_000
            carry_out(log, call, rows)
    golden = FOLDER / "parity" / f"{case['name']}.log"
    assert (tmp_path / "shop.log").read_bytes() == golden.read_bytes()
