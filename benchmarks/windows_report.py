# SPDX-License-Identifier: BSD-3-Clause
"""windows_report.py - the results of run-windows compared with the figures of Sultan 2004, section
4.7 (sultan_2004.json): tables, and a figure."""

import json
import statistics
from collections import Counter
from pathlib import Path

import report
from ckpttest import table

MB = 1e6
THEN = json.loads(Path(__file__).with_name("sultan_2004.json").read_text(encoding="utf-8"))
LOGGING_AIM, CONTROL_AIM, WINDOW_AIM = 0.05, 0.0025, 4


def share(value):
    """0.0123 -> '1.23 %'"""
    return f"{100 * value:.2f} %"


def added(value):
    """0.0123 -> '+1.2 %'"""
    return f"{100 * value:+.1f} %"


def megabytes(count):
    """Returns a number of bytes in units of 10^6."""
    return f"{count / MB:.2f}"


def shown(values):
    """Returns the median (least .. most) of overheads as shares."""
    return table.spread(values, added)


def of_ranks(sample, name):
    """Returns the mean over ranks."""
    return statistics.mean(rank[name] for rank in sample["ranks"])


# ---- Overhead ------------------------------------------------------------------

OVERHEAD = ["program", "plain", "ckpt", "independent", "ckpt adds", "independent adds",
            "of that, to ckpt", "2004: logs and disk", "2004: all"]


def overhead_rows(programs):
    """Yields the overheads in rounds: each way is compared with the others of its round."""
    for name, result in programs.items():
        plain, ckpt, independent = (result["seconds"][way] for way in
                                    ("plain", "ckpt", "independent"))
        then = THEN["programs"][name]
        yield [
            name,
            table.spread(plain),
            table.spread(ckpt),
            table.spread(independent),
            shown([b / a - 1 for a, b in zip(plain, ckpt, strict=True)]),
            shown([b / a - 1 for a, b in zip(plain, independent, strict=True)]),
            shown([b / a - 1 for a, b in zip(ckpt, independent, strict=True)]),
            f"+{then['logging_and_disk_percent']} %",
            f"+{then['increase_percent']} %",
        ]


# ---- Logs ----------------------------------------------------------------------

LOGS = ["program", "quantity", "here", "2004", "aim"]


