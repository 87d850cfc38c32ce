"""Clicks: CODE over a logistic model beside NumPy and contextualbandits, and its page."""

import json
import os
import subprocess

import numpy as np
from page import header, table, time_table
from race import HUGE_PAGES, ONE_THREAD, Contender, Entry, race, write_clicks
from sections import compare, row
from targets import ratios, rows_of
from words import CLICKS, NAMES

OURS, NUMPY = "ours:glm-code", "numpy:glm-code"
SHARED = [
    "library:contextualbandits-logistic-ucb-shared",
    "library:contextualbandits-logistic-ts-shared",
]
SEPARATE = ["library:contextualbandits-logistic-ucb", "library:contextualbandits-logistic-ts"]
# Rounds of the largest size, where NumPy takes milliseconds for one.
FEW_ROUNDS = 1_000
# Rounds in which enough is ruled out for choices to show the confidence set.
LONG_ROUNDS = 100_000
NUMPY_LEAST = {(5, 100): 20.0}
REFIT_MOST = 2.0


def clicks(settings):
    rows, same = [], []
    for size in settings.sizes:
        settings.say(f"  d, K = {size}")
        few = size[1] >= 10_000
        rounds = FEW_ROUNDS if few else settings.rounds
        folder = write_clicks(settings.scratch / "clicks", *size, rounds)
        whole = [OURS, NUMPY, *SHARED]
        entries = [Entry(kind, "likelihood", kind in whole) for kind in [*whole, *SEPARATE]]
        race(entries, folder, rounds, settings, compare=True)
        rows += [row(entry, size) for entry in entries]
        same += compare(entries[:2], folder, size, "clicks", "likelihood")
        if not settings.quick and not few:
            same += long_run(settings, size)
    turns = 5 * settings.repeats
    return {"rows": rows, "same": same, "refit": refit(settings, folder, turns)}


def long_run(settings, size):
    """Ours and NumPy, once and for long; only their choices count."""
    folder = write_clicks(settings.scratch / "clicks-long", *size, LONG_ROUNDS)
    entries = [Entry(kind, "likelihood", whole=True) for kind in (OURS, NUMPY)]
    file = settings.scratch / "choices.i64"
    for entry in entries:
        contender = Contender(entry, folder, settings.target)
        contender.turn(LONG_ROUNDS, file)
        contender.end()
        entry.choices = np.fromfile(file, np.int64)
    return compare(entries, folder, size, "clicks", "likelihood")


def refit(settings, folder, turns):
    """One refit, with every action taken, beside the products that it needs."""
    said = subprocess.run(
        [str(settings.target / "release/refit"), str(folder), str(turns)],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | ONE_THREAD | HUGE_PAGES,
    ).stdout
    settings.say(f"    {said.strip()}")
    return json.loads(said)


def write(results, out):
    section = results["sections"]["clicks"]
    own = results | {"command": section["command"], "sections": {"clicks": section}}
    parts = [
        CLICKS["title"],
        header(own),
        CLICKS["what"],
        target_tables(section),
        "## A round",
        CLICKS["round"],
        time_table(section["rows"], [OURS, NUMPY, *SHARED, *SEPARATE], "likelihood"),
        *failures(section),
        same_part(section),
    ]
    (out / "clicks.md").write_text("\n\n".join(parts) + "\n")


def target_tables(section):
    times = rows_of(section)
    found = [
        ratios("CODE as shipped: NumPy", NUMPY_LEAST, times, OURS, [NUMPY], "likelihood"),
        *(ratios(NAMES[kind], {}, times, OURS, [kind], "likelihood") for kind in SHARED),
    ]
    sizes = sorted({size for one in found for size in one.seen})
    body = []
    for one in found:
        cells = [
            "–" if size not in one.seen
            else f"**{one.seen[size]:,.1f}**" if one.holds(size) is False
            else f"{one.seen[size]:,.1f}"
            for size in sizes
        ]  # fmt: skip
        asked = [one.least(size) for size in sizes]
        body.append([one.what, *cells, " / ".join("–" if n is None else f"{n:g}" for n in asked)])
    head = ["times ours", *(f"d={d}, K={k:,}" for d, k in sizes), "asked"]
    one = section["refit"]
    seen = f"{one['refit'] / one['products']:.2f}"
    seen = seen if one["refit"] <= REFIT_MOST * one["products"] else f"**{seen}**"
    same = [row for row in section["same"] if row.get("first", 0) is None]
    agreed = f"{len(same)} of {len(section['same'])}"
    agreed = agreed if len(same) == len(section["same"]) else f"**{agreed}**"
    sizes = f"{one['refit'] * 1e3:.1f} ms by {one['products'] * 1e3:.1f} ms"
    what = f"One refit by six sums of outer products, {one['rows']:,} rows, {sizes}"
    single = [
        [what, seen, f"at most {REFIT_MOST:g}"],
        ["Runs of NumPy that chose as ours did in every round", agreed, "all"],
    ]
    return (
        f"## Targets\n\n{CLICKS['targets']}\n\n"
        + table(head, body)
        + "\n\n"
        + table(["", "seen", "asked"], single)
    )


def same_part(section):
    lines = []
    for run in section["same"]:
        dim, actions = run["size"]
        at = run.get("error") or (
            "the same action in every round"
            if run["first"] is None
            else f"**another action in round {run['first']:,}**"
        )
        lines.append([f"d={dim}, K={actions:,}", f"{run.get('rounds', 0):,}", at])
    return (
        "## The same choices\n\n"
        + CLICKS["same"]
        + "\n\n"
        + table(["", "rounds", "NumPy beside ours"], lines)
    )


def failures(section):
    return [
        f"{NAMES[one['contender']]} failed at d, K = {one['size']}: {one['error']}"
        for one in section["rows"]
        if "error" in one
    ]
