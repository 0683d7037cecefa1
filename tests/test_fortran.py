# SPDX-License-Identifier: BSD-3-Clause
"""A Fortran program that Debian packages, saved in its middle and restarted:
every digit of its output files is as in an uninterrupted run. The features of
the three dialects are probes (test_probes.py, test_openmpi5.py)."""

from ckpttest import programs
from ckpttest.lab import Lab

# Sums of OpenMP threads differ from run to run.
SETTINGS = {"OMP_NUM_THREADS": "1"}


def wait_for_lines(job, path, count):
    """Until a program's output file has that many lines."""
    while not path.exists() or len(path.read_text("utf-8").splitlines()) < count:
        assert job.run_on(0.05), f"ended before {count} lines in {path.name}"


def test_elk(tmp_path):
    program = programs.elk()
    plain = Lab(tmp_path / "plain", **SETTINGS)
    answer = plain.run_native(program).answer
    lab = Lab(tmp_path / "saved", **SETTINGS)
    try:
        first = lab.start(program)
        wait_for_lines(first, lab.work / "TOTENERGY.OUT", 3)
        lab.checkpoint(first)
        wait_for_lines(first, lab.work / "TOTENERGY.OUT", 5)
        first.kill()
        second = lab.restart()
        second.succeed()
        assert lab.answer(program, first, second) == answer
    finally:
        lab.close()
