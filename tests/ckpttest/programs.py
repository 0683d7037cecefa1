# SPDX-License-Identifier: BSD-3-Clause
"""programs.py - the MPI programs that tests run, and how to compare their answers.

An answer is a value that is equal for any two correct runs of a program, however often the program
was killed and restarted.
"""

import hashlib
import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

from .settings import APPS, BUILD, SOURCES


def ok_line(lines, _directory):
    """Self-checking programs: returns the line 'OK CHECKSUM'. The line appears twice if the kill
    came after the program's end, but before mpirun's."""
    found = {line for line in lines if line.startswith("OK ")}
    assert len(found) == 1, f"{sorted(found)} instead of one OK line"
    return found.pop()


def thermo_lines(lines, _directory):
    """LAMMPS: the text of the thermodynamic output for each time step.

    A restarted run repeats the steps between checkpoint and kill: all lines of
    a step must be equal in every digit.
    """
    number = r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?"
    steps = {}
    for line in lines:
        if re.fullmatch(rf"\s*\d+(?:\s+{number}){{5}}\s*", line):
            step = int(line.split()[0])
            assert steps.setdefault(step, line) == line, f"two kinds of {line}"
    assert any(line.startswith("Loop time of") for line in lines), "no end"
    return steps


# Results of HPC Challenge that depend on time or on the host.
_HPCC_TIMED = re.compile(
    r"_(time\d*|CheckTime|GBs|GUPs|Tflops|Gflops|usec|GBytes)$|STREAM_|_Wtick$"
)


def hpcc_summary(_lines, directory):
    """HPC Challenge: the last summary of its output file, without timings."""
    text = (Path(directory) / "hpccoutf.txt").read_text(encoding="utf-8")
    assert "FAILED" not in text
    assert re.search(r"[1-9]\d* tests completed and failed", text) is None
    summary = text.rpartition("Begin of Summary section.")[2]
    assert "End of Summary section." in summary, "no summary"
    pairs = re.findall(r"^(\w+)=(.*)$", summary, re.MULTILINE)
    return {k: v for k, v in pairs if not _HPCC_TIMED.search(k)}


@dataclass
class Program:
    """An MPI program with its arguments."""

    name: str
    argv: list
    ranks: int
    progress: str = r"^step (\d+)"  # pattern of its progress lines; may be ""
    answer: Callable = ok_line
    inputs: list = field(default_factory=list)  # copied to the directory

    def prepare(self, directory):
        """Puts the input files where the program expects them."""
        for path in self.inputs:
            shutil.copy(path, directory)


def ring(steps, ranks=2):
    """A bit of everything; about 60 us a step on 2 ranks."""
    return Program("ring", [APPS / "ring", steps], ranks)


def traffic(steps, ranks=2, stop_file=None):
    """Ranks that never pause; about 0.7 ms a step on 2 ranks."""
    argv = [APPS / "traffic", steps] + ([stop_file] if stop_file else [])
    return Program("traffic", argv, ranks)


def churn(steps, ranks=2, stop_file=None):
    """MPI objects made and freed all the time; about 0.2 ms a step."""
    argv = [APPS / "churn", steps] + ([stop_file] if stop_file else [])
    return Program("churn", argv, ranks)


def circles(steps, ranks=4, stop_file=None):
    """Communicators of overlapping groups; about 0.2 ms a step."""
    argv = [APPS / "circles", steps] + ([stop_file] if stop_file else [])
    return Program("circles", argv, ranks)


def lookout(steps, ranks=4, stop_file=None):
    """A rank that waits for shared memory without an MPI call; some ms a step."""
    argv = [APPS / "lookout", steps] + ([stop_file] if stop_file else [])
    return Program("lookout", argv, ranks)


def files(steps, ranks=2, width=16, stop_file=None):
    """MPI files rewritten and appended to all the time; about 1 ms a step. The
    largest has 800 bytes for each rank and unit of width."""
    argv = [APPS / "files", steps, width] + ([stop_file] if stop_file else [])
    return Program("files", argv, ranks)


def remote(steps, ranks=2, stop_file=None):
    """Windows of every kind, in epochs of every kind; about 0.3 ms a step."""
    argv = [APPS / "remote", steps] + ([stop_file] if stop_file else [])
    return Program("remote", argv, ranks)


