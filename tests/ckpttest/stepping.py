# SPDX-License-Identifier: BSD-3-Clause
"""stepping.py - stops a process at an instruction, by ptrace(2)."""

import ctypes
import os
import signal
import subprocess
import time
from pathlib import Path

from .settings import TIMEOUT

CONT, SINGLESTEP, GETREGS, SETREGS, DETACH = 7, 9, 12, 13, 17
PEEKTEXT, POKETEXT, SEIZE, INTERRUPT = 1, 4, 0x4206, 0x4207
BREAKPOINT = 0xCC
REGISTERS = 27  # words of struct user_regs_struct
RIP = 16  # its index
FIRST_REAL_TIME_SIGNAL = 34

_libc = ctypes.CDLL(None, use_errno=True)
_libc.ptrace.restype = ctypes.c_long
_libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]


def _ptrace(request, pid, address=0, data=0):
    ctypes.set_errno(0)
    result = _libc.ptrace(request, pid, address, data)
    if ctypes.get_errno() != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def address_of(pid, library, function):
    """Returns where a process has a function of a library: (address, start and end of the library's
    code)."""
    symbols = subprocess.run(
        ["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True
    ).stdout.splitlines()
    (offset,) = (int(line.split()[0], 16) for line in symbols if line.split()[2] == function)
    maps = Path(f"/proc/{pid}/maps").read_text("utf-8").splitlines()
    parts = [line.split() for line in maps if line.endswith(f" {library}")]
    ranges = [[int(end, 16) for end in part[0].split("-")] for part in parts]
    code = [place for place, part in zip(ranges, parts, strict=True) if "x" in part[1]]
    return ranges[0][0] + offset, code[0][0], code[-1][1]


class Stepper:
    """The main thread of a process, stopped or released."""

    def __init__(self, pid):
        self.pid = pid
        self._saved = None  # address and text under the breakpoint

    def stop(self):
        """Stops the thread wherever it is."""
        _ptrace(SEIZE, self.pid)
        _ptrace(INTERRUPT, self.pid)
        self._wait()

    def release(self):
        """Lets the thread run freely, and get its pending signals."""
        _ptrace(DETACH, self.pid)

    def _wait(self):
        """Waits for the next stop; returns its signal."""
        _, status = os.waitpid(self.pid, 0x40000000)  # __WALL
        assert os.WIFSTOPPED(status), f"the process has ended: {status}"
        return os.WSTOPSIG(status)

    def _resume(self, request):
        """Resumes until the next trap; passes other signals on to the thread."""
        _ptrace(request, self.pid)
        while (number := self._wait()) != signal.SIGTRAP:
            _ptrace(request, self.pid, 0, number)

    def _registers(self):
        registers = (ctypes.c_ulonglong * REGISTERS)()
        _ptrace(GETREGS, self.pid, 0, ctypes.addressof(registers))
        return registers

    def place(self):
        """The address of its next instruction."""
        return self._registers()[RIP]

    def set_breakpoint(self, address):
        """Sets a breakpoint; one at most."""
        text = _ptrace(PEEKTEXT, self.pid, address)
        self._saved = (address, text)
        _ptrace(POKETEXT, self.pid, address, text & ~0xFF | BREAKPOINT)

    def run_to_breakpoint(self):
        """Runs to the breakpoint and removes it."""
        self._resume(CONT)
        address, text = self._saved
        _ptrace(POKETEXT, self.pid, address, text)
        registers = self._registers()
        assert registers[RIP] == address + 1
        registers[RIP] = address
        _ptrace(SETREGS, self.pid, 0, ctypes.addressof(registers))

    def step(self):
        """Executes one instruction."""
        self._resume(SINGLESTEP)

    def await_signal(self):
        """Waits until a real-time signal is pending for the thread."""
        deadline = time.monotonic() + TIMEOUT
        while not self._pending() >> (FIRST_REAL_TIME_SIGNAL - 1):
            assert time.monotonic() < deadline, "no signal comes"
            time.sleep(0.001)

    def _pending(self):
        status = Path(f"/proc/{self.pid}/status").read_text("utf-8").splitlines()
        words = [line.split() for line in status]
        return max(int(word[1], 16) for word in words if word[0] in ("SigPnd:", "ShdPnd:"))
