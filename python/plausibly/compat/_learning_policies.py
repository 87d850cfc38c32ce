"""MABWiser's learning policies in terms of Plausibly's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Union

import numpy as np

from .. import _core
from .._policies import Outcomes

LARGEST = 1e100
"""The largest magnitude of a feature or reward."""


class LearningPolicy:
    """The policies. Those that Plausibly does not have say so, and name an alternative."""

    class Code(NamedTuple):
        """CODE: among the arms that could still be best in this context, the one it knows least
        about.

        Say what rewards can be: `outcomes="yes/no"` or `(lowest, highest)`; others are refused.
        Without contexts the set is then the two-point mixture, with contexts the additive one.
        `noise` is how much rewards of the same arm scatter, if you know, and the same as
        `noise_scale`. Where only the noise is given, the sets are those of earlier versions. With
        contexts, also bound the norm of the true coefficients of all arms together. Or give a fixed
        width `alpha`, like LinUCB, which has no guarantee.

        `greed` and `target` are those of `plausibly.Code`; greed is 0.3 where outcomes are given
        without a target, else 0.

        >>> from plausibly.compat.mabwiser import MAB
        >>> mab = MAB([1, 2, 3], LearningPolicy.Code(outcomes="yes/no"))
        >>> mab.fit([1, 1, 2, 2], [1, 1, 0, 1])
        >>> mab.predict()
        3
        """

        noise_scale: float | None = None
        theta_norm_bound: float | None = None
        delta: float = 0.05
        l2_lambda: float = 1.0
        alpha: float | None = None
        greed: float | None = None
        target: Mapping[str, float] | None = None
        outcomes: Outcomes | None = None
        noise: float | None = None

    class EpsilonGreedy(NamedTuple):
        """The arm with the largest mean, with probability `epsilon` any arm. Without contexts."""

        epsilon: float = 0.1

    class LinGreedy(NamedTuple):
        """The arm with the largest estimate in this context, and with probability `epsilon` any
        arm.
        """

        epsilon: float = 0.1
        l2_lambda: float = 1.0
        scale: bool = False

    class LinTS(NamedTuple):
        """The arm with the largest draw from its posterior, of standard deviation `alpha` times its
        width.

        As in MABWiser, all arms of a round share the same normal numbers, so their draws move
        together, and the arm with the larger estimate wins more often than with separate draws.
        `shared_draws=False` draws for each arm separately. That is Thompson sampling as in its
        theory, and explores more.
        """

        alpha: float = 1.0
        l2_lambda: float = 1.0
        scale: bool = False
        shared_draws: bool = True

    class LinUCB(NamedTuple):
        """The arm with the largest estimate plus `alpha` times its width."""

        alpha: float = 1.0
        l2_lambda: float = 1.0
        scale: bool = False

    class ThompsonSampling(NamedTuple):
        """The arm with the largest draw from its normal posterior, after one play of each arm.

        Without contexts. Rewards are 0 and 1, or `binarizer(arm, reward)` maps them to 0 and 1.
        """

        binarizer: Callable[[Any, float], Any] | None = None

    class UCB1(NamedTuple):
        """The arm with the largest mean plus `alpha·√(2·log t / n)`, after one play of each arm.

        Without contexts.
        """

        alpha: float = 1.0

    class Popularity(NamedTuple):
        """Not available: use EpsilonGreedy."""

    class Random(NamedTuple):
        """Not available: use EpsilonGreedy(epsilon=1)."""

    class Softmax(NamedTuple):
        """Not available: use EpsilonGreedy or Code."""

        tau: float = 1.0


class NeighborhoodPolicy:
    """Not available: Plausibly learns from contexts with Code, LinUCB, LinTS and LinGreedy."""

    class Clusters(NamedTuple):
        """Not available."""

        n_clusters: int = 2
        is_minibatch: bool = False

    class KNearest(NamedTuple):
        """Not available."""

        k: int = 1
        metric: str = "euclidean"

    class LSHNearest(NamedTuple):
        """Not available."""

        n_dimensions: int = 5
        n_tables: int = 3
        no_nhood_prob_of_arm: list[float] | None = None

    class Radius(NamedTuple):
        """Not available."""

        radius: float = 0.05
        metric: str = "euclidean"
        no_nhood_prob_of_arm: list[float] | None = None

    class TreeBandit(NamedTuple):
        """Not available."""

        tree_parameters: dict[str, Any] = {}


KnownPolicy = Union[
    LearningPolicy.Code,
    LearningPolicy.EpsilonGreedy,
    LearningPolicy.LinGreedy,
    LearningPolicy.LinTS,
    LearningPolicy.LinUCB,
    LearningPolicy.ThompsonSampling,
    LearningPolicy.UCB1,
]
LINEAR: tuple[type, ...] = (LearningPolicy.LinGreedy, LearningPolicy.LinTS, LearningPolicy.LinUCB)
WITHOUT_CONTEXTS: tuple[type, ...] = (
    LearningPolicy.EpsilonGreedy,
    LearningPolicy.ThompsonSampling,
    LearningPolicy.UCB1,
)
_MISSING = {
    LearningPolicy.Popularity: "EpsilonGreedy, which goes by the same means",
    LearningPolicy.Random: "EpsilonGreedy(epsilon=1)",
    LearningPolicy.Softmax: "EpsilonGreedy, or Code, which explores what could still be best",
}


_SHARED = (
    "the largest reward under parameters drawn from the posteriors, by the same normal "
    "numbers for all arms"
)


class Rule(NamedTuple):
    """A policy in the form that the compiled part takes."""

    table: dict[str, Any]
    facts: dict[str, Any]
    epsilon: float | None
    decides_by: str | None
    shared_draws: bool = False


def check_binarizer(binarizer: Any) -> None:
    if binarizer is not None and not callable(binarizer):
        raise TypeError(
            "binarizer: expected a function of arm and reward that says whether it was a success"
        )


def _number(
    policy: Any, name: str, *, above: float = -1.0, lowest: float = 0.0, highest: float = LARGEST
) -> None:
    value = getattr(policy, name)
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise TypeError(f"{name}: expected a number, found {type(value).__name__}")
    if not (lowest <= value <= highest and value > above):
        bounds = f"above {above:g}" if above >= lowest else f"at least {lowest:g}"
        raise ValueError(f"{name}: must be {bounds} and at most {highest:g}, got {value}")


def check_policy(policy: Any) -> None:
    if type(policy) in _MISSING:
        name = type(policy).__name__
        raise NotImplementedError(
            f"learning_policy: Plausibly has no {name}; use {_MISSING[type(policy)]}"
        )
    if not isinstance(policy, KnownPolicy.__args__):  # type: ignore[attr-defined]
        raise TypeError(
            "learning_policy: expected one of plausibly's LearningPolicy, as "
            f"LearningPolicy.LinUCB(), found {policy!r}"
        )
    if getattr(policy, "scale", False):
        raise NotImplementedError(
            "scale: Plausibly does not scale contexts arm by arm; scale them once for all arms, "
            "before fit and before predict"
        )
    if "l2_lambda" in policy._fields:
        # Without a ridge, an arm with fewer rows than features has no estimate.
        _number(policy, "l2_lambda", above=0.0)
    if "epsilon" in policy._fields:
        _number(policy, "epsilon", highest=1.0)
    if isinstance(policy, (LearningPolicy.LinTS, LearningPolicy.Code)) and policy.alpha is not None:
        _number(policy, "alpha", above=0.0)
    elif getattr(policy, "alpha", None) is not None:
        _number(policy, "alpha")
    if isinstance(policy, LearningPolicy.LinTS) and not isinstance(policy.shared_draws, bool):
        raise TypeError(
            f"shared_draws: expected True or False, found {type(policy.shared_draws).__name__}"
        )
    if isinstance(policy, LearningPolicy.ThompsonSampling):
        check_binarizer(policy.binarizer)
    if isinstance(policy, LearningPolicy.Code):
        _check_code(policy)


def _check_code(policy: LearningPolicy.Code) -> None:
    if policy.greed is not None:
        _number(policy, "greed", highest=1.0)
    if policy.outcomes == "counts":
        raise NotImplementedError(
            "outcomes: a MAB learns single rewards; use plausibly.Code for counts, or "
            'outcomes="yes/no"'
        )
    noise: Any = policy.noise
    if noise == "bell":
        raise NotImplementedError(
            "noise: the bell-curve set has a model of its own, which a MAB does not have; use "
            "plausibly.Code"
        )
    if policy.target is not None and "by_round" in policy.target:
        raise NotImplementedError(
            "target: a deadline counts rounds, and a MAB is asked in any order; leave out by_round"
        )
    said = (policy.alpha, policy.noise_scale, policy.noise, policy.outcomes)
    if all(one is None for one in said):
        raise ValueError(
            "noise_scale: Code needs to know what rewards can be (outcomes), or the scale of the "
            "noise in rewards, or a fixed width alpha in their place"
        )
    # The compiled part checks the rest, and its messages name the same parameters.
    made = _code(policy, contextual=False)
    _core.ArmModels(1, 0, made.table, made.facts, None, 0)


def rule(policy: KnownPolicy, contextual: bool) -> Rule:
    """The kind of a MABWiser policy, in the names of the specs."""
    greedy = {"kind": "epsilon-greedy"}
    if isinstance(policy, LearningPolicy.Code):
        return _code(policy, contextual)
    if isinstance(policy, LearningPolicy.EpsilonGreedy):
        return Rule(greedy, {"horizon": 1}, float(policy.epsilon), _greedily(policy.epsilon))
    if isinstance(policy, LearningPolicy.LinGreedy):
        table = {**greedy, "ridge": float(policy.l2_lambda)}
        return Rule(table, {"horizon": 1}, float(policy.epsilon), _greedily(policy.epsilon))
    if isinstance(policy, LearningPolicy.LinTS):
        table = {
            "kind": "lin-ts",
            "ridge": float(policy.l2_lambda),
            "noise_scale": float(policy.alpha),
        }
        return Rule(table, {}, None, _SHARED if policy.shared_draws else None, policy.shared_draws)
    if isinstance(policy, LearningPolicy.ThompsonSampling):
        # Half the range of rewards of 0 and 1: no such rewards vary more.
        return Rule({"kind": "thompson", "noise_scale": 0.5}, {}, None, None)
    if policy.alpha == 0:
        # A width of zero is pure greed, not a radius.
        ridge = (
            {"ridge": float(policy.l2_lambda)} if isinstance(policy, LearningPolicy.LinUCB) else {}
        )
        return Rule({**greedy, **ridge}, {"horizon": 1}, 0.0, _greedily(0))
    if isinstance(policy, LearningPolicy.UCB1):
        return Rule({"kind": "ucb1", "noise_scale": float(policy.alpha)}, {}, None, None)
    table = {"kind": "lin-ucb", "ridge": float(policy.l2_lambda), "radius": float(policy.alpha)}
    return Rule(table, {}, None, None)


def _code(policy: LearningPolicy.Code, contextual: bool) -> Rule:
    ranged, scaled = policy.outcomes is not None, (policy.noise_scale, policy.noise) != (None, None)
    if contextual:
        kind = "additive" if ranged else "determinant"
    else:
        kind = "two-point" if ranged and not scaled else "mixture"
    radius: Any = {"kind": kind, "delta": policy.delta}
    if policy.alpha is not None:
        radius = float(policy.alpha)
    greed = policy.greed
    if greed is None and policy.target is None:
        greed = 0.3 if ranged else 0.0
    table = {
        "kind": "code",
        "radius": radius,
        "greed": greed,
        "target": policy.target,
        # Models of arms have nothing in common, so differences say no more than intervals.
        **({"ridge": float(policy.l2_lambda), "exclusion": "intervals"} if contextual else {}),
    }
    facts = {
        "outcomes": policy.outcomes,
        "noise": policy.noise,
        "noise_scale": policy.noise_scale,
        "theta_norm_bound": policy.theta_norm_bound if contextual else None,
    }
    return Rule(table, facts, None, None)


def _greedily(epsilon: float) -> str:
    rest = f", and in {100 * epsilon:g} % of rounds any arm, at random" if epsilon else ""
    return f"the largest estimate{rest}"
