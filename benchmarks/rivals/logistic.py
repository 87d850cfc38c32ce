"""CODE over a logistic model in NumPy: a second implementation of the likelihood set.

Written from the mathematics and not from our code, with which it shares nothing: rewards are summed
by action instead of by row of features, and the search starts from its last point.
"""

import math

import numpy as np
from contender import CLICKS
from scipy.optimize import brentq
from scipy.special import expit, ndtr


def prepare(name, problem):
    features, rates, luck = problem.features, problem.means.tolist(), problem.noise.tolist()
    assert name == "glm-code"

    def play(choices):
        policy = Code(features, **CLICKS)
        for t in range(len(choices)):
            chosen = policy.select()
            choices[t] = chosen
            policy.learn(chosen, luck[t] < rates[chosen])

    return f"NumPy {np.__version__}", lambda: play


def softplus(z):
    return np.logaddexp(0.0, z)


def tangent(z):
    """j(z) = tanh(z/2)/(2z)."""
    near = np.abs(z) < 1e-4
    safe = np.where(near, 1.0, z)
    return np.where(near, 0.25, np.tanh(0.5 * safe) / (2.0 * safe))


def curvature(u):
    """c(u) = 2(e⁻ᵘ + u - 1)/u²."""
    near = u < 1e-4
    safe = np.where(near, 1.0, u)
    return np.where(near, 1.0 - u / 3.0, 2.0 * (np.expm1(-safe) + safe) / (safe * safe))


def quadratic(x, matrix):
    """xᵀMx of each row."""
    return np.einsum("ij,ij->i", x @ matrix, x)


def half_log_det(matrix):
    return np.log(np.linalg.cholesky(matrix).diagonal()).sum()


