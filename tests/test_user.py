# SPDX-License-Identifier: BSD-3-Clause
"""Programs that include ckpt.h, or use it from other languages: ckpt obeys their calls, and without
ckpt the calls do nothing."""

import os
import re
import shutil
import subprocess

import pytest

from ckpttest import cluster, non_mpi, processes
from ckpttest.lab import POLL
from ckpttest.programs import Program, ok_line
from ckpttest.settings import APPS, INSTALL, TIMEOUT, SOURCES, TOP

MIB = 1 << 20
SCRATCH = 8 * MIB  # excluded bytes of a rank of steps; the same number is not excluded
PROTOCOLS = ["sns", "cl", "ns"]
INCLUDE = INSTALL / "include"
STRICT = ["-Wall", "-Wextra", "-pedantic", "-Werror"]
PYTHON = {"PYTHONPATH": str(INSTALL / "share/ckpt/python")}


def steps(mode, count, *more, ranks=2):
    """apps/user/steps.c; about 3 ms a step."""
    return Program("steps", [APPS / "user/steps", mode, count, *more], ranks)


def run_through(lab, program, *, restarts=1, **settings):
    """Saves each part of a job twice and kills it; returns the parts."""
    parts = [lab.start(program, **settings)]
    for _ in range(restarts):
        for _ in range(2):
            parts[-1].wait_for(program.progress)
            lab.checkpoint(parts[-1])
        parts[-1].kill()
        parts.append(lab.restart())
    parts[-1].succeed()
    return parts


def excluded(lab):
    """Returns the excluded bytes of each rank in the newest checkpoint."""
    ranks = lab.ckpt_json("inspect")["ranks"]
    return [rank["excluded_bytes"] for rank in ranks]


@pytest.mark.parametrize(
    "mode, protocol",
    [
        *(("s", "sns"), ("r", "sns"), ("h", "cl"), ("r", "cl")),
        *(("sh", "ns"), ("r", "ns"), ("rhm", "cl")),
    ],
)
def test_saved_where_it_wants(lab, native, mode, protocol):
    """At safe points, outside of no-checkpoint regions, between hooks. Checkpoints are
    uncompressed, so that their size shows the exclusions."""
    program = steps(mode, 120)
    settings = {"CKPT_CODEC": "none", "CKPT_SHARE_PAGES": "off"}
    parts = run_through(lab, program, CKPT_PROTOCOL=protocol, **settings)
    assert lab.answer(program, *parts) == native(program).answer
    hooks = 1 if "h" in mode else 0
    assert f"restarts 1, hooks {hooks}" in parts[-1].lines
    assert excluded(lab) == [SCRATCH] * 2
    # The sum includes libc's code, which the file journal has changed: 2 MiB a rank, and the stacks
    # of the checkpoint signal's handlers: 0.75 MiB. Chunks of 1 MiB are stored whole, so the
    # placement of regions by the kernel causes up to 2.5 MiB of difference.
    assert SCRATCH * 2 < lab.checkpoints()[-1]["bytes"] < SCRATCH * 2 + 33 * MIB


def test_what_is_excluded_now_and_then(lab, native):
    """The memory is excluded from some of the checkpoints of a chain; the others have it."""
    program = steps("sx", 200)
    settings = {"CKPT_INCREMENTAL": "8", "CKPT_SNAPSHOT": "cow", "CKPT_KEEP": "9"}
    job = lab.start(program, **settings)
    found = set()
    for _ in range(4):
        job.wait_for(program.progress)
        lab.checkpoint(job)
        found.update(excluded(lab))
    job.kill()
    assert found == {0, SCRATCH}
    assert lab.ckpt("verify").returncode == 0
    (name,) = [path.name for path in lab.store.iterdir()]
    for number in (3, 4):
        again = lab.restart(f"{name}/{number}")
        again.succeed()
        assert lab.answer(program, job, again) == native(program).answer


