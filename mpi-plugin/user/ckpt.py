# SPDX-License-Identifier: BSD-3-Clause
"""ckpt.h for Python: calls by which a program controls its checkpoints. See ckpt(3).

Needs only the standard library, and does nothing if the process has no checkpointer.
A process may be saved between any two instructions of the interpreter and in all code
that it calls, unless the program forbids it.

    import ckpt

    ckpt.only_at_safe_points()
    with ckpt.hooks(before=log.flush, after=reopen):
        for step in range(steps):
            work(step)
            if ckpt.safe_point() == ckpt.RESTARTED:
                print("here again")
"""

import contextlib
import ctypes

REFUSED, ABSENT, TAKEN, RESTARTED, ASKED = -1, 0, 1, 2, 3

_WAIT, _ALL = 1, 2

_Before = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
_After = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p)


class _Hooks(ctypes.Structure):
    _fields_ = [("before", _Before), ("after", _After), ("data", ctypes.c_void_p)]


def _function(result, *arguments):
    return ctypes.CFUNCTYPE(result, *arguments)


class _Interface(ctypes.Structure):
    """struct ckpt_interface of ckpt.h."""

    _fields_ = [
        ("version", ctypes.c_uint32),
        ("size", ctypes.c_uint32),
        ("active", _function(ctypes.c_int)),
        ("restarts", _function(ctypes.c_uint64)),
        ("last", _function(ctypes.c_uint64)),
        ("wanted", _function(ctypes.c_int)),
        ("checkpoint", _function(ctypes.c_int, ctypes.c_uint)),
        ("reason", _function(ctypes.c_char_p)),
        ("disable", _function(None)),
        ("enable", _function(None)),
        ("safe_point", _function(ctypes.c_int)),
        ("only_at_safe_points", _function(None, ctypes.c_int)),
        ("exclude", _function(ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t)),
        ("include", _function(ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t)),
        ("hooks_add", _function(ctypes.c_int, ctypes.POINTER(_Hooks))),
        ("hooks_remove", _function(None, ctypes.c_int)),
    ]


def _find():
    try:
        return _Interface.in_dll(ctypes.CDLL(None), "ckpt_interface_1")
    except ValueError:
        return None


_ckpt = _find()


def active():
    """Returns whether this process can be checkpointed."""
    return _ckpt is not None and _ckpt.active() != 0


def restarts():
    """Returns the number of restarts of this program since its first start."""
    return 0 if _ckpt is None else _ckpt.restarts()


def last():
    """Returns the number of the job's newest committed checkpoint; 0: none."""
    return 0 if _ckpt is None else _ckpt.last()


def wanted():
    """Returns whether a checkpoint waits for ranks that cannot be saved now."""
    return _ckpt is not None and _ckpt.wanted() != 0


def checkpoint(wait=False, together=False):
    """Requests a checkpoint of the job and returns ASKED. With wait it returns TAKEN
    when the checkpoint is on disk, RESTARTED in the restarted program, or ASKED if this
    rank must run on first. On failure it returns REFUSED, see reason(). together: all
    ranks call this, and the last call begins the checkpoint."""
    if _ckpt is None:
        return ABSENT
    return _ckpt.checkpoint((_WAIT if wait else 0) | (_ALL if together else 0))


def reason():
    """Returns why the last checkpoint requested by this process was refused, or ""."""
    return "" if _ckpt is None else _ckpt.reason().decode(errors="replace")


def disable():
    """Begins a no-checkpoint region, until enable(). Regions nest."""
    if _ckpt is not None:
        _ckpt.disable()


def enable():
    """Ends the region of a disable(). The end of the outermost one is a safe point."""
    if _ckpt is not None:
        _ckpt.enable()


@contextlib.contextmanager
def no_checkpoint():
    """Calls disable() and enable() around a block."""
    disable()
    try:
        yield
    finally:
        enable()


def safe_point():
    """Marks a place where this process may be saved: TAKEN, RESTARTED, or ABSENT."""
    return ABSENT if _ckpt is None else _ckpt.safe_point()


def only_at_safe_points(only=True):
    """From now on this process is saved only at its safe points."""
    if _ckpt is not None:
        _ckpt.only_at_safe_points(1 if only else 0)


def _change(function, memory):
    with memoryview(memory) as view:
        if not view.c_contiguous or view.readonly:
            raise ValueError("the memory must be writable and in one piece")
        size = view.nbytes
        start = ctypes.addressof(ctypes.c_char.from_buffer(view)) if size else 0
        if function(start, size) != 0:
            raise MemoryError("too many ranges of memory are excluded")


def exclude(memory):
    """Excludes the whole pages of a writable buffer (bytearray, array, NumPy array)
    from checkpoints: after a restart they are zero. Call include() before the buffer
    is freed or resized."""
    if _ckpt is not None:
        _change(_ckpt.exclude, memory)


def include(memory):
    """Undoes exclude() for every page that overlaps the buffer."""
    if _ckpt is not None:
        _change(_ckpt.include, memory)


@contextlib.contextmanager
def hooks(before=None, after=None):
    """For a block in which this process is saved only at safe points. before() runs
    before the save, and after(answer) after it, with TAKEN, RESTARTED or REFUSED.
    before() refuses the checkpoint for now if it returns False or raises."""

    def run_before(_data):
        return 1 if before is not None and before() is False else 0

    def run_after(answer, _data):
        if after is not None:
            after(answer)

    if _ckpt is None:
        yield
        return
    # ctypes prints an exception of a callback and returns 0, which would accept the
    # checkpoint.
    def guarded(data):
        try:
            return run_before(data)
        # The hook is the application's: whatever it raises refuses the checkpoint.
        except Exception:  # noqa: BLE001  pylint: disable=broad-exception-caught
            import traceback  # pylint: disable=import-outside-toplevel

            traceback.print_exc()
            return 1

    functions = _Hooks(_Before(guarded), _After(run_after), None)
    number = _ckpt.hooks_add(ctypes.byref(functions))
    if number < 0:
        raise MemoryError("too many hooks")
    try:
        yield
    finally:
        _ckpt.hooks_remove(number)
