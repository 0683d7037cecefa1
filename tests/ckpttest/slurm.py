# SPDX-License-Identifier: BSD-3-Clause
"""slurm.py - a private Slurm on the nodes of cluster.py: munge, slurmctld and a slurmd for each
node, with all their files in one directory. Needs root."""

import json
import os
import re
import shlex
import shutil
import subprocess
import time
from pathlib import Path

from . import cluster, processes
from .job import Job
from .settings import TIMEOUT, environment

POLL = 0.1  # seconds between two questions to Slurm
DAEMONS = ("munged", "slurmctld", "slurmd")

# docs/schedulers.md says which settings matter to checkpoints. Each node claims more processors
# than the machine has.
CONFIGURATION = """\
ClusterName=ckpt
SlurmctldHost={first}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={run}/munge,cred_expire=5
StateSaveLocation={directory}/state
SlurmdSpoolDir={directory}/spool-%n
SlurmctldPidFile={directory}/slurmctld.pid
SlurmdPidFile={directory}/slurmd-%n.pid
SlurmctldLogFile={directory}/slurmctld.log
SlurmdLogFile={directory}/slurmd-%n.log
PlugStackConfig={directory}/none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
MpiDefault=none
ReturnToService=2
SchedulerParameters=sched_interval=1,batch_sched_delay=0,bf_interval=1
OverTimeLimit=0
KillWait={kill_wait}
SlurmdTimeout={node_timeout}
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
SlurmctldParameters=preempt_send_user_signal
NodeName={nodes} CPUs={slots} State=UNKNOWN
PartitionName=low Nodes={nodes} Default=YES PriorityTier=1 GraceTime={grace}
PartitionName=high Nodes={nodes} PriorityTier=2 PreemptMode=OFF
"""


def missing():
    """Returns what this machine lacks for Slurm; empty if nothing."""
    lacking = [name for name in DAEMONS if shutil.which(name) is None]
    if lacking:
        return f"no {', '.join(lacking)} (packages slurm-wlm and munge)"
    return "" if cluster.is_possible() else "no network namespaces for this user"


def _wait_until(condition, what, timeout=TIMEOUT):
    """Waits until the condition is true; returns its value."""
    deadline = time.monotonic() + timeout
    while not (found := condition()):
        assert time.monotonic() < deadline, f"not in {timeout:g} s: {what()}"
        time.sleep(POLL)
    return found


