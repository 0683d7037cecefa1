# SPDX-License-Identifier: BSD-3-Clause
"""What checkpoints of each protocol take: as many messages as the formulas of Plank's
chapter 2 say, and as the simulator says. benchmarks/run-protocols at small."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ckpttest import programs
from ckpttest.settings import TOP, environment

sys.path.append(str(TOP / "benchmarks"))

import calibrate  # noqa: E402  (needs the path)
import protocols  # noqa: E402

RANKS = (2, 4)
CHECKPOINTS = 2
PROTOCOLS = protocols.offered()


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """The directory with the reports of one run."""
    directory = tmp_path_factory.mktemp("protocols")
    command = [TOP / "benchmarks/run-protocols", "--out", directory]
    command += ["--count", CHECKPOINTS, "--ranks", *RANKS]
    subprocess.run(
        [sys.executable, *map(str, command)],
        env=environment(),
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return directory


@pytest.fixture(scope="module")
def results(reports):
    """{(protocol, pattern, ranks): result}"""
    data = json.loads((reports / "protocols.json").read_text("utf-8"))
    return {
        (result["protocol"], result["pattern"], result["ranks"]): result
        for result in data["results"]
    }


def test_all_is_measured(reports, results):
    cases = len(PROTOCOLS) * len(programs.PATTERNS) * len(RANKS)
    assert {"sns", "cl"} <= set(PROTOCOLS)
    assert len(results) == cases
    page = Path(reports, "protocols.html").read_text("utf-8")
    text = Path(reports, "protocols.md").read_text("utf-8")
    assert page.count("<tr") == text.count("\n| ") - 4  # without headers and rules


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("pattern", programs.PATTERNS)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_formulas(results, protocol, pattern, ranks):
    result = results[protocol, pattern, ranks]
    assert len(result["checkpoints"]) == CHECKPOINTS
    for saved in result["checkpoints"]:
        cost = saved["cost"]
        if (protocol, pattern) == ("sns", "collective"):
            # Saved inside one, ranks have nothing to drain; and when they leave it
            # while others drain, all have to stop once more.
            assert protocols.own_messages(saved) >= 3 * ranks
        else:
            assert protocols.is_as_expected(result, saved), (result, cost)
        if protocol == "ns":  # from ranks that have not told by a marker
            assert cost["first_use_markers"] <= result["channels"]
        else:
            assert cost["first_use_markers"] == 0, "all channels had been used"
        if protocol == "sns":
            assert cost["cross_cut_messages"] == 0, "theorem 2.4.1"
        if protocol == "cl":
            assert cost["channels"] == result["channels"]
        # Each message has 1,024 bytes.
        assert cost["cross_cut_bytes"] == 1024 * cost["cross_cut_messages"]
        still = cost["stood_still"]
        assert 0 < still["least"] <= still["median"] <= still["most"]
        assert still["most"] < saved["timings"]["total"]


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("pattern", programs.PATTERNS)
@pytest.mark.parametrize("protocol", ["sns", "cl"])
def test_simulator(results, protocol, pattern, ranks):
    """The simulator counts as real checkpoints do, wherever a count does not
    depend on who waits when."""
    result = results[protocol, pattern, ranks]
    simulated = result["simulated"]
    assert calibrate.own_messages(result, simulated) == result["expected"]
    assert simulated["messages"]["first_use_markers"] == 0
    purposes = simulated["purposes"]
    for saved in result["checkpoints"]:
        real = saved["cost"]["messages"]
        assert real["alignment"] >= purposes["alignment"]
        if protocol == "cl":
            same = ["cut", "going on", "end"]
        elif pattern == "collective":
            same = ["going on"]
        else:
            same = ["stop and save", "counts", "going on", "alignment"]
        assert [real[name] for name in same] == [purposes[name] for name in same]
