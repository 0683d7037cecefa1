# SPDX-License-Identifier: BSD-3-Clause
"""campaign.py - options and scratch space of the long test runs."""

import argparse
import contextlib
import random
import shutil
import tempfile
from pathlib import Path

from . import scheduling, table


def options(description, settings):
    """Parses the command line: settings with defaults, a seed, a place."""
    parser = argparse.ArgumentParser(description=description)
    for name, default in settings.items():
        parser.add_argument(
            name, type=type(default), default=default, help=f"[{default}]"
        )
    parser.add_argument(
        "--seed", type=int, default=None, help="of the random moments [random]"
    )
    parser.add_argument("--dir", type=Path, help="where to work [temporary]")
    parsed = parser.parse_args()
    if parsed.seed is None:
        parsed.seed = random.randrange(1000000)
    print(f"seed {parsed.seed}", flush=True)
    return parsed


@contextlib.contextmanager
def directory(parsed):
    """Makes the scratch space; keeps it if the user named it or the run
    failed."""
    with scheduling.no_groups():
        if parsed.dir is not None:
            parsed.dir.mkdir(parents=True, exist_ok=True)
            yield parsed.dir
            return
        path = Path(tempfile.mkdtemp(prefix="ckpt-campaign-", dir="/var/tmp"))
        print(f"working in {path}", flush=True)
        yield path
        shutil.rmtree(path)


def show_table(header, rows):
    """Prints the result."""
    print()
    print(table.render(header, rows))
