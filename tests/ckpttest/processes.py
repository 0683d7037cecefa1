# SPDX-License-Identifier: BSD-3-Clause
"""processes.py - the processes of a job, as /proc shows them."""

import contextlib
import os
import select
import signal
from pathlib import Path


def _stat_fields(pid):
    """Returns the fields of /proc/PID/stat after the name, or None if the process is gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return None
    return text.rpartition(")")[2].split()


def is_alive(pid):
    """Returns False if the process does not exist or is a zombie."""
    fields = _stat_fields(pid)
    return fields is not None and fields[0] not in "ZX"


def is_stopped(pid):
    """Whether SIGSTOP has stopped the process; also true if the process is gone."""
    fields = _stat_fields(pid)
    return fields is None or fields[0] in "TZX"


def waits_for_lock(pid):
    """Whether the process waits for a lock of a file."""
    lines = Path("/proc/locks").read_text(encoding="utf-8").splitlines()
    return any(str(pid) in fields for fields in map(str.split, lines) if "->" in fields)


def name_of(pid):
    """Returns the short name of a process, empty if the process is gone."""
    try:
        return Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").strip()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def seconds_of(pid):
    """Returns the processor time of a process in seconds, 0 if the process is gone."""
    fields = _stat_fields(pid) or ["0"] * 13
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def environment_of(pid):
    """Returns the initial environment of a process, as the kernel has it; empty if the process is
    gone."""
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return b""


def started_with(name, value):
    """Returns the process ids of all other processes whose initial environment has this variable
    with this value."""
    setting = os.fsencode(f"{name}={value}")
    found = [int(entry) for entry in os.listdir("/proc") if entry.isdigit()]
    return [
        pid
        for pid in found
        if pid != os.getpid() and setting in environment_of(pid).split(b"\0")
    ]


def named(name):
    """Returns the process ids of all processes with a short name."""
    found = [int(entry) for entry in os.listdir("/proc") if entry.isdigit()]
    return [pid for pid in found if name_of(pid) == name]


def descendants(pid):
    """Returns all processes below `pid`, children before grandchildren."""
    children = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            fields = _stat_fields(entry)
            if fields is not None:
                children.setdefault(int(fields[1]), []).append(int(entry))
    found, queue = [], [pid]
    while queue:
        below = children.get(queue.pop(0), [])
        found += below
        queue += below
    return found


def ranks_of(launcher):
    """Returns the process ids of the MPI ranks that an mpirun has started here."""
    return [p for p in descendants(launcher) if name_of(p) not in ("ckptd", "ckpt-stdin")]


def rank_page_of(pid):
    """Returns the mapping of the page that a rank shares with its agent: "START-END"."""
    maps = Path(f"/proc/{pid}/maps").read_text(encoding="utf-8")
    (line,) = (line for line in maps.splitlines() if "memfd:ckpt-rank-page" in line)
    return line.split()[0]


def frozen_copies(directory):
    """Returns the frozen copies of ranks that work in a directory; agents read these copies instead
    of the ranks."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit() and name_of(entry) == "ckpt-copy" and is_alive(entry):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                if os.path.samefile(f"/proc/{entry}/cwd", directory):
                    found.append(int(entry))
    return found


def shared_memory_of(pid):
    """Returns the files in /dev/shm that a process has mapped."""
    try:
        maps = Path(f"/proc/{pid}/maps").read_text(encoding="utf-8", errors="surrogateescape")
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return set()
    words = (line.split(maxsplit=5) for line in maps.splitlines())
    return {w[5] for w in words if len(w) > 5 and w[5].startswith("/dev/shm/")}


def send(pid, number):
    """Sends a signal; does nothing if the process is gone."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def kill(pid):
    """Sends SIGKILL; does nothing if the process is gone."""
    send(pid, signal.SIGKILL)


def wait_until_gone(pids, timeout):
    """Waits for processes that need not be children of this one. Returns True if all are gone."""
    for pid in pids:
        try:
            handle = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        try:
            if not select.select([handle], [], [], timeout)[0]:
                return False
        finally:
            os.close(handle)
    return True
