"""What several tests need."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# Whatever data sets are on this machine: a test has those that it names.
os.environ["PLAUSIBLY_DATA"] = os.path.join(os.sep, "no-such-folder")


@pytest.fixture(scope="session")
def command() -> str:
    """The command `plausibly`, where the tests were told of one."""
    path = os.environ.get("PLAUSIBLY_COMMAND")
    if path is None:
        pytest.skip("PLAUSIBLY_COMMAND does not name the command to compare with")
    return path
