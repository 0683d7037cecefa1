# SPDX-License-Identifier: BSD-3-Clause
"""processes.py - the processes of a job, as /proc shows them."""

import contextlib
import os
import select
import signal
from pathlib import Path


def _stat_fields(pid):
    """Fields of /proc/PID/stat behind the name, or None if it is gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return None
    return text.rpartition(")")[2].split()


def is_alive(pid):
    """False if there is no such process or it is a zombie."""
    fields = _stat_fields(pid)
    return fields is not None and fields[0] not in "ZX"


def is_stopped(pid):
    """By SIGSTOP; also true if it is gone."""
    fields = _stat_fields(pid)
    return fields is None or fields[0] in "TZX"


def name_of(pid):
    """The short name of a process, empty if it is gone."""
    try:
        return Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").strip()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def seconds_of(pid):
    """Of processor time that a process has taken; 0 if it is gone."""
    fields = _stat_fields(pid) or ["0"] * 13
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def environment_of(pid):
    """The environment that a process was started with, as the kernel has it; empty if
    it is gone."""
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return b""


def started_with(name, value):
    """Process ids of all processes, other than this one, that got a variable with this
    value in their environment."""
    setting = os.fsencode(f"{name}={value}")
    found = [int(entry) for entry in os.listdir("/proc") if entry.isdigit()]
    return [
        pid
        for pid in found
        if pid != os.getpid() and setting in environment_of(pid).split(b"\0")
    ]


def named(name):
    """Process ids of all processes with a short name."""
    found = [int(entry) for entry in os.listdir("/proc") if entry.isdigit()]
    return [pid for pid in found if name_of(pid) == name]


def descendants(pid):
    """All processes below `pid`, children before grandchildren."""
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
    """Process ids of the MPI ranks that an mpirun has started here."""
    return [p for p in descendants(launcher) if name_of(p) not in ("ckptd", "ckpt-stdin")]


def rank_page_of(pid):
    """Where a rank has mapped the page that it shares with its agent: "START-END"."""
    maps = Path(f"/proc/{pid}/maps").read_text(encoding="utf-8")
    (line,) = (line for line in maps.splitlines() if "memfd:ckpt-rank-page" in line)
    return line.split()[0]


def frozen_copies(directory):
    """Copies, made to be read in their places, of ranks that work in a directory."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit() and name_of(entry) == "ckpt-copy" and is_alive(entry):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                if os.path.samefile(f"/proc/{entry}/cwd", directory):
                    found.append(int(entry))
    return found


def shared_memory_of(pid):
    """Files in /dev/shm that a process has mapped."""
    try:
        maps = Path(f"/proc/{pid}/maps").read_text(encoding="utf-8", errors="surrogateescape")
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return set()
    words = (line.split(maxsplit=5) for line in maps.splitlines())
    return {w[5] for w in words if len(w) > 5 and w[5].startswith("/dev/shm/")}


def send(pid, number):
    """A signal; harmless if the process is gone."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def kill(pid):
    """SIGKILL; harmless if the process is gone."""
    send(pid, signal.SIGKILL)


def wait_until_gone(pids, timeout):
    """Waits for processes that need not be our children. True if all went."""
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