@pytest.mark.parametrize("protocol", ["sns", "ns"])
def test_asks_itself(lab, protocol):
    """All ranks ask together, and again after a restart; and one rank asks without waiting."""
    program = steps("sa", 210, ranks=3)
    job = lab.start(program, CKPT_PROTOCOL=protocol)
    job.wait_for("^asked 1")
    job.kill()
    again = lab.restart()
    again.wait_for("^asked 2")  # the call returns a second time
    again.wait_for("^asked 1")
    again.succeed()
    assert [entry["number"] for entry in lab.checkpoints()] == [1, 2]
    lab.start(steps("sn", 210), CKPT_NAME="one").succeed()
    assert len(lab.checkpoints()) == 4


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_waits_for_the_end_of_a_region(lab, protocol):
    gate = lab.directory / "gate"
    job = lab.start(steps("rg", 50, gate, ranks=3), CKPT_PROTOCOL=protocol)
    job.wait_for("^in region")
    saving = lab.ckpt_in_background("checkpoint", job.pid)
    status = {"waits_for": ""}
    while not status["waits_for"]:
        assert job.run_on(POLL) and saving.poll() is None
        (status,) = lab.ckpt_json("status", job.pid)
    assert status["phase"] == "held"
    assert re.search(r"rank \d.*: it is in a no-checkpoint region", status["waits_for"])
    assert "a checkpoint waits: rank" in lab.ckpt("status", job.pid).stdout
    assert not lab.checkpoints()
    gate.touch()
    assert saving.wait(60) == 0, saving.stderr.read()
    job.succeed()
    assert len(lab.checkpoints()) == 1
    saving.communicate()


def wait_for_phase(lab, job, phase):
    """Waits until the running job is in this phase; returns its status."""

    def there():
        (status,) = lab.ckpt_json("status", job.pid)
        return status if status["phase"] == phase else None

    return non_mpi.wait_until(job, there)


def held(lab, count):
    """Starts a job in a no-checkpoint region, which it leaves when the gate exists. Returns the
    job, the requester and the gate."""
    gate = lab.directory / "gate"
    job = lab.start(steps("rg", count, gate))
    job.wait_for("^in region")
    saving = lab.ckpt_in_background("checkpoint", job.pid)
    return job, saving, gate


def test_who_asks_for_it_may_give_up(lab):
    """The program does not stop for a request whose requester has given up."""
    job, saving, gate = held(lab, 50)
    wait_for_phase(lab, job, "held")
    saving.kill()
    saving.communicate()
    wait_for_phase(lab, job, "running")
    gate.touch()
    job.succeed()
    assert not lab.checkpoints()


def test_the_agent_is_lost_meanwhile(lab):
    """The agent dies with the request; the next request works."""
    job, saving, gate = held(lab, 200)
    processes.kill(wait_for_phase(lab, job, "held")["agent_pid"])
    saving.communicate(timeout=TIMEOUT)
    assert saving.returncode != 0
    gate.touch()
    job.wait_for(r"^step (\d+)")
    lab.wait_for_agent(job)
    lab.checkpoint(job)
    job.succeed()


@pytest.mark.parametrize("protocol", ["sns", "cl"])
def test_one_that_is_behind_is_not_waited_for(lab, native, protocol):
    """Not all ranks can stay at their safe points: each needs a message that another rank sends
    after its own. The program ends, whatever becomes of the checkpoint."""
    program = steps("su", 40)
    job = lab.start(program, CKPT_PROTOCOL=protocol)
    job.wait_for(program.progress)
    saving = lab.ckpt_in_background("checkpoint", job.pid)
    job.succeed()
    saving.communicate(timeout=60)
    assert lab.answer(program, job) == native(program).answer


@pytest.mark.skipif(not cluster.is_possible(), reason="no network namespaces for this user")
def test_two_nodes(nodes, tmp_path):
    """Ranks of both nodes hold off the checkpoint that all ranks ask for together."""
    lab = nodes.lab(tmp_path / "lab")
    try:
        program = steps("sa", 210, ranks=4)
        job = lab.start(program)
        job.wait_for(program.progress)
        lab.checkpoint(job)
        job.wait_for("^asked 1")
        for name in nodes.names:
            nodes.kill(name)
        again = lab.restart()
        again.wait_for("^asked 2")
        again.wait_for("^asked 1")
        assert "restarts 1, hooks 0" in again.succeed()
        assert [entry["number"] for entry in lab.checkpoints()] == [2, 3]
    finally:
        lab.close()


@pytest.mark.skipif(not (APPS / "user/phases").exists(), reason="no Fortran compiler")
def test_fortran(lab, native):
    program = Program("phases", [APPS / "user/phases", 120], 2)
    parts = run_through(lab, program)
    assert lab.answer(program, *parts) == native(program).answer
    assert "restarts 1, hooks 1" in parts[-1].lines
    assert min(excluded(lab)) > 8 * MIB - 3 * 4096


def test_python(lab):
    argv = ["/usr/bin/python3", SOURCES / "user/phases.py", 150]
    parts = run_through(lab, Program("phases", argv, 2), **PYTHON)
    assert lab.answer(Program("phases", argv, 2), *parts) == "OK 150"
    assert "restarts 1, hooks 1" in parts[-1].lines


