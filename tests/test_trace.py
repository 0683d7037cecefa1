# SPDX-License-Identifier: BSD-3-Clause
"""`ckpt trace`: the record of a real checkpoint, and its diagram."""

import json
import math
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

from ckpttest import programs

RANKS = 4
SVG = "{http://www.w3.org/2000/svg}"


def saved(lab):
    """The directory of one checkpoint of a running job."""
    program = programs.ring(100000, RANKS)
    job = lab.start(program)
    job.wait_for(program.progress)
    path = Path(lab.checkpoint(job)["path"])
    job.kill()
    return path


def test_trace(lab):
    path = saved(lab)
    trace = lab.ckpt_json("trace", path)
    assert trace["rank_count"] == RANKS
    assert trace["left_out"] == 0
    events = trace["events"]
    times = [event["at"] for event in events]
    assert times == sorted(times)

    kinds = Counter(event["kind"] for event in events)
    assert kinds["cut"] == kinds["captured"] == RANKS
    assert kinds["stopped"] == kinds["resumed"] >= RANKS
    assert kinds["written"] == kinds["commit"] == 1
    sent = trace["totals"]["messages"]
    for name in ("STOP", "SAVE", "READY"):
        assert sent[name] >= RANKS, sent
    # A rank inside a collective drains no messages.
    assert sent.get("DRAINED", 0) == sent.get("DRAIN", 0), sent

    # Each rank stands still from its cut until its memory is read.
    for rank in range(RANKS):
        when = {}
        for event in events:
            if event.get("from") == rank:
                when.setdefault(event["kind"], []).append(event["at"])
        (cut,), (captured,) = when["cut"], when["captured"]
        stops = list(zip(when["stopped"], when["resumed"], strict=True))
        assert any(a <= cut < captured <= b for a, b in stops), when


def test_what_ranks_see(lab):
    """Chandy-Lamport: the ranks report their cuts, markers and logged messages."""
    size = 1000
    program = programs.pattern("all-to-all", 10**6, RANKS, size=size)
    job = lab.start(program, CKPT_PROTOCOL="cl")
    job.wait_for("^begun")
    saved = lab.checkpoint(job)
    job.kill()
    assert saved["protocol"] == "cl"
    events = lab.ckpt_json("trace", saved["path"])["events"]
    kinds = Counter(event["kind"] for event in events)
    assert kinds["cut"] == kinds["captured"] == RANKS
    cuts = {e["from"]: e["at"] for e in events if e["kind"] == "cut"}

    markers = [event for event in events if event["kind"] == "marker"]
    pairs = {(marker["from"], marker["to"]) for marker in markers}
    assert len(markers) == len(pairs) == RANKS * (RANKS - 1)
    assert saved["cost"]["markers"] == saved["cost"]["channels"] == len(markers)
    for marker in markers:
        assert marker["count"] > 0 and not marker["first_use"]
        assert cuts[marker["from"]] <= marker["at"], marker
        # If a rank knows all counts, it may be complete before a marker arrives.
        assert marker["at"] < marker.get("arrived", math.inf), marker
    assert any("arrived" in marker for marker in markers)

    logged = [event for event in events if event["kind"] == "logged"]
    assert len(logged) == saved["cost"]["cross_cut_messages"]
    assert saved["cost"]["cross_cut_bytes"] == size * len(logged)
    for message in logged:
        assert message["bytes"] == size
        assert cuts[message["to"]] < message["arrived"], message
        assert message["from"] != message["to"]

    # The rank knows the time of its cut better than the coordinator, which learns of it
    # later.
    for event in events:
        if event.get("message") == "READY":
            assert event["at"] > cuts[event["from"]]
    manifest = json.loads((Path(saved["path"]) / "manifest.json").read_text())
    assert manifest["cost"] == saved["cost"]


def test_diagram(lab):
    path = saved(lab)
    done = lab.ckpt("trace", path, "--svg", "cut.svg")
    assert done.returncode == 0, done.stderr
    root = ElementTree.parse(lab.work / "cut.svg").getroot()
    assert root.tag == f"{SVG}svg"
    words = [text.text for text in root.iter(f"{SVG}text")]
    assert {f"rank {rank}" for rank in range(RANKS)} <= set(words)
    assert "Sync-and-Stop" in words[0]
    cuts = [line.get("points").split() for line in root.iter(f"{SVG}polyline")]
    assert cuts and all(len(points) == RANKS + 2 for points in cuts)


def test_a_checkpoint_needs_no_trace(lab):
    path = saved(lab)
    json.loads((path / "trace.json").read_text(encoding="utf-8"))
    (path / "trace.json").unlink()
    assert lab.ckpt("verify", path).returncode == 0
    done = lab.ckpt("trace", path)
    assert done.returncode == 3
    assert "has no trace" in done.stderr
    restarted = lab.restart(path)
    restarted.wait_for(programs.ring(1).progress)
    restarted.kill()
