# SPDX-License-Identifier: BSD-3-Clause
"""MPI features in the middle of checkpoints for which no rank stands still: resumed,
and restarted three times in a row."""

import pytest
from test_probes import ROUNDS, Gate

from ckpttest.settings import FULL

# Probes with state that must cross the cut; each must be saved without a stop.
PROBES = [
    "blocked_ssend",
    "cancel",
    "drained_any",
    "early_collectives",
    "freed_pending",
    "gated_idup",
    "iallreduce",
    "late_collectives",
    "late_cut",
    "late_idup",
    "late_inter",
    "late_neighbors",
    "late_order",
    "matched_probe",
    "mixed_requests",
    "pending_ibarrier",
    "pending_ibcast",
    "persistent",
    "persistent_collectives",
    "send_modes",
    "synchronous_send",
    "twin_messages",
    "unreceived_ssend",
]


def save(gate):
    saved = gate.lab.checkpoint(gate.job)
    assert saved["protocol"] == "cl", saved


@pytest.mark.parametrize("name", PROBES)
def test_resume(lab, name):
    gate = Gate(lab, name, CKPT_PROTOCOL="cl")
    save(gate)
    save(gate)
    gate.open()


@pytest.mark.parametrize("name", PROBES)
def test_restarts_in_a_row(lab, name):
    gate = Gate(lab, name, CKPT_PROTOCOL="cl")
    for _ in range(ROUNDS if FULL else 1):
        save(gate)
        gate.kill_and_restart()
    gate.open()
