# SPDX-License-Identifier: BSD-3-Clause
"""`ckpt run -- ./prog`: programs without MPI, most of them Debian's, are saved several times,
killed, and restarted. Their results equal those of a run without ckpt."""

import filecmp
import os
import random
import signal
import subprocess
import sys
import time

import pytest

from ckpttest import non_mpi, processes, refusals
from ckpttest.programs import ok_line
from ckpttest.settings import APPS, TIMEOUT

# Some seconds each.
THREADED = {
    "bubble_sort": [4, 2, 60000],
    "matrix_product": [64, 2, 1600],
    "merge_sort": [16, 2, 60],
    "pattern_matching": [1, 2, 30],
    "travelling_salesman": [13, 2, 150],
}
WAYS = [
    {"CKPT_SNAPSHOT": "stop", "CKPT_CODEC": "zstd"},
    {"CKPT_SNAPSHOT": "memory", "CKPT_CODEC": "lz4", "CKPT_PROTOCOL": "cl"},
    {"CKPT_SNAPSHOT": "cll", "CKPT_CODEC": "none", "CKPT_PROTOCOL": "ns"},
]

HASHES = """
import hashlib, sys
value = b""
for i in range(int(sys.argv[1])):
    value = hashlib.sha256(value).digest()
    if i % 100000 == 0:
        print("step", i, flush=True)
print("OK", value.hex())
"""


def answer_of(*command):
    """Returns the OK line of a run without ckpt."""
    return ok_line(non_mpi.lines_of(*command), None)


@pytest.mark.parametrize(
    "name, way", [(name, WAYS[i % len(WAYS)]) for i, name in enumerate(THREADED)]
)
def test_threads(lab, name, way):
    command = [APPS / "threaded" / name, *THREADED[name]]
    job = non_mpi.start(lab, *command, **way)
    job.wait_for("^step", count=2)
    non_mpi.save_twice_and_kill(lab, job)
    assert ok_line(job.succeed(), None) == answer_of(*command)


@pytest.fixture
def text(lab):
    """A file of 24 MiB that takes some time to sort and to compress."""
    numbers = random.Random(1)
    path = lab.work / "text"
    with path.open("w", encoding="ascii") as file:
        for _ in range(900_000):
            file.write(f"{numbers.randrange(10**9)} {numbers.getrandbits(64):x}\n")
    return path


@pytest.mark.parametrize(
    "command",
    [
        "xz -T2 -1 -c text > made",
        "zstd -q -T2 -11 -f text -o made",
        "gzip -6 -c text text > made",
        "sort --parallel=2 -S 16M -k2 -o made text text text text",
        "bc -l < formula > made",
        "sqlite3 made 'create table t(a, b); with recursive c(n) as (select 1 union all "
        "select n + 1 from c where n < 2000000) insert into t select n, n * n % 1009 from "
        "c; create index i on t(b); select sum(a) from t where b = 7'",
    ],
    ids=lambda command: command.split()[0],
)
def test_of_debian(lab, text, command):
    """Each program writes a file, which is compared to the last byte."""
    made = text.parent / "made"
    (lab.work / "formula").write_text("scale=2500; 4*a(1)\n", encoding="ascii")
    subprocess.run(command, shell=True, cwd=lab.work, check=True, timeout=TIMEOUT)
    native = made.rename(lab.work / "native")
    job = non_mpi.start(lab, "sh", "-c", f"exec {command}")
    non_mpi.save_twice_and_kill(lab, job)
    job.succeed()
    assert filecmp.cmp(made, native, shallow=False)


def test_python(lab):
    command = [sys.executable, "-c", HASHES, 6_000_000]
    job = non_mpi.start(lab, *command)
    job.wait_for("^step", count=3)
    non_mpi.save_twice_and_kill(lab, job)
    assert ok_line(job.succeed(), None) == answer_of(*command)


