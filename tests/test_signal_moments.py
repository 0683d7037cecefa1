# SPDX-License-Identifier: BSD-3-Clause
"""The checkpoint signal arrives at each instruction of the path into a blocking call."""

import json
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
    "in_place": "PMPI_Allreduce",
    "split": "PMPI_Comm_split",
    "receive": "PMPI_Recv",
    "wait": "PMPI_Wait",
}


def save_at(lab, job, stepper, steps, protocol, release):
    """Takes a checkpoint whose signal arrives after `steps` instructions of the stopped process.
    release: lets it run on."""
    for _ in range(steps):
        stepper.step()
    saving = lab.ckpt_in_background("checkpoint", job.pid, "--json")
    stepper.await_signal()
    place = stepper.place()
    release()
    try:
        assert saving.wait(SOON) == 0, saving.stderr.read()
        assert json.load(saving.stdout)["protocol"] == protocol
    except (AssertionError, subprocess.TimeoutExpired) as error:
        error.add_note(f"after {steps} instructions, at {place:x}")
        raise
    return place


WAYS = [(operation, "sns") for operation in FUNCTIONS] + [("in_place", "cl"), ("reduce", "cl")]


@pytest.mark.parametrize("operation, protocol", WAYS)
def test_each_instruction(lab, operation, protocol):
    """No request is lost, the cut is the requested one, and the program goes on."""
    program = Program(operation, [APPS / "stepped", operation], 2, progress="")
    job = lab.start(program, CKPT_KEEP=1, CKPT_PROTOCOL=protocol)
    pid = int(job.wait_for(r"^process of rank 1 is (\d+)").group(1))
    address, start, end = address_of(pid, str(PLUGIN), FUNCTIONS[operation])
    beyond = steps = operations = 0

    def let_rank_0_begin():
        nonlocal operations
        (lab.work / f"step.{operations}").touch()
        operations += 1

    while beyond < BEYOND:
        stepper = Stepper(pid)

        def release(stepper=stepper):
            stepper.release()
            if operation == "in_place":  # a call that began here must be over at the cut
                let_rank_0_begin()

        stepper.stop()
        stepper.set_breakpoint(address)
        let_rank_0_begin()
        stepper.run_to_breakpoint()
        place = save_at(lab, job, stepper, steps, protocol, release)
        steps += 1
        beyond += not start <= place < end
    (lab.work / "end").touch()
    lines = job.succeed()
    assert sum(line.startswith("OK ") for line in lines) == 2, lines[-5:]
    assert steps > 20 + BEYOND
