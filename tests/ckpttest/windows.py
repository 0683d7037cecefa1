# SPDX-License-Identifier: BSD-3-Clause
"""windows.py - the programs in apps/windows. They communicate only through windows and
barriers, and their results depend neither on time nor on the number of ranks."""

import re

from .lab import Lab
from .programs import Program
from .settings import APPS

# Options of each program that select its windows and how it uses them, the default
# first.
WAYS = {
    "absent": [[]],
    "barnes": [[], ["--shared"]],
    "batches": [["--mode=counts"], ["--mode=sums"]],
    "hash_table": [[], ["--shared"]],
    "open_epoch": [[]],
    "shared_bytes": [[]],
    "shared_counter": [[]],
    "stencil": [
        [f"--mode={mode}", *shared]
        for mode in ("fence", "lock", "lockall", "pscw")
        for shared in ([], ["--shared"])
    ],
    "uneven": [[]],
    "water_nsquared": [
        [f"--mode={mode}", *shared]
        for mode in ("accumulate", "lock")
        for shared in ([], ["--shared"])
    ],
    "water_spatial": [[], ["--shared"]],
    "work_queue": [[], ["--shared"]],
}

# Open MPI 4.1.4's osc/rdma crashes in MPI_Compare_and_swap on an allocated window (its
# peers on the same node have no endpoint). Under ckpt its windows are made in another
# way.
NATIVE = {"OMPI_MCA_osc": "^rdma"}


def result(lines, _directory):
    """Returns the digits of the line 'NAME: result DIGITS'; the line 'NAME: right'
    follows."""
    text = "\n".join(lines)
    found = set(re.findall(r"^\w+: result ([0-9a-f]{16})$", text, re.MULTILINE))
    assert len(found) == 1, f"{sorted(found)} instead of one result"
    assert re.search(r"^\w+: right$", text, re.MULTILINE), "not right"
    return found.pop()


def program(name, steps, size, *, ranks, way=()):
    """Returns a program of WAYS with these options."""
    argv = [APPS / "windows" / name, f"--steps={steps}", f"--size={size}", *way]
    return Program(" ".join([name, *way]), argv, ranks, answer=result)


def result_in_one_rank(directory, name, steps, size, way):
    """Returns the result of an undisturbed program on one rank."""
    place = Lab(directory, **NATIVE)
    try:
        return place.run_native(program(name, steps, size, ranks=1, way=way)).answer
    finally:
        place.close()


def results_in_one_rank(tmp_path_factory):
    """Returns a function (name, steps, size): the result of a program without failures,
    with its default options. It computes each result once."""
    results = {}

    def of(name, steps, size):
        key = (name, steps, size)
        if key not in results:
            directory = tmp_path_factory.mktemp("one")
            results[key] = result_in_one_rank(directory, *key, WAYS[name][0])
        return results[key]

    return of