def nonblocking(rounds, ranks=3, seed=1):
    """Random nonblocking collectives of ranks that drift apart; about 1 ms a
    round on 2 ranks."""
    argv = [APPS / "nonblocking", rounds, seed]
    return Program("nonblocking collectives", argv, ranks)


def events(seed, stop_file, ranks=2):
    """A random program that logs its events; about 0.5 ms an act."""
    argv = [APPS / "events/events", seed, stop_file]
    return Program("events", argv, ranks)


PATTERNS = ("independent", "ring", "all-to-all", "wildcard", "collective")


def pattern(name, rounds, ranks=2, period_us=1000, size=1024):
    """One of the PATTERNS, which the simulator also has. The line "begun" says that all of its
    channels have been used."""
    argv = [APPS / "patterns", name, rounds, period_us, size]
    return Program(name, argv, ranks)


def memory(megabytes, steps, ranks=2, pause_us=0):
    """Much memory, strided messages and collectives."""
    return Program(
        "memory", [APPS / "memory", megabytes, steps, pause_us], ranks
    )


def scattered(megabytes, steps, ranks=2, per_mille=10, pause_us=0, from_libc=0, hurry=""):
    """A few pages of much memory are written at each step; memory is mapped and unmapped. hurry: a
    file; when it exists, the pauses are skipped."""
    argv = [APPS / "scattered", megabytes, steps, per_mille, pause_us, from_libc, hurry]
    return Program("scattered", argv, ranks)


def compute(phases, millions, ranks=2):
    """Long computation while others wait; 100 millions are about 0.3 s."""
    return Program(
        "compute", [APPS / "compute", phases, millions], ranks, r"^phase (\d+)"
    )


def idle(stop_file, ranks=2):
    """Sleeps outside of MPI until the file exists."""
    return Program("idle", [APPS / "idle", stop_file], ranks, r"^tick (\d+)")


def reader(lines, pause_us=0, early=0, end=1, ranks=2):
    """Rank 0 reads numbered lines from standard input, some of them before MPI_Init."""
    return Program("reader", [APPS / "reader", lines, pause_us, early, end], ranks)


def lammps_from_input(ranks=2):
    """Debian's LAMMPS, which reads its script from standard input (inputs.stages())."""
    return Program("LAMMPS", ["lmp", "-log", "log.stages"], ranks, r"^stage (\d+)")


def ends(how, ranks=2):
    """Rank 1 ends in a wrong way: see the source."""
    return Program("ends", [APPS / "ends", how], ranks)


def threads(steps, ranks=2):
    """C++ threads compute while main does MPI; about 5 ms a step."""
    return Program("C++ threads", [APPS / "threads", steps], ranks)


def multiple(steps, ranks=2, workers=6, stop_file=None):
    """Many threads in MPI at once; about 1 ms a step."""
    argv = [APPS / "multiple", steps, workers]
    argv += [stop_file] if stop_file else []
    return Program("threads in MPI", argv, ranks)


def objects(steps, ranks=3):
    """mpi4py with numpy, pickled objects and derived datatypes."""
    argv = ["/usr/bin/python3", SOURCES / "mpi4py/objects.py", steps]
    return Program("mpi4py", argv, ranks)


def outcomes(_lines, directory):
    """mpi4py's tests: returns the outcome of each test, for each rank."""
    files = sorted(Path(directory).glob("results.*"))
    assert files, "no results"
    return {f.name: f.read_text(encoding="utf-8").splitlines() for f in files}


def mpi4py_suite(ranks=2):
    """mpi4py's own tests without spawned processes, which now and then hang with Open MPI 4.1.4
    alone."""
    argv = ["/usr/bin/python3", SOURCES / "mpi4py/suite.py"]
    argv += [BUILD / "mpi4py-3.1.4/test", "--no-builddir", "-v"]
    argv += ["-e", "spawn", "-e", "dynproc"]
    return Program("mpi4py's tests", argv, ranks, r"\.\.\. ok", outcomes)


