"""Checks the seal, intervals, standings, forecasts and known_within of a certificate, without
plausibly.

Usage: python3 check_certificate.py FILE. Handles certificates of versions 1 and 2 with the radii
forecast, additive and determinant (features), two-point and mixture (arms) and fixed; needs only
Python.
"""

import hashlib
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


def dot(x, y):
    return sum(a * b for a, b in zip(x, y))


# Arms: two-point intervals and pairs.
BETS = [(2 ** (j / 2), math.log(0.9 / 29 if j >= -18 else 0.1 / 26)) for j in range(-44, 11)]


def up(n, s, q, m):
    """Evidence that a mean in [0, 1] is above m, from n rewards with sum s and squares q."""
    p, xi = (s * s / q, q / s) if s > 0 else (0, 0)
    if s > 0 and m <= 0:
        return math.inf
    logs = [w - n * math.log1p(o) + p * math.log1p(o * xi / m if s > 0 else 0) for o, w in BETS]
    top = max(logs)
    return top + math.log(sum(math.exp(log - top) for log in logs))


def down(n, s, q, m):
    return up(n, n - s, max(n - 2 * s + q, (n - s) ** 2 / n if n else 0), 1 - m)


def lower_end(n, s, q, needed):
    """The largest m with enough evidence above it."""
    low, high = 0.0, s / n if n else 0.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if up(n, s, q, middle) >= needed else (low, middle)
    return low


def bounded(grounds, radius):
    """Intervals of all arms, and which of them are beaten by the leader: True, False or unsure."""
    delta = radius["delta"] / 2 if radius["pairs"] else radius["delta"]
    step = 2**-25
    needed = math.log(2 * grounds["arms_sharing"] / delta)
    sums = grounds["statistics"]
    # From [−½, ½] to [0, 1].
    arms = [(n, s + n / 2, q + s + n / 4) for n, s, q in zip(*map(sums.get, KEYS))]
    intervals = []
    for n, s, q in arms:
        lower = lower_end(n, s, q, needed)
        upper = 1 - lower_end(n, n - s, n - 2 * s + q, needed)
        lower, upper = max(lower - step, 0), min(upper + step, 1)
        intervals.append((lower - 0.5, s / n - 0.5 if n else 0.0, upper - 0.5))
    if not radius["pairs"]:
        return intervals, [False] * len(arms)
    return intervals, pairs(grounds, arms, delta, needed, step)


def pairs(grounds, arms, delta, aside, step):
    """Which actions the leader beats by what each has paid: True, False or None if unsure."""
    played = [arm for arm in arms if arm[0]]
    if not played:
        return [False] * len(arms)
    sharing = grounds["pairs_sharing"]
    shares = 2 * sharing["first"]
    if sharing["changed"]:
        shares, known = 2 * sharing["first"] ** 2, sharing["first"]
        while known < sharing["ever"]:
            shares, known = 8 * shares, 2 * known
    leader = max(played, key=lambda arm: arm[1] / arm[0])
    return [beaten(leader, arm, math.log(shares / delta), aside, step) for arm in arms]


KEYS = ("plays", "moment", "squares")


def beaten(a, b, needed, aside, step):
    """Whether what two arms have paid shows that a is better; None if that is too close to tell."""
    if not b[0] or a[1] / a[0] <= b[1] / b[0]:
        return False
    low, high = b[1] / b[0], a[1] / a[0]
    both = lambda m: up(*a, m + step) + down(*b, m - step)
    least = min(up(*a, low + step), down(*b, high - step)) - aside
    for _ in range(100):
        # The sum is convex, so thirds narrow its minimum.
        left, right = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, right) if both(left) < both(right) else (left, high)
    least = min(least, both((low + high) / 2) - needed)
    return None if abs(least) < 1e-6 else least > 0