@pytest.mark.parametrize("wrapper", [["env", "A=1"], ["nice"], ["sh", "-c", 'exec "$@"', "-"]])
def test_what_it_executes_is_the_program(lab, wrapper):
    """A program that calls execve() is followed, before a restart and after one."""
    command = [sys.executable, "-c", HASHES, 3_000_000]
    again = f"import os, sys; os.execv({str(sys.executable)!r}, {list(map(str, command))})"
    script = "import time\nprint('step', flush=True)\nfor i in range(3*10**7): pass\n" + again
    job = non_mpi.start(lab, *wrapper, sys.executable, "-c", script)
    job.wait_for("^step")
    non_mpi.save_twice_and_kill(lab, job)
    job.wait_for("^step", count=2)  # of the second program
    non_mpi.save(lab)
    non_mpi.kill(lab, job)
    job.wait_for("restart 2 of")
    assert ok_line(job.succeed(), None) == answer_of(*command)


def test_little_address_space(lab):
    """The address space suffices for the program and a moderate addition (ulimit -v) for ckpt, also
    at a restart."""
    command = [sys.executable, "-c", HASHES, 3_000_000]
    script = "for line in open('/proc/self/status'):\n    if 'VmPeak' in line: print(line)"
    (peak,) = non_mpi.lines_of(sys.executable, "-c", "import hashlib\n" + script)[:1]
    limit = (int(peak.split()[1]) << 10) + (128 << 20)
    job = non_mpi.start(lab, *command, before=["prlimit", f"--as={limit}"])
    job.wait_for("^step")
    non_mpi.save_twice_and_kill(lab, job)
    assert ok_line(job.succeed(), None) == answer_of(*command)


def test_by_hand(lab):
    """The job is saved and ended; any committed checkpoint can be restarted."""
    command = [sys.executable, "-c", HASHES, 6_000_000]
    job = non_mpi.start(lab, *command, options=["--max-restarts", "0"])
    job.wait_for("^step")
    first = non_mpi.save(lab)
    assert lab.ckpt("checkpoint", non_mpi.name(lab), "--kill").returncode == 0
    assert job.finish() != 0
    printed = lab.ckpt("restart", first, "--print").stdout
    assert "mpirun" not in printed and "ckpt-restart" in printed
    assert lab.ckpt("verify", first).returncode == 0
    expected = answer_of(*command)
    for name in (first, None):
        job = lab.restart(name)
        non_mpi.wait_until(job, lambda pid=job.pid: non_mpi.is_process(lab, pid))
        assert lab.ckpt_json("status", job.pid)[0]["job"] == non_mpi.name(lab)
        lab.checkpoint(job)
        assert ok_line(job.succeed(), None) == expected


def test_interval(lab):
    job = non_mpi.start(
        lab, sys.executable, "-c", HASHES, 6_000_000, options=["--interval", "200ms"]
    )
    non_mpi.wait_until(job, lambda: (non_mpi.status(lab) or {}).get("committed", 0) >= 2)
    non_mpi.kill(lab, job)
    job.wait_for("restart 1 of")
    job.succeed()


def test_a_lost_agent_is_replaced(lab):
    job = non_mpi.start(lab, sys.executable, "-c", HASHES, 6_000_000)
    non_mpi.process_of(lab, job)
    agent = non_mpi.status(lab)["agent_pid"]
    processes.kill(agent)
    non_mpi.wait_until(
        job, lambda: (non_mpi.status(lab) or {"agent_pid": agent})["agent_pid"] != agent
    )
    non_mpi.save_twice_and_kill(lab, job)
    job.succeed()


def test_nothing_of_ours_is_its_child(lab):
    """A child subreaper gets neither a new agent nor the frozen copies as its children."""
    script = """
import ctypes, os, time
assert ctypes.CDLL(None).prctl(36, 1, 0, 0, 0) == 0  # PR_SET_CHILD_SUBREAPER
while True:
    try:
        os.waitpid(-1, os.WNOHANG)
        print("a child", flush=True)
    except ChildProcessError:
        print("step", flush=True)
    time.sleep(0.01)
"""
    job = non_mpi.start(lab, sys.executable, "-c", script, CKPT_SNAPSHOT="cow")
    job.wait_for("^step")
    agent = non_mpi.status(lab)["agent_pid"]
    processes.kill(agent)
    non_mpi.wait_until(
        job, lambda: (non_mpi.status(lab) or {"agent_pid": agent})["agent_pid"] != agent
    )
    non_mpi.save(lab)
    non_mpi.save(lab)
    job.wait_for("^step", count=20)
    assert "a child" not in job.lines


