"""Writes rivals.md from the measurements: tables, plots, targets and what is fair.

Clicks have a page of their own (`clicks.py`)."""

import textwrap

import plots
import targets
from words import NAMES, PROSE, RADII


def write(results, out):
    sections = {name: one for name, one in results["sections"].items() if name != "clicks"}
    if not sections:
        return
    results = results | {"sections": sections}
    parts = [PROSE["title"], header(results), PROSE["what"]]
    if "scaling" in sections:
        plots.draw(sections["scaling"]["rows"], out)
    parts += [targets_part(sections), "## Fixed sets", PROSE["fixed"]]
    for name, build in {
        "fixed": fixed_tables, "changing": changing_tables, "differences": differences_table,
        "others": other_tables,
    }.items():  # fmt: skip
        if name in sections:
            parts.append(build(sections[name]))
    parts += [same_table(sections), memory_table(sections)]
    for name, build in {
        "many": many_table,
        "scaling": scaling_part,
        "threads": threads_part,
    }.items():
        if name in sections:
            parts.append(build(sections[name]))
    parts += [skipped_part(results), PROSE["fair"]]
    (out / "rivals.md").write_text("\n\n".join(part for part in parts if part) + "\n")


def header(results):
    sections = results["sections"]
    newest = next(iter(sections.values()))
    machine, versions = newest["machine"], newest["versions"]
    dates = sorted({section["date"] for section in sections.values()})
    total = sum(section["seconds"] for section in sections.values())
    listed = ", ".join(
        f"{name} {number}"
        for name, number in versions.items()
        if name not in ("python", "rustc", "commit")
    )
    lines = [
        f"Command: `{results['command']}` · {' to '.join([dates[0], dates[-1]][: len(dates)])} · "
        f"commit {versions['commit']}",
        f"Machine: {machine['processor']}, {machine['cores']} cores, {machine['system']}, "
        f"{machine.get('vectors', '')}; load before it began {machine.get('load', 0):.1f}",
        f"Versions: rustc {versions['rustc']}, Python {versions['python']}, {listed}",
        f"Turns: {results['repeats']} per contender, in rotation, and up to 40 if they are short. "
        "Ours and numba get thirty times as many where all of their turns are short. The "
        f"fastest counts. The run took {total // 60} min {total % 60} s",
    ]
    shares = sorted(
        row["core_share"]
        for section in sections.values()
        for row in section.get("rows", [])
        if row.get("core_share")
    )
    if shares:
        seen = (
            f"median {shares[len(shares) // 2]:.0%}, least {shares[0]:.0%}, most {shares[-1]:.0%}"
        )
        lines.append(
            "Load: the share of its fastest turn in which a contender had a core, for turns over "
            f"50 ms: {seen}. Less than 100 % "
            "means that the machine was busy, more that a second thread ran"
        )
    built = {
        name: (section["date"], section["versions"]["commit"]) for name, section in sections.items()
    }
    if len(set(built.values())) > 1:  # after runs with --only
        lines += [
            f"Section *{name}*: {date}, commit {commit}" for name, (date, commit) in built.items()
        ]
    text = "\n".join(
        textwrap.fill(
            line,
            100,
            initial_indent="- ",
            subsequent_indent="  ",
            break_long_words=False,
            break_on_hyphens=False,
        )
        for line in lines
    )
    warnings = []
    if results["quick"]:
        warnings.append(
            "**A smoke run: few rounds and turns. No figure on this page means anything.**"
        )
    elif not shares or shares[len(shares) // 2] < 0.95:
        warnings.append(
            "**The machine was busy: times and ratios on this page are not to be relied on.\n"
            "Choices and memory are.**"
        )
    return "\n\n".join([*warnings, text])


def times(rows):
    """(contender, radius, size) → row, failed ones too."""
    return {(row["contender"], row["radius"], tuple(row["size"])): row for row in rows}


def sizes_of(rows):
    return sorted({tuple(row["size"]) for row in rows})


def cell(row):
    if row is None:
        return "–"
    if "error" in row:
        return "failed"
    value = row["micros"]
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:,.0f}"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "| " + " | ".join("---" for _ in head) + " |"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def time_table(rows, kinds, radius):
    found, sizes = times(rows), sizes_of(rows)
    most = max(row.get("rounds", 0) for row in rows)
    head = ["µs per round", *(f"d={d}, K={k:,}" for d, k in sizes)]
    body = []
    for kind in kinds:
        cells = []
        for size in sizes:
            row = found.get((kind, radius, size))
            short = row is not None and row.get("rounds", most) < most
            cells.append(cell(row) + (f" ({row['rounds']:,} rounds)" if short else ""))
        body.append([NAMES[kind], *cells])
    return table(head, body)


