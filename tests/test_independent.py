# SPDX-License-Identifier: BSD-3-Clause
"""`ckpt run --protocol independent`: a killed rank rolls back, and the others go on from where they
were. The result equals that of a run without failures.

With CKPT_TEST_FULL=1, each program runs with all of its options.
"""

import os
import random
import signal
import time

import pytest

from ckpttest import non_mpi, programs, replays, windows
from ckpttest.settings import FULL, TIMEOUT

# The ranks wait without pause: parallel tests would take each other's processor time.
pytestmark = pytest.mark.xdist_group("independent")

SIZES = {  # steps and size: for some seconds
    "barnes": (200, 500),
    "batches": (1500, 500),
    "hash_table": (300, 2000),
    "open_epoch": (16, 4000),  # tests end it when they have seen enough
    "shared_bytes": (3000, 3000),
    "shared_counter": (5000, 50),
    "stencil": (12000, 256),
    "uneven": (20000, 1000),
    "water_nsquared": (2000, 300),
    "water_spatial": (2000, 300),
    "work_queue": (1000, 32),
}
RANKS = {"batches": 4, "shared_bytes": 4}  # otherwise 3
JOB = f"independent-{os.getpid()}"  # ckpt finds jobs of a name wherever they are
# test_rank_faults has locks, too; DIRECT has the programs without a way here
OFTEN = {
    "barnes": [[]],
    "batches": [["--mode=sums"]],
    "hash_table": [["--shared"]],
    "open_epoch": [],
    "stencil": [],
    "uneven": [],
    "water_nsquared": [["--mode=accumulate"]],
    "water_spatial": [[]],
    "work_queue": [["--shared"]],
}
# Without absent, one of whose ranks may be without an independent checkpoint for long.
WAYS = [
    (name, way)
    for name in SIZES
    for way in (windows.WAYS[name] if FULL else OFTEN.get(name, windows.WAYS[name]))
]
# Shared windows have no such puts, and neither have the programs left out.
DIRECT = [
    (name, way)
    for name in SIZES
    for way in windows.WAYS[name]
    if "--shared" not in way and name not in ("batches", "shared_bytes", "shared_counter")
    if FULL or name in ("uneven", "work_queue", "open_epoch") or "--mode=pscw" in way
]


@pytest.fixture(name="expected", scope="module")
def without_failures(tmp_path_factory):
    return windows.results_in_one_rank(tmp_path_factory)


def wait_for_checkpoints(lab, ranks):
    """Waits until each rank can be replayed; returns their process ids."""
    limit = time.monotonic() + TIMEOUT
    while time.monotonic() < limit:
        (job,) = lab.ckpt_json("status", JOB)
        assert job["phase"] != "ended", "it has ended too soon"
        if replays.is_replayable(job, ranks):
            return {rank["rank"]: rank["pid"] for rank in job["ranks"]}
    raise AssertionError("the ranks take no independent checkpoints")


def name_of(value):
    """Returns the test id of a parameter: a program, or its options."""
    return value if isinstance(value, str) else " ".join(value)


@pytest.mark.parametrize("name, way", WAYS, ids=name_of)
def test_one_rank_rolls_back(lab, expected, name, way):
    """A rank is killed; no other one repeats a step."""
    roll_one_back(lab, expected, name, way)


@pytest.mark.parametrize("name, way", DIRECT, ids=name_of)
def test_one_rank_rolls_back_with_direct_puts(lab, expected, name, way):
    """The same, with the killed rank's puts in the memory of others."""
    roll_one_back(lab, expected, name, way, "--windows", "direct")


def roll_one_back(lab, expected, name, way, *options):
    ranks = RANKS.get(name, 3)
    roll_back = replays.RollBack(lab, JOB, (name, *SIZES[name], way), ranks, *options)
    roll_back.job.wait_for("^step ")
    victim = random.Random(name + "".join(way)).randrange(ranks)
    os.kill(wait_for_checkpoints(lab, ranks)[victim], signal.SIGKILL)
    roll_back.finish(victim, expected(name, *SIZES[name]))


@pytest.mark.parametrize(
    "way", ["stencil --mode=lock"] + ["water_nsquared --mode=lock"] * FULL
)
def test_one_after_the_other(tmp_path, way):
    """Rank 1 is replayed. When all ranks can be replayed again, rank 2 is killed, to which rank 1
    wrote before and during its replay; then rank 1 once more. No other rank repeats a step."""
    run = replays.Run(tmp_path / "job", way, random.Random(way), replays.INDEPENDENT)
    try:
        for rank in (1, 2, 1):
            assert run.kill_once(rank), "\n".join(["it ended too soon", *run.job.lines])
        run.check(replays.expected_of(tmp_path / "one", way))
    finally:
        run.close()
    assert [(kill.rank, kill.restarts) for kill in run.kills] == [(1, 1), (2, 1), (1, 1)]
    # A kill may meet the one call that cannot be replayed; then all ranks are restarted.
    refused = [kill.why_not for kill in run.kills if kill.why_not]
    assert len(refused) < 2 and all("[not-replayable]" in why for why in refused), refused


