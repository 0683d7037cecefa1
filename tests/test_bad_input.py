# SPDX-License-Identifier: BSD-3-Clause
"""Bad input gets a clear error and loses nothing."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from ckpttest import probes, programs
from ckpttest.lab import Lab

FAILED, USAGE, NOT_FOUND, REFUSED = 1, 2, 3, 4  # as in ckpt(1)
NOBODY = 65534

as_root = pytest.mark.skipif(os.getuid() != 0, reason="needs root")


def expect(done, code, pattern):
    """The command must have failed with this code and such a message."""
    assert done.returncode == code, done
    assert re.search(pattern, done.stderr), done.stderr


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A killed job with two checkpoints; tests work on copies of its store."""
    lab = Lab(tmp_path_factory.mktemp("saved"), holds=True, CKPT_NAME="job")
    program = programs.ring(20000)
    try:
        job = lab.start(program)
        for _ in range(2):
            job.wait_for(program.progress)
            lab.checkpoint(job)
        job.kill()
        job.let_end()  # a job restarted in a copy of the lab is not held
        # Waits until ckpt sees that the job has ended.
        assert lab.ckpt("restart", "--print").returncode == 0
    finally:
        lab.close()
    return lab


class Copy:
    """A copy of the store that can be damaged."""

    def __init__(self, saved, lab):
        shutil.copytree(saved.store, lab.store)
        self.lab = lab
        self.older, self.newest = (Path(c["path"]) for c in lab.checkpoints())

    @property
    def image(self):
        """The node file of the newest checkpoint."""
        (path,) = self.newest.glob("node-*.h5")
        return path

    @property
    def manifest(self):
        """The manifest of the newest checkpoint."""
        return self.newest / "manifest.json"

    def expect_damage(self, *patterns):
        """Both verify and restart refuse, and name the damage."""
        for command in ("verify", "restart"):
            done = self.lab.ckpt(command, self.newest)
            for pattern in patterns:
                expect(done, FAILED, pattern)

    def expect_older_one_works(self, native):
        """The checkpoint before can still be restarted."""
        job = self.lab.restart(self.older)
        assert job.succeed()[-1] == native(programs.ring(20000)).answer


@pytest.fixture
def copy(saved, lab):
    """A copy of the store of `saved`, to be damaged."""
    return Copy(saved, lab)


@pytest.mark.parametrize("word", ["nothing", "job/99", "./no/such/path"])
@pytest.mark.parametrize("command", ["restart", "verify", "inspect"])
def test_unknown_checkpoint(copy, command, word):
    expect(
        copy.lab.ckpt(command, word), NOT_FOUND, re.escape(word.split("/")[0])
    )


def test_no_checkpoint_directory(lab):
    expect(lab.ckpt("restart"), NOT_FOUND, re.escape(str(lab.store)))


@pytest.mark.parametrize("kept", [0.0, 0.5, 0.99])
def test_truncated_image(copy, native, kept):
    os.truncate(copy.image, int(copy.image.stat().st_size * kept))
    copy.expect_damage(re.escape(copy.image.name))
    copy.expect_older_one_works(native)


