"""Checks the seal, intervals, standings, forecasts and known_within of a certificate, without
plausibly. For rates of yes also the parts of the budget, and margins.

Usage: python3 check_certificate.py FILE. Handles certificates of versions 1 and 2 with the radii
forecast, additive, determinant and logistic (features), two-point and mixture (arms), bell and
fixed; needs only Python.
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
    leader = max(played, key=lambda arm: arm[1] / arm[0])
    needed = math.log(pair_shares(grounds) / delta)
    return [beaten(leader, arm, needed, aside, step) for arm in arms]


def pair_shares(grounds):
    sharing = grounds["pairs_sharing"]
    if not sharing["changed"]:
        return 2 * sharing["first"]
    shares, known = 2 * sharing["first"] ** 2, sharing["first"]
    while known < sharing["ever"]:
        shares, known = 8 * shares, 2 * known
    return shares


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
    # The sums for the radii bell and logistic have no ridge.
    sums, ridge = grounds["statistics"], grounds["policy"].get("ridge", 1.0)
    ridge = 0 if "bell" in grounds or "glm" in grounds else ridge
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
    return radius["kind"] in ("forecast", "logistic") and radius["pairs"] and known


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


# The set of outcomes that scatter like a bell curve: normal noise of unknown scale.
STEP = 2**-25


def level(n, log_det, needed, error):
    """ρ from which on a hypothesis is refuted, and what rounding adds to β; None before that."""
    a = 1 + n / 2
    gain = lambda ratio: a * math.log1p(ratio) - ratio
    target = needed + log_det + 1
    target -= 0.5 * math.log(2 * math.pi / a) + 1 / (12 * a) - 1 / (360 * a**3)
    low, high = 0.0, a - 1
    if gain(high) < target:
        return None
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (low, middle) if gain(middle) >= target else (middle, high)
    return (1 + 2**-10) * high, (1 + 2**10) * ((1 + math.sqrt(high)) * error) ** 2 * n


def residual(squares, explained):
    return max(squares - explained, 0) + 2**-40 * squares


def scatter(arm):
    return residual(arm[2], arm[1] ** 2 / arm[0])


def hold(n, ratio):
    return n * (n - 2 * ratio) / (n + 2)


def arms_log_det(arms):
    return sum(0.5 * math.log1p(n / 2) for n, _, _ in arms)


def evidence_at(arm, distance):
    """Evidence against a mean this far from the average, for a scale of its own."""
    n, a = arm[0], 1 + arm[0] / 2
    shift, off = n * distance**2 / (n + 2), STEP * math.sqrt(n)
    z = max(math.sqrt(n * shift) - off, 0)
    ratio = min((z / (math.sqrt(scatter(arm) + 2 * shift) + off)) ** 2, a - 1) if z else 0
    series = 0.5 * math.log(2 * math.pi / a) + 1 / (12 * a) - 1 / (360 * a**3)
    return series - 1 - arms_log_det([arm]) + a * math.log1p(ratio) - ratio


def bell_beaten(a, b, needed, own_scales):
    """Whether a rules b out by what both have paid; None if that is too close to tell."""
    if not b[0] or a[1] / a[0] <= b[1] / b[0]:
        return False
    ahead = a[1] / a[0] - b[1] / b[0]
    if own_scales:
        pieces = [(i * ahead / 32, (31 - i) * ahead / 32) for i in range(32)]
        spare = min(evidence_at(a, x) + evidence_at(b, y) for y, x in pieces) - needed
        return None if abs(spare) < 1e-6 else spare > 0
    found = level(a[0] + b[0], arms_log_det([a, b]), needed, STEP)
    if found is None or min(hold(a[0], found[0]), hold(b[0], found[0])) <= 0:
        return False
    beta = found[0] * (scatter(a) + scatter(b)) + found[1]
    spare = ahead - math.sqrt(beta * (1 / hold(a[0], found[0]) + 1 / hold(b[0], found[0])))
    return None if abs(spare) < 1e-9 else spare > 0


def positive(matrix):
    """Whether a symmetric matrix is well away from having an eigenvalue below zero."""
    rows = [row[:] for row in matrix]
    for k, row in enumerate(rows):
        if not row[k] > 1e-10 * matrix[k][k]:
            return False
        for below in rows[k + 1 :]:
            factor = below[k] / row[k]
            below[k:] = [x - factor * y for x, y in zip(below[k:], row[k:])]
    return True


def plus(a, scale, b):
    return [[x + scale * y for x, y in zip(*rows)] for rows in zip(a, b)]


def times(matrix, vector):
    return [dot(row, vector) for row in matrix]


def bell_features(grounds, delta):
    """The matrix and the centre of the set, and its β; β is None while there is no set."""
    bell, sums = grounds["bell"], grounds["statistics"]
    gram, b, squares = sums["gram"], sums["moment"], sums["squares"][0]
    prior = bell["inside"]
    if "outside" in bell:
        prior = plus(prior, 1, bell["outside"])
    error = STEP * (1 + math.sqrt(len(b)) * grounds["theta_norm_bound"])
    total = plus(prior, 1, gram)
    log_det = (solve(total, b)[1] - solve(prior, b)[1]) / 2
    design = plus(gram, 2**-10, prior)
    none = design, solve(design, b)[0], None
    found = level(sums["observations"], max(log_det, 0), -math.log(delta), error)
    if found is None:
        return none
    ratio, allowance = found
    columns = [solve(total, column)[0] for column in prior]
    form = plus(plus(gram, -1 - ratio, prior), 1 + ratio, [times(prior, c) for c in columns])
    moment = times(prior, solve(total, b)[0])
    moment = [x - (1 + ratio) * y for x, y in zip(b, moment)]
    aids = [0]
    if "length_sq" in bell:
        weak = solve(plus(gram, 2**-20, prior), b)[0]
        aid = 0.01 * ratio * residual(squares, dot(b, weak)) / bell["length_sq"]
        aids = [aid, aid + (math.sqrt(1 + ratio) - 1) ** 2]
    for aid in aids:
        whole = plus(form, aid, prior)
        if "outside" in bell:
            whole = plus(form, 2**-10, bell["outside"])
        if not positive(whole):
            continue
        centre = solve(whole, moment)[0]
        fitted = times(gram, centre)
        left = [x - y for x, y in zip(b, fitted)]
        beta = ratio * residual(squares, 2 * dot(b, centre) - dot(fitted, centre)) + allowance
        beta -= (1 + ratio) * dot(left, solve(total, left)[0])
        beta += aid * (bell.get("length_sq", 0) - dot(times(prior, centre), centre))
        return whole, centre, beta
    return none


def bell_arms(grounds, delta):
    """Squared widths of the listed arms, and β; β is None while there is no set."""
    every = [(arm["plays"], arm["paid"], arm["squares"]) for arm in grounds["bell"].get("arms", [])]
    plays = grounds["statistics"]["plays"]
    found = level(sum(n for n, _, _ in every), arms_log_det(every), -math.log(delta), STEP)
    if found is None or min((hold(n, found[0]) for n, _, _ in every), default=1) <= 0:
        return [1 / n if n else math.inf for n in plays], None
    widths = [1 / hold(n, found[0]) if n else math.inf for n in plays]
    return widths, found[0] * sum(map(scatter, every)) + found[1]


def bell(grounds, radius):
    """Intervals, squared widths of differences, √β, and what pairs rule out."""
    sums = grounds["statistics"]
    with_pairs = radius["pairs"] and "pairs_sharing" in grounds
    if grounds["features"]:
        with_pairs = with_pairs and grounds["pairs_sharing"]["first"] <= 64
    own_scales = radius["own_scales"]
    delta = radius["delta"] / 2 if with_pairs and not own_scales else radius["delta"]
    if grounds["features"]:
        form, centre, beta = bell_features(grounds, delta)
        rows = [action["features"] for action in grounds["actions"]]
        width = lambda x: dot(x, solve(form, x)[0])
        known = [(dot(x, centre), width(x)) for x in rows]
        apart = lambda i, j: width([x - y for x, y in zip(rows[i], rows[j])])
        tallies = [(e["plays"], e["paid"], e["squares"]) for e in grounds.get("earned", [])]
    else:
        tallies = list(zip(*map(sums.get, KEYS)))
        widths, beta = bell_arms(grounds, delta)
        known = [(s / n if n else 0.0, w) for (n, s, _), w in zip(tallies, widths)]
        apart = lambda i, j: widths[i] + widths[j] if i != j else 0.0
    few = sums["observations"] > 0 and len(grounds["bell"]["values"]) < 5
    refuted = beta is not None and beta <= 0
    root = math.inf if few or own_scales or beta is None or refuted else math.sqrt(beta)
    out = [False] * len(known)
    played = [arm for arm in tallies if arm[0]]
    if with_pairs and played and not few and not refuted:
        leader = max(played, key=lambda arm: arm[1] / arm[0])
        needed = math.log(pair_shares(grounds) / delta)
        out = [bell_beaten(leader, arm, needed, own_scales) for arm in tallies]
    half = lambda width_sq: root * math.sqrt(width_sq) if width_sq and root < math.inf else root
    intervals = [(m - half(w), m, m + half(w)) for m, w in known]
    compare = lambda i, j: known[i][0] - known[j][0] - (half(apart(i, j)) if i != j else 0)
    return intervals, compare, out


# The set of rates of yes: a generalised linear model with logistic mean, seen from a point θ₀.
def rate(z):
    return 1 / (1 + math.exp(-z)) if z >= 0 else math.exp(z) / (1 + math.exp(z))


def slope(z):
    return rate(z) * rate(-z)


def spread(z, square):
    """At least E m(z + s·Z) − m(z), for a standard normal Z and s² = square."""
    s = math.sqrt(square)
    growth = s * s * (0.5 + s * (0.266 + s * 0.15))
    if s >= 1e-2:
        growth = math.exp(square / 2) * math.erfc(-s / math.sqrt(2)) - 1
        growth -= s * math.sqrt(2 / math.pi)
    return min(tangent(z) * square / 2, slope(z) * growth)


def tangent(z):
    return math.tanh(z / 2) / (2 * z) if abs(z) > 1e-3 else 0.25 - z * z / 48


def discount(u):
    """The share of an outcome that counts if its z may be off by u."""
    if math.isinf(u):
        return 0
    if u < 1e-4:
        return 1 - u / 3 + u * u / 12
    return 2 * ((math.expm1(-u) + u) / u) / u


def weighted(ridge, rows, weights):
    """λI + Σ w·x·xᵀ, with its inverse and the logarithm of its determinant less d·log λ."""
    d = len(rows[0])
    matrix = [[ridge * (i == j) for j in range(d)] for i in range(d)]
    for x, w in zip(rows, weights):
        for i in range(d):
            for j in range(d):
                matrix[i][j] += w * x[i] * x[j]
    units = [[float(i == j) for j in range(d)] for i in range(d)]
    solved = [solve(matrix, unit) for unit in units]
    return matrix, [column for column, _ in solved], solved[0][1] - d * math.log(ridge)


class Rates:
    """The ellipsoid around the centre, on the scale of logarithms of odds; open without a root."""

    def __init__(self, grounds, radius):
        glm, (low, high) = grounds["glm"], grounds["reward_range"]
        self.norm = radius.get("theta_norm_bound")
        if self.norm is None:
            self.norm = 2 * grounds["theta_norm_bound"] * math.log(radius.get("factor", 1000))
        usual = (radius.get("usual", (low + high) / 2) - low) / (high - low)
        self.offset = math.log(usual) - math.log1p(-usual)
        self.delta = ellipsoid_delta(grounds, radius)
        self.ridge, self.point = glm["precision"], glm["point"]
        paid = [row for row in glm["rows"] if row["plays"]]
        self.rows = [row["features"] for row in paid]
        self.plays, self.paid = ([row[name] for row in paid] for name in ("plays", "paid"))
        self.yes_no = all(row["paid"] == row["squares"] for row in paid)
        self.budget = {"confidence": -math.log(self.delta), "evidence": 0.0, "rounding": 0.0}
        self.budget["distance"] = self.ridge * self.norm**2 / 2
        self.shift, self.square = [0.0] * len(self.point), 2 * sum(self.budget.values())
        self.inverse = [
            [(i == j) / self.ridge for j in range(len(self.point))] for i in range(len(self.point))
        ]
        if paid:
            self.narrow()
        self.centre = [x - y for x, y in zip(self.point, self.shift)]
        if self.square is not None and self.misses_ball():
            self.square = None
        self.root = math.inf if self.square is None else math.sqrt(self.square)

    def width_sq(self, x, inverse=None):
        return max(dot(x, times(inverse or self.inverse, x)), 0.0)

    def narrow(self):
        z = [self.offset + dot(x, self.point) for x in self.rows]
        seen = list(zip(self.plays, z))
        gradient = [self.ridge * x for x in self.point]
        for x, n, s, at in zip(self.rows, self.plays, self.paid, z):
            gradient = [g + (n * rate(at) - s) * entry for g, entry in zip(gradient, x)]
        weights = [n * slope(at) for n, at in seen]
        _, inverse, log_det = weighted(self.ridge, self.rows, weights)
        _, flat, flat_log_det = weighted(self.ridge, self.rows, [n * tangent(at) for n, at in seen])
        widths = [self.width_sq(x, inverse) for x in self.rows]
        trace = sum(inverse[i][i] for i in range(len(inverse)))
        jensen = (log_det + self.ridge * trace - len(inverse)) / 2
        jensen += sum(n * spread(at, w) for (n, at), w in zip(seen, widths))
        by_tangent = (flat_log_det - dot(gradient, times(flat, gradient))) / 2
        self.budget["evidence"] = min(by_tangent, jensen)
        norms = [math.sqrt(dot(x, x)) for x in self.rows]
        if not self.yes_no:
            rarest = [rate(-abs(self.offset) - self.norm * length) for length in norms]
            self.budget["rounding"] = sum(n * STEP / r for n, r in zip(self.plays, rarest))
        total = sum(self.budget.values())
        radius = self.first(total, math.sqrt(dot(gradient, times(inverse, gradient))), widths)
        if radius is None:
            self.square = None
            return
        ball = self.norm + math.sqrt(dot(self.point, self.point))
        near = lambda w: radius * math.sqrt(w) if w else 0.0
        off = [min(ball * length, near(w)) for length, w in zip(norms, widths)]
        for _ in range(2):
            kept = [w * discount(u) for w, u in zip(weights, off)]
            self.form, self.inverse, _ = weighted(self.ridge, self.rows, kept)
            self.shift = times(self.inverse, gradient)
            self.square = 2 * total + dot(gradient, self.shift)
            if self.square < 0:
                self.square = None
                return
            reach = lambda x: abs(dot(x, self.shift)) + math.sqrt(self.square * self.width_sq(x))
            off = [min(u, reach(x)) for u, x in zip(off, self.rows)]

    def first(self, budget, slope_at, widths):
        """The larger root of φ = B; None if there is none, infinite if the point is too far off."""
        rho = math.sqrt(max(widths))
        if slope_at * rho >= 1:
            return math.inf
        value = lambda r: r * r * discount(rho * r) / 2 - slope_at * r
        low = -math.log1p(-slope_at * rho) / rho if rho else slope_at
        if value(low) > budget:
            return None
        high = low + 1
        while value(high) <= budget:
            high *= 2
        for _ in range(200):
            middle = (low + high) / 2
            low, high = (low, middle) if value(middle) > budget else (middle, high)
        return high

    def misses_ball(self):
        length = math.sqrt(dot(self.centre, self.centre))
        if length <= self.norm:
            return False
        excess = [x * (1 - self.norm / length) for x in self.centre]
        if dot(excess, times(self.form, excess)) <= self.square:
            return False
        largest = max(self.form[i][i] for i in range(len(self.form)))
        pulled = times(self.form, self.centre)
        for power in range(-40, 21):
            scale = largest * 2.0**power
            rows = enumerate(self.form)
            pull = [[x + scale * (i == j) for j, x in enumerate(row)] for i, row in rows]
            theta = solve(pull, pulled)[0]
            if scale * (dot(self.centre, theta) - self.norm**2) > self.square:
                return True
        return False

    def share(self, moved):
        return rate(self.offset + moved)

    def apart(self, one, other):
        """How far the rate of one row is above that of another at least and at most."""
        between = [x - y for x, y in zip(one, other)]
        gap, half = dot(between, self.centre), self.root * math.sqrt(self.width_sq(between))
        own = [sum(ends) for ends in zip([dot(other, self.centre)] * 2, self.sides(other))]
        ahead = [sum(ends) for ends in zip([dot(one, self.centre)] * 2, self.sides(one))]
        above = lambda moved, by: self.share(moved + by) - self.share(moved)
        turn = lambda by: min(max(-self.offset - by / 2, own[0]), own[1])
        points = lambda by: [above(t, by) for t in (own[0], turn(by), own[1])]
        ends = [points(by) for by in (gap - half, gap + half)]
        first, second = [[self.share(end) for end in pair] for pair in (ahead, own)]
        return max(min(ends[0]), first[0] - second[1]), min(max(ends[1]), first[1] - second[0])

    def sides(self, x):
        half = self.root * math.sqrt(self.width_sq(x))
        return -half, half


def check_rates(grounds, findings, radius):
    """Intervals and the comparison of two actions, after what the set is made of."""
    found, said = Rates(grounds, radius), findings["likelihood"]
    expected = {"offset": found.offset, "theta_norm_bound": found.norm, "delta": found.delta}
    parts = [(said[name], value, name) for name, value in expected.items()]
    parts += [(said["budget"][name], value, name) for name, value in found.budget.items()]
    refuted = findings.get("alarm", {}).get("kind") == "refuted"
    if findings["sqrt_beta"] is None and not refuted:
        sys.exit("features differ so much in size that the set is open")
    if (found.square is None) != refuted:
        sys.exit("whether any rates agree with the outcomes does not follow")
    if found.square is not None:
        parts.append((findings["sqrt_beta"], found.root, "sqrt_beta"))
        leaning = math.sqrt(dot(found.centre, found.centre)) / found.norm
        parts.append((said["leaning"], leaning, "leaning"))
    rows = [action["features"] for action in grounds["actions"]]
    for x, action in zip(rows, findings["actions"]):
        parts.append((action["moved"], dot(x, found.centre), f"{action['label']}: moved"))
        parts.append((action["width"], math.sqrt(found.width_sq(x)), f"{action['label']}: width"))
    for value, follows, name in parts:
        if abs(value - follows) > 1e-7 * max(abs(follows), 1):
            sys.exit(f"{name} is {value}, and {follows} follows")
    low, (least, most) = scaled_range(grounds)[0], grounds["reward_range"]
    intervals = []
    for x in rows:
        moved, (down_by, up_by) = dot(x, found.centre), found.sides(x)
        ends = [found.share(moved + by) for by in (down_by, 0, up_by)]
        if found.square is None:
            ends = [-math.inf, ends[1], math.inf]
        intervals.append(tuple(low + end for end in ends))
    places = {action["id"]: at for at, action in enumerate(grounds["actions"])}
    for x, action in zip(rows, findings["actions"]):
        standing = action["standing"]
        if standing == "plausible" or standing["ruled-out"]["kind"] != "difference":
            continue
        how = standing["ruled-out"]
        ends = found.apart(rows[places[how["by"]]], x)
        for value, end in zip(how["behind_by"], ends):
            if abs(value - min(end, 1) * (most - least)) > 1e-7 * (most - least):
                sys.exit(f"{action['label']}: behind_by says {value}, and {end} follows")
    if found.square is None:
        return intervals, None

    def compare(i, j):
        between = [x - y for x, y in zip(rows[i], rows[j])]
        half = found.root * math.sqrt(found.width_sq(between)) if i != j else 0
        return dot(between, found.centre) - half

    return intervals, compare


def verdicts(grounds, radius, findings):
    """Intervals, and whether each action could still be best: True, False, or None if unsure."""
    alarm = findings.get("alarm")
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
    if radius["kind"] == "bell":
        intervals, compare, out = bell(grounds, radius)
        compare = None if by_intervals else compare
    elif radius["kind"] == "logistic":
        intervals, compare = check_rates(grounds, findings, radius)
        compare = None if by_intervals else compare
    elif radius["kind"] == "two-point":
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
            between = lambda a, b: dot(minus(a, b), theta) - width(minus(a, b))
            compare = lambda i, j: between(rows[i], rows[j])
    left = [i for i, gone in enumerate(out) if gone is not True]
    best = max(intervals[i][0] for i in left)
    if compare is None:
        ahead = [best - upper for _, _, upper in intervals]
    else:
        witnesses = [max(left, key=lambda i: intervals[i][end]) for end in (1, 0)]
        ahead = [max(compare(w, i) for w in witnesses) for i in range(len(intervals))]
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
    if "glm" in grounds:
        # An outcome tells by how much rates move with the logarithm of odds.
        width *= math.sqrt(slope(findings["likelihood"]["offset"] + least_known["moved"]))
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
    if version == 2 and (grounds["features"] or radius["kind"] == "bell"):
        grounds["policy"].setdefault("exclusion", "differences")
    intervals, could = verdicts(grounds, radius, findings)
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