class Code:
    def __init__(self, features, offset, bound, delta):
        actions, self.dim = features.shape
        self.features, self.offset, self.bound = features, offset, bound
        self.ridge = self.dim / bound**2
        self.fixed = -math.log(delta) + 0.5 * self.ridge * bound**2
        self.norms = np.sqrt(np.einsum("ij,ij->i", features, features))
        self.count, self.total = np.zeros(actions), np.zeros(actions)
        self.fitted = self.since = 0
        self.theta = np.zeros(self.dim)
        self.form = self.ridge * np.eye(self.dim)
        self.narrowed(self.theta, self.form, math.sqrt(2.0 * self.fixed))

    def select(self):
        return self.chosen

    def learn(self, chosen, reward):
        self.count[chosen] += 1.0
        self.total[chosen] += reward
        self.since += 1
        if self.since >= 1 + self.fitted // 200:
            self.fitted += self.since
            self.since = 0
            self.refit()
        else:
            self.follow(chosen)

    def follow(self, chosen):
        """One observation in the design, which moves the gains of the plausible actions."""
        x, v = self.features[chosen], self.slope[chosen]
        direction = self.inverse @ x
        direction *= math.sqrt(v / (1.0 + v * float(x @ direction)))
        self.inverse -= np.outer(direction, direction)
        moved = self.rows @ direction
        moved *= moved
        moved *= self.slopes
        self.gain -= moved
        self.chosen = int(self.plausible[self.gain.argmax()])

    def narrowed(self, centre, form, radius):
        """The plausible actions of an ellipsoid, and their gains."""
        features = self.features
        inverse = np.linalg.inv(form)
        mean = features @ centre
        width_sq = quadratic(features, inverse)
        rate = expit(self.offset + mean)
        slope = rate * (1.0 - rate)
        left = None
        leader, firmest = int(mean.argmax()), int((mean - radius * np.sqrt(width_sq)).argmax())
        for witness in {leader, firmest}:
            shared = features @ (inverse @ features[witness])
            apart_sq = width_sq[witness] + width_sq - 2.0 * shared
            half = radius * np.sqrt(np.maximum(apart_sq, 0.0))
            could_be_best = mean[witness] - mean <= half
            left = could_be_best if left is None else left & could_be_best
        self.radius, self.centre, self.inverse, self.slope = radius, centre, inverse, slope
        self.plausible = np.flatnonzero(left)
        self.rows, self.slopes = features[self.plausible], slope[self.plausible]
        self.gain = self.slopes * width_sq[self.plausible]
        self.chosen = int(self.plausible[self.gain.argmax()])

    def refit(self):
        taken = np.flatnonzero(self.count)
        x, n, s, norms = (of[taken] for of in (self.features, self.count, self.total, self.norms))
        prior, ridge = self.ridge * np.eye(self.dim), self.ridge

        def gram(weights):
            return prior + x.T @ (weights[:, None] * x)

        def loss(theta, z):
            return float(n @ softplus(z) - s @ z) + 0.5 * ridge * float(theta @ theta)

        theta = self.theta
        z = self.offset + x @ theta
        lost = loss(theta, z)
        for _ in range(100):
            rate = expit(z)
            slope = ridge * theta + (n * rate - s) @ x
            step = np.linalg.solve(gram(n * rate * (1.0 - rate)), slope)
            decrement_sq = float(slope @ step)
            share = 1.0
            while True:
                after = theta - share * step
                z = self.offset + x @ after
                now = loss(after, z)
                if now <= lost + 1e-12 * abs(lost) or share < 1e-10:
                    break
                share *= 0.5
            theta, lost = after, now
            if decrement_sq <= 1e-8:
                break
        # Points are multiples of 2⁻³⁰.
        self.theta = theta = np.round(theta * 2.0**30) / 2.0**30
        z = self.offset + x @ theta
        rate = expit(z)
        slope, weights = ridge * theta + (n * rate - s) @ x, n * rate * (1.0 - rate)
        budget, inverse, width_sq = self.budget(x, n, z, weights, slope, gram)
        width = np.sqrt(width_sq)
        off = np.minimum(
            (self.bound + np.linalg.norm(theta)) * norms,
            first_radius(budget, math.sqrt(float(slope @ inverse @ slope)), width.max()) * width,
        )
        for again in (True, False):
            form = gram(weights * curvature(off))
            shift = np.linalg.solve(form, slope)
            square = 2.0 * budget + float(slope @ shift)
            if square < 0.0:
                raise ArithmeticError("no parameter agrees with the rewards")
            radius = math.sqrt(square)
            if again:
                reach = radius * np.sqrt(quadratic(x, np.linalg.inv(form)))
                off = np.minimum(off, np.abs(x @ shift) + reach)
        self.narrowed(theta - shift, form, radius)

    def budget(self, x, n, z, weights, slope, gram):
        """B, H⁻¹, and ‖x‖² in the norm of H⁻¹."""
        scale = 0.5 * self.dim * math.log(self.ridge)
        hessian = gram(weights)
        inverse = np.linalg.inv(hessian)
        width_sq = quadratic(x, inverse)
        j = tangent(z)
        above = gram(n * j)
        by_tangent = half_log_det(above) - 0.5 * float(slope @ np.linalg.solve(above, slope))
        width = np.sqrt(width_sq)
        growth = 2.0 * np.exp(0.5 * width_sq) * ndtr(width) - width * math.sqrt(2.0 / math.pi) - 1.0
        spread = np.minimum(0.5 * n * j * width_sq, weights * growth).sum()
        # λ·tr H⁻¹ + Σ n·v·s² = d
        by_trial = half_log_det(hessian) + float(spread) - 0.5 * float(weights @ width_sq)
        return self.fixed - scale + min(by_tangent, by_trial), inverse, width_sq


def first_radius(budget, slope, rho):
    """The larger root r of (e^(-ρr) + ρr - 1)/ρ² - ε·r = B; infinite if there is none."""
    if slope * rho >= 1.0:
        return math.inf

    def excess(r):
        return (math.expm1(-rho * r) + rho * r) / rho**2 - slope * r - budget

    least = -math.log1p(-slope * rho) / rho
    if excess(least) > 0.0:
        raise ArithmeticError("no parameter agrees with the rewards")
    # Where the rest without the exponential, which is positive, passes zero.
    above = (budget + 1.0 / rho**2) / (1.0 / rho - slope)
    return brentq(excess, least, above * (1.0 + 1e-6), xtol=1e-13)
