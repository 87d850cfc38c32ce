"""CODE and LinUCB with lists of contenders, in numba: the library's lazy algorithm.

This is the fastest version we know how to write. Let all actions have been scored at s with means m
and widths w, and fix a ceiling G > √β. While D + √β ≤ G, where D = ‖θ̂ - θ̂_s‖ in the norm of V_s,
only actions with m + w·G ≥ max(m - w·G) can matter: those are listed, and scored incrementally. The
next list comes from the base, the last time at which all actions were scored.
"""

import numpy as np
from linear import CODE, TILE, compiled, learn, pick, score, sqrt_beta

MARGIN = 1e-6


@compiled
def distance(theta, then, gram):
    """‖θ̂ - θ̂_s‖ in the norm of V_s."""
    total = 0.0
    for i in range(theta.size):
        row = 0.0
        for j in range(theta.size):
            row += gram[i, j] * (theta[j] - then[j])
        total += (theta[i] - then[i]) * row
    return np.sqrt(max(total, 0.0))


@compiled
def largest_lower(mean, width_sq, count, reach):
    best = -np.inf
    for a in range(count):
        if mean[a] > best:
            bound = mean[a] - reach * np.sqrt(width_sq[a])
            if bound > best:
                best = bound
    return best


@compiled
def refresh_list(rows, count, v, gain, mean, width_sq):
    dim = v.size
    for a in range(count):
        s = 0.0
        for j in range(dim):
            s += rows[a, j] * v[j]
        mean[a] += gain * s
        left = width_sq[a] - s * s
        width_sq[a] = left if left > 0.0 else 0.0


@compiled
def keep(rows, index, mean, width_sq, count, reach, least):
    """Drops from a list the actions that cannot reach the largest lower bound."""
    kept = 0
    for a in range(count):
        if mean[a] + reach * np.sqrt(width_sq[a]) >= least:
            index[kept], mean[kept], width_sq[kept] = index[a], mean[a], width_sq[a]
            rows[kept] = rows[a]
            kept += 1
    return kept


@compiled
def play_lazy(policy, features, means, noise, radius, choices):
    actions, dim = features.shape
    inverse, gram, theta, v = np.eye(dim), np.eye(dim), np.zeros(dim), np.zeros(dim)
    x, acc, form = np.zeros((dim, TILE)), np.zeros((4, TILE)), np.zeros(TILE)
    all_mean, all_width_sq, all_at = np.zeros(actions), np.zeros(actions), -1
    base_mean, base_width, base_theta, base_gram = (
        np.zeros(actions),
        np.zeros(actions),
        np.zeros(dim),
        np.eye(dim),
    )
    half = actions // 2
    index, rows = np.zeros(half + 1, np.int64), np.zeros((half + 1, dim))
    mean, width_sq, count = np.zeros(half + 1), np.zeros(half + 1), 0
    then, then_gram = np.zeros(dim), np.eye(dim)
    listed, made_at, not_before = False, 0, 0
    ratio, ceiling, leeway, drift, log_det, gain = 1.1, 0.0, np.inf, 0.0, 0.0, 0.0
    for t in range(choices.size):
        root = sqrt_beta(radius, t, log_det, dim)
        covered = False
        if listed and not (t >= made_at + made_at // 4 + 8 and count > 8):
            covered = drift <= leeway and drift + root <= ceiling
            if not covered:
                drift = distance(theta, then, then_gram)
                covered = drift <= leeway and drift + root <= ceiling
        if not covered and actions >= 16 and t > 0 and (listed or t >= not_before):
            if listed:
                ratio = ratio / 1.1 if t >= made_at + made_at // 8 else ratio * 1.1
                ratio = min(max(ratio, 1.1), 4.0)
            ceiling = ratio * root
            reach = ceiling * (1.0 + MARGIN)
            against = reach if policy == CODE else reach - root
            leeway = np.inf if policy == CODE else ceiling - root
            drawn = False
            if listed:  # the next list, from the base
                least = largest_lower(mean, width_sq, count, against)
                far = reach + distance(theta, base_theta, base_gram) * (1.0 + MARGIN)
                found, most = 0, actions // 4
                for a in range(actions):
                    if base_mean[a] + far * base_width[a] >= least:
                        if found <= most:
                            index[found] = a
                        found += 1
                        if found > most:
                            break
                if found <= most:
                    for a in range(found):
                        rows[a] = features[index[a]]
                    score(rows[:found], theta, inverse, mean, width_sq, x, acc, form)
                    least = largest_lower(mean, width_sq, found, against)
                    count = keep(rows, index, mean, width_sq, found, reach, least)
                    drawn = True
            if not drawn:  # scores all actions, and makes a list if it is short enough
                if all_at != t:
                    score(features, theta, inverse, all_mean, all_width_sq, x, acc, form)
                    all_at = t
                least = largest_lower(all_mean, all_width_sq, actions, against)
                count = 0
                for a in range(actions):
                    if all_mean[a] + reach * np.sqrt(all_width_sq[a]) >= least:
                        if count == half:
                            count += 1
                            break
                        index[count], mean[count], width_sq[count] = a, all_mean[a], all_width_sq[a]
                        rows[count] = features[a]
                        count += 1
                drawn = count <= half
                if drawn:
                    for a in range(actions):
                        base_mean[a], base_width[a] = all_mean[a], np.sqrt(all_width_sq[a])
                    base_theta[:], base_gram[:] = theta, gram
                else:
                    not_before = t + 4 + t // 8
            listed = drawn
            if drawn:
                then[:], then_gram[:] = theta, gram
                drift, made_at = 0.0, t
        if listed:
            chosen = index[pick(policy, mean, width_sq, count, root)]
        else:
            if all_at == t - 1 and t > 0:
                refresh_list(features, actions, v, gain, all_mean, all_width_sq)
            elif all_at != t:
                score(features, theta, inverse, all_mean, all_width_sq, x, acc, form)
            all_at = t
            chosen = pick(policy, all_mean, all_width_sq, actions, root)
        choices[t] = chosen
        row = features[chosen]
        gain, growth = learn(inverse, theta, row, means[chosen] + noise[t], v)
        log_det += np.log(growth)
        drift += abs(gain) * np.sqrt((growth - 1.0) / growth)
        for i in range(dim):
            for j in range(dim):
                gram[i, j] += row[i] * row[j]
        if listed:
            refresh_list(rows, count, v, gain, mean, width_sq)