def test_no_checkpoint_while_it_has_children(lab):
    go = lab.work / "go"
    script = f"""
import os, subprocess, time
child = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
print("step", flush=True)
while not os.path.exists({str(go)!r}): pass
child.communicate()
print("step", flush=True)
while os.path.exists({str(go)!r}): pass
print("OK")
"""
    job = non_mpi.start(lab, sys.executable, "-c", script)
    job.wait_for("^step")
    refused = lab.ckpt("checkpoint", non_mpi.name(lab))
    assert refusals.identity(refused.stderr) == "living-child" and "cat" in refused.stderr
    go.touch()
    job.wait_for("^step")
    non_mpi.save_twice_and_kill(lab, job)
    go.unlink()
    assert "OK" in job.succeed()


def test_mpi_may_come_later(lab):
    """The program is saved before MPI_Init and after it, and restarted from both."""
    script = f"""
import time
{HASHES}
from mpi4py import MPI
print("began", MPI.COMM_WORLD.allreduce(MPI.COMM_WORLD.size), flush=True)
{HASHES}
print("OK", MPI.COMM_WORLD.allgather(value.hex()))
""".replace('print("OK", value.hex())', "")
    command = [sys.executable, "-c", script, 3_000_000]
    job = non_mpi.start(lab, *command)
    job.wait_for("^step", count=3)
    non_mpi.save_twice_and_kill(lab, job)
    job.wait_for("^began 1")
    job.wait_for("^step", count=2)
    non_mpi.save(lab)
    non_mpi.kill(lab, job)
    job.wait_for("restart 2 of")
    assert ok_line(job.succeed(), None) == answer_of(*command)


@pytest.mark.parametrize("code, script", [(0, ""), (7, "import sys; sys.exit(7)"),
                                          (134, "import os; os.abort()")])
def test_exit_codes(lab, code, script):
    assert non_mpi.start(lab, sys.executable, "-c", script).finish() == code


def test_a_signal_is_the_programs(lab):
    """`ckpt run` passes the signal on, and does not restart a program that a user has ended."""
    script = """
import signal, sys
signal.signal(signal.SIGTERM, lambda *_: sys.exit(9))
print("step", flush=True)
while True: pass
"""
    job = non_mpi.start(lab, sys.executable, "-c", script)
    job.wait_for("^step")
    non_mpi.save(lab)
    job.process.send_signal(signal.SIGTERM)
    assert job.finish() == 9


DEAF = """
import ctypes, mmap, sys, threading, time
code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
code.write(bytes.fromhex("b80e000000 4989ca 0f05 c3")) # rt_sigprocmask, not by libc
address = ctypes.addressof(ctypes.c_char.from_buffer(code))
change = ctypes.CFUNCTYPE(ctypes.c_long, *[ctypes.c_long] * 4)(address)

def block():
    every = ctypes.c_uint64(2**64 - 1)
    assert change(2, ctypes.addressof(every), 0, 8) == 0

def hold(seconds):
    before = ctypes.c_uint64(0)
    change(0, 0, ctypes.addressof(before), 8)
    block()
    time.sleep(seconds)
    change(2, ctypes.addressof(before), 0, 8)
"""


