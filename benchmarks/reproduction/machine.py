# SPDX-License-Identifier: BSD-3-Clause
"""machine.py - facts about the machine of the results, in addition to measure.machine()."""

import subprocess
from pathlib import Path

from ckpttest.settings import MPIRUN


def _memory():
    for line in Path("/proc/meminfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("MemTotal:"):
            return f"{int(line.split()[1]) / 2**20:.1f} GiB"
    return "unknown"


def _mpi():
    done = subprocess.run(
        [MPIRUN, "--version"], capture_output=True, text=True, check=False
    )
    return (done.stdout.splitlines() or ["unknown"])[0]


def facts(known):
    """Returns the known facts, and more."""
    return {**known, "memory": _memory(), "MPI": _mpi()}
