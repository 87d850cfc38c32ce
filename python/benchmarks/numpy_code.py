"""CODE in well-written NumPy, as a rival for the package.

Each observation updates widths and means of all actions in one pass of O(K·d), and the inverse by a
rank-one step. Every array of the size of the set is written in place.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


class NumpyCode:
    """Linear CODE with the determinant radius, over one set of actions."""

    def __init__(
        self,
        rows: Floats,
        *,
        ridge: float,
        delta: float,
        noise_scale: float,
        theta_norm_bound: float,
    ) -> None:
        count, dim = rows.shape
        self.rows = np.ascontiguousarray(rows)
        self.inverse = np.eye(dim) / ridge
        self.theta = np.zeros(dim)
        self.mean = np.zeros(count)
        self.width_sq = (rows * rows).sum(axis=1) / ridge
        self.log_det = 0.0
        self.noise_scale, self.from_delta = noise_scale, 2.0 * math.log(1.0 / delta)
        self.from_ridge = math.sqrt(ridge) * theta_norm_bound
        self._half, self._bound, self._step = np.empty(count), np.empty(count), np.empty(count)
        self._implausible = np.empty(count, dtype=bool)
        self._outer = np.empty((dim, dim))

    def select(self) -> int:
        """The widest plausible action, the first of equals."""
        half, bound = self._half, self._bound
        sqrt_beta = self.noise_scale * math.sqrt(self.log_det + self.from_delta) + self.from_ridge
        np.sqrt(self.width_sq, out=half)
        half *= sqrt_beta
        np.subtract(self.mean, half, out=bound)
        best_lower = np.maximum.reduce(bound)
        np.add(self.mean, half, out=bound)
        np.less(bound, best_lower, out=self._implausible)
        # Half-widths are never negative, so ruled-out actions come last.
        np.copyto(half, -1.0, where=self._implausible)
        return int(half.argmax())

    def update(self, action: int, reward: float) -> None:
        """Learns a reward."""
        x = self.rows[action]
        direction = self.inverse.dot(x)
        growth = 1.0 + float(x.dot(direction))
        root = math.sqrt(growth)
        direction /= root
        gain = (reward - float(x.dot(self.theta))) / root
        np.multiply(direction[:, None], direction, out=self._outer)
        self.inverse -= self._outer
        self.log_det += math.log(growth)
        step = self._step
        self.rows.dot(direction, out=step)
        direction *= gain
        self.theta += direction
        # One step updates every action: its mean by `gain·step`, its squared width by `step²`.
        np.multiply(step, gain, out=self._bound)
        self.mean += self._bound
        step *= step
        self.width_sq -= step
