# SPDX-License-Identifier: BSD-3-Clause
"""`ckpt run -n RANKS PROGRAM`: ckpt starts the ranks of a job itself."""

import contextlib
import os
import signal
import sys
import time
from pathlib import Path

import pytest

from ckpttest import non_mpi, processes, programs, replays, windows
from ckpttest.lab import POLL, Lab
from ckpttest.mpis import MPICH, OPENMPI4, OPENMPI5
from ckpttest.settings import APPS, TIMEOUT

MPIS = [mpi for mpi in (OPENMPI4, OPENMPI5, MPICH) if mpi.installed]
RANKS = 3


@pytest.fixture(name="lab", params=MPIS, ids=lambda mpi: mpi.name)
def lab_with_library(request, tmp_path):
    """A lab whose jobs run over a library that no launcher names; native runs use an mpirun of
    Open MPI."""
    mpi = OPENMPI4 if request.param is MPICH else request.param
    settings = mpi.settings()
    if request.param is MPICH:
        settings["CKPT_LIBMPI"] = f"{MPICH.prefix}/lib/libmpi.so.12"
    elif mpi.prefix:
        settings["CKPT_LIBMPI"] = f"{mpi.prefix}/lib/libmpi.so.40"
        settings["OPAL_PREFIX"] = mpi.prefix
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    lab = Lab(tmp_path, mpi.mpirun, TMPDIR=str(temporary), **settings)
    lab.seen = set(leftovers(temporary))
    lab.other_launcher = request.param.mpirun
    yield lab
    lab.close()


def leftovers(temporary):
    """Returns files of launches outside of the jobs' directories that no process maps."""
    maps = ""
    for path in Path("/proc").glob("[0-9]*/maps"):
        with contextlib.suppress(OSError):  # the process has ended
            maps += path.read_text(encoding="utf-8", errors="replace")
    shared = [str(path) for path in Path("/dev/shm").glob("*_segment.*")]
    return [path for path in shared if path not in maps] + [
        str(path) for path in temporary.iterdir()
    ]


def is_clean(lab):
    """Whether this launch has left nothing. Segments of jobs that other tests have just killed
    disappear in a moment."""
    deadline = time.monotonic() + TIMEOUT
    while not (clean := set(leftovers(lab.directory / "tmp")) <= lab.seen):
        if time.monotonic() > deadline:
            break
        time.sleep(POLL)
    return clean


def start(lab, *command, options=(), ranks=RANKS):
    """Starts `ckpt run -n RANKS command`."""
    return non_mpi.start(lab, *command, options=["-n", ranks, *options])


def nobody_is_left(lab, job):
    """Whether all processes of the launch end; the agent does so a moment later."""
    started = processes.started_with("CKPT_DIR", lab.environment()["CKPT_DIR"])
    return processes.wait_until_gone([pid for pid in started if pid != job.pid], TIMEOUT)


def rank_processes(lab, job):
    """Returns the process ids of the ranks."""
    found = non_mpi.wait_until(job, lambda: non_mpi.status(lab))
    return [rank["pid"] for rank in found["ranks"]]


def process_named(job, name):
    """Returns the process id of the one process of the job with this name."""
    (found,) = [pid for pid in processes.descendants(job.pid) if processes.name_of(pid) == name]
    return found


def test_every_rank_runs_once_with_its_variables(lab):
    """Programs and scripts use the variables of the library's own launcher. What follows the
    program belongs to it."""
    variables = ("PMI_RANK", "PMI_SIZE")
    if "mpich" not in lab.environment().get("CKPT_LIBMPI", ""):
        variables = ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE")
    script = 'echo "${} of ${}: $1 $2"; test $# = 2'.format(*variables)
    job = start(lab, "sh", "-c", script, "sh", "-n", "7")
    assert job.finish() == 0, job.lines
    said = sorted(line for line in job.lines if " of " in line)
    assert said == [f"{rank} of {RANKS}: -n 7" for rank in range(RANKS)]


def test_ranks_are_bound_as_requested(lab):
    """To processors that the launch may use; by default as mpirun does."""
    allowed = sorted(os.sched_getaffinity(0))
    if len(allowed) < 2:
        pytest.skip("there is one processor")
    show = [sys.executable, "-c", "import os; print('on', *sorted(os.sched_getaffinity(0)))"]
    for what, unbound in ("none", True), ("core", False), ("", False):
        options = ["--bind-to", what] if what else []
        job = start(lab, *show, options=options, ranks=2)
        assert job.finish() == 0, job.lines
        sets = [set(map(int, line.split()[1:])) for line in job.lines if line.startswith("on ")]
        assert len(sets) == 2 and set.union(*sets) <= set(allowed)
        assert (sets[0] & sets[1] == set(allowed)) == unbound
        assert bool(sets[0] & sets[1]) == unbound
    job = start(lab, *show, ranks=4 * len(allowed))
    assert job.finish() == 0, job.lines
    assert all(line == " ".join(map(str, ["on", *allowed])) for line in job.lines)


