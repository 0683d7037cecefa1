# SPDX-License-Identifier: BSD-3-Clause
"""protocols.py - checkpoints of each protocol and pattern of communication: their
measured cost, and the cost by chapter 2 of Plank's dissertation."""

import contextlib
import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import sweep_formula
from ckpttest import programs
from ckpttest.cluster import Cluster
from ckpttest.lab import Lab
from ckpttest.settings import INSTALL

PROTOCOLS = {
    "sns": "Sync-and-Stop",
    "cl": "Chandy-Lamport",
    "ns": "Network sweeping",
}
RANKS = (2, 4, 8, 16, 32)
NODES = (2, 3, 4, 6, 8)  # for network sweeping
QUIET = ("independent", "collective")  # patterns without messages from rank to rank
ROUNDS = 10**8  # the job is killed after enough checkpoints


@dataclass(frozen=True)
class Case:
    """A case to be run."""

    protocol: str
    pattern: str
    ranks: int
    nodes: int = 1
    dimensions: int = 0  # of the sweep; 0: a hypercube

    def per_node(self):
        """Returns the ranks of each node; the last one may have fewer."""
        return -(-self.ranks // self.nodes)

    def is_possible(self):
        """Whether each node gets a rank."""
        return -(-self.ranks // self.per_node()) == self.nodes

    def name(self):
        """Returns a name for a file."""
        return f"{self.protocol}-{self.pattern}-{self.ranks}-{self.nodes}"

    def channels(self):
        """Returns the number of ordered pairs of ranks that exchange messages."""
        n = self.ranks
        return {
            "independent": 0,
            "ring": n,
            "all-to-all": n * (n - 1),
            "wildcard": 2 * (n - 1),
            "collective": 0,
        }[self.pattern]

    def may_be_quiet(self):
        """Whether there are checkpoints without a sweep: no rank has sent a message to
        another one since the previous checkpoint. The first checkpoint of a job has no
        previous one."""
        return self.protocol == "ns" and self.nodes > 1 and self.pattern in QUIET

    def formula(self):
        """Returns (in words, number): the messages of the protocol itself, for the
        first checkpoint of a job."""
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
        words, count = sweep_formula.formula(self.nodes, self.dimensions)
        return f"{words}, then quiet: 0" if self.may_be_quiet() else words, count


def offered():
    """Returns the protocols that the installed ckpt accepts."""
    return accepted("--protocol", PROTOCOLS)


def accepted(option, names):
    """Returns the names that an option of the installed ckpt accepts."""
    found = []
    for name in names:
        done = subprocess.run(
            [INSTALL / "bin/ckpt", "tune", option, name],
            capture_output=True,
            check=False,
        )
        if done.returncode == 0:
            found.append(name)
    return found


def inside(saved):
    """Returns how many ranks Sync-and-Stop has saved inside a collective. They drain no
    messages, so they get no order to drain and send no answer."""
    cost = saved["cost"]["messages"]
    return 2 * saved["rank_count"] - cost["counts"] if "counts" in cost else 0


def is_as_expected(saved):
    """Whether a checkpoint has taken as many messages as the formula gives."""
    return own_messages(saved) == saved["expected"] - inside(saved)


def own_messages(saved):
    """Returns how many messages the protocol itself has taken: m_SNS, m_CL or m_NS."""
    cost = saved["cost"]
    if saved["protocol"] == "sns":
        return cost["messages"]["stop and save"]
    return cost["markers"] if saved["protocol"] == "cl" else cost["sweep"]


@contextlib.contextmanager
def lab_of(directory, case):
    """A lab with the nodes of a case; all its processes are killed at the end."""
    settings = {"CKPT_PROTOCOL": case.protocol, "CKPT_SNAPSHOT": "stop", "CKPT_KEEP": 1}
    if case.dimensions:
        settings["CKPT_SWEEP_DIMENSIONS"] = case.dimensions
    with contextlib.ExitStack() as stack:
        if case.nodes == 1:
            lab = Lab(directory, **settings)
        else:
            # Nodes share the processors, so ranks must yield. mpirun cannot see that,
            # as no node alone has too many ranks.
            settings["OMPI_MCA_mpi_yield_when_idle"] = 1
            cluster = Cluster(directory / "cluster", case.nodes)
            stack.callback(cluster.close)
            lab = cluster.lab(directory / "lab", case.per_node(), **settings)
        stack.callback(lab.close)
        yield lab


def ranks_by_node(saved):
    """Returns how many ranks each node has saved."""
    text = Path(saved["path"], "manifest.json").read_text("utf-8")
    return [len(piece["ranks"]) for piece in json.loads(text)["pieces"]]


def measure(directory, case, count, period_us, size):
    """Saves one job `count` times by the protocol. Returns the reports of `ckpt
    checkpoint`, and how many checkpoints were taken by Sync-and-Stop instead, as ckpt
    may do."""
    program = programs.pattern(case.pattern, ROUNDS, case.ranks, period_us, size)
    with lab_of(directory, case) as lab:
        job = lab.start(program)
        job.wait_for("^begun")
        results, instead = [], 0
        while len(results) < count:
            job.wait_for(program.progress)
            saved = lab.checkpoint(job)
            placed = ranks_by_node(saved)
            assert len(placed) == case.nodes, f"{case} on {len(placed)} nodes"
            assert max(placed) == case.per_node(), f"{case} has {placed}"
            if saved["protocol"] == case.protocol:
                results.append(saved)
            else:
                instead += 1
                assert instead <= 5 * count, f"{case} is not taken: {saved}"
        return results, instead


def result_of(case, saved, instead):
    """Returns a case with its checkpoints in the report's form; adds "expected" to each
    checkpoint."""
    words, expected = case.formula()
    for number, checkpoint in enumerate(saved):
        is_quiet = number > 0 and case.may_be_quiet()
        checkpoint["expected"] = 0 if is_quiet else expected
    return {
        "protocol": case.protocol,
        "pattern": case.pattern,
        "ranks": case.ranks,
        "nodes": case.nodes,
        "dimensions": case.dimensions,
        "channels": case.channels(),
        "formula": words,
        "expected": expected,
        "load": os.getloadavg()[0],
        "checkpoints": saved,
        "instead": instead,
    }


def everything(directory, cases, count, period_us, size, say):
    """Returns (results, failures): a list of result_of(), and a text for each case that
    could not be measured. A failure does not affect the other cases."""
    results, failures = [], []
    for case in cases:
        where = f" on {case.nodes} nodes" if case.nodes > 1 else ""
        name = f"{PROTOCOLS[case.protocol]}, {case.pattern}, {case.ranks} ranks{where}"
        say(name)
        try:
            measured = measure(
                directory / case.name(), case, count, period_us, size
            )
        except (AssertionError, OSError, subprocess.SubprocessError) as error:
            failures.append(f"{name}: {error}")
            say(failures[-1])
        else:
            results.append(result_of(case, *measured))
    return results, failures
