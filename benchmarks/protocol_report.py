# SPDX-License-Identifier: BSD-3-Clause
"""protocol_report.py - the table of protocols and patterns, as Markdown and HTML."""

import html
import statistics

import calibrate
import protocols
import report
from ckpttest import table

HEADER = [
    "protocol",
    "ranks",
    "nodes",
    "pattern",
    "protocol's messages",
    "formula",
    "first-use markers",
    "alignment",
    "other control messages",
    "cross-cut messages",
    "cross-cut bytes",
    "a rank stands still",
    "the longest",
    "checkpoint time",
]

NOTE = (
    "The protocol's messages are Plank's m_SNS (stop, all is received, save, saved),"
    " m_CL (a marker on each channel used) or m_NS (the sweep, between N nodes: over a"
    " hypercube, or a mesh of d sides k). Quiet: nobody has sent a message to another"
    " rank since the checkpoint before, so there is nothing to count, and no sweep."
    " Alignment and other control messages are between the coordinator and ranks,"
    " in both directions. Spreads are median (least .. most) of the checkpoints of"
    " one job; of the ranks' times in a checkpoint the median counts."
)

STYLE = """
body { font: 14px sans-serif; margin: 2em; }
table { border-collapse: collapse; }
th, td { border: 1px solid #ccc; padding: 2px 8px; text-align: right; }
th { background: #eee; }
td:first-child, td:nth-child(4), td:nth-child(6) { text-align: left; }
tr.other td:nth-child(5) { background: #fdd; }
"""


def counts(values):
    """Returns one number if all are equal, otherwise median (least .. most)."""
    if min(values) == max(values):
        return str(values[0])
    middle = statistics.median_low(values)
    return f"{middle} ({min(values)} .. {max(values)})"


def control_messages(saved):
    """Returns (alignment, others except the protocol's own) between coordinator and
    ranks."""
    messages = dict(saved["cost"]["messages"])
    messages.pop("stop and save", None)
    return messages.pop("alignment"), sum(messages.values())


def own_messages(saved):
    """Returns the protocol's own messages; if the formula gives less after the first
    checkpoint: "8, then 0"."""
    own = list(map(protocols.own_messages, saved))
    if saved[-1]["expected"] == saved[0]["expected"]:
        return counts(own)
    return f"{own[0]}, then {counts(own[1:])}"


def row(result):
    """Returns one line of the table."""
    saved = result["checkpoints"]
    costs = [checkpoint["cost"] for checkpoint in saved]
    alignment, others = zip(*map(control_messages, saved), strict=True)
    stops = [cost["stood_still"] for cost in costs]
    return [
        protocols.PROTOCOLS[result["protocol"]],
        result["ranks"],
        result["nodes"],
        result["pattern"],
        own_messages(saved),
        result["formula"],
        counts([cost["first_use_markers"] for cost in costs]),
        counts(alignment),
        counts(others),
        counts([cost["cross_cut_messages"] for cost in costs]),
        counts([cost["cross_cut_bytes"] for cost in costs]),
        table.spread([stop["median"] for stop in stops]),
        table.spread([stop["most"] for stop in stops]),
        table.spread([checkpoint["timings"]["total"] for checkpoint in saved]),
    ]


def are_as_expected(result):
    """Whether all checkpoints of a case agree with the formula."""
    return all(
        protocols.is_as_expected(checkpoint)
        for checkpoint in result["checkpoints"]
    )


def agreement(results):
    """Says how many checkpoints agree with the formulas."""
    same = [
        protocols.is_as_expected(checkpoint)
        for result in results
        for checkpoint in result["checkpoints"]
    ]
    return (
        f"{sum(same)} of {len(same)} checkpoints took the messages of the formula;"
        " by Sync-and-Stop one less for each rank that is saved inside a collective,"
        " where it has nothing to drain."
        f" {sum(result['instead'] for result in results)} more were taken by"
        " Sync-and-Stop, though another protocol was asked for."
    )


def facts(data):
    """Returns facts about the machine, a line for each."""
    return [[name, value] for name, value in data["machine"].items()]


def summary(data):
    """Returns the conclusions, a paragraph each."""
    lines = [agreement(data["results"])]
    return lines + [f"Not measured: {failure}" for failure in data["failures"]]


def markdown(data):
    """Returns the whole report."""
    parts = [
        "# Checkpoints by protocol and pattern of communication",
        NOTE,
        *summary(data),
        report.markdown(["machine", ""], facts(data)),
        report.markdown(HEADER, map(row, data["results"])),
        calibrate.markdown(data),
    ]
    return "\n\n".join(parts) + "\n"


def page(data):
    """Returns the same as HTML; deviations from the formula are red."""
    rows = [
        report.html_row(
            "td", row(result), "" if are_as_expected(result) else ' class="other"'
        )
        for result in data["results"]
    ]
    machine = [report.html_row("td", fact) for fact in facts(data)]
    beside = [
        "<h2>The simulator beside it</h2>",
        f"<p>{html.escape(calibrate.summary(data))}</p><table>",
        report.html_row("th", calibrate.HEADER),
        *(report.html_row("td", calibrate.row(result)) for result in data["results"]),
        "</table>",
    ]
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en"><meta charset="utf-8">',
            "<title>Checkpoints by protocol and pattern</title>",
            f"<style>{STYLE}</style>",
            "<h1>Checkpoints by protocol and pattern of communication</h1>",
            f"<p>{html.escape(NOTE)}</p>",
            *(f"<p>{html.escape(line)}</p>" for line in summary(data)),
            "<table>",
            report.html_row("th", HEADER),
            *rows,
            "</table>",
            *beside,
            "<h2>Machine</h2><table>",
            *machine,
            "</table></html>",
            "",
        ]
    )
