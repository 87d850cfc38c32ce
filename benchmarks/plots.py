"""Draws cost against K, d and the horizon as SVG, with the names at the lines."""

import math

LINES = {
    ("ours:code", "paper"): ("ours as shipped, paper's radius", "#0b6e4f", "-"),
    ("ours:code", "determinant"): ("ours as shipped, valid radius", "#2a9d6f", "-"),
    ("ours:code-every", "determinant"): ("ours, every action", "#5b8c85", "-"),
    ("numba:code-lazy", "determinant"): ("numba lazy, valid radius", "#e08e45", "--"),
    ("numba:code-incremental", "determinant"): ("numba incremental", "#c8553d", "--"),
    ("numba:code-full", "determinant"): ("numba full", "#7a1f1f", "--"),
}
AXES = {
    "K": ("number of actions K (d = 16, n = 10,000)", "scaling-actions.svg"),
    "d": ("number of features d (K = 1,000, n = 10,000)", "scaling-features.svg"),
    "n": ("rounds played n (d = 16, K = 1,000)", "scaling-horizon.svg"),
}


def series(rows, axis):
    """Points of each line, in the order of LINES."""
    found = {}
    for key in LINES:
        points = [
            (row["at"], row["micros"])
            for row in rows
            if row["axis"] == axis and "micros" in row and (row["contender"], row["radius"]) == key
        ]
        if len(points) > 1:
            found[key] = sorted(points)
    return found


def exponent(points):
    """The slope of log cost against log size, fitted to the upper half of the points."""
    upper = points[-max(2, (len(points) + 1) // 2) :]
    xs, ys = [math.log(x) for x, _ in upper], [math.log(y) for _, y in upper]
    mx, my = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((x - mx) * (y - my) for x, y in zip(xs, ys)) / sum((x - mx) ** 2 for x in xs)


def draw(rows, out):
    """Draws one file per axis."""
    import matplotlib  # here, because the page can be written without it

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams.update(
        {
            "svg.hashsalt": "plausibly",
            "svg.fonttype": "none",
            "font.family": "sans-serif",
            "font.size": 11,
        }
    )
    for axis, (label, name) in AXES.items():
        lines = series(rows, axis)
        if not lines:
            continue
        figure, axes = plt.subplots(figsize=(9.6, 4.8))
        for key, points in lines.items():
            _, colour, style = LINES[key]
            axes.plot(*zip(*points), style, marker="o", markersize=3.5, linewidth=1.8, color=colour)
        label_ends(axes, lines)
        axes.set(xscale="log", yscale="log", xlabel=label, ylabel="µs per round (decide and learn)")
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(True, which="major", alpha=0.25)
        figure.subplots_adjust(left=0.09, right=0.66, top=0.97, bottom=0.12)
        figure.savefig(out / name, metadata={"Date": None}, facecolor="white")
        plt.close(figure)


def label_ends(axes, lines):
    """Names and exponents at the last points, moved apart where they would overlap."""
    ends = sorted((points[-1][1], points[-1][0], key) for key, points in lines.items())
    lows = [math.log10(y) for points in lines.values() for _, y in points]
    least = (max(lows) - min(lows)) * 0.062
    at = -math.inf
    for micros, x, key in ends:
        at = max(math.log10(micros), at + least)
        name, colour, _ = LINES[key]
        power = exponent(lines[key])
        axes.annotate(
            f"{name}: {power:.2f}".replace("-", "−"),
            (x, 10**at),
            xytext=(8, 0),
            textcoords="offset points",
            va="center",
            color=colour,
            annotation_clip=False,
        )
