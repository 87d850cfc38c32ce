"""CODE, LinUCB and LinTS in numba, as fast as we know how to write them.

A whole run is one compiled function: a round calls nothing in Python, the loop allocates nothing,
arrays are contiguous, and fast-math may reorder sums and fuse multiplications with additions. Ours
does neither, to give the same bits everywhere.
"""

import numpy as np
from numba import njit

compiled = njit(fastmath=True, error_model="numpy", cache=True)

CODE, LIN_UCB = 0, 1
BLOCK = 32  # actions per block: the fastest of 16, 32, 64 and whole columns at K = 1,000 and 10,000

TILE = 64  # actions per tile when all are scored from scratch: the fastest of 32, 64, 128 and 256


def blocks_of(features):
    """Features as [block, dimension, action]; up to 128 actions are one block without padding."""
    actions, dim = features.shape
    size = actions if actions <= 128 else BLOCK
    blocks = np.zeros((-(-actions // size), dim, size))
    for block, first in zip(blocks, range(0, actions, size)):
        rows = features[first : first + size]
        block[:, : len(rows)] = rows.T
    return blocks


@compiled
def sqrt_beta(radius, observations, log_det, dim):
    """`radius` is (0 paper or 1 determinant, R, λ, L, S, δ)."""
    kind, noise, lam, action_bound, theta_bound, delta = radius
    if kind == 0:
        growth = 1.0 + observations * action_bound * action_bound / lam
        return noise * np.sqrt(dim * (np.log(growth) - np.log(delta))) + np.sqrt(lam) * theta_bound
    return noise * np.sqrt(log_det - 2.0 * np.log(delta)) + np.sqrt(lam) * theta_bound


@compiled
def learn(inverse, theta, x, reward, v):
    """Sherman-Morrison by rows: v = V⁻¹x/√(1 + xᵀV⁻¹x), V⁻¹ -= v·vᵀ.

    Returns the gain of θ̂ along v, and 1 + xᵀV⁻¹x.
    """
    dim = x.size
    residual = reward
    for i in range(dim):
        v[i] = 0.0
    for i in range(dim):
        scale = x[i]
        residual -= scale * theta[i]
        for j in range(dim):
            v[j] += scale * inverse[i, j]
    growth = 1.0
    for i in range(dim):
        growth += x[i] * v[i]
    root = 1.0 / np.sqrt(growth)
    gain = residual * root
    for i in range(dim):
        v[i] *= root
    for i in range(dim):
        scale = v[i]
        theta[i] += gain * scale
        for j in range(dim):
            inverse[i, j] -= scale * v[j]
    return gain, growth


@compiled
def refresh_blocks(blocks, v, gain, mean, width_sq, s):
    """Updates all scores after one observation, O(K·d)."""
    count, dim, size = blocks.shape
    whole = dim // 4 * 4
    for b in range(count):
        block = blocks[b]
        for i in range(size):
            s[i] = 0.0
        for j in range(0, whole, 4):
            v0, v1, v2, v3 = v[j], v[j + 1], v[j + 2], v[j + 3]
            for i in range(size):
                s[i] += (
                    v0 * block[j, i]
                    + v1 * block[j + 1, i]
                    + v2 * block[j + 2, i]
                    + v3 * block[j + 3, i]
                )
        for j in range(whole, dim):
            v0 = v[j]
            for i in range(size):
                s[i] += v0 * block[j, i]
        means, widths = mean[b * size : (b + 1) * size], width_sq[b * size : (b + 1) * size]
        for i in range(size):
            means[i] += gain * s[i]
            left = widths[i] - s[i] * s[i]
            widths[i] = left if left > 0.0 else 0.0


@compiled
def refresh_rows(features, v, gain, mean, width_sq):
    """The same update in a plain loop, row by row."""
    actions, dim = features.shape
    for a in range(actions):
        s = 0.0
        for j in range(dim):
            s += features[a, j] * v[j]
        mean[a] += gain * s
        left = width_sq[a] - s * s
        width_sq[a] = left if left > 0.0 else 0.0


@compiled
def score(features, theta, inverse, mean, width_sq, x, acc, form):
    """All scores from scratch, O(K·d²/2) by symmetry.

    Works on tiles of 64 actions, transposed on the fly, and four rows of V⁻¹ at a time.
    """
    actions, dim = features.shape
    whole = dim // 4 * 4
    for first in range(0, actions, TILE):
        size = min(TILE, actions - first)
        for l in range(size):
            for i in range(dim):
                x[i, l] = features[first + l, i]
        for l in range(size):
            form[l] = 0.0
            mean[first + l] = 0.0
        for i in range(dim):
            scale = theta[i]
            for l in range(size):
                mean[first + l] += scale * x[i, l]
        for i in range(0, whole, 4):
            for r in range(4):
                for l in range(size):
                    acc[r, l] = 0.0
            for j in range(0, i, 2):
                a0, a1 = inverse[i, j], inverse[i, j + 1]
                b0, b1 = inverse[i + 1, j], inverse[i + 1, j + 1]
                c0, c1 = inverse[i + 2, j], inverse[i + 2, j + 1]
                d0, d1 = inverse[i + 3, j], inverse[i + 3, j + 1]
                for l in range(size):
                    x0, x1 = x[j, l], x[j + 1, l]
                    acc[0, l] += a0 * x0 + a1 * x1
                    acc[1, l] += b0 * x0 + b1 * x1
                    acc[2, l] += c0 * x0 + c1 * x1
                    acc[3, l] += d0 * x0 + d1 * x1
            m00, m11, m22, m33 = (
                inverse[i, i],
                inverse[i + 1, i + 1],
                inverse[i + 2, i + 2],
                inverse[i + 3, i + 3],
            )
            m10, m20, m30 = inverse[i + 1, i], inverse[i + 2, i], inverse[i + 3, i]
            m21, m31, m32 = inverse[i + 2, i + 1], inverse[i + 3, i + 1], inverse[i + 3, i + 2]
            for l in range(size):
                x0, x1, x2, x3 = x[i, l], x[i + 1, l], x[i + 2, l], x[i + 3, l]
                form[l] += (
                    x0 * (m00 * x0 + 2.0 * acc[0, l])
                    + x1 * (m11 * x1 + 2.0 * (acc[1, l] + m10 * x0))
                    + x2 * (m22 * x2 + 2.0 * (acc[2, l] + m20 * x0 + m21 * x1))
                    + x3 * (m33 * x3 + 2.0 * (acc[3, l] + m30 * x0 + m31 * x1 + m32 * x2))
                )
        for i in range(whole, dim):
            for l in range(size):
                acc[0, l] = 0.0
            for j in range(i):
                a0 = inverse[i, j]
                for l in range(size):
                    acc[0, l] += a0 * x[j, l]
            m00 = inverse[i, i]
            for l in range(size):
                form[l] += x[i, l] * (m00 * x[i, l] + 2.0 * acc[0, l])
        for l in range(size):
            width_sq[first + l] = form[l] if form[l] > 0.0 else 0.0


@compiled
def pick_code(mean, width_sq, actions, root):
    """The widest plausible action.

    Takes square roots only for actions that could raise the largest lower bound.
    """
    lower = -np.inf
    for a in range(actions):
        if mean[a] > lower:
            bound = mean[a] - root * np.sqrt(width_sq[a])
            if bound > lower:
                lower = bound
    chosen, widest, square = 0, -1.0, root * root
    for a in range(actions):
        if width_sq[a] > widest:
            gap = lower - mean[a]
            if gap <= 0.0 or gap * gap <= square * width_sq[a]:
                chosen, widest = a, width_sq[a]
    return chosen


@compiled
def pick_lin_ucb(mean, width_sq, actions, root):
    """The largest upper bound. Takes a square root only for actions that raise it."""
    chosen, best, square = 0, -np.inf, root * root
    for a in range(actions):
        gap = best - mean[a]
        if gap < 0.0 or gap * gap < square * width_sq[a]:
            bound = mean[a] + root * np.sqrt(width_sq[a])
            if bound > best:
                chosen, best = a, bound
    return chosen


@compiled
def pick(policy, mean, width_sq, actions, root):
    if policy == CODE:
        return pick_code(mean, width_sq, actions, root)
    return pick_lin_ucb(mean, width_sq, actions, root)


@compiled
def play_incremental(
    policy, by_rows, features, blocks, means, noise, radius, choices, mean, width_sq
):
    actions, dim = features.shape
    inverse, theta, v, s = np.eye(dim), np.zeros(dim), np.zeros(dim), np.zeros(blocks.shape[2])
    log_det = 0.0
    for a in range(actions):
        mean[a] = 0.0
        width_sq[a] = 0.0
        for j in range(dim):
            width_sq[a] += features[a, j] * features[a, j]
    for t in range(choices.size):
        chosen = pick(policy, mean, width_sq, actions, sqrt_beta(radius, t, log_det, dim))
        choices[t] = chosen
        gain, growth = learn(inverse, theta, features[chosen], means[chosen] + noise[t], v)
        log_det += np.log(growth)
        if by_rows:
            refresh_rows(features, v, gain, mean, width_sq)
        else:
            refresh_blocks(blocks, v, gain, mean, width_sq, s)


@compiled
def play_full(policy, sets, means, noise, radius, choices):
    """Scores every action from scratch in every round; the sets follow one another."""
    count, actions, dim = sets.shape
    inverse, theta, v = np.eye(dim), np.zeros(dim), np.zeros(dim)
    mean, width_sq = np.zeros(actions), np.zeros(actions)
    x, acc, form = np.zeros((dim, TILE)), np.zeros((4, TILE)), np.zeros(TILE)
    log_det = 0.0
    for t in range(choices.size):
        at = t % count
        score(sets[at], theta, inverse, mean, width_sq, x, acc, form)
        chosen = pick(policy, mean, width_sq, actions, sqrt_beta(radius, t, log_det, dim))
        choices[t] = chosen
        _, growth = learn(inverse, theta, sets[at, chosen], means[at, chosen] + noise[t], v)
        log_det += np.log(growth)


@compiled
def play_full_blas(policy, sets, means, noise, radius, choices):
    """The same with a BLAS matrix product, then row dots."""
    count, actions, dim = sets.shape
    inverse, theta, v = np.eye(dim), np.zeros(dim), np.zeros(dim)
    mean, width_sq, product = np.zeros(actions), np.zeros(actions), np.zeros((actions, dim))
    log_det = 0.0
    for t in range(choices.size):
        features = sets[t % count]
        np.dot(features, inverse, product)
        np.dot(features, theta, mean)
        for a in range(actions):
            form = 0.0
            for j in range(dim):
                form += product[a, j] * features[a, j]
            width_sq[a] = form if form > 0.0 else 0.0
        chosen = pick(policy, mean, width_sq, actions, sqrt_beta(radius, t, log_det, dim))
        choices[t] = chosen
        _, growth = learn(inverse, theta, features[chosen], means[t % count, chosen] + noise[t], v)
        log_det += np.log(growth)


@compiled
def play_lin_ts(features, blocks, means, noise, scale, choices, value):
    """θ̃ = L⁻ᵀ(L⁻¹b + σz) with V = L·Lᵀ: no inverse.

    The rotations that update [Lᵀ | L⁻¹b] take O(d²) in all.
    """
    actions, dim = features.shape
    count, _, size = blocks.shape
    upper, sampled, x = np.zeros((dim, dim + 1)), np.zeros(dim), np.zeros(dim + 1)
    for i in range(dim):
        upper[i, i] = 1.0
    whole = dim // 4 * 4
    for t in range(choices.size):
        for i in range(dim):
            sampled[i] = upper[i, dim] + scale * np.random.standard_normal()
        for i in range(dim - 1, -1, -1):
            left = sampled[i]
            for j in range(i + 1, dim):
                left -= upper[i, j] * sampled[j]
            sampled[i] = left / upper[i, i]
        for b in range(count):
            block, out = blocks[b], value[b * size : (b + 1) * size]
            for i in range(size):
                out[i] = 0.0
            for j in range(0, whole, 4):
                v0, v1, v2, v3 = sampled[j], sampled[j + 1], sampled[j + 2], sampled[j + 3]
                for i in range(size):
                    out[i] += (
                        v0 * block[j, i]
                        + v1 * block[j + 1, i]
                        + v2 * block[j + 2, i]
                        + v3 * block[j + 3, i]
                    )
            for j in range(whole, dim):
                v0 = sampled[j]
                for i in range(size):
                    out[i] += v0 * block[j, i]
        chosen = 0
        for a in range(actions):
            if value[a] > value[chosen]:
                chosen = a
        choices[t] = chosen
        x[:dim] = features[chosen]
        x[dim] = means[chosen] + noise[t]
        for i in range(dim):
            root = 1.0 / np.sqrt(upper[i, i] * upper[i, i] + x[i] * x[i])
            c, s = upper[i, i] * root, x[i] * root
            for j in range(i, dim + 1):
                above = upper[i, j]
                upper[i, j] = c * above + s * x[j]
                x[j] = c * x[j] - s * above
