"""Logistic policies of other libraries on the problem of clicks.

contextualbandits offers them with one model per arm, each fitted from scratch. It asks for two arms
at least; with rewards for the first alone, that one is a model which all actions share. Fits follow
the schedule of ours.
"""

import warnings
from importlib.metadata import version

import numpy as np


def prepare(name, problem):
    from contextualbandits.online import LogisticTS, LogisticUCB

    warnings.simplefilter("ignore")  # about the scaling of the features, at each fit
    shared = name.endswith("-shared")
    arms = 2 if shared else problem.actions
    options = {"beta_prior": None, "fit_intercept": False, "njobs": 1, "random_state": 1}
    if "-ucb" in name:
        options["percentile"] = 95

    def begin():
        policy = (LogisticUCB if "-ucb" in name else LogisticTS)(arms, **options)
        return lambda choices: play(problem, policy, shared, choices)

    return f"contextualbandits {version('contextualbandits')}", begin


def play(problem, policy, shared, choices):
    features, rates, luck = problem.features, problem.means, problem.noise
    rounds = len(choices)
    contexts, arms = np.empty((rounds, problem.dim)), np.zeros(rounds, np.int64)
    rewards = np.empty(rounds)
    fitted = 0
    for t in range(rounds):
        if shared:
            # Before its first yes and no it says zero of all.
            chosen = int(policy.decision_function(features)[:, 0].argmax()) if fitted else 0
            contexts[t] = features[chosen]
        else:
            # A common context and K models: the same cost on another problem.
            contexts[t] = features[t % problem.actions]
            chosen = int(policy.predict(contexts[t : t + 1])[0]) if fitted else 0
            arms[t] = chosen
        choices[t] = chosen
        rewards[t] = luck[t] < rates[chosen]
        if t + 1 - fitted >= 1 + fitted // 200:
            fitted = t + 1
            policy.fit(contexts[:fitted], arms[:fitted], rewards[:fitted])
