"""Logs: the same bytes as the command's; errors; threads."""

from __future__ import annotations

import copy
import csv
import io
import json
import pickle
import random
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from plausibly import (
    UCB1,
    ActionSet,
    CertificateError,
    DamagedLogError,
    Log,
    explain_certificate,
    verify,
)

SECOND = 1_000_000
BEGIN = 1_794_000_000 * SECOND
WINES: list[dict[str, Any]] = [
    {"name": "Alba", "price": 4.5, "stock": 12, "colour": "red", "organic": True},
    {"name": "Boro; dry", "price": 8.0, "stock": 3, "colour": "white", "organic": False},
    {"name": 'Cru, "old"', "price": 6.25, "stock": 700, "colour": None, "organic": True},
    {"name": "Dão", "price": 0.1, "stock": 1, "colour": "rosé", "organic": False},
]


def ticking(begin: int = BEGIN) -> Callable[[], int]:
    """A clock that advances by a second at every call."""
    now = iter(range(begin, 2**62, SECOND))
    return lambda: next(now)


def stamp(at_us: int) -> str:
    from datetime import datetime, timedelta, timezone

    return (datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(microseconds=at_us)).strftime(
        "%Y-%m-%dT%H:%M:%SZ"
    )


class Command:
    """The command line on a log, with a clock like the one above."""

    def __init__(self, command: str, path: Path, begin: int = BEGIN) -> None:
        self.command, self.path, self.clock = command, path, ticking(begin)

    def run(self, name: str, *arguments: str, timed: bool = True) -> str:
        # --force, because the clock of the tests may be ahead of the machine's.
        at = ["--at", stamp(self.clock()), "--force"] if timed else []
        call = [self.command, name, "--log", str(self.path), *arguments, *at]
        done = subprocess.run(call, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def decide(self, table: Path, *arguments: str) -> str:
        return self.run("decide", "--actions", str(table), "--yes", "--json", *arguments).strip()


def frames() -> Iterator[tuple[str, Any, Callable[[Path], object]]]:
    """Kinds of tables, and how their own libraries write them to a file."""

    def by_hand(path: Path) -> None:
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(WINES[0]))
            writer.writeheader()
            writer.writerows(WINES)

    yield "dicts", WINES, by_hand
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    pyarrow, written = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.csv")
    frame = pandas.DataFrame(WINES)
    yield "pandas", frame, lambda path: frame.to_csv(path, index=False)
    typed = frame.convert_dtypes()
    yield "pandas types", typed, lambda path: typed.to_csv(path, index=False)
    table = polars.DataFrame(WINES)
    yield "polars", table, lambda path: table.write_csv(path)
    arrow = pyarrow.table(frame)
    yield "arrow", arrow, lambda path: written.write_csv(arrow, path)


@pytest.mark.parametrize("which", range(5))
def test_a_frame_is_its_csv_to_the_byte(which: int, command: str, tmp_path: Path) -> None:
    _, frame, write = list(frames())[which]
    write(tmp_path / "wines.csv")
    cli = Command(command, tmp_path / "cli.log")
    python = Log(
        tmp_path / "python.log",
        seed=5,
        reward_range=(0, 10),
        policy={"kind": "code", "greed": 0.25},
        clock=ticking(),
    )
    settings = (
        "--seed",
        "5",
        "--reward-range",
        "0..10",
        "--policy",
        "code",
        "--set",
        "greed=0.25",
        "--context",
        "device=mobile",
        "hour=14",
    )
    first = cli.decide(tmp_path / "wines.csv", *settings)
    decision = python.decide(frame, context={"device": "mobile", "hour": 14, "city": None})
    assert decision.certificate_json() == first
    for value in (7.5, 3, 0.0):
        cli.run("reward", str(decision.id), str(value))
        assert python.reward(decision.id, value)
        second = cli.decide(tmp_path / "wines.csv", "--context", "device=desktop", "hour=15.5")
        decision = python.decide(frame, context={"device": "desktop", "hour": 15.5})
        assert decision.certificate_json() == second
    cli.run("drop", str(decision.id))
    assert python.drop(decision.id)
    cli.run("drop", str(decision.id), "--undo")
    assert python.drop(decision.id, undo=True)
    cli.run("drop", str(decision.id))
    assert python.drop(decision.id)
    third = cli.decide(tmp_path / "wines.csv", "--context", "hour=16", "--key", "visit 3")
    visit = python.decide(frame, context={"hour": 16}, key="visit 3")
    assert visit.certificate_json() == third
    cli.run("reward", str(visit.id), "5")
    assert python.reward(visit.id, 5)
    cli.run("reward", "1", "6", "--correct")
    assert python.correct(1, 6)
    cli.run("reward", "2", "--retract")
    assert (
        python.retract(2)
        and python.pending == {2: python.decision(2).label}
        and not python.drop(decision.id)
    )
    found = cli.run("compare", "Alba", "Dão", "--json", timed=False)
    assert json.loads(found) == python.compare("Alba", "Dão")
    # A repeated request writes nothing.
    assert cli.decide(tmp_path / "wines.csv", "--key", "visit 3") == third
    assert python.decide(frame, key="visit 3") == visit
    assert (tmp_path / "python.log").read_bytes() == (tmp_path / "cli.log").read_bytes()
    python.close()
    assert len((tmp_path / "cli.log").read_bytes().splitlines()) > 10


