# SPDX-License-Identifier: BSD-3-Clause
"""Code that runs while a rank stands still takes no lock that the program may hold."""


import pytest

from ckpttest.programs import Program
from ckpttest.settings import APPS

@pytest.mark.parametrize("protocol", ["sns", "cl"])
@pytest.mark.parametrize("lock", ["malloc", "stdio", "loader", "environment"])
def test_program_holds_a_lock(lab, lock, protocol):
    """The drain frees handles. The program notices nothing, and neither does the
    restarted program, which also holds the lock."""
    program = Program(f"held-{lock}", [APPS / "held_lock", lock], 2, progress="")
    job = lab.start(program, CKPT_PROTOCOL=protocol)
    job.wait_for("^begun$")
    lab.checkpoint(job)
    (lab.work / "go").touch()
    assert any(line.startswith("OK ") for line in job.succeed())
    (lab.work / "go").unlink()
    restarted = lab.restart()
    lab.wait_for_agent(restarted)
    lab.checkpoint(restarted)
    (lab.work / "go").touch()
    assert any(line.startswith("OK ") for line in restarted.succeed())
