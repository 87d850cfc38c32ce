"""Whether two runs chose the same actions, and if not, whether that was a tie at rounding level."""

import numpy as np


def first_difference(ours, theirs):
    """The first round in which they differ, or None."""
    common = min(len(ours), len(theirs))
    (rounds,) = np.nonzero(ours[:common] != theirs[:common])
    return int(rounds[0]) if len(rounds) else None


def explain(features, means, noise, choices, round_, rivals, root_of, policy):
    """How far apart what the two chose was in that round, by a model computed afresh from the history they share.

    Returns the relative gap of what decides: the width for CODE (or of an upper bound from the largest lower one, if that is
    what they disagree about), the upper bound for LinUCB. A gap below 1e-9 is a tie that rounding decides.
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
