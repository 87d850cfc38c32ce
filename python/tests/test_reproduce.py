"""The paper's experiments and data sets: the command's bytes, and messages for missing data."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ROOT

from plausibly import Reproduction, fetch_data, reproduce, simulate, sweep

MIRROR = ROOT / ".." / "shared" / "data"


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache with all data sets, if there is a mirror of them."""
    if not (MIRROR / "ml-1m.zip").exists():
        pytest.skip("no mirror of the data sets in ../shared/data")
    folder = tmp_path_factory.mktemp("cache")
    fetch_data("heart", cache=folder, mirror=MIRROR)
    fetch_data(cache=folder, mirror=MIRROR, accept_licence=True)
    return folder


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def assert_same(found: Reproduction, command: str, flags: list[str], tmp_path: Path) -> None:
    subprocess.run(
        [command, "reproduce", *flags, "--quiet", "--out", str(tmp_path / "command")],
        check=True,
        capture_output=True,
    )
    found.save(tmp_path / "python")
    theirs, ours = files(tmp_path / "command"), files(tmp_path / "python")
    manifests = [json.loads(one.pop("manifest.json")) for one in (theirs, ours)]
    assert ours == theirs
    manifests[0].pop("timings")
    assert manifests[0] == manifests[1] == found.manifest
    assert found.csv.encode() == theirs["summary.csv"]


def test_the_bytes_are_those_of_the_command(command: str, tmp_path: Path) -> None:
    flags = ["linear", "k-armed", "--runs", "3", "--seed", "5", "--cache", str(tmp_path / "empty")]
    assert_same(
        reproduce(["linear", "k-armed"], runs=3, seed=5, threads=1, cache=tmp_path / "empty"),
        command,
        flags,
        tmp_path,
    )


def test_the_bytes_of_experiments_on_data_are_those_of_the_command(
    command: str, cache: Path, tmp_path: Path
) -> None:
    flags = ["heart", "--runs", "2", "--reading", "literal", "--cache", str(cache)]
    found = reproduce("heart", runs=2, reading="literal", cache=cache)
    assert_same(found, command, flags, tmp_path)
    assert found.experiments == ["heart"] and "heart-survival" in found.results


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Reproduction:
    """Everything that runs without data."""
    return reproduce(quick=True, runs=2, cache=tmp_path_factory.mktemp("empty"))


def test_columns_and_frames(small: Reproduction) -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("polars")
    assert small.experiments == ["linear", "changing", "k-armed"]
    rows = list(csv.DictReader(io.StringIO(small.csv)))
    assert [(row["experiment"], row["policy"]) for row in rows] == list(
        zip(small.columns["experiment"], small.columns["policy"])
    )
    for frame in (small.to_pandas(), small.to_polars()):
        assert list(frame.columns) == list(small.columns)
        assert frame["regret_mean"].to_numpy().tolist() == [
            float(row["regret_mean"]) for row in rows
        ]
    # Every number follows from its spec.
    assert simulate(small.specs["linear-ruler"]).csv == small["linear-ruler"].csv
    assert isinstance(small["k-armed"]["regret_mean"], np.ndarray)


def test_claims_and_words(small: Reproduction) -> None:
    assert [claim["claim"] for claim in small.claims if claim["experiment"] == "linear"] == [
        "a",
        "b",
        "c",
        "d",
        "e",
    ]
    assert {claim["verdict"] for claim in small.claims} <= {"holds", "does not hold", "undecided"}
    shown = repr(small)
    assert (
        shown.startswith("claims of the paper: 10 (")
        and "(d) CODE has the lowest model error." in shown
    )
    assert (
        'skipped wine: Its data is not in the cache. `plausibly.fetch_data("wine")` gets it.'
        in shown
    )
    assert [one["study"] for one in small.skipped] == ["movielens", "wine", "heart"]
    assert "<td>changing</td>" in small._repr_html_()
    assert "theory-linear" in small.manifest["theory"] and "theory-linear" in small.specs
    assert repr(reproduce("k-armed", runs=1)).startswith("claims of the paper: 0 (")


def test_the_figures_of_the_paper(small: Reproduction) -> None:
    pytest.importorskip("matplotlib")
    figure = small.plot()
    panels = [axes for part in figure.subfigs for axes in part.axes]
    assert [len(axes.get_lines()) for axes in panels] == [6] * 6
    page = io.BytesIO()
    small.plot("linear-readings").savefig(page, format="svg")
    assert page.getvalue()
    with pytest.raises(KeyError, match="there is no result 'iris'; there are linear, "):
        small.plot("iris")


