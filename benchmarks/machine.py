"""Describes the machine of a benchmark."""

import os
import platform
from pathlib import Path


def machine():
    """The machine's properties, without its name."""
    facts = {"system": f"{platform.system()} {platform.machine()}", "cores": os.cpu_count()}
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        named = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
        flags = next(
            (line.split(":", 1)[1].split() for line in lines if line.startswith("flags")), []
        )
        family = [
            line.split(":")[1].strip()
            for line in lines
            if line.startswith(("cpu family", "model\t"))
        ][:2]
        facts["processor"] = (
            f"{named[0]} (family {family[0]}, model {family[1]})" if named else platform.processor()
        )
        facts["vectors"] = next((name for name in ("avx512f", "avx2") if name in flags), "baseline")
        facts["load"] = os.getloadavg()[0]
    except OSError:
        facts["processor"] = platform.processor()
    return facts
