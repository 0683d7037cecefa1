# SPDX-License-Identifier: BSD-3-Clause
"""Messages of more bytes than an int can count, under way at a checkpoint."""


import pytest

from ckpttest import non_mpi
from ckpttest.programs import Program
from ckpttest.settings import APPS, FULL

SIZE = 2362232014  # bytes: 2.2 GiB and a bit
# The kinds of sends and receives, with the protocol of the checkpoint.
KINDS = {
    "standard": "cl",
    "synchronous": "sns",
    "nonblocking": "ns",
    "persistent": "sns",
    "exchanged": "cl",
    "replaced": "sns",
    "probed": "sns",
    "posted": "cl",
    "partitioned": "sns",
}
# Each takes 5 to 15 GiB and 10 to 60 s.
CHOSEN = KINDS if FULL else ("probed",)

pytestmark = pytest.mark.xdist_group("large messages")  # one at a time


def program(kind):
    """Two ranks, one message."""
    return Program(f"large-{kind}", [APPS / "large_message", kind, SIZE], 2, progress="")


@pytest.mark.parametrize("kind", CHOSEN)
def test_is_on_its_way(lab, kind):
    """The message arrives in the job that goes on, and in the restarted job."""
    job = lab.start(program(kind), CKPT_PROTOCOL=KINDS[kind])
    job.wait_for("^begun", count=2)
    saved = lab.ckpt_in_background("checkpoint", job.pid, "--json")
    if KINDS[kind] == "sns":
        assert saved.wait(100) == 0, saved.stderr.read()
    else:  # the receiver has to call MPI
        non_mpi.wait_until(job, lambda: lab.ckpt_json("status", job.pid)[0]["phase"] != "running")
    (lab.work / "go").touch()
    assert saved.wait(100) == 0, saved.stderr.read()
    (lab.work / "end").touch()
    assert any(line.startswith("OK ") for line in job.succeed())
    assert any(line.startswith("OK ") for line in lab.restart().succeed())
