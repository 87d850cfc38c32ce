"""Checks the intervals, standings and known_within of a certificate, without plausibly.

Usage: python3 check_certificate.py FILE. Handles the radii determinant (features), mixture (arms)
and fixed; needs only Python.
"""

import json
import math
import sys


def solve(matrix, vector):
    """matrix⁻¹·vector and log det, by elimination with pivoting."""
    rows = [row[:] + [x] for row, x in zip(matrix, vector)]
    log_det = 0.0
    for k in range(len(rows)):
        pivot = max(range(k, len(rows)), key=lambda r: abs(rows[r][k]))
        rows[k], rows[pivot] = rows[pivot], rows[k]
        log_det += math.log(abs(rows[k][k]))
        for r in range(len(rows)):
            if r != k:
                factor = rows[r][k] / rows[k][k]
                rows[r] = [a - factor * b for a, b in zip(rows[r], rows[k])]
    return [row[-1] / row[k] for k, row in enumerate(rows)], log_det


def half_width(grounds, radius, width_sq, log_det):
    """Half an interval, for rewards scaled to length one."""
    low, high = grounds["reward_range"]
    noise = radius.get("noise_scale", (high - low) / 2) / (high - low)
    d = len(grounds["features"])
    # A radius of its own bounds θ* of vectors as given in units of reward.
    unit = high - low if grounds.get("as_given") else 1
    norm = (
        radius["theta_norm_bound"] / unit
        if "theta_norm_bound" in radius
        else grounds["theta_norm_bound"]
        if d
        else 0
    )
    # Features and rewards are multiples of 2⁻²⁴; the radius covers their rounding.
    rounding = 2**-25 * (1 + math.sqrt(d) * norm) * math.sqrt(grounds["statistics"]["observations"])
    if radius["kind"] == "fixed":
        return (radius["sqrt_beta"] / (high - low) + rounding) * math.sqrt(width_sq)
    if radius["kind"] == "determinant":
        ridge = grounds["policy"]["ridge"]
        spread = noise * math.sqrt(
            log_det - d * math.log(ridge) + 2 * math.log(1 / radius["delta"])
        )
        return (spread + math.sqrt(ridge) * norm + rounding) * math.sqrt(width_sq)
    if radius["kind"] == "mixture":
        if math.isinf(width_sq):
            return math.inf
        share, plays = radius["delta"] / grounds["arms_sharing"], 1 / width_sq
        return (
            noise
            * math.sqrt((plays + 1) / plays**2 * (math.log(plays + 1) + 2 * math.log(1 / share)))
            + 2**-25
        )
    sys.exit(f"this checker does not know the radius {radius['kind']}")


def scores(grounds):
    """Scaled mean and squared width of each listed action, and log det V."""
    sums = grounds["statistics"]
    if not grounds["features"]:
        arms = zip(sums["plays"], sums["moment"])
        return [(paid / n, 1 / n) if n else (0.0, math.inf) for n, paid in arms], 0.0
    theta, log_det = solve(sums["gram"], sums["moment"])
    dot = lambda x, y: sum(a * b for a, b in zip(x, y))
    actions = [action["features"] for action in grounds["actions"]]
    return [(dot(x, theta), dot(x, solve(sums["gram"], x)[0])) for x in actions], log_det


def once(pairs):
    """A JSON object without duplicate keys: readers disagree on which of the two counts."""
    found = dict(pairs)
    return (
        found
        if len(found) == len(pairs)
        else sys.exit(f"duplicate key among {[key for key, _ in pairs]}")
    )


def main(path):
    with open(path, encoding="utf-8") as file:
        certificate = json.load(file, object_pairs_hook=once)
    grounds, findings = certificate["grounds"], certificate["findings"]
    default = {"kind": "determinant" if grounds["features"] else "mixture", "delta": 0.05}
    radius = grounds["policy"].get("radius", default)
    low, high = grounds["reward_range"]
    known, log_det = scores(grounds)
    intervals = [
        (m - h, m, m + h)
        for m, h in ((m, half_width(grounds, radius, w, log_det)) for m, w in known)
    ]
    best_lower = max(lower for lower, _, _ in intervals)
    centre = 0 if grounds.get("as_given") else (low + high) / 2
    shown = lambda x: min(max(centre + (high - low) * x, low), high)
    for (lower, mean, upper), action in zip(intervals, findings["actions"]):
        for name, expected in [("lower", shown(lower)), ("upper", shown(upper))]:
            if abs(action[name] - expected) > 1e-7 * (high - low):
                sys.exit(f"{action['label']}: {name} is {action[name]}, and {expected} follows")
        if action["mean"] is not None and abs(
            action["mean"] - centre - (high - low) * mean
        ) > 1e-7 * (high - low):
            sys.exit(f"{action['label']}: the estimate does not follow")
        plausible = action["standing"] == "plausible"
        if plausible != (upper >= best_lower) and abs(upper - best_lower) > 1e-9:
            sys.exit(f"{action['label']}: the standing does not follow")
    # No true average is outside the range, so an estimate is off by at most its distance to the
    # farther end.
    off = lambda lower, mean, upper: min(
        (high - low) * (upper - mean),
        max(high - centre - (high - low) * mean, centre + (high - low) * mean - low),
    )
    racing = [
        i for i, action in zip(intervals, findings["actions"]) if action["standing"] == "plausible"
    ]
    within = (
        None
        if any(math.isinf(upper) for _, _, upper in racing)
        else max(off(*interval) for interval in racing)
    )
    if (
        (within is None) != (findings["known_within"] is None)
        or within is not None
        and abs(within - findings["known_within"]) > 1e-7 * (high - low)
    ):
        sys.exit(f"known_within is {findings['known_within']}, and {within} follows")
    print(
        f"decision {grounds['decision']}: {len(intervals)} intervals and standings follow from "
        "the statistics, and what is known within"
    )


main(sys.argv[1])
