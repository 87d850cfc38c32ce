"""Files that are there complete or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def read_file(path: str | os.PathLike[str], mebibytes: int, kind: str) -> bytes:
    """The bytes of a file, read no further than files of its kind go: a device has no end."""
    most = mebibytes << 20
    with open(path, "rb") as file:
        contents = file.read(most + 1)
    if len(contents) > most:
        raise ValueError(
            f"{os.fsdecode(path)} has more than {mebibytes} MiB, the limit of {kind}: is it the right file?"
        )
    return contents


def write_file(path: Path, contents: bytes) -> None:
    """Writes a file under another name and then gives it its own."""
    handle, name = tempfile.mkstemp(prefix=".", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(contents)
        # As any new file, not as a secret.
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
