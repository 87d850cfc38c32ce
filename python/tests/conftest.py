"""What several tests need."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def command() -> str:
    """The command `plausibly`, where the tests were told of one."""
    path = os.environ.get("PLAUSIBLY_COMMAND")
    if path is None:
        pytest.skip("PLAUSIBLY_COMMAND does not name the command to compare with")
    return path