def fixed_tables(section):
    rows, text = section["rows"], []
    for radius, name in RADII.items():
        text.append(f"### CODE, {name}\n\n" + time_table(rows, [
            "ours:code-every", "numba:code-incremental", "numba:code-incremental-rows",
            "numpy:code-incremental",
            "ours:code", "numba:code-lazy", "numba:code-full",
        ], radius))  # fmt: skip
    for radius, name in RADII.items():
        text.append(f"### LinUCB, {name}\n\n" + time_table(rows, [
            "ours:lin-ucb", "numba:lin-ucb-incremental", "numba:lin-ucb-incremental-rows",
            "numpy:lin-ucb-incremental",
            "numba:lin-ucb-lazy",
        ], radius))  # fmt: skip
    text.append(
        "### LinTS, and the floor\n\n"
        + time_table(rows, ["ours:lin-ts", "numba:lin-ts", "ours:floor"], "paper")
    )
    return "\n\n".join(text)


def changing_tables(section):
    kinds = [
        f"{side}-{policy}{way}"
        for policy in ("code", "lin-ucb")
        for side, way in (
            ("ours:changing", ""),
            ("numba:changing", ""),
            ("numba:changing", "-blas"),
        )
    ]
    kinds.append("ours:changing-floor")
    return (
        "## Changing sets\n\n"
        + PROSE["changing"]
        + "\n\n"
        + time_table(section["rows"], kinds, "determinant")
    )


def differences_table(section):
    means = targets.differences(section)
    names = {
        "ours:code": "CODE by intervals, the radius `determinant`",
        "ours:code-differences": "CODE by differences, the radius `additive`",
        "ours:code-forecasts": "CODE by differences, the radius `forecast`",
    }
    body = [
        [name, *(cell({"micros": micros[kind]}) for micros in means.values())]
        for kind, name in names.items()
        if all(kind in micros for micros in means.values())
    ]
    head = ["µs per round", *(f"d={d}, K={k:,}" for d, k in means)]
    return f"## What the default costs\n\n{PROSE['differences']}\n\n" + table(head, body)


def other_tables(section):
    kinds = [
        "ours:code", "ours:lin-ucb", "ours:lin-ts", "library:contextualbandits",
        "library:bayesianbandits", "library:vw-regcbopt", "library:vw-squarecb", "library:coba",
        "crate:rill-ml-shared", "library:mabwiser", "crate:rill-ml", "crate:trashpanda",
    ]  # fmt: skip
    text = (
        "## Libraries and crates\n\n"
        + PROSE["others"]
        + "\n\n"
        + time_table(section["rows"], kinds, "paper")
    )
    failed = [row for row in section["rows"] if "error" in row]
    return text + "".join(
        f"\n\n{NAMES[row['contender']]} failed at d, K = {row['size']}: {row['error']}"
        for row in failed
    )


def same_table(sections):
    rows = [row for name in ("fixed", "changing") for row in sections.get(name, {}).get("same", [])]
    if not rows:
        return ""
    checked = [row for row in rows if "rounds" in row]
    rounds = sum(row["rounds"] for row in checked)
    differing = [row for row in checked if row["first"] is not None]
    text = "## The same choices\n\n" + PROSE["same"] + "\n\n"
    text += (
        f"{len(checked)} runs beside ours, {rounds:,} rounds in all: "
        f"{len(checked) - len(differing)} chose the same action in every round"
    )
    text += "." if not differing else f", {len(differing)} did not:"
    for row in differing:
        why = f"; what decided differed by {row['gap']:.1e} of its size" if "gap" in row else ""
        verdict = (
            " (a tie that rounding decides; from there on the runs are two)"
            if row.get("gap", 1.0) < 1e-9
            else " (**not a tie**)"
        )
        text += (
            f"\n- {NAMES[row['contender']]}, {row['policy']}, {row['radius']}, d, K = "
            f"{row['size']}: from round {row['first']}{why}{verdict}"
        )
    for row in rows:
        if "error" in row:
            text += (
                f"\n- {NAMES[row['contender']]}, d, K = {row['size']}: not compared "
                f"({row['error']})"
            )
    return text


