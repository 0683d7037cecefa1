# SPDX-License-Identifier: BSD-3-Clause
"""mpis.py - the MPI libraries that jobs can run over, and jobs that start over one library and
restart over another."""

import contextlib
import os
import time
from dataclasses import dataclass
from pathlib import Path

from . import probes
from .lab import Lab
from .settings import INSTALL, MPICH5, MPIRUN, OPENMPI5

PLUGIN = INSTALL / "lib/ckpt/libckpt-mpi.so"


@dataclass(frozen=True)
class Mpi:
    """An MPI library with its launcher."""

    name: str
    mpirun: str
    version: str  # a text in MPI_Get_library_version
    prefix: str  # "" for the system's own
    lab: type = Lab

    @property
    def installed(self):
        return not self.prefix or Path(self.mpirun).exists()

    def settings(self):
        """Returns the environment that the library's launcher needs."""
        if not self.prefix:
            return {"PATH": os.environ["PATH"], "LD_LIBRARY_PATH": ""}
        path = f"{self.prefix}/bin:{os.environ['PATH']}"
        return {"PATH": path, "LD_LIBRARY_PATH": f"{self.prefix}/lib"}


class MpichLab(Lab):
    """A lab that starts jobs with MPICH's launcher hydra."""

    def __init__(self, directory, mpirun, **settings):
        super().__init__(directory, mpirun, **settings)
        self._opened = time.time()

    def close(self):
        """Also removes the files of a killed hydra."""
        super().close()
        for path in Path("/tmp").glob("hydra_hwloc_xmlfile_*"):
            with contextlib.suppress(FileNotFoundError):  # another lab was faster
                if path.stat().st_mtime >= self._opened:
                    path.unlink()

    def mpirun_command(self, program, *options):
        return [self.mpirun, *options, "-n", program.ranks, *program.argv]

    def start(self, program, **more):
        program.prepare(self.work)
        preload = ["-genv", "LD_PRELOAD", PLUGIN]
        return self._start(self.mpirun_command(program, *preload), more)


OPENMPI4 = Mpi("openmpi4", MPIRUN, "Open MPI v4.1", "")
OPENMPI5 = Mpi("openmpi5", f"{OPENMPI5}/bin/mpirun", "Open MPI v5.0", str(OPENMPI5))
MPICH = Mpi("mpich", f"{MPICH5}/bin/mpiexec", "MPICH Version", str(MPICH5), MpichLab)


class Crossing:
    """Jobs that start over one MPI, are killed, and restart over another."""

    def __init__(self, directory, start, end):
        self.start, self.end = start, end
        self.lab = start.lab(directory, mpirun=start.mpirun, holds=True, **start.settings())

    def _cross(self, job):
        """Saves the job, kills it and restarts it over the other MPI."""
        self.lab.checkpoint(job)
        job.kill()
        return self.lab.restart(CKPT_MPIRUN=self.end.mpirun, **self.end.settings())

    def probe(self, name):
        """Runs a probe that waits during the crossing; returns its lines before and after."""
        gate = self.lab.directory / "gate"
        first = self.lab.start(probes.probe(name, gate), **probes.ENVIRONMENT)
        first.wait_for("^READY")
        first.wait_for("^waiting")
        second = self._cross(first)
        second.wait_for("^waiting")
        gate.touch()
        after = second.succeed()
        assert any(line.startswith("OK ") for line in after), after
        return first.lines, after

    def libraries(self):
        """Returns MPI_Get_library_version before and after the crossing."""
        before, after = self.probe("library")
        return _after("before: ", before), _after("after: ", after)

    def answer(self, program):
        """Returns the answer of a self-checking program that crosses in its middle."""
        first = self.lab.start(program)
        first.wait_for(program.progress, count=3)
        second = self._cross(first)
        second.succeed()
        return self.lab.answer(program, first, second)


def _after(start, lines):
    (line,) = (line for line in lines if line.startswith(start))
    return line.removeprefix(start)
