"""The client of the decision service: `plausibly serve` over HTTP."""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from types import TracebackType
from typing import Any, TypeVar

from ._log import Certificate, _certificate, _whole
from ._service import requests
from ._service.address import Address, Secret
from ._service.answers import Reply, ServiceDecision, ServiceError, ServiceOutcome
from ._service.defaults import all_defaulted, defaulted, each_or_default
from ._service.exchange import Patience, Pause, Request, Told, Unanswered, exchange
from ._service.requests import Decided, NoDefault
from ._service.wire import Connection

T = TypeVar("T")


class Client:
    """A decision service, over HTTP.

    `base` is its address. `key` is a key that `plausibly key add` has shown, by default the
    environment variable PLAUSIBLY_KEY; without one, the service answers while it has no keys.

    A call ends within `timeout` seconds, also with its retries, except for looking up the name of
    the host. There are at most `retries` of them: after a time-out, a lost connection and the
    statuses 429 and 503, with waits that grow from 0.05 s, are drawn at random, and are never
    shorter than the service asks for. If a wait does not fit into the time, the call ends at once.
    While there are retries, one try takes at most half of the time that is left. Every change can
    be repeated without harm, except `create` and `delete`: these are repeated only if the service
    has not carried them out.

    `cafile` is the certificate of the authority that TLS trusts, by default those of the system.
    Proxies are not used, and redirects are not followed. Each thread has a connection of its own,
    which is kept, so one client can be used by all threads.
    """

    def __init__(
        self,
        base: str = "http://127.0.0.1:8017",
        *,
        key: str | None = None,
        timeout: float = 2.0,
        retries: int = 3,
        cafile: str | os.PathLike[str] | None = None,
    ) -> None:
        self._address = Address.of(base)
        self._secret = Secret.of(key)
        self._patience = Patience.of(timeout, retries)
        self._trust = self._address.trust(cafile)
        self._sleep = time.sleep
        self._here = threading.local()
        self._connections: weakref.WeakSet[Connection] = weakref.WeakSet()
        self._lock = threading.Lock()
        self._closed = False

    def create(
        self,
        name: str,
        actions: object,
        *,
        context: Mapping[str, Any] | None = None,
        label: str | None = None,
        leave_out: Iterable[str] = (),
        reward_range: tuple[float, float] | None = None,
        outcomes: str | tuple[float, float] | None = None,
        policy: str | Mapping[str, Any] | None = None,
        noise: float | str | None = None,
        usual_rate: float | None = None,
        odds_factor: float | None = None,
        horizon: int | None = None,
        seed: int | None = None,
        theta_norm_bound: float | None = None,
        growth: int | None = None,
        window: float | timedelta | None = None,
        default: float | None = None,
        check: bool = False,
    ) -> dict[str, Any]:
        """Begins an experiment, and returns what it is: its recipe in words, its features, its
        policy and what is assumed.

        `actions` is a table as for `Log.decide`, and the settings are those of a `Log`. `context`
        is an example of the facts that decisions will come with, and `label` the column that names
        the actions. `growth` is the number of features that the recipe may grow to. With `window`,
        outcomes settle this number of seconds after their decisions; `default` is then the reward
        of a decision that got none. With `check`, nothing is begun.
        """
        request = requests.create(
            name,
            actions,
            check,
            context=context,
            label=label,
            leave_out=leave_out,
            reward_range=reward_range,
            outcomes=outcomes,
            policy=policy,
            noise=noise,
            usual_rate=usual_rate,
            odds_factor=odds_factor,
            horizon=horizon,
            seed=seed,
            theta_norm_bound=theta_norm_bound,
            growth=growth,
            window=window,
            default=default,
        )
        return self._call(request)

    def experiment(self, name: str) -> Experiment:
        """The experiment of this name. Nothing is asked yet."""
        return Experiment(self, name)

    def experiments(self) -> list[dict[str, Any]]:
        """The experiments that the key may see."""
        return requests.experiments_of(self._call(requests.get("/experiments")))

    def verify(self, certificate: Certificate) -> dict[str, Any]:
        """Lets the service check a certificate; raises a ServiceError if it is wrong.

        `plausibly.verify` checks it here, without trusting the service.
        """
        return self._call(requests.verify(_certificate(certificate)))

    def close(self) -> None:
        """Closes the connections. A closed client asks nothing more."""
        with self._lock:
            self._closed = True
            held = list(self._connections)
        for connection in held:
            connection.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Client({str(self._address)!r})"

    def _call(self, request: Request[T]) -> T:
        """Carries out a request, with its retries."""
        steps = exchange(request, self._patience, self._secret.hide, str(self._address))
        told: Told = None
        while True:
            try:
                step = steps.send(told)
            except StopIteration as done:
                answer: T = done.value
                return answer
            if isinstance(step, Pause):
                self._sleep(step.seconds)
                told = None
            else:
                told = self._send(request, step.deadline - self._patience.clock())

    def _send(self, request: Request[Any], seconds: float) -> Reply | Unanswered:
        connection = getattr(self._here, "connection", None)
        if connection is None:
            connection = Connection(self._address, self._secret, self._trust)
            self._here.connection = connection
        with self._lock:
            if self._closed:
                raise RuntimeError("the client is closed")
            self._connections.add(connection)
        try:
            reply: Reply = connection.send(request, time.monotonic() + seconds)
        except Unanswered as unanswered:
            return unanswered
        return reply


