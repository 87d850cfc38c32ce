"""Shared fixtures."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# Hides the data sets of this machine: a test has only those that it names.
os.environ["PLAUSIBLY_DATA"] = os.path.join(os.sep, "no-such-folder")


@pytest.fixture(scope="session")
def command() -> str:
    """The path of the command `plausibly`, if the environment gives it."""
    path = os.environ.get("PLAUSIBLY_COMMAND")
    if path is None:
        pytest.skip("PLAUSIBLY_COMMAND does not name the command to compare with")
    return path
