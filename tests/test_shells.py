# SPDX-License-Identifier: BSD-3-Clause
"""A rank becomes a shell at the order of a stand-in agent (ckpttest/stand_in_agent.py): nothing is
left of it but a process for its launcher, which ends as the agent says."""

import ctypes
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

from ckpttest import mpis, processes, stand_in_agent
from ckpttest.job import Job
from ckpttest.settings import APPS, INSTALL, TIMEOUT, environment

LIBRARIES = INSTALL / "lib/ckpt"
RESIDENT = 2 << 20  # bytes: what a shell may use
MIB = 500
# The launcher says nothing, and goes on if a rank dies.
QUIET = {
    "OMPI_MCA_orte_enable_recovery": 1,
    "PRTE_MCA_state_base_recoverable": 1,
    "PRTE_ALLOW_RUN_AS_ROOT": 1,
    "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": 1,
}
# PMIx 4.2 in mpirun 4.1, if a client ends without PMIx_Finalize while others are connected.
COMPLAINT = re.compile(r"PMIX ERROR: BAD-PARAM in file .*pmix_event_notification")


class Place:
    """A directory with a job whose agent is the stand-in."""

    def __init__(self, directory, mpi):
        self.directory, self.mpi = directory, mpi
        self.file = directory / "file"
        self.orders = directory / "orders"
        self.job = None
        self.segments = set()  # in /dev/shm, of the ranks
        self.left = []  # processes that the launcher does not end
        libraries = stand_in_agent.install(directory / "lib", LIBRARIES)
        (directory / "run").mkdir(mode=0o700)
        self.settings = {
            **QUIET,
            "CKPT_LIBDIR": libraries,
            "CKPT_RUN_DIR": directory / "run",
            "CKPT_STAND_IN": self.orders,
            "CKPT_DIR": directory / "checkpoints",
            "OMPI_MCA_orte_tmpdir_base": directory,
            "PRTE_MCA_prte_tmpdir_base": directory,
        }

    def command(self, ranks):
        """The launcher with its options."""
        preload = LIBRARIES / "libckpt-mpi.so"
        if self.mpi is mpis.MPICH:  # it would end the others after the first end
            return ["-disable-auto-cleanup", "-genv", "LD_PRELOAD", preload, "-n", ranks]
        return ["--oversubscribe", "-np", ranks, "-x", f"LD_PRELOAD={preload}"]

    def start(self, where, ranks=2, stdin=subprocess.DEVNULL):
        """Starts the ranks; returns when all are at that place."""
        program = [APPS / "relieved/relieved", where, self.file, MIB]
        command = [self.mpi.mpirun, *self.command(ranks), *program]
        settings = environment(**{**self.settings, **self.mpi.settings()})
        self.job = Job(command, self.directory, settings, stdin)
        self.job.wait_for("^ready", count=ranks)
        self.left = self.job.ranks()
        self.segments = set().union(*map(processes.shared_memory_of, self.left))

    def become_shells(self, **how):
        """Orders it, and checks what is left of each rank. Returns the answer."""
        answer = stand_in_agent.become_shells(self.orders, **how)
        assert "error" not in answer, answer
        assert answer["refused"] == {} and answer["shells"], answer
        self.left.append(answer["agent"])
        for pid, resident, _ in answer["shells"].values():
            check_shell(pid, answer["agent"])
            assert 0 < resident < RESIDENT, answer
        return answer

    def end(self, code):
        """Ends the shells. Returns the launcher's exit code and what it has said."""
        before = len(self.job.lines)
        stand_in_agent.end_shells(self.orders, code)
        result = self.job.finish()
        return result, [line for line in self.job.lines[before:] if not COMPLAINT.search(line)]

    def close(self):
        for pid in self.left:
            processes.kill(pid)
        if self.job is not None:
            self.job.kill()


