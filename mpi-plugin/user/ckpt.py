# SPDX-License-Identifier: BSD-3-Clause
"""ckpt.h for Python: what a program may tell the checkpointer about itself. See ckpt(3).

Needs nothing but the standard library, and does nothing where there is no checkpointer.
A process is saved between any two instructions of the interpreter and in all that
it calls, unless the program says otherwise.

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
    """Whether checkpoints of this process can be taken."""
    return _ckpt is not None and _ckpt.active() != 0


def restarts():
    """How often this program has been restarted since it was first started."""
    return 0 if _ckpt is None else _ckpt.restarts()


def last():
    """Number of the newest committed checkpoint of the job; 0: none."""
    return 0 if _ckpt is None else _ckpt.last()


def wanted():
    """Whether a checkpoint waits for ranks that cannot be saved just now."""
    return _ckpt is not None and _ckpt.wanted() != 0


def checkpoint(wait=False, together=False):
    """Asks for a checkpoint of the job: ASKED. wait: until it is on disk, then TAKEN;
    RESTARTED in the program that comes back; ASKED if this rank has to go on before;
    REFUSED, see reason(). together: all ranks call this, the last one begins it."""
    if _ckpt is None:
        return ABSENT
    return _ckpt.checkpoint((_WAIT if wait else 0) | (_ALL if together else 0))


def reason():
    """Why the last checkpoint that this process asked for was refused, or ""."""
    return "" if _ckpt is None else _ckpt.reason().decode(errors="replace")


def disable():
    """This process is not saved until enable(). They nest."""
    if _ckpt is not None:
        _ckpt.disable()


def enable():
    """The end of what disable() began; that of the outermost one is a safe point."""
    if _ckpt is not None:
        _ckpt.enable()


@contextlib.contextmanager
def no_checkpoint():
    """disable() and enable() around a block."""
    disable()
    try:
        yield
    finally:
        enable()


def safe_point():
    """Here it is good to save this process: TAKEN, RESTARTED, or ABSENT."""
    return ABSENT if _ckpt is None else _ckpt.safe_point()


def only_at_safe_points(only=True):
    """From now on this process is saved at its safe points, and nowhere else."""
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
    """The whole pages of a writable buffer (bytearray, array, NumPy array) need not be
    saved: after a restart they are zero. include() it before it is freed or resized."""
    if _ckpt is not None:
        _change(_ckpt.exclude, memory)


def include(memory):
    """It is saved again."""
    if _ckpt is not None:
        _change(_ckpt.include, memory)


@contextlib.contextmanager
def hooks(before=None, after=None):
    """Around a block in which this process is saved only at safe points, where before()
    runs first, and after(answer) when that is over, with TAKEN, RESTARTED or REFUSED.
    before() returns False if the checkpoint is not to be now, as it does by raising."""

    def run_before(_data):
        return 1 if before is not None and before() is False else 0

    def run_after(answer, _data):
        if after is not None:
            after(answer)

    if _ckpt is None:
        yield
        return
    # ctypes prints what a callback raises, and gives 0: a failure must not be a yes.
    def guarded(data):
        try:
            return run_before(data)
        except Exception:  # pylint: disable=broad-exception-caught
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
