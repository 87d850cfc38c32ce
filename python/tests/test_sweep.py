"""Sweeps: the same table for all engines, after lost workers, and after interruptions."""

from __future__ import annotations

import csv
import io
import os
import random
import re
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ROOT
from sweeps import GRID, SLOW, SPEC, Killer, children

from plausibly import __version__, _core, simulate, sweep
from plausibly._sweep import engines, worker
from plausibly._sweep.jobs import Job
from plausibly._sweep.settings import Setting

WORKER = "plausibly._sweep.worker"


@pytest.fixture(scope="module")
def expected() -> str:
    return sweep(SPEC, GRID, workers=1).csv


@pytest.mark.parametrize(
    ("engine", "workers", "task_runs"),
    [
        ("threads", 1, 1),
        ("threads", 3, 2),
        ("threads", 7, None),
        ("processes", 1, 4),
        ("processes", 2, 3),
        ("processes", 3, 11),
    ],
)
def test_the_table_is_the_same_whatever_plays_it(
    engine: str, workers: int, task_runs: int | None, expected: str
) -> None:
    assert sweep(SPEC, GRID, engine=engine, workers=workers, task_runs=task_runs).csv == expected


def test_every_setting_is_what_simulate_gives_alone(expected: str) -> None:
    result = sweep(SPEC, GRID, task_runs=3)
    assert result.csv == expected
    rows = iter(result.rows)
    for values, swept in zip(result.settings, result.results, strict=True):
        policies = [{**SPEC["policy"][0], "greed": values["policy[1].greed"]}, SPEC["policy"][1]]
        spec = {
            **SPEC,
            "environment": {**SPEC["environment"], "dim": values["environment.dim"]},
            "policy": policies,
        }
        alone = simulate(spec)
        assert swept.csv == alone.csv
        for final in alone.final():
            row = next(rows)
            assert {name: row[name] for name in values} == values
            assert (
                row["policy"] == final["policy"]
                and row["horizon"] == final["round"]
                and row["runs"] == 11
            )
            for name in (
                "regret_mean",
                "regret_se",
                "model_error_mean",
                "model_error_se",
                "plausible_mean",
                "theta_star_left",
            ):
                assert row[name] == final[name]
    assert next(rows, None) is None


def test_specs_of_any_form_and_the_same_one_twice(tmp_path: Path) -> None:
    text = (
        'runs = 2\nhorizon = 50\n[environment]\nkind = "k-armed"\nactions = '
        '3\n[[policy]]\nkind = "ucb1"\n'
    )
    path = tmp_path / "spec.toml"
    path.write_text(text)
    heard: list[tuple[int, int]] = []
    result = sweep([text, path, str(path), SPEC], progress=lambda *now: heard.append(now))
    assert len(result) == 4 and result.settings == [{}] * 4
    assert [r.csv for r in result.results] == [simulate(text).csv] * 3 + [simulate(SPEC).csv]
    # Run once: rounds of the same spec do not count again.
    assert heard[-1] == (2 * 50 + 11 * 200,) * 2
    assert len(sweep(path)) == 1
    assert sweep(path, {"environment.actions": np.array([3, 4])})[
        "environment.actions"
    ].tolist() == [3, 4]


def test_what_a_grid_can_hold() -> None:
    grid = {
        "policy[2]": [{"kind": "lin-ucb"}, {"kind": "lin-ts"}],
        "policy[1].radius": [None, {"kind": "fixed", "sqrt_beta": 1}],
        "metric.ridge": [1, 2.5],
        "runs": range(1, 3),
        "name": ["a,b"],
    }
    result = sweep(SPEC, grid)
    assert len(result) == 16
    # The last path changes fastest.
    assert result["runs"].tolist()[:6] == [1, 1, 2, 2, 1, 1]
    assert result["metric.ridge"].dtype == np.float64 and result["policy[1].radius"][0] == "null"
    assert [row["policy"] for row in result.rows[:2]] == ["CODE", "lin-ucb"]
    rows = list(csv.DictReader(io.StringIO(result.csv)))
    assert (
        rows[0]["name"] == "a,b" and rows[0]["regret_se"] == "" and float(rows[2]["regret_se"]) > 0
    )
    assert [float(row["regret_mean"]) for row in rows] == result["regret_mean"].tolist()


