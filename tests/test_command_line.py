# SPDX-License-Identifier: BSD-3-Clause
"""The command line for users: help, mistyped words, and shell completion."""

import os
import shutil
import subprocess

import pytest

from ckpttest import non_mpi
from ckpttest.settings import INSTALL, TIMEOUT

BASH = INSTALL / "share/bash-completion/completions/ckpt"
ZSH = INSTALL / "share/zsh/site-functions/_ckpt"

# Wrong command lines, with the text that each message must contain.
WRONG = {
    "checkpiont": "unknown command 'checkpiont'; did you mean 'checkpoint'?",
    "xyzzy": "unknown command 'xyzzy'; see ckpt help",
    "": "give a command",
    "checkpoint --kil": "checkpoint has no option --kil; did you mean '--kill'?",
    "--json list": "--json goes behind the command: ckpt list --json",
    "--versoin": "ckpt has no option --versoin; did you mean '--version'?",
    "run mpirun -np 2 ./app": "run: 'mpirun' and what follows it must be behind --",
    "checkpoint a b": "checkpoint: 'b' is one word too many",
    "tune --dir": "--dir needs a value",
    "gc --keep 0": "--keep: invalid number '0': expected a whole number from 1 on",
    "gc --keep x": "--keep: invalid number 'x': expected a whole number from 1 on",
    "restart --verify fulll": "'fulll' is none of none, quick, full; did you mean 'full'?",
    "run --pool 12Q -- true": "--pool: invalid number of bytes '12Q'; write for example 200M or 1G",
}


@pytest.mark.parametrize("words", WRONG)
def test_what_is_wrong(lab, words):
    done = lab.ckpt(*words.split())
    assert done.returncode == 2
    assert WRONG[words] in done.stderr, done.stderr
    assert len(max(done.stderr.splitlines(), key=len)) < 200


def test_help(lab):
    assert lab.ckpt("help").stdout == lab.ckpt("--help").stdout
    assert lab.ckpt("help", "run").stdout == lab.ckpt("run", "--help").stdout
    assert lab.ckpt("help", "rnu").returncode == 2


@pytest.fixture(name="saved")
def saved_job(lab):
    """An ended job with one checkpoint; returns the checkpoint's manifest."""
    job = non_mpi.start(lab, "sleep", "1000")
    non_mpi.process_of(lab, job)
    assert lab.ckpt("checkpoint", "--kill", non_mpi.name(lab)).returncode == 0
    job.finish()
    return lab.store / non_mpi.name(lab) / "000001/manifest.json"


def test_the_only_checkpoint_is_damaged(lab, saved):
    """`ckpt` reports the damage without the words of a library, for the one job and for all."""
    saved.write_text("garbage", encoding="utf-8")
    for words in ([], [non_mpi.name(lab)]):
        done = lab.ckpt("restart", "--print", *words)
        assert done.returncode == 3
        assert f"{non_mpi.name(lab)}/1 is damaged: manifest {saved} is not JSON" in done.stderr
        assert "exception" not in done.stderr


def test_directories_around_a_checkpoint(lab, saved):
    done = lab.ckpt("restart", lab.store)
    assert f"{lab.store} is a directory of checkpoints, not a checkpoint" in done.stderr
    for words in (["restart", saved.parents[1]], ["list", "--dir", saved.parents[1]]):
        done = lab.ckpt(*words)
        assert done.returncode == 3
        assert f"is the directory of the job {non_mpi.name(lab)}" in done.stderr


def test_numbers_of_one(lab, saved):
    assert saved.exists()
    assert "good, 1 rank, 1 file, " in lab.ckpt("verify", non_mpi.name(lab)).stdout


def test_nothing_to_remove(lab, saved):
    assert lab.ckpt("gc", "--dry-run").stdout == "nothing would be removed\n"
    assert lab.ckpt("gc").stdout == "nothing was to be removed\n"
    assert saved.exists()


def completed(*words):
    """Returns bash's completions of the last word."""
    script = (
        'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _ckpt 2>&1; '
        'echo "${COMPREPLY[@]}"'
    )
    return subprocess.run(
        ["bash", "-c", script, BASH, *words],
        capture_output=True,
        check=True,
        text=True,
        timeout=TIMEOUT,
    ).stdout.split()


def test_bash_completes_commands_and_options(lab):
    assert completed("ckpt", "che") == ["checkpoint"]
    assert completed("ckpt", "help", "sw") == ["swap"]
    assert completed("ckpt", "run", "--unp") == ["--unprotected"]
    for command in ("run", "gc", "trace"):
        shown = lab.ckpt("help", command).stdout
        for option in completed("ckpt", command, "--"):
            assert option in shown


def test_zsh_knows_the_same(lab):
    text = ZSH.read_text(encoding="utf-8")
    assert text.startswith("#compdef ckpt\n")
    assert "'--unprotected=[" in text and "'--kill[" in text
    if shutil.which("zsh"):
        subprocess.run(["zsh", "-n", ZSH], check=True, timeout=TIMEOUT)
    assert lab.ckpt("completion", "fish").returncode == 2


def test_there_is_no_completion_where_nobody_reads(lab):
    """A write to a full device is an error, not silence with code 0."""
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run(
            [lab.ckpt_program, "completion", "bash"],
            stdout=full,
            stderr=subprocess.DEVNULL,
            env=os.environ,
            timeout=TIMEOUT,
            check=False,
        )
    assert done.returncode == 1
