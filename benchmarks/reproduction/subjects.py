# SPDX-License-Identifier: BSD-3-Clause
"""subjects.py - the saved programs, and their sizes."""

import math
from dataclasses import asdict, dataclass
from typing import Callable

from ckpttest import workloads
from ckpttest.programs import Program
from ckpttest.settings import APPS
from ckpttest.workloads import MIB

from . import dissertation

NODE_KILOBYTES = 8192  # of a node of 1993
FIREFLY_MEGABYTES = 16


@dataclass(frozen=True)
class Scale:
    """The scale of everything. Shares of the memory are those of 1993."""

    name: str
    ranks: int
    threads: int  # of a multiprocessor program
    rank_bytes: int  # corresponds to the 8 MB of a node
    heap_bytes: int  # corresponds to the 16 MB of the Firefly
    seconds: float  # of a run without checkpoints, when its program has begun
    checkpoints: int  # of a run without checkpoints, from the program's first line
    repetitions: int
    group: int  # ways beside one run without checkpoints

    def as_data(self):
        """Returns the scale for the file of results."""
        return asdict(self)


@dataclass(frozen=True)
class Subject:
    """A program whose runs can be made longer."""

    name: str
    make: Callable  # amount of work -> Program
    first: float  # amount for perhaps some seconds
    megabytes: float  # memory of a rank
    power: float = 1.0  # time grows as amount ** power
    most: float = math.inf  # largest amount
    is_parallel: bool = True  # with MPI; else threads

    def amount(self, seconds, target):
        """Returns the amount for runs of `target` seconds, if the first amount took
        `seconds`."""
        amount = self.first * (target / seconds) ** (1 / self.power)
        return min(amount, self.most)


def _threaded(name, megabytes, scale, first, **more):
    def make(amount):
        argv = [APPS / "threaded" / name, size, scale.threads, max(1, round(amount))]
        return Program(name, argv, 1)

    size = max(1, round(megabytes))
    megabytes = 0 if name == "travelling_salesman" else size
    return Subject(name, make, first, megabytes, is_parallel=False, **more)


def _merge_sort(heap, scale):
    megabytes = heap / FIREFLY_MEGABYTES * scale.heap_bytes / MIB
    of_size = _threaded("merge_sort", megabytes, scale, 10)
    return Subject(
        dissertation.merge_sort(heap),
        of_size.make,
        of_size.first,
        of_size.megabytes,
        is_parallel=False,
    )


def multiprocessor(scale):
    """Returns the programs of section 4.1. Merge sort has the sizes of 1993. Of the
    others, programs whose time grows with their memory are as large as the planned time
    permits."""
    found = [_merge_sort(heap, scale) for heap in dissertation.heaps()]
    found.append(_threaded("travelling_salesman", 13, scale, 40))
    side = 1600 * math.cbrt(scale.seconds)
    megabytes = 3 * 8 * side**2 / MIB
    rows = 0.7 * side
    found.append(_threaded("matrix_product", megabytes, scale, rows, most=0.95 * side))
    share = 1.233 / FIREFLY_MEGABYTES
    text = min(share * scale.heap_bytes / MIB, 4 * scale.seconds)
    found.append(_threaded("pattern_matching", text, scale, 2))
    share = 3.0 / FIREFLY_MEGABYTES
    megabytes = share * scale.heap_bytes / MIB
    found.append(_threaded("bubble_sort", megabytes, scale, 20000, power=2))
    return found


def _instance(name, scale):
    def make(amount):
        return workloads.a_m_s(name, scale.rank_bytes, scale.ranks, 1 / amount)

    megabytes = workloads.INSTANCES[name].share * scale.rank_bytes / MIB
    return Subject(name, make, 0.01, megabytes)


def _real(name, first, scale, power=1.0):
    def make(amount):
        workload = getattr(workloads, name)
        return workload(rank_bytes, max(1, round(amount)), ranks=scale.ranks)

    share = dissertation.program(name)["address space KB"] / NODE_KILOBYTES
    rank_bytes = max(MIB, int(share * scale.rank_bytes))
    return Subject(name, make, first, rank_bytes / MIB, power)


def multicomputer(scale):
    """Returns the programs of section 4.2; the Fortran ones only if they have been
    built."""
    found = [_instance(name, scale) for name in workloads.INSTANCES]
    found.append(_real("genetic", 30, scale, power=2))
    found.append(_real("sparse", 800, scale))
    found.append(_real("gauss", 200, scale))
    found.append(_real("fourier", 10, scale))
    if (APPS / "workloads/molecules").exists():
        found.append(_real("molecules", 40, scale))
        found.append(_real("equations", 800, scale))
    return found


def all_of(scale):
    """Returns {name: Subject}"""
    both = multiprocessor(scale) + multicomputer(scale)
    return {subject.name: subject for subject in both}
