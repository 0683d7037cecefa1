# SPDX-License-Identifier: BSD-3-Clause
"""Restarts with other paths: moved directories, and other jobs of the same user."""

import dataclasses
import os

import pytest

from ckpttest import probes, processes, programs
from ckpttest.lab import Lab


def some_seconds(steps=200):
    """A program with pauses, so its run takes as long on busy cores."""
    return programs.memory(1, steps, pause_us=10_000)


def start_waiting(lab, name="arguments"):
    """Starts a probe that waits at its gate; returns the job and the gate."""
    gate = lab.directory / "gate"
    job = lab.start(probes.probe(name, gate), **probes.ENVIRONMENT)
    job.wait_for("^waiting")
    return job, gate


def finish(job, gate):
    """Lets a restarted probe run to its end."""
    job.wait_for("^waiting")
    gate.touch()
    assert any(line.startswith("OK ") for line in job.succeed())


def test_moved_checkpoint_directory(lab):
    job, gate = start_waiting(lab)
    lab.checkpoint(job)
    job.kill()
    lab.store = lab.store.rename(lab.directory / "moved store")
    finish(lab.restart(), gate)


def test_copied_checkpoint_by_path(lab):
    """A checkpoint can be named by the path of its directory."""
    job, gate = start_waiting(lab)
    path = lab.checkpoint(job)["path"]
    job.kill()
    finish(lab.restart(path), gate)


def test_a_path_too_long_for_messages_to_ranks(lab):
    """The ranks get the path of their logs in a message. If it is too long, all ranks stand still
    for a checkpoint, and write no logs."""
    lab.store = lab.directory / ("long" * 50) / ("path" * 50)
    job = lab.start(programs.ring(10**8, 2), CKPT_PROTOCOL="cl")
    job.wait_for("^step")
    assert lab.checkpoint(job)["protocol"] == "sns"
    job.kill()
    lab.restart().wait_for("^step")


def test_the_rank_page_keeps_its_place(lab):
    """A signal may have interrupted the program with an address in the page in a register."""
    job, gate = start_waiting(lab)
    before = sorted(map(processes.rank_page_of, job.ranks()))
    for _ in range(2):
        lab.checkpoint(job)
        job.kill()
        job = lab.restart()
        job.wait_for("^waiting")
        assert sorted(map(processes.rank_page_of, job.ranks())) == before
    gate.touch()
    job.succeed()


def test_restart_from_another_directory(lab):
    """The program finds its own working directory again."""
    job, gate = start_waiting(lab, "process_state")
    lab.checkpoint(job)
    job.kill()
    old, lab.work = lab.work, lab.directory / "elsewhere"
    lab.work.mkdir()
    finish(lab.restart(), gate)
    assert (old / "appended.0").read_text() == "0123456789more"
    assert not list(lab.work.iterdir())


def test_moved_working_directory(lab):
    """The program is restarted in the moved directory, and works there."""
    job, gate = start_waiting(lab)
    lab.checkpoint(job)
    job.kill()
    lab.work = lab.work.rename(lab.directory / "moved work")
    finish(lab.restart(), gate)


def test_restarted_job_restarts_again(lab, native):
    """A restarted job can be saved and killed again."""
    program = some_seconds(300)
    parts = [lab.start(program)]
    for _ in range(3):
        parts[-1].wait_for(program.progress, count=5)
        lab.checkpoint(parts[-1])
        parts[-1].kill()
        parts.append(lab.restart())
    parts[-1].succeed()
    assert lab.answer(program, *parts) == native(program).answer


def test_two_jobs_at_once(tmp_path, native):
    """Two jobs of one user, saved, killed and restarted side by side."""
    labs = [Lab(tmp_path / name, holds=True) for name in ("a", "b")]
    kinds = [some_seconds(), programs.traffic(2000)]
    try:
        first = [lab.start(kind) for lab, kind in zip(labs, kinds, strict=True)]
        for job, kind in zip(first, kinds, strict=True):
            job.wait_for(kind.progress)
        for lab, job in zip(labs, first, strict=True):
            lab.checkpoint(job)
        for job in first:
            job.kill()
        second = [lab.restart() for lab in labs]
        for job in second:
            job.succeed()
        for lab, kind, *parts in zip(labs, kinds, first, second, strict=True):
            assert lab.answer(kind, *parts) == native(kind).answer
    finally:
        for lab in labs:
            lab.close()