def memory_table(sections):
    rows = [
        row
        for name in ("fixed", "others")
        for row in sections.get(name, {}).get("rows", [])
        if "peak_kb" in row
    ]
    if not rows:
        return ""
    size = sizes_of(rows)[-1]
    largest, seen = [], set()
    for row in rows:
        if (
            tuple(row["size"]) == size
            and row["contender"] not in seen
            and not row["contender"].endswith("floor")
        ):
            seen.add(row["contender"])
            largest.append(row)
    matrix = 8 * size[0] * size[1] / 1e6
    body = [
        [
            NAMES[row["contender"]],
            f"{row['peak_kb'] / 1e3:,.0f}",
            f"{(row['peak_kb'] - row['before_kb']) / 1e3:,.0f}",
        ]
        for row in sorted(largest, key=lambda row: row["peak_kb"])
    ]
    head = ["", "peak, MB", "more than it began with, MB"]
    text = PROSE["memory"].format(d=size[0], k=f"{size[1]:,}", matrix=f"{matrix:.1f}")
    return "## Memory\n\n" + text + "\n\n" + table(head, body)


def many_table(section):
    actions, dim = section["actions"], section["dim"]
    matrix = 8 * actions * dim
    body = [
        [
            RADII[run["radius"]],
            f"{run['micros']:.1f}",
            f"{run['build_s'] * 1e3:,.0f}",
            f"{run['peak_kb'] * 1024 / actions:,.0f}",
            f"{run['peak_kb'] * 1024 / matrix:.2f}",
        ]
        for run in section["runs"]
    ]
    head = [
        "CODE as shipped",
        "µs per round",
        "build the set, ms",
        "peak bytes per action",
        "peak / feature matrix",
    ]
    text = PROSE["many"].format(k=f"{actions:,}", d=dim, n=f"{section['rounds']:,}", bytes=8 * dim)
    return "## Very many actions\n\n" + text + "\n\n" + table(head, body)


def scaling_part(section):
    text = "## How the cost grows\n\n" + PROSE["scaling"]
    names = {"K": "against K", "d": "against d", "n": "against n"}
    body = []
    for key, (name, _, _) in plots.LINES.items():
        slopes = [
            plots.exponent(lines[key]) if key in lines else None
            for lines in (plots.series(section["rows"], axis) for axis in names)
        ]
        if any(slope is not None for slope in slopes):
            body.append([name, *("–" if slope is None else f"{slope:.2f}" for slope in slopes)])
    text += "\n\n" + table(["exponent", *names.values()], body)
    for axis, (label, file) in plots.AXES.items():
        if plots.series(section["rows"], axis):
            text += f"\n\n![Microseconds per round against the {label}]({file})"
    return text


def threads_part(section):
    one, two = min(section["one"]), min(section["two"])
    return (
        f"## Threads\n\n{PROSE['threads'].format(runs=section['runs'])}\n\n"
        f"One thread {one:.2f} s, two threads {two:.2f} s: **{one / two:.2f} ×**."
    )


def skipped_part(results):
    if not results.get("skipped"):
        return "## Skipped\n\nNothing: every rival could be installed."
    return "## Skipped\n\n" + "\n".join(
        f"- {name}: `{why}`" for name, why in results["skipped"].items()
    )


def targets_part(sections):
    found = targets.all_ratios(sections)
    sizes = sorted({size for row in found for size in row.seen})
    body, asked, held = [], 0, 0
    for row in found:
        cells = []
        for size in sizes:
            ratio, holds = row.seen.get(size), row.holds(size) if size in row.seen else None
            text = "–" if ratio is None else f"{ratio:,.2f}" if ratio < 10 else f"{ratio:,.0f}"
            cells.append(f"**{text}**" if holds is False else text)
            asked, held = asked + (holds is not None), held + (holds is True)
        least = [row.least(size) for size in sizes]
        told = " / ".join(f"{ratio:g}" for ratio in dict.fromkeys(least) if ratio is not None)
        body.append([row.what, *cells, told or "–"])
    text = table(["times ours", *(f"d={d}, K={k:,}" for d, k in sizes), "asked"], body)
    lines = []
    for what, seen, wanted, holds in targets.single(sections):
        lines.append([what, seen if holds else f"**{seen}**", wanted])
        asked, held = asked + 1, held + holds
    return f"## Targets\n\n{PROSE['targets']}\n\n{held} of {asked} hold.\n\n{text}\n\n" + table(
        ["", "seen", "asked"], lines
    )