def test_environments_from_data_sets(
    command: str, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for kind in ("movielens", "wine", "heart"):
        text = (
            f'runs = 2\nhorizon = 50\n[environment]\nkind = "{kind}"\n[[policy]]\nkind = "code"\n'
        )
        path = tmp_path / "spec.toml"
        path.write_text(text)
        flags = ["--cache", str(cache), "--quiet", "--out", str(tmp_path)]
        subprocess.run([command, "simulate", str(path), *flags], check=True, capture_output=True)
        assert simulate(path, cache=cache).csv.encode() == (tmp_path / "summary.csv").read_bytes()
    monkeypatch.setenv("PLAUSIBLY_DATA", str(cache))
    assert simulate(path).csv.encode() == (tmp_path / "summary.csv").read_bytes()


def test_a_data_set_is_read_once_for_any_number_of_specs(cache: Path, tmp_path: Path) -> None:
    spec: dict[str, Any] = {
        "runs": 2,
        "horizon": 20,
        "environment": {"kind": "movielens"},
        "policy": [{"kind": "code"}],
    }
    shutil.copytree(cache, tmp_path / "cache")
    simulate(spec, cache=tmp_path / "cache")
    shutil.rmtree(tmp_path / "cache")
    # Also the factors, which are cached although every setting has another noise.
    result = sweep(spec, {"environment.noise": [0.1, 0.2, 0.3]}, cache=tmp_path / "cache")
    assert (
        result.csv
        == sweep(
            spec, {"environment.noise": [0.1, 0.2, 0.3]}, engine="processes", workers=1, cache=cache
        ).csv
    )


def test_data_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PLAUSIBLY_MIRROR", raising=False)
    with pytest.raises(
        FileNotFoundError,
        match=r'the data of wine is not in the cache; `plausibly.fetch_data\("wine"\)` gets it',
    ):
        reproduce("wine", cache=tmp_path)
    spec = {"environment": {"kind": "heart"}, "policy": [{"kind": "code"}]}
    with pytest.raises(
        ValueError,
        match=r"environment.kind: .*the data set heart is not in the cache; "
        r'`plausibly.fetch_data\("heart"\)`',
    ):
        simulate(spec, cache=tmp_path)
    with pytest.raises(
        PermissionError, match="movielens has a licence to accept .*GroupLens.*accept_licence=True"
    ):
        fetch_data("movielens", cache=tmp_path)
    assert files(tmp_path) == {}


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: reproduce("iris"),
            ValueError,
            'experiments: there is no experiment "iris"; there are linear, .*delay',
        ),
        (lambda: reproduce(["linear", 5]), TypeError, "experiments: expected names"),  # type: ignore[list-item]
        (
            lambda: reproduce("delay", reading="literal"),
            ValueError,
            "experiments: the delay study has no literal reading",
        ),
        (lambda: reproduce(reading="other"), ValueError, "reading: expected"),
        (lambda: reproduce(runs=0), ValueError, "runs: 0 is out of range"),
        (lambda: reproduce(runs=10**12), ValueError, "runs: "),
        (lambda: reproduce(seed=-1), ValueError, "seed: -1 is out of range"),
        (lambda: reproduce(seed=1.5), TypeError, "seed: expected a whole number"),  # type: ignore[arg-type]
        (lambda: reproduce(threads=0), ValueError, "threads: "),
        (lambda: reproduce(cache=5), TypeError, "cache: expected a path"),  # type: ignore[arg-type]
        (lambda: fetch_data("iris"), ValueError, 'names: there is no data set "iris"; there are'),
        (lambda: fetch_data(5), TypeError, ""),  # type: ignore[arg-type]
    ],
)
def test_what_is_refused(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message or "."):
        call()


def test_progress_and_ctrl_c() -> None:
    heard: list[tuple[int, int]] = []
    reproduce("linear", runs=1, progress=lambda *now: heard.append(now))
    assert heard == sorted(heard) and heard[-1][0] == heard[-1][1] > 0
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    begun = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            reproduce("linear", runs=100_000)
    finally:
        signal.signal(signal.SIGINT, before)
    assert time.monotonic() - begun < 10


@pytest.fixture
def slow_server() -> Iterator[str]:
    """A mirror that sends a part of an archive and then nothing."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", "50000")
            self.end_headers()
            self.wfile.write(b"x" * 1000)
            self.wfile.flush()
            ended.wait(60)

        def log_message(self, *_: object) -> None:
            pass

    ended = threading.Event()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    ended.set()
    server.shutdown()
    server.server_close()


def test_a_download_shows_how_far_it_is_and_stops_at_ctrl_c(
    slow_server: str, tmp_path: Path
) -> None:
    heard: list[tuple[int, int | None]] = []
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
    begun = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            fetch_data(
                "wine", cache=tmp_path, mirror=slow_server, progress=lambda *now: heard.append(now)
            )
    finally:
        signal.signal(signal.SIGINT, before)
    assert time.monotonic() - begun < 5
    assert heard[-1] == (1000, 50000)
    assert 1000 in [len(content) for content in files(tmp_path).values()], (
        "what came is kept for the next time"
    )


def test_what_progress_raises_ends_a_download(slow_server: str, tmp_path: Path) -> None:
    def refuse(done: int, total: int | None) -> None:
        raise LookupError(f"{done} is enough")

    with pytest.raises(LookupError, match="is enough"):
        fetch_data("heart", cache=tmp_path, mirror=slow_server, progress=refuse)
