"""Runs the commands of a page as it prints them, and compares what they say.

A fence with `file=NAME` becomes a file. In a fence `console`, a line that begins with `$ ` is a
command, with the lines after it that a backslash or a quote joins to it; what follows is its
output, both streams as on a terminal. `$ plausibly serve` starts a service, and a line `^C` stops
it.

Two things differ from the page. The service gets a free port instead of 8017, so that tests can run
beside each other. And what differs between runs is not compared: hashes of lines, ids of keys, and
times (see `MASKS`). With `BLESS=1` the page is rewritten.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

PORT = "8017"
MASKS = {
    r"(?<!statistics )\b[0-9a-f]{64}\b": "<hash>",
    r"\bid [0-9a-f]{16}\b": "id <id>",
    r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?( UTC|Z)?": "<time>",
    r"\.\d{16}\b": ".<time>",
}


def masked(text: str) -> str:
    for pattern, name in MASKS.items():
        text = re.sub(pattern, name, text)
    return text


class Service:
    """A service that a page started."""

    def __init__(self, desk: Desk, command: str, expected: str) -> None:
        self.output = desk.folder / "service.txt"
        with self.output.open("wb") as output:
            self.process = subprocess.Popen(
                ["sh", "-c", f"exec {command} --listen 127.0.0.1:0"],
                cwd=desk.folder,
                env=desk.environment,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        # What it says after its address, it says at once.
        self.await_lines(max(expected.count("\n"), 1))
        if os.environ.get("BLESS"):
            time.sleep(1)
        found = re.search(r"listening on https?://127\.0\.0\.1:(\d+)", self.said())
        assert found, self.said()
        self.port = found[1]
        self.read = 0

    def said(self) -> str:
        return self.output.read_text()

    def await_lines(self, lines: int) -> None:
        until = time.monotonic() + 20
        while time.monotonic() < until and self.process.poll() is None:
            if self.said().count("\n") >= lines:
                break
            time.sleep(0.02)

    def news(self) -> str:
        """What it has said since the last look."""
        said = self.said().replace(f":{self.port}", f":{PORT}")
        news, self.read = said[self.read :], len(said)
        return news

    def stop(self) -> None:
        self.process.send_signal(signal.SIGINT)
        assert self.process.wait(timeout=20) == 0, self.said()


class Desk:
    """A folder in which the commands of a page run."""

    def __init__(self, command: str, folder: Path) -> None:
        if not shutil.which("curl"):
            pytest.skip("the commands of the page need curl, which is not installed")
        self.folder = folder / "desk"
        programs = folder / "programs"
        self.folder.mkdir()
        programs.mkdir()
        (programs / "plausibly").symlink_to(Path(command).resolve())
        # Not a terminal, so curl would show its progress.
        (programs / ".curlrc").write_text("silent\nshow-error\nmax-time = 60\n")
        self.environment = {
            **{name: value for name, value in os.environ.items() if "PLAUSIBLY" not in name},
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "CURL_HOME": str(programs),
            "NO_PROXY": "*",
        }
        self.service: Service | None = None

    def run(self, command: str, expected: str) -> str:
        """What a command says."""
        if command == "^C":
            assert self.service, "there is no service to stop"
            self.service.stop()
            said, self.service = self.service.news(), None
            return said
        if command.startswith("plausibly serve"):
            assert not self.service, "stop the service first"
            self.service = Service(self, command, expected)
            return self.service.news()
        if self.service:
            command = command.replace(f":{PORT}", f":{self.service.port}")
        done = subprocess.run(
            ["sh", "-c", f"exec 2>&1; {command}"],
            check=False,
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
        )
        said = done.stdout
        if self.service:
            said = said.replace(f":{self.service.port}", f":{PORT}")
        # Answers of the service do not end with a line break.
        return said if said.endswith("\n") or not said else said + "\n"

    def close(self) -> None:
        if self.service and self.service.process.poll() is None:
            self.service.process.kill()
            self.service.process.wait()


def commands(body: str) -> list[tuple[str, str, str]]:
    """The commands of a fence: as printed, as run, and what they say."""
    found: list[tuple[str, str, str]] = []
    lines = iter(body.splitlines(keepends=True))
    for line in lines:
        if line.startswith("$ "):
            printed = line
            while printed.endswith("\\\n") or printed.count("'") % 2:
                printed += next(lines)
            found.append((printed, printed[2:].replace("\\\n", " ").strip(), ""))
        elif line == "^C\n":
            found.append((line, "^C", ""))
        else:
            printed, command, said = found[-1]
            found[-1] = (printed, command, said + line)
    return found


def replay(page: Path, desk: Desk) -> list[str]:
    """Runs a page from its first line to its last; returns its commands."""
    text = page.read_text()
    rebuilt, ran = [], []
    try:
        for place, part in enumerate(text.split("```")):
            info, _, body = part.partition("\n")
            if place % 2 and "file=" in info:
                (desk.folder / info.partition("file=")[2]).write_text(body)
            elif place % 2 and info == "console" and body.startswith(("$ ", "^C\n")):
                part = "console\n"
                for printed, line, expected in commands(body):
                    ran.append(line)
                    said = desk.run(line, expected)
                    same = masked(said) == masked(expected)
                    part += printed + (expected if same else said)
            rebuilt.append(part)
    finally:
        desk.close()
    real = "```".join(rebuilt)
    if os.environ.get("BLESS"):
        page.write_text(real)
    assert real == text, "the page says something else; BLESS=1 rewrites it"
    return ran