def test_cxx_without_mpi(lab):
    command = [APPS / "threaded/scopes", 1500]
    job = non_mpi.start(lab, *command)
    job.wait_for("^asked 1")
    non_mpi.save(lab)
    non_mpi.kill(lab, job)
    job.wait_for("restart 1 of")
    lines = job.succeed()
    assert ok_line(lines, None) == ok_line(non_mpi.lines_of(*command), None)
    assert "restarts 1, hooks 1" in lines


def build(directory, compiler, text, suffix, *options):
    """Compiles a program; returns its path."""
    source, made = directory / f"program{suffix}", directory / "program"
    source.write_text(text, encoding="utf-8")
    command = [compiler, *options, f"-I{INCLUDE}", source, "-o", made]
    subprocess.run(command, check=True, timeout=TIMEOUT, cwd=directory)
    return made


def run_bare(program):
    """Runs the program without any trace of ckpt; returns its output."""
    done = subprocess.run(
        [program], env={}, capture_output=True, text=True, timeout=TIMEOUT, check=True
    )
    return done.stdout


EVERYTHING = """
#include "ckpt.h"
#include <stdio.h>
int main(void)
{
    struct ckpt_hooks hooks = {NULL, NULL, NULL};
    char memory[9000];
    int sum = ckpt_active() + (int)ckpt_restarts() + (int)ckpt_last() + ckpt_wanted();
    ckpt_disable();
    ckpt_enable();
    ckpt_only_at_safe_points(1);
    sum += ckpt_exclude(memory, sizeof(memory)) + ckpt_include(memory, sizeof(memory));
    sum += ckpt_hooks_add(&hooks);
    ckpt_hooks_remove(0);
    sum += ckpt_safe_point() + ckpt_checkpoint(CKPT_WAIT | CKPT_ALL);
    printf("%d%s", sum, ckpt_reason());
    return 0;
}
"""


@pytest.mark.parametrize(
    "compiler, suffix, standard",
    [
        ("cc", ".c", "c11"),
        ("cc", ".c", "c17"),
        ("c++", ".cpp", "c++11"),
        ("c++", ".cpp", "c++17"),
        ("c++", ".cpp", "c++20"),
    ],
)
def test_header_in_each_standard(tmp_path, compiler, suffix, standard):
    """Also as position-dependent code, and with sanitizers, which find nothing."""
    sanitizers = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    for more in (["-O2"], ["-no-pie", "-fno-pie"], sanitizers):
        made = build(tmp_path, compiler, EVERYTHING, suffix, f"-std={standard}", *STRICT, *more)
        assert run_bare(made) == "0"


def test_header_of_cxx(tmp_path):
    text = """
        #include "ckpt.hpp"
        #include <vector>
        int main()
        {
            std::vector<double> scratch(10000);
            ckpt::OnlyAtSafePoints only;
            ckpt::NoCheckpoint none;
            ckpt::Excluded excluded(scratch), moved(std::move(excluded));
            ckpt::Hooks hooks([] { return true; }, nullptr);
        }
    """
    for standard in ("c++17", "c++20"):
        assert not run_bare(build(tmp_path, "c++", text, ".cpp", f"-std={standard}", *STRICT))


@pytest.mark.skipif(shutil.which("gfortran") is None, reason="no Fortran compiler")
def test_module_of_fortran(tmp_path):
    options = ["-std=f2008", *STRICT, f"-J{tmp_path}", "-c"]
    build(tmp_path, "gfortran", (INCLUDE / "ckpt.f90").read_text(), ".f90", *options)
    assert (tmp_path / "ckpt.mod").exists()


def test_example_of_the_documentation(tmp_path):
    page = (TOP / "docs/user-defined.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```c\n(.*?)```", page, re.DOTALL)
    text = f"""
        #include <stdio.h>
        static void compute(double *scratch, long step) {{ scratch[0] = (double)step; }}
        {example}
        int main(void)
        {{
            static double scratch[4096];
            simulate(scratch, sizeof(scratch), stderr, 3);
            printf("%g", scratch[0]);
            return 0;
        }}
    """
    assert run_bare(build(tmp_path, "cc", text, ".c", "-std=c11", *STRICT)) == "2"


def test_pkg_config():
    if shutil.which("pkg-config") is None:
        pytest.skip("no pkg-config")
    environment = {**os.environ, "PKG_CONFIG_PATH": str(INSTALL / "lib/pkgconfig")}

    def ask(option):
        command = ["pkg-config", option, "ckpt"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    assert ask("--cflags") == f"-I{INCLUDE}"
    assert ask("--libs") == ""
    assert ask("--variable=fortran") == str(INCLUDE / "ckpt.f90")
    assert ask("--variable=pythondir") == PYTHON["PYTHONPATH"]