def test_frames_and_files_and_words(tmp_path: Path, expected: str) -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("polars")
    result = sweep(SPEC, GRID)
    for frame in (result.to_pandas(), result.to_polars()):
        assert list(frame.columns) == list(result.columns)
        assert frame["regret_mean"].to_numpy().tolist() == result["regret_mean"].tolist()
    result.to_csv(tmp_path / "table.csv")
    assert (tmp_path / "table.csv").read_text() == expected
    assert repr(result).startswith(
        "sweep of 4 settings, 44 runs\nenvironment.dim  policy[1].greed  policy "
    )
    assert "<td>epsilon-greedy</td>" in result._repr_html_()
    assert repr(sweep(SPEC, {"seed": range(50)})).endswith("and 80 more rows")
    assert "swept, twice" in repr(sweep([SPEC]))


@pytest.mark.parametrize("path", ["seed", "runs", "horizon", "name"])
def test_every_swept_column_is_shown(path: str) -> None:
    values = ["one", "other"] if path == "name" else [11, 12]
    result = sweep(SPEC, {path: values})
    heading, columns, *rows = repr(result).splitlines()
    assert path in columns.split() and f"<th>{path}</th>" in result._repr_html_()
    place = columns.split().index(path)
    assert {row.split()[place] for row in rows} == {str(value) for value in values}
    assert path in result.to_pandas().columns and path in result.to_polars().columns
    listed = sweep([{**SPEC, path: value} for value in values])
    assert path in repr(listed).splitlines()[1].split()


# Workers that die.


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="finds its victims in /proc")
def test_a_killed_process_costs_nothing_but_time() -> None:
    killer = Killer(os.getpid(), WORKER, times=3)
    result = sweep(SLOW, engine="processes", workers=2, task_runs=1, progress=killer)
    assert len(set(killer.killed)) == 3, "three different processes died"
    assert result.csv == sweep(SLOW).csv
    assert killer.heard[-1] == (24 * 20_000,) * 2 and killer.heard == sorted(killer.heard)
    assert children(os.getpid(), WORKER) == []


def test_a_range_that_kills_every_worker_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    born: list[engines.Child] = []

    class Doomed(engines.Child):
        """Exits when it gets run 5, which can happen only once."""

        def __init__(self) -> None:
            super().__init__()
            born.append(self)

        def play(self, task: engines.Task) -> bytes:
            if task.first <= 5 < task.end:
                self._process.kill()
            return super().play(task)

    monkeypatch.setattr(engines, "Child", Doomed)
    with pytest.raises(
        RuntimeError,
        match=r"^runs 4 to 7 of setting 0 \(seed = 9\): the worker was lost 3 times.*status",
    ):
        sweep(SPEC, {"seed": [9]}, engine="processes", workers=1, task_runs=4)
    assert len(born) == 3


def test_two_losses_of_every_range_are_borne(
    monkeypatch: pytest.MonkeyPatch, expected: str
) -> None:
    lost: dict[tuple[str, int], int] = {}

    class Frail(engines.Child):
        def play(self, task: engines.Task) -> bytes:
            lost[task.key, task.first] = lost.get((task.key, task.first), 0) + 1
            if lost[task.key, task.first] <= 2:
                self._process.kill()
            return super().play(task)

    monkeypatch.setattr(engines, "Child", Frail)
    assert sweep(SPEC, GRID, engine="processes", workers=2, task_runs=6).csv == expected
    assert set(lost.values()) == {3} and len(lost) == 8


def test_what_goes_wrong_in_a_task_is_told_with_its_setting() -> None:
    spec = {**SPEC, "policy": [{"kind": "code", "radius": {"kind": "paper"}}]}
    for engine in ("threads", "processes"):
        with pytest.raises(
            ValueError,
            match=r"^runs 0 to 10 of setting 1 \(environment.dim = 1\): .*cannot be built",
        ):
            sweep(spec, {"environment.dim": [2, 1]}, engine=engine, workers=2)
    with pytest.raises(
        RuntimeError,
        match=f"this worker has plausibly {__version__}, and the sweep was started by 0.0.0",
    ):
        worker.play("{}", 0, 1, "0.0.0", None)