class Slurm:
    """A cluster of nodes n1, n2, ... with partitions `low` and `high`. The controller runs on
    n1."""

    def __init__(self, directory, nodes=2, slots=4, **times):
        """times, in seconds: grace, of preemption; kill_wait, from SIGTERM to SIGKILL;
        node_timeout, after which a silent node is down."""
        self.directory = Path(directory)
        self.directory.mkdir(parents=True)
        self.nodes = cluster.Cluster(self.directory / "cluster", nodes)
        self.names = self.nodes.names
        self.daemons = []
        try:
            self._configure(slots, {"grace": 60, "kill_wait": 5, "node_timeout": 60, **times})
            self._start_munge()
            self._start(self.names[0], "slurmctld", "-D", "-i")
            for name in self.names:
                self.start_node(name)
            self.wait_for_nodes(dict.fromkeys(self.names, "idle"))
        except BaseException:
            self.close()
            raise

    def _configure(self, slots, times):
        text = CONFIGURATION.format(
            first=self.names[0],
            nodes=",".join(self.names),
            slots=slots,
            run=self.nodes.run,
            directory=self.directory,
            **times,
        )
        self._write("slurm.conf", text)
        # No cgroup file system is mounted in a network namespace.
        self._write("cgroup.conf", "CgroupPlugin=cgroup/v1\n")
        self._write("mpi.conf", f"PMIxCliTmpDirBase={self.nodes.run}/here\n")
        for name in ["state", *(f"spool-{node}" for node in self.names)]:
            (self.directory / name).mkdir()

    def _write(self, name, text):
        (self.directory / name).write_text(text, encoding="utf-8")

    def _start_munge(self):
        key = self.directory / "munge.key"
        key.touch(0o600)
        key.write_bytes(os.urandom(128))
        socket = self.nodes.run / "munge"
        files = {
            "key": key,
            "socket": socket,
            "pid": self.directory / "munged.pid",
            "log": self.directory / "munged.log",
            "seed": self.directory / "munged.seed",
        }
        options = [f"--{name}{'' if name == 'socket' else '-file'}={path}"
                   for name, path in files.items()]
        self._start(self.names[0], "munged", "--foreground", "--force", *options)
        _wait_until(socket.exists, lambda: "munged listens")

    def _start(self, node, *command):
        with open(self.directory / f"{command[0]}-{node}.out", "wb") as output:
            self.daemons.append(
                subprocess.Popen(
                    self._on(node, command),
                    env=self.environment(),
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    start_new_session=True,
                )
            )

    def _on(self, node, command):
        """Returns the command that runs `command` on a node."""
        return [self.nodes.enter, node, shlex.join(str(word) for word in command)]

    def environment(self, **more):
        """Returns the environment of commands, and so of the jobs that they submit."""
        ours = {
            "SLURM_CONF": self.directory / "slurm.conf",
            "CKPT_RUN_DIR": self.nodes.run / "here/ckpt",
            "TMPDIR": self.nodes.run / "here",
        }
        return environment(**ours, **more)

    def start_node(self, name):
        """Starts the node's slurmd."""
        self._start(name, "slurmd", "-D", "-N", name)

    def wait_for_nodes(self, states):
        """Waits until the nodes have the states in this dictionary."""

        def found():
            lines = self.run("sinfo", "-h", "-N", "-o", "%N %t", check=False).splitlines()
            return dict(line.split() for line in lines)

        _wait_until(lambda: states.items() <= found().items(), found)

    def run(self, *command, check=True, directory=None):
        """Runs a command of Slurm on n1; returns its output."""
        done = subprocess.run(
            self._on(self.names[0], command),
            cwd=directory,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )
        assert done.returncode == 0 or not check, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout

    def start(self, directory, *command):
        """Starts a command on n1 that goes on, such as salloc; its output is followed."""
        return Job(self._on(self.names[0], command), directory, self.environment())

    def submit(self, directory, script, *words, options=()):
        """Submits a script with arguments, in a directory. options: of sbatch."""
        output = Path(directory, "slurm-%j.out")
        sbatch = ["sbatch", "--parsable", f"--output={output}", *options, script, *words]
        number = self.run(*sbatch, directory=directory).strip()
        return BatchJob(self, number, Path(str(output).replace("%j", number)))

    def cancel_all(self):
        """Cancels all jobs and waits for their end."""
        self.run("scancel", "--user=root", check=False)
        _wait_until(lambda: not self.run("squeue", "-h"), lambda: self.run("squeue"))

    def wait_for_checkpoint(self, directory, job, number):
        """Waits until the checkpoint is committed."""
        manifest = Path(directory, "ckpt", job, f"{number:06}", "manifest.json")
        _wait_until(manifest.exists, lambda: f"{manifest} is there")

    def save_with_copies(self, directory, job):
        """Takes a checkpoint of a job on n1; returns when copies of its ranks are kept."""
        self.run("ckpt", "checkpoint", job, directory=directory)

        def kept():
            (status,) = json.loads(self.run("ckpt", "status", job, "--json", directory=directory))
            return status["in_place"]["kept"] == status["last"]["number"]

        _wait_until(kept, lambda: f"{job} keeps copies")

    def kill_a_rank(self, program):
        """Sends SIGKILL to one process of a program, on whatever node."""
        running = (pid for name in self.names for pid in self.nodes.processes(name))
        processes.kill(next(pid for pid in running if processes.name_of(pid) == program))

    def close(self):
        """Kills everything that runs on the nodes, jobs and daemons."""
        self.nodes.close()
        for daemon in self.daemons:
            daemon.wait(TIMEOUT)


class BatchJob:
    """A job that was submitted with sbatch."""

    def __init__(self, slurm, number, output):
        self.slurm = slurm
        self.number = number
        self.output = output

    def facts(self):
        """Returns all fields of `scontrol show job`: "JobState", "Restarts", "NodeList", ..."""
        text = self.slurm.run("scontrol", "-o", "show", "job", self.number)
        return dict(word.split("=", 1) for word in text.split() if "=" in word)

    @property
    def lines(self):
        """Returns the lines of its output, all parts in order."""
        if not self.output.exists():
            return []
        return self.output.read_text("utf-8", errors="replace").splitlines()

    def wait_for(self, pattern, count=1, timeout=TIMEOUT):
        """Waits until `count` lines of the output match the pattern; returns the last such line."""
        regex = re.compile(pattern)

        def found():
            matches = [match for line in self.lines if (match := regex.search(line))]
            return matches[count - 1] if len(matches) >= count else None

        return _wait_until(found, lambda: f"{count} '{pattern}' in {self._tail()}", timeout)

    def wait_for_state(self, *states, timeout=TIMEOUT):
        """Waits until Slurm reports one of these states; returns Slurm's facts."""

        def found():
            facts = self.facts()
            return facts if facts["JobState"] in states else None

        return _wait_until(found, lambda: f"{states}: {self.facts()} {self._tail()}", timeout)

    def succeed(self, timeout=TIMEOUT):
        """Waits until the job is completed; returns Slurm's facts."""
        ends = ("COMPLETED", "FAILED", "TIMEOUT", "CANCELLED", "NODE_FAIL", "PREEMPTED")
        facts = self.wait_for_state(*ends, timeout=timeout)
        assert facts["JobState"] == "COMPLETED", f"{facts} {self._tail()}"
        return facts

    def warn(self):
        """Sends the signal that Slurm would send before a time limit."""
        self.slurm.run("scancel", "--batch", "--signal=USR1", self.number)

    def start_again_soon(self):
        """Makes a requeued job eligible: Slurm lets it wait for a while. In the same second, its
        credential would still be the revoked one."""
        self.wait_for_state("PENDING")
        self.slurm.run("scontrol", "update", f"JobId={self.number}", "StartTime=now+2")

    def _tail(self):
        return "\n".join(["its output", *self.lines[-25:]])
