# SPDX-License-Identifier: BSD-3-Clause
"""report.py - results of a run as Markdown tables and as a figure."""

import html
import statistics

from ckpttest import table

# Quantity -> (aim in words, function that decides whether native and ckpt meet it).
AIMS = {
    "pingpong_8": ("+30 ns", lambda n, c: c - n <= 30e-9),
    "allreduce_8": ("+5 %", lambda n, c: c <= 1.05 * n),
    "comm_rank": ("8 ns", lambda n, c: c <= 8e-9),
    "exchange_8": ("+15 %", lambda n, c: c <= 1.15 * n),
}


def markdown(header, rows):
    """Returns a Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def html_row(kind, cells, style=""):
    """Returns a row of an HTML table with cells of one kind: td or th."""
    inner = "".join(f"<{kind}>{html.escape(str(cell))}</{kind}>" for cell in cells)
    return f"<tr{style}>{inner}</tr>"


def met(fact):
    """Returns the word for the column of aims."""
    return "met" if fact else "missed"


def latency_rows(latency):
    """Yields the median of each run, the best of all runs, and ckpt's addition: the
    median over the pairs of runs."""
    for name, runs in latency.items():
        native, ckpt = (
            [middle for _, middle in runs[kind]] for kind in ("native", "ckpt")
        )
        best = {kind: min(run[0] for run in runs[kind]) for kind in runs}
        added = [with_ckpt - without for without, with_ckpt in zip(native, ckpt, strict=True)]
        middle = statistics.median(native)
        aim = "-"
        if name in AIMS:
            words, test = AIMS[name]
            aim = f"{words}: {met(test(middle, statistics.median(ckpt)))}"
        yield [
            name,
            table.spread(native),
            table.spread(ckpt),
            table.spread(added, lambda value: f"{value * 1e9:+.0f} ns"),
            f"{statistics.median(added) / middle:+.1%}",
            table.seconds(best["native"]),
            table.seconds(best["ckpt"]),
            aim,
        ]


def instruction_rows(instructions):
    """Yields the counts without those of an empty call."""
    empty = instructions["nothing"]["native"][0]
    for name, counts in instructions.items():
        if name != "nothing":
            native, ckpt = counts["native"][0] - empty, counts["ckpt"][0] - empty
            yield [name, native, ckpt, f"{ckpt - native:+d}", counts["ckpt"][1]]


def lammps_rows(lammps):
    """Loop time and wall time of LAMMPS."""
    for index, name in enumerate(("loop time", "wall time of mpirun")):
        native, ckpt = (
            [run[index] for run in lammps[kind]] for kind in ("native", "ckpt")
        )
        ratios = [b / a - 1 for a, b in zip(native, ckpt, strict=True)]
        middle = statistics.median(ratios)
        yield [
            name,
            table.spread(native),
            table.spread(ckpt),
            table.spread(ratios, lambda ratio: f"{ratio:+.1%}"),
            f"+1 %: {met(middle <= 0.01)}" if index == 0 else "-",
        ]


def checkpoint_rows(empty, large, restarts):
    """Everything about checkpoints and restarts."""

    def column(results, name):
        return [result[name] for result in results]

    middle = statistics.median(column(empty, "total"))
    yield [
        "empty checkpoint, request to commit",
        table.spread(column(empty, "total")),
        f"30 ms: {met(middle <= 30e-3)}",
    ]
    yield [
        "its command, as a whole",
        table.spread(column(empty, "command")),
        "-",
    ]
    yield ["ranks stand still", table.spread(column(empty, "stop")), "-"]
    yield ["its image", table.spread(column(empty, "bytes"), table.size), "-"]
    yield [
        "large checkpoint, request to commit",
        table.spread(column(large, "total")),
        "-",
    ]
    yield ["ranks stand still", table.spread(column(large, "stop")), "-"]
    yield ["its memory", table.spread(column(large, "memory"), table.size), "-"]
    yield ["its image", table.spread(column(large, "bytes"), table.size), "-"]
    yield ["plain write of it", table.spread(column(large, "plain")), "-"]
    parts = [result["plain"] / result["total"] for result in large]
    yield [
        "fraction of the plain write's speed",
        table.spread(parts, lambda part: f"{part:.2f}"),
        f"0.9: {met(statistics.median(parts) >= 0.9)}",
    ]
    yield ["kill to running again", table.spread(restarts), "-"]


def text(results):
    """Returns the whole report."""
    facts = [[name, value] for name, value in results["machine"].items()]
    large, restarts = results["large"]
    latency = ["quantity", "native", "ckpt", "added", "ratio"]
    latency += ["native, best", "ckpt, best", "aim"]
    parts = [
        "# Benchmarks",
        "Times are of one operation; a spread is median (least .. most); what ckpt"
        " adds is taken from pairs of runs.",
        markdown(["machine", ""], facts),
        "## MPI calls, 2 ranks",
        markdown(latency, latency_rows(results["latency"])),
        "## Instructions of a call, 2 ranks, 8 bytes",
        markdown(
            ["function", "native", "ckpt", "added", "in our library"],
            instruction_rows(results["instructions"]),
        ),
        "## LAMMPS, 32,000 atoms, 500 steps, 2 ranks",
        markdown(
            ["what", "native", "ckpt", "added, of pairs", "aim"],
            lammps_rows(results["lammps"]),
        ),
        "## Checkpoints and restarts, 2 ranks",
        markdown(
            ["what", "measured", "aim"],
            checkpoint_rows(results["empty"], large, restarts),
        ),
    ]
    return "\n\n".join(parts) + "\n"


def figure(results, path):
    """Draws ping-pong latency over message size; needs matplotlib."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    latency = results["latency"]
    names = [name for name in latency if name.startswith("pingpong_")]
    sizes = [int(name.rpartition("_")[2]) for name in names]
    drawing, axes = pyplot.subplots(figsize=(7, 4.5))
    for kind, style in (("native", "o-"), ("ckpt", "x--")):
        best = [min(run[0] for run in latency[name][kind]) for name in names]
        axes.loglog(sizes, [1e6 * value for value in best], style, label=kind)
    axes.set_xlabel("message size (bytes)")
    axes.set_ylabel("one-way time (us), best of all runs")
    axes.grid(True, which="major", alpha=0.4)
    axes.legend()
    drawing.tight_layout()
    for suffix in ("svg", "png"):
        drawing.savefig(path.with_suffix(f".{suffix}"))
