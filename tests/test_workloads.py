# SPDX-License-Identifier: BSD-3-Clause
"""The programs of the dissertation's chapter 4, small: saved in their middle by each
protocol, killed, and restarted from the last of the checkpoints."""

import pytest

from ckpttest import probes, workloads
from ckpttest.workloads import MIB

WAYS = [
    {"CKPT_PROTOCOL": "sns"},
    {"CKPT_PROTOCOL": "cl", "CKPT_STAGGER": "node"},
    {"CKPT_PROTOCOL": "ns"},
]

MESSAGE_PASSING = [
    workloads.a_m_s("MED-SYNC", 64 * MIB, speed=30),
    workloads.a_m_s("LARGE-SYNC-RAND", 64 * MIB, speed=30),
    workloads.genetic(16 * MIB, 40),
    workloads.sparse(32 * MIB, 450),
    workloads.gauss(16 * MIB, 1000),
    workloads.fourier(64 * MIB, 4),
]
if probes.LANGUAGES:
    MESSAGE_PASSING += [
        workloads.molecules(64 * MIB, 150),
        workloads.equations(64 * MIB, 2500),
    ]


@pytest.mark.parametrize("program", MESSAGE_PASSING, ids=lambda program: program.name)
def test_saved_by_each_protocol(lab, native, program):
    job = lab.start(program, **WAYS[0])
    for next_way in [*WAYS[1:], {}]:
        job.wait_for(program.progress, count=2)
        lab.checkpoint(job)
        job.kill()
        job = lab.restart(**next_way)
    job.succeed()
    assert lab.answer(program, job) == native(program).answer