class Experiment:
    """An experiment of a decision service; `Client.experiment` makes it."""

    def __init__(self, client: Client, name: str) -> None:
        self._path = requests.experiment_path(name)
        self._client, self._name = client, name

    @property
    def name(self) -> str:
        """Its name."""
        return self._name

    def decide(
        self,
        context: Mapping[str, Any] | None = None,
        *,
        offer: Iterable[str] | None = None,
        rows: object = None,
        key: str | None = None,
        default: str | NoDefault = NoDefault.GIVEN,
        certificate: bool = False,
    ) -> ServiceDecision:
        """Takes a decision.

        `context` holds facts about this occasion. `offer` names the actions to choose from, or
        `rows` is a table of them; otherwise all actions of the experiment are offered. With
        `certificate`, the decision comes with its certificate.

        `key` is your name for this request, 1 to 200 characters of ASCII; by default every call has
        a new one. The same key again gives the decision that was taken the first time, so a retry
        never takes a second one.

        With `default`, the action to take if the service cannot decide, this method raises nothing:
        not if the service is not there, refuses or answers nonsense, and not if an argument is
        wrong. The decision has then no `id` and `is_default` is true, and the logger
        "plausibly.client" says why: a warning if the service could not, an error if the call must
        be mended. Only a call that is no call for Python, for example with an unknown argument,
        raises, and so do Ctrl-C and the like. The service may have taken a decision whose answer
        was lost: ask again with the `key` of the default, and drop it. Without `default` this
        raises a ServiceError, a TypeError or a ValueError.
        """
        key = requests.new_key() if key is None else key
        try:
            request = requests.decide(self._path, context, offer, rows, key, certificate)
            return self._client._call(request)
        except Exception as error:
            if isinstance(default, NoDefault):
                raise
            return defaulted(self._name, default, key, error)

    def decide_many(
        self,
        asked: Sequence[Mapping[str, Any]],
        *,
        key: str | None = None,
        default: str | NoDefault = NoDefault.GIVEN,
    ) -> list[ServiceDecision | ServiceError]:
        """Takes 1 to 100 decisions with one request.

        Each entry is a dict of `context`, `offer`, `rows` and `certificate`, as `decide` takes
        them. The answers are in the same order: the decision, or the error why there is none. With
        `default`, each of these is the default, and nothing is raised. `key` is for all of them.
        """
        key = requests.new_key() if key is None else key
        try:
            request = requests.decide_many(self._path, asked, key, self._client._secret.hide)
            found = self._client._call(request)
        except Exception as error:
            if isinstance(default, NoDefault):
                raise
            return all_defaulted(self._name, default, key, error, asked)
        return each_or_default(self._name, default, key, found)

    def reward(
        self,
        decision: Decided,
        value: float | None = None,
        *,
        successes: int | None = None,
        of: int | None = None,
    ) -> ServiceOutcome:
        """Records the reward of a decision, or of its number.

        Where outcomes are counts, `successes` of the `of` outcomes were yes. The same reward again
        is a `duplicate`; another one is refused, and `correct` replaces it. The reward of a default
        is not sent, because the service knows of no decision.
        """
        return self._outcome(requests.outcome("PUT", self._path, decision, value, successes, of))

    def correct(
        self,
        decision: Decided,
        value: float | None = None,
        *,
        successes: int | None = None,
        of: int | None = None,
    ) -> ServiceOutcome:
        """Replaces the reward of a decision."""
        return self._outcome(requests.outcome("PATCH", self._path, decision, value, successes, of))

    def retract(self, decision: Decided) -> ServiceOutcome:
        """Withdraws the reward of a decision, which is then pending again."""
        return self._outcome(requests.outcome("DELETE", self._path, decision))

    def drop(self, decision: Decided, *, undo: bool = False) -> ServiceOutcome:
        """Records that the reward of a decision will never come, or with `undo` that it may.

        Whether you drop a decision, or undo that, must not depend on how good its reward was or
        would be.
        """
        return self._outcome(requests.drop(self._path, decision, undo))

    def rewards(
        self, paid: Sequence[Mapping[str, Any] | tuple[Decided, float]]
    ) -> list[ServiceOutcome | ServiceError]:
        """Records 1 to 1,000 outcomes with one request.

        Each entry is a pair of a decision and its reward, or a dict with `decision` and `value`, or
        `successes` and `of`, or `drop=True`. The answers are in the same order: what was done, or
        the error why it was not.
        """
        request = requests.rewards(self._path, paid, self._client._secret.hide)
        return self._client._call(request) if isinstance(request, Request) else request

    def decision(self, decision: Decided) -> dict[str, Any]:
        """An earlier decision, with its context and its outcome."""
        return self._client._call(requests.get(requests.decision_path(self._path, decision)))

    def certificate(self, decision: Decided) -> dict[str, Any]:
        """The certificate of a decision; `plausibly.verify` checks it."""
        return self._client._call(requests.certificate(self._path, decision))

    def about(self) -> dict[str, Any]:
        """The settings of the experiment, and how many decisions it has."""
        return self._client._call(requests.get(self._path))

    def status(self) -> dict[str, Any]:
        """The status, as `plausibly status --json` prints it."""
        return self._client._call(requests.get(self._path + "/status"))

    def compare(self, first: str, second: str) -> dict[str, Any]:
        """How two actions compare, as `plausibly compare --json` prints it."""
        return self._client._call(requests.compare(self._path, first, second))

    def log(self, from_: int = 1) -> Iterator[str]:
        """The lines of the log from a number on, each with its newline, so they can be mirrored.

        Some are asked for at a time; the iterator ends after the last line that there is.
        """
        from_ = max(_whole("from_", from_), 1)
        while True:
            lines, from_ = self._client._call(requests.log_page(self._path, from_))
            if not lines:
                return
            yield from lines

    def pause(self) -> dict[str, Any]:
        """Takes no decisions from now on; outcomes are still recorded."""
        return self._client._call(requests.post(self._path + "/pause"))

    def resume(self) -> dict[str, Any]:
        """Takes decisions again."""
        return self._client._call(requests.post(self._path + "/resume"))

    def actions(self, rows: object) -> dict[str, Any]:
        """Offers these rows from now on, and returns what was added and what was retired."""
        return self._client._call(requests.actions(self._path, rows))

    def delete(self) -> dict[str, Any]:
        """Puts the experiment aside: the service moves its folder, and says where to."""
        return self._client._call(requests.delete(self._path))

    def __repr__(self) -> str:
        return f"Experiment({self._name!r} of {self._client!r})"

    def _outcome(self, request: Request[ServiceOutcome] | ServiceOutcome) -> ServiceOutcome:
        return self._client._call(request) if isinstance(request, Request) else request
