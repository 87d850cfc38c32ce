"""The targets, with the measured ratios: the time of the fastest rival divided by ours."""

from words import NAMES, RADII

SHIPPED = {
    "paper": {(5, 100): 1.8, (16, 1000): 5.0, (64, 10_000): 10.0},
    "determinant": {(5, 100): 1.6, (16, 1000): 5.0, (64, 10_000): 8.0},
}
# What is measured beside CODE by intervals, and the most that a round of it may cost as a multiple.
DIFFERENCES = {
    "ours:code-differences": ("CODE by differences with `additive`", 1.5),
    "ours:code-forecasts": ("CODE by differences with `forecast`", 2.5),
}
# Which of ours each library is compared with; LinUCB for those not listed.
BESIDE = {
    "library:bayesianbandits": "ours:lin-ts",
    "library:vw-regcbopt": "ours:code",
    "library:vw-squarecb": "ours:code",
}


class Ratios:
    """One row of the table: one ratio per size."""

    def __init__(self, what, asked):
        self.what, self.asked, self.seen = what, asked, {}

    def least(self, size):
        return self.asked.get(size) if isinstance(self.asked, dict) else self.asked

    def holds(self, size):
        least = self.least(size)
        return None if least is None else self.seen[size] >= least


def rows_of(section):
    """(contender, radius, size) → microseconds per round, without failed contenders."""
    rows = section.get("rows", [])
    return {
        (row["contender"], row["radius"], tuple(row["size"])): row["micros"]
        for row in rows
        if "micros" in row
    }


def ratios(what, asked, times, ours, rivals, radius):
    """The time of the fastest rival divided by ours, at each size that both played."""
    row = Ratios(what, asked)
    for size in sorted({size for _, _, size in times}):
        theirs = [times[kind, radius, size] for kind in rivals if (kind, radius, size) in times]
        if theirs and (ours, radius, size) in times:
            row.seen[size] = min(theirs) / times[ours, radius, size]
    return row


def differences(section):
    """Size → contender → mean microseconds per round over the problems.

    A size is left out if a contender failed at it.
    """
    found = {}
    for row in section["rows"]:
        columns = found.setdefault(tuple(row["size"]), {})
        columns.setdefault(row["contender"], []).append(row.get("micros"))
    return {
        size: {kind: sum(column) / len(column) for kind, column in columns.items()}
        for size, columns in sorted(found.items())
        if all(None not in column for column in columns.values())
    }


def all_ratios(sections):
    fixed, changing, others = (
        rows_of(sections.get(name, {})) for name in ("fixed", "changing", "others")
    )

    def incremental(policy):
        return [f"numba:{policy}-incremental", f"numba:{policy}-incremental-rows"]

    found = []
    for radius, name in RADII.items():
        found += [
            ratios(
                f"CODE, same algorithm, {name}: numba incremental",
                1.0,
                fixed,
                "ours:code-every",
                incremental("code"),
                radius,
            ),
            ratios(
                f"CODE as shipped, {name}: numba incremental",
                SHIPPED[radius],
                fixed,
                "ours:code",
                incremental("code"),
                radius,
            ),
            ratios(
                f"CODE as shipped, {name}: numba lazy",
                {},
                fixed,
                "ours:code",
                ["numba:code-lazy"],
                radius,
            ),
            ratios(
                f"CODE as shipped, {name}: NumPy",
                10.0,
                fixed,
                "ours:code",
                ["numpy:code-incremental"],
                radius,
            ),
            ratios(
                f"LinUCB, {name}: numba incremental",
                {},
                fixed,
                "ours:lin-ucb",
                incremental("lin-ucb"),
                radius,
            ),
            ratios(
                f"LinUCB, {name}: numba lazy",
                {},
                fixed,
                "ours:lin-ucb",
                ["numba:lin-ucb-lazy"],
                radius,
            ),
        ]
    found.append(ratios("LinTS: numba", 1.0, fixed, "ours:lin-ts", ["numba:lin-ts"], "paper"))
    for policy, name in (("code", "CODE"), ("lin-ucb", "LinUCB")):
        rivals = [f"numba:changing-{policy}", f"numba:changing-{policy}-blas"]
        found.append(
            ratios(
                f"Changing sets, {name}: numba full",
                1.0,
                changing,
                f"ours:changing-{policy}",
                rivals,
                "determinant",
            )
        )
    for kind in dict.fromkeys(kind for kind, _, _ in others if not kind.startswith("ours:")):
        found.append(
            ratios(
                NAMES[kind],
                10.0 if kind.startswith("library:") else {},
                others,
                BESIDE.get(kind, "ours:lin-ucb"),
                [kind],
                "paper",
            )
        )
    return [row for row in found if row.seen]


def single(sections):
    """(what, seen, asked, holds) for targets that do not depend on the size."""
    found = []
    if "differences" in sections:
        means = differences(sections["differences"]).values()
        for kind, (what, most) in DIFFERENCES.items():
            costs = [columns[kind] / columns["ours:code"] for columns in means if kind in columns]
            found.append(
                (
                    f"{what} / by intervals with `determinant`, by size",
                    " / ".join(f"{cost:.2f}" for cost in costs),
                    f"at most {most}",
                    max(costs, default=0.0) <= most,
                )
            )
    if "many" in sections:
        many = sections["many"]
        peak = (
            max(run["peak_kb"] for run in many["runs"]) * 1024 / (8 * many["actions"] * many["dim"])
        )
        found.append(
            (
                f"K = {many['actions']:,}, d = {many['dim']}: peak memory / feature matrix",
                f"{peak:.2f}",
                "at most 1.6",
                peak <= 1.6,
            )
        )
    if "threads" in sections:
        ratio = min(sections["threads"]["one"]) / min(sections["threads"]["two"])
        found.append(
            ("Replications: one thread by two", f"{ratio:.2f}", "at least 1.8", ratio >= 1.8)
        )
    if "fixed" in sections:
        compared = [
            row for name in ("fixed", "changing") for row in sections.get(name, {}).get("same", [])
        ]
        same = sum(1 for row in compared if row.get("first", 0) is None)
        found.append(
            (
                "Runs of NumPy and numba that chose as ours did in every round",
                f"{same} of {len(compared)}",
                "all",
                same == len(compared),
            )
        )
    return found
