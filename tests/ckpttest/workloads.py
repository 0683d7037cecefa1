# SPDX-License-Identifier: BSD-3-Clause
"""workloads.py - the programs of chapter 4 of Plank's dissertation (1993). Their sizes
are in proportion to the machine's memory, as his were to the memory of a node."""

from dataclasses import dataclass

from .programs import Program
from .settings import APPS

MIB = 1 << 20

# Each multiplication depends on the one before: some 3 cycles.
MULTIPLICATIONS_PER_SECOND = 10**9


@dataclass(frozen=True)
class Instance:
    """An instance of a_m_s: a line of table 4.1."""

    iterations: int
    seconds: float  # between two synchronisations
    # Fraction of a rank's memory, which was 8 MB there; 0: ten bytes.
    share: float
    is_random: bool


_SIZES = {"SMALL": 0, "MED": 1.5e6 / 8e6, "LARGE": 3e6 / 8e6}
_COUPLINGS = {"IND": (1, 90), "SYNC": (80, 1)}

INSTANCES = {
    f"{size}-{coupling}{suffix}": Instance(iterations, seconds, share, suffix != "")
    for suffix in ("", "-RAND")
    for coupling, (iterations, seconds) in _COUPLINGS.items()
    for size, share in _SIZES.items()
}


def a_m_s(name, rank_bytes, ranks=2, speed=1.0):
    """An instance for ranks with this much memory each; `speed` times as fast."""
    of = INSTANCES[name]
    multiplications = int(of.seconds / speed * MULTIPLICATIONS_PER_SECOND)
    size = max(10, int(of.share * rank_bytes))
    argv = [APPS / "workloads/a_m_s", of.iterations, multiplications, size]
    return Program(name, [*argv, int(of.is_random)], ranks)


def _of_size(program, rank_bytes, *more, ranks):
    argv = [APPS / "workloads" / program, rank_bytes // MIB, *more]
    return Program(program, argv, ranks)


def genetic(rank_bytes, side, generations=200, ranks=2):
    """Writes pixels of a bitmap, side squared; some 2 ms each."""
    return _of_size("genetic", rank_bytes, side, generations, ranks=ranks)


def sparse(rank_bytes, iterations, ranks=2):
    """Values sent to all others at each iteration; some 0.3 s for a GiB."""
    return _of_size("sparse", rank_bytes, iterations, ranks=ranks)


def gauss(rank_bytes, pivots, ranks=2):
    """A column broadcast for each pivot; some 0.3 s for a GiB at first."""
    return _of_size("gauss", rank_bytes, pivots, ranks=ranks)


def fourier(rank_bytes, rounds, ranks=2):
    """No messages during computation; some 10 s a round for a GiB."""
    return _of_size("fourier", rank_bytes, rounds, ranks=ranks)


def molecules(rank_bytes, steps, side=11, ranks=2):
    """Fortran: positions broadcast at each step of some 25 ms; much unused memory."""
    return _of_size("molecules", rank_bytes, steps, side, ranks=ranks)


def equations(rank_bytes, iterations, ranks=2):
    """Fortran: borders exchanged, two sums an iteration of some 1 ms; much unused
    memory."""
    return _of_size("equations", rank_bytes, iterations, ranks=ranks)