def test_bit_flip_in_saved_memory(copy):
    """verify names file, rank and chunk; a restart refuses the checkpoint."""
    with open(copy.image, "r+b") as image:
        image.seek(copy.image.stat().st_size // 2)
        byte = image.read(1)[0]
        image.seek(-1, os.SEEK_CUR)
        image.write(bytes([byte ^ 4]))
    done = copy.lab.ckpt("verify", copy.newest)
    expect(done, FAILED, re.escape(copy.image.name))
    expect(done, FAILED, r"chunk \d+ .*rank \d+")
    job = copy.lab.restart(copy.newest)
    assert job.finish() != 0
    text = "\n".join(job.lines)
    assert copy.image.name in text and "chunk" in text
    assert "OK" not in text


@pytest.mark.parametrize("where", ["start", "end"])
def test_bit_flip_in_tables(copy, where):
    """The header and the tables of the image have checksums as well."""
    with open(copy.image, "r+b") as image:
        image.seek(
            *((40, os.SEEK_SET) if where == "start" else (-40, os.SEEK_END))
        )
        byte = image.read(1)[0]
        image.seek(-1, os.SEEK_CUR)
        image.write(bytes([byte ^ 1]))
    copy.expect_damage(re.escape(copy.image.name))


def test_manifest_of_another_version(copy):
    manifest = json.loads(copy.manifest.read_text())
    manifest["format"] = 99
    copy.manifest.write_text(json.dumps(manifest))
    copy.expect_damage("manifest", "99")


def test_missing_manifest(copy, native):
    """A checkpoint without a manifest does not exist; a restart takes the older
    one."""
    copy.manifest.unlink()
    done = copy.lab.ckpt("verify", copy.newest)
    expect(done, FAILED, "no manifest")
    assert len(copy.lab.checkpoints()) == 1
    assert (
        copy.lab.restart().succeed()[-1] == native(programs.ring(20000)).answer
    )


def test_empty_manifest(copy, native):
    copy.manifest.write_text("")
    copy.expect_damage("manifest")
    copy.expect_older_one_works(native)


def test_missing_image(copy):
    name = copy.image.name
    copy.image.unlink()
    copy.expect_damage(re.escape(name))


def test_wrong_number_of_ranks(copy):
    done = copy.lab.ckpt("restart", copy.newest, "--", "-np", "3")
    expect(done, USAGE, r"2 ranks.*3")


@as_root
def test_image_of_another_user(copy):
    os.chown(copy.image, NOBODY, NOBODY)
    copy.expect_damage(re.escape(copy.image.name), f"uid {NOBODY}")


@as_root
def test_unreadable_image(copy):
    """Another user, who owns the whole store except one file."""
    image = copy.image
    for path in [copy.lab.directory, *copy.lab.directory.rglob("*")]:
        os.chown(path, NOBODY, NOBODY)
    for path in copy.lab.directory.parents:
        if (
            path != Path("/")
            and path.owner() == "root"
            and path != Path("/tmp")
        ):
            path.chmod(path.stat().st_mode | 0o011)
    os.chmod(image, 0)
    user = [
        "setpriv",
        f"--reuid={NOBODY}",
        f"--regid={NOBODY}",
        "--clear-groups",
    ]
    command = [*user, copy.lab.ckpt_program, "verify", copy.newest]
    done = subprocess.run(
        command,
        cwd="/",
        env=copy.lab.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    expect(done, FAILED, rf"{re.escape(image.name)}.*Permission denied")


@as_root
def test_full_disk(lab, native):
    """A checkpoint that does not fit fails; the program goes on, and the older
    checkpoint stays."""
    program = programs.memory(40, 400, pause_us=5000)
    lab.store.mkdir(mode=0o700)
    mount = ["mount", "-t", "tmpfs", "-o", "size=150m,mode=700", "none"]
    subprocess.run([*mount, lab.store], check=True)
    try:
        job = lab.start(program)
        job.wait_for(program.progress)
        lab.checkpoint(job)
        job.wait_for(program.progress)
        expect(lab.ckpt("checkpoint", job.pid), REFUSED, r"\[no-space\]")
        assert len(lab.checkpoints()) == 1
        job.wait_for(program.progress)
        job.kill()
        again = lab.restart()
        again.succeed()
        assert lab.answer(program, job, again) == native(program).answer
    finally:
        lab.close()
        subprocess.run(["umount", "-l", lab.store], check=True)


@pytest.mark.parametrize("fault", ["image-write-enospc", "image-close-enospc"])
def test_no_space_at_some_write(lab, fault):
    """The same without root, at writes that a real disk seldom fails."""
    stop = lab.directory / "stop"
    program = programs.traffic(0, 2, stop)
    job = lab.start(program, CKPT_FAULT=f"{fault}:2")
    job.wait_for(program.progress)
    outcomes = [lab.ckpt("checkpoint", job.pid) for _ in range(3)]
    failed = [done for done in outcomes if done.returncode != 0]
    assert len(failed) == 1
    expect(failed[0], REFUSED, r"\[no-space\]")
    assert len(lab.checkpoints()) == 2
    job.kill()
    stop.touch()
    programs.ok_line(lab.restart().succeed(), lab.work)


def test_before_init_and_after_finalize(lab):
    """Before MPI_Init and after MPI_Finalize there is nothing to save."""
    gates = [lab.directory / "gate", lab.directory / "last gate"]
    job = lab.start(probes.outside_of_mpi(*gates))
    job.let_end()
    for state, gate in zip(("before MPI_Init", "after MPI_Finalize"), gates, strict=True):
        job.wait_for(state)
        done = lab.ckpt("checkpoint", job.pid)
        expect(done, REFUSED, r"\[job-(starting|ending)\]")
        gate.touch()
    job.succeed()


def compile_program(directory, name, source, *options):
    """Compiles a C text without MPI."""
    path, text = directory / name, directory / "program.c"
    text.write_text(source)
    subprocess.run(["gcc", "-o", path, text, *options], check=True)
    return path


WAITING = r"""
#include <stdio.h>
#include <unistd.h>
int MPI_Init(int *, char ***);
int main(int argc, char **argv)
{
    CALL;
    puts("running");
    fflush(stdout);
    while (argc > 1 && access(argv[1], F_OK) != 0)
        usleep(10000);
    return 0;
}
"""


def test_static_program(lab):
    """ckpt cannot be loaded into a static program: it runs as without ckpt,
    without checkpoints."""
    source = WAITING.replace("CALL", "")
    path = compile_program(lab.directory, "static", source, "-static")
    gate = lab.directory / "gate"
    job = lab.start(programs.Program("alien", [path, gate], 1))
    job.wait_for("running")
    expect(lab.ckpt("checkpoint", job.pid), REFUSED, r"\[unsuitable-program\]")
    gate.touch()
    job.succeed()


def test_program_of_another_mpi(lab):
    """A program that needs an imitation of MPICH's library. It ends at
    MPI_Init, because ckpt's MPI_Init is not the one it was compiled for."""
    library = compile_program(
        lab.directory,
        "libmpi.so.12",
        "int MPI_Init(int *argc, char ***argv) { return argc != 0; }",
        "-shared",
        "-fPIC",
        "-Wl,-soname,libmpi.so.12",
    )
    source = WAITING.replace("CALL", "MPI_Init(0, 0)")
    path = compile_program(
        lab.directory,
        "mpich program",
        source,
        str(library),
        f"-Wl,-rpath,{lab.directory}",
    )
    gate = lab.directory / "gate"
    gate.touch()
    job = lab.start(programs.Program("alien", [path, gate], 1))
    assert job.finish() != 0
    assert any("libmpi.so.12" in line for line in job.lines), job.lines


def test_no_job(lab):
    lab.store.mkdir(mode=0o700)
    expect(lab.ckpt("checkpoint"), NOT_FOUND, "job")
    expect(lab.ckpt("checkpoint", "999999999"), NOT_FOUND, "999999999")
    expect(lab.ckpt("checkpoint", "no-such-job"), NOT_FOUND, "no-such-job")


def test_plain_mpirun(lab):
    """A job that was started without ckpt."""
    gate = lab.directory / "gate"
    job = lab.start_native(probes.probe("info", gate))
    job.wait_for("^READY")
    expect(lab.ckpt("checkpoint", job.pid), REFUSED, r"\[not-under-ckpt\]")
    gate.touch()
    job.succeed()


def test_running_job_is_not_restarted(lab):
    program = programs.ring(1000000)
    job = lab.start(program)
    job.wait_for(program.progress)
    lab.checkpoint(job)
    expect(lab.ckpt("restart"), REFUSED, r"\[job-running\]")


@pytest.mark.parametrize(
    "words", [["frobnicate"], ["list", "--frob"], ["checkpoint", "1", "2"], []]
)
def test_usage(lab, words):
    done = lab.ckpt(*words)
    assert done.returncode == USAGE, done
    assert done.stderr