YIELDS = """
from ctypes import CDLL, byref, c_bool, c_int, c_void_p, RTLD_GLOBAL
mpi = CDLL("libmpi.so.40", RTLD_GLOBAL)
mpi.MPI_Init(None, None)
level, index, count, handle, value = (c_int(), c_int(), c_int(), c_void_p(), c_bool())
assert mpi.MPI_T_init_thread(0, byref(level)) == 0
assert mpi.MPI_T_cvar_get_index(b"mpi_yield_when_idle", byref(index)) == 0
assert mpi.MPI_T_cvar_handle_alloc(index, None, byref(handle), byref(count)) == 0
assert mpi.MPI_T_cvar_read(handle, byref(value)) == 0
print("yields", int(value.value))
mpi.MPI_Finalize()
"""


def test_ranks_that_share_processors_yield_them(lab):
    """Open MPI does so if its launcher says that there are too few."""
    if "mpich" in lab.environment().get("CKPT_LIBMPI", ""):
        pytest.skip("MPICH has no such setting")
    allowed = len(os.sched_getaffinity(0))
    for ranks, yields in (1, 0), (allowed + 1, 1):
        job = start(lab, sys.executable, "-c", YIELDS, ranks=ranks)
        assert job.finish() == 0, job.lines
        assert [line for line in job.lines if "yields" in line] == [f"yields {yields}"] * ranks


def test_dashes_may_be_left_out(lab):
    """With -n it is clear where the program begins."""
    done = lab.ckpt("run", "-n", 2, "--name", non_mpi.name(lab), "echo", "-n", "word--")
    assert (done.returncode, done.stdout) == (0, "word--word--"), done
    done = lab.ckpt("run", "-n", 2, "--nothing", "echo")
    assert done.returncode == 2 and "no option --nothing" in done.stderr, done


def test_other_launchers_are_refused(lab):
    done = lab.ckpt("run", "-n", 2, "--", "mpirun", "-n", 2, "true")
    assert done.returncode == 2 and "-n starts the ranks itself" in done.stderr, done


@pytest.mark.parametrize(
    "how, code, text",
    [
        ("killed", 137, "was ended by signal 9"),
        ("exit", 3, "ended with code 3"),
        ("abort", 5, "has called MPI_Abort with code 5"),
        ("finalized", 4, "ended with code 4"),
        ("unfinalized", 1, "ended without MPI_Finalize"),
    ],
)
def test_the_first_failure_ends_the_launch(lab, how, code, text):
    """The exit code is that of the rank. Nothing is left."""
    job = start(lab, APPS / "ends", how, options=["--max-restarts", 0, "--no-fresh-start"])
    assert job.finish() == code, job.lines
    assert [line for line in job.lines if "rank 1 " in line and text in line], job.lines
    assert nobody_is_left(lab, job)
    assert is_clean(lab)


@pytest.mark.parametrize("how, code", [("killed", 137), ("abort", 5), ("unfinalized", 1)])
def test_ranks_are_ended_that_ckpt_launch_lets_go_on(lab, how, code):
    """No rank can be replayed; so `ckpt run` ends the others, with the same code."""
    options = ["--max-restarts", 0, "--no-fresh-start", "--protocol", "independent"]
    job = start(lab, APPS / "ends", how, options=options)
    assert job.finish() == code, job.lines
    assert not [line for line in job.lines if "the other ranks are ended" in line], job.lines
    assert nobody_is_left(lab, job)
    assert is_clean(lab)


def test_a_missing_program_is_named(lab):
    job = start(lab, lab.work / "missing")
    assert job.finish() != 0
    assert [line for line in job.lines if "missing" in line], job.lines
    assert is_clean(lab)


@pytest.mark.parametrize("victim", ["rank", "launcher"])
def test_a_killed_job_comes_back(lab, victim):
    """It is restarted from its checkpoint, without mpirun. When the launcher is killed, its ranks
    run on, and must end before others take their place."""
    stop = lab.work / "stop"
    program = programs.traffic(0, RANKS, stop)
    job = start(lab, *program.argv)
    job.wait_for(program.progress)
    ranks = rank_processes(lab, job)
    non_mpi.save(lab)
    if victim == "rank":
        processes.kill(ranks[1])
    else:
        processes.kill(process_named(job, "ckpt-launch"))
    assert processes.wait_until_gone(ranks, TIMEOUT)
    job.wait_for("restart 1 of")
    job.wait_for(program.progress)
    stop.touch()
    job.succeed()
    assert [line for line in job.lines if line.startswith("OK")], job.lines
    assert not [pid for pid in ranks if processes.is_alive(pid)]


