# SPDX-License-Identifier: BSD-3-Clause
"""Standard input: the restarted program gets all unread input, and no input twice. Under each
launcher and without one, from a file, a pipe and a terminal; with CKPT_TEST_FULL=1 from each of
them under each launcher."""

import os
import random
import subprocess
import sys
import time

import pytest

from ckpttest import inputs, mpis, non_mpi, processes, programs
from ckpttest.settings import FULL, TIMEOUT, TUNE

LINES = 4000
SEED = random.randrange(1000000)  # a failing test shows it

# The program apps/reader, without MPI.
READER = """
import sys, time
count = checksum = 0
for line in sys.stdin:
    for byte in line.encode():
        checksum = (checksum * 31 + byte) % 1000000007
    assert int(line.split()[0]) == count, f"BAD line {count}: {line}"
    print("step", count, flush=True)
    count += 1
    time.sleep(float(sys.argv[1]))
print(f"OK {count} lines, checksum {checksum}")
"""


def checksum(text):
    """Returns the checksum that the reader computes."""
    value = 0
    for byte in text.encode():
        value = (value * 31 + byte) % 1000000007
    return value


def ok(lines, count=LINES):
    """The output ends with one right answer. A launch that its launcher is ending may have seen the
    end of its input before."""
    expected = f"OK {count} lines, checksum {checksum(inputs.numbers(count))}"
    begins = [i for i, line in enumerate(lines) if "; restart " in line]
    last = lines[begins[-1] if begins else 0 :]
    assert [line for line in last if line.startswith(("OK", "BAD"))] == [expected]


@pytest.fixture(name="place", params=[mpis.OPENMPI4, mpis.OPENMPI5, mpis.MPICH],
                ids=lambda mpi: mpi.name)
def fixture_place(request, tmp_path):
    mpi = request.param
    if not mpi.installed:
        pytest.skip(f"{mpi.name} is not installed (see setup)")
    lab = mpi.lab(tmp_path, mpirun=mpi.mpirun, holds=True, **mpi.settings())
    yield lab
    lab.close()


def reader(lab, lines, pause_us, early=0):
    """Open MPI 5.0 does not forward the end of its input, with or without ckpt."""
    end = 0 if lab.mpirun == mpis.OPENMPI5.mpirun else 1
    return programs.reader(lines, pause_us, early, end)


@pytest.mark.parametrize(
    "place, source",
    [
        pytest.param(mpi, source, id=f"{mpi.name}-{source}")
        for mpi in (mpis.OPENMPI4, mpis.OPENMPI5, mpis.MPICH)
        for source in inputs.SOURCES
        if FULL or mpi is mpis.OPENMPI4 or source in ("file", "slow pipe")
    ],
    indirect=["place"],
)
def test_killed_under_ckpt_run(place, source):
    """The program is killed three times, at random moments."""
    program = reader(place, LINES, 300, early=7)
    with inputs.SOURCES[source](place, inputs.numbers(LINES)) as stdin:
        job = inputs.start(place, place.mpirun_command(program), stdin, "--back-off", "10ms")
        job.wait_for(program.progress)
        inputs.torment(place, job, random.Random(SEED), 3)
        ok(job.succeed())
    assert not (place.store / non_mpi.name(place) / "stdin").exists()


@pytest.mark.parametrize("source", inputs.SOURCES)
def test_killed_without_mpi(lab, source):
    """A terminal belongs to the program itself there: see the next test."""
    if source == "terminal":
        pytest.skip("see test_terminal_without_mpi")
    command = [sys.executable, "-c", READER, "0.0003"]
    with inputs.SOURCES[source](lab, inputs.numbers(LINES)) as stdin:
        job = inputs.start(lab, command, stdin, "--back-off", "10ms")
        job.wait_for("^step")
        inputs.torment(lab, job, random.Random(SEED), 3)
        ok(job.succeed())