@pytest.mark.parametrize("where", ["first", "other"])
def test_a_thread_that_blocks_the_signal_is_named_at_once(lab, where):
    """Otherwise the user would learn of the thread only at the checkpoint's timeout, or the other
    threads would stand still for ten seconds."""
    script = DEAF + f"""
def other():
    {'block()' if where == 'other' else 'pass'}
    while True: time.sleep(1)
threading.Thread(target=other, daemon=True).start()
time.sleep(0.1)
{'block()' if where == 'first' else 'pass'}
while True:
    print("step", flush=True)
    time.sleep(0.05)
"""
    job = non_mpi.start(lab, sys.executable, "-c", script)
    job.wait_for("^step")
    for longest in (2.5, 0.8):  # the timeout counts from the checkpoint's beginning
        begin = time.monotonic()
        refused = lab.ckpt("checkpoint", non_mpi.name(lab))
        assert refusals.identity(refused.stderr) == "signal-blocked", refused.stderr
        assert time.monotonic() - begin < longest
    job.wait_for("^step")


def test_a_thread_may_block_the_signal_for_a_moment(lab):
    """A checkpoint waits for that, in the first thread as in others."""
    script = DEAF + """
def other():
    while True:
        hold(0.3)
threading.Thread(target=other, daemon=True).start()
for i in range(20):
    print("step", i, flush=True)
    hold(0.3)
print("OK")
"""
    job = non_mpi.start(lab, sys.executable, "-c", script)
    job.wait_for("^step")
    non_mpi.save_twice_and_kill(lab, job)
    job.wait_for("^OK")


def test_threads_keep_their_ids(lab):
    """The program sees the old thread ids, and they lead to all threads."""
    script = """
import ctypes, os, signal, threading, time
libc = ctypes.CDLL(None)
here, came = [], []
signal.signal(signal.SIGUSR1, lambda *_: came.append(1))

def ids():
    return libc.gettid(), libc.syscall(186)

def work():
    first = ids()
    here.append(first[0])
    while True:
        assert ids() == first
        time.sleep(0.02)

for _ in range(2):
    threading.Thread(target=work, daemon=True).start()
while len(here) < 2:
    time.sleep(0.01)
here.append(libc.gettid())
while True:
    assert ids() == (os.getpid(), os.getpid())
    for tid in here:
        os.sched_setaffinity(tid, os.sched_getaffinity(tid))
        for send in (libc.tgkill, lambda *words: libc.syscall(234, *words)):
            count = len(came)
            assert send(os.getpid(), tid, signal.SIGUSR1) == 0
            while len(came) == count:
                time.sleep(0.001)
    later = []
    thread = threading.Thread(target=lambda: later.extend(ids()))
    thread.start()
    thread.join()
    assert later[0] == later[1] and later[0] not in here
    print("step", *here, flush=True)
    time.sleep(0.05)
"""
    job = non_mpi.start(lab, sys.executable, "-c", script)
    shown = job.wait_for(r"^step (\d+ \d+ \d+)$").group(1)
    for number in (1, 2):
        last = non_mpi.save(lab)
        non_mpi.kill(lab, job)
        job.wait_for(f"restart {number} of .* from {last}")
        job.wait_for(f"^step {shown}$", count=2)


def test_all_descriptors_may_be_in_use(lab):
    """The descriptor limit stays the program's."""
    script = """
import os, resource, time
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (60, hard))
open("written", "w").close()  # the journal begins: not with a number of the program
last = None
try:
    while True:
        last = os.open("/dev/null", os.O_RDONLY)
except OSError:
    pass
links = [os.readlink(f"/proc/self/fd/{n}") for n in range(60) if n != last]
assert not [link for link in links if "journal" in link], links
while True:
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == (60, hard)
    os.fstat(last)
    try:
        os.open("/dev/null", os.O_RDONLY)
        raise AssertionError("one more than the limit")
    except OSError:
        print("step", last, flush=True)
    time.sleep(0.02)
"""
    job = non_mpi.start(lab, sys.executable, "-c", script)
    shown = job.wait_for("^step .*$").group(0)
    for number in (1, 2):
        last = non_mpi.save(lab)
        job.wait_for("^step", count=3)  # it goes on as before
        non_mpi.kill(lab, job)
        job.wait_for(f"restart {number} of .* from {last}")
        job.wait_for(f"^{shown}$", count=3)


