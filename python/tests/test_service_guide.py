"""Every command of the pages about the service runs as printed."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import guides
import pytest
from conftest import ROOT


def curls(page: str) -> int:
    """The commands with `curl` in the fences of a page."""
    lines = [line for fence in page.split("```")[1::2] for line in fence.splitlines()]
    # Those that the service prints at its start are indented, and are run below.
    return sum("curl " in line and not line.startswith("  curl") for line in lines)


@pytest.mark.parametrize("page", ["README.md", "docs/guides/service.md"])
def test_every_curl_runs_as_printed(page: str, command: str, tmp_path: Path) -> None:
    for program in ["jq", "openssl"] if page.startswith("docs") else []:
        if not shutil.which(program):
            pytest.skip(f"the commands of the page need {program}, which is not installed")
    desk = guides.Desk(command, tmp_path)
    # Earlier versions wrote this log, which the guide upgrades.
    shutil.copy(ROOT / "testdata/service/format-1.log", desk.folder / "old.log")
    ran = guides.replay(ROOT / page, desk)
    assert sum("curl " in line for line in ran) == curls((ROOT / page).read_text()) > 2


@pytest.mark.parametrize("keys", [False, True])
def test_the_first_steps_that_the_service_prints_run(
    keys: bool, command: str, tmp_path: Path
) -> None:
    desk = guides.Desk(command, tmp_path)
    if keys:
        desk.run("plausibly key add me --role admin --data decisions > me.key 2> /dev/null", "")
    try:
        said = desk.run("plausibly serve --data decisions", "\n" * 6)
        steps = re.findall(r"^  (curl (?:.*\\\n)*.*)", said, re.MULTILINE)
        assert len(steps) == 2, said
        for step in steps:
            step = f'KEY="$(cat me.key)"; {step}' if keys else step
            answer = json.loads(desk.run(step, ""))
            assert answer.get("name") == "mugs" or answer.get("decision") == 1, answer
    finally:
        desk.close()