# Features: forecasts.
def forecasts(grounds, chosen):
    """Three forecasts of the scaled reward of an action: by ridges with penalties 1, 10, 100."""
    sums, ridge = grounds["statistics"], grounds["policy"].get("ridge", 1.0)
    weak = not grounds.get("as_given") and grounds["features"][0] == "intercept"
    low, high = scaled_range(grounds)
    made = []
    for penalty in (1, 10, 100):
        gram = [row[:] for row in sums["gram"]]
        for i, row in enumerate(gram):
            row[i] += (0.25 if weak and i == 0 else penalty) - ridge
        made.append(min(max(dot(chosen, solve(gram, sums["moment"])[0]), low), high))
    return made


def scaled_range(grounds):
    low, high = grounds["reward_range"]
    return (low / (high - low), high / (high - low)) if grounds.get("as_given") else (-0.5, 0.5)


def forecast_beta(grounds, radius, noise, norm, log_det):
    """β of the forecast set with its net, before rounding."""
    sums, d, ridge = grounds["statistics"], len(grounds["features"]), grounds["policy"]["ridge"]
    explained = dot(sums["moment"], solve(sums["gram"], sums["moment"])[0])
    unit = 2 * noise**2
    spread = log_det - d * math.log(ridge)
    made, net = grounds["forecasts"]["sum"], unit / 2 * spread - explained
    least = min(made, net)
    weight = 0.9 * math.exp((least - made) / unit) + 0.1 * math.exp((least - net) / unit)
    delta = ellipsoid_delta(grounds, radius)
    return explained + least + ridge * norm**2 - unit * math.log(weight * delta)


def ellipsoid_delta(grounds, radius):
    """δ of the ellipsoid: half of it where pairs have the other half."""
    return radius["delta"] / 2 if paired(grounds, radius) else radius["delta"]


def paired(grounds, radius):
    known = grounds.get("pairs_sharing", {}).get("first", 65) <= 64
    return radius["kind"] == "forecast" and radius["pairs"] and known


# Features, and arms with other radii.
def half_width(grounds, radius, width_sq, log_det):
    """Half an interval, for rewards scaled to length one."""
    low, high = grounds["reward_range"]
    noise = radius.get("noise_scale", (high - low) / 2) / (high - low)
    d = len(grounds["features"])
    # A radius of its own bounds θ* of vectors as given in units of reward.
    unit = high - low if grounds.get("as_given") else 1
    own = radius.get("theta_norm_bound")
    norm = own / unit if own is not None else grounds["theta_norm_bound"] if d else 0
    # Features and rewards are multiples of 2⁻²⁴; the radius covers their rounding.
    rounding = 2**-25 * (1 + math.sqrt(d) * norm) * math.sqrt(grounds["statistics"]["observations"])
    if radius["kind"] == "fixed":
        return (radius["sqrt_beta"] / (high - low) + rounding) * math.sqrt(width_sq)
    if radius["kind"] in ("determinant", "additive"):
        ridge = grounds["policy"]["ridge"]
        spread = log_det - d * math.log(ridge) + 2 * math.log(1 / radius["delta"])
        root = (
            noise * math.sqrt(spread) + math.sqrt(ridge) * norm
            if radius["kind"] == "determinant"
            else math.sqrt(noise**2 * spread + ridge * norm**2)
        )
        return (root + rounding) * math.sqrt(width_sq)
    if radius["kind"] == "forecast":
        error = 2**-25 * (1 + math.sqrt(d) * norm)
        largest = max(map(abs, scaled_range(grounds)))
        more = 2 * (2 * largest * error + error**2) * grounds["statistics"]["observations"]
        root = math.sqrt(forecast_beta(grounds, radius, noise, norm, log_det) + more)
        return (root + rounding) * math.sqrt(width_sq)
    if radius["kind"] == "mixture":
        if math.isinf(width_sq):
            return math.inf
        share, plays = radius["delta"] / grounds["arms_sharing"], 1 / width_sq
        spread = (plays + 1) / plays**2 * (math.log(plays + 1) + 2 * math.log(1 / share))
        return noise * math.sqrt(spread) + 2**-25
    sys.exit(f"this checker does not know the radius {radius['kind']}")


