"""The command `plausibly` that `pip install` provides, also as `python -m plausibly`."""

from __future__ import annotations

import signal
import sys

from . import _core


def main() -> int:
    """Runs the command with the arguments of this process (exit codes: docs/reference/cli.md)."""
    # Python would only note Ctrl-C until the command returns. The default handler ends the process
    # at once; commands that must clean up install their own.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _core.run_command(sys.argv[1:])
