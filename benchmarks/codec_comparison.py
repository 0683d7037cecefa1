# SPDX-License-Identifier: BSD-3-Clause
"""codec_comparison.py - the compression ratio and the speed of the codec of Plank's dissertation
(1993) and of today's codecs, on the memory in checkpoints."""

import json
import subprocess
from dataclasses import dataclass

import report
from ckpttest import programs, table
from ckpttest.lab import Lab
from ckpttest.settings import BUILD

STEPS = 10**8  # the job is killed after the checkpoint
LINES = 3  # of progress before that

# Functions of the number of ranks; one line for each program.
PROGRAMS = {
    "LAMMPS": lambda ranks: programs.lammps(STEPS, ranks),
    "heat": lambda ranks: programs.heat(STEPS, ranks),
    "ring": lambda ranks: programs.ring(STEPS, ranks),
    "memory": lambda ranks: programs.memory(100, STEPS, ranks),
}


@dataclass(frozen=True)
class Published:
    """The numbers in the dissertation for one of its programs, in section 4.2.9."""

    program: str
    nodes: int
    kilobytes: int  # address space of a node
    kilobytes_left: int
    share_left: float


OF_1993 = (
    Published("Genetic Algorithm Tool", 16, 210, 41, 0.195),
    Published("Sparse Matrix Solver", 32, 317, 77, 0.243),
    Published("Gaussian Elimination", 32, 942, 317, 0.337),
    Published("Fast Fourier Transform", 32, 1015, 907, 0.894),
    Published("Molecular Dynamics", 32, 3318, 151, 0.046),
    Published("Iterative Equation Solver", 32, 4834, 462, 0.096),
)


def checkpoint(directory, program):
    """Runs the program until it has been saved; returns the node files."""
    lab = Lab(directory, CKPT_CODEC="none")
    try:
        job = lab.start(program)
        if program.progress:
            job.wait_for(program.progress, count=LINES)
        lab.checkpoint(job)
    finally:
        lab.close()
    return sorted(lab.store.glob("*/*/node-*.h5"))


def compare(files, rounds):
    """Returns the parsed output of compare_codecs."""
    argv = [BUILD / "benchmarks/compare_codecs", "--rounds", str(rounds), *files]
    done = subprocess.run(argv, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def everything(directory, names, ranks, rounds, say):
    """Returns {program: compare()}"""
    results = {}
    for number, name in enumerate(names):
        say(name)
        files = checkpoint(directory / str(number), PROGRAMS[name](ranks))
        results[name] = compare(files, rounds)
    return results


def share(tally):
    """Returns the compressed size as a fraction of the original."""
    return tally["bytes_left"] / tally["bytes"]


def _percent(part):
    return f"{part:.1%}"


def _rate(megabytes):
    return f"{megabytes:,.0f}"


HEADER = [
    "program",
    "codec",
    "before",
    "after",
    "left",
    "compresses, MB/s",
    "decompresses, MB/s",
]


def rows(results, chunks):
    """Yields a line for each program and codec; chunks: "content" or "all"."""
    for program, result in results.items():
        for codec, tallies in result["codecs"].items():
            tally = tallies[chunks]
            yield [
                program,
                codec,
                table.size(tally["bytes"]),
                table.size(tally["bytes_left"]),
                _percent(share(tally)),
                _rate(tally["compress_mb_s"]),
                _rate(tally["decompress_mb_s"]),
            ]


HEADER_OF_1993 = ["program of 1993", "nodes", "before", "after", "left"]


def rows_of_1993():
    """Yields the address spaces of a node, as printed in the dissertation."""
    for of in OF_1993:
        before, after = f"{of.kilobytes:,} K", f"{of.kilobytes_left} K"
        yield [of.program, of.nodes, before, after, _percent(of.share_left)]


NOTE = """\
Memory of all ranks in chunks of 1 MiB, or of a region that is smaller; each chunk by
itself, on one thread, there and back and compared. MB are millions of bytes of memory.

* 1993: the dissertation's codec (`benchmarks/hash_codec.hpp`), which compresses all.
* lz4, zstd: as checkpoints are written. At a chunk of zeros there is only a look; a chunk
  of which a sample does not shrink is left as it is, and so is one that shrinks by less
  than a 32nd part."""


def text(data):
    """Returns the report, Markdown."""
    results = data["results"]
    parts = [
        "# The codec of 1993 and those of today",
        NOTE,
        report.markdown(["machine", ""], list(data["machine"].items())),
        "## Chunks with content",
        report.markdown(HEADER, rows(results, "content")),
        "## All memory, with chunks of zeros",
        report.markdown(HEADER, rows(results, "all")),
        "## What the dissertation measured",
        "Not measured here: figures 4.17 to 4.22, on an iPSC/860 with ICKP's codec. The"
        " programs, the machine and what else is in an address space are others.",
        report.markdown(HEADER_OF_1993, rows_of_1993()),
    ]
    return "\n\n".join(parts) + "\n"


def _draw_measured(axes, results):
    """Draws a group of bars for each program, with all memory."""
    codecs = list(next(iter(results.values()))["codecs"])
    width = 0.8 / len(codecs)
    for number, codec in enumerate(codecs):
        places = [place + number * width for place in range(len(results))]
        shares = [
            100 * share(result["codecs"][codec]["all"]) for result in results.values()
        ]
        axes.barh(places, shares, width, label=codec)
    middle = (len(codecs) - 1) / 2 * width
    axes.set_yticks([place + middle for place in range(len(results))], list(results))
    axes.set_title("measured: all memory")
    axes.legend()


def _draw_published(axes):
    """Draws the dissertation's numbers, separate from the measured ones."""
    axes.barh(
        [of.program for of in OF_1993], [100 * of.share_left for of in OF_1993]
    )
    axes.set_title("published in 1993: other programs, ICKP")


def figure(data, path):
    """Draws the compression ratios, an SVG; needs matplotlib."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    drawing, (measured, published) = pyplot.subplots(
        1, 2, figsize=(11, 1.5 + len(data["results"])), sharex=True
    )
    _draw_measured(measured, data["results"])
    _draw_published(published)
    for axes in (measured, published):
        axes.set_xlabel("left (% of the memory)")
        axes.invert_yaxis()
        axes.grid(True, axis="x", alpha=0.4)
    drawing.tight_layout()
    drawing.savefig(path.with_suffix(".svg"))
