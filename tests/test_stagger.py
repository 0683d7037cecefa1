# SPDX-License-Identifier: BSD-3-Clause
"""Ranks of several nodes that are saved one after the other (--stagger)."""

import pytest

from ckpttest import cluster, programs

TURN = 90_000_000  # ns; a rank that has not answered after 100 ms loses its turn
NODES = [[0, 1], [2, 3]]
RANKS = 4

pytestmark = pytest.mark.skipif(
    not cluster.is_possible(), reason="no network namespaces for this user"
)


@pytest.fixture
def lab(nodes, tmp_path):
    """A lab with two ranks on each node; its checkpoints are on a disk."""
    settings = {"CKPT_PROTOCOL": "sns", "CKPT_STAGGER": "no"}
    place = nodes.lab(tmp_path / "lab", slots=2, **settings)
    yield place
    place.close()


@pytest.fixture
def served(lab, tmp_path):
    """The same, with checkpoints on a file server."""
    if not cluster.can_serve_files():
        pytest.skip("no sshfs for this user")
    with cluster.file_server(tmp_path / "served", lab.store):
        yield lab
        lab.close()


def times(events, kind, end, message=None):
    """Returns {rank or node: time}, in the order of the first such events."""
    found = {}
    for event in events:
        if event["kind"] == kind and event.get("message") == message:
            found.setdefault(event[end], event["at"])
    return found


def check_turns(events, lane):
    """The coordinator asks a rank of a lane after the previous one is read. If a rank
    loses its turn, one more rank may be asked at the same time."""
    asked = times(events, "order", "to", "CUT")
    answered = times(events, "answer", "from", "READY")
    captured = times(events, "captured", "from")
    done = []
    for rank in (rank for rank in asked if rank in lane):
        now = asked[rank]
        unread = [other for other in done if captured[other] > now]
        lost = sum(
            (min(answered[other], now) - asked[other]) // TURN for other in done
        )
        assert len(unread) <= lost, (rank, unread, events)
        done.append(rank)
    assert sorted(done) == sorted(lane)


def check_pieces(events):
    """All ranks stand still; the first node has written before the next one is read."""
    captured = times(events, "captured", "from")
    written = times(events, "written", "from")
    first, second = NODES
    assert max(captured[rank] for rank in first) <= written[0]
    assert written[0] <= min(captured[rank] for rank in second), events


def why_another(lab):
    """Returns the agents' messages about checkpoints that were repeated in another
    way."""
    logs = [path.read_text("utf-8") for path in lab.store.glob("*/ckptd-*.log")]
    return [line for text in logs for line in text.splitlines() if "once more" in line]


def save_and_restart(lab, protocol, stagger):
    """Takes two checkpoints of a running program and restarts the last one; returns its
    events."""
    stop = lab.directory / "stop"
    program = programs.churn(0, RANKS, stop)
    variables = {"CKPT_PROTOCOL": protocol, "CKPT_STAGGER": stagger}
    job = lab.start(program, **variables)
    for _ in range(2):
        job.wait_for(program.progress)
        saved = lab.checkpoint(job)
        assert saved["protocol"] == protocol, why_another(lab)
    job.wait_for(program.progress)
    job.kill()
    events = lab.ckpt_json("trace", saved["path"])["events"]
    stop.touch()
    programs.ok_line(lab.restart(**variables).succeed(), lab.work)
    return events


def check_one_lane(lab, protocol, stagger):
    """All ranks take turns; ranks that stand still do so node by node."""
    events = save_and_restart(lab, protocol, stagger)
    if protocol == "sns":
        check_pieces(events)
    else:
        check_turns(events, range(RANKS))


@pytest.mark.parametrize("protocol", ["sns", "cl", "ns"])
def test_job(lab, protocol):
    check_one_lane(lab, protocol, "job")


@pytest.mark.parametrize("protocol", ["sns", "cl", "ns"])
def test_nodes_share_a_file_server(served, protocol):
    check_one_lane(served, protocol, "storage")


def test_nodes_have_disks(lab):
    """The disks are really one disk, but no setting says so."""
    events = save_and_restart(lab, "ns", "storage")
    asked = times(events, "order", "to", "CUT")
    first_read = min(times(events, "captured", "from").values())
    for lane in NODES:
        assert min(asked[rank] for rank in lane) <= first_read, events
        check_turns(events, lane)


def test_turns_go_round_the_nodes(lab):
    """Turns alternate between the nodes, so that no node waits for all ranks of
    another."""
    stop = lab.directory / "stop"
    program = programs.idle(stop, RANKS)
    job = lab.start(program, CKPT_PROTOCOL="ns", CKPT_STAGGER="job")
    job.wait_for(program.progress, count=5)  # all ranks have left its barrier
    lab.wait_for_agent(job)
    saved = lab.checkpoint(job)
    stop.touch()
    job.succeed()
    events = lab.ckpt_json("trace", saved["path"])["events"]
    assert list(times(events, "order", "to", "CUT")) == [0, 2, 1, 3]
    check_turns(events, range(RANKS))