def test_either_goes_on_where_the_other_stopped(command: str, tmp_path: Path) -> None:
    path, table = tmp_path / "news.log", tmp_path / "news.csv"
    rows = [{"name": f"line {i}", "words": 3 + i, "asks": i % 2 == 0} for i in range(6)]
    table.write_text(
        "name,words,asks\n" + "".join(f"line {i},{3 + i}.0,{i % 2 == 0}\n" for i in range(6)),
        encoding="utf-8",
    )
    alone = Log(None, seed=1, clock=ticking())
    cli = Command(command, path)
    clock = cli.clock
    rng = random.Random(4)
    for round_ in range(8):
        value = rng.random()
        expected = alone.decide(table)
        if round_ % 2 == 0:
            found = json.loads(cli.decide(table, *(["--seed", "1"] if round_ == 0 else [])))[
                "findings"
            ]["chosen"]["label"]
            cli.run("reward", str(round_ + 1), repr(value))
        else:
            # 3 equals 3.0, and True equals true: no action counts as changed.
            with Log(path, clock=clock) as log:
                decision = log.decide(rows)
                found = decision.label
                assert log.reward(decision.id, value) and log.recovery is None
                verify(decision, log=log)
        assert found == expected.label
        alone.reward(expected.id, value)
    assert (
        path.read_bytes().count(b'"action-added"') == 6
        and b"action-retired" not in path.read_bytes()
    )
    with Log(path, clock=clock) as log:
        found_status, expected_status = log.status(), alone.status()
        assert (
            found_status["history"] == expected_status["history"] and found_status["settled"] == 8
        )
        assert (
            log.recipe == alone.recipe
            and log.features == alone.features
            and log.policy == alone.policy
        )
        (tmp_path / "decision.json").write_text(
            log.decision(4).certificate_json(), encoding="utf-8"
        )
    assert "nothing was left out" in Command(command, path).run(
        "verify", str(tmp_path / "decision.json"), timed=False
    )


def test_another_number_is_another_action() -> None:
    log = Log(None, seed=1)
    log.decide([{"name": "a", "price": 4}, {"name": "b", "price": 5}])
    log.decide([{"name": "a", "price": "4.0"}, {"name": "b", "price": 5.5}])
    assert [entry["id"] for entry in log.decision(2).certificate()["grounds"]["actions"]] == [0, 2]


