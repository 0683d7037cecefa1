# SPDX-License-Identifier: BSD-3-Clause
"""lazy.py - restarts before and after all memory is read, in pairs, beside the start of the
launcher."""

import time

import report
from ckpttest import processes, table
from ckpttest.lab import Lab
from ckpttest.programs import Program
from ckpttest.settings import BUILD

LIMIT = 60  # seconds
POLL = 0.002
KINDS = {"eager": "no", "lazy": "always"}


def page_walk(mebibytes):
    """A program that needs one page in each step."""
    return Program("page_walk", [BUILD / "benchmarks/page_walk", mebibytes], 2)


def seconds_to_progress(start, program):
    """Returns the job, and the seconds until its first progress."""
    begin = time.monotonic()
    job = start()
    job.wait_for(program.progress, timeout=LIMIT)
    return job, time.monotonic() - begin


def await_page_servers(lab):
    """Returns when all memory is there."""
    while any(
        processes.name_of(pid) == "ckpt-pages"
        for pid in processes.started_with("CKPT_DIR", str(lab.store))
    ):
        time.sleep(POLL)


def launches(lab, count):
    """Returns the seconds until the same program, with little memory, shows progress without
    ckpt: the part of the launcher."""
    program, found = page_walk(1), []
    for _ in range(count):
        job, seconds = seconds_to_progress(lambda: lab.start_native(program), program)
        found.append(seconds)
        job.kill()
    return found


def saved(lab, program):
    """Saves and kills a job; returns the name of the checkpoint."""
    job = lab.start(program)
    job.wait_for(program.progress, timeout=LIMIT)
    name = lab.checkpoint(job)["name"]
    job.kill()
    return name


def small_restarts(lab, count):
    """Returns the seconds of restarts with little memory: what no reading can beat."""
    program, found = page_walk(1), []
    name = saved(lab, program)
    for _ in range(count):
        job, seconds = seconds_to_progress(lambda: lab.restart(name), program)
        found.append(seconds)
        job.kill()
    return found


def measure(directory, mebibytes, count, codec):
    """Returns seconds by kind: {"launcher": [..], "small": [..], "eager": [..], "lazy": [..], "all
    pages": [..]}; the last three are of restarts from one checkpoint."""
    lab = Lab(directory, CKPT_CODEC=codec, CKPT_SNAPSHOT="stop")
    program = page_walk(mebibytes)
    try:
        found = {"launcher": launches(lab, count), "small": small_restarts(lab, count)}
        found.update({"eager": [], "lazy": [], "all pages": []})
        name = saved(lab, program)
        for _ in range(count):
            for kind, how in KINDS.items():
                begin = time.monotonic()
                job, seconds = seconds_to_progress(
                    lambda how=how: lab.restart(name, CKPT_LAZY=how), program
                )
                found[kind].append(seconds)
                if kind == "lazy":
                    await_page_servers(lab)
                    found["all pages"].append(time.monotonic() - begin)
                job.kill()
        return found
    finally:
        lab.close()


def everything(directory, options, say):
    """Returns [{"codec", ...measure()}]"""
    results = []
    for codec in options.codecs:
        say(codec)
        place = directory / codec
        results.append(
            {"codec": codec, **measure(place, options.mebibytes, options.count, codec)}
        )
    return results


HEADER = [
    "codec",
    "start of the launcher",
    "restart, 1 MiB",
    "eager restart",
    "lazy restart",
    "all pages there",
]


def text(data):
    """Returns the report, Markdown."""
    rows = [
        [one["codec"], *(table.spread(one[key]) for key in list(one)[1:])]
        for one in data["results"]
    ]
    parts = [
        "# Lazy restarts",
        "Seconds from the command to the first progress, or until all pages are there; median"
        " (least .. most).",
        report.markdown(["machine", ""], list(data["machine"].items())),
        report.markdown(HEADER, rows),
    ]
    return "\n\n".join(parts) + "\n"