def copies_of_one(samples):
    """Returns the most checkpoints that a rank has had at one time."""
    return max(-(-one["copies"] // len(one["ranks"])) for one in samples)


def log_rows(programs):
    """Yields each quantity of the sampled run, with the number of 2004."""
    for name, result in programs.items():
        then = THEN["programs"][name]
        samples = result["counted"]["samples"]
        last = samples[-1]
        logging = of_ranks(last, "logging_ns") / 1e9 / last["seconds"]
        keeping = of_ranks(last, "keeping_ns") / 1e9 / last["seconds"]
        control = of_ranks(last, "control_bytes") / of_ranks(last, "payload_bytes")
        copies = copies_of_one(samples)
        largest = max(rank["log_bytes"] for one in samples for rank in one["ranks"])
        created = of_ranks(last, "logged_bytes")
        gone = of_ranks(last, "trimmed_bytes")
        yield [name, "windows, MB", megabytes(result["counted"]["window_bytes"]),
               then["shared_mb"], ""]
        yield ["", "checkpoints of a rank", f"{of_ranks(last, 'kept'):.0f}",
               then["checkpoints"], ""]
        yield ["", "logging, of the time", share(logging),
               share(then["logging_seconds"] / then["base_seconds"]),
               f"5 %: {report.met(logging < LOGGING_AIM)}"]
        yield ["", "checkpoints, of the time", share(keeping),
               share(then["disk_seconds"] / then["base_seconds"]), ""]
        yield ["", "payload, MB a second", megabytes(of_ranks(last, "payload_bytes")
                                                     / last["seconds"]),
               megabytes(then["traffic_mb"] * MB / then["seconds"]), ""]
        yield ["", "control, of the payload", f"{100 * control:.4f} %",
               f"{then['control_percent']} %",
               f"0.25 %: {report.met(control < CONTROL_AIM)}"]
        yield ["", "checkpoints kept at a time (W)", copies, then["window"],
               f"4: {report.met(copies <= WINDOW_AIM)}"]
        yield ["", "largest log, MB", megabytes(largest), then["largest_log_mb"], ""]
        yield ["", "logs created, MB", megabytes(created), then["created_mb"], ""]
        yield ["", "saved", "0 %", share(then["saved_mb"] / then["created_mb"]), ""]
        yield ["", "discarded", share(gone / created),
               share(then["discarded_mb"] / then["created_mb"]), ""]


BOUNDS = ["program", "steps", "seconds", "checkpoints of a rank", "logged, MB",
          "largest log, first half, MB", "second half, MB", "last quarter to the third"]


def bound_rows(runs):
    """Yields rows that show whether logs grow with the length of a run."""
    for name, result in runs.items():
        samples = result["counted"]["samples"]
        sizes = [max(rank["log_bytes"] for rank in one["ranks"]) for one in samples]
        means = [of_ranks(one, "log_bytes") for one in samples]
        half, quarter = len(samples) // 2, max(1, len(samples) // 4)
        growth = statistics.mean(means[-quarter:]) / statistics.mean(
            means[half : half + quarter]
        )
        yield [name, result["steps"], f"{samples[-1]['seconds']:.1f}",
               f"{of_ranks(samples[-1], 'kept'):.0f}",
               megabytes(of_ranks(samples[-1], "logged_bytes")),
               megabytes(max(sizes[: half + 1])), megabytes(max(sizes[half:])),
               added(growth - 1)]


# ---- Operations ------------------------------------------------------------------

SHOWN = {"plain": "plain", "ckpt": "ckpt", "independent": "staged", "direct": "direct"}


def medians(runs, way):
    """Returns the medians of the rounds."""
    return [middle for _, middle in runs[way]]


def shown_ways(operations):
    """Returns the measured ways of {way: name}: an older file has no direct puts."""
    measured = next(iter(operations.values()), {})
    return {way: name for way, name in SHOWN.items() if way in measured}


def latency_header(operations):
    """Returns the header of latency_rows()."""
    plain, *others = shown_ways(operations).values()
    return ["operation", plain, *others, *(f"{name} adds" for name in others)]


def latency_rows(operations):
    """Yields the latencies of one operation and a flush."""
    for name, runs in operations.items():
        if "_stream" not in name:
            plain, *others = (medians(runs, way) for way in shown_ways(operations))
            yield [
                name,
                *(table.spread(values) for values in (plain, *others)),
                *(
                    table.spread([b - a for a, b in zip(plain, with_it, strict=True)],
                                 lambda value: f"{value * 1e9:+.0f} ns")
                    for with_it in others
                ),
            ]


def rate(seconds, size):
    """Returns a rate in MB/s."""
    return size / seconds / MB


def stream_header(operations):
    """Returns the header of stream_rows()."""
    names = list(shown_ways(operations).values())
    return ["many, and a flush", *names, *(f"{name} to plain" for name in names[2:])]


def stream_rows(operations):
    """Yields the bandwidths."""
    for name, runs in operations.items():
        if "_stream" in name:
            size = int(name.rpartition("_")[2])
            rates = [[rate(value, size) for value in medians(runs, way)]
                     for way in shown_ways(operations)]
            yield [
                name.replace("_stream", ""),
                *(table.spread(one, lambda value: f"{value:.0f} MB/s") for one in rates),
                *(table.spread([b / a for a, b in zip(rates[0], one, strict=True)],
                               lambda value: f"{value:.2f}") for one in rates[2:]),
            ]


# ---- Barriers --------------------------------------------------------------------

BARRIERS = ["checkpoints", "of the time in barriers", "in own checkpoints, there", "waiting",
            "waiting more than plain", "2004, Barnes"]


def barrier_rows(barriers):
    """Yields the waits in rounds: each way is compared with the plain one of its round."""
    then = THEN["barriers_percent"]
    waits = {
        way: [one["all"] - one["own"] for one in shares] for way, shares in barriers.items()
    }
    for way, shares in barriers.items():
        yield [
            way,
            table.spread([one["all"] for one in shares], share),
            table.spread([one["own"] for one in shares], share),
            table.spread(waits[way], share),
            shown([here - plain for here, plain in zip(waits[way], waits["plain"], strict=True)]),
            f"{then[way]} %" if way in then else "-",
        ]


# ---- A rank is killed --------------------------------------------------------------

RETURNS = ["program", "protocol", "kills", "kill to all computing", "to all further than before",
           "not counted"]


def return_rows(returns):
    """Yields the times with a replay of one rank, compared with a rollback of all."""
    for name, ways in returns.items():
        for way, result in ways.items():
            kills, others = result["kills"], result["others"]
            spreads = [table.spread([kill[of] for kill in kills]) if kills else "-"
                       for of in ("computing", "seconds")]
            reasons = [f"{count}: {why}" for why, count in Counter(others).items()]
            yield [name, way, len(kills), *spreads, "; ".join(reasons)]


# ---- All of it -----------------------------------------------------------------------


# (key of the data, title, words, header or a function that makes it, rows)
SECTIONS = [
    ("programs", "What they add to a run", "From the first step to the result; two ranks,"
     " rounds of one run each.", OVERHEAD, overhead_rows),
    ("programs", "Logs, checkpoints and control data", "Of a rank, in one more run. Logs are"
     " in memory and never saved; a checkpoint is a frozen copy.", LOGS, log_rows),
    ("long", "Long runs", "Whether logs are bounded.", BOUNDS, bound_rows),
    ("operations", "Operations: latency", "One and a flush, to a rank that waits.",
     latency_header, latency_rows),
    ("operations", "Operations: bandwidth", "Up to 64, or 4 MiB, and a flush.",
     stream_header, stream_rows),
    ("barriers", "Barriers", "Two ranks that compute as much, of which one logs 1.6 times as"
     " much as the other.", BARRIERS, barrier_rows),
    ("returns", "A rank is killed", "Three ranks; `coordinated` is saved each second.",
     RETURNS, return_rows),
]


def text(data):
    """Returns the report, Markdown; sections without measurements are left out."""
    parts = [
        "# Independent checkpoints of windows",
        f"Median (least .. most). Beside it: {THEN['source']}.",
        report.markdown(["machine", ""], list(data["machine"].items())),
    ]
    for name, title, words, header, rows in SECTIONS:
        if result := data["results"].get(name):
            first = header(result) if callable(header) else header
            parts.append(f"## {title}\n\n{words}\n\n{report.markdown(first, list(rows(result)))}")
    return "\n\n".join(parts) + "\n"


def draw_logs(axes, runs):
    """Draws the largest log of a rank, over time."""
    for name, result in runs.items():
        samples = result["counted"]["samples"]
        sizes = [max(rank["log_bytes"] for rank in one["ranks"]) / MB for one in samples]
        axes.plot([one["seconds"] for one in samples], sizes, label=name, linewidth=1)
    axes.set_xlabel("seconds")
    axes.set_ylabel("largest log of a rank (MB)")
    axes.set_ylim(bottom=0)


STYLES = ("o-", "x--", "s:", "d-.")


def draw_rates(axes, operations):
    """Draws the bandwidths of puts and gets."""
    for operation in ("put", "get"):
        runs = {int(name.rpartition("_")[2]): one for name, one in operations.items()
                if name.startswith(f"{operation}_stream_")}
        # A machine need not have measured all ways.
        for (way, label), style in zip(shown_ways(operations).items(), STYLES, strict=False):
            rates = [rate(min(medians(one, way)), size) for size, one in runs.items()]
            axes.loglog(list(runs), rates, style, label=f"{operation}, {label}", markersize=4)
    axes.set_xlabel("bytes of an operation")
    axes.set_ylabel("MB/s, best median")


def figure(data, path):
    """Draws logs of long runs, and bandwidths; needs matplotlib."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    drawing, (left, right) = pyplot.subplots(1, 2, figsize=(11, 4.2))
    draw_logs(left, data["results"].get("long", {}))
    draw_rates(right, data["results"].get("operations", {}))
    for axes in (left, right):
        axes.grid(True, which="major", alpha=0.4)
        if axes.lines:
            axes.legend(fontsize=8)
    drawing.tight_layout()
    for suffix in ("svg", "png"):
        drawing.savefig(path.with_suffix(f".{suffix}"))