@pytest.mark.parametrize(
    "saved",
    [False, True] if FULL else [False],
    ids=lambda saved: "checkpoint" if saved else "beginning",
)
def test_a_rank_does_something_else_in_its_replay(lab, saved):
    """The job goes back to the global checkpoint before that, or to its beginning."""
    program = windows.program("clock", 60000, 4, ranks=3)
    job = replays.start(lab, JOB, program)
    job.wait_for(program.progress)
    pids = wait_for_checkpoints(lab, 3)
    if saved:
        lab.ckpt_json("checkpoint", JOB)
        pids = wait_for_checkpoints(lab, 3)
    os.kill(pids[1], signal.SIGKILL)
    salvage = f"{JOB}/{1 + saved}"
    job.wait_for(f"^ckpt: rank 1 .*; restart 1 of at most 10, from {salvage}")
    job.wait_for("^ckpt: rank 1 cannot be replayed: ")
    job.wait_for(f"^ckpt: {salvage} cannot be used: the replay of the rank has failed")
    before = f"{JOB}/1" if saved else "the beginning"
    job.wait_for(f"^ckpt: rank 1 .* was killed by .*; restart 2 of at most 10, from {before}")
    job.succeed(replays.LONG)
    assert windows.result(job.lines, lab.work)


def test_other_windows_are_refused(lab):
    """A rank with an unsupported window cannot be replayed, and the user learns why."""
    job = replays.start(lab, JOB, programs.remote(3000, 3))
    match = job.wait_for("^ckpt: rank . takes no independent checkpoint: (.*)")
    assert match.group(1).startswith("it has a window of MPI_Win_create")
    (status,) = lab.ckpt_json("status", JOB)
    assert not any(rank["replayable"] for rank in status["independent"])
    job.kill()


def test_after_a_restart_of_all(lab, expected):
    """Two ranks die, and all ranks roll back to a global checkpoint, with the released image of the
    shared window. Then one rank rolls back."""
    name = "shared_bytes"
    program = windows.program(name, *SIZES[name], ranks=4)
    job = replays.start(lab, JOB, program)
    job.wait_for(program.progress)
    assert lab.ckpt("checkpoint", JOB).returncode == 0
    ranks = wait_for_checkpoints(lab, 4)
    for victim in (1, 2):
        os.kill(ranks[victim], signal.SIGKILL)
    job.wait_for(f"^ckpt: .*; restart 1 of at most 10, from {JOB}/1")
    job.wait_for(program.progress)
    os.kill(wait_for_checkpoints(lab, 4)[3], signal.SIGKILL)
    job.wait_for("^ckpt: rank 3 .*; it is replayed")
    job.succeed(replays.LONG)
    assert lab.answer(program, job) == expected(name, *SIZES[name])


def test_what_it_costs_is_told(lab):
    """The payload grows, and the reported time is less than the elapsed time."""
    began = time.monotonic()
    program = windows.program("stencil", *SIZES["stencil"], ranks=3)
    job = replays.start(lab, JOB, program)
    job.wait_for(program.progress)
    wait_for_checkpoints(lab, 3)

    def is_timed():
        (status,) = lab.ckpt_json("status", JOB)
        own = status["independent"]
        names = ("payload_bytes", "control_bytes", "logging_ns", "keeping_ns")
        return own if all(rank[name] > 0 for rank in own for name in names) else None

    for rank in non_mpi.wait_until(job, is_timed):
        assert rank["control_bytes"] < rank["payload_bytes"] < rank["logged_bytes"]
        assert rank["logging_ns"] + rank["keeping_ns"] < (time.monotonic() - began) * 1e9


# ---- An open epoch ------------------------------------------------------------------

ORIGIN, TARGET, READER = range(3)  # of the program open_epoch
MOST_RUNS = 5
WORK = 1 << 20  # bytes that the target logs in no other part of a step


class Epochs:
    """A job of the program open_epoch under observation. Each look gives the status of its ranks,
    and the steps that the ranks had begun before and after it."""

    def __init__(self, lab, windows_are, hint="none"):
        prefix = lab.directory / "progress"
        way = [f"--mode={hint}", f"--progress={prefix}"]
        self.program = windows.program("open_epoch", *SIZES["open_epoch"], ranks=3, way=way)
        self.lab = lab
        self.job = replays.start(lab, JOB, self.program, "--windows", windows_are)
        self.progress = replays.Progress(prefix, 3)
        self.job.wait_for(self.program.progress)
        self.pids = wait_for_checkpoints(lab, 3)

    def look(self):
        """Returns (steps before, status of each rank, steps after)."""
        self.progress.look()
        before = list(self.progress.newest)
        (job,) = self.lab.ckpt_json("status", JOB)
        self.progress.look()
        return before, job["independent"], list(self.progress.newest)

    def looks(self):
        """Yields one look after the other until the last step."""
        deadline = time.monotonic() + replays.LONG
        last = SIZES["open_epoch"][0] - 1
        while time.monotonic() < deadline and self.job.run_on(0):
            look = self.look()
            if min(look[0]) >= last:
                return
            yield look

    def kill(self, rank):
        """Kills a rank and waits for its replay."""
        os.kill(self.pids[rank], signal.SIGKILL)
        self.job.wait_for(f"^ckpt: rank {rank} .*; it is replayed")
        self.job.succeed(replays.LONG)


