# SPDX-License-Identifier: BSD-3-Clause
"""writers.py - runs Debian's programs that write, replace and close files under `ckpt run
--interval`, and kills each at random moments. All files must equal those of an undisturbed run."""

import collections
import random
import re
import shutil
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from . import inputs, non_mpi
from .lab import Lab
from .settings import SOURCES

INTERVAL = "300ms"
PAUSES = (0.4, 1.2)  # seconds from a checkpoint to a kill
PYTHON = "/usr/bin/python3"


@dataclass
class Writer:
    """A program, and which parts of its files differ from run to run."""

    argv: list
    ranks: int = 0  # 0: without MPI
    needs: list = field(default_factory=list)  # programs that must be installed
    modules: list = field(default_factory=list)  # Python modules that must be installed
    files: dict = field(default_factory=dict)  # files that the program reads, by name
    timed: str = ""  # regular expression for lines with times
    ignored: str = ""  # regular expression for names of ignored files

    def is_installed(self):
        """Whether all its requirements are installed."""
        return all(map(shutil.which, self.needs)) and all(
            subprocess.run([PYTHON, "-c", f"import {name}"], capture_output=True, check=False)
            .returncode == 0
            for name in self.modules
        )

    def prepare(self, lab):
        """Puts the program's input files into the working directory."""
        for name, text in self.files.items():
            (lab.work / name).write_text(text, encoding="utf-8")

    def command(self, lab):
        """Returns the command without ckpt."""
        ranks = ["--oversubscribe", "-np", self.ranks]
        return [lab.mpirun, *ranks, *self.argv] if self.ranks else self.argv

    def tree(self, lab):
        """Returns all files, without lines that contain times."""
        found = {}
        for path in sorted(p for p in lab.work.rglob("*") if p.is_file()):
            name = str(path.relative_to(lab.work))
            if self.ignored and re.search(self.ignored, name):
                continue
            content = data_of(path) if path.suffix == ".h5" else path.read_bytes()
            if self.timed:
                kept = [x for x in content.split(b"\n") if not re.search(self.timed.encode(), x)]
                content = b"\n".join(kept)
            found[name] = content
        return found


def data_of(path):
    """Returns the data of an HDF5 file, without its creation time."""
    command = ["h5dump", "-y", path.name]
    return subprocess.run(command, cwd=path.parent, capture_output=True, check=True).stdout


LAMMPS = inputs.lammps_melt(8) + """fix 2 all print 20 "step ${now}" append printed screen no
variable now equal step
dump a all atom 50 dump.all
dump b all custom 60 dump.*.custom id x y z
restart 40 restart.a restart.b
thermo 20
run 8000
write_data end.data
"""

CP2K = """&GLOBAL
  PROJECT argon
  RUN_TYPE MD
&END GLOBAL
&FORCE_EVAL
  METHOD FIST
  &MM
    &FORCEFIELD
      &CHARGE
        ATOM Ar
        CHARGE 0.0
      &END CHARGE
      &NONBONDED
        &LENNARD-JONES
          ATOMS Ar Ar
          EPSILON 119.8
          SIGMA 3.405
          RCUT 8.0
        &END LENNARD-JONES
      &END NONBONDED
    &END FORCEFIELD
    &POISSON
      &EWALD
        EWALD_TYPE NONE
      &END EWALD
    &END POISSON
  &END MM
  &SUBSYS
    &CELL
      ABC 18 18 18
    &END CELL
    &COORD
{coordinates}
    &END COORD
  &END SUBSYS
&END FORCE_EVAL
&MOTION
  &MD
    ENSEMBLE NVE
    STEPS 4000
    TIMESTEP 2
    TEMPERATURE 90
  &END MD
  &PRINT
    &RESTART
      &EACH
        MD 10
      &END EACH
    &END RESTART
  &END PRINT
&END MOTION
"""

NWCHEM = """start water
geometry noautosym
 O 0 0 0
 H 0 0.8 0.6
 H 0 -0.8 0.6
end
basis
 * library 6-311g**
end
task scf optimize
task scf freq
task mp2 freq
"""

MEEP = """import meep
cell = meep.Vector3(16, 8, 0)
source = meep.Source(meep.ContinuousSource(frequency=0.15), component=meep.Ez,
                     center=meep.Vector3(-7, 0))
simulation = meep.Simulation(cell_size=cell, boundary_layers=[meep.PML(1.0)],
                             sources=[source], resolution=20)
simulation.use_output_directory("fields")
simulation.run(meep.at_every(5, meep.output_efield_z),
               meep.at_every(1, lambda s: print("step", s.meep_time(), file=open("log", "a"))),
               until=250)
"""


