# SPDX-License-Identifier: BSD-3-Clause
"""page.py - the report: a self-contained HTML page, and the conclusions as Markdown."""

import html
from collections import Counter

import report
from ckpttest import table

from . import (
    dissertation,
    figures,
    judging,
    multicomputer,
    multiprocessor,
    real_programs,
    size_figures,
    tables,
    today,
)
from .costs import METHODS
from .explanations import REASONS
from .subjects import all_of

STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 66em;
  padding: 0 1em; color: #222; }
h1, h2, h3 { line-height: 1.2; } h2 { margin-top: 2.2em; }
table { border-collapse: collapse; font-size: 12.5px; margin: .6em 0; }
th, td { border-bottom: 1px solid #ddd; padding: 3px 9px; text-align: left;
  vertical-align: top; }
th { background: #f2f4f7; }
.wide { overflow-x: auto; }
figure { margin: 1.6em 0; } figcaption { color: #444; margin-bottom: .4em; }
svg { max-width: 100%; height: auto; }
.agrees td:nth-child(4) { background: #e3f1e1; }
.differs td:nth-child(4) { background: #fbe3e0; }
.unknown td:nth-child(4) { background: #f4f4f4; color: #777; }
summary { cursor: pointer; font-weight: bold; margin: .6em 0; }
"""
CLASSES = {judging.AGREES: "agrees", judging.DIFFERS: "differs"}
CONCLUSIONS = (
    *multiprocessor.CONCLUSIONS,
    *multicomputer.CONCLUSIONS,
    *real_programs.CONCLUSIONS,
)
HEADER = ["figure", "1993 says", "the rule", "here", "1993 by the rule", "why not"]
SECTIONS = (
    ("4.1 Multiprocessor: programs with threads", 1, 5),
    ("4.2 Multicomputer: a_m_s", 6, 16),
    ("4.2.9 Real programs", 17, 22),
)
NOTE = (
    "Overhead: (a run with checkpoints - one without) / checkpoints; concurrency: 1 -"
    " overhead / checkpoint time. Spreads are median (least .. most); noise is half of the"
    " spread of equal runs or checkpoints, or the time that others took of each processor"
    " if that is more; what differs by less is not compared. A conclusion agrees if three"
    " quarters of the comparisons that are outside of the noise hold, unless its rule says"
    " otherwise; no verdict is written by hand. The reasons are:"
    " they are what is known of the differences between then and now, not measured."
)


def _judgements(costs):
    """[(Conclusion, here, 1993)]"""
    return [
        (one, judging.judge(one, costs), judging.judge(one, dissertation.costs()))
        for one in CONCLUSIONS
    ]


def _cells(conclusion, here, before):
    differs = here.verdict == judging.DIFFERS
    return [
        ", ".join(conclusion.figures),
        conclusion.statement,
        conclusion.rule,
        here.in_words(),
        before.in_words(),
        REASONS.get(conclusion.key, "") if differs else "",
    ]


def summary(judgements):
    """Says how many conclusions agree."""
    counts = Counter(here.verdict for _, here, _ in judgements)
    kinds = (judging.AGREES, judging.DIFFERS, judging.UNDECIDED, judging.NOT_MEASURED)
    words = ", ".join(f"{kind}: {counts[kind]}" for kind in kinds)
    return f"Of {len(judgements)} conclusions of 1993: {words}."


def _disturbance(record):
    others = [run["others"] for run in record.data["runs"] if "others" in run]
    if not others:
        return "Nothing has been measured."
    return (
        "Processor time that others took while a run was measured:"
        f" {table.spread(others, '{:.2f} s'.format)}."
    )


def _remarks(record):
    """Returns remarks about this run for the reader."""
    scale, extent = record.scale(), record.extent()
    lines = [
        f"The {scale.name} form: {scale.ranks} ranks and {scale.threads} threads on one"
        f" node; {scale.rank_bytes >> 20} MiB stand for the 8 MB of a node of 1993, and"
        f" for the 16 MB of the Firefly; runs of some {scale.seconds:g} s,"
        f" {scale.repetitions} of each, with {scale.checkpoints} checkpoints; one run"
        f" without checkpoints beside each {scale.group} with them.",
        _disturbance(record),
    ]
    lacking = [method for method in METHODS if method not in extent.methods]
    if lacking:
        lines.append(f"Not measured, as this build or run has no {', '.join(lacking)}.")
    others = today.instead(record.data)
    if others:
        names = ", ".join(sorted({run["key"] for run in others}))
        lines.append(f"Left out, as ckpt saved them in another way than asked: {names}.")
    for run in record.failures():
        lines.append(f"Failed: {run['key']}: {run['error'].splitlines()[0]}")
    return lines


def _machine(record):
    sessions = record.data["sessions"]
    return [
        [name, "; ".join(dict.fromkeys(str(one[name]) for one in sessions))]
        for name in sessions[0]
    ]


def markdown(record, judgements):
    """Returns the conclusions."""
    parts = [
        "# Chapter 4 of 1993, measured anew",
        summary(judgements),
        *_remarks(record),
        NOTE,
        report.markdown(["machine", ""], _machine(record)),
        report.markdown(HEADER, [_cells(*one) for one in judgements]),
    ]
    return "\n\n".join(parts) + "\n"


def _paragraph(text):
    return f"<p>{html.escape(text)}</p>"


def _table(header, rows, styles=None):
    styles = styles or [""] * len(rows)
    return "\n".join(
        [
            '<div class="wide"><table>',
            report.html_row("th", header),
            *(report.html_row("td", row, style) for row, style in zip(rows, styles, strict=True)),
            "</table></div>",
        ]
    )


def _conclusions(judgements):
    styles = [
        f' class="{CLASSES.get(here.verdict, "unknown")}"' for _, here, _ in judgements
    ]
    return _table(HEADER, [_cells(*one) for one in judgements], styles)


def _figure(figure, costs, judgements):
    own = [one for one in judgements if figure.number in one[0].figures]
    return "\n".join(
        [
            f'<figure id="figure-{figure.number}">',
            f"<figcaption><b>Figure {figure.number}.</b>"
            f" {html.escape(figure.caption)}.</figcaption>",
            figure.draw(costs),
            _conclusions(own) if own else "",
            "</figure>",
        ]
    )


def _section(title, first, last, costs, judgements):
    own = [
        one for one in figures.FIGURES if first <= int(one.number.split(".")[1]) <= last
    ]
    drawn = [_figure(figure, costs, judgements) for figure in own]
    return "\n".join([f"<h2>{html.escape(title)}</h2>", *drawn])


def _details(number, caption, header, rows):
    name = "" if number == "all" else f"Table {number}. "
    return "\n".join(
        [
            f'<details id="table-{number}">',
            f"<summary>{html.escape(name + caption)}</summary>",
            _table(header, rows),
            "</details>",
        ]
    )


def document(record, costs, judgements):
    """Returns the HTML page."""
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en"><meta charset="utf-8">',
            "<title>Chapter 4 of 1993, measured anew</title>",
            f"<style>{STYLE}</style>",
            "<h1>Chapter 4 of 1993, measured anew</h1>",
            _paragraph(f"Beside: {dissertation.data()['source']}."),
            f"<p><b>{html.escape(summary(judgements))}</b></p>",
            *map(_paragraph, [*_remarks(record), NOTE]),
            "<h2>What agrees</h2>",
            _conclusions(judgements),
            *(_section(*section, costs, judgements) for section in SECTIONS),
            "<h2>Latency</h2>",
            '<figure id="figure-latency"><figcaption>The distribution of how long ranks'
            " stand still, which 1993 does not have; dotted: 0.1 s.</figcaption>",
            size_figures.latencies(costs),
            "</figure>",
            "<h2>Tables</h2>",
            *(_details(*one) for one in tables.all_of(record.data, costs)),
            "<h2>Machine</h2>",
            _table(["machine", ""], _machine(record)),
            "</html>",
            "",
        ]
    )


def texts(record):
    """Returns {suffix of a file: its text}"""
    costs = today.costs(record.data, all_of(record.scale()))
    judgements = _judgements(costs)
    return {
        "html": document(record, costs, judgements),
        "md": markdown(record, judgements),
    }
