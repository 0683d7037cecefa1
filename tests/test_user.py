# SPDX-License-Identifier: BSD-3-Clause
"""Programs that include ckpt.h: what they say about their checkpoints is heeded, and
without ckpt it does nothing."""

import pytest

from ckpttest.programs import Program
from ckpttest.settings import APPS

MIB = 1 << 20
SCRATCH = 16 * MIB  # of a rank, excluded; as much again is not
PROTOCOLS = ["sns", "cl", "ns"]


def steps(mode, count, *more, ranks=2):
    """apps/user/steps.c; about 2 ms a step."""
    return Program("steps", [APPS / "user/steps", mode, count, *more], ranks)


@pytest.mark.parametrize("mode", ["s", "r", "h"])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_saved_where_it_wants(lab, native, mode, protocol):
    """Uncompressed, so that what is excluded shows."""
    program = steps(mode, 400)
    settings = {"CKPT_PROTOCOL": protocol, "CKPT_CODEC": "none"}
    job = lab.start(program, **settings)
    parts = [job]
    for _ in range(2):
        for _ in range(2):
            job.wait_for(program.progress)
            made = lab.checkpoint(job)
            assert SCRATCH * 2 < made["bytes"] < SCRATCH * 7 // 2
        job.kill()
        job = lab.restart()
        parts.append(job)
    job.succeed()
    assert lab.answer(program, *parts) == native(program).answer
    hooks = 2 if mode == "h" else 0
    assert f"restarts 2, hooks {hooks}" in job.lines
