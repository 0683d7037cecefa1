# SPDX-License-Identifier: BSD-3-Clause
"""Encrypted checkpoints: a restart needs the key, and every change by a user without the key is
found."""

import random
import shutil
import struct
from pathlib import Path

import pytest

from ckpttest import cluster, non_mpi, processes, programs
from ckpttest.cluster import Cluster
from ckpttest.lab import Lab

NAME = "job"
OVERHEAD = 40  # bytes of a sealed chunk
MIB = 1 << 20

HDF5_SIGNATURE = b"\x89HDF\r\n\x1a\n"  # long enough not to occur in random bytes by chance


@pytest.fixture(name="key")
def key_file(tmp_path):
    """A key, in a file that only its owner can read."""
    return make_key(tmp_path / "key")


def make_key(path):
    """Makes a new key."""
    path.write_text(random.Random(str(path)).randbytes(32).hex() + "\n")
    path.chmod(0o600)
    return path


def run(lab, program, key, *options):
    """Starts the program under ckpt run."""
    program.prepare(lab.work)
    command = [lab.ckpt_program, "run", "--name", NAME, "--key", key, "--files", "ignore"]
    # pylint: disable-next=protected-access
    return lab._start([*command, *options, "--", *lab.mpirun_command(program)], {})


def save(lab, job, program):
    """Takes a checkpoint of a job that makes progress; returns its directory."""
    job.wait_for(program.progress)
    return Path(lab.checkpoint(job)["path"])


def kill_a_rank(job, program):
    """Sends SIGKILL to a rank."""
    name = Path(program.argv[0]).name
    processes.kill(next(pid for pid in job.ranks() if processes.name_of(pid) == name))


@pytest.mark.parametrize(
    "codec, snapshot, increments",
    [("none", "stop", 0), ("zstd", "cow", 8), ("lz4", "cll", 0), ("auto", "memory", 8)],
)
def test_each_can_be_restarted(lab, native, key, codec, snapshot, increments):
    hurry = lab.directory / "hurry"
    program = programs.scattered(8, 300, pause_us=20000, hurry=hurry)
    settings = {"CKPT_CODEC": codec, "CKPT_SNAPSHOT": snapshot, "CKPT_KEY": key}
    job = lab.start(program, CKPT_INCREMENTAL=increments, CKPT_KEEP=5, **settings)
    saved = [save(lab, job, program) for _ in range(3)]
    job.kill()
    hurry.touch()
    for checkpoint in saved:
        (image,) = checkpoint.glob("node-*.h5")
        content = image.read_bytes()
        assert HDF5_SIGNATURE not in content and bytes(program.argv[0]) not in content
        assert lab.ckpt("verify", checkpoint, "--key", key).returncode == 0
        again = lab.restart(checkpoint, CKPT_KEY=key)
        again.succeed()
        assert lab.answer(program, job, again) == native(program).answer


@pytest.mark.busy  # the chain is folded when the processors are idle
def test_chain_is_folded(lab, native, key):
    """Folded files are encrypted, too."""
    program = programs.scattered(8, 3000, pause_us=4000)
    settings = {"CKPT_INCREMENTAL": 4, "CKPT_KEEP": 1, "CKPT_KEY": key}
    job = lab.start(program, **settings)
    save(lab, job, program)
    (log,) = lab.store.glob("*/ckptd-*.log")
    while "has folded its piece" not in log.read_text():
        save(lab, job, program)
    lab.kill_and_wait_for_agent(job)
    for whole in lab.store.glob("*/0*/whole-*.h5"):
        assert HDF5_SIGNATURE not in whole.read_bytes()
    assert lab.ckpt("verify", CKPT_KEY=key).returncode == 0
    again = lab.restart(CKPT_KEY=key)
    again.succeed()
    assert lab.answer(program, job, again) == native(program).answer


def test_ranks_die(lab, native, key):
    """ckpt run restarts the job with the key. The key is never visible meanwhile."""
    stop = lab.directory / "stop"
    program = programs.churn(500, stop_file=stop)
    job = run(lab, program, key)
    save_by_name(lab, job, program)
    digits = key.read_text().strip()
    address = (lab.store / NAME / "supervisor").read_text()
    assert address.startswith("sealed ") and " tcp " not in address
    for pid in [job.pid, *processes.descendants(job.pid), *processes.named("ckptd")]:
        for file in ("environ", "cmdline"):
            try:
                assert digits not in Path(f"/proc/{pid}/{file}").read_text(errors="replace")
            except (FileNotFoundError, ProcessLookupError):
                pass  # it has ended
    kill_a_rank(job, program)
    job.wait_for(f"^ckpt: .*; restart 1 of at most 10, from {NAME}/")
    save_by_name(lab, job, program)
    assert lab.ckpt("verify", NAME, "--key", key).returncode == 0  # the newest one, too
    stop.touch()
    job.succeed()
    assert lab.answer(program, job) == native(programs.churn(500)).answer


