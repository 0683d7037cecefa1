# SPDX-License-Identifier: BSD-3-Clause
"""cycles.py - kills a job at random moments, also in the middle of a
checkpoint, and restarts it.

A cycle is one run of a self-checking program. It is started, saved once or
more, killed with SIGKILL at a random moment and restarted from the newest
committed checkpoint. It may be killed again before it runs to its end. Each
restart must go on where that checkpoint was taken, and each answer must be
right.
"""

import json
import random
import re
import subprocess
import threading
from collections import Counter
from dataclasses import dataclass

from .lab import Lab

LONGEST_WAIT = 0.4  # seconds from one random moment to the next
STEPS_PER_LINE = 250  # of the ring; other programs have fewer
REPORT = re.compile(r"^step (\d+)")

# (protocol, which ranks are staggered), for each subject of a campaign.
WAYS = {
    "sns": [("sns", "no")],
    "cl": [("cl", "no"), ("cl", "node")],
    "ns": [("ns", "no"), ("ns", "node")],
}
SNAPSHOTS = ("stop", "memory", "cow", "cll")
CODECS = ("none", "lz4", "zstd", "auto")
INCREMENTS = ("0", "1", "4")  # incremental checkpoints after a full one
WAYS["each"] = [way for ways in WAYS.values() for way in ways]


@dataclass
class Known:
    """The steps between which a checkpoint was taken."""

    after: int  # the last step seen before the request
    before: int = None  # the last step seen after the commit


def last_step(job):
    """The newest step that a job has reported, -1 if none."""
    for line in reversed(job.lines):
        match = REPORT.match(line)
        if match:
            return int(match[1])
    return -1


class Cycle:
    """One run of a program with kills and restarts."""

    def __init__(self, directory, program, chance, way):
        protocol, stagger = way
        self.snapshot = chance.choice(SNAPSHOTS)
        self.codec = chance.choice(CODECS)
        self.increments = chance.choice(INCREMENTS)
        self.lab = Lab(
            directory,
            CKPT_NAME="cycle",
            CKPT_PROTOCOL=protocol,
            CKPT_STAGGER=stagger,
            CKPT_SNAPSHOT=self.snapshot,
            CKPT_CODEC=self.codec,
            CKPT_INCREMENTAL=self.increments,
        )
        self.program = program
        self.chance = chance
        self.known = {}  # number of a checkpoint -> Known
        self.unfinished = None  # a checkpoint that was under way at a kill
        self.counts = Counter()
        self.parts = []

    def pause(self):
        """Lets the job run for a random time. False if it has ended."""
        return self.parts[-1].run_on(self.chance.uniform(0, LONGEST_WAIT))

    def save(self):
        """Takes a checkpoint and notes when. False if the job has ended."""
        job = self.parts[-1]
        after = last_step(job)
        done = self.lab.ckpt("checkpoint", job.pid, "--json")
        if done.returncode != 0:
            ended = not job.run_on(5)
            assert ended, f"checkpoint: {done.stderr}"
            return False
        saved = json.loads(done.stdout)
        self.known[saved["number"]] = Known(after, last_step(job))
        self.counts[f"checkpoints by {saved['protocol']}"] += 1
        self.counts[f"with {self.snapshot}"] += 1
        self.counts[f"with codec {self.codec}"] += 1
        self.counts[f"with up to {self.increments} increments"] += 1
        return True

    def kill(self):
        """Sends SIGKILL to everything, in one of three cases during a
        checkpoint."""
        job = self.parts[-1]
        if self.chance.random() < 1 / 3:
            self.kill_in_checkpoint(job)
        else:
            job.kill()
        self.counts["kills"] += 1

    def kill_in_checkpoint(self, job):
        """Kills while a checkpoint is requested, taken or written."""
        after = last_step(job)
        request = threading.Thread(
            target=self.lab.ckpt, args=("checkpoint", job.pid)
        )
        request.start()
        job.run_on(self.chance.expovariate(1 / 0.03))
        in_time = request.is_alive()
        job.kill()
        request.join()
        self.counts["kills during a checkpoint"] += in_time
        self.unfinished = Known(after, last_step(job))

    def restart(self):
        """Restarts the newest checkpoint and checks that the job goes on from
        there."""
        newest = self.lab.checkpoints()[-1]
        known = self.known.get(newest["number"], self.unfinished)
        job = self.lab.restart()
        self.parts.append(job)
        match = job.wait_for(REPORT.pattern + "|^OK")
        self.counts["restarts"] += 1
        if match[1] is not None:
            step = int(match[1])
            assert known.after < step <= known.before + STEPS_PER_LINE, (
                f"checkpoint {newest['name']} was taken after step "
                f"{known.after} and by step {known.before}, but the restarted "
                f"job begins at {step}"
            )

    def run(self):
        """Runs the whole cycle; returns the answer."""
        self.parts.append(self.lab.start(self.program))
        self.parts[0].wait_for(REPORT.pattern)
        for _ in range(self.chance.choice([1, 1, 1, 2, 3])):
            saves = self.chance.choice([1, 1, 2])
            alive = all(self.pause() and self.save() for _ in range(saves))
            if not alive or not self.pause():
                break
            self.kill()
            self.restart()
        job = self.parts[-1]
        job.succeed()
        return self.program.answer(job.lines, self.lab.work)


def run_cycles(
    directory, cycles, seed, program, ways=WAYS["sns"], show=print
):
    """Runs cycles until one fails; returns the counts. Raises on a failure.

    program: prints its progress at least every STEPS_PER_LINE steps.
    ways: values of WAYS, which the cycles take in turn.
    """
    native = Lab(directory / "native")
    expected = native.run_native(program).answer
    totals = Counter()
    for number in range(cycles):
        chance = random.Random(seed + number)
        way = ways[(seed + number) % len(ways)]
        cycle = Cycle(directory / f"cycle{number}", program, chance, way)
        try:
            answer = cycle.run()
            assert answer == expected, f"{answer} instead of {expected}"
        except Exception as error:
            raise AssertionError(
                f"cycle {number} (seed {seed + number}): {error}"
            ) from error
        finally:
            cycle.lab.close()
        totals += cycle.counts
        totals["right answers"] += 1
        subprocess.run(["rm", "-rf", cycle.lab.directory], check=True)
        if (number + 1) % 10 == 0:
            show(f"{number + 1} cycles: {dict(totals)}")
    return totals
