"""Measures the decision service, its rival and bare loops in turns (see scripts/bench-service)."""

from __future__ import annotations

import argparse
import contextlib
import datetime
import json
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import service_page
from machine import machine

ROOT = Path(__file__).resolve().parent.parent
CONNECTIONS = 32
EXPERIMENTS = 100
RATE = 3_000  # decisions per second in the open loop, and as many rewards
CROWD = 1_000  # connections that overload the service, which takes 1,024
HALF_OPEN = 5_000
LINE = 420  # bytes of a decision's line, unless the log of the service says otherwise


class Bench:
    """The programs and the folder of one run."""

    def __init__(self, args: argparse.Namespace, folder: Path) -> None:
        self.command = args.target / "release" / "plausibly"
        self.load = args.target / "release" / "service_load"
        self.rival = args.rival
        self.folder = folder
        self.quick = args.quick
        self.rounds = args.rounds or (1 if args.quick else 5)
        self.line = LINE
        self.runs = 0

    def seconds(self, usual: float) -> float:
        return max(1.0, usual / 10) if self.quick else usual

    def start(self, *args: object) -> subprocess.Popen[str]:
        words = [str(self.load), *map(str, args)]
        print("+ service_load", *words[1:], file=sys.stderr, flush=True)
        return subprocess.Popen(words, stdout=subprocess.PIPE, text=True)

    def run(self, *args: object) -> dict[str, Any]:
        """The figures of one load."""
        with ended(self.start(*args)) as process:
            out, _ = process.communicate()
        if process.returncode:
            raise SystemExit(f"service_load {' '.join(map(str, args))} failed; see above")
        return json.loads(out)

    def bare(self, seconds: float, *args: object) -> dict[str, Any]:
        """The figures of bare loops in a folder of their own on the same disk."""
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            return self.run("bare", folder, "--bytes", self.line, "--seconds", seconds, *args)

    def prefix(self) -> str:
        """A new name, so that no load finds what an earlier one has left."""
        self.runs += 1
        return f"load-{self.runs}"


