"""Plays handwritten digits as a bandit: `python python/benchmarks/digits.py`.

Every round shows one image, each of ten arms stands for a digit, and the right one pays 1. Arms
have a model each: arm i has the image and an intercept in the i-th of ten blocks of features. Needs
scikit-learn, which brings the images. Prints the mean reward of each policy over all rounds.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from plausibly import ActionSet, Code, Insured, LinUCB

ARMS = 10
# Rewards are 0 or 1, so half their range is a scale of their noise. With images scaled to [0, 1],
# least squares on all of them gives a norm of about 3.
FACTS: dict[str, Any] = {"noise_scale": 0.5, "theta_norm_bound": 3.0, "ridge": 1.0}
BY_INTERVALS: dict[str, Any] = {**FACTS, "exclusion": "intervals"}
ADDITIVE: dict[str, Any] = {"kind": "additive"}


def narrow(sqrt_beta: float) -> dict[str, Any]:
    """The rule that takes the largest mean plus this many widths."""
    return {"kind": "lin-ucb", "radius": {"kind": "fixed", "sqrt_beta": sqrt_beta}}


def policies() -> dict[str, Any]:
    """The candidates for a default, and the rule that people tune by hand."""
    insured = {
        f"insured, κ = {kappa}, inside mean + {sqrt_beta}·‖a‖": Insured(
            inside=narrow(sqrt_beta), kappa=kappa, radius=ADDITIVE, **BY_INTERVALS
        )
        for sqrt_beta in (0.25, 0.5)
        for kappa in (1, 4, 10, 30)
    }
    return {
        "LinUCB, alpha = 0.25": LinUCB(radius=0.25),
        "LinUCB, alpha = 0.5": LinUCB(radius=0.5),
        "LinUCB, additive radius": LinUCB(radius=ADDITIVE, **FACTS),
        "CODE": Code(radius=ADDITIVE, greed=0.0, **BY_INTERVALS),
        "CODE, c = 0.3": Code(radius=ADDITIVE, greed=0.3, **BY_INTERVALS),
        **insured,
        "insured, κ = 10, inside LinTS": Insured(kappa=10, radius=ADDITIVE, **BY_INTERVALS),
    }


def mean_reward(policy: Any, images: np.ndarray, digits: np.ndarray) -> float:
    """The mean reward over these images, in this order."""
    features = images.shape[1]
    rows = np.zeros((ARMS, ARMS * features))
    earned = 0
    for image, digit in zip(images, digits, strict=True):
        for arm in range(ARMS):
            rows[arm, arm * features : (arm + 1) * features] = image
        actions = ActionSet(rows)
        chosen = policy.select(actions)
        reward = int(chosen == digit)
        policy.update(actions[chosen], reward)
        earned += reward
    return earned / len(images)


def main() -> None:
    """Plays and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=1200)
    parser.add_argument("--seeds", type=int, default=2, help="orders of the images")
    arguments = parser.parse_args()
    data = load_digits()
    images = np.hstack([np.ones((len(data.data), 1)), data.data / 16.0])
    results: dict[str, list[float]] = {}
    for seed in range(arguments.seeds):
        order = np.random.default_rng(seed).permutation(len(images))[: arguments.rounds]
        for name, policy in policies().items():
            reward = mean_reward(policy, images[order], data.target[order])
            results.setdefault(name, []).append(reward)
    for name, rewards in results.items():
        print(f"{name:45} {np.mean(rewards):.3f}")


if __name__ == "__main__":
    main()
