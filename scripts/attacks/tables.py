"""Hostile tables, certificates and specs: refused or taken, never a crash or a partial log."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .arena import MEMORY, Arena, Ran, Tally
from .material import check_chain, events
from .terminal import raw_control


@dataclass(frozen=True)
class Case:
    """A table, its expected result (None: either), and the labels that the log must then hold."""

    what: str
    table: bytes
    accepted: bool | None = None
    labels: tuple[str, ...] | None = None


def plain(
    what: str, text: str, accepted: bool | None = None, labels: tuple[str, ...] | None = None
) -> Case:
    return Case(what, text.encode("utf-8", "surrogatepass"), accepted, labels)


TABLES = [
    Case("an empty file", b"", False),
    Case("newlines alone", b"\n" * 1000, False),
    Case("a byte order mark alone", b"\xef\xbb\xbf", False),
    Case("a header alone", b"name,price\n", False),
    Case("a header without its newline", b"name", False),
    Case("one row", b"name\na\n", True, ("a",)),
    Case("a byte order mark", b"\xef\xbb\xbfname\na\nb\n", True, ("a", "b")),
    Case("two byte order marks", b"\xef\xbb\xbf\xef\xbb\xbfname\na\nb\n"),
    Case("UTF-16, little end first", "name\na\nb\n".encode("utf-16"), False),
    Case("UTF-16, big end first", b"\xfe\xff" + "name\na\nb\n".encode("utf-16-be"), False),
    Case("UTF-16 without a mark", "name\na\nb\n".encode("utf-16-le")),
    Case("UTF-32", "name\na\nb\n".encode("utf-32"), False),
    Case("Latin-1", "name\ncafé\nb\n".encode("latin-1"), False),
    Case("half a character at the end", b"name\na\nb\xf0\x9f", False),
    Case("a surrogate in UTF-8", b"name\na\nb\xed\xa0\x80\n", False),
    Case("an overlong NUL", b"name\na\nb\xc0\x80\n", False),
    Case("NUL bytes in labels", b"name\na\0b\nc\0\n"),
    Case("NUL bytes alone", b"\0" * 100_000),
    Case("a zip archive", b"PK\x03\x04" + bytes(range(256)) * 20, False),
    plain("CRLF lines", "name,price\r\na,1\r\nb,2\r\n", True, ("a", "b")),
    plain("CR lines", "name,price\ra,1\rb,2\r"),
    plain("LF, CRLF and CR mixed", "name,price\na,1\r\nb,2\rc,3\n"),
    plain("a carriage return in a label", 'name\n"a\rb"\nc\n'),
    plain("a newline in a label", 'name\n"a\ndecision 7: b"\nc\n'),
    plain("a quote that never closes", 'name,price\n"a,1\nb,2\n', False),
    plain("a quote that never closes in the header", '"name,price\na,1\nb,2\n', False),
    plain("a quote in the middle", 'name,price\na"b"c,1\nd,2\n'),
    plain("quotes alone", '"\n' * 101),
    plain("a hundred thousand quotes", "name\n" + '"' * 100_000 + "\nb\n"),
    plain("rows too short", "name,price\na,1\nb\n", False),
    plain("rows too long", "name,price\na,1\nb,2,3\n", False),
    plain("two headers alike", "name,name\na,b\nc,d\n", False),
    plain("two headers alike but for spaces", "name,price, price \na,1,2\nb,2,3\n", False),
    plain("a header without a name", "name,,price\na,1,2\nb,2,3\n", False),
    plain("a header of blanks", " , \na,b\nc,d\n"),
    plain("two labels alike", "name\na\na\n"),
    plain("two labels alike but for spaces", "name\na\n a \n"),
    plain("two labels that look alike", "name\né\ne\u0301\n"),
    plain("no label", "name,price\n,1\nb,2\n"),
    plain("a label of 300 characters", "name\n" + "a" * 300 + "\nb\n", False),
    plain("a label of 300 characters of four bytes", "name\n" + "🙂" * 300 + "\nb\n", False),
    plain("a label of a megabyte", "name\n" + "a" * (1 << 20) + "\nb\n", False),
    plain("a cell of 20 megabytes", "name,text\na," + "x" * (20 << 20) + "\nb,y\n", False),
    plain("a header of a megabyte", "name," + "h" * (1 << 20) + "\na,1\nb,2\n", False),
    plain(
        "a million columns",
        ",".join(f"c{n}" for n in range(1_000_000)) + "\n" + ",".join(["1"] * 1_000_000) + "\n",
        False,
    ),
    plain(
        "300 columns of numbers",
        "name,"
        + ",".join(f"c{n}" for n in range(300))
        + "\n"
        + "".join(
            f"a{row}," + ",".join(str((row * 7 + n) % 11) for n in range(300)) + "\n"
            for row in range(3)
        ),
        False,
    ),
    plain("20,000 rows", "name\n" + "".join(f"a{n}\n" for n in range(20_000))),
    plain(
        "labels like formulas",
        "name\n=1+1\n@SUM(A1)\n+2\n-3\n=cmd|'/c calc'!A0\n",
        True,
        ("=1+1", "@SUM(A1)", "+2", "-3", "=cmd|'/c calc'!A0"),
    ),
    plain(
        "labels like markup",
        "name\n<script>alert(1)</script>\n</title><b>\n&amp;\n",
        True,
        ("<script>alert(1)</script>", "</title><b>", "&amp;"),
    ),
    plain("labels like JSON", 'name\n"{""a"":1}"\n"\\u0000"\nnull\ntrue\n'),
    plain("labels like flags", "name\n--log\n-h\n$(touch x)\n`touch x`\n../../etc\n"),
    plain(
        "escape sequences in labels",
        "name\n\x1b[31mred\x1b[0m\n\x1b]0;title\x07\n\x9b31m\nb\x08\x7f\n",
    ),
    plain("escape sequences in headers", "name,\x1b[31mprice,\x9bkind\na,1,x\nb,2,y\n"),
    plain("directions in labels", "name\n\u202eevil\n\u2066a\u2069\n\u200fb\n\u061cc\n"),
    plain("directions in headers", "name,\u202eprice\na,1\nb,2\n"),
    plain("separators of lines in labels", "name\na\u2028b\nc\u2029d\ne\u0085f\n"),
    plain("invisible labels", "name\n\u200b\n\u00a0\n\ufeff\n"),
    plain(
        "our own mark for the end",
        "name\na\n\x01end of table\nb\n",
        None,
        ("a", "\x01end of table", "b"),
    ),
    plain("decimal commas", "name;price\na;1,5\nb;2,25\nc;3,125\n", True, ("a", "b", "c")),
    plain("commas that could mean either", "name;price\na;1,234\nb;2,345\n"),
    plain("two separators that fit", "name,a;b\nx,1;2\ny,3;4\n"),
    plain("infinite numbers", "name,price\na,inf\nb,-Infinity\nc,NaN\nd,1\n"),
    plain("numbers beyond a double", "name,price\na,1e400\nb,-1e400\nc,1\n"),
    plain(
        "numbers at the ends of a double",
        "name,price\na,1.7976931348623157e308\nb,-1.7976931348623157e308\nc,5e-324\n",
    ),
    plain(
        "numbers of ten thousand digits",
        f"name,price\na,{'9' * 10_000}\nb,0.{'0' * 10_000}1\nc,1\n",
    ),
    plain("numbers in other scripts", "name,price\na,١٢\nb,１２\nc,Ⅻ\n"),
    plain("hexadecimal and octal", "name,price\na,0x10\nb,0o7\nc,1_000\n"),
    plain("minus zero", "name,price\na,-0\nb,0\nc,0.0\n"),
    plain("nothing but blanks", "name,price\na,\nb,NA\nc,null\n"),
    plain("a column named like ours", "name,(intercept),(crosses)\na,1,2\nb,2,1\n"),
]

AS_GIVEN = ("--as-given", "--theta-norm-bound", "1")


def after_begin(arena: Arena, desk: Path) -> list[Ran]:
    """Runs every command that shows a log."""
    shows: list[tuple[object, ...]] = [
        ("status", "--log", "a.log"),
        ("status", "--log", "a.log", "--json"),
        ("explain", "--log", "a.log", 1),
        ("explain", "--log", "a.log", 1, "--json"),
        ("replay", "--log", "a.log"),
        ("history", "--log", "a.log"),
        ("history", "--log", "a.log", "--csv"),
        ("history", "--log", "a.log", "--json"),
        ("status", "--log", "a.log", "--html", "s.html"),
        ("status", "--log", "a.log", "--svg", "s.svg"),
        ("explain", "--log", "a.log", 1, "--html", "e.html"),
        ("reward", "--log", "a.log", 1, "0.5"),
    ]
    return [arena.run(desk, *show, memory=2 * MEMORY) for show in shows]


def misspoken(ran: Ran) -> str | None:
    crash = ran.crashed()
    return f"{crash}: {ran}" if crash else raw_control(ran)


def log_fault(case: Case, desk: Path, shown: list[Ran]) -> str | None:
    """The first error of a begun log, or of a command that shows it."""
    log = (desk / "a.log").read_bytes()
    if broken := check_chain(log):
        return broken
    for ran in shown:
        if fault := misspoken(ran):
            return fault
        if ran.code != 0:
            return f"the table was accepted, and then: {ran}"
        if "--json" in ran.args:
            json.loads(ran.out)
        if "--csv" in ran.args and re.search(rb'(^|,)"?[=+@-]', ran.out, re.MULTILINE):
            return f"a spreadsheet would run a cell of {ran.out[:200]!r}"
    for page in ("s.html", "e.html", "s.svg"):
        if b"<script>alert" in (desk / page).read_bytes():
            return f"{page} holds a label as markup"
    labels = tuple(
        event["action-added"]["label"] for event in events(log) if "action-added" in event
    )
    if case.labels is not None and labels != case.labels:
        return f"the labels became {labels}"
    return None


def table_fault(arena: Arena, case: Case, extra: tuple[str, ...]) -> tuple[str, str | None]:
    desk = arena.desk()
    (desk / "t.csv").write_bytes(case.table)
    ran = arena.run(
        desk,
        "decide",
        "--log",
        "a.log",
        "--actions",
        "t.csv",
        "--yes",
        "--seed",
        1,
        *extra,
        memory=MEMORY,
        patience=30,
    )
    try:
        if fault := misspoken(ran):
            return "", fault
        left = sorted(path.name for path in desk.iterdir() if path.name != "t.csv")
        if ran.code != 0:
            if ran.code != 2 or not ran.err.strip() or left:
                return (
                    "",
                    f"a refusal has exit code 2, a reason and leaves nothing ({left} is left): "
                    f"{ran}",
                )
            return "refused", f"was refused: {ran}" if case.accepted and not extra else None
        if case.accepted is False:
            return "", f"was accepted: {ran.out[:200]!r}"
        if ran.out.count(b"\n") != 1:
            return "", f"one decision is one line, and {ran.out!r} was printed"
        return "taken as it is", log_fault(case, desk, after_begin(arena, desk))
    finally:
        arena.done_with(desk)


def endless(arena: Arena, tally: Tally) -> None:
    """/dev/zero, a folder, and an endlessly growing file instead of each input."""
    inputs: list[tuple[str, Callable[[str], tuple[object, ...]]]] = [
        ("a table", lambda path: ("decide", "--log", "a.log", "--actions", path, "--yes")),
        (
            "a policy",
            lambda path: (
                "decide",
                "--log",
                "a.log",
                "--actions",
                "t.csv",
                "--policy",
                path,
                "--yes",
            ),
        ),
        ("outcomes", lambda path: ("reward", "--log", "a.log", "--csv", path)),
        ("a certificate to verify", lambda path: ("verify", path)),
        ("a certificate to explain", lambda path: ("explain", path)),
        ("a spec", lambda path: ("simulate", path, "--out", "out")),
        ("a log to read", lambda path: ("status", "--log", path)),
        ("a log to write", lambda path: ("reward", "--log", path, 1, "0.5")),
    ]
    for what, args in inputs:
        for path in arena.some(
            ("/dev/zero", "folder", "/proc/self/mem", "missing"), 5, f"endless {what}"
        ):
            desk = arena.desk()
            (desk / "t.csv").write_text("name\na\nb\n")
            (desk / "folder").mkdir()
            ran = arena.run(desk, *args(path), memory=MEMORY, patience=30)
            fault = ran.crashed() or ("it was accepted" if ran.code == 0 else None)
            left = sorted(os.listdir(desk))
            fault = fault or (f"left {left}" if left != ["folder", "t.csv"] else None)
            tally.judge("refused", fault and f"{path} as {what}: {fault}: {ran}")
            arena.done_with(desk)


def attack(arena: Arena) -> Tally:
    tally = Tally(
        "tables",
        f"{len(TABLES)} hostile tables, also as vectors; /dev/zero, folders and no file as table, "
        "policy, certificate, spec and log",
    )
    jobs = arena.some(((case, extra) for case in TABLES for extra in ((), AS_GIVEN)), 120, "tables")
    for (case, extra), (outcome, fault) in zip(
        jobs, arena.each(jobs, lambda job: table_fault(arena, *job))
    ):
        tally.judge(outcome, fault and f"{case.what}{' as vectors' if extra else ''}: {fault}")
    endless(arena, tally)
    return tally
