# SPDX-License-Identifier: BSD-3-Clause
"""today.py - costs from a file of results."""

import statistics

from .costs import Cost, Costs, Quantity, Way, overhead

QUIET = 0.05  # of a run's time: the most that other processes may take of each processor


def way_of(run):
    """Returns the Way of a result."""
    return Way(**run["way"])


def is_as_asked(run):
    """Whether all its checkpoints were taken in its way: ckpt may use Sync-and-Stop, or `stop`,
    where another way is impossible."""
    asked = run["way"]
    return all(
        saved["protocol"] == asked["protocol"]
        and saved.get("snapshot", asked["method"]) == asked["method"]
        for saved in run["checkpoints"]
    )


def fault_data(saved):
    """Returns {"count", "pool_waits", "p50", "p99", "p999", "most"} of a checkpoint by `cll`; None
    where ckpt does not report it."""
    return saved["cost"].get("faults") if saved.get("snapshot") == "cll" else None


def _of_kind(data, kind):
    return [run for run in data["runs"] if run["kind"] == kind and "error" not in run]


def instead(data):
    """Returns the results with a checkpoint that was taken in another way than requested."""
    return [run for run in _of_kind(data, "saved") if not is_as_asked(run)]


def _without(data):
    """Returns {(workload, repetition, group): result}"""
    return {
        (run["workload"], run["repetition"], run["group"]): run
        for run in _of_kind(data, "without")
    }


def _delay(run, processors):
    """Returns the seconds by which other processes may have delayed a run: their processor time, if
    all processors had an equal share."""
    return run.get("others", 0.0) / processors


def _noise_of_runs(without, processors):
    """Returns {workload: noise in seconds}: half of the spread between equal, undisturbed runs. For
    a workload with at most one such run, it is in proportion to the others' noise."""
    runs, quiet = {}, {}
    for (workload, _, _), run in without.items():
        seconds = run["seconds"]
        runs.setdefault(workload, []).append(seconds)
        if _delay(run, processors) <= QUIET * seconds:
            quiet.setdefault(workload, []).append(seconds)
    known = {
        workload: (max(values) - min(values)) / 2
        for workload, values in quiet.items()
        if len(values) > 1
    }
    shares = [known[name] / statistics.median(runs[name]) for name in known]
    usual = statistics.median(shares) if shares else 0.0
    return {
        workload: known.get(workload, usual * statistics.median(values))
        for workload, values in runs.items()
    }


def _cost(runs, without, noise, processors):
    """Returns the cost of all runs of a workload in one way."""
    saved = [one for run in runs for one in run["checkpoints"]]
    beside = [
        (run, without[run["workload"], run["repetition"], run["group"]])
        for run in runs
        if (run["workload"], run["repetition"], run["group"]) in without
    ]
    added = [
        overhead(run["seconds"], other["seconds"], len(run["checkpoints"]))
        for run, other in beside
    ]
    count = len(runs[0]["checkpoints"])
    delays = [
        max(_delay(run, processors), _delay(other, processors)) for run, other in beside
    ]
    delay = statistics.median(delays) if delays else 0.0
    noise_of_one = max(noise.get(runs[0]["workload"], 0.0), delay) / count
    return Cost(
        time=Quantity.of([one["timings"]["total"] for one in saved]),
        overhead=Quantity.of(added, noise_of_one) if added else None,
        stops=tuple(one["cost"]["stood_still"]["most"] for one in saved),
        bytes=Quantity.of([one["bytes"] for one in saved]),
        faults=tuple(filter(None, map(fault_data, saved))),
    )


def _recovery(data):
    """Returns {(workload, codec): (Quantity of the checkpoint, of the restart)}"""
    runs = {}
    for run in _of_kind(data, "restart"):
        runs.setdefault((run["workload"], run["way"]["codec"]), []).append(run)
    return {
        key: (
            Quantity.of([run["checkpoints"][0]["timings"]["total"] for run in own]),
            Quantity.of([run["restart"] for run in own]),
        )
        for key, own in runs.items()
    }


def costs(data, subjects):
    """Returns all costs that have been measured as requested."""
    found = Costs("here")
    without = _without(data)
    processors = data["sessions"][0]["processors"]
    noise = _noise_of_runs(without, processors)
    runs = {}
    for run in _of_kind(data, "saved"):
        if is_as_asked(run):
            runs.setdefault((run["workload"], way_of(run)), []).append(run)
    for key, own in runs.items():
        found.table[key] = _cost(own, without, noise, processors)
        found.megabytes[key[0]] = subjects[key[0]].megabytes
    found.recovery = _recovery(data)
    return found
