# SPDX-License-Identifier: BSD-3-Clause
"""The cost of checkpoints of each protocol: the number of messages equals the formulas
of Plank's chapter 2, and the simulator's result. This is a small run of
benchmarks/run-protocols."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ckpttest import cluster, programs
from ckpttest.settings import TOP, environment

sys.path.append(str(TOP / "benchmarks"))

import calibrate  # noqa: E402  (needs the path)
import protocols  # noqa: E402
import sweep_formula  # noqa: E402

pytestmark = pytest.mark.xdist_group("protocols")  # its tests share a report

RANKS = (2, 4)
CHECKPOINTS = 2
PROTOCOLS = protocols.offered()


def run_protocols(directory, *words):
    """Runs benchmarks/run-protocols, with its reports in the directory; returns the
    results, and texts about what could not be measured."""
    command = [TOP / "benchmarks/run-protocols", "--out", directory, *words]
    done = subprocess.run(
        [sys.executable, *map(str, command)],
        env=environment(),
        check=False,
        stdout=subprocess.DEVNULL,
    )
    data = json.loads((directory / "protocols.json").read_text("utf-8"))
    assert done.returncode == (1 if data["failures"] else 0)
    return data["results"], data["failures"]


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """The directory with the reports of one run, on one node."""
    directory = tmp_path_factory.mktemp("protocols")
    words = ["--count", CHECKPOINTS, "--nodes", 1, "--ranks", *RANKS]
    run_protocols(directory, *words)
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
    data = json.loads((reports / "protocols.json").read_text("utf-8"))
    assert data["failures"] == []
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
            # Ranks saved inside a collective drain no messages. If they leave it while
            # others drain, all ranks have to stop once more.
            assert protocols.own_messages(saved) >= 3 * ranks
        else:
            assert protocols.is_as_expected(saved), (result, cost)
        if protocol == "ns":  # network sweeping uses first-use markers
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
    """The simulator's counts equal those of real checkpoints, wherever a count does not
    depend on timing."""
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


def simulated_sweep(nodes, dimensions):
    """Returns the number of messages of the simulator's sweep, with a rank on each
    node."""
    result = {
        "protocol": "ns",
        "pattern": "ring",
        "ranks": nodes,
        "nodes": nodes,
        "dimensions": dimensions,
    }
    simulated = calibrate.simulate(result, 1000, 8, None)
    return calibrate.own_messages(result, simulated)


@pytest.mark.parametrize("dimensions", [0, 1, 2, 3])
def test_sweep_formula(dimensions):
    """Real sweeps are compared with this formula. Here it is compared with the
    simulator, which runs the agents' code, for any number of nodes."""
    for nodes in range(2, 28):
        _, expected = sweep_formula.formula(nodes, dimensions)
        assert simulated_sweep(nodes, dimensions) == expected, nodes


def test_sweep_formula_of_full_meshes():
    """Plank's n log n, and 2 (k - 1) for each line of a k-ary d-cube."""
    hypercubes = {2: 2, 4: 8, 8: 24, 16: 64, 32: 160}
    cubes = {(5, 1): 8, (9, 2): 24, (16, 2): 48, (27, 3): 108}
    for nodes, messages in hypercubes.items():
        assert sweep_formula.formula(nodes, 0)[1] == messages
    for (nodes, dimensions), messages in cubes.items():
        assert sweep_formula.formula(nodes, dimensions)[1] == messages
        mesh = sweep_formula.sides(nodes, dimensions)
        assert sweep_formula.messages(nodes, mesh) == messages


@pytest.mark.skipif(
    not cluster.is_possible(), reason="no network namespaces for this user"
)
@pytest.mark.parametrize(
    "words, expected",
    [
        (
            ["--patterns", "ring", "collective", "--nodes", 2, 3, 4],
            {  # nodes, ranks, pattern: messages of each checkpoint
                (2, 3, "ring"): [2, 2],
                (2, 4, "ring"): [2, 2],
                (3, 3, "ring"): [5, 5],
                (4, 4, "ring"): [8, 8],
                (2, 3, "collective"): [2, 0],
                (2, 4, "collective"): [2, 0],
                (3, 3, "collective"): [5, 0],
                (4, 4, "collective"): [8, 0],
            },
        ),
        (
            ["--patterns", "ring", "--nodes", 4, "--sweep-dimensions", 1],
            {(4, 4, "ring"): [6, 6]},
        ),
    ],
    ids=["hypercubes", "line"],
)
def test_sweeps(tmp_path, words, expected):
    """Real sweeps from node to node: the number of messages equals the formula and the
    simulator. There are none if no rank has sent a message since the previous
    checkpoint."""
    words = ["--protocols", "ns", "--count", 2, "--ranks", 3, 4, *words]
    swept = {}
    results, failures = run_protocols(tmp_path, *words)
    assert failures == []
    for result in results:
        key = result["nodes"], result["ranks"], result["pattern"]
        swept[key] = [saved["cost"]["sweep"] for saved in result["checkpoints"]]
        assert all(map(protocols.is_as_expected, result["checkpoints"])), result
        simulated = calibrate.own_messages(result, result["simulated"])
        assert simulated == result["expected"], result
    assert swept == expected