@pytest.mark.parametrize("snapshot, named", [("stop", False), ("cow", True), ("cll", False)])
def test_large_files_are_saved_without_a_copy(lab, snapshot, named):
    """The program has 300 MiB both open and mapped."""
    script = """
import hashlib, mmap, os, sys
size = 300 << 20
named = sys.argv[1] == "True"
flags = os.O_RDWR | os.O_CREAT
file = os.open("array", flags, 0o600) if named else os.memfd_create("array")
os.ftruncate(file, size)
block = hashlib.sha256(b"seed").digest() * (1 << 15)
memory = mmap.mmap(file, size)
for at in range(0, size, len(block)):
    memory[at:at + 40] = b"%032d" % at + block[:8]
    memory[at + 40:at + len(block)] = block[40:]
answer = hashlib.blake2b(memory).hexdigest()

def own():
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon"))

first = own()
step = 0
while True:
    assert hashlib.blake2b(memory).hexdigest() == answer
    assert os.pread(file, 32, 7 << 20) == b"%032d" % (7 << 20)
    assert own() < first + (50 << 10), (first, own())
    print("step", step, flush=True)
    step += 1
"""
    job = non_mpi.start(lab, sys.executable, "-c", script, named, CKPT_SNAPSHOT=snapshot)
    job.wait_for("^step 0$")
    non_mpi.save_twice_and_kill(lab, job)
    job.wait_for("^step", count=2)


def test_a_checkpoint_fills_no_holes(lab):
    """Shared memory that is mapped whole but hardly used stays sparse, also at a restart."""
    script = """
import mmap, os, time
size = 2 << 30
file = os.memfd_create("array")
os.ftruncate(file, size)
memory = mmap.mmap(file, size)
places = {at: bytes([at % 251]) * 5000 for at in (0, 1 << 30, (1 << 30) + 10000, size - 5000)}
for at, text in places.items():
    memory[at:at + len(text)] = text
while True:
    assert os.fstat(file).st_blocks < 1000, os.fstat(file).st_blocks
    assert all(memory[at:at + len(text)] == text for at, text in places.items())
    print("step", flush=True)
    time.sleep(0.02)
"""
    job = non_mpi.start(lab, sys.executable, "-c", script)
    job.wait_for("^step$")
    for number in (1, 2):
        last = non_mpi.save(lab)
        job.wait_for("^step$", count=3)
        non_mpi.kill(lab, job)
        job.wait_for(f"restart {number} of .* from {last}")
        job.wait_for("^step$", count=3)


def test_robust_mutexes_of_threads_that_end(lab):
    """A thread that waits for a robust mutex learns of the owner's end, also if the owner is older
    than the restart."""
    source = lab.work / "robust.c"
    program = lab.work / "robust"
    source.write_text(
        """
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static pthread_mutex_t locked, wanted;
static pthread_barrier_t ready;
static void *hold(void *unused)
{
    pthread_mutex_lock(&locked);
    pthread_barrier_wait(&ready);
    while (access("go", F_OK) != 0)
        usleep(2000);
    pthread_mutex_lock(&wanted); /* after the restart */
    return unused;
}
static void *await(void *mutex)
{
    const int error = pthread_mutex_lock(mutex);
    printf("%s\\n", error == EOWNERDEAD ? "owner died" : "wrong");
    fflush(stdout);
    pthread_mutex_consistent(mutex);
    pthread_mutex_unlock(mutex);
    return NULL;
}
int main(void)
{
    pthread_mutexattr_t robust;
    pthread_t holder, waiter;
    pthread_mutexattr_init(&robust);
    pthread_mutexattr_setrobust(&robust, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&locked, &robust);
    pthread_mutex_init(&wanted, &robust);
    pthread_barrier_init(&ready, NULL, 2);
    pthread_create(&holder, NULL, hold, NULL);
    pthread_barrier_wait(&ready);
    pthread_create(&waiter, NULL, await, &locked);
    puts("waiting");
    fflush(stdout);
    pthread_join(waiter, NULL);
    pthread_join(holder, NULL);
    await(&wanted);
    puts("OK");
    return 0;
}
""",
        encoding="ascii",
    )
    subprocess.run(["gcc", "-pthread", "-o", program, source], check=True, timeout=TIMEOUT)
    job = non_mpi.start(lab, program)
    job.wait_for("^waiting$")
    non_mpi.save_twice_and_kill(lab, job)
    (lab.work / "go").touch()
    job.wait_for("^owner died$", count=2)
    job.wait_for("^OK$")