def test_an_explanation_says_what_the_certificate_says() -> None:
    log = Log(None, seed=3, policy={"kind": "code", "target": {"accuracy": 0.4}}, clock=ticking())
    log.decide(WINES)
    for number in range(1, 40):
        log.reward(number, {"Alba": 0.9}.get(log.decision(number).label, 0.1))
        decision = log.decide(WINES)
    found, certificate = decision.explanation, decision.certificate()
    findings = certificate["findings"]
    assert (
        found.actions == [action["label"] for action in findings["actions"]]
        and found.observations == 39
    )
    assert found.upper.tolist() == [action["upper"] for action in findings["actions"]]
    assert len(found.plausible) == findings["plausible"] and decision.label in found.plausible
    assert (
        found.target is not None
        and found.target["met"] == findings["target"]["met"]
        and found.target["kind"] == "accuracy"
    )
    assert found.certificate() == certificate and "_document" not in found.to_dict()
    assert decision.words() == explain_certificate(decision) == explain_certificate(certificate)
    assert decision.words().startswith(f'Decision 40: "{decision.label}"')
    for again in (pickle.loads(pickle.dumps(decision)), copy.deepcopy(decision)):
        assert again == decision and again.explanation.certificate() == certificate
    with pytest.raises(ValueError, match="decide with plausibly.Log"):
        UCB1(noise_scale=1.0).explain(ActionSet.arms(2)).certificate()


def test_plain_arms() -> None:
    log = Log(None, seed=3, policy="thompson")
    labels = {log.decide(ActionSet.arms(3, labels=["x", "y", "z"])).label for _ in range(3)}
    assert labels <= {"x", "y", "z"} and log.features == []
    assert Log(None, seed=3).decide(ActionSet.arms(2)).label in ("0", "1")


def test_rates_are_those_that_were_said(command: str, tmp_path: Path) -> None:
    table = tmp_path / "prices.csv"
    table.write_text("name,price\nmug,4\nbowl,8\njug,5\n")
    said = ["--outcomes", "yes/no", "--usual-rate", "0.03", "--odds-factor", "10"]
    at, seed = "2026-11-19T12:00:00Z", ["--seed", "7"]
    by_command = tmp_path / "command.log"
    call = [command, "decide", "--log", by_command, "--actions", table, *said, *seed]
    subprocess.run([*call, "--at", at, "--force", "--yes"], check=True, capture_output=True)
    by_python = tmp_path / "python.log"
    log = Log(
        by_python,
        outcomes="yes/no",
        usual_rate=0.03,
        odds_factor=10,
        seed=7,
        clock=lambda: 1_795_089_600_000_000,
    )
    log.decide(table)
    assert by_python.read_bytes() == by_command.read_bytes()
    assert log.policy is not None and log.policy["radius"]["kind"] == "logistic"


def test_vectors_as_given(command: str, tmp_path: Path) -> None:
    rows = np.random.default_rng(2).uniform(-1, 1, (5, 3))
    labels = [f"item {i}" for i in range(5)]
    table = tmp_path / "vectors.csv"
    lines = (",".join([label, *map(repr, row.tolist())]) for label, row in zip(labels, rows))
    table.write_text("label,x0,x1,x2\n" + "\n".join(lines) + "\n", encoding="utf-8")
    settings: dict[str, Any] = {"theta_norm_bound": 1.5, "reward_range": (-2, 2), "seed": 1}
    python, cli = (
        Log(tmp_path / "python.log", **settings, clock=ticking()),
        Command(command, tmp_path / "cli.log"),
    )
    flags = ("--as-given", "--theta-norm-bound", "1.5", "--reward-range=-2..2", "--seed", "1")
    offers = ActionSet(np.asfortranarray(rows), labels=labels)
    for round_ in range(4):
        found = python.decide(offers)
        assert found.certificate_json() == cli.decide(table, *(flags if round_ == 0 else ()))
        assert python.reward(found.id, 0.5) and cli.run("reward", str(found.id), "0.5")
    assert (tmp_path / "python.log").read_bytes() == (tmp_path / "cli.log").read_bytes()
    assert python.features == ["x0", "x1", "x2"]
    python.close()
    with Log(tmp_path / "python.log", **settings) as log:
        assert log.decide(offers).label in labels
    with pytest.raises(ValueError, match="theta_norm_bound: .*fixed"):
        Log(tmp_path / "python.log", theta_norm_bound=2.0)
    for bare in (rows, rows[:, ::-1][:, ::-1], rows.tolist()):
        assert Log(None, **settings).decide(bare).label in ("0", "1", "2", "3", "4")
    for unnamed in (rows, rows.tolist(), offers):
        with pytest.raises(TypeError, match="actions: .*begin a log with theta_norm_bound"):
            Log(None).decide(unnamed)
    with pytest.raises(ValueError, match="actions: "):
        Log(None, **settings).decide([[1e9, 2.0]])


