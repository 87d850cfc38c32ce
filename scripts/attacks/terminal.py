"""Control characters in every name a person can give: none may reach the terminal raw."""

from __future__ import annotations

import unicodedata
from pathlib import Path

from .arena import Arena, Ran, Tally
from .material import FEATURES, parse, play, sealed

# Marks that change the direction of text can make it look like another text.
DIRECTIONS = set(
    "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029"
)
EVIL = [
    "\x1b[31mred",
    "\x1b]0;title\x07",
    "\x9b31m",
    "a\rb",
    "a\x08b",
    "\x7f",
    "\u202eevil",
    "a\u2066b",
    "a\u2028b",
]
SPEC = (
    'name = "{evil}"\nruns = 1\nhorizon = 5\n[environment]\nkind = "{kind}"\n{more}\ndim = '
    '2\nactions = 3\nnoise = 0.5\n[[policy]]\nkind = "code"\nlabel = "{label}"\n'
)


def raw_control(ran: Ran) -> str | None:
    """The first control character or direction mark that a command printed."""
    # A CSV in a file or a pipe holds labels unchanged, to be read back; on a terminal it is
    # escaped.
    piped = "history" in ran.args and "--csv" in ran.args
    for name, stream in (
        (("stderr", ran.err),) if piped else (("stdout", ran.out), ("stderr", ran.err))
    ):
        text = stream.decode("utf-8", "replace")
        for at, character in enumerate(text):
            if (
                unicodedata.category(character) == "Cc" and character != "\n"
            ) or character in DIRECTIONS:
                around = text[max(at - 30, 0) : at + 30]
                return (
                    f"U+{ord(character):04X} raw on {name}, in {around!r}: `plausibly "
                    f"{' '.join(ran.args)[:200]!r}`"
                )
    return None


def toml(text: str) -> str:
    """Text inside quotes in TOML, where control characters must be escapes."""
    return "".join(
        f"\\u{ord(c):04x}" if unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp") else c
        for c in text
    )


def spoken(arena: Arena, desk: Path, evil: str) -> list[tuple[str, tuple[object, ...]]]:
    """Commands with a hostile text in one place each."""
    log = ("--log", "a.log")
    decide = ("decide", *log, "--actions", "t.csv")
    (desk / f"{evil}.csv").write_text("name,name\na,b\n")
    (desk / "label.csv").write_text(f'name,price\n"{evil}",1\n"{evil}",2\n', newline="")
    (desk / "number.csv").write_text(f'name,price\na,"{evil}"\nb,2\nc,3\n', newline="")
    (desk / "header.csv").write_text(f'name,"{evil}","{evil}"\na,1,2\n', newline="")
    (desk / "p.toml").write_text(f'kind = "{toml(evil)}"\n')
    (desk / "q.toml").write_text(f'kind = "code"\n"{toml(evil)}" = 1\n')
    (desk / "raw.toml").write_text(f'kind = "{evil}"\n', newline="")
    texts = {"evil": toml(evil), "kind": "linear", "more": "", "label": "a"}
    for name, change in {
        "name": {},
        "kind": {"kind": toml(evil)},
        "field": {"more": f'"{toml(evil)}" = 1'},
        "label": {"label": toml(evil)},
    }.items():
        (desk / f"{name}.toml").write_text(SPEC.format(**(texts | change)))
    certificate = parse(arena.run(desk, "explain", *log, 2, "--json").out.decode())
    certificate["grounds"]["actions"][0]["label"] = evil
    (desk / "grounds.json").write_text(sealed(certificate), encoding="utf-8")
    (desk / "format.json").write_text(sealed(certificate | {"format": evil}), encoding="utf-8")
    (desk / "field.json").write_text(sealed(certificate | {evil: evil}), encoding="utf-8")
    first = ("decide", "--log", "new.log", "--yes", "--actions")
    return [
        ("a command", (evil,)),
        ("a flag", ("decide", f"--{evil}")),
        ("a log", ("status", "--log", evil)),
        ("a log to be begun", ("decide", "--log", f"{evil}.log", "--actions", "t.csv")),
        ("a decision", ("reward", *log, evil, 1)),
        ("a reward", ("reward", *log, 1, evil)),
        ("a time", (*decide, "--at", evil)),
        ("a range", (*decide, "--reward-range", evil)),
        ("a kind", (*decide, "--policy", evil)),
        ("a field", (*decide, "--set", f"{evil}=1")),
        ("a value", (*decide, "--set", f"ridge={evil}")),
        ("a key of the context", (*decide, "--context", f"{evil}=1")),
        ("a value of the context", (*decide, "--context", f"key={evil}")),
        ("a context", (*decide, "--context", evil)),
        ("a column left out", (*first, "t.csv", "--leave-out", evil)),
        ("the path of a table", ("decide", *log, "--actions", evil)),
        ("a table's name", (*first, f"{evil}.csv")),
        ("a label", (*first, "label.csv")),
        ("a cell", (*first, "number.csv")),
        ("a header", (*first, "header.csv")),
        ("a policy's kind", (*decide, "--policy", "p.toml")),
        ("a policy's field", (*decide, "--policy", "q.toml")),
        ("a policy's text", (*decide, "--policy", "raw.toml")),
        ("a replayed field", ("replay", *log, "--set", f"{evil}=1")),
        ("a certificate's path", ("verify", evil)),
        ("a certificate's label", ("verify", "grounds.json")),
        ("a label beside the log", ("verify", "grounds.json", *log)),
        ("a label to explain", ("explain", "grounds.json")),
        ("a format", ("verify", "format.json")),
        ("a field of a certificate", ("verify", "field.json")),
        ("a verdict as JSON", ("verify", "grounds.json", *log, "--json")),
        ("a page", ("status", *log, "--html", f"none/{evil}")),
        ("a spec's path", ("simulate", evil)),
        ("a spec's name", ("simulate", "name.toml", "--out", "o1")),
        ("a spec's kind", ("simulate", "kind.toml", "--out", "o2")),
        ("a spec's field", ("simulate", "field.toml", "--out", "o3")),
        ("a spec's label", ("simulate", "label.toml", "--out", "o4")),
        ("a spec's label in JSON", ("simulate", "label.toml", "--out", "o5", "--json")),
        ("a folder", ("simulate", "name.toml", "--out", f"none\0{evil}".split("\0")[1])),
        ("an experiment", ("reproduce", evil)),
        ("a data set", ("data", "verify", evil)),
        ("a shell", ("completions", evil)),
    ]


def attack(arena: Arena) -> Tally:
    tally = Tally(
        "terminal",
        "control characters and marks of direction in every argument, table, policy, spec and "
        "certificate",
    )
    for evil in EVIL if arena.size == "full" else EVIL[::2]:
        desk = arena.desk()
        play(arena, desk, FEATURES, 3)
        places = arena.some(spoken(arena, desk, evil), 50, f"terminal {evil}")

        def said(place: tuple[str, tuple[object, ...]], desk: Path = desk) -> str | None:
            ran = arena.run(desk, *place[1])
            crash = ran.crashed()
            return f"{crash}: {ran}" if crash else raw_control(ran)

        for (what, _), fault in zip(places, arena.each(places, said)):
            tally.judge("shown harmlessly, or refused", fault and f"{evil!r} as {what}: {fault}")
        arena.done_with(desk)
    return tally
