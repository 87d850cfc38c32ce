"""The client of the decision service for programs with an event loop.

HTTP comes from httpx: it is written in Python alone, runs under asyncio and Trio, and is typed.
aiohttp has compiled parts, which need a wheel for each version of Python, and runs under asyncio
alone. Proxies, redirects, cookies and time-outs of httpx are switched off; retries and deadlines
are our own.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import aclosing
from datetime import timedelta
from importlib import import_module
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from ._log import Certificate, _certificate, _whole
from ._service import requests
from ._service.address import Address, Secret, headers_of
from ._service.answers import Reply, ServiceDecision, ServiceError, ServiceOutcome
from ._service.defaults import all_defaulted, defaulted, each_or_default
from ._service.exchange import Patience, Pause, Request, Told, Unanswered, exchange
from ._service.requests import Decided, NoDefault

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")
_CONNECTIONS = 100


class AsyncClient:
    """A decision service over HTTP, for asyncio and Trio: `pip install "plausibly[async]"`.

    Its arguments and methods are those of `Client`, and the methods are awaited. Use it in one
    event loop, as `async with AsyncClient(…) as client`, or close it with `await client.close()`.
    It keeps up to 100 connections; further calls wait for one, within their `timeout`.
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
        try:
            self._httpx: Any = import_module("httpx")
            self._anyio: Any = import_module("anyio")
        except ImportError as error:
            raise ImportError(
                "AsyncClient needs httpx: pip install 'plausibly[async]'; or use plausibly.Client"
            ) from error
        self._address = Address.of(base)
        self._secret = Secret.of(key)
        self._patience = Patience.of(timeout, retries)
        self._sleep = self._anyio.sleep
        trust = self._address.trust(cafile)
        self._http: httpx.AsyncClient = self._httpx.AsyncClient(
            verify=False if trust is None else trust,  # False: no TLS, so nothing to check
            trust_env=False,
            follow_redirects=False,
            timeout=None,
            limits=self._httpx.Limits(
                max_connections=_CONNECTIONS, max_keepalive_connections=_CONNECTIONS
            ),
        )

    async def create(
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
        """Begins an experiment; see `Client.create`."""
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
        return await self._call(request)

    def experiment(self, name: str) -> AsyncExperiment:
        """The experiment of this name. Nothing is asked yet."""
        return AsyncExperiment(self, name)

    async def experiments(self) -> list[dict[str, Any]]:
        """The experiments that the key may see."""
        return requests.experiments_of(await self._call(requests.get("/experiments")))

    async def verify(self, certificate: Certificate) -> dict[str, Any]:
        """Lets the service check a certificate; see `Client.verify`."""
        return await self._call(requests.verify(_certificate(certificate)))

    async def close(self) -> None:
        """Closes the connections. A closed client asks nothing more."""
        await self._http.aclose()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"AsyncClient({str(self._address)!r})"

    async def _call(self, request: Request[T]) -> T:
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
                await self._sleep(step.seconds)
                told = None
            else:
                told = await self._send(request, step.deadline - self._patience.clock())

    async def _send(self, request: Request[Any], seconds: float) -> Reply | Unanswered:
        if self._http.is_closed:
            raise RuntimeError("the client is closed")
        lost: Exception | None = None
        with self._anyio.move_on_after(seconds):
            try:
                return await self._exchange(request)
            except (self._httpx.HTTPError, self._httpx.InvalidURL, OSError) as error:
                lost = error
        if lost is None:
            return Unanswered(TimeoutError("timed out"), timed_out=True)
        refused = isinstance(lost, (self._httpx.ConnectError, self._httpx.UnsupportedProtocol))
        # httpx does not say whether it was a kept connection that ended without an answer.
        stale = isinstance(lost, (self._httpx.RemoteProtocolError, self._httpx.NetworkError))
        return Unanswered(_plain(lost), sent=not refused, stale=stale and not refused)

    async def _exchange(self, request: Request[Any]) -> Reply:
        # A request that the client of httpx does not build has none of its cookies.
        made = self._httpx.Request(
            request.method,
            f"{self._address}/v1{request.path}",
            headers=headers_of(request.key, request.body is not None) | self._secret.headers(),
            content=request.body,
        )
        pieces, length = [], 0
        response = await self._http.send(made, stream=True)
        try:
            arriving: Any = response.aiter_raw()
            async with aclosing(arriving):
                async for piece in arriving:
                    pieces.append(piece)
                    length += len(piece)
                    if length > request.most:
                        raise OSError(f"the answer has more than {request.most >> 20} MiB")
        finally:
            await response.aclose()
        headers = {name.lower(): value for name, value in response.headers.items()}
        return Reply(response.status_code, headers, b"".join(pieces))


def _plain(error: Exception) -> Exception:
    """An error of httpx without its request, which has the key in a header."""
    return OSError(str(error) or type(error).__name__)


class AsyncExperiment:
    """An experiment of a decision service; `AsyncClient.experiment` makes it."""

    def __init__(self, client: AsyncClient, name: str) -> None:
        self._path = requests.experiment_path(name)
        self._client, self._name = client, name

    @property
    def name(self) -> str:
        """Its name."""
        return self._name

    async def decide(
        self,
        context: Mapping[str, Any] | None = None,
        *,
        offer: Iterable[str] | None = None,
        rows: object = None,
        key: str | None = None,
        default: str | NoDefault = NoDefault.GIVEN,
        certificate: bool = False,
    ) -> ServiceDecision:
        """Takes a decision; see `Experiment.decide`. Cancelling the task raises, as everywhere."""
        key = requests.new_key() if key is None else key
        try:
            request = requests.decide(self._path, context, offer, rows, key, certificate)
            return await self._client._call(request)
        except Exception as error:
            if isinstance(default, NoDefault):
                raise
            return defaulted(self._name, default, key, error)

    async def decide_many(
        self,
        asked: Sequence[Mapping[str, Any]],
        *,
        key: str | None = None,
        default: str | NoDefault = NoDefault.GIVEN,
    ) -> list[ServiceDecision | ServiceError]:
        """Takes 1 to 100 decisions with one request; see `Experiment.decide_many`."""
        key = requests.new_key() if key is None else key
        try:
            request = requests.decide_many(self._path, asked, key, self._client._secret.hide)
            found = await self._client._call(request)
        except Exception as error:
            if isinstance(default, NoDefault):
                raise
            return all_defaulted(self._name, default, key, error, asked)
        return each_or_default(self._name, default, key, found)

    async def reward(
        self,
        decision: Decided,
        value: float | None = None,
        *,
        successes: int | None = None,
        of: int | None = None,
    ) -> ServiceOutcome:
        """Records the reward of a decision; see `Experiment.reward`."""
        return await self._outcome(
            requests.outcome("PUT", self._path, decision, value, successes, of)
        )

    async def correct(
        self,
        decision: Decided,
        value: float | None = None,
        *,
        successes: int | None = None,
        of: int | None = None,
    ) -> ServiceOutcome:
        """Replaces the reward of a decision."""
        return await self._outcome(
            requests.outcome("PATCH", self._path, decision, value, successes, of)
        )

    async def retract(self, decision: Decided) -> ServiceOutcome:
        """Withdraws the reward of a decision, which is then pending again."""
        return await self._outcome(requests.outcome("DELETE", self._path, decision))

    async def drop(self, decision: Decided, *, undo: bool = False) -> ServiceOutcome:
        """Records that the reward of a decision will never come; see `Experiment.drop`."""
        return await self._outcome(requests.drop(self._path, decision, undo))

    async def rewards(
        self, paid: Sequence[Mapping[str, Any] | tuple[Decided, float]]
    ) -> list[ServiceOutcome | ServiceError]:
        """Records 1 to 1,000 outcomes with one request; see `Experiment.rewards`."""
        request = requests.rewards(self._path, paid, self._client._secret.hide)
        return await self._client._call(request) if isinstance(request, Request) else request

    async def decision(self, decision: Decided) -> dict[str, Any]:
        """An earlier decision, with its context and its outcome."""
        return await self._client._call(requests.get(requests.decision_path(self._path, decision)))

    async def certificate(self, decision: Decided) -> dict[str, Any]:
        """The certificate of a decision; `plausibly.verify` checks it."""
        return await self._client._call(requests.certificate(self._path, decision))

    async def about(self) -> dict[str, Any]:
        """The settings of the experiment, and how many decisions it has."""
        return await self._client._call(requests.get(self._path))

    async def status(self) -> dict[str, Any]:
        """The status, as `plausibly status --json` prints it."""
        return await self._client._call(requests.get(self._path + "/status"))

    async def compare(self, first: str, second: str) -> dict[str, Any]:
        """How two actions compare, as `plausibly compare --json` prints it."""
        return await self._client._call(requests.compare(self._path, first, second))

    async def log(self, from_: int = 1) -> AsyncIterator[str]:
        """The lines of the log from a number on, each with its newline; see `Experiment.log`."""
        from_ = max(_whole("from_", from_), 1)
        while True:
            lines, from_ = await self._client._call(requests.log_page(self._path, from_))
            if not lines:
                return
            for line in lines:
                yield line

    async def pause(self) -> dict[str, Any]:
        """Takes no decisions from now on; outcomes are still recorded."""
        return await self._client._call(requests.post(self._path + "/pause"))

    async def resume(self) -> dict[str, Any]:
        """Takes decisions again."""
        return await self._client._call(requests.post(self._path + "/resume"))

    async def actions(self, rows: object) -> dict[str, Any]:
        """Offers these rows from now on, and returns what was added and what was retired."""
        return await self._client._call(requests.actions(self._path, rows))

    async def delete(self) -> dict[str, Any]:
        """Puts the experiment aside: the service moves its folder, and says where to."""
        return await self._client._call(requests.delete(self._path))

    def __repr__(self) -> str:
        return f"AsyncExperiment({self._name!r} of {self._client!r})"

    async def _outcome(self, request: Request[ServiceOutcome] | ServiceOutcome) -> ServiceOutcome:
        return await self._client._call(request) if isinstance(request, Request) else request