def test_restart_by_hand(lab, key):
    """The restarted job saves itself with the key again."""
    program = programs.churn(0, 2, stop_file=lab.directory / "stop")
    job = lab.start(program, CKPT_KEY=key)
    save(lab, job, program)
    job.kill()
    # pylint: disable-next=protected-access
    again = lab._start([lab.ckpt_program, "restart", "--key", key], {})
    assert save(lab, again, program).name == "000002"
    assert lab.ckpt("verify", "--key", key).stdout.count("/2: good") == 1
    assert "is encrypted" in lab.ckpt("verify").stderr
    (lab.directory / "stop").touch()
    programs.ok_line(again.succeed(), lab.work)


def save_by_name(lab, job, program):
    """Does the same for a job under ckpt run."""
    job.wait_for(program.progress)
    return Path(lab.ckpt_json("checkpoint", NAME)["path"])


def test_key_by_a_command(lab, native, key):
    """Each process that needs the key executes the command."""
    program = programs.ring(12000)
    command = f"|cat '{key}'"
    job = lab.start(program, CKPT_KEY=command)
    save(lab, job, program)
    job.kill()
    again = lab.restart(CKPT_KEY=command)
    again.succeed()
    assert lab.answer(program, job, again) == native(program).answer


@pytest.mark.parametrize(
    "wrong, message",
    [
        (None, "is encrypted: give its key"),
        ("other", "was made with another key"),
        ("open", "can be read or written by others"),
        ("|exit 7", "has failed with code 7"),
    ],
)
def test_refused_without_the_key(lab, key, wrong, message):
    program = programs.ring(1000000)
    job = lab.start(program, CKPT_KEY=key)
    save(lab, job, program)
    job.kill()
    other = make_key(lab.directory / "other")
    readable = make_key(lab.directory / "open")
    readable.chmod(0o640)
    source = {"other": other, "open": readable}.get(wrong, wrong)
    options = ["--key", source] if source else []
    for command in (["verify"], ["restart"], ["restart", "--verify", "none"], ["inspect"]):
        done = lab.ckpt(*command, *options)
        assert done.returncode != 0 and message in done.stderr, done
    assert lab.ckpt("list").returncode == 0
    assert lab.ckpt("gc", "--keep", "1").returncode == 0
    assert lab.ckpt("verify", "--key", key).returncode == 0


def test_a_plain_one_is_refused(lab, key):
    """Any user could have put a plain checkpoint there."""
    program = programs.ring(1000000)
    job = lab.start(program)
    save(lab, job, program)
    job.kill()
    for command in (["verify"], ["restart"], ["restart", "--verify", "none"]):
        done = lab.ckpt(*command, "--key", key)
        assert done.returncode != 0 and "was not made with a key" in done.stderr, done


def test_nothing_is_saved_without_its_key(lab, key):
    """The program runs; a checkpoint that cannot be encrypted is not taken."""
    key.chmod(0o644)
    program = programs.ring(3000)
    job = lab.start(program, CKPT_KEY=key)
    lines = job.succeed()
    assert any("can be read or written by others" in line for line in lines), lines
    assert not list(lab.store.rglob("*.h5"))


@pytest.mark.parametrize(
    "options, message",
    [
        ([], "say --files ignore"),
        (["--files", "ignore", "--protocol", "cl"], "does not take a key"),
        (["--files", "ignore", "--protocol", "independent"], "does not take a key"),
    ],
)
def test_what_does_not_take_a_key(lab, key, options, message):
    done = lab.ckpt("run", "--key", key, *options, "--", "/bin/true")
    assert done.returncode == 2 and message in done.stderr, done


# ---- Attacks -------------------------------------------------------------------------


@pytest.fixture(name="saved", scope="module")
def two_checkpoints(tmp_path_factory):
    """Two checkpoints of a job and one of another, made with one key. Yields the lab, the key, and
    a copy of the store."""
    lab = Lab(tmp_path_factory.mktemp("attacks"), holds=True)
    key = make_key(lab.directory / "key")
    program = programs.memory(4, 1000000)
    for count in (2, 1):
        job = lab.start(program, CKPT_KEY=key, CKPT_CODEC="none")
        for _ in range(count):
            save(lab, job, program)
        lab.kill_and_wait_for_agent(job)
    shutil.copytree(lab.store, lab.directory / "copy")
    yield lab, key
    lab.close()


@pytest.fixture(name="attacked")
def attacked_store(saved):
    """The lab and the key, with the store in its original state."""
    lab, key = saved
    shutil.rmtree(lab.store)
    shutil.copytree(lab.directory / "copy", lab.store)
    return lab, key


def newest(lab):
    """Returns the directories of the job with two checkpoints, and the directory of the other
    job."""
    jobs = sorted(lab.store.glob("*/000001"), key=lambda path: len(list(path.parent.glob("0*"))))
    return jobs[1], jobs[1].parent / "000002", jobs[0]


def verdict(lab, key, checkpoint):
    """Returns the exit code and the message of a full verification."""
    name = f"{checkpoint.parent.name}/{int(checkpoint.name)}"
    done = lab.ckpt("verify", name, "--key", key)
    return done.returncode, done.stderr


