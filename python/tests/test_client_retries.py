"""Retries and connections of the clients of the decision service."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from clients import BASE, CANARY, Connect, GOOD, PASSING, ROWS, Time, connect, refused_port
from standin import DECISION, answer, cut, hang, problem, serving, then_close

from plausibly import AsyncClient, Client, ServiceError

# Retries.


@pytest.mark.parametrize("kind", PASSING)
def test_a_retry_has_the_same_key_and_body_and_the_next_call_another(
    connect: Connect, kind: str
) -> None:
    step = PASSING[kind]
    with serving(step, step, GOOD, GOOD, step, GOOD) as server:
        experiment = connect(server, timeout=1.2).experiment("wines")
        assert experiment.decide({"hour": 1}).id == 7
        assert experiment.decide({"hour": 2}).id == 7
        assert experiment.decide({"hour": 3}, key="mine").key == "mine"
    first, second, third = server.keys[:3], server.keys[3], server.keys[4:]
    assert len(set(first)) == 1 and first[0] and len(first[0]) == 36
    assert second not in (None, first[0])
    assert third == ["mine", "mine"]
    assert len({asked.body for asked in server.asked[:3]}) == 1


def test_what_will_not_change_is_not_tried_again(connect: Connect) -> None:
    for step in (
        problem(404, "no_experiment"),
        problem(500, "internal"),
        answer(b"no"),
        answer([]),
    ):
        with serving(step) as server:
            with pytest.raises(ServiceError):
                connect(server).experiment("wines").decide()
        assert len(server.asked) == 1


@pytest.mark.parametrize(("draw", "waits"), [(0.0, [0.025, 0.05, 0.1]), (1.0, [0.05, 0.1, 0.2])])
def test_waits_are_doubled_and_drawn(connect: Connect, draw: float, waits: list[float]) -> None:
    with serving(problem(503, "busy")) as server:
        client = connect(server, timeout=10)
        fake = Time(client, draw)
        with pytest.raises(ServiceError, match="503 busy: no"):
            client.experiment("wines").decide()
    assert fake.waits == pytest.approx(waits) and len(server.asked) == 4


def test_waits_do_not_grow_for_ever(connect: Connect) -> None:
    with serving(problem(503, "busy")) as server:
        client = connect(server, timeout=1000, retries=12)
        fake = Time(client, 1.0)
        with pytest.raises(ServiceError):
            client.experiment("wines").decide()
    assert fake.waits == sorted(fake.waits) and fake.waits[-1] == 5.0 and len(fake.waits) == 12


@pytest.mark.parametrize("status", [429, 503])
def test_the_service_says_how_long_to_wait(connect: Connect, status: int) -> None:
    with serving(problem(status, "busy", retry_after=3), GOOD) as server:
        client = connect(server, timeout=10)
        fake = Time(client, 1.0)
        assert client.experiment("wines").decide().id == 7
    assert fake.waits == pytest.approx([3.05])


def test_a_wait_that_does_not_fit_is_not_begun(connect: Connect) -> None:
    with serving(problem(503, "stopped", retry_after=10)) as server:
        client = connect(server, timeout=10)
        fake = Time(client)
        with pytest.raises(ServiceError) as caught:
            client.experiment("wines").decide()
        assert client.experiment("wines").decide(default="mug").is_default
    assert caught.value.retry_after == 10 and fake.waits == [] and len(server.asked) == 2


@pytest.mark.parametrize("words", ["soon", "-1", "1.5", "9" * 400, "Wed, 21 Oct 2026 07:28:00 GMT"])
def test_a_wait_that_is_no_number_is_ignored(connect: Connect, words: str) -> None:
    with serving(problem(503, "busy", retry_after=words), GOOD) as server:
        client = connect(server)
        fake = Time(client)
        assert client.experiment("wines").decide().id == 7
    assert fake.waits == [0.025]


def test_a_try_leaves_time_for_the_next(connect: Connect) -> None:
    with serving(hang, hang, GOOD) as server:
        begun = time.monotonic()
        assert connect(server, timeout=2.0).experiment("wines").decide().id == 7
    # Half of 2 s, then half of the rest.
    assert 1.4 < time.monotonic() - begun < 1.9


def test_a_try_without_a_next_has_all_of_the_time(connect: Connect) -> None:
    def slowly(handler: Any) -> None:
        time.sleep(0.5)
        GOOD(handler)

    with serving(slowly) as server:
        assert connect(server, timeout=0.8, retries=0).experiment("wines").decide().id == 7
        assert connect(server, timeout=0.8).create("wines", ROWS)["decision"] == 7


@pytest.mark.parametrize("kind", PASSING)
def test_what_cannot_be_made_twice_is_not(connect: Connect, kind: str) -> None:
    refused = kind in ("429", "503")
    made: dict[str, Callable[[Any], Any]] = {
        "create": lambda client: client.create("wines", ROWS),
        "delete": lambda client: client.experiment("wines").delete(),
    }
    for act in made.values():
        with serving(PASSING[kind], answer({"name": "wines"})) as server:
            client = connect(server, timeout=0.3)
            if refused:
                assert act(client) == {"name": "wines"}
            else:
                with pytest.raises(ServiceError):
                    act(client)
        assert len(server.asked) == 1 + refused


def test_a_look_can_be_repeated(connect: Connect) -> None:
    with serving(cut, answer({"name": "wines"})) as server:
        assert connect(server).create("wines", ROWS, check=True) == {"name": "wines"}
        assert len(server.asked) == 2


# Connections.


def test_a_connection_is_used_again(connect: Connect) -> None:
    with serving(GOOD, GOOD, problem(422, "bad_offer"), GOOD) as server:
        experiment = connect(server).experiment("wines")
        for _ in range(4):
            experiment.decide(default="mug")
    assert len({asked.connection for asked in server.asked}) == 1


def test_a_connection_that_the_server_closed_is_replaced(connect: Connect) -> None:
    with serving(then_close(GOOD)) as server:
        experiment = connect(server, retries=0).experiment("wines")
        for _ in range(3):
            assert experiment.decide().id == 7
            time.sleep(0.05)
        assert len(server.asked) == 3
        client = connect(server, retries=0)
        for name in ("a", "b"):  # not even what cannot be made twice
            client.create(name, ROWS)
            time.sleep(0.05)
    assert len(server.asked) == 5


def test_a_connection_that_ends_under_a_request_is_replaced_once(connect: Connect) -> None:
    with serving(GOOD, cut, GOOD, cut, cut) as server:
        experiment = connect(server, retries=0).experiment("wines")
        experiment.decide()
        assert experiment.decide().id == 7
        with pytest.raises(ServiceError, match="unreachable"):
            experiment.decide()
    assert len(server.asked) == 5 and len(set(server.keys)) == 3


def test_each_thread_has_a_connection(tmp_path: Path) -> None:
    with serving(GOOD) as server, Client(server.base, timeout=20) as client:
        experiment = client.experiment("wines")
        barrier = threading.Barrier(8)

        def work() -> None:
            barrier.wait()
            for _ in range(20):
                assert experiment.decide().id == 7

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(server.asked) == 160 == len(set(server.keys))
    assert len({asked.connection for asked in server.asked}) == 8


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_fork_has_its_own_connection() -> None:
    with serving(GOOD) as server, Client(server.base) as client:
        client.experiment("wines").decide()
        child = os.fork()
        if child == 0:
            os._exit(client.experiment("wines").decide().id or 0)
        assert os.waitpid(child, 0)[1] >> 8 == 7
        client.experiment("wines").decide()
    first, forked, last = (asked.connection for asked in server.asked)
    assert first == last != forked


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers here")
def test_after_an_interrupt_the_next_answer_is_that_of_the_next_request() -> None:
    def slowly(handler: Any) -> None:
        time.sleep(0.4)
        answer({**DECISION, "decision": 1})(handler)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with serving(GOOD, slowly, GOOD) as server, Client(server.base) as client:
            experiment = client.experiment("wines")
            experiment.decide()
            signal.setitimer(signal.ITIMER_REAL, 0.1)
            with pytest.raises(KeyboardInterrupt):
                experiment.decide(default="mug")
            assert experiment.decide().id == 7
    finally:
        signal.signal(signal.SIGALRM, before)


def test_many_tasks_share_a_client() -> None:
    pytest.importorskip("httpx")

    async def work(base: str) -> None:
        async with AsyncClient(base, timeout=20) as client:
            experiment = client.experiment("wines")
            found = await asyncio.gather(*(experiment.decide() for _ in range(200)))
            assert len({decision.key for decision in found}) == 200

    with serving(GOOD) as server:
        asyncio.run(work(server.base))
        assert len(set(server.keys)) == 200


def test_trio_has_no_other_results() -> None:
    trio = pytest.importorskip("trio")

    async def work(base: str) -> None:
        async with AsyncClient(base, timeout=0.4) as client:
            experiment = client.experiment("wines")
            assert (await experiment.decide()).id == 7
            assert (await experiment.decide(default="mug")).is_default

    with serving(GOOD, hang) as server:
        trio.run(work, server.base)


def test_a_cancelled_task_gets_no_default() -> None:
    pytest.importorskip("httpx")

    async def work(base: str) -> None:
        async with AsyncClient(base, timeout=20) as client:
            task = asyncio.create_task(client.experiment("wines").decide(default="mug"))
            await asyncio.sleep(0.1)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    with serving(hang) as server:
        asyncio.run(work(server.base))


def test_a_closed_client_asks_nothing(connect: Connect) -> None:
    with serving(GOOD) as server:
        client = connect(server)
        client.experiment("wines").decide()
        client.close()
        client.close()
        with pytest.raises(RuntimeError, match="the client is closed"):
            client.experiment("wines").decide()
        assert client.experiment("wines").decide(default="mug").is_default
    assert len(server.asked) == 1


def test_neither_proxies_nor_redirects(connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, refused_port())
    with serving(GOOD) as other, serving(answer(b"", 307, Location=other.base)) as server:
        with pytest.raises(ServiceError, match="does not follow") as caught:
            connect(server, key=CANARY).experiment("wines").decide()
        assert (caught.value.status, caught.value.code) == (307, "http_307")
        assert other.asked == []


def test_cookies_are_not_kept(connect: Connect) -> None:
    with serving(answer(DECISION, Set_Cookie="a=b"), GOOD) as server:
        experiment = connect(server).experiment("wines")
        experiment.decide()
        experiment.decide()
    assert "cookie" not in server.asked[1].headers


def test_a_path_before_the_interface(connect: Connect) -> None:
    with serving(GOOD) as server:
        connect(server.base + "/bandits/").experiment("wines").decide()
    assert server.asked[0].path == "/bandits" + BASE + "/decisions"


def test_tls_is_checked(connect: Connect, tmp_path: Path) -> None:
    import ssl
    import subprocess

    made = tmp_path / "cert.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj"]
    command += ["/CN=test", "-addext", "subjectAltName=IP:127.0.0.1", "-out", str(made)]
    try:
        subprocess.run(
            [*command, "-keyout", str(tmp_path / "key.pem")], check=True, capture_output=True
        )
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no openssl to make a certificate with")
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(made, tmp_path / "key.pem")
    with serving(GOOD, tls=tls) as server:
        port = server.server_address[1]
        trusting = connect(f"https://127.0.0.1:{port}", cafile=made)
        for _ in range(3):
            assert trusting.experiment("wines").decide().id == 7
        assert len({asked.connection for asked in server.asked}) == 1
        with pytest.raises(ServiceError, match="unreachable.*CERTIFICATE_VERIFY_FAILED"):
            connect(f"https://127.0.0.1:{port}").experiment("wines").decide()
        with pytest.raises(ServiceError, match="unreachable"):  # made for another name
            connect(f"https://localhost:{port}", cafile=made).experiment("wines").decide()
        with pytest.raises(ServiceError, match="unreachable"):
            connect(f"http://127.0.0.1:{port}").experiment("wines").decide()
    assert len(server.asked) == 3
    with pytest.raises(OSError):
        connect("https://127.0.0.1", cafile=tmp_path / "none.pem")
