# SPDX-License-Identifier: BSD-3-Clause
"""The test programs themselves are correct: they pass without ckpt."""

import pytest

from ckpttest import probes, programs
from ckpttest.lab import Lab

REPEATED = [
    programs.ring(1000, 1),
    programs.ring(1000, 3),
    programs.remote(100, 3),
    programs.traffic(100),
    programs.memory(20, 40),
    programs.compute(4, 10),
    programs.threads(50),
    programs.multiple(50),
    programs.objects(40),
    programs.lammps(40),
]


@pytest.mark.parametrize("name", probes.NAMES)
def test_probe(lab, name):
    gate = lab.directory / "gate"
    job = lab.start_native(probes.probe(name, gate), **probes.ENVIRONMENT)
    job.wait_for("^READY")
    job.wait_for("^waiting")
    gate.touch()
    assert "OK" in "".join(job.succeed())


@pytest.mark.parametrize(
    "program", REPEATED, ids=lambda p: f"{p.name}-{p.ranks}"
)
def test_same_answer_twice(tmp_path, program):
    labs = [Lab(tmp_path / name) for name in ("first", "second")]
    assert (
        labs[0].run_native(program).answer == labs[1].run_native(program).answer
    )
