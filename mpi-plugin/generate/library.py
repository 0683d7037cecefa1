# SPDX-License-Identifier: BSD-3-Clause
"""Reads the dynamic symbols of shared libraries with readelf."""

import subprocess
from dataclasses import dataclass


@dataclass(frozen=True)
class Symbol:
    name: str  # without version
    type: str  # FUNC, OBJECT, NOTYPE ...
    size: int
    defined: bool
    weak: bool


def symbols(readelf, path):
    """Returns the dynamic symbols of a library, by name."""
    result = subprocess.run(
        [readelf, "--dyn-syms", "--wide", str(path)],
        text=True,
        capture_output=True,
        check=True,
    )
    found = {}
    for line in result.stdout.splitlines():
        fields = line.split()
        if len(fields) < 8 or not fields[0].rstrip(":").isdigit():
            continue
        _, _, size, kind, binding, visibility, section = fields[:7]
        name = fields[7].partition("@")[0]
        if visibility == "DEFAULT" and binding in ("GLOBAL", "WEAK", "UNIQUE"):
            found[name] = Symbol(
                name, kind, int(size, 0), section != "UND", binding == "WEAK"
            )
    return found
