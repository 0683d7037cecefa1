# SPDX-License-Identifier: BSD-3-Clause
"""protocols.py - checkpoints of each protocol and pattern of communication: what
they take, and what chapter 2 of Plank's dissertation says that they take."""

import os
import subprocess
from dataclasses import dataclass

from ckpttest import programs
from ckpttest.lab import Lab
from ckpttest.settings import INSTALL

PROTOCOLS = {
    "sns": "Sync-and-Stop",
    "cl": "Chandy-Lamport",
    "ns": "Network sweeping",
}
RANKS = (2, 4, 8, 16, 32)
ROUNDS = 10**8  # the job is killed when it has been saved often enough


@dataclass(frozen=True)
class Case:
    """What is run."""

    protocol: str
    pattern: str
    ranks: int

    def channels(self):
        """Ordered pairs of ranks that exchange messages."""
        n = self.ranks
        return {
            "independent": 0,
            "ring": n,
            "all-to-all": n * (n - 1),
            "wildcard": 2 * (n - 1),
            "collective": 0,
        }[self.pattern]

    def formula(self):
        """(in words, number): the messages of the protocol itself."""
        n = self.ranks
        if self.protocol == "sns":
            return f"4 n = {4 * n}", 4 * n
        if self.protocol == "cl":
            words = {
                "ring": "n",
                "all-to-all": "n (n - 1)",
                "wildcard": "2 (n - 1)",
            }.get(self.pattern, "no channel")
            count = self.channels()
            return (f"{words} = {count}" if count else words), count
        return "one node", 0  # nodes sweep, and here there is one


def offered():
    """The protocols that the installed ckpt takes."""
    found = []
    for name in PROTOCOLS:
        done = subprocess.run(
            [INSTALL / "bin/ckpt", "tune", "--protocol", name],
            capture_output=True,
            check=False,
        )
        if done.returncode == 0:
            found.append(name)
    return found


def inside(saved):
    """Ranks that Sync-and-Stop has saved inside a collective: with nothing to drain,
    they are not asked to, and do not answer that they have."""
    cost = saved["cost"]["messages"]
    return 2 * saved["rank_count"] - cost["counts"] if "counts" in cost else 0


def is_as_expected(result, saved):
    """Whether a checkpoint has taken as many messages as the formula says."""
    return own_messages(saved) == result["expected"] - inside(saved)


def own_messages(saved):
    """How many messages the protocol itself has taken: m_SNS, m_CL or m_NS."""
    cost = saved["cost"]
    if saved["protocol"] == "sns":
        return cost["messages"]["stop and save"]
    return cost["markers"] if saved["protocol"] == "cl" else cost["sweep"]


def measure(directory, case, count, period_us, size):
    """Saves one job `count` times by the protocol; what `ckpt checkpoint` says of
    each, and how many were taken by Sync-and-Stop instead, as ckpt may."""
    lab = Lab(directory, CKPT_PROTOCOL=case.protocol, CKPT_KEEP=1)
    program = programs.pattern(case.pattern, ROUNDS, case.ranks, period_us, size)
    try:
        job = lab.start(program)
        job.wait_for("^begun")
        results, instead = [], 0
        while len(results) < count:
            job.wait_for(program.progress)
            saved = lab.checkpoint(job)
            if saved["protocol"] == case.protocol:
                results.append(saved)
            else:
                instead += 1
                assert instead <= count, f"{case} is not taken: {saved}"
        return results, instead
    finally:
        lab.close()


def everything(directory, cases, count, period_us, size, say):
    """[{"protocol", "pattern", "ranks", "channels", "formula", "expected",
    "checkpoints": [...]}]"""
    results = []
    for case in cases:
        say(f"{PROTOCOLS[case.protocol]}, {case.pattern}, {case.ranks} ranks")
        words, expected = case.formula()
        place = directory / f"{case.protocol}-{case.pattern}-{case.ranks}"
        saved, instead = measure(place, case, count, period_us, size)
        results.append(
            {
                "protocol": case.protocol,
                "pattern": case.pattern,
                "ranks": case.ranks,
                "channels": case.channels(),
                "formula": words,
                "expected": expected,
                "load": os.getloadavg()[0],
                "checkpoints": saved,
                "instead": instead,
            }
        )
    return results
