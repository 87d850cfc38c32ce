"""The command `plausibly`, as `pip install` brings it along, and `python -m plausibly`."""

from __future__ import annotations

import signal
import sys

from . import _core


def main() -> int:
    """Runs the command with the arguments of this process; its exit codes are in docs/reference/cli.md."""
    # Python would note Ctrl-C and go on until the command returns. By default it ends the process at once, and a
    # command that has something to clear up takes it over.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _core.run_command(sys.argv[1:])
