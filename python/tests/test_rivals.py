"""The benchmark against rivals notices different choices, and its page shows what was measured.

Tests do not measure speed.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ROOT


@pytest.fixture
def part(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Imports a module of the benchmark by name."""
    before = set(sys.modules)
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks" / "rivals"))
    yield importlib.import_module
    for name in set(sys.modules) - before:
        del sys.modules[name]


def play(part: Any, radius: str, rounds: int) -> tuple[Any, Any]:
    """A problem, and the choices of CODE in NumPy on it."""
    rng = np.random.default_rng(3)
    features = rng.uniform(-1, 1, (30, 4))
    features[17] = features[5]  # a copy: a tie wherever it is chosen
    problem = part("types").SimpleNamespace(
        dim=4,
        actions=30,
        features=features,
        means=features @ rng.standard_normal(4),
        noise=0.5 * rng.standard_normal(rounds),
        radius={
            "paper": (0, 0.5, 1e4, 1.0, 0.0, 0.05),
            "determinant": (1, 0.5, 1.0, 1.0, 2.0, 0.05),
        }[radius],
    )
    choices = np.zeros(rounds, np.int64)
    _, begin = part("vectorised").prepare("code-incremental", problem)
    begin()(choices)
    return problem, choices


@pytest.mark.parametrize("radius", ["paper", "determinant"])
def test_other_choices_are_noticed_and_ties_told_from_them(part: Any, radius: str) -> None:
    same = part("same")
    problem, choices = play(part, radius, 200)
    assert same.first_difference(choices, choices.copy()) is None
    tied = int(np.flatnonzero(np.isin(choices, (5, 17)))[0])

    def gap(at: int, instead: int) -> float:
        forged = choices.copy()
        forged[at] = instead
        assert same.first_difference(choices, forged) == at

        def root(observations: int, log_det: float) -> float:
            return float(part("contender").sqrt_beta(problem.radius, observations, log_det, 4))

        shown = (
            problem.features,
            problem.means,
            problem.noise,
            choices,
            at,
            (choices[at], instead),
            root,
            "code",
        )
        return float(same.explain(*shown))

    assert gap(tied, 22 - int(choices[tied])) < 1e-12
    widths = [
        gap(at, other)
        for at in (20, 90)
        for other in range(30)
        if other not in (choices[at], 5, 17)
    ]
    assert min(widths) > 1e-9


def test_the_page_shows_what_was_measured(part: Any, tmp_path: Path) -> None:
    row = {
        "contender": "ours:code",
        "radius": "paper",
        "size": [5, 100],
        "micros": 1.25,
        "rounds": 10,
    }
    row |= {"before_kb": 2_000, "peak_kb": 12_000, "core_share": 0.99}
    machine = {"processor": "a processor", "cores": 2, "system": "a system"}
    versions = {"rustc": "1.95.0", "python": "3.11.7", "commit": "abc1234", "numpy": "2.0.0"}
    about = {"date": "2026-01-02", "seconds": 61, "machine": machine, "versions": versions}
    results = {"command": "scripts/bench --only fixed", "repeats": 3, "quick": False, "rounds": 10}
    results["sections"] = {"fixed": {**about, "rows": [row], "same": []}}
    part("page").write(results, tmp_path)
    written = (tmp_path / "rivals.md").read_text(encoding="utf-8")
    for fact in [
        "`scripts/bench --only fixed`",
        "2026-01-02",
        "abc1234",
        "a processor",
        "numpy 2.0.0",
        "1 min 1 s",
    ]:
        assert fact in written, fact
    name = part("words").NAMES["ours:code"]
    assert f"| {name} | 1.25 |" in written  # microseconds per round
    assert f"| {name} | 12 | 10 |" in written  # megabytes


def test_a_run_of_clicks_alone_leaves_the_other_page(part: Any, tmp_path: Path) -> None:
    (tmp_path / "rivals.md").write_text("as it was", encoding="utf-8")
    part("page").write({"sections": {"clicks": {}}}, tmp_path)
    assert (tmp_path / "rivals.md").read_text(encoding="utf-8") == "as it was"


def test_the_published_page_has_the_words_of_the_benchmark(part: Any) -> None:
    """After a change of words.py, `scripts/bench --report` rewrites the pages from the last run."""
    words = part("words")
    for file, prose in (("rivals.md", words.PROSE), ("clicks.md", words.CLICKS)):
        page = (ROOT / "docs" / "benchmarks" / file).read_text(encoding="utf-8")
        for name, text in prose.items():
            assert all(line in page for line in text.splitlines() if "{" not in line), name


def test_a_target_that_was_missed_is_shown_as_missed(part: Any) -> None:
    def row(contender: str, micros: float) -> dict[str, Any]:
        return {
            "contender": contender,
            "radius": "paper",
            "size": [5, 100],
            "micros": micros,
            "rounds": 10,
        }

    def found(ours: float) -> str:
        rows = [
            row("ours:code", ours),
            row("numba:code-incremental", 3.0),
            row("numba:code-incremental-rows", 2.5),
        ]
        text: str = part("page").targets_part(
            {"fixed": {"rows": rows, "same": [], "date": "", "seconds": 0}}
        )
        return next(
            line
            for line in text.splitlines()
            if "as shipped" in line and "numba incremental" in line
        )

    assert "| 1.80 |" in found(2.5 / 1.8)  # by the faster of the two, and just enough
    assert "| **1.79** |" in found(1.4)