def test_terminal_without_mpi(lab):
    """The user has to type again what the program has read since the checkpoint; a message says
    so."""
    lines = inputs.numbers(30).splitlines(keepends=True)
    master, slave = os.openpty()
    job = inputs.start(lab, [sys.executable, "-c", READER, "0"], slave, "--back-off", "10ms")
    os.write(master, "".join(lines[:10]).encode())
    job.wait_for("^step 9$")
    non_mpi.save(lab)
    os.write(master, lines[10].encode())
    job.wait_for("^step 10$")
    non_mpi.kill(lab, job)
    job.wait_for("^ckpt: what the program has read from the terminal .* typed again$")
    os.write(master, "".join(lines[10:]).encode() + b"\x04")
    ok(job.succeed(), len(lines))
    os.close(slave)
    os.close(master)


def start_by_hand(lab, program, stdin):
    """Starts the program under plain mpirun, with the tune file."""
    command = lab.mpirun_command(program, "--tune", TUNE)
    # pylint: disable-next=protected-access
    return lab._start(command, {}, stdin)


@pytest.mark.parametrize("given", ["nothing", "the input again"])
def test_by_hand(lab, given):
    """mpirun --tune < file: the checkpoint has the unread input, whatever input the restart
    gets."""
    program = programs.reader(LINES, 300)
    with inputs.from_file(lab, inputs.numbers(LINES)) as stdin:
        first = start_by_hand(lab, program, stdin)
        first.wait_for(program.progress, count=20)
        done = lab.ckpt("checkpoint", first.pid, "--kill")
        assert done.returncode == 0 and "standard input" not in done.stderr, done
        first.finish()
    with (lab.directory / "input").open("rb") as again:
        stdin = again if given != "nothing" else subprocess.DEVNULL
        # pylint: disable-next=protected-access
        second = lab._start([lab.ckpt_program, "restart"], {}, stdin)
        ok(second.succeed())


def test_a_pipe_that_is_open(lab):
    """No process keeps the pipe's input, and the checkpoint and the restart say so. The input that
    had come is there, and the restart's input follows it."""
    program = programs.reader(LINES, 0)
    text = inputs.numbers(LINES)
    head = text[: text.index("\n1000 ") + 1]
    reader, writer = os.pipe()
    os.write(writer, head.encode())
    first = start_by_hand(lab, program, reader)
    os.close(reader)
    first.wait_for("^step 999$")
    done = lab.ckpt("checkpoint", first.pid)
    assert done.returncode == 0
    assert "standard input has not ended" in done.stderr
    first.kill()
    os.close(writer)
    with inputs.from_pipe(lab, text[len(head) :]) as stdin:
        # pylint: disable-next=protected-access
        second = lab._start([lab.ckpt_program, "restart"], {}, stdin)
        second.wait_for("^ckpt: the standard input of .* had not ended at the checkpoint")
        ok(second.succeed())


def test_ckpt_run_is_killed(lab):
    """`ckpt restart` provides the input that ckpt run kept."""
    program = programs.reader(LINES, 300)
    text = inputs.numbers(LINES)
    with inputs.from_slow_pipe(lab, text) as stdin:
        first = inputs.start(lab, lab.mpirun_command(program), stdin)
        first.wait_for(program.progress, count=20)
        non_mpi.save(lab)
        first.kill()
    second = lab.restart()
    second.wait_for("^ckpt: the standard input of .* had not ended when ckpt run did")
    second.finish()
    end = next(line for line in second.lines if line.startswith("BAD"))
    count = int(end.split()[1])
    assert 20 <= count < LINES
    assert end == f"BAD {count} lines, checksum {checksum(inputs.numbers(count))}" or (
        count > 20  # truncated in the middle of a line
    )