def check_shell(pid, agent):
    """Whether nothing is left of a rank."""
    process = Path("/proc") / str(pid)
    status = (process / "status").read_text(encoding="utf-8")
    maps = (process / "maps").read_text(encoding="utf-8")
    assert processes.name_of(pid) == "ckpt-shell"
    assert "Threads:\t1\n" in status
    assert int(re.search(r"VmRSS:\s+(\d+) kB", status)[1]) << 10 < RESIDENT, status
    assert "libmpi" not in maps and "[heap]" not in maps, maps
    open_files = {}
    for fd in os.listdir(process / "fd"):
        open_files[int(fd)] = os.readlink(process / "fd" / fd)
    others = {fd: name for fd, name in open_files.items() if fd > 2}
    allowed = re.compile(r"socket:|anon_inode:\[(pidfd|signalfd)\]")
    strange = [name for name in others.values() if not allowed.match(name)]
    assert not strange, open_files
    assert len(others) <= 6, open_files  # agent, launcher, two processes, signals
    assert processes.is_alive(agent)


OPEN_MPI = [
    pytest.param(mpi, id=mpi.name, marks=pytest.mark.skipif(not mpi.installed, reason="not here"))
    for mpi in (mpis.OPENMPI4, mpis.OPENMPI5)
]
ALL = [
    *OPEN_MPI,
    pytest.param(
        mpis.MPICH,
        id="mpich",
        marks=pytest.mark.skipif(not mpis.MPICH.installed, reason="not here"),
    ),
]


@pytest.fixture
def make(tmp_path):
    """Makes a Place for an MPI library."""
    places = []

    def place(mpi=mpis.OPENMPI4):
        places.append(Place(tmp_path, mpi))
        return places[-1]

    yield place
    for one in places:
        one.close()


@pytest.mark.parametrize("mpi", ALL)
def test_ranks_become_shells_and_end(make, mpi):
    """The launcher is content, and no segment of the ranks is left."""
    place = make(mpi)
    place.start("compute")
    place.become_shells()
    assert place.end(0) == (0, [])
    assert not [path for path in place.segments if os.path.exists(path)]


@pytest.mark.parametrize("mpi", OPEN_MPI)
@pytest.mark.parametrize("where", ["allocate", "receive", "barrier", "duplicate", "threads"])
def test_ranks_obey_wherever_they_are(make, mpi, where):
    place = make(mpi)
    place.start(where)
    place.become_shells()
    assert place.end(0) == (0, [])


@pytest.mark.parametrize("prepare", ["request", "stop", "save"])
def test_ranks_obey_in_the_middle_of_a_checkpoint(make, prepare):
    place = make()
    place.start("compute")
    place.become_shells(prepare=prepare)
    assert place.end(0) == (0, [])


@pytest.mark.parametrize("prepare", ["run", "request"])
def test_ranks_obey_after_their_mpi(make, prepare):
    """They read no other message any more: the order may stand behind one."""
    place = make()
    place.start("finalized")
    place.become_shells(prepare=prepare)
    assert place.end(0)[0] == 0


@pytest.mark.parametrize("mpi", OPEN_MPI)
@pytest.mark.parametrize("where", ["receive", "barrier", "duplicate"])
def test_rank_whose_peer_is_dead_obeys(make, mpi, where):
    place = make(mpi)
    place.start(where)
    victim = rank_of(place, 1)
    processes.kill(victim)
    assert processes.wait_until_gone([victim], TIMEOUT)
    answer = place.become_shells()
    assert set(answer["shells"]) == {"0"}
    code, said = place.end(0)
    assert code in (0, 128 + signal.SIGKILL), said  # of the dead rank; 4.1 says 0


def rank_of(place, number):
    """The process of a rank."""
    name = b"PMIX_RANK=%d" % number
    (pid,) = (p for p in place.left if name in processes.environment_of(p).split(b"\0"))
    return pid


@pytest.mark.parametrize("mpi", OPEN_MPI)
def test_memory_is_given_back(make, mpi):
    place = make(mpi)
    place.start("memory")
    before = [resident_of(pid) for pid in place.left]
    assert min(before) > MIB << 20
    answer = place.become_shells()
    print("milliseconds:", [round(ms, 1) for *_, ms in answer["shells"].values()])
    assert place.end(0) == (0, [])


