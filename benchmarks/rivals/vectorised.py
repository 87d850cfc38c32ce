"""CODE and LinUCB in NumPy, incremental.

A round is one matrix-vector product, and writes only into existing arrays.
"""

import math

import numpy as np
from contender import sqrt_beta


def prepare(name, problem):
    dim, actions = problem.dim, problem.actions
    features, means, noise, radius = (
        problem.features,
        problem.means.tolist(),
        problem.noise.tolist(),
        problem.radius,
    )
    s, half, upper = np.zeros(actions), np.zeros(actions), np.zeros(actions)
    optimistic = {"code-incremental": False, "lin-ucb-incremental": True}[name]

    def play(choices):
        inverse, theta = np.eye(dim), np.zeros(dim)
        mean, width_sq = np.zeros(actions), np.einsum("ij,ij->i", features, features)
        outer = np.zeros((dim, dim))
        log_det = 0.0
        for t in range(len(choices)):
            np.sqrt(width_sq, out=half)
            np.multiply(half, sqrt_beta(radius, t, log_det, dim), out=half)
            np.add(mean, half, out=upper)
            if optimistic:
                chosen = int(upper.argmax())
            else:
                np.subtract(mean, half, out=half)
                chosen = int(np.where(upper >= half.max(), width_sq, -1.0).argmax())
            choices[t] = chosen
            x = features[chosen]
            v = inverse @ x
            growth = 1.0 + float(x @ v)
            root = math.sqrt(growth)
            v /= root
            gain = (means[chosen] + noise[t] - float(x @ theta)) / root
            np.outer(v, v, out=outer)
            inverse -= outer
            theta += gain * v
            log_det += math.log(growth)
            np.dot(features, v, out=s)
            np.multiply(s, s, out=half)
            width_sq -= half
            np.maximum(width_sq, 0.0, out=width_sq)
            np.multiply(s, gain, out=s)
            mean += s

    return f"NumPy {np.__version__}", lambda: play
