# SPDX-License-Identifier: BSD-3-Clause
"""suite.py - mpi4py's own test suite, saved again and again while it runs, and
killed and restarted in between."""

from collections import Counter
from dataclasses import dataclass, field

from . import programs

TESTS = 1358  # of each rank
LIMIT = 900  # seconds for the suite on 4 ranks of a busy machine


@dataclass
class Run:
    """The result of a run of the suite."""

    answer: object = None
    saved: int = 0
    kills: int = 0
    refusals: Counter = field(default_factory=Counter)  # by their text


def undisturbed(lab, ranks=2):
    """Runs the suite under ckpt, without a checkpoint."""
    program = programs.mpi4py_suite(ranks)
    job = lab.start(program)
    job.succeed(LIMIT)
    return Run(lab.answer(program, job))


def _tests_done(lab):
    """Returns the number of tests that rank 0 has completed."""
    text = (lab.work / "results.0").read_text(encoding="utf-8")
    return text.count("\n")


def _save(lab, job, run):
    """Takes one checkpoint, which may be refused. Returns True if it was
    committed."""
    done = lab.ckpt("checkpoint", job.pid, timeout=120)
    if done.returncode == 0:
        run.saved += 1
        return True
    if job.run_on(0):  # the suite has not ended
        assert done.returncode in (3, 4), done.stderr
        run.refusals[done.stderr.strip()] += 1
    return False


def disturbed(lab, pauses, kills, ranks=2):
    """Runs the suite, saved after each of the pauses (seconds, an endless
    sequence). Kills and restarts it at the first checkpoint after each of
    `kills`: numbers of completed tests, in ascending order."""
    program = programs.mpi4py_suite(ranks)
    run = Run()
    kills = list(kills)
    job = lab.start(program)
    job.wait_for(program.progress)
    while job.run_on(next(pauses)):
        if _save(lab, job, run) and kills and _tests_done(lab) >= kills[0]:
            kills.pop(0)
            job.kill()
            job = lab.restart()
            run.kills += 1
    job.succeed(LIMIT)
    run.answer = lab.answer(program, job)
    return run