@contextlib.contextmanager
def ended(process: subprocess.Popen[str]) -> Iterator[subprocess.Popen[str]]:
    """Ends the process with the block; it gets 15 seconds to do so itself."""
    try:
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(timeout=15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


class Service:
    """A running service and its data folder."""

    def __init__(self, url: str, process: subprocess.Popen[str], data: Path) -> None:
        self.url, self.process, self.data = url, process, data

    def memory(self, field: str) -> float:
        """MiB; `VmHWM` is the most so far, `VmRSS` the present."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        found = re.search(rf"^{field}:\s+(\d+) kB$", status, re.MULTILINE)
        return int(found.group(1)) / 1024 if found else float("nan")

    def line(self, name: str) -> int:
        """The length of the last line of a log."""
        log = self.data / name / "log"
        if not log.exists():
            return LINE
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - 65_536))
            lines = file.read().splitlines(keepends=True)
        return len(lines[-1]) if lines else LINE


@contextlib.contextmanager
def serving(bench: Bench) -> Iterator[Service]:
    """A service with an empty data folder."""
    with contextlib.ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=bench.folder)))
        words = stack.enter_context((home / "out").open("w"))
        errors = stack.enter_context((home / "errors").open("w"))
        data = home / "data"
        command = [str(bench.command), "serve", "--data", str(data), "--listen", "127.0.0.1:0"]
        process = stack.enter_context(
            ended(subprocess.Popen(command, stdout=words, stderr=errors, text=True))
        )
        deadline = time.monotonic() + 10
        while process.poll() is None and time.monotonic() < deadline:
            found = re.search(r"http://127\.0\.0\.1:\d+", (home / "out").read_text())
            if found:
                yield Service(found.group(), process, data)
                return
            time.sleep(0.02)
        raise SystemExit(f"the service does not start: {(home / 'errors').read_text().strip()}")


def turns(bench: Bench) -> dict[str, list[dict[str, Any]]]:
    """All measurements of speed, in turns, so that a busy machine slows all of them alike."""
    found: dict[str, list[dict[str, Any]]] = {}
    with serving(bench) as service:

        def closed(mode: str, *args: object, url: str = service.url) -> dict[str, Any]:
            every = ("--connections", CONNECTIONS, "--seconds", bench.seconds(5))
            named = ("--prefix", bench.prefix())
            return bench.run("closed", url, "--mode", mode, *every, *named, *args)

        # Warms up, and shows how long the lines of a decision are.
        closed("decide", "--count", 500)
        bench.line = service.line(f"load-{bench.runs}-0")
        steps = {
            "decide": lambda: closed("decide"),
            "constant": lambda: closed("constant", "--path", "/healthz"),
            "lean": lambda: bench.run("lean"),
            "bare": lambda: bench.bare(bench.seconds(5)),
            "pairs": lambda: closed("pairs"),
            "many": lambda: closed("decide", "--experiments", EXPERIMENTS),
            "bare-many": lambda: bench.bare(bench.seconds(5), "--files", CONNECTIONS),
            "open": lambda: nominal(bench, service, 10),
            "bare-open": lambda: bench.bare(bench.seconds(10), "--rate", 2 * RATE),
        }
        if bench.rival:
            steps["rival-decide"] = lambda: closed("decide", "--rival", url=bench.rival)
            steps["rival-pairs"] = lambda: closed("pairs", "--rival", url=bench.rival)
        for _ in range(bench.rounds):
            for name, step in steps.items():
                found.setdefault(name, []).append(step())
        found["memory"] = [{"most": service.memory("VmHWM")}]
    return found


def nominal(bench: Bench, service: Service, seconds: float) -> dict[str, Any]:
    """Requests at the rates of the target."""
    return bench.run("open", *open_loop(bench, service, seconds, bench.prefix()))


def open_loop(bench: Bench, service: Service, seconds: float, prefix: str) -> list[object]:
    return [
        service.url, "--decisions", RATE, "--rewards", RATE, "--connections", 2 * CONNECTIONS,
        "--seconds", bench.seconds(seconds), "--prefix", prefix,
    ]  # fmt: skip


def overload(bench: Bench, capacity: float) -> dict[str, Any]:
    """Ten times too many decisions, then at once what is nominal."""
    with serving(bench) as service:
        before = nominal(bench, service, 10)
        rate = min(10 * capacity, 1e6)
        crowd = bench.run(
            "open", service.url, "--overload", "--decisions", rate, "--rewards", 0,
            "--connections", CROWD, "--seconds", bench.seconds(60), "--prefix", bench.prefix(),
        )  # fmt: skip
        after = bench.run("open", *open_loop(bench, service, 100 if bench.quick else 10, "after"))
        return {
            "before": before,
            "rate": rate,
            "crowd": crowd,
            "after": after,
            "memory": service.memory("VmHWM"),
        }


def half_open(bench: Bench) -> dict[str, list[Any]]:
    """Requests at nominal rates, without and with connections that never finish a request: begun
    after the good ones, before them, and before them and again whenever they are ended."""
    found: dict[str, list[Any]] = {
        "without": [], "later": [], "earlier": [], "again": [], "flood": []
    }
    seconds = bench.seconds(10)
    with serving(bench) as service:
        flood = ("flood", service.url, "--connections", HALF_OPEN, "--seconds")
        for _ in range(min(3, bench.rounds)):
            found["without"].append(nominal(bench, service, 10))
            for when, more in (("earlier", ()), ("again", ("--again",))):
                with ended(bench.start(*flood, seconds + 1, *more)) as process:
                    time.sleep(0.2)  # the first of them are there
                    found[when].append(attempt(bench, service))
                    out, _ = process.communicate()
                    found["flood"].append(json.loads(out) if out else None)
            good = bench.start("open", *open_loop(bench, service, 10, bench.prefix()))
            with ended(good):
                time.sleep(0.2)
                with ended(bench.start(*flood, seconds + 1)):
                    out, _ = good.communicate()
                found["later"].append(json.loads(out) if out else None)
            time.sleep(1)  # what is left of them ends
    return found


def attempt(bench: Bench, service: Service) -> dict[str, Any] | None:
    """Nominal requests, or None if the service does not even let them connect."""
    with ended(bench.start("open", *open_loop(bench, service, 10, bench.prefix()))) as process:
        out, _ = process.communicate()
    return json.loads(out) if out else None


def main() -> None:
    parser = argparse.ArgumentParser(prog="scripts/bench-service")
    parser.add_argument("--target", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rival")
    parser.add_argument("--rounds", type=int)
    args = parser.parse_args()
    if not sys.platform.startswith("linux"):
        raise SystemExit("the memory of the service is read from /proc, which only Linux has")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    work = args.target / "bench" / "service"
    work.mkdir(parents=True, exist_ok=True)
    results: dict[str, Any] = {
        "command": " ".join(["scripts/bench-service", *words(args)]),
        "date": datetime.date.today().isoformat(),
        "commit": commit(),
        "machine": machine(),
        "quick": args.quick,
    }
    folder = Path(tempfile.mkdtemp(dir=work))
    try:
        bench = Bench(args, folder)
        results["turns"] = turns(bench)
        results["line"] = bench.line
        capacity = service_page.best(results["turns"]["decide"], "decide")
        results["overload"] = overload(bench, capacity)
        results["half-open"] = half_open(bench)
    except KeyboardInterrupt:
        raise SystemExit("interrupted: nothing is written, and what was begun is removed") from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    (work / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    page = (work if args.quick else ROOT / "docs" / "benchmarks") / "service.md"
    page.write_text(service_page.page(results))
    print(page)


def words(args: argparse.Namespace) -> list[str]:
    """The arguments, as they are shown on the page."""
    found = ["--quick"] if args.quick else []
    found += ["--rival", args.rival] if args.rival else []
    return found + (["--rounds", str(args.rounds)] if args.rounds else [])


def commit() -> str:
    git = ["git", "-C", str(ROOT)]
    try:
        found = subprocess.run(
            [*git, "rev-parse", "--short", "HEAD"], check=True, capture_output=True, text=True
        ).stdout.strip()
        changed = subprocess.run([*git, "diff", "--quiet", "HEAD", "--", "crates"]).returncode
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return f"{found}, with changes" if changed else found


if __name__ == "__main__":
    main()
