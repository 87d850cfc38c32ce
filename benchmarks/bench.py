"""Runs the sections of the benchmark and writes the page; scripts/bench starts it."""

import argparse
import datetime
import json
import os
import platform
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import clicks
import page
import sections
from machine import machine

SECTIONS = sections.ALL | {"clicks": clicks.clicks}
ROOT = Path(__file__).resolve().parent.parent


@dataclass
class Settings:
    target: Path
    scratch: Path
    quick: bool
    repeats: int
    turn_seconds: float
    rounds: int
    sizes: list
    many: tuple  # actions, dim, rounds

    def say(self, text):
        print(text, flush=True)


def settings_of(args):
    target = args.target.resolve()
    scratch = target / "bench" / "problems"
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    if args.quick:
        return Settings(
            target,
            scratch,
            True,
            args.repeats or 2,
            0.05,
            500,
            [(5, 100), (16, 1000)],
            (20_000, 16, 500),
        )
    sizes = [(5, 100), (16, 1000), (64, 10_000)]
    return Settings(
        target, scratch, False, args.repeats or 7, 2.0, 10_000, sizes, (1_000_000, 32, 10_000)
    )


def versions():
    wanted = [
        "numpy",
        "numba",
        "scipy",
        "contextualbandits",
        "bayesianbandits",
        "vowpalwabbit",
        "coba",
        "mabwiser",
    ]
    found = {}
    for name in wanted:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    rustc = subprocess.run(
        ["rustc", "--version"], check=True, capture_output=True, text=True, cwd=ROOT
    ).stdout.split()[1]
    describe = ["git", "describe", "--always", "--dirty"]
    commit = subprocess.run(
        describe, check=False, capture_output=True, text=True, cwd=ROOT
    )  # fails in an unpacked archive
    return {
        "python": platform.python_version(),
        "rustc": rustc,
        "commit": commit.stdout.strip() or "unknown",
        **found,
    }


def skipped(target):
    file = target / "bench" / "skipped.tsv"
    lines = file.read_text().splitlines() if file.exists() else []
    return dict(line.split("\t", 1) for line in lines)


def folders(args):
    """The folder of the measurements, which git ignores by default, and the folder of the page."""
    if args.out:
        return args.out, args.out
    if args.quick:
        quick = args.target / "bench" / "quick"
        return quick, quick
    return args.target / "bench", ROOT / "docs" / "benchmarks"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--target", type=Path, required=True)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default=",".join(SECTIONS))
    parser.add_argument("--repeats", type=int)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--report", action="store_true")
    args = parser.parse_args()
    wanted = args.only.split(",")
    unknown = [name for name in wanted if name not in SECTIONS]
    if unknown:
        parser.error(f"no section {unknown[0]}; there are {', '.join(SECTIONS)}")
    measured, shown = folders(args)
    measured.mkdir(parents=True, exist_ok=True)
    shown.mkdir(parents=True, exist_ok=True)
    stored = measured / "rivals.json"
    if args.report and not stored.exists():
        parser.error(f"no measurements in {stored}: run scripts/bench without --report first")
    results = json.loads(stored.read_text()) if stored.exists() else {"sections": {}}
    if not args.report:
        settings = settings_of(args)
        begun = time.monotonic()
        results["quick"] = args.quick
        results["command"] = " ".join(
            ["scripts/bench", *sys.argv[3:]]
        )  # after --target and its folder
        results["repeats"] = settings.repeats
        results["rounds"] = settings.rounds
        results["skipped"] = skipped(args.target)
        what = versions()  # once, before the first section changes files and makes the commit dirty
        for name in wanted:
            settings.say(f"{name}")
            section_begun, before = time.monotonic(), machine()
            found = SECTIONS[name](settings)
            results["sections"][name] = {
                "date": datetime.date.today().isoformat(),
                "command": results["command"],
                "seconds": round(time.monotonic() - section_begun),
                "machine": before,
                "versions": what,
                **found,
            }
            # After each section, so that `--only` can resume a stopped run.
            stored.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
        settings.say(f"all in {time.monotonic() - begun:.0f} s")
    page.write(results, shown)
    if "clicks" in results["sections"]:
        clicks.write(results, shown)
    print(f"wrote the pages in {shown} from {stored}")


if __name__ == "__main__":
    main()
