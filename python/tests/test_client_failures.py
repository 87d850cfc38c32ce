"""What the clients of the decision service do if it fails: the default, or an error."""

from __future__ import annotations

import logging
import pickle
import time

import pytest
from clients import Connect, GOOD, HEAD, PASSING, WRONG, connect, refused_port
from standin import Step, answer, dribble, flood, hang, problem, raw, serving

from plausibly import ServiceError

# Failures: the default, or an error.

ENDLESS = b"x" * (1 << 16)
HOSTILE: dict[str, Step] = {
    "drips of a line": dribble(b"HTTP/1.1 200 O"),
    "drips of headers": dribble(b"HTTP/1.1 200 OK\r\n", b"A: b\r\n"),
    "drips of a body": dribble(HEAD + b"Content-Length: 99999\r\n\r\n"),
    "a line without end": flood(b"HTTP/1.1 200 ", ENDLESS),
    "headers without end": flood(b"HTTP/1.1 200 OK\r\n", b"A: b\r\n" * 9),
    "continue without end": flood(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "a body without end": flood(HEAD + b"\r\n", ENDLESS),
    "chunks without end": flood(HEAD + b"Transfer-Encoding: chunked\r\n\r\n",
                                b"10000\r\n" + ENDLESS + b"\r\n"),
    "a chunk too large": raw(HEAD + b"Transfer-Encoding: chunked\r\n\r\nfffffffffffffff\r\nx"),
    "no size": raw(HEAD + b"Transfer-Encoding: chunked\r\n\r\nmany\r\nx"),
    "a length too large": raw(HEAD + b"Content-Length: 99999999999999999999\r\n\r\nx"),
    "another protocol": raw(b"SSH-2.0-OpenSSH\r\n"),
    "status 999": answer(b"", 999),
    "401": problem(401, "no_key"),
    "403": problem(403, "wrong_role"),
    "404": problem(404, "no_experiment"),
    "409": problem(409, "paused"),
    "422": problem(422, "bad_context"),
    "500": problem(500, "internal"),
    "500 of another": answer(b"<html>", 500),
    "problem of lists": answer({"code": ["x"], "detail": {}}, 500),
}  # fmt: skip


@pytest.mark.parametrize("kind", [*PASSING, *WRONG, *HOSTILE, "refused"])
def test_a_default_is_returned_in_time_whatever_fails(
    connect: Connect, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    step = {**PASSING, **WRONG, **HOSTILE}.get(kind, GOOD)
    with serving(step) as server:
        base = refused_port() if kind == "refused" else server.base
        experiment = connect(base, timeout=0.25).experiment("wines")
        begun = time.monotonic()
        decision = experiment.decide({"hour": 1}, default="mug")
        took = time.monotonic() - begun
        with pytest.raises(ServiceError):
            experiment.decide()
    assert decision.is_default and decision.id is None and decision.action == "mug"
    assert decision.seq is None and len(decision.key) == 36
    assert took < 0.25 + 0.35  # and time for a busy machine
    (record,) = [record for record in caplog.records if record.name == "plausibly.client"]
    mended_here = kind[:1] == "4" and kind not in ("408", "429")
    passing = kind in (*PASSING, "refused", "500", "500 of another", "problem of lists")
    if mended_here or passing:
        assert record.levelno == (logging.ERROR if mended_here else logging.WARNING)
    assert "wines" in record.message and record.exc_info is None


@pytest.mark.parametrize("kind", WRONG)
def test_an_answer_of_something_else_is_named_and_not_shown(connect: Connect, kind: str) -> None:
    with serving(WRONG[kind]) as server:
        with pytest.raises(ServiceError) as caught:
            connect(server).experiment("wines").decide()
    assert caught.value.code == "bad_answer" and caught.value.status == 200
    assert len(str(caught.value)) < 200


def test_a_body_without_end_takes_little_memory(connect: Connect) -> None:
    import tracemalloc

    with serving(flood(HEAD + b"\r\n", ENDLESS)) as server:
        experiment = connect(server, timeout=20, retries=0).experiment("wines")
        tracemalloc.start()
        try:
            with pytest.raises(ServiceError, match="the answer has more than 64 MiB"):
                experiment.decide()
            assert tracemalloc.get_traced_memory()[1] < 150 << 20
        finally:
            tracemalloc.stop()


def test_errors_say_what_happened(connect: Connect) -> None:
    with serving(hang) as server:
        experiment = connect(server, timeout=0.2).experiment("wines")
        with pytest.raises(ServiceError) as caught:
            experiment.decide()
        assert (caught.value.status, caught.value.code) == (None, "timed_out")
        assert isinstance(caught.value.__cause__, TimeoutError)
        assert f"no answer from {server.base} within 0.2 s" in str(caught.value)
    base = refused_port()
    with pytest.raises(ServiceError) as caught:
        connect(base, timeout=1.0).experiment("wines").decide()
    assert caught.value.code == "unreachable" and isinstance(caught.value.__cause__, OSError)
    assert base in str(caught.value) and "(4 tries)" in str(caught.value)
    stored = {"value": 0.5}
    with serving(
        problem(409, "other_reward", "it has 0.5", pointer="/value", stored=stored)
    ) as one:
        with pytest.raises(ServiceError) as caught:
            connect(one).experiment("wines").reward(1, 0.25)
    assert caught.value.stored == stored and caught.value.pointer == "/value"
    copy = pickle.loads(pickle.dumps(caught.value))
    assert str(copy) == str(caught.value) == "409 other_reward at /value: it has 0.5"
    assert copy.stored == stored


def test_texts_of_the_service_are_one_line_and_short(connect: Connect) -> None:
    text = "one\ntwo\x1b[31m" + "x" * 5000
    with serving(problem(422, "bad_context", text, pointer="/a\r\nb")) as server:
        with pytest.raises(ServiceError) as caught:
            connect(server).experiment("wines").decide()
    assert "\n" not in str(caught.value) and "\x1b" not in str(caught.value)
    assert len(str(caught.value)) < 1200
