"""Ambiguous and endless files are refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from plausibly import Code, Log, Policy, simulate, verify

ENDLESS = Path("/dev/zero")


def doubled(value: Any) -> Iterator[str]:
    """Every text with one key of one object duplicated: plain, and with escapes."""
    if isinstance(value, dict):
        for name, entry in value.items():
            escaped = "".join(f"\\u{ord(letter):04x}" for letter in name)
            for spelled in (json.dumps(name), f'"{escaped}"'):
                yield json.dumps(value)[:-1] + f", {spelled}: {json.dumps(entry)}}}"
            for inner in doubled(entry):
                rest = [
                    f"{json.dumps(other)}: {json.dumps(value[other])}"
                    for other in value
                    if other != name
                ]
                yield "{" + ", ".join([f"{json.dumps(name)}: {inner}", *rest]) + "}"
    elif isinstance(value, list):
        for place, entry in enumerate(value):
            for inner in doubled(entry):
                yield (
                    "["
                    + ", ".join(
                        [
                            *map(json.dumps, value[:place]),
                            inner,
                            *map(json.dumps, value[place + 1 :]),
                        ]
                    )
                    + "]"
                )


def test_a_saved_policy_in_which_a_key_stands_twice_is_refused(tmp_path: Path) -> None:
    policy = Code(radius=1.0, target={"kappa": 2.0})
    offers = [[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]]
    policy.update(policy.select(offers), 0.5)
    path = tmp_path / "policy.json"
    policy.save(path)
    written = json.loads(path.read_text(encoding="utf-8"))
    Policy.load(path)
    tried = 0
    for text in doubled(written):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(ValueError, match="twice in"):
            Policy.load(path)
        tried += 1
    assert tried > 40
    # The compiled part reads the content of pickles and copies.
    text, sets, waiting = policy._save()
    for twice in doubled(json.loads(text)):
        with pytest.raises(ValueError, match="not a policy's state: "):
            Code(radius=1.0, target={"kappa": 2.0})._restore(twice, sets, waiting)


def test_a_certificate_in_which_a_key_stands_twice_is_refused() -> None:
    document = (
        Log(None)
        .decide([{"name": "mug", "price": 4.5}, {"name": "bowl", "price": 7}])
        .certificate_json()
    )
    verify(document)
    for text in doubled(json.loads(document)["grounds"]["policy"]):
        policy = json.dumps(json.loads(document)["grounds"]["policy"], separators=(",", ":"))
        assert policy in document
        with pytest.raises(ValueError, match="occurs twice in `grounds.policy"):
            verify(document.replace(policy, text))


@pytest.mark.skipif(not ENDLESS.exists(), reason="there is no device that never ends")
def test_a_file_without_end_is_refused(tmp_path: Path) -> None:
    for read in (
        lambda: Policy.load(ENDLESS),
        lambda: verify(ENDLESS),
        lambda: simulate(ENDLESS),
        lambda: Log(None).decide(ENDLESS),
    ):
        with pytest.raises(ValueError, match="/dev/zero has more than [0-9]+ MiB, the limit of a"):
            read()