def test_a_forgery_is_found(tmp_path: Path) -> None:
    log = Log(None, seed=3, clock=ticking())
    decision = log.decide(WINES)
    text = decision.certificate_json()
    path = tmp_path / "decision.json"
    path.write_text(text, encoding="utf-8")
    for right in (decision, decision.explanation, text, path, str(path), decision.certificate()):
        verify(right)
        verify(right, log=log)
    forged = decision.certificate()
    forged["findings"]["actions"][0]["upper"] = 0.25
    with pytest.raises(CertificateError, match=r"findings\.actions\[0\]\.upper"):
        verify(forged)
    with pytest.raises(CertificateError, match="will not be explained"):
        explain_certificate(forged)
    other = Log(None, seed=4, clock=ticking())
    with pytest.raises(ValueError, match="no decisions yet|has not begun"):
        verify(decision, log=other)
    other.decide(WINES[:2])
    with pytest.raises(CertificateError, match="follows from the log"):
        verify(decision, log=other)
    with pytest.raises(FileNotFoundError, match="log: there is no such log"):
        verify(decision, log=tmp_path / "missing.log")


def begun(path: Path) -> Log:
    log = Log(path, seed=3, clock=ticking())
    log.decide(WINES)
    return log


def test_one_writes_at_a_time(tmp_path: Path, command: str) -> None:
    path = tmp_path / "wines.log"
    log = begun(path)
    with pytest.raises(
        BlockingIOError, match="path: (another process|process [0-9]+ .*) is writing to"
    ):
        Log(path)
    reward = [command, "reward", "--log", str(path), "1", "0.5", "--wait", "0.1"]
    refused = subprocess.run(reward, capture_output=True, text=True)
    assert refused.returncode == 1 and "is writing to" in refused.stderr
    verify(log.decision(1), log=path)  # reading needs no lock
    log.close()
    with Log(path) as again:
        assert again.reward(1, 0.5)


def test_nothing_is_written_before_the_first_decision(tmp_path: Path) -> None:
    path = tmp_path / "wines.log"
    log = Log(path, policy="thompson")
    assert (log.recipe, log.features, log.policy, log.reward_range, log.pending) == (
        None,
        None,
        None,
        None,
        {},
    )
    for call in (
        lambda: log.decide(WINES),
        lambda: log.decide([]),
        lambda: log.decide([{"a": 1}, {"a": 1}], context={"": 1}),
    ):
        with pytest.raises(ValueError, match="policy: |actions: |context: "):
            call()
    for asked in (log.status, lambda: log.reward(1, 0.5), lambda: log.decision(1)):
        with pytest.raises(ValueError, match="no decisions yet"):
            asked()
    log.close()
    assert list(tmp_path.iterdir()) == []


def test_a_closed_log_takes_nothing(tmp_path: Path) -> None:
    with begun(tmp_path / "wines.log") as log:
        pass
    log.close()
    calls = (
        lambda: log.decide(WINES),
        lambda: log.reward(1, 0.5),
        log.status,
        lambda: log.pending,
        lambda: log.recipe,
    )
    for call in calls:
        with pytest.raises(ValueError, match="the log is closed"):
            call()


def test_what_the_beginning_fixed_stays(tmp_path: Path) -> None:
    path = tmp_path / "wines.log"
    settings: dict[str, Any] = {
        "policy": {"kind": "code", "greed": 0.5},
        "reward_range": (0, 10),
        "seed": 3,
        "leave_out": ["stock"],
    }
    with Log(path, **settings, clock=ticking()) as log:
        log.decide(WINES)
        assert (
            log.features is not None and "stock" not in log.features and log.reward_range == (0, 10)
        )
    with Log(path, **settings) as log:
        assert log.pending
    others: list[tuple[dict[str, Any], str]] = [
        ({"policy": "code"}, "policy: the log decides by .*change_policy"),
        ({"policy": "lin-ucb"}, "policy: the log decides by"),
        ({"reward_range": (0, 1)}, r"reward_range: it was fixed as \(0, 10\)"),
        ({"seed": 4}, "seed: it was fixed as 3"),
        ({"leave_out": ["price"]}, 'leave_out: what becomes of "price" was fixed'),
        ({"horizon": 9}, "policy: the log decides by"),
    ]
    for other, message in others:
        with pytest.raises(ValueError, match=message):
            Log(path, **other)
    with Log(path, clock=ticking(BEGIN + 100 * SECOND)) as log:
        assert log.change_policy("lin-ucb") and not log.change_policy("lin-ucb")
        assert log.policy is not None and log.policy["kind"] == "lin-ucb"