def resident_of(pid):
    """Bytes of memory that a process uses."""
    pages = Path(f"/proc/{pid}/statm").read_text(encoding="utf-8").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def test_no_thread_writes_any_more_and_children_live(make):
    place = make()
    place.start("write")
    files = [Path(f"{place.file}.{rank}") for rank in range(2)]
    of_children = [Path(f"{path}.child") for path in files]
    wait_until(lambda: all(path.exists() and path.stat().st_size for path in files + of_children))
    children = [pid for rank in place.left for pid in processes.descendants(rank)]
    place.left += children
    place.become_shells()
    sizes = [path.stat().st_size for path in files]
    of_children_then = [path.stat().st_size for path in of_children]
    both = list(zip(of_children, of_children_then, strict=True))
    wait_until(lambda: all(path.stat().st_size > before for path, before in both))
    assert [path.stat().st_size for path in files] == sizes
    for pid in children:  # they have the launcher's pipes
        processes.kill(pid)
    assert place.end(0) == (0, [])


def wait_until(holds):
    """Waits until it is so."""
    end = time.monotonic() + TIMEOUT
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_locks_are_released(make):
    """Also one on standard input, which stays open."""
    place = make()
    place.start("lock")
    inodes = [Path(f"{place.file}.{r}{e}").stat().st_ino for r in range(2) for e in ("", ".input")]
    assert sorted(locked_of(inodes)) == sorted(inodes)
    place.become_shells()
    assert locked_of(inodes) == []
    assert place.end(0) == (0, [])


def locked_of(inodes):
    """Those that have a lock."""
    lines = Path("/proc/locks").read_text(encoding="utf-8").splitlines()
    locked = [int(line.split()[5].rpartition(":")[2]) for line in lines]
    return [inode for inode in inodes if inode in locked]


def test_timers_and_semaphores_have_no_effect_later(make):
    """The semaphore is adjusted before the answer, not when the shell ends: then it is in use by
    the process that has taken the place."""
    place = make()
    place.start("timers", ranks=1)
    number = int(Path(f"{place.file}.0").read_text(encoding="utf-8"))
    try:
        assert semaphore(number) == 5
        answer = place.become_shells()
        assert semaphore(number) == 0
        ((pid, *_),) = answer["shells"].values()
        status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
        pending = int(re.search(r"ShdPnd:\s+(\w+)", status)[1], 16)
        seconds = processes.seconds_of(pid)
        time.sleep(0.2)  # many periods of each timer: what a test of absence can do
        assert processes.seconds_of(pid) == seconds
        status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
        later = int(re.search(r"ShdPnd:\s+(\w+)", status)[1], 16)
        assert later & ~pending == 0  # the shell may just have been about to drop one
        assert place.end(0) == (0, [])
    finally:
        subprocess.run(["ipcrm", "-s", str(number)], check=True)


def semaphore(number):
    """The value of the first semaphore of a set."""
    return ctypes.CDLL(None).semctl(number, 0, 12, 0)  # GETVAL


def test_input_of_rank_0_stays_open(make):
    place = make()
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as feeder:
        place.start("compute", stdin=feeder.stdout)
        answer = place.become_shells()
        pid = answer["shells"]["0"][0]
        feeder.stdin.write(b"a line\n")
        feeder.stdin.flush()
        with open(f"/proc/{pid}/fd/0", "rb", buffering=0) as stream:
            assert stream.readline() == b"a line\n"
        feeder.stdin.close()
        assert place.end(0) == (0, [])


@pytest.mark.parametrize("mpi", ALL)
def test_another_process_can_have_the_streams(make, mpi):
    """The launcher forwards what it writes, and gives it the input of rank 0."""
    place = make(mpi)
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as feeder:
        place.start("compute", stdin=feeder.stdout)
        shells = place.become_shells()["shells"]
        for rank, (pid, *_) in shells.items():
            for number in (1, 2):
                with os.fdopen(copy_of_descriptor(pid, number), "w") as stream:
                    stream.write(f"line {number} of {rank}\n")
        place.job.wait_for("^line [12] of [01]$", count=4)
        feeder.stdin.write(b"input\n")
        feeder.stdin.flush()
        with os.fdopen(copy_of_descriptor(shells["0"][0], 0), "rb", buffering=0) as stream:
            assert stream.readline() == b"input\n"
        feeder.stdin.close()
        assert place.end(0) == (0, [])


def copy_of_descriptor(pid, number):
    """A descriptor of this process for the same open file (pidfd_getfd)."""
    process = os.pidfd_open(pid)
    copy = ctypes.CDLL(None, use_errno=True).syscall(438, process, number, 0)
    os.close(process)
    assert copy >= 0, os.strerror(ctypes.get_errno())
    return copy


