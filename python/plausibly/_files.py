"""Files that are written completely or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def read_file(path: str | os.PathLike[str], mebibytes: int, kind: str) -> bytes:
    """The bytes of a file, read up to the limit of its kind, because a device has no end."""
    most = mebibytes << 20
    with open(path, "rb") as file:
        contents = file.read(most + 1)
    if len(contents) > most:
        raise ValueError(
            f"{os.fsdecode(path)} has more than {mebibytes} MiB, the limit of {kind}: is it the "
            "right file?"
        )
    return contents


def write_file(path: Path, contents: bytes) -> None:
    """Writes a file under a temporary name, then renames it."""
    handle, name = tempfile.mkstemp(prefix=".", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(contents)
        # With the permissions of any new file, not those of a temporary one.
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
