"""Logs with an altered choice and correct hashes: the choice does not follow from earlier lines."""

from __future__ import annotations

import json
import re
from typing import Any

from .arena import Arena, Ran, Tally
from .material import ARMS, FEATURES, check_chain, events, play, rehashed


def with_choice(log: bytes, decision: int, action: int, label: str) -> bytes:
    def change(_: int, event: bytes) -> bytes:
        parsed: dict[str, Any] = json.loads(event)
        if parsed.get("decided", {}).get("decision") != decision:
            return event
        parsed["decided"] |= {"chosen": action, "label": label}
        return json.dumps(parsed, separators=(",", ":"), ensure_ascii=False).encode()

    return rehashed(log, change)


def silence(ran: Ran, decision: int, line: int) -> str | None:
    """How a command failed to report a choice that does not follow."""
    if crash := ran.crashed():
        return f"{crash}: {ran}"
    if not re.search(rf"\b(decision {decision}|line {line})\b", ran.err.decode("utf-8", "replace")):
        return f"neither decision {decision} nor line {line} is named: {ran}"
    return f"named, and yet exit code 0: {ran}" if ran.code == 0 else None


def forged_logs(log: bytes) -> list[tuple[int, int, bytes]]:
    """Every decision with every other action on offer: its number, its line and the forged log."""
    labels, found = {}, []
    for line, event in enumerate(events(log), 1):
        if "action-added" in event:
            labels[event["action-added"]["action"]] = event["action-added"]["label"]
        if "decided" in event:
            decided = event["decided"]
            for action, label in labels.items():
                if action != decided["chosen"]:
                    found.append(
                        (
                            decided["decision"],
                            line,
                            with_choice(log, decided["decision"], action, label),
                        )
                    )
    return found


def attack(arena: Arena) -> Tally:
    tally = Tally(
        "re-hashed logs",
        "a choice altered and every hash recomputed; `explain`, `status` and `replay`",
    )
    chance = arena.random("rehashed")
    settings = [
        (ARMS, ()),
        (FEATURES, ()),
        (FEATURES, ("--policy", "lin-ucb")),
        (FEATURES, ("--policy", "lin-ts")),
    ]
    for table, first in settings:
        desk = arena.desk()
        play(arena, desk, table, 12, *first)
        log = (desk / "a.log").read_bytes()
        assert check_chain(rehashed(log, lambda _, event: event)) is None
        forged = forged_logs(log)
        for number, (decision, line, text) in enumerate(
            chance.sample(forged, min(arena.count(4, 30), len(forged)))
        ):
            name = f"forged-{number}.log"
            (desk / name).write_bytes(text)
            for args in (
                ("explain", "--log", name, decision),
                ("status", "--log", name),
                ("replay", "--log", name),
            ):
                ran = arena.run(desk, *args)
                fault = silence(ran, decision, line)
                tally.judge(
                    "said so",
                    fault
                    and f"decision {decision} of {' '.join(first) or 'code'} altered: {fault}",
                )
        for args in (
            ("explain", "--log", "a.log", 5),
            ("status", "--log", "a.log"),
            ("replay", "--log", "a.log"),
        ):
            ran = arena.run(desk, *args)
            tally.judge(
                "true log accepted", None if ran.code == 0 else f"the true log is refused: {ran}"
            )
        arena.done_with(desk)
    return tally