def verdicts(grounds, radius, alarm):
    """Intervals, and whether each action could still be best: True, False, or None if unsure."""
    sums, by_intervals = grounds["statistics"], "exclusion" not in grounds["policy"]
    by_intervals = by_intervals or grounds["policy"]["exclusion"] == "intervals"
    out = [False] * len(grounds["actions"])
    compare = None
    # With an alarm nothing is ruled out, and no average is known.
    half = lambda *known: math.inf if alarm else half_width(grounds, radius, *known)
    if not alarm and grounds.get("earned") and paired(grounds, radius):
        arms = [(e["plays"], e["paid"], e["squares"]) for e in grounds["earned"]]
        arms = [(n, s + n / 2, q + s + n / 4) for n, s, q in arms]
        delta = radius["delta"] / 4
        aside = math.log(2 * grounds["arms_sharing"] / delta)
        out = pairs(grounds, arms, delta, aside, 2**-25)
    if radius["kind"] == "two-point":
        intervals, out = bounded(grounds, radius)
    elif not grounds["features"]:
        known = [(s / n, 1 / n) if n else (0.0, math.inf) for n, s in zip(*map(sums.get, KEYS[:2]))]
        halves = [half(w, 0.0) for _, w in known]
        intervals = [(m - h, m, m + h) for (m, _), h in zip(known, halves)]
    else:
        theta, log_det = solve(sums["gram"], sums["moment"])
        width = lambda x: half(dot(x, solve(sums["gram"], x)[0]), log_det)
        rows = [action["features"] for action in grounds["actions"]]
        known = [(dot(x, theta), width(x)) for x in rows]
        intervals = [(m - h, m, m + h) for m, h in known]
        if not by_intervals and not alarm:
            minus = lambda a, b: [x - y for x, y in zip(a, b)]
            compare = lambda a, b: dot(minus(a, b), theta) - width(minus(a, b))
    left = [i for i, gone in enumerate(out) if gone is not True]
    best = max(intervals[i][0] for i in left)
    if compare is None:
        ahead = [best - upper for _, _, upper in intervals]
    else:
        witnesses = [max(left, key=lambda i: intervals[i][end]) for end in (1, 0)]
        ahead = [max(compare(rows[w], x) for w in witnesses) for x in rows]
    could = [None if abs(gap) < 1e-9 else gap < 0 for gap in ahead]
    return intervals, [None if o is None else False if o else c for o, c in zip(out, could)]


# The seal of version 2: SHA-256 of the canonical form (RFC 8785).
def canonical(value):
    if isinstance(value, float):
        return number(value)
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return "{" + ",".join(f"{canonical(name)}:{canonical(value[name])}" for name in names) + "}"
    return json.dumps(value, ensure_ascii=False)


def number(value):
    """A number as ECMAScript writes it."""
    if value == 0:
        return "0"
    mantissa, _, exponent = f"{abs(value)!r}".partition("e")
    whole, _, rest = mantissa.partition(".")
    rest = "" if rest == "0" else rest
    point = len(whole) + int(exponent or 0)
    digits = whole + rest
    point -= len(digits) - len(digits.lstrip("0"))
    digits = digits.strip("0")
    sign = "-" if value < 0 else ""
    if len(digits) <= point <= 21:
        return sign + digits + "0" * (point - len(digits))
    if 0 < point <= 21:
        return sign + digits[:point] + "." + digits[point:]
    if -6 < point <= 0:
        return sign + "0." + "0" * -point + digits
    rest = "." + digits[1:] if digits[1:] else ""
    return f"{sign}{digits[0]}{rest}e{point - 1:+d}"


def once(pairs):
    """A JSON object without duplicate keys: readers disagree on which of the two counts."""
    found = dict(pairs)
    return (
        found
        if len(found) == len(pairs)
        else sys.exit(f"duplicate key among {[key for key, _ in pairs]}")
    )


