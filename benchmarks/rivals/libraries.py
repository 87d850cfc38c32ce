"""Other libraries on the same problem, used in the fastest way we found in their documentation."""

from importlib.metadata import version

import numpy as np
from contender import sqrt_beta


def prepare(name, problem):
    """The name of the contender, and a function that starts a run with an untrained policy."""
    begin = {
        "contextualbandits": contextualbandits,
        "bayesianbandits": bayesianbandits,
        "vw-regcbopt": lambda problem: vowpal(
            problem, "--regcbopt --cb_min_cost={0} --cb_max_cost={1}"
        ),
        "vw-squarecb": lambda problem: vowpal(problem, "--squarecb"),
        "coba": coba,
        "mabwiser": mabwiser,
    }[name](problem)
    package = "vowpalwabbit" if name.startswith("vw") else name
    return f"{package} {version(package)}", begin


def contextualbandits(problem):
    """LinUCB on one shared ridge, in doubles, with its inverse kept by Sherman-Morrison.

    For the paper's radius, which needs no determinant.
    """
    from contextualbandits.linreg import LinearRegression

    features, means, noise = problem.features, problem.means, problem.noise

    def begin():
        model = LinearRegression(lambda_=1.0, fit_intercept=False, method="sm", use_float=False)
        return lambda choices: play(model, choices)

    def play(model, choices):
        for t in range(len(choices)):
            alpha = sqrt_beta(problem.radius, t, 0.0, problem.dim)
            chosen = int(model.predict_ucb(features, alpha).argmax())
            choices[t] = chosen
            model.partial_fit(features[chosen : chosen + 1], np.array([means[chosen] + noise[t]]))

    return begin


def bayesianbandits(problem):
    """Thompson sampling on one shared Gaussian model over the features of the actions."""
    from bayesianbandits import (
        Arm,
        ArmFeaturizer,
        LipschitzContextualAgent,
        NormalRegressor,
        ThompsonSampling,
    )

    features, means, noise, actions = (
        problem.features,
        problem.means,
        problem.noise,
        problem.actions,
    )

    class Rows(ArmFeaturizer):
        def transform(self, X, *, action_tokens):
            return features if len(action_tokens) == actions else features[list(action_tokens)]

    def begin():
        agent = LipschitzContextualAgent(
            arms=[Arm(a, learner=None) for a in range(actions)],
            policy=ThompsonSampling(),
            arm_featurizer=Rows(),
            learner=NormalRegressor(alpha=1.0, beta=1.0 / problem.sigma**2),
            random_seed=0,
        )
        return lambda choices: play(agent, choices)

    def play(agent, choices):
        context = np.zeros((1, 1))
        for t in range(len(choices)):
            (chosen,) = agent.pull(context)
            choices[t] = chosen
            agent.update(context, np.array([means[chosen] + noise[t]]))

    return begin


def vowpal(problem, exploration):
    """Contextual bandits with action features.

    The examples are parsed once; in a round only the one that gets a label is parsed again.
    """
    from vowpalwabbit import Workspace

    rows = [" ".join(f"{j}:{x:.17g}" for j, x in enumerate(row)) for row in problem.features]
    means, noise = problem.means, problem.noise
    rng = np.random.default_rng(0)

    largest = float(abs(means).max() + 4.0 * problem.sigma)

    def begin():
        workspace = Workspace(
            f"--cb_explore_adf {exploration.format(-largest, largest)} --noconstant --quiet"
        )
        examples = [workspace.parse([f"|a {row}"], workspace.lContextualBandit)[0] for row in rows]
        return lambda choices: play(workspace, examples, choices)

    def play(workspace, examples, choices):
        for t in range(len(choices)):
            chances = workspace.predict(examples)
            chosen = int(np.searchsorted(np.cumsum(chances), rng.random()))
            chosen = min(chosen, len(rows) - 1)
            choices[t] = chosen
            cost = -(means[chosen] + noise[t])
            label = f"{chosen}:{cost}:{max(chances[chosen], 1e-6)}"
            (labelled,) = workspace.parse(
                [f"{label} |a {rows[chosen]}"], workspace.lContextualBandit
            )
            workspace.learn(examples[:chosen] + [labelled] + examples[chosen + 1 :])

    return begin


def coba(problem):
    """LinUCB on the features of the actions, without a context."""
    from coba.learners import LinUCBLearner

    actions = [tuple(row) for row in problem.features.tolist()]
    index = {action: at for at, action in enumerate(actions)}
    means, noise = problem.means.tolist(), problem.noise.tolist()

    def begin():
        learner = LinUCBLearner(alpha=1.0, features=["a"], seed=1)
        return lambda choices: play(learner, choices)

    def play(learner, choices):
        for t in range(len(choices)):
            action, chance, *_ = learner.predict(None, actions)
            chosen = index[tuple(action)]
            choices[t] = chosen
            learner.learn(None, action, means[chosen] + noise[t], chance)

    return begin


def mabwiser(problem):
    """LinUCB with one model per arm: another problem, of the same size.

    The context is one row of features per round.
    """
    from mabwiser.mab import MAB, LearningPolicy

    features, means, noise, arms = (
        problem.features,
        problem.means,
        problem.noise,
        list(range(problem.actions)),
    )

    def begin():
        bandit = MAB(arms, LearningPolicy.LinUCB(alpha=1.0, l2_lambda=1.0), seed=1)
        bandit.fit([0], [0.0], features[:1])
        return lambda choices: play(bandit, choices)

    def play(bandit, choices):
        for t in range(len(choices)):
            context = features[t % problem.actions][None]
            chosen = bandit.predict(context)
            choices[t] = chosen
            bandit.partial_fit([chosen], [means[chosen] + noise[t]], context)

    return begin
