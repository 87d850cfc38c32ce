"""Contenders in numba: what to play, compiled before the first turn."""

import lazy
import linear
import numba
import numpy as np


def prepare(name, problem):
    policy = linear.LIN_UCB if "lin-ucb" in name else linear.CODE
    features, means, noise, radius = problem.features, problem.means, problem.noise, problem.radius
    blocks = linear.blocks_of(features) if len(problem.sets) == 0 else np.zeros((1, 1, 1))
    mean, width_sq = (
        np.zeros(blocks.shape[0] * blocks.shape[2]),
        np.zeros(blocks.shape[0] * blocks.shape[2]),
    )
    one_set, one_means = features[None], means[None]

    def incremental(by_rows):
        return lambda choices: linear.play_incremental(
            policy, by_rows, features, blocks, means, noise, radius, choices, mean, width_sq
        )

    plays = {
        "code-incremental": incremental(False),
        "code-incremental-rows": incremental(True),
        "code-lazy": lambda choices: lazy.play_lazy(
            policy, features, means, noise, radius, choices
        ),
        "code-full": lambda choices: linear.play_full(
            policy, one_set, one_means, noise, radius, choices
        ),
        "lin-ts": lambda choices: linear.play_lin_ts(
            features, blocks, means, noise, problem.sigma, choices, mean
        ),
        "changing-code": lambda c: linear.play_full(
            policy, problem.sets, problem.set_means, noise, radius, c
        ),
        "changing-code-blas": lambda c: linear.play_full_blas(
            policy, problem.sets, problem.set_means, noise, radius, c
        ),
    }
    play = plays[name.replace("lin-ucb", "code")]
    play(np.zeros(2, np.int64))
    return f"numba {numba.__version__}, NumPy {np.__version__}", lambda: play
