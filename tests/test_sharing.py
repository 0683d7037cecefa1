# SPDX-License-Identifier: BSD-3-Clause
"""Pages that ranks of a node have in common are stored once, and each rank gets them back."""

import pytest

from ckpttest import programs
from ckpttest.programs import Program
from ckpttest.settings import APPS, FULL


def shared(lab, name=None):
    """Returns how many bytes of the ranks in a checkpoint are stored as references to other
    pages."""
    words = [name] if name else []
    return sum(rank["shared_bytes"] for rank in lab.ckpt_json("inspect", *words)["ranks"])


def run_through(lab, program, saves, **settings):
    """Saves the job `saves` times, kills it and restarts it; returns the parts of the job."""
    job = lab.start(program, **settings)
    for _ in range(saves):
        job.wait_for(program.progress)
        lab.checkpoint(job)
    job.kill()
    assert lab.ckpt("verify").returncode == 0
    again = lab.restart()
    again.succeed()
    return job, again


@pytest.mark.parametrize(
    "method, codec",
    [("memory", "zstd"), ("cll", "auto")] + [("stop", "none"), ("cow", "lz4")] * FULL,
)
def test_each_rank_gets_its_memory_back(lab, native, method, codec):
    program = programs.lammps(600)
    settings = {"CKPT_SNAPSHOT": method, "CKPT_CODEC": codec, "CKPT_SHARE_PAGES": "on"}
    parts = run_through(lab, program, 2, **settings)
    assert lab.answer(program, *parts) == native(program).answer
    assert shared(lab) > 0


def test_all_of_a_region_is_elsewhere(lab, native):
    """A rank's region is filled with one value, so no page of it is stored for this rank."""
    program = Program("steps", [APPS / "user/steps", "s", 120], 2)
    settings = {"CKPT_CODEC": "none", "CKPT_SHARE_PAGES": "on"}
    parts = run_through(lab, program, 2, **settings)
    assert lab.answer(program, *parts) == native(program).answer


def test_in_a_chain(lab, native):
    """Each file of a chain refers only to itself; a folded file is complete."""
    program = programs.memory(24, 400)
    settings = {"CKPT_INCREMENTAL": "4", "CKPT_KEEP": "9", "CKPT_SHARE_PAGES": "on"}
    parts = run_through(lab, program, 6, **settings)
    assert lab.answer(program, *parts) == native(program).answer


def test_only_if_there_is_enough(lab):
    """Automatic sharing starts after a sample of the previous checkpoint has shown enough equal
    pages."""
    job = lab.start(programs.lammps(400), CKPT_KEEP="9", CKPT_SHARE_PAGES="auto")
    job.wait_for("^Step")
    lab.checkpoint(job)
    assert shared(lab) == 0
    job.kill()
