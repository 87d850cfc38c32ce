"""The command that comes with the package, and `python -m plausibly`."""

from __future__ import annotations

import signal
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import pytest

import plausibly

SCRIPT = Path(
    sysconfig.get_path("scripts"), "plausibly.exe" if sys.platform == "win32" else "plausibly"
)
WAYS = {"command": [str(SCRIPT)], "module": [sys.executable, "-m", "plausibly"]}
ACTIONS = "name,price\nmug,4.5\nbowl,7\n"


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> list[str]:
    return WAYS[request.param]


def run(way: list[str], *arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*way, *arguments], cwd=folder, capture_output=True, text=True, timeout=120
    )


def test_it_says_its_version(way: list[str], tmp_path: Path) -> None:
    done = run(way, "--version", folder=tmp_path)
    assert (done.returncode, done.stdout) == (0, f"plausibly {plausibly.__version__}\n")


def test_it_decides_and_learns_and_python_goes_on(way: list[str], tmp_path: Path) -> None:
    (tmp_path / "shop.csv").write_text(ACTIONS)
    flags = ["--log", "shop.log", "--actions", "shop.csv", "--reward-range", "0..1", "--yes"]
    decided = run(way, "decide", *flags, folder=tmp_path)
    assert decided.returncode == 0, decided.stderr
    assert "decision 1" in decided.stdout.lower()
    rewarded = run(way, "reward", "--log", "shop.log", "1", "0.5", folder=tmp_path)
    assert rewarded.returncode == 0, rewarded.stderr
    with plausibly.Log(tmp_path / "shop.log") as log:
        assert log.pending == {} and log.status()


def test_exit_codes_are_those_of_the_command(way: list[str], tmp_path: Path) -> None:
    refused = run(way, "decide", "--no-such-flag", folder=tmp_path)
    assert refused.returncode == 2 and "--no-such-flag" in refused.stderr
    assert run(way, "simulate", "no-such-file.toml", folder=tmp_path).returncode == 1
    assert run(way, "status", "--log", "none.log", folder=tmp_path).returncode != 0


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise there")
def test_ctrl_c_stops_it(way: list[str], tmp_path: Path) -> None:
    spec = (
        'runs = 100000\nhorizon = 10000\n[environment]\nkind = "linear"\ndim = 5\nactions = '
        '50\n[[policy]]\nkind = "code"\n'
    )
    (tmp_path / "long.toml").write_text(spec)
    begun = subprocess.Popen(
        [*way, "simulate", "long.toml"], cwd=tmp_path, stderr=subprocess.PIPE, text=True
    )
    time.sleep(2.0)
    begun.send_signal(signal.SIGINT)
    _, words = begun.communicate(timeout=30)
    assert begun.returncode == 130 and "interrupted: nothing was written" in words
    assert [path.name for path in tmp_path.iterdir()] == ["long.toml"]
