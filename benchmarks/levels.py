# SPDX-License-Identifier: BSD-3-Clause
"""levels.py - how fast checkpoints reach each level, and are restored after a loss of nodes, on
nodes in one box. Compares them with memcpy and plain writes there."""

import re
import statistics

import report
from ckpttest import non_mpi, programs, table
from ckpttest.cluster import Cluster
from ckpttest.settings import BUILD
from measure import named_seconds

NAME = "job"
NODES = 4  # with a rank each
SPARES = 2
STEPS = 10**6  # the job is killed after enough checkpoints
REST_US = 100000  # of a rank after each step: nearly all of the time
GATHERED = re.compile(r"^ckpt: \d+ pieces? .* made again in ([\d.]+) (m?)s$")

# name -> (redundancy, copies to the disk, lost nodes, aim in GB/s)
LEVELS = {
    "memory of the node": ("none", "1h", 0, 3.0),
    "partner": ("partner", "1h", 1, None),
    "N+1 parity": ("parity", "1h", 1, 2.0),
    "Reed-Solomon, two losses": ("rs2", "1h", 2, 1.5),
    "disk": ("none", "every", 0, None),
}


class Job:
    """A job under ckpt run, with its checkpoints in the memory of nodes."""

    def __init__(self, directory, options, redundancy, disk, fabric):
        self.box = Cluster(directory / "cluster", NODES + SPARES)
        self.lab = self.box.lab(directory / "lab", head=True, CKPT_CODEC="none")
        self.program = programs.memory(options.mebibytes, STEPS, NODES, REST_US)
        self.program.prepare(self.lab.work)
        levels = ["memory", f"disk:{disk}"]
        levels += [redundancy] if redundancy != "none" else []
        command = [self.lab.ckpt_program, "run", "--name", NAME, "--spares", SPARES]
        command += ["--snapshot", options.snapshot, "--fabric", fabric]
        command += ["--levels", ",".join(levels), "--"]
        # Removes everything that is left.
        self.job = self.lab._start(
            [*command, *self.lab.mpirun_command(self.program)], {}
        )

    def close(self):
        """Whatever is left."""
        self.job.kill()
        self.lab.close()
        self.box.close()

    def _status(self):
        return self.lab.on("n1").ckpt_json("status", NAME)[0]

    def save(self, what):
        """Takes a checkpoint and waits until it reaches a level, which `what` names in the status.
        Returns the report of `ckpt checkpoint`, and the status."""
        self.job.wait_for(self.program.progress)
        saved = self.lab.on("n1").ckpt_json("checkpoint", NAME)

        def has_come():
            status = self._status()
            error = status["redundancy_error"] + status["flush_error"]
            assert not error, error
            return status if what is None or status[what] == saved["number"] else None

        return saved, non_mpi.wait_until(self.job, has_come)

    def lose(self, count):
        """Returns the seconds until the pieces of lost nodes have been rebuilt, from the output of
        ckpt run."""
        for node in self.box.names[1 : 1 + count]:
            self.box.kill(node)
        self.job.wait_for(GATHERED.pattern)
        line = self.job.lines[self.job._next - 1]  # pylint: disable=protected-access
        seconds, milli = GATHERED.match(line).groups()
        return float(seconds) / (1000 if milli else 1)


def ways(options):
    """Yields (name, level, fabric) of each measurement."""
    for level, (_, _, losses, _) in LEVELS.items():
        yield level, level, "off"
        if losses and options.fabric:
            yield f"{level}, over {options.fabric}", level, options.fabric


def measure(directory, options, level, fabric):
    """Returns {"bytes", "seconds": [of each checkpoint, to this level], "rebuilt": seconds or
    None}"""
    redundancy, disk, losses, _ = LEVELS[level]
    what = "redundant" if losses else "flushed" if disk == "every" else None
    job = Job(directory, options, redundancy, disk, fabric)
    try:
        seconds = []
        for _ in range(options.count + 1):  # the first touches fresh memory
            saved, status = job.save(what)
            later = status["redundancy_seconds"] if losses else 0
            later += status["flush_seconds"] if what == "flushed" else 0
            local = saved["timings"]["total"]
            seconds.append({"all": local + later, "later": later})
        rebuilt = job.lose(losses) if losses else None
        return {"bytes": saved["bytes"], "seconds": seconds[1:], "rebuilt": rebuilt}
    finally:
        job.close()


def everything(directory, options, say):
    """Returns {"floor": of memory and disk, "levels": {name: measure() and "level"}}"""
    program = BUILD / "benchmarks/stream_floor"
    size = NODES * options.mebibytes
    say("plain")
    results = {"floor": named_seconds(program, directory / "stream", size, options.count)}
    results["levels"] = {}
    for number, (name, level, fabric) in enumerate(ways(options)):
        say(name)
        measured = measure(directory / str(number), options, level, fabric)
        results["levels"][name] = {"level": level, **measured}
    return results


def rate(size, seconds):
    """Returns a rate in MB/s."""
    return f"{size / seconds / 1e6:.0f}"


HEADER = ["level", "seconds", "MB/s, median", "best", "after the commit", "aim",
          "nodes lost, made again in"]


def rows(results, options):
    """Yields the rows of the plain program, then of each level."""
    size = NODES * options.mebibytes * 2**20
    for name, values in sorted(results["floor"].items()):
        middle = statistics.median(values)
        yield [f"plain: {name}", table.spread(values), rate(size, middle),
               rate(size, min(values)), "", "", ""]
    for name, result in results["levels"].items():
        whole = [one["all"] for one in result["seconds"]]
        later = [one["later"] for one in result["seconds"]]
        _, _, losses, aim = LEVELS[result["level"]]
        middle = statistics.median(whole)
        reached = result["bytes"] / middle / 1e9
        verdict = "" if aim is None else f"{aim:.1f} GB/s: {report.met(reached >= aim)}"
        rebuilt = ""
        if losses:
            rebuilt = f"{losses}: {table.seconds(result['rebuilt'])}"
        yield [name, table.spread(whole), rate(result["bytes"], middle),
               rate(result["bytes"], min(whole)),
               table.spread(later) if any(later) else "", verdict, rebuilt]


def text(data, options):
    """Returns the report, Markdown."""
    parts = [
        "# How fast checkpoints come to a level",
        f"{NODES} nodes in one box, each with a rank of {options.mebibytes} MiB, `--codec none"
        f" --snapshot {options.snapshot}`; median (least .. most) of {options.count}, from the"
        " request until the checkpoint is there, all bytes of the job. Plain: as many bytes"
        " by one process, with fsync.",
        report.markdown(["machine", ""], list(data["machine"].items())),
        report.markdown(HEADER, list(rows(data["results"], options))),
    ]
    return "\n\n".join(parts) + "\n"
