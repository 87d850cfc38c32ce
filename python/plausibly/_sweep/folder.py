"""A folder of results from which a sweep can resume."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import warnings
from pathlib import Path

from .._files import write_file

_FORMAT = "plausibly sweep part, 1"
_LONGEST_HEAD = 4096


class Folder:
    """Finished ranges of runs, one file each, which describes itself and carries its checksum.

    A file is written completely or not at all, except when the machine loses power; then its
    checksum shows it, and its range is run again. So nothing is synced to the disk.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        if not isinstance(path, (str, os.PathLike)):
            raise TypeError(f"out: expected a path, found {type(path).__name__}")
        self._root = Path(path)
        self._parts = self._root / "parts"
        self._parts.mkdir(parents=True, exist_ok=True)
        # Fails now rather than after the first task.
        with tempfile.TemporaryFile(dir=self._parts):
            pass

    def read(self, key: str, runs: int) -> list[tuple[int, int, bytes]]:
        """Finished ranges of a spec with `runs` runs, in order and without overlap."""
        found = []
        for path in self._parts.glob(f"{key[:32]}-*.part"):
            try:
                found.append(_read(path, key, runs))
            except (OSError, ValueError) as error:
                warnings.warn(
                    f"{path}: {error}; its runs are repeated", RuntimeWarning, stacklevel=2
                )
        kept: list[tuple[int, int, bytes]] = []
        for first, end, part in sorted(found, key=lambda range_: (range_[0], -range_[1])):
            if not kept or first >= kept[-1][1]:
                kept.append((first, end, part))
        return kept

    def keep(self, key: str, first: int, end: int, part: bytes) -> None:
        """Writes a range."""
        head = {
            "format": _FORMAT,
            "key": key,
            "first": first,
            "end": end,
            "sha256": hashlib.sha256(part).hexdigest(),
        }
        write_file(
            self._parts / f"{key[:32]}-{first}-{end}.part", json.dumps(head).encode() + b"\n" + part
        )

    def finish(self, csv: str) -> None:
        """Writes the table."""
        write_file(self._root / "sweep.csv", csv.encode())


def _read(path: Path, key: str, runs: int) -> tuple[int, int, bytes]:
    with path.open("rb") as file:
        line = file.readline(_LONGEST_HEAD)
        part = file.read()
    try:
        head = json.loads(line)
        said = (head["format"], head["key"])
        first, end, checksum = head["first"], head["end"], head["sha256"]
    except (ValueError, TypeError, KeyError) as error:
        raise ValueError("not a file of a sweep") from error
    if said != (_FORMAT, key):
        raise ValueError("a file of another sweep, or of another version")
    if (
        not 0 <= first < end <= runs
        or hashlib.sha256(part).hexdigest() != checksum
        or path.name != f"{key[:32]}-{first}-{end}.part"
    ):
        raise ValueError("damaged")
    return first, end, part
