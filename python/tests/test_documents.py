"""Runs the examples of the documentation as printed."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest
from conftest import ROOT

import plausibly
from plausibly import _explanation, _log, _policies, _reproduce, _rows, _simulate, _sweep, _tables
from plausibly._service import requests
from plausibly.compat import _learning_policies, mabwiser

MODULES = [
    plausibly,
    _explanation,
    _learning_policies,
    _log,
    _policies,
    _reproduce,
    _rows,
    _simulate,
    _sweep,
    _tables,
    mabwiser,
    requests,
]


@pytest.mark.parametrize("module", MODULES)
def test_docstrings(module: object) -> None:
    failed, tried = doctest.testmod(module, optionflags=doctest.IGNORE_EXCEPTION_DETAIL)  # type: ignore[arg-type]
    assert tried > 0 and failed == 0


def test_docstrings_of_the_compiled_part() -> None:
    runner = doctest.DocTestRunner()
    parser = doctest.DocTestParser()
    for thing in (plausibly.ActionSet, plausibly.ActionSet.arms, plausibly.Policy.partial_fit):
        example = parser.get_doctest(thing.__doc__ or "", {}, repr(thing), None, None)
        assert example.examples
        assert runner.run(example).failed == 0


def test_everything_public_is_documented() -> None:
    for name in plausibly.__all__:
        thing = getattr(plausibly, name)
        members = [thing, *(vars(thing).values() if isinstance(thing, type) else [])]
        for member in members:
            if callable(member) and not getattr(member, "__name__", "_").startswith("_"):
                assert member.__doc__, (name, member)


PAGES = [
    "README.md",
    "crates/plausibly-py/README.md",
    "docs/guides/coming-from-contextualbandits.md",
    "docs/guides/coming-from-mabwiser.md",
    "docs/guides/coming-from-vw.md",
    "docs/guides/python.md",
    "docs/guides/sweeps.md",
    "docs/guides/yes-no.md",
]


@pytest.mark.parametrize("page", PAGES)
def test_pages(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Runs the Python blocks of a page, and compares what they print with the text blocks."""
    monkeypatch.chdir(tmp_path)
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = re.findall(r"```(python|text)\n(.*?)```", text, flags=re.DOTALL)
    space: dict[str, object] = {}
    ran, printed = 0, None
    for kind, block in blocks:
        if kind == "python":
            exec(compile(block, page, "exec"), space)
            printed, ran = capsys.readouterr().out, ran + 1
        elif printed is not None:
            assert printed == block
            printed = None
    assert ran > 0


@pytest.mark.parametrize("library", ["contextualbandits", "vw"])
def test_what_people_write_elsewhere(library: str) -> None:
    """Runs a guide's code for another library, if it is installed; these blocks are `py`, not
    `python`.
    """
    pytest.importorskip({"vw": "vowpalwabbit"}.get(library, library))
    page = f"docs/guides/coming-from-{library}.md"
    (block,) = re.findall(
        r"```py\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), flags=re.DOTALL
    )
    exec(compile(block, page, "exec"), {})