def test_numa_policies_stay(lab):
    """The policies that the program has set for threads and memory stay."""
    script = """
import ctypes, mmap, threading, time
call = ctypes.CDLL(None, use_errno=True).syscall
call.restype = ctypes.c_long
size = ctypes.c_size_t(1 << 16)
nodes = ctypes.c_ulong(1)

def policy(address=None):
    mode, found = ctypes.c_int(), (ctypes.c_ulong * 16)()
    flags = 2 if address else 0
    assert call(239, ctypes.byref(mode), found, 1025, ctypes.c_void_p(address), flags) == 0
    return mode.value, found[0]

if call(238, 1, ctypes.byref(nodes), 64) != 0:  # prefer node 0
    print("none", flush=True)
    raise SystemExit
call(238, 0, None, 0)
states = {}

def work(number):
    if number > 0:
        assert call(238, number, ctypes.byref(nodes), 64) == 0
    while True:
        states[number] = policy()
        time.sleep(0.01)

address = call(9, None, size, 3, 0x22, -1, 0)
assert call(237, ctypes.c_void_p(address), size, 2, ctypes.byref(nodes), 64, 0) == 0
other = call(9, None, size, 3, 0x22, -1, 0)
for number in range(3):
    threading.Thread(target=work, args=(number,), daemon=True).start()
time.sleep(0.2)
while True:
    states.clear()
    while len(states) < 3:
        time.sleep(0.01)
    print("step", policy(), policy(address), sorted(states.items()), flush=True)
"""
    job = non_mpi.start(lab, sys.executable, "-c", script)
    state = job.wait_for("^(none|step .*)$").group(0)
    if state == "none":
        pytest.skip("this kernel knows no NUMA policies")
    assert state == "step (0, 0) (2, 1) [(0, (0, 0)), (1, (1, 1)), (2, (2, 1))]"
    for number in (1, 2):
        last = non_mpi.save(lab)
        non_mpi.kill(lab, job)
        job.wait_for(f"restart {number} of .* from {last}")
        assert job.wait_for("^step .*$").group(0) == state


def flags_script(body):
    """Returns a program that prints the flags of its memory."""
    return f"""
import ctypes, mmap, os, time
call = ctypes.CDLL(None, use_errno=True).syscall
call.restype = ctypes.c_long
size = 1 << 16

def flags(address):
    with open("/proc/self/smaps") as lines:
        for line in lines:
            if line.startswith(f"{{address:x}}-"):
                return next(x for x in lines if x.startswith("VmFlags:")).split()[1:]

{body}
"""


def test_random_states_are_not_the_same_again(lab):
    """libc keeps the state of getrandom() in memory that the kernel may drop."""
    script = flags_script("""
address = call(9, None, ctypes.c_size_t(size), 3, 0x28, -1, 0)
if address < 0 or "dp" not in flags(address):
    print("none", flush=True)
    raise SystemExit
ctypes.memset(address, 7, size)
while True:
    content = set(ctypes.string_at(address, size))
    kept = "dp" in flags(address) and "wf" in flags(address)
    print("step", *sorted(content), kept, flush=True)
    time.sleep(0.02)
""")
    job = non_mpi.start(lab, sys.executable, "-c", script)
    if "none" in job.wait_for("^(none|step 7 True)$").group(0):
        pytest.skip("this kernel has no such memory")
    for number in (1, 2):
        last = non_mpi.save(lab)
        non_mpi.kill(lab, job)
        job.wait_for(f"restart {number} of .* from {last}")
        job.wait_for("^step 0 True$")


