# SPDX-License-Identifier: BSD-3-Clause
"""pmix.py - checkpoint requests as a resource manager makes them (apps/pmix)."""

import re
import subprocess

from . import processes
from .settings import APPS, TIMEOUT, environment

MANAGER = APPS / "pmix/manager"
COMPLETE = -107  # PMIX_JCTRL_CHECKPOINT_COMPLETE
FAILED = -5  # PMIX_ERR_PROC_CHECKPOINT


def _variables(pid):
    """Returns the PMIx variables that the launcher gave a rank."""
    words = processes.environment_of(pid).decode().split("\0")
    return dict(word.split("=", 1) for word in words if word.startswith("PMIX_"))


def command_of_client(pids, rank):
    """Returns the command of a manager that is a PMIx client under this rank's identity, and asks
    all other ranks. pids: process ids of the ranks."""
    (variables,) = (v for v in map(_variables, pids) if v["PMIX_RANK"] == str(rank))
    words = [f"{name}={value}" for name, value in variables.items()]
    return ["env", *words, MANAGER, variables["PMIX_NAMESPACE"]]


def ask_as_tool(status, libraries, *ranks, **more):
    """Runs the manager as a tool of the job's mpirun, with the PMIx in `libraries`; returns its
    output. status: the job's status."""
    done = subprocess.run(
        [MANAGER, status["launch_namespace"], *(str(rank) for rank in ranks)],
        env=environment(
            LD_LIBRARY_PATH=libraries, MANAGER_SERVER=status["launcher_pid"], **more
        ),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert done.returncode == 0, done
    return done.stdout


def answer_in(output):
    """Returns the status that answered a request, 0 without an answer."""
    return int(re.search(r"^answer (-?\d+)$", output, re.MULTILINE)[1])