@pytest.mark.parametrize("mpi", OPEN_MPI)
def test_exit_code_reaches_the_launcher(make, mpi):
    """4.1 hides it if the job may recover."""
    place = make(mpi)
    place.start("compute")
    place.become_shells()
    assert place.end(7) == (7 if mpi is mpis.OPENMPI5 else 0, [])


def test_deaf_rank_does_not_answer(make):
    """The agent sets a limit."""
    place = make()
    place.start("deaf", ranks=1)
    answer = stand_in_agent.become_shells(place.orders, seconds=2)
    assert "no {19, 7}" in answer["error"] or "no {7, 19}" in answer["error"], answer


def test_rank_that_cannot_become_a_shell_refuses(make):
    """It runs on, until its agent ends it."""
    place = make()
    (place.directory / "lib" / "ckpt-shell").unlink()
    place.start("compute", ranks=1)
    answer = stand_in_agent.become_shells(place.orders)
    assert answer["shells"] == {}
    assert "lib/ckpt-shell cannot be executed (error 2)" in answer["refused"]["0"]
    assert processes.is_alive(rank_of(place, 0))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signal_of_the_launcher_ends_a_shell(make, number):
    place = make()
    place.start("compute", ranks=1)
    ((pid, *_),) = place.become_shells()["shells"].values()
    os.kill(pid, number)
    assert processes.wait_until_gone([pid], TIMEOUT)
    place.job.finish()


def test_other_signals_of_the_launcher_reach_the_successor(make):
    place = make()
    place.start("compute", ranks=1)
    with subprocess.Popen(["sleep", str(TIMEOUT)]) as successor:
        answer = place.become_shells(successor=successor.pid)
        ((shell, *_),) = answer["shells"].values()
        os.kill(shell, signal.SIGUSR1)
        assert successor.wait(TIMEOUT) == -signal.SIGUSR1
    assert place.end(0) == (0, [])


@pytest.mark.parametrize("mpi", OPEN_MPI)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_shells_end_with_their_launcher(make, mpi, number):
    place = make(mpi)
    place.start("compute")
    shells = [pid for pid, *_ in place.become_shells()["shells"].values()]
    os.kill(place.job.pid, number)
    place.job.finish()
    assert processes.wait_until_gone(shells, TIMEOUT)


def test_shells_outlive_their_agent(make):
    """They find the next one, which names another successor and ends them."""
    place = make()
    place.start("compute")
    with subprocess.Popen(["sleep", "1000"]) as successor:
        answer = place.become_shells(successor=successor.pid)
        shells = [pid for pid, *_ in answer["shells"].values()]
        with replaced_agent(place, answer["agent"]):
            again = place.become_shells(successor=os.getpid())
            assert sorted(pid for pid, *_ in again["shells"].values()) == sorted(shells)
            successor.kill()
            assert place.end(0) == (0, [])


def replaced_agent(place, old):
    """Kills the agent, and starts another one; returns when all shells have found it."""
    words = Path(f"/proc/{old}/cmdline").read_bytes().split(b"\0")
    namespace = words[words.index(b"--namespace") + 1].decode()
    processes.kill(old)
    assert processes.wait_until_gone([old], TIMEOUT)
    command = [place.directory / "lib/ckptd", "--namespace", namespace]
    settings = environment(**place.settings)
    process = subprocess.Popen(  # the shell moves the pipe to where the agent expects it
        ["sh", "-c", 'exec "$@" 3>&1 >&2', "sh", *command], env=settings, stdout=subprocess.PIPE
    )
    assert process.stdout.read(1) == b"r"
    wait_until(lambda: stand_in_agent.connected(place.orders) == 2)
    return process


def test_shell_ends_if_nobody_can_say_how(make):
    """Its agent has died, and so does the process that has taken its place."""
    place = make()
    place.start("compute", ranks=1)
    with subprocess.Popen(["sleep", "1000"]) as successor:
        answer = place.become_shells(successor=successor.pid)
        ((pid, *_),) = answer["shells"].values()
        processes.kill(answer["agent"])
        assert processes.wait_until_gone([answer["agent"]], TIMEOUT)
        assert processes.is_alive(pid)
        successor.kill()
    assert processes.wait_until_gone([pid], TIMEOUT)
    place.job.wait_for("rank 0: the process that took its place has ended, .* code is unknown")
    place.job.finish()
