# SPDX-License-Identifier: BSD-3-Clause
"""A false invariant of the middleware: the rank runs on and refuses checkpoints, the checkpoint
before it restores. And the sources have enough invariants."""

import re

import pytest

from ckpttest import assertions, programs

REFUSED = 4  # as in ckpt(1)
FALSE = r"process_image\.c:\d+: i == 0 \|\| regions\[i - 1\]\.end <= regions\[i\]\.start"


def refused(lab, job):
    """Requests a checkpoint, which rank 1 must refuse. Returns the message."""
    done = lab.ckpt("checkpoint", job.pid)
    assert done.returncode == REFUSED, done
    assert re.search(rf"\brank 1\b.*{FALSE}", done.stderr, re.DOTALL), done.stderr
    return done.stderr


@pytest.mark.parametrize("protocol", ["sns", "cl", "ns"])
def test_checkpoints_are_refused(lab, protocol):
    """The list of regions is damaged in the second checkpoint. The third is refused, too, although
    nothing is damaged in it."""
    stop = lab.directory / "stop"
    program = programs.traffic(0, 2, stop)
    job = lab.start(program, CKPT_FAULT="rank-unsound:2@1", CKPT_PROTOCOL=protocol)
    job.wait_for(program.progress)
    lab.checkpoint(job)
    for _ in range(2):
        refused(lab, job)
        job.wait_for(program.progress)
    assert len(lab.checkpoints()) == 1
    stop.touch()
    lines = job.succeed(unsound=True)
    programs.ok_line(lines, lab.work)
    said = [line for line in lines if re.search(FALSE, line)]
    assert len(said) == 1, said
    again = lab.restart()
    programs.ok_line(again.succeed(), lab.work)


def test_restarted_rank_is_sound(lab):
    """The rank that a restart makes has no false invariant: it can be saved."""
    stop = lab.directory / "stop"
    program = programs.traffic(0, 2, stop)
    job = lab.start(program, CKPT_FAULT="rank-unsound:2@1")
    job.wait_for(program.progress)
    lab.checkpoint(job)
    refused(lab, job)
    job.kill()
    again = lab.restart()
    lab.wait_for_agent(again)
    lab.checkpoint(again)
    stop.touch()
    programs.ok_line(again.succeed(), lab.work)


@pytest.mark.parametrize("part, least", assertions.LEAST.items())
def test_enough_assertions(part, least):
    count = assertions.in_sources(part)[""]
    assert count.per_thousand >= least, f"see tests/count-assertions {part}"


@pytest.mark.parametrize(
    "text, expected",
    [
        ("CKPT_INVARIANT(a);\n    if (!CKPT_INVARIANT(b)) {", 2),
        ('_Static_assert(A, "x"); static_assert(B); assert(c);', 3),
        ("/* CKPT_INVARIANT(a) */ // assert(b)\n", 0),
        ('text = "assert(a)";', 0),
        ("#define CKPT_INVARIANT(condition) check(condition)\n", 0),
        ("assertion(a); my_assert(b)", 0),
    ],
)
def test_counting(text, expected):
    assert assertions.in_text(text) == expected
