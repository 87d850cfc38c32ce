"""A server that stands in for the service: it answers each request as a test has written down."""

from __future__ import annotations

import json
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

HASH = "ab" * 32
DECISION: dict[str, Any] = {
    "decision": 7,
    "action": "mug",
    "reason": "least-known",
    "propensity": 1.0,
    "plausible": 2,
    "known_within": 0.25,
    "seq": 9,
    "hash": HASH,
    "repeated": False,
}
OUTCOME: dict[str, Any] = {
    "decision": 7,
    "applied": True,
    "duplicate": False,
    "seq": 10,
    "hash": HASH,
}


@dataclass(frozen=True)
class Asked:
    """A request as it arrived."""

    method: str
    path: str
    headers: dict[str, str]
    """With names in lower case."""
    body: bytes
    connection: int
    """The port of the client, which tells connections apart."""

    def json(self) -> Any:
        return json.loads(self.body)


class Handler(BaseHTTPRequestHandler):
    """Carries out the script of its server."""

    protocol_version = "HTTP/1.1"
    server: Server

    def handle_one_request(self) -> None:
        self.raw_requestline = self.rfile.readline(65537)
        if not self.raw_requestline or not self.parse_request():
            self.close_connection = True
            return
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        asked = Asked(self.command, self.path, headers, body, self.client_address[1])
        self.server.next_step(asked)(self)
        self.wfile.flush()

    def log_message(self, *_: object) -> None:
        pass


Step = Callable[[Handler], None]


class Server(ThreadingHTTPServer):
    """Answers by its script, and then always by its last step."""

    daemon_threads = True

    def __init__(self, script: list[Step]) -> None:
        self.script, self.asked = script, list[Asked]()
        self.lock = threading.Lock()
        self.ending = threading.Event()
        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    @property
    def keys(self) -> list[str | None]:
        """The Idempotency-Key of each request."""
        return [asked.headers.get("idempotency-key") for asked in self.asked]

    def next_step(self, asked: Asked) -> Step:
        with self.lock:
            self.asked.append(asked)
            return self.script[min(len(self.asked), len(self.script)) - 1]

    def handle_error(self, *_: object) -> None:
        """Clients that end early are part of the tests."""


@contextmanager
def serving(*script: Step, tls: ssl.SSLContext | None = None) -> Iterator[Server]:
    """A server with a script, on a port of its own."""
    with Server(list(script)) as server:
        if tls is not None:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.ending.set()
            server.shutdown()
            thread.join()


def answer(body: object, status: int = 200, **headers: str) -> Step:
    """Answers with JSON; in names of headers, `_` stands for `-`."""
    text = body if isinstance(body, bytes) else json.dumps(body).encode()

    def step(handler: Handler) -> None:
        handler.send_response(status)
        for name, value in {"Content_Length": str(len(text)), **headers}.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(text)

    return step


def problem(status: int, code: str, detail: str = "no", **more: Any) -> Step:
    """Answers with a problem; `retry_after` becomes a header."""
    after = {"Retry_After": str(more.pop("retry_after"))} if "retry_after" in more else {}
    body = {"type": f"/docs#{code}", "title": code, "status": status, "code": code}
    return answer({**body, "detail": detail, **more}, status, **after)


def raw(text: bytes, close: bool = True) -> Step:
    """Sends these bytes, whatever they are."""

    def step(handler: Handler) -> None:
        handler.wfile.write(text)
        handler.close_connection = close

    return step


def hang(handler: Handler) -> None:
    """Never answers."""
    handler.server.ending.wait(30)
    handler.close_connection = True


def cut(handler: Handler) -> None:
    """Ends the connection without an answer."""
    handler.close_connection = True
    handler.connection.shutdown(socket.SHUT_RDWR)


def then_close(step: Step) -> Step:
    """Ends the connection after the answer, without saying so."""

    def both(handler: Handler) -> None:
        step(handler)
        handler.close_connection = True

    return both


def dribble(head: bytes, piece: bytes = b"x") -> Step:
    """Sends a piece every 20 ms, without an end."""

    def step(handler: Handler) -> None:
        handler.wfile.write(head)
        while not handler.server.ending.is_set():
            handler.wfile.write(piece)
            time.sleep(0.02)
        handler.close_connection = True

    return step


def flood(head: bytes, piece: bytes) -> Step:
    """Sends a piece again and again, as fast as it can."""

    def step(handler: Handler) -> None:
        handler.wfile.write(head)
        while not handler.server.ending.is_set():
            handler.wfile.write(piece)
        handler.close_connection = True

    return step
