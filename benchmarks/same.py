"""Compares the choices of two runs, and tells ties at rounding level from differences."""

import numpy as np


def first_difference(ours, theirs):
    """The first round in which they differ, or None."""
    common = min(len(ours), len(theirs))
    (rounds,) = np.nonzero(ours[:common] != theirs[:common])
    return int(rounds[0]) if len(rounds) else None


def explain(features, means, noise, choices, round_, rivals, root_of, policy):
    """The relative gap between two choices in a round, under a model computed from their shared
    history.

    For CODE this is the gap of their widths (or between an upper bound and the largest lower one,
    if the runs disagree about that), for LinUCB of their upper bounds. Below 1e-9 it is a tie that
    rounding decides.
    """
    taken = features[choices[:round_]]
    rewards = means[choices[:round_]] + noise[:round_]
    gram = np.eye(features.shape[1]) + taken.T @ taken
    inverse = np.linalg.inv(gram)
    mean = features @ np.linalg.solve(gram, taken.T @ rewards)
    width = np.sqrt(np.einsum("ij,jk,ik->i", features, inverse, features))
    root = root_of(round_, np.linalg.slogdet(gram)[1])
    upper, lower = mean + root * width, (mean - root * width).max()
    first, second = rivals
    if policy == "lin-ucb":
        return float(abs(upper[first] - upper[second]) / abs(upper[first]))
    plausible = [float(abs(upper[a] - lower) / max(abs(lower), 1e-300)) for a in rivals]
    by_width = float(abs(width[first] - width[second]) / width[first])
    return min(by_width, *plausible)
