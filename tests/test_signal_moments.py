# SPDX-License-Identifier: BSD-3-Clause
"""The checkpoint signal at each instruction of the way into a call that waits."""

import subprocess

import pytest

from ckpttest.mpis import PLUGIN
from ckpttest.programs import Program
from ckpttest.settings import APPS
from ckpttest.stepping import Stepper, address_of

BEYOND = 3  # instructions of the lower half
SOON = 20  # seconds; a lost request would take CKPT_TIMEOUT
FUNCTIONS = {
    "barrier": "PMPI_Barrier",
    "reduce": "PMPI_Allreduce",
    "split": "PMPI_Comm_split",
    "receive": "PMPI_Recv",
    "wait": "PMPI_Wait",
}


def save_at(lab, job, stepper, steps):
    """A checkpoint whose signal finds the stopped process after so many instructions."""
    for _ in range(steps):
        stepper.step()
    saving = lab.ckpt_in_background("checkpoint", job.pid)
    stepper.await_signal()
    place = stepper.place()
    stepper.release()
    try:
        assert saving.wait(SOON) == 0, saving.stderr.read()
    except (AssertionError, subprocess.TimeoutExpired) as error:
        error.add_note(f"after {steps} instructions, at {place:x}")
        raise
    return place


@pytest.mark.parametrize("operation", FUNCTIONS)
def test_each_instruction(lab, operation):
    """None of the requests is lost, and the program goes on."""
    program = Program(operation, [APPS / "stepped", operation], 2, progress="")
    job = lab.start(program, CKPT_KEEP=1)
    pid = int(job.wait_for(r"^process of rank 1 is (\d+)").group(1))
    address, start, end = address_of(pid, str(PLUGIN), FUNCTIONS[operation])
    beyond = steps = operations = 0
    while beyond < BEYOND:
        stepper = Stepper(pid)
        stepper.stop()
        stepper.set_breakpoint(address)
        (lab.work / f"step.{operations}").touch()
        stepper.run_to_breakpoint()
        operations += 1
        place = save_at(lab, job, stepper, steps)
        steps += 1
        beyond += not start <= place < end
    (lab.work / "end").touch()
    lines = job.succeed()
    assert sum(line.startswith("OK ") for line in lines) == 2, lines[-5:]
    assert steps > 20 + BEYOND
