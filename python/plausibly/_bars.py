"""Draws intervals as SVG bars for notebooks, one per action, without scripts, fonts or files."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._explanation import Explanation

_WIDTH, _HEIGHT, _MARGIN = 240, 18, 8
_PLAUSIBLE, _RULED_OUT = "#1f77b4", "#999999"


def interval_bars(found: Explanation, shown: Sequence[int]) -> list[str]:
    """One picture per action, all on one scale; the dashed line is the largest lower end."""
    ends = [float(end) for i in shown for end in (found.lower[i], found.mean[i], found.upper[i])]
    finite = [end for end in ends if math.isfinite(end)]
    low, high = (min(finite), max(finite)) if finite else (0.0, 0.0)
    best = max((float(lower) for lower in found.lower), default=math.nan)
    span = high - low

    def across(value: float) -> float:
        if value == math.inf or value == -math.inf:
            return float(_WIDTH if value > 0 else 0)
        # Halves first, because the distance between the ends may overflow.
        share = (value / 2 - low / 2) / (span / 2) if 0.0 < span < math.inf else 0.5
        return _MARGIN + share * (_WIDTH - 2 * _MARGIN)

    return [_bar(found, i, across, best) for i in shown]


def _bar(found: Explanation, i: int, across: Callable[[float], float], best: float) -> str:
    lower, mean, upper = (float(column[i]) for column in (found.lower, found.mean, found.upper))
    colour = _PLAUSIBLE if found.ruled_out_by[i] is None else _RULED_OUT
    middle, left, right = _HEIGHT / 2, across(lower), across(upper)
    parts = [
        f'<line x1="{left:.1f}" y1="{middle}" x2="{right:.1f}" y2="{middle}" stroke="{colour}" '
        'stroke-width="4"/>'
    ]
    if math.isfinite(best):
        line = f'x1="{across(best):.1f}" y1="0" x2="{across(best):.1f}" y2="{_HEIGHT}"'
        parts.append(
            f'<line {line} stroke="currentColor" stroke-dasharray="2 2" stroke-width="1"/>'
        )
    if math.isfinite(mean) and math.isfinite(lower):
        parts.append(f'<circle cx="{across(mean):.1f}" cy="{middle}" r="4" fill="{colour}"/>')
    words = f"estimate {mean:.4g}, from {lower:.3g} to {upper:.3g}"
    return (
        f'<svg role="img" aria-label="{words}" width="{_WIDTH}" height="{_HEIGHT}" '
        f'viewBox="0 0 {_WIDTH} {_HEIGHT}"><title>{words}</title>{"".join(parts)}</svg>'
    )
