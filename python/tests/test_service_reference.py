"""`docs/reference/http.md` lists every request with its role, and every code."""

from __future__ import annotations

import re
from pathlib import Path

from conftest import ROOT
from services import Service

PAGE = (ROOT / "docs/reference/http.md").read_text()
ROLES = ["decide", "reward", "read", "admin"]
# Each begins with a cell in code; the first cell tells requests, headers and codes apart.
ROWS = re.findall(r"^\| `([^`]+)` \| ([^|]+) \| ([^|]+) \| ?([^|\n]*)", PAGE, re.MULTILINE)
REQUESTS = [row for row in ROWS if " /" in row[0]]
CODES = [row for row in ROWS if re.fullmatch("[a-z_]+", row[0]) and row[1].isdigit()]


def test_every_request_is_listed_with_its_statuses(command: str, tmp_path: Path) -> None:
    with Service(command, tmp_path) as service:
        _, document = service.ask("GET", "/openapi.json")
    served = {
        f"{method.upper()} {path}": {code for code in route["responses"] if code[0] == "2"}
        for path, methods in document["paths"].items()
        for method, route in methods.items()
    }
    assert {request: set(answer.split(", ")) for request, _, answer, _ in REQUESTS} == served


def test_every_code_is_listed_as_the_service_describes_it(command: str, tmp_path: Path) -> None:
    with Service(command, tmp_path) as service:
        _, page = service.ask("GET", "/docs")
    served = re.findall(
        r'<tr id="([a-z_]+)"><th><code>\1</code></th><td>(\d+)</td><td>([^<]*)</td>', page
    )
    assert len(served) > 30
    assert [(code, status, title.strip()) for code, status, title, _ in CODES] == served


def test_every_request_needs_the_role_that_is_listed(command: str, tmp_path: Path) -> None:
    with Service(command, tmp_path) as service:
        keys = {role: service.add_key(role, role) for role in ROLES}
        for request, role, _, _ in REQUESTS:
            method, path = request.split(" ")
            # No such experiment: what a role allows, then ends with 404 or another refusal.
            path = path.replace("{experiment}", "none").replace("{decision}", "1")
            path += "?a=x&b=y" if path.endswith("/compare") else ""
            body: object = None if method == "GET" else {}
            status = {name: service.ask(method, path, body, key=keys[name])[0] for name in ROLES}
            allowed = {name for name in ROLES if status[name] not in (401, 403)}
            without = service.ask(method, path, body)[0]
            if role == "none":
                assert allowed == set(ROLES) and without == 200, request
            else:
                assert allowed == {role, "admin"} and without == 401, request
