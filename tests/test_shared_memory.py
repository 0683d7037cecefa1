# SPDX-License-Identifier: BSD-3-Clause
"""Objects of POSIX shared memory at a restart: gone, or somebody else's."""

import mmap
import re
from pathlib import Path

import pytest

from ckpttest import probes


@pytest.fixture
def saved(lab):
    """A gate, and the objects with names of a probe that was saved and killed."""
    gate = lab.directory / "gate"
    job = lab.start(probes.probe("shared_between_ranks", gate))
    job.wait_for("^waiting")
    lab.ckpt_json("checkpoint", job.pid, "--kill")
    job.finish()
    regions = lab.ckpt("inspect", "--rank", "0").stdout
    paths = set(re.findall(r"/dev/shm/\S*ckpt-probe-\d+\.\w+\b(?! \(del)", regions))
    assert len(paths) == 3
    yield gate, sorted(map(Path, paths))
    for path in paths:
        Path(path).unlink(missing_ok=True)


@pytest.mark.parametrize("left_over", [True, False])
def test_objects(lab, saved, left_over):
    """What the killed ranks left is taken over; on a node that never had it,
    it is made with its permissions."""
    gate, objects = saved
    modes = [path.stat().st_mode for path in objects]
    for path in [] if left_over else objects:
        path.unlink()
    job = lab.restart()
    job.wait_for("^waiting")
    assert [path.stat().st_mode for path in objects] == modes
    gate.touch()
    assert any(line.startswith("OK ") for line in job.succeed())


def test_object_in_use(lab, saved):
    """Nobody else's memory is overwritten."""
    path = next(path for path in saved[1] if path.name.endswith("open"))
    path.unlink()
    path.write_bytes(b"mine" * 1024)
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as memory:
        job = lab.restart()
        assert job.finish() != 0
        assert any("is in the memory of process" in line for line in job.lines)
        assert memory[:] == b"mine" * 1024
