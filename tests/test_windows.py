# SPDX-License-Identifier: BSD-3-Clause
"""The programs on one-sided windows give one right result, whatever their options and the number of
ranks; also when saved in their middle, killed, and restarted."""

import pytest

from ckpttest import windows
from ckpttest.lab import Lab

# Steps and size: for very short runs, and for about a second.
SHORT = {
    "absent": (20, 100),
    "barnes": (5, 200),
    "batches": (20, 100),
    "hash_table": (10, 500),
    "open_epoch": (10, 8),
    "shared_bytes": (20, 1000),
    "shared_counter": (20, 50),
    "stencil": (30, 60),
    "uneven": (20, 100),
    "water_nsquared": (20, 300),
    "water_spatial": (20, 300),
    "work_queue": (20, 16),
}
LONG = {
    "absent": (2000, 100),
    "barnes": (400, 500),
    "batches": (1000, 300),
    "hash_table": (1000, 2000),
    "open_epoch": (20, 500),
    "shared_bytes": (3000, 3000),
    "shared_counter": (30000, 50),
    "stencil": (1500, 1024),
    "uneven": (15000, 1000),
    "water_nsquared": (1500, 500),
    "water_spatial": (1500, 500),
    "work_queue": (1500, 32),
}

EVERY_WAY = [(name, way) for name, ways in windows.WAYS.items() for way in ways]
every_way = pytest.mark.parametrize(
    "name, way", EVERY_WAY, ids=lambda value: value if isinstance(value, str) else "".join(value)
)


@pytest.fixture(name="expected", scope="module")
def without_failures(tmp_path_factory):
    return windows.results_in_one_rank(tmp_path_factory)


@every_way
def test_one_result(tmp_path, expected, name, way):
    found = set()
    for ranks in (1, 2, 4):
        place = Lab(tmp_path / str(ranks), **windows.NATIVE)
        program = windows.program(name, *SHORT[name], ranks=ranks, way=way)
        try:
            found.add(place.run_native(program).answer)
        finally:
            place.close()
    assert found == {expected(name, *SHORT[name])}


def test_cells_find_the_forces_of_all_pairs(expected):
    pairs, cells = (expected(name, 20, 300) for name in ("water_nsquared", "water_spatial"))
    assert pairs == cells


@pytest.mark.parametrize("name", windows.WAYS)
def test_another_seed_or_step_gives_another_result(lab, expected, name):
    """The result depends on the seed and on the number of steps."""
    steps, size = SHORT[name]
    lab.settings.update(windows.NATIVE)
    other = windows.program(name, steps, size, ranks=2, way=["--seed=2"])
    results = {expected(name, steps, size), expected(name, steps + 1, size)}
    assert len(results | {lab.run_native(other).answer}) == 3


def test_progress_has_each_step_of_each_rank(lab):
    lab.settings.update(windows.NATIVE)
    prefix = lab.directory / "progress"
    way = [f"--progress={prefix}"]
    lab.run_native(windows.program("stencil", 30, 60, ranks=3, way=way))
    for rank in range(3):
        words = (lab.directory / f"progress.{rank}").read_text().split()
        assert words[::2] == [str(step) for step in range(30)]
        assert len(set(words[1::2])) == 30, "it has seen nothing new in a step"


@pytest.mark.parametrize("wrong", ["--mode=none", "--steps=0", "--size=x", "--other", "more"])
def test_wrong_options_are_refused(lab, wrong):
    job = lab.start_native(windows.program("stencil", 1, 4, ranks=1, way=[wrong]))
    assert job.finish() == 2
    assert any(line.startswith("usage: stencil") for line in job.lines)


@pytest.mark.parametrize("name, way", [(name, ways[-1]) for name, ways in windows.WAYS.items()])
def test_saved_killed_and_restarted(lab, expected, name, way):
    program = windows.program(name, *LONG[name], ranks=3, way=way)
    job = lab.start(program)
    job.wait_for(program.progress, count=2)
    saved = lab.ckpt("checkpoint", job.pid, "--kill")
    assert saved.returncode == 0, saved.stderr
    job.finish()
    restarted = lab.restart()
    restarted.succeed()
    assert lab.answer(program, restarted) == expected(name, *LONG[name])
