"""A forged saved policy is refused, or used without harm.

It raises nothing but ValueError, in bounded time and memory.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

FORGERIES = Path(__file__).with_name("forgeries.py")


@pytest.mark.parametrize("seed", range(2))
def test_forged_policies_raise_value_errors_alone(seed: int) -> None:
    """1,000 files with one or two changes: numbers, lengths, kinds, parts of other policies.

    Each is loaded, explained, chosen from, updated and saved. The time limit allows for a busy
    machine.
    """
    tried = [sys.executable, str(FORGERIES), str(seed), "1000"]
    done = subprocess.run(tried, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