def kept(ranks, rank):
    """Returns how many independent checkpoints the rank has taken."""
    return ranks[rank]["kept"]


def logged(ranks):
    """Returns how many bytes the target has logged in total."""
    return ranks[TARGET]["logged_bytes"]


def follow_epochs(looks):
    """Yields (first look at an epoch, another one) while the origin's puts are under way. The
    target has then begun the step, logged WORK bytes, and logs some more afterwards, as it does
    only then."""
    seen = []  # looks at one step
    for before, ranks, after in looks:
        if len({*before, *after}) > 1:  # between two steps, or a rank was behind
            seen = []
        elif not seen or logged(ranks) > logged(seen[-1]) + WORK / 4:
            seen.append(ranks)
        opened = [one for one in seen[:-1] if logged(one) > logged(seen[0]) + WORK]
        if len(opened) > 1:
            yield opened[0], opened[-1]


@pytest.mark.parametrize(
    "windows_are, hint",
    [("direct", "none"), ("staged", "direct")]
    + [("staged", "none"), ("direct", "staged")] * FULL,
)
def test_a_checkpoint_waits_for_direct_puts_to_it(lab, expected, windows_are, hint):
    """Another rank takes checkpoints while the origin's puts to the target are under way. With
    staged puts the target does so, too; with direct puts it takes one when the puts are delivered.
    The window's hint overrides the setting for all windows."""
    epochs = Epochs(lab, windows_are, hint)
    seen = 0
    for opened, ranks in follow_epochs(epochs.looks()):
        if "direct" in (hint, windows_are) and hint != "staged":
            assert kept(ranks, TARGET) == kept(opened, TARGET), "one has puts that may change"
            seen += kept(ranks, READER) > kept(opened, READER)
        else:
            seen += kept(ranks, TARGET) > kept(opened, TARGET)
        if seen:
            break
    assert seen, "nobody has taken a checkpoint while puts were under way"
    before = kept(ranks, TARGET)
    assert any(kept(ranks, TARGET) > before for _, ranks, _ in epochs.looks())
    epochs.job.succeed(replays.LONG)
    assert lab.answer(epochs.program, epochs.job) == expected("open_epoch", *SIZES["open_epoch"])


def has_old_words(epochs):
    """Waits until the reader has got the old words since its independent checkpoint, and new ones
    are under way. Returns False if that does not happen in this run: the reader takes its
    checkpoints at times of its own."""
    step = number = begin = None
    for before, ranks, after in epochs.looks():
        if kept(ranks, READER) != number:
            step, number, begin = after[READER], kept(ranks, READER), None
        elif before[READER] > step and len({*before, *after}) == 1:
            begin = logged(ranks) if begin is None else begin
            if logged(ranks) > begin + WORK:
                return True
    return False


def with_old_words(lab, windows_are):
    """Returns a job in that state: in how many runs it comes about depends on the load."""
    for _ in range(MOST_RUNS):
        epochs = Epochs(lab, windows_are)
        if has_old_words(epochs):
            return epochs
        epochs.job.succeed(replays.LONG)
        for path in epochs.progress.paths:
            path.unlink()
    raise AssertionError("the reader always takes a checkpoint soon")


@pytest.mark.parametrize(
    "victim, windows_are",
    [(READER, "direct"), (TARGET, "staged"), (ORIGIN, "direct")]
    + [(READER, "staged"), (TARGET, "direct"), (ORIGIN, "staged")] * FULL,
)
def test_killed_in_an_open_epoch(lab, expected, windows_are, victim):
    """The replayed reader gets the old words, the replayed target sees the new ones after the
    flush, and the replayed origin puts them once more. The program checks this."""
    if victim == READER:
        epochs = with_old_words(lab, windows_are)
    else:
        epochs = Epochs(lab, windows_are)
        next(follow_epochs(epochs.looks()))
    epochs.kill(victim)
    assert lab.answer(epochs.program, epochs.job) == expected("open_epoch", *SIZES["open_epoch"])


def test_the_files_tell_who_goes_back(tmp_path):
    """Without the protocol all ranks roll back: this shows that the test above can fail."""
    run = replays.Run(tmp_path, "barnes", random.Random(1), replays.COORDINATED)
    try:
        assert run.kill_once()
        run.settle()
        run.kills[0].why_not = ""  # as if it had been replayed
        with pytest.raises(AssertionError, match="went from step to step"):
            run.check_steps()
    finally:
        run.close()