def test_sealed_memory_stays_sealed(lab):
    script = flags_script("""
address = call(9, None, ctypes.c_size_t(size), 3, 0x22, -1, 0)
ctypes.memset(address, 7, size)
if call(462, ctypes.c_void_p(address), ctypes.c_size_t(size), 0) != 0:
    print("none", flush=True)
    raise SystemExit
while True:
    assert set(ctypes.string_at(address, size)) == {7}
    refused = call(10, ctypes.c_void_p(address), ctypes.c_size_t(size), 1)
    print("step", refused, ctypes.get_errno(), flush=True)
    time.sleep(0.02)
""")
    job = non_mpi.start(lab, sys.executable, "-c", script)
    if "none" in job.wait_for("^(none|step -1 1)$").group(0):
        pytest.skip("this kernel seals no memory")
    for number in (1, 2):
        last = non_mpi.save(lab)
        non_mpi.kill(lab, job)
        job.wait_for(f"restart {number} of .* from {last}")
        job.wait_for("^step -1 1$", count=2)


def test_threads_keep_processors_and_priority(lab):
    """Threads keep the settings that they made themselves, and no others."""
    script = """
import os, threading, time
all = os.sched_getaffinity(0)
states = {}

def work(number):
    tid = threading.get_native_id()
    if number > 0:
        os.sched_setaffinity(tid, {min(all) if number == 1 else max(all)})
        os.setpriority(os.PRIO_PROCESS, tid, number)
    while True:
        states[number] = min(os.sched_getaffinity(0)), len(os.sched_getaffinity(0)), (
            os.getpriority(os.PRIO_PROCESS, 0))
        time.sleep(0.01)

for number in range(3):
    threading.Thread(target=work, args=(number,), daemon=True).start()
time.sleep(0.2)
while True:
    states.clear()
    while len(states) < 3:
        time.sleep(0.01)
    print("step", len(os.sched_getaffinity(0)), sorted(states.items()), flush=True)
"""
    job = non_mpi.start(lab, sys.executable, "-c", script)
    state = job.wait_for("^step .*$").group(0)
    for number in (1, 2):
        last = non_mpi.save(lab)
        non_mpi.kill(lab, job)
        job.wait_for(f"restart {number} of .* from {last}")
        assert job.wait_for("^step .*$").group(0) == state


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to become somebody else")
def test_rights_that_were_given_up_stay_so(lab):
    """Whichever user restarts the program."""
    script = """
import ctypes, os, time
open("begun", "w").close()  # the journal is root's, and begins with this
os.setgroups([7])
os.setresgid(65534, 65534, 65534)
os.setresuid(65534, 65534, 65534)
ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)  # PR_SET_DUMPABLE
while True:
    with open("/proc/self/status") as status:
        capabilities = [line.split()[1] for line in status if line.startswith("CapEff")]
    print("step", os.getresuid(), os.getresgid(), os.getgroups(), *capabilities, flush=True)
    time.sleep(0.05)
"""
    job = non_mpi.start(lab, sys.executable, "-c", script)
    is_nobody = r"^step \(65534, 65534, 65534\) \(65534, 65534, 65534\) \[7\] 0+$"
    job.wait_for(is_nobody)
    for number in (1, 2):
        last = non_mpi.save(lab)
        non_mpi.kill(lab, job)
        job.wait_for(f"restart {number} of .* from {last}")
        job.wait_for("^step")
        job.wait_for(is_nobody, count=3)
    assert not [line for line in job.lines if line.startswith("step") and "(0," in line]


def test_a_filter_of_system_calls_is_refused(lab):
    script = """
import ctypes, struct, time
libc = ctypes.CDLL(None)
allow = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0x7fff0000), 8)
program = struct.pack("HxxxxxxQ", 1, ctypes.addressof(allow))
assert libc.prctl(38, 1, 0, 0, 0) == 0  # PR_SET_NO_NEW_PRIVS
assert libc.prctl(22, 2, program, 0, 0) == 0  # PR_SET_SECCOMP
while True:
    print("step", flush=True)
    time.sleep(0.05)
"""
    job = non_mpi.start(lab, sys.executable, "-c", script)
    job.wait_for("^step")
    refused = lab.ckpt("checkpoint", non_mpi.name(lab))
    assert refusals.identity(refused.stderr) == "other-credentials", refused.stderr
    job.wait_for("^step")