def test_two_jobs_in_one_store(tmp_path, native):
    """Two jobs with different names share a checkpoint directory."""
    labs = [Lab(tmp_path / name, holds=True, CKPT_NAME=name) for name in ("a", "b")]
    labs[1].store = labs[0].store
    kinds = [some_seconds(), some_seconds(250)]
    try:
        first = [lab.start(kind) for lab, kind in zip(labs, kinds, strict=True)]
        for lab, job, kind in zip(labs, first, kinds, strict=True):
            job.wait_for(kind.progress)
            assert lab.checkpoint(job)["job"] == lab.settings["CKPT_NAME"]
        for job in first:
            job.kill()
        for lab, kind, part in zip(labs, kinds, first, strict=True):
            again = lab.restart(lab.settings["CKPT_NAME"])
            again.succeed()
            assert lab.answer(kind, part, again) == native(kind).answer
    finally:
        for lab in labs:
            lab.close()


def test_names_that_are_no_text(lab):
    """The names of the directories of checkpoints and sockets, and an argument, are in Latin-1."""
    odd = os.fsdecode(b"caf\xe9")
    lab.store = lab.directory / odd
    run = lab.directory / f"run {odd}"
    run.mkdir(mode=0o700)
    lab.settings = {"CKPT_RUN_DIR": run}
    job, gate = start_waiting(lab, "arguments")
    lab.checkpoint(job)
    (status,) = lab.ckpt_json("status", job.pid)
    assert status["phase"] == "running"
    job.kill()
    finish(lab.restart(), gate)


def test_names_with_commas(lab):
    """A comma in a name is distinguished from the comma between two directories."""
    fast, slow = lab.directory / "a,b", lab.directory / "c,d"
    lab.settings = {"CKPT_DIR": f"{fast},{slow}".replace("a,b", "a\\,b").replace("c,d", "c\\,d")}
    job, gate = start_waiting(lab)
    lab.checkpoint(job)
    job.kill()
    finish(lab.restart(), gate)
    assert list(fast.glob("*/job.json"))
    assert list(slow.glob("*/job.json"))
    assert {path.name for path in lab.directory.iterdir()} >= {"a,b", "c,d", "work"}


def test_libraries_of_the_application(lab):
    """LD_LIBRARY_PATH names other libraries, with which ckpt's programs cannot be loaded."""
    libraries = lab.directory / "libraries"
    libraries.mkdir()
    for name in ("libstdc++.so.6", "libzstd.so.1", "libfmt.so.9", "libsodium.so.23"):
        (libraries / name).write_text("no library", encoding="utf-8")
    lab.settings["LD_LIBRARY_PATH"] = str(libraries)
    job, gate = start_waiting(lab)
    lab.checkpoint(job)
    job.kill()
    finish(lab.restart(), gate)



@pytest.mark.parametrize(
    "script, has_more", [('"$@"; echo this, too', True), ('exec "$@"', False)]
)
def test_in_a_script(lab, native, script, has_more):
    """A restart starts only the program. If a shell started it and may have more to do afterwards,
    the restart says so."""
    program = some_seconds()
    argv = ["bash", "-c", script, "script", *program.argv]
    job = lab.start(dataclasses.replace(program, argv=argv))
    job.wait_for(program.progress)
    lab.checkpoint(job)
    job.kill()
    again = lab.restart()
    again.succeed()
    said = [line for line in again.lines if line.startswith("ckpt: only the program is started")]
    assert len(said) == int(has_more), again.lines
    assert all("bash -c" in line and "this, too" in line for line in said)
    assert lab.answer(program, job, again) == native(program).answer