def lammps(steps, ranks=2, every=10):
    """Debian's LAMMPS: a melt of 32,000 atoms; about 8 ms a step."""
    variables = ["-var", "steps", steps, "-var", "every", every]
    argv = ["lmp", "-log", "none", "-in", "in.melt", *variables]
    return Program(
        "LAMMPS",
        argv,
        ranks,
        r"^ +(\d+)(?: +[-.\de+]+){5} *$",
        thermo_lines,
        [SOURCES / "lammps/in.melt"],
    )


def heat(steps, ranks=2, stop_file=None):
    """Scientific Fortran with mpi_f08; about 0.2 ms a step on 2 ranks."""
    argv = [APPS / "fortran/heat", steps] + ([stop_file] if stop_file else [])
    return Program("heat", argv, ranks)


def elk_energies(_lines, directory):
    """Elk: the total energy after each step, and the last Fermi energy."""
    names = ("TOTENERGY.OUT", "EFERMI.OUT")
    return [(Path(directory) / name).read_text("utf-8") for name in names]


def elk(ranks=2):
    """Debian's Elk, in Fortran: the electrons of aluminium, to convergence."""
    inputs = [SOURCES / "elk/elk.in"]
    return Program("Elk", ["elk-lapw"], ranks, "", elk_energies, inputs)


def file_digests(patterns):
    """Returns an answer function: the content of all files that a program has written."""

    def answer(lines, directory):
        assert any(line.startswith("Loop time of") for line in lines), "no end"
        found = [path for p in patterns for path in Path(directory).glob(p)]
        assert len(found) >= len(patterns), found
        return {
            path.name: hashlib.sha256(path.read_bytes()).hexdigest()
            for path in found
        }

    return answer


class LammpsExample(Program):
    """An example input of Debian's LAMMPS with lines added around its run."""

    before: list
    after: list
    steps: int

    def prepare(self, directory):
        super().prepare(directory)
        path = Path(directory) / self.argv[-1]
        text, runs = re.subn(
            r"^run\s+\d+\n",
            "\n".join([*self.before, f"run {self.steps}", *self.after, ""]),
            path.read_text(encoding="utf-8"),
            flags=re.MULTILINE,
        )
        assert runs == 1, f"{runs} runs in {path}"
        path.write_text(text, encoding="utf-8")


def _lammps_example(name, steps, before, after, ranks):
    source = Path("/usr/share/lammps/examples") / name
    example = LammpsExample(
        f"LAMMPS {name}",
        ["lmp", "-log", "none", "-in", f"in.{name}"],
        ranks,
        r"^ *(?:-+ )?(?:Step +)?(\d+)(?: +[-.\de+]+){4,} *$|^-+ Step +(\d+)",
        file_digests(["dump.*", "restart.*", "end.*"]),
        sorted(source.iterdir()),
    )
    example.before = ["thermo 10", "thermo_modify flush yes", *before]
    example.after, example.steps = after, steps
    return example


def lammps_crack(steps, ranks=2):
    """LAMMPS' example of a crack; writes dumps and restart files by POSIX calls."""
    before = [
        "dump a all atom 40 dump.crack",
        "dump b all custom 30 dump.*.custom id type xu yu vx vy",
        "restart 50 restart.a restart.b",
    ]
    after = ["write_restart end.restart", "write_data end.data"]
    return _lammps_example("crack", steps, before, after, ranks)


def lammps_peptide(steps, ranks=2):
    """LAMMPS' example of a peptide in water; writes dumps and restart files by MPI-IO."""
    before = [
        "dump a all atom/mpiio 10 dump.peptide",
        "dump b peptide custom/mpiio 15 dump.*.custom id x y z",
        "restart 20 restart.*.mpiio",
    ]
    after = ["write_restart end.mpiio"]
    return _lammps_example("peptide", steps, before, after, ranks)


def datasets(steps, ranks=2):
    """Parallel HDF5 (h5py) with one file open all the time; about 20 ms a
    step."""
    argv = ["/usr/bin/python3", SOURCES / "hdf5/datasets.py", steps]
    return Program("HDF5", argv, ranks)


def hpcc(ranks=2):
    """Debian's HPC Challenge on a small problem."""
    return Program(
        "HPC Challenge",
        ["hpcc"],
        ranks,
        "",
        hpcc_summary,
        [SOURCES / "hpcc/hpccinf.txt"],
    )
