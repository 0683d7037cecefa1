# SPDX-License-Identifier: BSD-3-Clause
"""fuzz.py - calls every MPI function with bad arguments, with and without ckpt: both runs must
report the same error class to the same error handler."""

import re

from .programs import Program
from .settings import APPS, TIMEOUT

# Outcomes of Open MPI alone for which a comparison says nothing.
_WORTHLESS = ("crashes", "hangs")

# Patterns of "FUNCTION CASE" for which ckpt differs, and why.
EXPLAINED = {
    r"before MPI_Init: Info_\w+ good": "allowed since MPI 4.0, with any library",
    r"before MPI_Init: \w*(Errhandler_create|create_errhandler) good": "the same",
    r"after MPI_Finalize: T_init_thread good": "the library is closed for good",
    r"File_[gs]et_info fh: .*": "an error of the file: Open MPI 4.1 says communicator",
    r"File_open (comm|info): .*": "the handler is that of MPI_FILE_NULL (MPI 3.1, 13.7)",
    r"(Comm_get_attr|Attr_get) comm: null": "refused; Open MPI looks into its null object",
    r"I?[Ss]catter sendtype: freed": "by what lies in its memory Open MPI truncates",
    r"Startall no elements": "nothing to start; Open MPI asks for an array",
    r"R(get_)?accumulate target_\w+: large": "no handle of a request that was not made",
    r"\w+_init datatype: address 0": "refused; Open MPI looks at the type when it starts",
}

_ERROR = re.compile(r"class (-?\d+)")


_LAST_LINE = "all cases have run"


def _program(part, data, every, skip=None):
    argv = [APPS / "fuzz/fuzz", part, data, every, *([skip] if skip else [])]
    return Program("fuzz", argv, 2, "")


def _outcomes(lines):
    """Maps each case to its outcome."""
    pairs = (line.split(" -> ", 1) for line in lines if " -> " in line)
    return {name: outcome for name, outcome in pairs}


def _is_error(outcome):
    match = _ERROR.match(outcome)
    return match is not None and match[1] != "0"


def _agree(name, native, ours):
    """Whether both outcomes agree. To Open MPI a freed handle is whatever the memory now holds, so
    ckpt must refuse at least what Open MPI refuses."""
    if ": freed" in name or ": uncommitted" in name:
        return not _is_error(native) or _is_error(ours)
    return native == ours


def _run(start, directory, every, timeout, skip=None):
    """Returns the outcomes of a run that `start` starts."""
    found = {}
    for part in ("outside", "inside"):
        job = start(_program(part, directory / "data", every, skip))
        job.finish(timeout)
        assert _LAST_LINE in job.lines, "\n".join(job.lines[-20:])
        found.update(_outcomes(job.lines))
    return found


def run_fuzz(lab, every, timeout=10 * TIMEOUT):
    """Runs one of `every` cases with and without ckpt. Returns the unexplained differences as
    lines, the explained differences as lines, and how many cases were compared and left out."""
    native = _run(lab.start_native, lab.directory, every, timeout)
    left_out = [name for name, what in native.items() if what in _WORTHLESS]
    skip = lab.directory / "skip"
    skip.write_text("".join(f"{name}\n" for name in left_out))
    ours = _run(lab.start, lab.directory, every, timeout, skip)
    different, explained = [], []
    compared = sorted(set(native) - set(left_out))
    for name in compared:
        outcome = ours.get(name, "not run")
        if _agree(name, native[name], outcome):
            continue
        line = f"{name}: {native[name]} without ckpt, {outcome} with it"
        known = any(re.fullmatch(pattern, name) for pattern in EXPLAINED)
        (explained if known else different).append(line)
    return different, explained, len(compared), len(left_out)
