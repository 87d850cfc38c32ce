"""The benchmarks run, and compare equal work. Tests do not measure speed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from conftest import ROOT

FOLDER = ROOT / "python" / "benchmarks"


def test_overhead_writes_its_page(tmp_path: Path) -> None:
    page = tmp_path / "python.md"
    command = [sys.executable, str(FOLDER / "overhead.py"), "--turns", "1", "--out", str(page)]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=120)
    # Exit code 1 means a missed target, which is allowed here.
    assert ran.returncode in (0, 1), ran.stderr
    assert ran.stdout.startswith("the same 20000 choices")
    assert page.read_text(encoding="utf-8").count("| LinUCB |") == 3


def test_the_benchmark_notices_other_choices(tmp_path: Path) -> None:
    # A NumPy implementation with half the radius.
    mutant = (
        (FOLDER / "numpy_code.py")
        .read_text(encoding="utf-8")
        .replace("half *= sqrt_beta", "half *= sqrt_beta / 2")
    )
    (tmp_path / "numpy_code.py").write_text(mutant, encoding="utf-8")
    (tmp_path / "overhead.py").write_text(
        (FOLDER / "overhead.py").read_text(encoding="utf-8"), encoding="utf-8"
    )
    command = [
        sys.executable,
        str(tmp_path / "overhead.py"),
        "--turns",
        "1",
        "--out",
        str(tmp_path / "python.md"),
    ]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=120)
    assert ran.returncode != 0 and "different actions" in ran.stderr
    assert not (tmp_path / "python.md").exists()


def test_versions_are_measured_in_turns(tmp_path: Path) -> None:
    script, python = ROOT / "benchmarks" / "python_decide.py", sys.executable
    command = [python, str(script), python, python, "--turns", "1"]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=120)
    # A version is not ten times as fast as itself.
    assert ran.returncode == 1 and ran.stdout.endswith("times as fast: missed\n"), ran.stderr
    assert ran.stdout.count("\n| decide") == 4
