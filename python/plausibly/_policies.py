"""The policies. Their parameters have the names and defaults of specs, and the same reader."""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping
from typing import Any, Literal, TypeVar, Union

import numpy.typing as npt

from . import _core, _saved
from ._explanation import Difference, Explanation, Outlook

Radius = Union[float, Mapping[str, Any]]
"""A confidence radius: a table as in specs, or a number, the radius itself (LinUCB's alpha)."""

Outcomes = Union[Literal["yes/no", "counts"], tuple[float, float]]
"""What an outcome can be: yes or no, counts of yes, or a number in a range."""

_P = TypeVar("_P", bound="Policy")

# The default label of a policy is its kind.
_KINDS = {
    "BetaThompson": "beta-thompson",
    "Code": "code",
    "Elimination": "elimination",
    "EpsilonGreedy": "epsilon-greedy",
    "ExploreThenCommit": "explore-then-commit",
    "Insured": "insured",
    "LinTS": "lin-ts",
    "LinUCB": "lin-ucb",
    "Thompson": "thompson",
    "UCB1": "ucb1",
}


class Policy(_core.Policy):
    """Common methods of all policies; use one of its subclasses.

    >>> from plausibly import Policy
    >>> Policy()
    Traceback (most recent call last):
    TypeError: use Code, Insured, LinUCB, LinTS, Elimination, EpsilonGreedy, ExploreThenCommit, ...
    """

    __slots__ = ()

    def __new__(cls) -> Policy:
        raise TypeError(
            "use Code, Insured, LinUCB, LinTS, Elimination, EpsilonGreedy, ExploreThenCommit, "
            "UCB1, Thompson or BetaThompson"
        )

    def explain(
        self, actions: _core.ActionSet | npt.ArrayLike, *, radius: Radius | None = None
    ) -> Explanation:
        """How good each action may be, whether it could still be best, and which action rules it
        out.

        Uses the policy's own radius unless another is given. A policy that decides without a radius
        (LinTS, Thompson, BetaThompson, Elimination, EpsilonGreedy, ExploreThenCommit) uses the
        default one for such actions, which needs its constants. Explaining changes nothing.

        >>> from plausibly import ActionSet, UCB1
        >>> arms = ActionSet.arms(2)
        >>> policy = UCB1(noise_scale=1.0)
        >>> policy.select(arms)
        0
        >>> policy.update(0, 1.5)
        >>> policy.explain(arms).mean
        array([1.5, 0. ])
        """
        return Explanation(**self._explain(actions, radius))

    def compare(
        self,
        a: Any,
        b: Any,
        offers: _core.ActionSet | npt.ArrayLike,
        *,
        radius: Radius | None = None,
    ) -> Difference:
        """Which of two actions is better and by how much, or about how many more outcomes would
        show it.

        Rests on the same set as `explain`, so all comparisons hold together, however the two are
        picked. It can take more outcomes to say which of two actions is better than to say that one
        of them is not the best. Asking changes nothing.

        >>> from plausibly import ActionSet, Code
        >>> arms = ActionSet.arms(["red", "blue"])
        >>> policy = Code(outcomes="yes/no")
        >>> policy.partial_fit(["red", "blue"] * 20, [1, 0, 1, 0, 0, 0, 1, 0] * 5, offers=arms)
        >>> print(policy.compare("red", "blue", arms))
        "red" beats "blue" by 0.045 to 0.972 (95 % sure).
        """
        return Difference(**self._compare(offers, a, b, radius))

    def outlook(
        self, offers: _core.ActionSet | npt.ArrayLike, *, radius: Radius | None = None
    ) -> Outlook:
        """Which action will probably be the next to be out, and after about how many more outcomes.

        A forecast from the evidence so far. Asking changes nothing.

        >>> from plausibly import ActionSet, Code
        >>> print(Code(outcomes="yes/no").outlook(ActionSet.arms(2)))
        How many more outcomes it takes until the next action is out cannot be said yet.
        """
        return Outlook(**self._outlook(offers, radius))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the policy to a file, completely or not at all.

        The file holds its parameters, everything it has learned, the decisions without a reward,
        and the position of its random stream. It is JSON, with every number exact. Labels of the
        actions it remembers must be text, numbers, booleans, None or tuples of these.

        >>> import tempfile, pathlib
        >>> from plausibly import ActionSet, Policy, UCB1
        >>> policy = UCB1(noise_scale=1.0)
        >>> policy.update(ActionSet.arms(2)[0], 0.5)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     policy.save(pathlib.Path(folder, "arms.json"))
        ...     again = Policy.load(pathlib.Path(folder, "arms.json"))
        >>> again
        UCB1(noise_scale=1.0)
        """
        _saved.write(path, _saved.document(*self._save()))

    @classmethod
    def load(cls: type[_P], path: str | os.PathLike[str]) -> _P:
        """Reads a policy that `save` wrote; it continues as the saved one would have, to the last
        bit.

        `Policy.load` accepts any kind of policy, a subclass only its own kind.
        """
        text, sets, waiting, kind, outcomes = _saved.read(path)
        name = _class_name(kind, outcomes)
        if name is None:
            raise ValueError(
                f"path: {os.fspath(path)} holds a policy of the kind {kind!r}, which this version "
                "does not know"
            )
        wanted = next((base.__name__ for base in cls.__mro__ if base.__name__ in _KINDS), None)
        if wanted not in (None, name):
            raise ValueError(
                f"path: {os.fspath(path)} holds a policy of the kind {kind!r}, made by {name}, and "
                f"{cls.__name__} is {_KINDS[wanted]!r}"
            )
        made: type[Any] = cls if wanted is not None else globals()[name]
        try:
            restored: _P = made._restored(_saved.VERSION, text, sets, waiting)
            return restored
        except (KeyError, OverflowError, TypeError, ValueError) as error:
            raise ValueError(f"path: {os.fspath(path)} cannot be read back: {error}") from error

    @classmethod
    def _restored(
        cls: type[_P], version: int, text: str, sets: list[_core.ActionSet], waiting: _saved.Waiting
    ) -> _P:
        text = _saved.renewed(version, text)
        table, facts, seed = _saved.settings(text)
        policy = _core.Policy.__new__(cls, table, facts, seed)
        policy._restore(text, sets, waiting)
        return policy

    def __reduce__(self) -> tuple[Any, ...]:
        return (
            _restored,
            (type(self), _saved.VERSION, *self._save()),
            getattr(self, "__dict__", None) or None,
        )

    def get_params(self) -> dict[str, Any]:
        """The parameters it was made with; None for a default, which `help` of its class names.

        >>> from plausibly import UCB1
        >>> UCB1(noise_scale=0.5).get_params()
        {'noise_scale': 0.5, 'seed': 0, 'label': None}
        >>> policy = UCB1(**UCB1(noise_scale=0.5).get_params())
        """
        given = self._given()
        return {name: _as_given(given.get(name)) for name in _parameters(type(self))}

    def __repr__(self) -> str:
        given = self._given()
        if given["seed"] == 0:
            del given["seed"]
        named = (
            f"{name}={_as_given(given[name])!r}"
            for name in _parameters(type(self))
            if name in given
        )
        return f"{type(self).__name__}({', '.join(named)})"

    @classmethod
    def _made(
        cls: type[_P], kind: str, seed: int, facts: Mapping[str, Any] | None = None, **fields: Any
    ) -> _P:
        """Makes a policy from the fields of its table in specs, and facts about the problem."""
        return _core.Policy.__new__(cls, {"kind": kind, **fields}, facts or {}, seed)


class Code(Policy):
    """CODE: among the actions that could still be best, the one it knows least about.

        A_t = argmax of √β·‖a‖_V⁻¹ + greed·mean(a) over the plausible a:
        those with mean(b) − mean(a) ≤ √β·‖b − a‖_V⁻¹ for the best b

    For actions with features and for plain arms. Say what outcomes can be, and how they scatter if
    you know; the defaults follow from that.

    Parameters
    ----------
    outcomes : "yes/no", "counts" or (lowest, highest), default None
        What an outcome can be. Others are refused. "yes/no" is 1 or 0, or True or False; with
        "counts" pass how many of how many were yes to update. A range makes verdicts sooner.
    noise : float or "bell", default None
        How much outcomes of the same action scatter, if you know: a number is the same as
        noise_scale; "bell" says that they scatter like a bell curve, by an unknown amount.
    noise_scale : float, from 1e-50 to 1e50
        σ, the scale of the noise in rewards: its standard deviation. Half the range of outcomes if
        they have one; else required, unless the radius needs none or has its own.
    theta_norm_bound : float, at least 0
        A bound on ‖θ*‖, the norm of the true parameter. Required with features, unless the radius
        needs none or has its own.
    action_norm_bound : float, above 0
        A bound on ‖a‖ over all actions to come. Only the radius of the kind "paper" needs it.
    radius : float or dict, default depends on outcomes
        √β in mean ± √β·‖a‖_V⁻¹. A number is √β itself (alpha elsewhere); a dict names a kind and
        its constants, as in docs/reference/spec.md. Default: where outcomes have a range,
        {"kind": "forecast"}, and {"kind": "two-point"} for arms; with a noise scale alone,
        {"kind": "additive"}, and for arms {"kind": "mixture"}, also where outcomes have a range.
    same_actions : bool, default False
        Your promise that every round offers the same actions in the same order. Other features are
        refused then. With at most 64 actions, verdicts between pairs come sooner. Features only:
        arms are always recognised.
    ridge : float, default d·σ²/S² with "additive", 1/(10·S²) with "forecast", else 1
        λ in V = λI + Σ x·xᵀ, from 1e-100 to 1e100; S is theta_norm_bound. Features only: arms are
        estimated by plain means.
    exclusion : "differences" or "intervals", default "differences"
        What rules an action out: that it is worse than another one, or that its interval lies
        below another one, as in the paper. Features only: arms are known separately.
    greed : float, default 0.3, with a target 0, from 0 to 1
        c in argmax of √β·‖a‖_V⁻¹ + c·mean(a) over the plausible actions: 0 is CODE as in the
        paper, 1 is LinUCB with this radius. On one set of actions 0.3 saves up to a third of the
        regret of 0, and some verdicts come later.
    target : dict, default None, which explores in every round
        Explore only while a plausible action is known less accurately than this: {"accuracy": ε}
        for half an interval, where wanted with "by_round": t, or {"kappa": κ} for a squared width
        of κ·d/t. Not together with greed.
    randomise : float, default 0, from 0 to 0.99
        The share of rounds drawn uniformly from the plausible actions, for exact propensities.
    count_pending : bool, default True
        Whether pending decisions count in the design at once. They never count in the intervals.
    seed : int, default 0, from 0 to 2⁶³ − 1
        The start of its random numbers, together with the label.
    label : str, default the kind of the policy
        Its name in results. Another label means other random numbers.

    >>> from plausibly import ActionSet, Code
    >>> policy = Code(outcomes="yes/no", target={"accuracy": 0.1}, seed=7)
    >>> policy.select(ActionSet.arms(3))
    0
    """

    __slots__ = ()

    def __new__(
        cls,
        *,
        outcomes: Outcomes | None = None,
        noise: float | Literal["bell"] | None = None,
        same_actions: bool | None = None,
        ridge: float | None = None,
        radius: Radius | None = None,
        exclusion: Literal["differences", "intervals"] | None = None,
        greed: float | None = None,
        target: Mapping[str, float] | None = None,
        randomise: float | None = None,
        count_pending: bool | None = None,
        noise_scale: float | None = None,
        theta_norm_bound: float | None = None,
        action_norm_bound: float | None = None,
        seed: int = 0,
        label: str | None = None,
    ) -> Code:
        facts = {
            "outcomes": outcomes,
            "noise": noise,
            "same_actions": same_actions,
            "noise_scale": noise_scale,
            "theta_norm_bound": theta_norm_bound,
            "action_norm_bound": action_norm_bound,
        }
        return cls._made(
            "code",
            seed,
            facts,
            label=label,
            ridge=ridge,
            radius=radius,
            exclusion=exclusion,
            greed=greed,
            target=target,
            randomise=randomise,
            count_pending=count_pending,
        )


class Insured(Policy):
    """Another policy decides, and CODE explores while a plausible action is known too little.

        explore while a plausible a has ‖a‖²_V⁻¹ > κ·d/t, as Code does;
        otherwise take what the policy inside wants, among the plausible actions

    For actions with features and for plain arms, as the policy inside.

    Parameters
    ----------
    inside : dict, default {"kind": "lin-ts"}, of arms {"kind": "thompson"}
        The policy inside: a table as in docs/reference/spec.md, of any kind but "insured". The
        epsilon of "epsilon-greedy" may be 0 here: the best estimate alone.
    kappa : float, default 4, from 1e-50 to 1e50
        κ. Near 1 for verdicts, 4 for both, 10 to 30 for reward.
    outcomes : "yes/no", "counts" or (lowest, highest), default None
        What an outcome can be. Others are refused. "yes/no" is 1 or 0, or True or False; with
        "counts" pass how many of how many were yes to update. A range makes verdicts sooner.
    noise : float or "bell", default None
        How much outcomes of the same action scatter, if you know: a number is the same as
        noise_scale; "bell" says that they scatter like a bell curve, by an unknown amount.
    noise_scale : float, from 1e-50 to 1e50
        σ, the scale of the noise in rewards: its standard deviation. Half the range of outcomes if
        they have one; else required, unless the radius and the policy inside need none or have
        their own.
    theta_norm_bound : float, at least 0
        A bound on ‖θ*‖, the norm of the true parameter. Required with features, unless the radius
        needs none or has its own.
    action_norm_bound : float, above 0
        A bound on ‖a‖ over all actions to come. Only the radius of the kind "paper" needs it.
    horizon : int, from 1 to 10¹²
        About how many decisions there will be. Required if the policy inside spreads its
        exploration over it.
    radius : float or dict, default depends on outcomes
        √β in mean ± √β·‖a‖_V⁻¹. A number is √β itself (alpha elsewhere); a dict names a kind and
        its constants, as in docs/reference/spec.md. Default: where outcomes have a range,
        {"kind": "forecast"}, and {"kind": "two-point"} for arms; with a noise scale alone,
        {"kind": "additive"}, and for arms {"kind": "mixture"}, also where outcomes have a range.
    same_actions : bool, default False
        Your promise that every round offers the same actions in the same order. Other features are
        refused then. With at most 64 actions, verdicts between pairs come sooner. Features only:
        arms are always recognised.
    ridge : float, default d·σ²/S² with "additive", 1/(10·S²) with "forecast", else 1
        λ in V = λI + Σ x·xᵀ, from 1e-100 to 1e100; S is theta_norm_bound. Features only: arms are
        estimated by plain means.
    exclusion : "differences" or "intervals", default "differences"
        What rules an action out: that it is worse than another one, or that its interval lies
        below another one, as in the paper. Features only: arms are known separately.
    count_pending : bool, default True
        Whether pending decisions count in the widths that are compared with κ·d/t.
    seed : int, default 0, from 0 to 2⁶³ − 1
        The start of its random numbers, together with the label.
    label : str, default the kind of the policy
        Its name in results. Another label means other random numbers.

    >>> from plausibly import ActionSet, Insured
    >>> policy = Insured(inside={"kind": "ucb1"}, kappa=10, noise_scale=0.5)
    >>> policy.select(ActionSet.arms(3))
    0
    """

    __slots__ = ()

    def __new__(
        cls,
        *,
        inside: Mapping[str, Any] | None = None,
        kappa: float | None = None,
        outcomes: Outcomes | None = None,
        noise: float | Literal["bell"] | None = None,
        same_actions: bool | None = None,
        ridge: float | None = None,
        radius: Radius | None = None,
        exclusion: Literal["differences", "intervals"] | None = None,
        count_pending: bool | None = None,
        noise_scale: float | None = None,
        theta_norm_bound: float | None = None,
        action_norm_bound: float | None = None,
        horizon: int | None = None,
        seed: int = 0,
        label: str | None = None,
    ) -> Insured:
        facts = {
            "outcomes": outcomes,
            "noise": noise,
            "same_actions": same_actions,
            "noise_scale": noise_scale,
            "theta_norm_bound": theta_norm_bound,
            "action_norm_bound": action_norm_bound,
            "horizon": horizon,
        }
        return cls._made(
            "insured",
            seed,
            facts,
            label=label,
            kappa=kappa,
            ridge=ridge,
            radius=radius,
            exclusion=exclusion,
            count_pending=count_pending,
            inside=inside,
        )


class LinUCB(Policy):
    """LinUCB: the largest upper confidence bound. For actions with features.

        A_t = argmax_a mean(a) + √β·‖a‖_V⁻¹

    Parameters
    ----------
    radius : float or dict, default {"kind": "forecast"}, without a range {"kind": "additive"}
        √β in mean ± √β·‖a‖_V⁻¹. A number is √β itself (alpha elsewhere); a dict names a kind and
        its constants, as in docs/reference/spec.md.
    outcomes : "yes/no", "counts" or (lowest, highest), default None
        What an outcome can be. Others are refused. "yes/no" is 1 or 0, or True or False; with
        "counts" pass how many of how many were yes to update. A range makes verdicts sooner.
    noise : float or "bell", default None
        How much outcomes of the same action scatter, if you know: a number is the same as
        noise_scale; "bell" says that they scatter like a bell curve, by an unknown amount.
    noise_scale : float, from 1e-50 to 1e50
        σ, the scale of the noise in rewards: its standard deviation. Half the range of outcomes if
        they have one; else required, unless the radius needs none or has its own.
    theta_norm_bound : float, at least 0
        A bound on ‖θ*‖, the norm of the true parameter. Required with features, unless the radius
        needs none or has its own.
    action_norm_bound : float, above 0
        A bound on ‖a‖ over all actions to come. Only the radius of the kind "paper" needs it.
    same_actions : bool, default False
        Your promise that every round offers the same actions in the same order. Other features are
        refused then. With at most 64 actions, verdicts between pairs come sooner.
    ridge : float, default d·σ²/S² with "additive", 1/(10·S²) with "forecast", else 1
        λ in V = λI + Σ x·xᵀ, from 1e-100 to 1e100; S is theta_norm_bound.
    seed : int, default 0, from 0 to 2⁶³ − 1
        The start of its random numbers, together with the label.
    label : str, default the kind of the policy
        Its name in results. Another label means other random numbers.

    >>> from plausibly import LinUCB
    >>> policy = LinUCB(radius=1.25)  # a number is the radius itself
    >>> policy.select([[1.0, 0.0], [0.0, 2.0]])
    1
    """

    __slots__ = ()

    def __new__(
        cls,
        *,
        outcomes: Outcomes | None = None,
        noise: float | Literal["bell"] | None = None,
        same_actions: bool | None = None,
        ridge: float | None = None,
        radius: Radius | None = None,
        noise_scale: float | None = None,
        theta_norm_bound: float | None = None,
        action_norm_bound: float | None = None,
        seed: int = 0,
        label: str | None = None,
    ) -> LinUCB:
        facts = {
            "outcomes": outcomes,
            "noise": noise,
            "same_actions": same_actions,
            "noise_scale": noise_scale,
            "theta_norm_bound": theta_norm_bound,
            "action_norm_bound": action_norm_bound,
        }
        return cls._made("lin-ucb", seed, facts, label=label, ridge=ridge, radius=radius)


class LinTS(Policy):
    """LinTS: Thompson sampling for actions with features.

        θ̃ ~ N(θ̂, σ²·V⁻¹)        A_t = argmax_a ⟨a, θ̃⟩

    Parameters
    ----------
    noise_scale : float, from 1e-50 to 1e50
        σ, the scale of the noise in rewards: its standard deviation, or half the range of bounded
        rewards. Required.
    ridge : float, default 1, from 1e-100 to 1e100
        λ in V = λI + Σ x·xᵀ.
    seed : int, default 0, from 0 to 2⁶³ − 1
        The start of its random numbers, together with the label.
    label : str, default the kind of the policy
        Its name in results. Another label means other random numbers.

    >>> from plausibly import LinTS
    >>> policy = LinTS(noise_scale=0.5, seed=7)
    >>> policy.select([[1.0, 0.0], [0.0, 1.0]]) in (0, 1)
    True
    """

    __slots__ = ()

    def __new__(
        cls,
        *,
        noise_scale: float | None = None,
        ridge: float | None = None,
        seed: int = 0,
        label: str | None = None,
    ) -> LinTS:
        return cls._made("lin-ts", seed, label=label, ridge=ridge, noise_scale=noise_scale)


class Elimination(Policy):
    """Phased elimination, with an optimal design in each phase.

    For actions with features that are the same in every round.

        phase ℓ plays each a ⌈2·d·π(a)·4^ℓ·log(K·ℓ·(ℓ + 1)/δ)⌉ times,
        and then drops a if max_b ⟨b − a, θ̂⟩ > 2^(1 − ℓ)

    Its guarantee is for one fixed set and noise of scale 1; another set is refused.

    Parameters
    ----------
    delta : float, default 0.05, above 0 and below 1
        δ, the chance that the best action is dropped.
    ridge : float, default 1, from 1e-100 to 1e100
        λ in V = λI + Σ x·xᵀ. For explanations only.
    seed : int, default 0, from 0 to 2⁶³ − 1
        The start of its random numbers, together with the label.
    label : str, default the kind of the policy
        Its name in results. Another label means other random numbers.

    >>> from plausibly import Elimination
    >>> policy = Elimination(delta=0.1)
    >>> policy.select([[1.0, 0.0], [0.0, 1.0]]) in (0, 1)
    True
    """

    __slots__ = ()

    def __new__(
        cls,
        *,
        delta: float | None = None,
        ridge: float | None = None,
        seed: int = 0,
        label: str | None = None,
    ) -> Elimination:
        return cls._made("elimination", seed, label=label, ridge=ridge, delta=delta)


class EpsilonGreedy(Policy):
    """The largest estimate, and in some rounds a draw from all actions.

    The share of these rounds decays towards the horizon.

        A_t = argmax_a mean(a), and in about epsilon·horizon rounds, most of them early, a draw

    Parameters
    ----------
    horizon : int, from 1 to 10¹²
        About how many decisions there will be. Required.
    epsilon : float, default 0.05, above 0 and at most 1
        The share of all rounds that explore.
    exploration : "uniform" or "design", default "uniform"
        How exploring rounds draw: uniformly, or by the D-optimal design over the set. Arms are
        always drawn uniformly.
    ridge : float, default 1, from 1e-100 to 1e100
        λ in V = λI + Σ x·xᵀ. Features only: arms are estimated by plain means.
    seed : int, default 0, from 0 to 2⁶³ − 1
        The start of its random numbers, together with the label.
    label : str, default the kind of the policy
        Its name in results. Another label means other random numbers.

    >>> from plausibly import ActionSet, EpsilonGreedy
    >>> policy = EpsilonGreedy(horizon=1000, epsilon=0.1)
    >>> policy.select(ActionSet.arms(3)) in (0, 1, 2)
    True
    """

    __slots__ = ()

    def __new__(
        cls,
        *,
        horizon: int | None = None,
        epsilon: float | None = None,
        exploration: Literal["uniform", "design"] | None = None,
        ridge: float | None = None,
        seed: int = 0,
        label: str | None = None,
    ) -> EpsilonGreedy:
        fields = {"label": label, "ridge": ridge, "epsilon": epsilon, "exploration": exploration}
        return cls._made("epsilon-greedy", seed, {"horizon": horizon}, **fields)


class ExploreThenCommit(Policy):
    """A draw from all actions for a share of the horizon, and then the action that came out best.

        A_t = a draw for t ≤ epsilon·horizon, then argmax_a mean(a) with the means of that moment

    Parameters
    ----------
    horizon : int, from 1 to 10¹²
        About how many decisions there will be. Required.
    epsilon : float, default 0.05, above 0 and at most 1
        The share of rounds, the first ones, that explore.
    exploration : "uniform" or "design", default "uniform"
        How exploring rounds draw: uniformly, or by the D-optimal design over the set. Arms are
        always drawn uniformly.
    ridge : float, default 1, from 1e-100 to 1e100
        λ in V = λI + Σ x·xᵀ. Features only: arms are estimated by plain means.
    seed : int, default 0, from 0 to 2⁶³ − 1
        The start of its random numbers, together with the label.
    label : str, default the kind of the policy
        Its name in results. Another label means other random numbers.

    >>> from plausibly import ActionSet, ExploreThenCommit
    >>> policy = ExploreThenCommit(horizon=1000)
    >>> policy.select(ActionSet.arms(3)) in (0, 1, 2)
    True
    """

    __slots__ = ()

    def __new__(
        cls,
        *,
        horizon: int | None = None,
        epsilon: float | None = None,
        exploration: Literal["uniform", "design"] | None = None,
        ridge: float | None = None,
        seed: int = 0,
        label: str | None = None,
    ) -> ExploreThenCommit:
        fields = {"label": label, "ridge": ridge, "epsilon": epsilon, "exploration": exploration}
        return cls._made("explore-then-commit", seed, {"horizon": horizon}, **fields)


class UCB1(Policy):
    """UCB1: the largest upper bound. For plain arms, or actions known by their place alone.

        A_t = argmax_a mean(a) + σ·√(2·log t/T(a)), each arm once first

    Parameters
    ----------
    noise_scale : float, from 1e-50 to 1e50
        σ, the scale of the noise in rewards: its standard deviation, or half the range of bounded
        rewards. 1 gives the index as printed. Required.
    seed : int, default 0, from 0 to 2⁶³ − 1
        The start of its random numbers, together with the label.
    label : str, default the kind of the policy
        Its name in results. Another label means other random numbers.

    >>> from plausibly import ActionSet, UCB1
    >>> UCB1(noise_scale=1.0).select(ActionSet.arms(3))
    0
    """

    __slots__ = ()

    def __new__(
        cls, *, noise_scale: float | None = None, seed: int = 0, label: str | None = None
    ) -> UCB1:
        return cls._made("ucb1", seed, label=label, noise_scale=noise_scale)


class Thompson(Policy):
    """Thompson sampling. For plain arms, or actions known by their place alone.

        A_t = argmax_a of draws from N(mean(a), σ²/T(a)), each arm once first
        yes/no: draws from Beta(1 + S(a), 1 + T(a) − S(a)), S(a) the number of yes

    Parameters
    ----------
    outcomes : "yes/no", "counts" or (lowest, highest), default None
        What an outcome can be. Others are refused. "yes/no" is 1 or 0, or True or False; with
        "counts" pass how many of how many were yes to update. Both draw from Beta distributions.
    noise_scale : float, from 1e-50 to 1e50
        σ, the scale of the noise in rewards: its standard deviation. Half the range of outcomes if
        they have one; else required. Not for yes/no and counts.
    seed : int, default 0, from 0 to 2⁶³ − 1
        The start of its random numbers, together with the label.
    label : str, default the kind of the policy
        Its name in results. Another label means other random numbers.

    >>> from plausibly import ActionSet, Thompson
    >>> policy = Thompson(outcomes="counts", seed=7)
    >>> arms = ActionSet.arms(["red", "blue"])
    >>> policy.update(arms["red"], successes=60, of=100)
    >>> policy.update(arms["blue"], successes=20, of=100)
    >>> policy.select(arms)
    'red'
    """

    __slots__ = ()

    def __new__(
        cls,
        *,
        outcomes: Outcomes | None = None,
        noise_scale: float | None = None,
        seed: int = 0,
        label: str | None = None,
    ) -> Thompson:
        facts = {"outcomes": outcomes}
        if not isinstance(outcomes, str):
            return cls._made("thompson", seed, facts, label=label, noise_scale=noise_scale)
        if noise_scale is not None:
            raise ValueError(
                "noise_scale: yes and no scatter by as much as the share of yes says; leave it out"
            )
        return cls._made("beta-thompson", seed, facts, label=label)


class BetaThompson(Policy):
    """Thompson sampling for yes/no rewards. For plain arms, or actions known by their place alone.

        A_t = argmax_a of draws from Beta(1 + S(a), 1 + T(a) − S(a)), S(a) the sum of T(a) rewards

    The same as `Thompson(outcomes="yes/no")`, but that a reward may also lie between 0 and 1 and
    then counts as that share of a success.

    Parameters
    ----------
    seed : int, default 0, from 0 to 2⁶³ − 1
        The start of its random numbers, together with the label.
    label : str, default the kind of the policy
        Its name in results. Another label means other random numbers.

    >>> from plausibly import ActionSet, BetaThompson
    >>> policy = BetaThompson(seed=7)
    >>> policy.select(ActionSet.arms(3)) in range(3)
    True
    """

    __slots__ = ()

    def __new__(cls, *, seed: int = 0, label: str | None = None) -> BetaThompson:
        return cls._made("beta-thompson", seed, label=label)


def _parameters(made: type[Policy]) -> list[str]:
    """The parameters of the constructor of a kind of policy, also for subclasses with their own."""
    kind = next(base for base in made.__mro__ if base.__name__ in _KINDS)
    return [name for name in inspect.signature(kind.__new__).parameters if name != "cls"]


def _as_given(value: Any) -> Any:
    """A pair as a tuple, as the caller writes it."""
    return tuple(value) if isinstance(value, list) else value


def _class_name(kind: str, outcomes: object) -> str | None:
    """The class of a policy of this kind. Both classes of Thompson sampling can have the kind
    "beta-thompson", but only `Thompson` is told what outcomes are.
    """
    if kind == "beta-thompson" and outcomes is not None:
        return "Thompson"
    return next((name for name, its_kind in _KINDS.items() if its_kind == kind), None)


def _restored(
    made: type[Policy],
    version: int,
    text: str,
    sets: list[_core.ActionSet],
    waiting: _saved.Waiting | tuple[()] = (),
) -> Policy:
    """Unpickles a policy; pickles name this function. Version 1 lists no waiting choices."""
    return made._restored(version, text, sets, list(waiting))
