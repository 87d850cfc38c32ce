"""Comparisons: the command's bytes, columns, progress, and Ctrl-C."""

from __future__ import annotations

import csv
import io
import os
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ROOT

from plausibly import simulate

SPEC: dict[str, Any] = {
    "name": 'quoted, "twice"',
    "seed": 3,
    "runs": 6,
    "horizon": 300,
    "environment": {"kind": "linear", "dim": 3, "actions": 10, "noise": 0.5},
    "policy": [
        {"kind": "code"},
        {"kind": "lin-ucb", "label": "LinUCB, narrow", "radius": {"kind": "fixed", "sqrt_beta": 1}},
        {"kind": "epsilon-greedy"},
    ],
}
TEXT = """
name = 'quoted, "twice"'
seed = 3
runs = 6
horizon = 300
environment = { kind = "linear", dim = 3, actions = 10, noise = 0.5 }
policy = [
    { kind = "code" },
    { kind = "lin-ucb", label = "LinUCB, narrow", radius = { kind = "fixed", sqrt_beta = 1 } },
    { kind = "epsilon-greedy" },
]
"""
ENDLESS: dict[str, Any] = {**SPEC, "runs": 10**6, "horizon": 10**6}


@pytest.mark.parametrize("name", ["compare", "k-armed", "changing", "randomised"])
def test_the_bytes_are_those_of_the_command(name: str, command: str, tmp_path: Path) -> None:
    spec = ROOT / f"examples/{name}.toml"
    flags = ["--runs", "3", "--seed", "9", "--quiet", "--out", str(tmp_path)]
    subprocess.run([command, "simulate", str(spec), *flags], check=True, capture_output=True)
    written = (tmp_path / "summary.csv").read_bytes()
    assert simulate(spec, runs=3, seed=9).csv.encode() == written
    assert simulate(str(spec), runs=3, seed=9, threads=1).csv.encode() == written


def test_a_dict_is_the_same_as_its_text_on_any_number_of_threads() -> None:
    expected = simulate(TEXT).csv
    for threads in (1, 2, 5):
        assert simulate(SPEC, threads=threads).csv == expected
    assert simulate(SPEC, seed=4).csv != expected


def test_columns_hold_what_the_csv_holds() -> None:
    result = simulate(SPEC)
    rows = list(csv.DictReader(io.StringIO(result.csv)))
    assert [row["policy"] for row in rows] == list(result["policy"])
    assert {row["experiment"] for row in rows} == {result.name} == {SPEC["name"]}
    for name in set(result.columns) - {"policy"}:
        assert isinstance(result[name], np.ndarray)
        assert [float(row[name]) for row in rows] == result[name].tolist()
    last = result.final()
    assert (
        [row["policy"] for row in last]
        == result.policies
        == ["code", "LinUCB, narrow", "epsilon-greedy"]
    )
    assert all(row["round"] == 300 and 0 <= row["theta_star_left"] <= 1 for row in last)
    assert "LinUCB, narrow" in repr(result) and "quoted, &quot;twice&quot;" in result._repr_html_()


def test_a_single_run_has_no_standard_error() -> None:
    result = simulate(SPEC, runs=1)
    assert np.isnan(result["regret_se"]).all() and not np.isnan(result["regret_mean"]).any()


def test_frames() -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("polars")
    result = simulate(SPEC)
    for frame in (result.to_pandas(), result.to_polars()):
        assert list(frame.columns) == list(result.columns)
        assert frame["regret_mean"].to_numpy().tolist() == result["regret_mean"].tolist()


def test_a_plot_has_a_line_for_every_policy() -> None:
    pytest.importorskip("matplotlib")
    figure = simulate(SPEC).plot()
    assert [len(axes.get_lines()) for axes in figure.axes] == [3, 3]
    page = io.BytesIO()
    figure.savefig(page, format="svg")
    assert page.getvalue()


def test_progress_comes_to_its_end() -> None:
    heard: list[tuple[int, int]] = []
    simulate(SPEC, progress=lambda done, total: heard.append((done, total)))
    assert heard[-1] == (1800, 1800) and heard == sorted(heard)


def test_a_bar_by_tqdm(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tqdm")
    simulate(SPEC, progress=True)
    assert "rounds" in capsys.readouterr().err


def test_what_progress_raises_stops_the_run() -> None:
    def refuse(done: int, total: int) -> None:
        raise LookupError("enough")

    begun = time.monotonic()
    with pytest.raises(LookupError, match="enough"):
        simulate(ENDLESS, progress=refuse)
    assert time.monotonic() - begun < 10


def test_ctrl_c_stops_it() -> None:
    # A background job starts with the signal ignored, and Python then installs no handler.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    begun = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            simulate(ENDLESS)
    finally:
        signal.signal(signal.SIGINT, before)
    assert time.monotonic() - begun < 10


def test_other_threads_run_meanwhile() -> None:
    stop, counted = threading.Event(), 0

    def count() -> None:
        nonlocal counted
        while not stop.is_set():
            counted += 1
            time.sleep(0.001)

    def enough(done: int, total: int) -> None:
        if counted > 50:
            raise StopAsyncIteration

    counter = threading.Thread(target=count)
    counter.start()
    try:
        with pytest.raises(StopAsyncIteration):
            simulate(ENDLESS, progress=enough)
    finally:
        stop.set()
        counter.join()


def test_problems_of_text_have_lines_and_those_of_a_dict_have_paths() -> None:
    with pytest.raises(ValueError, match="line 5: horizn: unknown field .did you mean horizon"):
        simulate(TEXT.replace("horizon", "horizn"))
    with pytest.raises(ValueError, match=r"^policy\[1\].kind: .*did you mean code"):
        simulate({**SPEC, "policy": [{"kind": "coed"}]})
