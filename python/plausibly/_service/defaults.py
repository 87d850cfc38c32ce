"""What a decision is if the service cannot decide, and what the log says about it."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from .answers import ServiceDecision, ServiceError
from .requests import NoDefault

_logger = logging.getLogger("plausibly.client")


def defaulted(name: str, default: str, key: object, error: Exception) -> ServiceDecision:
    """The default, after saying why."""
    _say(name, error)
    return ServiceDecision(
        id=None, action=default, is_default=True, key=key if isinstance(key, str) else ""
    )


def all_defaulted(
    name: str, default: str, key: object, error: Exception, asked: object
) -> list[ServiceDecision | ServiceError]:
    """The default for each of several requests."""
    try:
        count = len(asked) if isinstance(asked, Sequence) else 0
    except Exception:  # the length of the caller's own class
        count = 0
    decision = defaulted(name, default, key, error)
    return [decision for _ in range(count)]


def each_or_default(
    name: str, default: str | NoDefault, key: str, found: list[ServiceDecision | ServiceError]
) -> list[ServiceDecision | ServiceError]:
    """The decisions, and the default for each that the service refused."""
    if isinstance(default, NoDefault):
        return found
    return [
        defaulted(name, default, key, entry) if isinstance(entry, ServiceError) else entry
        for entry in found
    ]


def _say(name: str, error: Exception) -> None:
    """One line, without a traceback: its frames could show more than the message."""
    passing = isinstance(error, ServiceError) and (
        error.status is None or error.status >= 500 or error.status in (408, 429)
    )
    try:
        what = str(error)
    except Exception:  # an exception of the caller's own objects
        what = "it has no message"
    _logger.log(
        logging.WARNING if passing else logging.ERROR,
        "experiment %s: the default is used, because there is no decision: %s: %s",
        name,
        type(error).__name__,
        what,
    )