def atoms_of_argon():
    """Returns a grid of argon atoms, for CP2K."""
    places = ([4.5 * (i // 4**k % 4) for k in range(3)] for i in range(64))
    return "\n".join(f"Ar {x} {y} {z}" for x, y, z in places)


def script(name, *arguments):
    """Returns the command of one of our Python scripts."""
    return [PYTHON, "-B", SOURCES / "writers" / name, *arguments]


WRITERS = {
    "SQLite, WAL": Writer(script("transactions.py", "wal", 1000)),
    "SQLite, journal": Writer(script("transactions.py", "delete", 1000)),
    "HDF5": Writer(script("records.py", "hdf5", 600), modules=["h5py"]),
    "netCDF": Writer(script("records.py", "netcdf", 600), modules=["netCDF4"]),
    "R": Writer(["Rscript", SOURCES / "writers/lines.R", 1500], needs=["Rscript"]),
    "LAMMPS": Writer(
        ["lmp", "-in", "in.writer"], 2, ["lmp"], files={"in.writer": LAMMPS},
        timed=r"^(Loop time|Performance|Total wall|Pair |Neigh |Comm |Output |Modify |Other |"
        r".*CPU use|.*CPU = |Per MPI|.*Mbytes|Ave neighs|Neighbor list builds|Dangerous)",
    ),
    "CP2K": Writer(
        ["cp2k.psmp", "-i", "argon.inp", "-o", "argon.out"], 2, ["cp2k.psmp"],
        files={"argon.inp": CP2K.format(coordinates=atoms_of_argon())},
        timed=r"CPU|TIME|DATE|STARTED|ENDED|PROCESS ID|PROGRAM|WALL|[Mm]emory|MEMORY|SECONDS|"
        r"current date|working dir|/work$|^ \S+ +\d+ +\d+\.\d( +\d+\.\d+){4}$",
        ignored=r"argon-1\.ener$",  # it has the time of each step
    ),
    "NWChem": Writer(
        ["nwchem", "water.nw"], 1, ["nwchem"], files={"water.nw": NWCHEM},
        ignored=r"water\.(db|movecs)$",  # they contain dates
    ),
    "Meep": Writer(
        [PYTHON, "-B", "waves.py"], modules=["meep"], files={"waves.py": MEEP},
    ),
}


# Short programs for a test run.
SHORT = {
    "SQLite, WAL": Writer(script("transactions.py", "wal", 250)),
    "SQLite, journal": Writer(script("transactions.py", "delete", 250)),
    "HDF5": Writer(script("records.py", "hdf5", 200), modules=["h5py"]),
}


def undisturbed(directory, writer):
    """Returns the program's files, and its run time in seconds."""
    lab = Lab(directory)
    try:
        writer.prepare(lab)
        begin = time.monotonic()
        job = lab._start(writer.command(lab), {})  # pylint: disable=protected-access
        lines = job.succeed(900)
        assert not any(line.startswith("BAD") for line in lines), lines
        return writer.tree(lab), time.monotonic() - begin
    finally:
        lab.close()


def await_newer(lab, job, newest):
    """Waits for a checkpoint newer than `newest`; returns its number, 0 if the job is over."""
    while job.run_on(0.02):
        found = non_mpi.newest(lab.store)
        if found > newest:
            return found
    return 0


def run(directory, writer, kills, seed, expected, files):
    """Runs the program once, with up to `kills` kills; returns the counts."""
    chance = random.Random(seed)
    counts = collections.Counter()
    lab = Lab(directory)
    try:
        writer.prepare(lab)
        options = ["--interval", INTERVAL, "--back-off", "10ms", "--max-restarts", 10 * kills]
        options += ["--files", files]
        job = non_mpi.start(lab, *writer.command(lab), options=options)
        newest = 0
        while counts["kills"] < kills:
            newest = await_newer(lab, job, newest)
            if not newest or not job.run_on(chance.uniform(*PAUSES)):
                break
            counts["kills"] += inputs.kill_a_rank(lab, chance)
        lines = job.succeed(900)
        counts["restarts"] += sum("; restart " in line for line in lines)
        if counts["kills"] == counts["restarts"] + 1:
            counts["kills"] -= 1  # the last one met a process that had finished
        found = writer.tree(lab)
        names = [n for n in expected.keys() | found.keys() if expected.get(n) != found.get(n)]
        assert not names, f"other files: {sorted(names)}, in {lab.work}"
    finally:
        lab.close()
    counts["files"] = len(found)
    counts["runs"] = 1
    return counts


def torment(directory, writer, kills, seed, files="rollback"):
    """Runs the program until there have been `kills` kills; returns the counts."""
    directory = Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    expected, seconds = undisturbed(directory / "undisturbed", writer)
    again, _ = undisturbed(directory / "again", writer)
    differing = [n for n in expected if expected[n] != again.get(n)]
    assert not differing, f"two undisturbed runs differ in {differing}, in {directory}"
    totals = collections.Counter(seconds=round(seconds))
    while totals["kills"] < kills:
        place = directory / f"run.{totals['runs']}"
        left = kills - totals["kills"]
        counts = run(place, writer, left, seed + totals["runs"], expected, files)
        count = counts.pop("files")
        totals += counts
        totals["files"] = count
        assert totals["runs"] < kills + 5, "it is over before it can be killed"
    return totals