# Insured policies: CODE explores while the least known action in the race is above a limit.
def check_insurance(grounds, findings):
    policy, insurance = grounds["policy"], findings["insurance"]
    counts = policy.get("count_pending", True) and "design" in grounds
    sums = grounds["design" if counts else "statistics"]
    offered = len(grounds["actions"]) + grounds.get("unlisted", {}).get("actions", 0)
    limit = policy["kappa"] * (len(grounds["features"]) or offered) / (sums["observations"] + 1)
    least_known = next(action for action in findings["actions"] if action["rank"] == 1)
    width = least_known["design_width"]
    explored = width is None or width**2 > limit
    # Too close to tell where both are equal up to rounding.
    close = width is not None and abs(width**2 - limit) <= 1e-9 * limit
    if abs(limit - insurance["limit"]) > 1e-9 * limit:
        sys.exit(f"the limit of the insurance is {insurance['limit']}, and {limit} follows")
    if explored != insurance["explored"] and not close:
        sys.exit(f"whether the insurance explored is {insurance['explored']}; {explored} follows")


def main(path):
    with open(path, encoding="utf-8") as file:
        certificate = json.load(file, object_pairs_hook=once)
    grounds, findings = certificate["grounds"], certificate["findings"]
    version = grounds.get("format", 1)
    if certificate["version"] != version or version not in (1, 2):
        sys.exit(f"version {certificate['version']} of a log of format {version} is not known")
    seal = certificate.pop("seal")
    if version == 2 and hashlib.sha256(canonical(certificate).encode()).hexdigest() != seal:
        sys.exit("the seal is not that of the document")
    kinds = {1: ("determinant", "mixture"), 2: ("forecast", "two-point")}[version]
    default = {"kind": kinds[not grounds["features"]], "delta": 0.05, "pairs": True}
    radius = grounds["policy"].get("radius", default)
    low, high = grounds["reward_range"]
    if version == 2 and grounds["features"]:
        grounds["policy"].setdefault("exclusion", "differences")
    intervals, could = verdicts(grounds, radius, findings.get("alarm"))
    centre = 0 if grounds.get("as_given") else (low + high) / 2
    shown = lambda x: min(max(centre + (high - low) * x, low), high)
    for (lower, mean, upper), action, plausible in zip(intervals, findings["actions"], could):
        for name, expected in [("lower", shown(lower)), ("upper", shown(upper))]:
            if abs(action[name] - expected) > 1e-7 * (high - low):
                sys.exit(f"{action['label']}: {name} is {action[name]}, and {expected} follows")
        if action["mean"] is not None and abs(
            action["mean"] - centre - (high - low) * mean
        ) > 1e-7 * (high - low):
            sys.exit(f"{action['label']}: the estimate does not follow")
        if plausible is not None and plausible != (action["standing"] == "plausible"):
            sys.exit(f"{action['label']}: the standing does not follow")
    chosen = findings["chosen"]
    if "insurance" in findings:
        check_insurance(grounds, findings)
    if "forecasts" in grounds:
        at = next(i for i, action in enumerate(grounds["actions"]) if action["id"] == chosen["id"])
        made = forecasts(grounds, grounds["actions"][at]["features"])
        # Rounding to the grid may go either way where it is close.
        apart = [abs(x * 2**24 - step) for x, step in zip(made, chosen["forecasts"]["steps"])]
        errors = grounds["forecasts"]["errors"]
        if max(apart) > 1 or chosen["forecasts"]["counts"] != errors.index(min(errors)):
            sys.exit(f"the forecasts are {chosen['forecasts']}, and {made} follow")
    # No true average is outside the range, so an estimate is off by at most its distance to the
    # farther end.
    off = lambda lower, mean, upper: min(
        (high - low) * max(upper - mean, mean - lower),
        max(high - centre - (high - low) * mean, centre + (high - low) * mean - low),
    )
    racing = [
        (i, action)
        for i, action in zip(intervals, findings["actions"])
        if action["standing"] == "plausible"
    ]
    # Nothing is known about an action without an outcome, unless the range bounds it.
    open_ended = any(math.isinf(i[2]) and action["mean"] is None for i, action in racing)
    within = None if open_ended else max(off(*interval) for interval, _ in racing)
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
