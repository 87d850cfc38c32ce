"""A saved policy that was forged is refused, or used without harm: only ever a ValueError, in bounded time and memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

FORGERIES = Path(__file__).with_name("forgeries.py")


@pytest.mark.parametrize("seed", range(2))
def test_forged_policies_raise_value_errors_alone(seed: int) -> None:
    """1,000 files with one or two places changed: numbers, lengths, kinds, parts of other policies. Each is loaded, asked, chosen
    from, taught and saved. The time limit is for a machine with much else to do."""
    tried = [sys.executable, str(FORGERIES), str(seed), "1000"]
    done = subprocess.run(tried, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
