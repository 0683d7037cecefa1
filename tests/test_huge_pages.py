# SPDX-License-Identifier: BSD-3-Clause
"""Memory of hugetlbfs, which root must reserve on the machine."""

from pathlib import Path

import pytest

from ckpttest import probes

PAGES = Path("/proc/sys/vm/nr_hugepages")
WANTED = 8  # of 2 MiB: three for each of two ranks


@pytest.fixture
def pages():
    """Reserves huge pages, and releases them afterwards."""
    before = PAGES.read_text(encoding="ascii")
    try:
        PAGES.write_text(str(int(before) + WANTED), encoding="ascii")
        if int(PAGES.read_text(encoding="ascii")) < int(before) + WANTED:
            pytest.skip("this machine has no room for huge pages")
        yield
    except PermissionError:
        pytest.skip("huge pages are set aside by root")
    finally:
        if PAGES.read_text(encoding="ascii") != before:
            PAGES.write_text(before, encoding="ascii")


def test_comes_back_in_small_pages(lab, pages):
    """The memory comes back in small pages, with or without huge pages at the
    restart."""
    gate = lab.directory / "gate"
    job = lab.start(probes.probe("huge_pages", gate))
    job.wait_for("^waiting")
    free = Path("/proc/meminfo").read_text(encoding="ascii")
    assert "HugePages_Free:        2" in free
    lab.checkpoint(job)
    job.kill()
    job = lab.restart()
    job.wait_for("^waiting")
    gate.touch()
    assert any(line.startswith("OK ") for line in job.succeed())