def test_processes_need_no_guard_in_a_script(tmp_path: Path, expected: str) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        f"from plausibly import sweep\nprint(sweep({SPEC!r}, {GRID!r}, engine='processes', "
        "workers=2).csv, end='')\n"
    )
    told = subprocess.run([sys.executable, script], check=True, capture_output=True, text=True)
    assert told.stdout == expected


def test_the_example_runs() -> None:
    command = [
        sys.executable,
        ROOT / "examples/sweep.py",
        "--runs",
        "2",
        "--horizon",
        "5",
        "--workers",
        "2",
    ]
    told = [
        subprocess.run(
            [*command, "--engine", engine], check=True, capture_output=True, text=True
        ).stdout
        for engine in ("threads", "processes")
    ]
    assert all(text.startswith("1000 settings on ") for text in told)
    assert len({re.search("table [0-9a-f]{16}", text)[0] for text in told}) == 1  # type: ignore[index]


def test_without_ray_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(
        ImportError, match=r'engine: "ray" needs the package ray; pip install "plausibly\[ray\]"'
    ):
        sweep(SPEC, engine="ray")


# Folders.


class Enough(Exception):
    """Raised by progress to interrupt a sweep."""


def leave_off(out: Path, rounds: int, **how: Any) -> None:
    def tell(done: int, total: int) -> None:
        if done >= rounds:
            raise Enough

    with pytest.raises(Enough):
        sweep(SPEC, GRID, out=out, progress=tell, **how)


def parts(out: Path) -> list[Path]:
    return sorted((out / "parts").glob("*.part"))


@pytest.mark.parametrize("engine", ["threads", "processes"])
def test_a_sweep_goes_on_where_it_was_left_off(engine: str, tmp_path: Path, expected: str) -> None:
    leave_off(tmp_path, 2500, engine="threads", workers=1, task_runs=3)
    kept = {path.name: path.read_bytes() for path in parts(tmp_path)}
    assert len(kept) == 5 and not (tmp_path / "sweep.csv").exists()
    heard: list[tuple[int, int]] = []
    # Other tasks than before: finished ranges are used as far as they fit.
    again = sweep(
        SPEC,
        GRID,
        engine=engine,
        workers=2,
        task_runs=4,
        out=tmp_path,
        progress=lambda *now: heard.append(now),
    )
    assert heard[0] == (2800, 8800) and heard[-1] == (8800, 8800)
    assert again.csv == expected == (tmp_path / "sweep.csv").read_text()
    assert all(
        (tmp_path / "parts" / name).read_bytes() == contents for name, contents in kept.items()
    )
    # Once more, with nothing left to run.
    heard.clear()
    assert sweep(SPEC, GRID, out=tmp_path, progress=lambda *now: heard.append(now)).csv == expected
    assert heard == [(8800, 8800)]
    assert not list((tmp_path / "parts").glob(".*"))


def test_damaged_and_foreign_files_are_told_of_and_played_again(
    tmp_path: Path, expected: str
) -> None:
    sweep(SPEC, GRID, out=tmp_path, task_runs=4)
    rng = random.Random(5)
    for trial in range(40):
        path = rng.choice(parts(tmp_path))
        whole = path.read_bytes()
        damaged = bytearray(whole)
        place = rng.randrange(len(whole))
        if trial % 4 == 0:
            damaged = damaged[:place]
        elif trial % 4 == 1:
            damaged += b"\0"
        else:
            # Changes any byte, also in the header.
            damaged[place] ^= rng.randrange(1, 256)
        path.write_bytes(damaged)
        with pytest.warns(RuntimeWarning, match=f"{path.name}: .*; its runs are repeated"):
            assert sweep(SPEC, GRID, out=tmp_path, task_runs=4).csv == expected
        assert path.read_bytes() == whole
    other = parts(tmp_path)
    other[0].write_bytes(other[-1].read_bytes())
    with pytest.warns(RuntimeWarning, match="of another sweep, or of another version"):
        assert sweep(SPEC, GRID, out=tmp_path, task_runs=4).csv == expected


