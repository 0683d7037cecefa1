# SPDX-License-Identifier: BSD-3-Clause
"""Objects that ranks share: at the restart they are missing, or belong to another
user."""

import mmap
import os
import re
import subprocess
from pathlib import Path

import pytest

from ckpttest import non_mpi, probes


@pytest.fixture
def saved(lab):
    """Saves and kills a probe; returns its gate and its named objects."""
    gate = lab.directory / "gate"
    job = lab.start(probes.probe("shared_between_ranks", gate))
    job.wait_for("^waiting")
    lab.ckpt_json("checkpoint", job.pid, "--kill")
    job.finish()
    regions = lab.ckpt("inspect", "--rank", "0").stdout
    paths = set(re.findall(r"/dev/shm/\S*ckpt-probe-\d+\.\w+\b(?! \(del)", regions))
    assert len(paths) == 3
    yield gate, sorted(map(Path, paths))
    for path in paths:
        Path(path).unlink(missing_ok=True)


@pytest.mark.parametrize("left_over", [True, False])
def test_objects(lab, saved, left_over):
    """The restart takes over what the killed ranks left. On a node that never had the
    object, the restart makes it with its permissions."""
    gate, objects = saved
    modes = [path.stat().st_mode for path in objects]
    for path in [] if left_over else objects:
        path.unlink()
    job = lab.restart()
    job.wait_for("^waiting")
    assert [path.stat().st_mode for path in objects] == modes
    gate.touch()
    assert any(line.startswith("OK ") for line in job.succeed())


def test_object_in_use(lab, saved):
    """The restart does not overwrite memory that another process uses."""
    path = next(path for path in saved[1] if path.name.endswith("open"))
    path.unlink()
    path.write_bytes(b"mine" * 1024)
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as memory:
        job = lab.restart()
        assert job.finish() != 0
        assert any("is in the memory of process" in line for line in job.lines)
        assert memory[:] == b"mine" * 1024


# Maps a named object that others may write to, although the umask forbids that for new files, and
# closes its descriptor.
OWNER = """
import ctypes, os, sys, time
os.umask(0o022)
fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT | os.O_EXCL)
os.fchmod(fd, 0o666)
os.ftruncate(fd, 4096)
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *3 * [ctypes.c_int], ctypes.c_long]
address = libc.mmap(None, 4096, 3, 1, fd, 0)
os.close(fd)
ctypes.memmove(address, b"kept", 4)
print("runs", flush=True)
while not os.path.exists("may-end"):
    time.sleep(0.02)
print("has", ctypes.string_at(address, 4).decode())
"""


def test_mode_of_an_object_of_one_process(lab):
    """The restart makes the object again with the permissions that the process gave it."""
    path = Path(f"/dev/shm/ckpt-test-{os.getpid()}-{lab.directory.name}")
    try:
        job = non_mpi.start(lab, "/usr/bin/python3", "-c", OWNER, path)
        job.wait_for("^runs$")
        assert lab.ckpt("checkpoint", "--kill", non_mpi.name(lab)).returncode == 0
        job.finish()
        path.unlink()
        again = lab.restart(non_mpi.name(lab))
        non_mpi.wait_until(again, lambda: non_mpi.status(lab))
        assert path.stat().st_mode & 0o7777 == 0o666
        (lab.work / "may-end").touch()
        assert "has kept" in again.succeed()
    finally:
        path.unlink(missing_ok=True)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root chooses ids")
def test_queue_is_made_again(lab):
    """The queue comes back under its old id, with its messages."""
    gate = lab.directory / "gate"
    job = lab.start(probes.probe("system_v_queue", gate))
    job.wait_for("^waiting")
    keys = {0x0C4B0000 | pid & 0xFFFF for pid in job.ranks()}
    lab.checkpoint(job)
    job.kill()
    lines = Path("/proc/sysvipc/msg").read_text(encoding="ascii").splitlines()
    queues = [line.split() for line in lines[1:]]
    (number,) = [queue[1] for queue in queues if int(queue[0]) in keys]
    subprocess.run(["ipcrm", "-q", number], check=True)
    job = lab.restart()
    job.wait_for("^waiting")
    gate.touch()
    assert any(line.startswith("OK ") for line in job.succeed())
