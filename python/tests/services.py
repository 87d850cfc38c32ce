"""A service for tests, and the plainest way to ask it."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import Any


class Service:
    """`plausibly serve` on a free port of this machine."""

    def __init__(self, command: str, data: Path) -> None:
        self.command, self.data = command, data
        self.process = subprocess.Popen(
            [command, "serve", "--data", str(data), "--listen", "127.0.0.1:0"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self.process.stdout
        said = re.fullmatch(r"listening on (http://\S+)\n", self.process.stdout.readline())
        assert said, "the service did not begin"
        self.address = said[1]

    def ask(
        self, method: str, path: str, body: object = None, *, key: str | None = None
    ) -> tuple[int, Any]:
        """The status of an answer, and its body: JSON where it is JSON, else text."""
        request = urllib.request.Request(
            self.address + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"}
            | ({"Authorization": f"Bearer {key}"} if key else {}),
        )
        # Without proxies, which the environment may name.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=60) as answer:
                status, kind, text = answer.status, answer.headers["content-type"], answer.read()
        except urllib.error.HTTPError as answer:
            status, kind, text = answer.code, answer.headers["content-type"], answer.read()
        return status, json.loads(text) if "json" in kind and "nd" not in kind else text.decode()

    def add_key(self, name: str, *roles: str) -> str:
        """Adds a key, and returns when the service knows it."""
        flags = [flag for role in roles for flag in ("--role", role)]
        added = subprocess.run(
            [self.command, "key", "add", name, "--data", str(self.data), *flags],
            capture_output=True,
            text=True,
            check=True,
        )
        key = added.stdout.strip()
        until = time.monotonic() + 10
        # Before the first key every caller is let in, with any key.
        path = "/v1/experiments"
        while self.ask("GET", path)[0] != 401 or self.ask("GET", path, key=key)[0] == 401:
            assert time.monotonic() < until, "the service does not read its keys"
            time.sleep(0.05)
        return key

    def __enter__(self) -> Service:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate(timeout=20)
