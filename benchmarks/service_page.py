"""Writes the page of the decision service: each target beside what was measured."""

from __future__ import annotations

import statistics
import textwrap
from typing import Any

Results = dict[str, Any]
MEMORY = 512  # MiB
REFUSAL = 10.0  # milliseconds
BACK = 5  # seconds


def page(results: Results) -> str:
    speed, limits = speed_targets(results["turns"]), limit_targets(results)
    parts = [
        "# The decision service",
        wrap(
            f"Command: `{results['command']}` · {results['date']} · commit {results['commit']} · "
            f"{results['machine']['cores']} cores of {results['machine']['processor']}, "
            f"load before it began {results['machine'].get('load', 0):.1f}"
        ),
        wrap(WHAT.format(line=results["line"], turns=len(results["turns"]["decide"]))),
        "## Targets",
        table(["target", "needed", "measured", ""], speed + limits),
        bullets(NOTES),
        "## What was measured",
        table(["load", "per second", "p50 ms", "p99 ms", "longest ms", "answers"], loads(results)),
        bullets(other_facts(results)),
    ]
    if results["quick"]:
        parts.insert(1, "**A short run: its figures say only that everything runs.**")
    return "\n\n".join(parts) + "\n"


def best(runs: list[Results], kind: str) -> float:
    """The largest rate of all turns: the one that the machine disturbed least."""
    return max(rate(run, kind) for run in runs)


def rate(run: Results, kind: str) -> float:
    return run["kinds"].get(kind, {}).get("per_second", 0.0)


def middle(runs: list[Results], kind: str, field: str) -> float:
    """The median of the turns; a turn without such answers counts as endless."""
    return statistics.median(run["kinds"].get(kind, {}).get(field, float("inf")) for run in runs)


def speed_targets(turns: Results) -> list[list[str]]:
    lean = min(run["smallest_us"] for run in turns["lean"])
    constant = 1e6 / best(turns["constant"], "constant")
    decide, pairs = best(turns["decide"], "decide"), best(turns["pairs"], "reward")
    many = best(turns["many"], "decide")
    files = max(run["per_second"] for run in turns["bare-many"])
    bound = 0.5e6 / (lean + constant)
    found = [
        at_least("durable decisions per second", bound, decide),
        at_least("pairs of a decision and its reward per second", 0.4 * decide, pairs),
    ]
    if "rival-decide" in turns:
        rival = best(turns["rival-decide"], "decide")
        rival_pairs = best(turns["rival-pairs"], "reward")
        found += [
            at_least("decisions per second beside predictions of BanditDB 2.0.0", rival, decide),
            at_least("pairs per second beside 1.5 times its own", 1.5 * rival_pairs, pairs),
        ]
    else:
        found += [
            ["decisions per second beside predictions of BanditDB 2.0.0", "1.0 ×", "", "not run"],
            ["pairs per second beside its own", "1.5 ×", "", "not run"],
        ]
    for field, least in (("p50_ms", 3.0), ("p99_ms", 15.0)):
        bare = statistics.median(run[field] for run in turns["bare-open"])
        for kind, name in (("decide", "decisions"), ("reward", "rewards")):
            found.append(
                at_most(
                    f"open loop, {field[:3]} of {name}, ms",
                    max(least, 4 * bare),
                    middle(turns["open"], kind, field),
                )
            )
    found.append(
        at_least("decisions per second of 100 experiments", 0.5 * min(decide, files), many)
    )
    return found


def limit_targets(results: Results) -> list[list[str]]:
    crowd, after = results["overload"]["crowd"], results["overload"]["after"]
    refused = crowd["kinds"].get("refused")
    found = [at_most("ten times too much: memory, MiB", MEMORY, results["overload"]["memory"])]
    name = "ten times too much: p99 of refusals, ms"
    if refused:
        found.append(at_most(name, REFUSAL, refused["p99_ms"]))
    else:
        found.append([name, f"at most {number(REFUSAL)}", "no refusals", "met"])
    bare = statistics.median(run["p99_ms"] for run in results["turns"]["bare-open"])
    back = seconds_until_nominal(after["windows"], max(15.0, 4 * bare))
    found.append(at_most("nominal again after it, s", BACK, back))
    halves = results["half-open"]
    for when in ("later", "earlier"):
        for kind, name in (("decide", "decisions"), ("reward", "rewards")):
            usual = middle(halves["without"], kind, "p99_ms")
            good = [run or {"kinds": {}} for run in halves[when]]
            words = f"5,000 half-open connections, begun {when}: p99 of {name}, ms"
            found.append(at_most(words, 1.5 * usual, middle(good, kind, "p99_ms")))
    return found


def seconds_until_nominal(windows: list[list[float]], p99: float) -> float:
    """Whole seconds from the first one until all that follow have no failure and this p99."""
    bad = [at for at, (_, failed, took) in enumerate(windows) if failed or took > p99]
    if not bad:
        return 0
    return bad[-1] + 1 if bad[-1] + 1 < len(windows) else float("inf")


def at_least(name: str, needed: float, measured: float) -> list[str]:
    verdict = "met" if measured >= needed else "**missed**"
    return [name, f"at least {number(needed)}", number(measured), verdict]


def at_most(name: str, needed: float, measured: float) -> list[str]:
    verdict = "met" if measured <= needed else "**missed**"
    return [name, f"at most {number(needed)}", number(measured), verdict]


def number(value: float) -> str:
    if value == float("inf"):
        return "never"
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.3g}"


