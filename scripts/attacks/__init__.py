"""The attacks by name, in the order in which they run."""

from . import (
    certificates,
    concurrency,
    cuts,
    kills,
    outputs,
    rehashed,
    saved,
    signals,
    snapshots,
    tables,
    terminal,
)

ATTACKS = {
    "kills": kills.attack,
    "signals": signals.attack,
    "cuts": cuts.attack_cuts,
    "flips": cuts.attack_flips,
    "certificates": certificates.attack,
    "snapshots": snapshots.attack,
    "rehashed": rehashed.attack,
    "saved": saved.attack,
    "tables": tables.attack,
    "terminal": terminal.attack,
    "outputs": outputs.attack,
    "concurrency": concurrency.attack,
}