def test_large_input(lab):
    """More than the relay reads ahead: the checkpoint does not have it all, and `ckpt run` provides
    the rest."""
    count = 400000
    program = programs.reader(count, 0)
    with inputs.from_file(lab, inputs.numbers(count)) as stdin:
        job = inputs.start(lab, lab.mpirun_command(program), stdin)
        job.wait_for(program.progress, count=100)
        saved = non_mpi.save(lab)
        files = lab.ckpt_json("inspect", saved, "--rank", 0)["files"]
        assert next(f for f in files if f["descriptor"] == 0)["ended"] is False
        assert inputs.kill_a_rank(lab, random.Random(SEED))
        ok(job.succeed(), count)


def test_lammps(lab):
    """Each of 60 stages once."""
    totals = inputs.run_lammps(lab, lab.mpirun_command(programs.lammps_from_input()), 3, SEED)
    assert totals["restarts"] == totals["kills"] == 3


def test_output_of_the_new_launch(lab):
    """Without MPI: a file that was standard output is not truncated, and `ckpt restart > new`
    writes to the new one."""
    script = "import time\nfor i in range(400): print(i, flush=True); time.sleep(0.01)\n"
    first_file, second_file = lab.work / "first", lab.work / "second"
    run = [lab.ckpt_program, "run", "--name", non_mpi.name(lab), "--"]
    with first_file.open("wb") as output:
        process = subprocess.Popen(
            [*run, sys.executable, "-c", script], cwd=lab.work, env=lab.environment(),
            stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True,
        )
    try:
        deadline = time.monotonic() + TIMEOUT
        while non_mpi.status(lab) is None or b"20" not in first_file.read_bytes().split():
            assert time.monotonic() < deadline
        non_mpi.save(lab)
        (rank,) = non_mpi.status(lab)["ranks"]
    finally:
        processes.kill(process.pid)
    processes.kill(rank["pid"])
    process.wait(TIMEOUT)
    assert processes.wait_until_gone([rank["pid"]], TIMEOUT)
    before = first_file.read_bytes()
    first_file.rename(lab.work / "rotated")
    with second_file.open("wb") as output:
        subprocess.run(
            [lab.ckpt_program, "restart"], cwd=lab.work, env=lab.environment(),
            stdin=subprocess.DEVNULL, stdout=output, timeout=TIMEOUT, check=True,
        )
    assert (lab.work / "rotated").read_bytes() == before
    numbers = [int(line) for line in second_file.read_text(encoding="utf-8").splitlines()]
    assert numbers == list(range(numbers[0], 400)) and 0 < numbers[0] <= len(before)


OUTPUT_FILES = {
    "openmpi4": (["--output-filename", "logs"], "logs/1/rank.0/stdout"),
    "mpich": (["-outfile-pattern", "out.%r"], "out.0"),
}


@pytest.mark.parametrize("by_hand", [False, True], ids=["ckpt run", "ckpt restart"])
def test_output_files_of_launchers(place, by_hand, request):
    """Output files are continued: the lines of the second launch follow the first's."""
    name = request.node.callspec.params["place"].name
    if name not in OUTPUT_FILES:
        pytest.skip("its files have new names in each launch")
    options, path = OUTPUT_FILES[name]
    # Lines of input; all of them have arrived when the first one has.
    count = 400
    program = programs.reader(count, 3000)
    with inputs.from_file(place, inputs.numbers(count)) as stdin:
        job = inputs.start(place, place.mpirun_command(program, *options), stdin)
        output = place.work / path
        non_mpi.wait_until(job, lambda: output.exists() and "step 50\n" in output.read_text())
        non_mpi.save(place)
        if by_hand:
            job.kill()
            place.restart().succeed()
        else:
            inputs.kill_a_rank(place, random.Random(SEED))
            job.succeed()
    lines = output.read_text(encoding="utf-8").splitlines()
    steps = [int(line.split()[1]) for line in lines if line.startswith("step")]
    again = next(i for i in range(1, len(steps)) if steps[i] <= steps[i - 1])
    assert steps[:again] == list(range(again)) and again > 50
    assert steps[again:] == list(range(steps[again], count))
    ok(lines, count)
