# SPDX-License-Identifier: BSD-3-Clause
"""session.py - scratch directories and result files of benchmarks."""

import contextlib
import json
import shutil
import sys
import tempfile
from pathlib import Path

from ckpttest import scheduling


def show_progress(line):
    """Prints a line to standard error; the results go to standard output."""
    print(line, file=sys.stderr, flush=True)


@contextlib.contextmanager
def scratch(out):
    """Makes `out`, and a directory in it that is removed afterwards."""
    out.mkdir(parents=True, exist_ok=True)
    path = Path(tempfile.mkdtemp(prefix="scratch-", dir=out))
    try:
        with scheduling.no_groups():
            yield path
    finally:
        shutil.rmtree(path)


def write(out, name, data, **texts):
    """Writes NAME.json with the data, and a file for each text, named by its suffix;
    prints the Markdown."""
    out.mkdir(parents=True, exist_ok=True)
    path = out / name
    path.with_suffix(".json").write_text(json.dumps(data, indent=1) + "\n")
    for suffix, text in texts.items():
        path.with_suffix("." + suffix).write_text(text)
    print(texts["md"])
