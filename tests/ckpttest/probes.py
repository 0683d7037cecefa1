# SPDX-License-Identifier: BSD-3-Clause
"""probes.py - the feature probes of apps/probes and their expected results."""

import os

from .programs import Program
from .settings import APPS, SOURCES

# Probes whose checkpoint is refused: the identity, and a pattern for the detail.
REFUSED = {
    "counter_between_ranks": ("shared-descriptor", r"rank \d: descriptor \d+.*ranks 0 and 1"),
    "ended_child": ("ended-child", r"process \d+ \(ended_child\)"),
    "living_child": ("living-child", r"process \d+ \(sleep 1000\)"),
    "met": ("unsavable-object", r"MPI_Comm_(accept|connect)"),
    "socket_to_stranger": ("outside-connection", r"descriptor \d+.*process \d+ \(socket_to_str"),
    "spawn": ("unsavable-object", r"MPI_Comm_spawn"),
    "system_v_undo": ("unsavable-system-v", r"set \d+ .*SEM_UNDO"),
}

# The same probes in other languages, for installed compilers.
LANGUAGES = [
    name
    for name in (
        "cxx/bindings",
        "fortran/mpi",
        "fortran/mpi_f08",
        "fortran/mpif_h",
    )
    if (APPS / name).exists()
]

# Probes for which a separate test prepares the machine.
_PREPARED = {"huge_pages"}
if os.geteuid() != 0:
    _PREPARED.add("system_v_memory")  # only root chooses ids

# The folder of each probe says what the probe is about.
_FOLDERS = {path.stem: path.parent.name for path in (SOURCES / "probes").glob("*/*.c")}
NAMES = sorted(name for name in _FOLDERS if name not in _PREPARED)
NAMES += LANGUAGES

# Functions of MPI 4.0: programs built with Open MPI 5.0, if it is there.
MPI4 = sorted(
    f"mpi4/{path.stem}"
    for path in (SOURCES / "mpi4").glob("*.c")
    if (APPS / "mpi4" / path.stem).exists()
)

# Open MPI 5.0 itself now and then hangs in the first, and is wrong in the second. The third is
# about the cost of ckpt's own partitions.
NOT_NATIVE = ["mpi4/partitioned", "mpi4/partitioned_types", "mpi4/partitioned_freed"]

assert REFUSED.keys() == {name for name, folder in _FOLDERS.items() if folder == "refused"}
SAVED = [n for n in NAMES if n not in REFUSED]

# Excludes `tool`: each library has its own names for MPI_T variables.
PORTABLE = [name for name in SAVED if name != "tool"]

# Probes that restart over another release of Open MPI, and over another MPI.
OTHER_RELEASE = ["attributes", "cartesian", "constants", "many_types", "types_and_ops"]
OTHER_RELEASE += ["persistent_collectives", "window_fence", "window_lock", "window_shared"]
OTHER_RELEASE += LANGUAGES
OTHER_MPI = [
    *OTHER_RELEASE,
    "callbacks",
    "drained_any",
    "errhandler",
    "iallreduce",
    "intercomm",
    "matched_probe",
    "persistent",
    "some_and_any",
    "subarray",
]

_RANKS = {
    "alone": 1,
    "cartesian": 4,
    "file_groups": 4,
    "graph": 4,
    "groups": 4,
    "inter_nothing": 4,
    "intercomm": 4,
    "neighbours": 4,
    "own_resources": 1,
    "partly_freed": 4,
    "spawn": 1,
    "system_v_undo": 1,
    "window_lock_all": 3,
    "window_objects": 3,
    "window_shared": 3,
}
FILE = "shared.bin"  # of probes of MPI files, in the working directory
_ARGUMENTS = {
    "arguments": ["two words", "", 'quote"'],
    **{name: [FILE] for name in NAMES if name.startswith("file_")},
}
# Spinning OpenMP threads keep everything else, fsync included, off two cores.
ENVIRONMENT = {"PROBE_VALUE": "a b=c", "OMP_WAIT_POLICY": "passive"}


def probe(name, gate):
    """Returns the program of a probe, which goes on when the file `gate` exists."""
    path = APPS / name if "/" in name else APPS / "probes" / _FOLDERS[name] / name
    argv = [path, gate, *_ARGUMENTS.get(name, [])]
    return Program(name, argv, _RANKS.get(name, 2), r"^waiting (\d+)")


def outside_of_mpi(first_gate, last_gate):
    """Returns the program that waits before MPI_Init and after MPI_Finalize."""
    argv = [APPS / "outside", first_gate, last_gate]
    return Program("outside", argv, 2, "")