def require_found(lab, key, checkpoint):
    """The checkpoint is refused, also by a restart without a verification before."""
    code, message = verdict(lab, key, checkpoint)
    assert code != 0 and message
    return message


def test_flipped_bits(attacked):
    """Flips bits in each file that a restart reads."""
    lab, key = attacked
    checkpoint, _, _ = newest(lab)
    assert verdict(lab, key, checkpoint)[0] == 0
    chance = random.Random(20)
    files = [checkpoint / "manifest.json", *checkpoint.glob("*.h5")]
    for number in range(20):
        file = files[number % len(files)]
        good = file.read_bytes()
        place = chance.randrange(len(good))
        bad = bytearray(good)
        bad[place] ^= 1 << chance.randrange(8)
        file.write_bytes(bad)
        require_found(lab, key, checkpoint)
        file.write_bytes(good)
    assert verdict(lab, key, checkpoint)[0] == 0


def chunks_of(content):
    """Returns the places of whole chunks, which the codec `none` stores as extents: pairs of
    neighbours."""
    count = int(content[content.index(b"extents ") + 8 :][:20])
    size = MIB + OVERHEAD
    for start, length in struct.iter_unpack("<QQ", content[len(content) - 16 * count :]):
        for at in range(start, start + length - 2 * size + 1, size):
            yield at, at + size


def test_swapped_chunks(attacked):
    lab, key = attacked
    checkpoint, other, _ = newest(lab)
    (file,) = checkpoint.glob("*.h5")
    (foreign,) = other.glob("*.h5")
    good, size = file.read_bytes(), MIB + OVERHEAD
    pairs = list(chunks_of(good))
    assert len(pairs) > 1
    for one, two in pairs[:10]:
        bad = bytearray(good)
        bad[one : one + size], bad[two : two + size] = (
            good[two : two + size],
            good[one : one + size],
        )
        file.write_bytes(bad)
        require_found(lab, key, checkpoint)
    bad = bytearray(good)  # the chunk of another checkpoint in the same place
    bad[pairs[0][0] : pairs[0][1]] = foreign.read_bytes()[pairs[0][0] : pairs[0][1]]
    assert bad != good
    file.write_bytes(bad)
    require_found(lab, key, checkpoint)


def test_swapped_pieces(attacked):
    lab, key = attacked
    one, two, foreign = newest(lab)
    (first,), (second,), (third,) = (path.glob("*.h5") for path in (one, two, foreign))
    good = first.read_bytes()
    for source in (second, third):
        shutil.copy(source, first)
        require_found(lab, key, one)
    first.write_bytes(good)
    shutil.copy(first, second)
    require_found(lab, key, two)
    assert verdict(lab, key, one)[0] == 0


def test_swapped_checkpoints(attacked):
    """An older checkpoint in the place of a newer one, and a checkpoint of another job."""
    lab, key = attacked
    one, two, foreign = newest(lab)
    shutil.rmtree(two)
    shutil.copytree(one, two)
    assert "in the place of" in require_found(lab, key, two)
    done = lab.ckpt("restart", two, "--key", key)
    assert done.returncode != 0 and "in the place of" in done.stderr, done
    shutil.rmtree(one)
    shutil.copytree(foreign, one)
    assert "in the place of" in require_found(lab, key, one)
    done = lab.ckpt("restart", one.parent.name, "--key", key)
    assert done.returncode != 0 and "in the place of" in done.stderr, done


# ---- Levels --------------------------------------------------------------------------


@pytest.mark.skipif(not cluster.is_possible(), reason="nodes need root and namespaces")
@pytest.mark.parametrize("levels", ["partner", "parity"])
def test_a_lost_piece_is_made_again(tmp_path, key, levels):
    """The parity is computed from encrypted bytes. The checkpoint's record is signed."""
    box = Cluster(tmp_path / "cluster", 4)
    lab = box.lab(tmp_path / "lab", head=True)
    program = programs.churn(0, 2, stop_file=lab.directory / "stop")
    options = ["--levels", f"memory,{levels},disk:1h", "--spares", "1"]
    job = run(lab, program, key, *options)
    try:
        number = 0
        for _ in range(2):
            job.wait_for(program.progress)
            number = lab.ckpt_json("checkpoint", NAME)["number"]
            non_mpi.wait_until(
                job,
                lambda number=number: lab.ckpt_json("status", NAME)[0]["redundant"] == number,
            )
        for file in (box.shm / "n2").rglob("*.h5"):
            assert HDF5_SIGNATURE not in file.read_bytes()
        assert '"seal": "' in (lab.store / NAME / f"nodes/{number}.json").read_text()
        box.kill("n2")
        job.wait_for(f"^ckpt: node n2 was lost; restart 1 of at most 10, from {NAME}/{number}")
        job.wait_for(program.progress)
        (lab.directory / "stop").touch()
        programs.ok_line(job.succeed(), lab.work)
    finally:
        lab.close()
        box.close()