def test_what_is_not_of_this_sweep_is_left_alone(
    tmp_path: Path, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep({**SPEC, "seed": 4}, GRID, out=tmp_path)
    monkeypatch.setattr(_core, "__version__", "0.0.9")
    sweep(SPEC, GRID, out=tmp_path)
    monkeypatch.undo()
    (tmp_path / "parts" / "notes.txt").write_text("mine")
    before = parts(tmp_path)
    heard: list[tuple[int, int]] = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (
            sweep(SPEC, GRID, out=tmp_path, progress=lambda *now: heard.append(now)).csv == expected
        )
    assert heard[0][0] == 0, "what another version played is not this one's"
    assert set(before) < set(parts(tmp_path)) and (tmp_path / "parts" / "notes.txt").exists()


def test_ranges_that_overlap_count_once(tmp_path: Path, expected: str) -> None:
    # The files of two concurrent sweeps with different tasks in one folder.
    sweep(SPEC, GRID, out=tmp_path / "a", task_runs=3)
    sweep(SPEC, GRID, out=tmp_path / "b", task_runs=5)
    for path in parts(tmp_path / "b"):
        path.rename(tmp_path / "a" / "parts" / path.name)
    assert sweep(SPEC, GRID, out=tmp_path / "a").csv == expected
    for path in random.Random(1).sample(parts(tmp_path / "a"), 9):
        path.unlink()
    assert sweep(SPEC, GRID, out=tmp_path / "a", task_runs=2).csv == expected


@pytest.mark.parametrize("engine", ["threads", "processes"])
def test_ctrl_c_leaves_a_folder_to_go_on_from(engine: str, tmp_path: Path) -> None:
    code = f"""
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from plausibly import sweep
print("ready", flush=True)
sweep({SLOW!r}, {{"seed": [1, 2, 3, 4]}}, engine={engine!r}, workers=2, task_runs=1,
      out={str(tmp_path)!r}, progress=lambda done, total: print(done, flush=True))
"""
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    for line in process.stdout:
        if line.strip() not in ("ready", "0"):
            break
    helpers = children(process.pid, WORKER)
    process.send_signal(signal.SIGINT)
    begun = time.monotonic()
    _, complaint = process.communicate(timeout=60)
    assert time.monotonic() - begun < 10
    assert "KeyboardInterrupt" in complaint and process.returncode != 0
    assert not any(Path(f"/proc/{helper}").exists() for helper in helpers)
    kept = parts(tmp_path)
    assert 0 < len(kept) < 96
    heard: list[int] = []
    again = sweep(
        SLOW, {"seed": [1, 2, 3, 4]}, out=tmp_path, progress=lambda done, _: heard.append(done)
    )
    assert heard[0] == len(kept) * 20_000
    assert again.results[3].csv == simulate(SLOW, seed=4).csv


# Refused arguments.


def test_a_bad_spec_among_a_thousand_is_named_before_anything_runs(tmp_path: Path) -> None:
    grid = {
        "environment.dim": [*range(1, 18), 0, *range(19, 101)],
        "environment.noise": [x / 10 for x in range(1, 11)],
    }
    with pytest.raises(ValueError) as refused:
        sweep(SPEC, grid, out=tmp_path / "out", progress=lambda *_: pytest.fail("it began"))
    lines = str(refused.value).splitlines()
    assert lines[0].startswith(
        "setting 170 (environment.dim = 0, environment.noise = 0.1): environment.dim: 0 is out of "
        "range"
    )
    assert len(lines) == 6 and lines[-1] == "and 5 more of 1000"
    assert not (tmp_path / "out").exists()
    specs = [SPEC] * 999 + [{**SPEC, "horizn": 5}]
    with pytest.raises(
        ValueError, match="^setting 999: horizn: unknown field .did you mean horizon"
    ):
        sweep(specs)


REFUSED: list[tuple[Any, Any, type[Exception], str]] = [
    (5, None, TypeError, "specs: expected a list of specs"),
    ([], None, ValueError, "specs: an empty list"),
    ([SPEC, 5], None, TypeError, r"specs\[1\]: spec: expected a dict"),
    (["nowhere.toml"], None, FileNotFoundError, r"specs\[0\]: .*nowhere.toml"),
    ([SPEC], {"seed": [1]}, TypeError, "specs: with a grid, expected one spec"),
    (SPEC, [1], TypeError, "grid: expected a dict"),
    (SPEC, {5: [1]}, TypeError, "grid: paths are text"),
    (SPEC, {"seed": 5}, TypeError, "grid.'seed'.: expected a list of values, found int"),
    (SPEC, {"seed": "12"}, TypeError, "grid.'seed'.: expected a list of values, found str"),
    (SPEC, {"seed": []}, ValueError, "grid.'seed'.: an empty list"),
    (SPEC, {"": [1]}, ValueError, "expected a path such as"),
    (SPEC, {"policy[x]": [1]}, ValueError, "expected a path such as"),
    (SPEC, {"policy..greed": [1]}, ValueError, "expected a path such as"),
    (SPEC, {"policy[0].greed": [1]}, ValueError, "places are counted from 1"),
    (
        SPEC,
        {"policy[3].greed": [1]},
        ValueError,
        "the spec has 2 such entries, and none has the number 3",
    ),
    (SPEC, {"seed[1]": [1]}, ValueError, "the spec has 0 such entries"),
    (SPEC, {"seed.x": [1]}, ValueError, "x cannot be set"),
    (SPEC, {"seed": [1.5]}, TypeError, r"setting 0 \(seed = 1.5\): seed: expected a whole number"),
    (SPEC, {"policy[1].greeed": [0, 1]}, ValueError, r"setting 0 .*\n.*setting 1 "),
]


@pytest.mark.parametrize(("specs", "grid", "error", "message"), REFUSED, ids=range(len(REFUSED)))
def test_specs_and_grids_that_are_refused(
    specs: Any, grid: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        sweep(specs, grid)


@pytest.mark.parametrize(
    ("how", "error", "message"),
    [
        ({"engine": "spark"}, ValueError, "engine: expected .*found 'spark'"),
        ({"engine": None}, ValueError, "engine: "),
        ({"workers": 0}, ValueError, "workers: 0 is out of range"),
        ({"workers": 5000}, ValueError, "workers: 5000 is out of range"),
        ({"workers": 1.5}, TypeError, "workers: expected a whole number"),
        ({"task_runs": 0}, ValueError, "task_runs: 0 is out of range"),
        ({"task_runs": "all"}, TypeError, "task_runs: expected a whole number"),
        ({"out": 5}, TypeError, "out: expected a path, found int"),
        ({"out": __file__}, OSError, "test_sweep.py"),
    ],
)
def test_arguments_that_are_refused(
    how: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        sweep(SPEC, **how)


def test_progress_that_raises_ends_the_sweep_and_its_processes() -> None:
    def refuse(done: int, total: int) -> None:
        if done:
            raise Enough

    for engine in ("threads", "processes"):
        begun = time.monotonic()
        with pytest.raises(Enough):
            sweep(
                {**SLOW, "horizon": 10**6, "runs": 10**5},
                {"seed": [1, 2]},
                engine=engine,
                task_runs=1,
                progress=refuse,
            )
        assert time.monotonic() - begun < 60
        assert children(os.getpid(), WORKER) == []


def test_a_bar_by_tqdm(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tqdm")
    sweep(SPEC, GRID, progress=True)
    assert "rounds" in capsys.readouterr().err


def test_parts_that_do_not_fit_are_refused() -> None:
    experiment = _core.Experiment(SPEC)
    stop = _core.Stop()
    first, second = experiment.play(0, 4, stop), experiment.play(4, 11, stop)
    assert experiment.sum_up([first, second])["csv"] == simulate(SPEC).csv
    for wrong in (
        [second, first],
        [first],
        [first, first, second],
        [first, second[:-1]],
        [b""],
        [],
    ):
        with pytest.raises(ValueError, match="parts: "):
            experiment.sum_up(wrong)
    for range_ in ((0, 0), (4, 2), (0, 12)):
        with pytest.raises(ValueError, match="no part of 11"):
            experiment.play(*range_, stop)
    stop.set()
    with pytest.raises(RuntimeError, match="stopped"):
        experiment.play(0, 1, stop)
    # The identity of a job depends on what it runs, not on how its spec was written.
    said = {
        **SPEC,
        "policy": [{**SPEC["policy"][0], "randomise": 0.0, "greed": 0.0}, SPEC["policy"][1]],
    }
    keys = [
        Job.of(Setting(0, {}, ""), _core.Experiment(spec)).key
        for spec in (SPEC, dict(reversed(said.items())), {**SPEC, "seed": 4})
    ]
    assert keys[0] == keys[1] != keys[2]
