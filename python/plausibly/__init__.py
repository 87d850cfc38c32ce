"""Bandits that decide among the actions that could still be best, and show their work.

>>> from plausibly import ActionSet, Code
>>> offers = ActionSet([[1.0, 0.0], [0.0, 1.0]], labels=["red", "blue"])
>>> policy = Code(noise=0.1, theta_norm_bound=1.0)
>>> for _ in range(30):
...     chosen = policy.select(offers)
...     policy.update(chosen, {"red": 0.9, "blue": 0.1}[chosen])
>>> policy.explain(offers).plausible
['red']
"""

from ._async_client import AsyncClient, AsyncExperiment
from ._client import Client, Experiment
from ._core import Action, ActionSet, CertificateError, DamagedLogError, __version__
from ._explanation import Difference, Explanation, Outlook, Target
from ._log import Batch, Decision, Log, explain_certificate, verify
from ._policies import (
    UCB1,
    BetaThompson,
    Code,
    Elimination,
    EpsilonGreedy,
    ExploreThenCommit,
    Insured,
    LaplaceTS,
    LinTS,
    LinUCB,
    Policy,
    Thompson,
)
from ._reproduce import Reproduction, fetch_data, reproduce
from ._service.answers import ServiceDecision, ServiceError, ServiceOutcome
from ._simulate import Result, simulate
from ._sweep import Sweep, sweep

__all__ = [
    "Action",
    "ActionSet",
    "AsyncClient",
    "AsyncExperiment",
    "Batch",
    "BetaThompson",
    "CertificateError",
    "Client",
    "Code",
    "DamagedLogError",
    "Decision",
    "Difference",
    "Elimination",
    "EpsilonGreedy",
    "Experiment",
    "Explanation",
    "ExploreThenCommit",
    "Insured",
    "LaplaceTS",
    "LinTS",
    "LinUCB",
    "Log",
    "Outlook",
    "Policy",
    "Reproduction",
    "Result",
    "ServiceDecision",
    "ServiceError",
    "ServiceOutcome",
    "Sweep",
    "Target",
    "Thompson",
    "UCB1",
    "__version__",
    "explain_certificate",
    "fetch_data",
    "reproduce",
    "simulate",
    "sweep",
    "verify",
]