def test_streams_and_process_id(lab):
    """The program keeps its own process id. Its output is the output of `ckpt run`, whose process
    id also names the job."""
    script = "import os\np = os.getpid()\nprint('step', flush=True)\n" + HASHES + (
        "\nassert p == os.getpid()"
    )
    job = non_mpi.start(lab, sys.executable, "-c", script, 4_000_000)
    job.wait_for("^step")
    lab.checkpoint(job)
    non_mpi.save_twice_and_kill(lab, job)
    job.succeed()


@pytest.mark.parametrize("closed", ["<&-", "2>&-", "<&- 2>&-"])
def test_streams_may_be_closed(lab, closed):
    """The agent uses the descriptor numbers that are free then."""
    script = f'exec "$0" -c "$1" {closed}'
    loop = """
import os, time
while True:
    print("step", *[os.path.exists(f"/proc/self/fd/{fd}") for fd in (0, 2)], flush=True)
    time.sleep(0.05)
"""
    job = non_mpi.start(lab, "sh", "-c", script, sys.executable, loop)
    are_open = f"^step {'<' not in closed} {'2' not in closed}"
    job.wait_for(are_open)
    non_mpi.save_twice_and_kill(lab, job)
    job.wait_for(are_open)


def test_a_static_program_is_refused(lab):
    job = non_mpi.start(lab, "/sbin/ldconfig", "-p")
    assert job.finish() == 4
    assert any("statically linked" in line for line in job.lines), job.lines


def test_a_dynamic_linker_is_refused(lab):
    """`ld.so ./prog`: the user gets a message before the program starts."""
    job = non_mpi.start(lab, "/lib64/ld-linux-x86-64.so.2", "/bin/echo", "started")
    assert job.finish() == 4
    assert any("start the program itself" in line for line in job.lines), job.lines
    assert "started" not in job.lines


def test_a_program_of_musl_is_refused(lab):
    """musl is recognised by the name of its dynamic linker, which need not be installed."""
    source, path = lab.directory / "hello.c", lab.directory / "hello"
    source.write_text("int main(void) { return 0; }", encoding="utf-8")
    linker = "-Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1"
    subprocess.run(["gcc", "-o", path, source, linker], check=True)
    job = non_mpi.start(lab, path)
    assert job.finish() == 4
    assert any("linked with musl" in line for line in job.lines), job.lines


def test_preloaded_library_with_a_thread(lab):
    """The preloaded library belongs to the program, and is not loaded into the restart program (it
    may be an allocator)."""
    source, path = lab.directory / "threaded.c", lab.directory / "threaded.so"
    source.write_text(
        """
        #include <pthread.h>
        #include <unistd.h>
        static void *wait_for_ever(void *none) { pause(); return none; }
        __attribute__((constructor)) static void start(void)
        {
            pthread_t thread;
            pthread_create(&thread, NULL, wait_for_ever, NULL);
        }
        """,
        encoding="utf-8",
    )
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", path, source], check=True)
    command = [sys.executable, "-c", HASHES, 3_000_000]
    job = non_mpi.start(lab, *command, LD_PRELOAD=path)
    job.wait_for("^step", count=2)
    non_mpi.save_twice_and_kill(lab, job)
    assert ok_line(job.succeed(), None) == answer_of(*command)


def test_a_shell_is_no_rank(lab):
    """The shell gets a message, and its children are left alone."""
    job = non_mpi.start(lab, "sh", "-c", "ls -d / && echo OK")
    lines = job.succeed()
    assert "OK" in lines and "is a shell" in lines[0]
    assert lab.ckpt("status", non_mpi.name(lab)).returncode != 0