LOADS = {
    "decide": "decisions, closed loop",
    "pairs": "pairs, closed loop",
    "many": "decisions of 100 experiments, closed loop",
    "constant": "an answer that is always the same, closed loop",
    "open": "decisions and rewards, open loop",
    "rival-decide": "predictions of BanditDB 2.0.0, closed loop",
    "rival-pairs": "pairs of BanditDB 2.0.0, closed loop",
}
BARE = {
    "bare": "bare loop, one sync for each line",
    "bare-many": "32 bare loops on files of their own",
    "bare-open": "bare loop at 6,000 lines per second, one sync for all that are due",
}


def loads(results: Results) -> list[list[str]]:
    turns = results["turns"]
    rows = []
    for name, words in LOADS.items():
        if name in turns:
            rows += load_rows(words, turns[name])
    for name, words in BARE.items():
        fields = ("p50_ms", "p99_ms", "max_ms")
        times = [statistics.median(run[field] for run in turns[name]) for field in fields]
        lines = max(run["per_second"] for run in turns[name])
        rows.append([words, number(lines), *map(number, times), ""])
    more = results["overload"]
    rows += load_rows(f"overload, {number(more['rate'])} decisions per second", [more["crowd"]])
    rows += load_rows("open loop right after it", [more["after"]])
    halves = results["half-open"]
    rows += load_rows("open loop, no half-open connections", halves["without"])
    for when in ("later", "earlier", "again"):
        runs = [run for run in halves[when] if run]
        rows += load_rows(f"open loop, 5,000 half-open connections begun {when}", runs)
    return rows


def load_rows(words: str, runs: list[Results]) -> list[list[str]]:
    if not runs:
        return [[words, "", "", "", "", "no connection could be made"]]
    kinds = list(dict.fromkeys(kind for run in runs for kind in run["kinds"]))
    rows = []
    for kind in kinds:
        times = [middle(runs, kind, field) for field in ("p50_ms", "p99_ms", "max_ms")]
        named = f"{words}: {kind}" if len(kinds) > 1 else words
        answers = answered(runs) if kind == kinds[0] else ""
        rows.append([named, number(best(runs, kind)), *map(number, times), answers])
    return rows or [[words, "", "", "", "", answered(runs)]]


def answered(runs: list[Results]) -> str:
    """Statuses and errors of all turns."""
    sums: dict[str, int] = {}
    for run in runs:
        others = {key: run[key] for key in ("unsent", "forgone")}
        for name, count in (run["statuses"] | run["errors"] | others).items():
            sums[name] = sums.get(name, 0) + count
    return ", ".join(f"{count:,} {name}" for name, count in sums.items() if count)


def other_facts(results: Results) -> list[str]:
    turns, more = results["turns"], results["overload"]
    lean = min(run["smallest_us"] for run in turns["lean"])
    floods = [run for run in results["half-open"]["flood"] if run]
    held = max((run["most"] for run in floods), default=0)
    ended = max((run["ended"] for run in floods), default=0)
    facts = [
        f"A lean decision took {lean:.1f} µs, and an answer that is always the same "
        f"{1e6 / best(turns['constant'], 'constant'):.1f} µs.",
        f"The service took at most {turns['memory'][0]['most']:.0f} MiB in all turns, and "
        f"{more['memory']:.0f} MiB in the run with too much load.",
        f"At most {held:,} half-open connections stood at the same time, and the service ended "
        f"{ended:,} of those begun in a run.",
    ]
    if "rival-decide" not in turns:
        facts.append("BanditDB 2.0.0: not run. `--rival` takes the address where it runs.")
    return facts


WHAT = """
The service decides among 50 actions with 32 features. One process sends all requests, over 32
connections on the same machine, and shares its cores with the service. In a closed loop a
connection sends its next request when the last one is answered; in the open loop 3,000 decisions
and 3,000 rewards start each second at fixed times, over 64 connections, and latencies count from
these times. Rewards begin half a second after the decisions, which lowers both rates a little.
Measurements take turns, and this page has {turns} of each: the largest rate, and the median of
latencies. Bare loops append {line} bytes, the length of a decision's line, to a file
on the same disk, and sync it.
"""
NOTES = [
    "Decisions must reach half of 1/(t of a lean decision + t of an answer that is always the "
    "same). A lean decision is one of the library, in memory and without a sync; its time is the "
    "smallest of all turns. The constant answer is `/healthz`, closed loop.",
    "Pairs must reach 0.4 of the decisions per second that were measured.",
    "In the open loop the limits are 3 ms and 15 ms, or four times those of the bare loop that "
    "syncs all lines that are due at once.",
    "A hundred experiments must reach half of the smaller one of: decisions of one experiment, "
    "and 32 bare loops on files of their own.",
    "Ten times too much: ten times the decisions per second of the closed loop, over 1,000 "
    "connections. Requests that find all of them taken are not sent. Refusals are answers 429 "
    "and 503, from the sending. It is nominal again once the open loop, started right after, has "
    "no failure and meets its limit in every later second.",
    "Good requests may take 1.5 times as long while 5,000 connections never finish their "
    "requests. These are begun once, after the good connections (later) or before them (earlier). "
    "As a harder case, without a target, each that the service ends is begun again after a second "
    "(again).",
]


def wrap(text: str) -> str:
    text = " ".join(text.split())
    return textwrap.fill(text, 100, break_long_words=False, break_on_hyphens=False)


def bullets(lines: list[str]) -> str:
    wrapper = textwrap.TextWrapper(
        100, initial_indent="- ", subsequent_indent="  ", break_on_hyphens=False
    )
    return "\n".join(map(wrapper.fill, lines))


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