def test_any_damage_is_found(tmp_path: Path) -> None:
    path = tmp_path / "wines.log"
    with begun(path) as log:
        log.reward(1, 0.5)
    whole = path.read_bytes()
    rng = random.Random(2)
    for place in rng.sample(range(len(whole) - 200), 60):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << rng.randrange(7)
        path.write_bytes(bytes(damaged))
        with pytest.raises(DamagedLogError, match="path: .*damaged in line"):
            Log(path)
        assert path.read_bytes() == bytes(damaged)
    path.write_bytes(whole[:-20])  # the line of the reward, as an interrupted write leaves it
    with Log(path) as log:
        assert log.recovery is not None and list(log.pending) == [1]
    assert path.read_bytes() == b"".join(whole.splitlines(keepends=True)[:-1])


def test_disks_say_what_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="path: cannot"):
        Log(tmp_path / "none" / "wines.log").decide(WINES)
    with pytest.raises(OSError, match="path: |Is a directory"):
        Log(tmp_path).decide(WINES)


def test_many_threads_on_one_log(tmp_path: Path) -> None:
    path, failures = tmp_path / "wines.log", []
    log, start = begun(path), threading.Barrier(6)
    log.reward(1, 0.5)

    def work(which: int) -> None:
        try:
            start.wait()
            for i in range(15):
                decision = log.decide(WINES[which % 2 :])
                assert decision.id in log.pending and log.decision(decision.id) == decision
                log.reward(decision.id, (which * 15 + i) / 100)
                log.status()
        except BaseException as error:  # the cause is shown below
            failures.append(error)

    threads = [threading.Thread(target=work, args=(which,)) for which in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    status = log.status()
    assert (status["decisions"], status["settled"], log.pending) == (91, 91, {})
    log.close()
    with Log(path) as again:
        assert again.status()["settled"] == 91
        for number in (1, 17, 91):
            verify(again.decision(number), log=again)


def test_other_threads_run_while_a_log_is_read() -> None:
    log = Log(None, seed=3, clock=ticking())
    for i in range(150):
        log.reward(log.decide(WINES).id, i / 150)
    counted, done = 0, threading.Event()

    def read() -> None:
        for _ in range(5):
            log.status()
        done.set()

    reader = threading.Thread(target=read)
    reader.start()
    while not done.is_set():
        counted += 1
        done.wait(0.0005)
    reader.join()
    assert counted > 5


class Caller:
    """A cell, a clock and a context that call the log."""

    def __init__(self, log: Log) -> None:
        self.log = log

    def __str__(self) -> str:
        self.log.reward(1, 0.5)
        return "again"

    def isoformat(self) -> str:
        return str(self)


def test_calls_back_neither_hang_nor_harm() -> None:
    log = Log(None, seed=3)
    log.decide(WINES)
    decision = log.decide(
        [{**row, "colour": Caller(log)} for row in WINES], context={"when": Caller(log)}
    )
    assert decision.id == 2 and list(log.pending) == [2]

    nested: list[Log] = []

    def clock() -> int:
        if nested:
            nested[0].pending
        return BEGIN

    clocked = Log(None, seed=3, clock=clock)
    nested.append(clocked)
    assert clocked.decide(WINES).id == 1 and clocked.reward(1, 1)


def test_bytes_of_a_csv_in_memory_are_not_guessed_at() -> None:
    with pytest.raises(TypeError, match="actions: .*found StringIO"):
        Log(None).decide(io.StringIO("name,price\n"))