def test_ranks_run_on_without_their_server(lab):
    """ckpt-world is needed to begin and to end; a checkpoint does not need it."""
    stop = lab.work / "stop"
    program = programs.traffic(0, RANKS, stop)
    job = start(lab, *program.argv)
    job.wait_for(program.progress)
    processes.kill(process_named(job, "ckpt-world"))
    job.wait_for("ckpt-world has ended; the ranks run on")
    non_mpi.save(lab)
    stop.touch()
    job.succeed()
    assert [line for line in job.lines if line.startswith("OK")], job.lines


def test_a_signal_ends_all(lab):
    """The launch ends by the signal's code, and is not restarted."""
    program = programs.traffic(0, RANKS, lab.work / "stop")
    job = start(lab, *program.argv)
    job.wait_for(program.progress)
    ranks = rank_processes(lab, job)
    os.kill(job.pid, signal.SIGTERM)
    assert job.finish() == 128 + signal.SIGTERM
    assert processes.wait_until_gone(ranks, TIMEOUT)
    assert nobody_is_left(lab, job)
    assert is_clean(lab)


def test_ranks_that_ignore_the_end_are_killed(lab):
    job = start(lab, "sh", "-c", "trap '' TERM; echo ready; while :; do sleep 0.1; done")
    job.wait_for("ready", count=RANKS)
    started = time.monotonic()
    os.kill(job.pid, signal.SIGTERM)
    assert job.finish() == 128 + signal.SIGTERM
    assert time.monotonic() - started < TIMEOUT
    assert nobody_is_left(lab, job)


def test_a_dead_rank_is_replayed(lab, tmp_path):
    """The others go on from where they were: ckpt-launch ends none before it is saved."""
    size = ("uneven", 2500, 1000)
    (way, *_) = windows.WAYS["uneven"]
    roll_back = replays.RollBack(
        lab, non_mpi.name(lab), (*size, way), RANKS, without_mpirun=True
    )
    roll_back.job.wait_for("^step ")
    ranks = {}

    def all_can_be_replayed():
        found = non_mpi.status(lab)
        ranks.update({rank["rank"]: rank["pid"] for rank in (found or {"ranks": []})["ranks"]})
        return found and replays.is_replayable(found, RANKS)

    non_mpi.wait_until(roll_back.job, all_can_be_replayed)
    processes.kill(ranks[1])
    roll_back.finish(1, windows.result_in_one_rank(tmp_path / "one", *size, way))
    assert nobody_is_left(lab, roll_back.job)
    assert is_clean(lab)


def test_swapped_out_and_back(lab):
    stop = lab.work / "stop"
    program = programs.traffic(0, RANKS, stop)
    job = start(lab, *program.argv)
    job.wait_for(program.progress)
    before = rank_processes(lab, job)
    assert lab.ckpt("swap", non_mpi.name(lab)).returncode == 0
    assert nobody_is_left(lab, job)
    assert lab.ckpt("resume", non_mpi.name(lab)).returncode == 0
    assert set(rank_processes(lab, job)).isdisjoint(before)
    stop.touch()
    lines = job.succeed()
    assert [line for line in lines if line.startswith("OK")], lines


def test_a_checkpoint_restarts_under_either_launcher(lab):
    """The recorded launcher is the default; another one takes over its options."""
    program = programs.traffic(0, RANKS, lab.work / "stop")
    job = start(lab, *program.argv, options=["--max-restarts", 0])
    job.wait_for(program.progress)
    assert lab.ckpt("checkpoint", "--kill", non_mpi.name(lab)).returncode == 0
    job.finish()
    (lab.work / "stop").touch()
    for options in ([], ["--mpirun", lab.other_launcher]):
        again = lab.ckpt("restart", non_mpi.name(lab), *options, timeout=3 * TIMEOUT)
        lines = again.stdout.splitlines()
        assert again.returncode == 0, again
        assert [line for line in lines if line.startswith("OK")], again


def test_input_goes_to_rank_0(lab, tmp_path):
    """Each line once, also over a restart."""
    count = 400
    text = tmp_path / "input"
    text.write_text("".join(f"{line} words\n" for line in range(count)))
    program = [APPS / "reader", count, 3000]
    command = [lab.ckpt_program, "run", "-n", RANKS, "--name", non_mpi.name(lab), "--", *program]
    with text.open("rb") as source:
        job = lab._start(command, {}, source)  # pylint: disable=protected-access
        job.wait_for(r"^step 100\b")
        ranks = rank_processes(lab, job)
        non_mpi.save(lab)
        job.wait_for(r"^step 150\b")
        processes.kill(ranks[1])
        lines = job.succeed(3 * TIMEOUT)
    assert [line for line in lines if line.startswith("OK")], lines
