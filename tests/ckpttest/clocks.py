# SPDX-License-Identifier: BSD-3-Clause
"""clocks.py - hosts that were started at other times: time namespaces."""

import functools
import subprocess
import sys

from .settings import PATIENCE

# Seconds that a host is up besides the real ones, so that another may have been
# started later.
UP = 200_000

CLOCK = [sys.executable, "-c", "import time; print(time.monotonic())"]


def on_host(up):
    """The words before a command that runs where the host is up so much longer."""
    return ["unshare", "-T", "--monotonic", str(up), "--boottime", str(up), "--"]


def _read(*words):
    return float(
        subprocess.run(
            [*words, *CLOCK], capture_output=True, check=True, text=True, timeout=PATIENCE
        ).stdout
    )


@functools.cache
def why_not():
    """Why there can be no such hosts here, or None."""
    try:
        shift = _read(*on_host(UP)) - _read()
    except OSError as error:
        return f"no unshare: {error}"
    except subprocess.CalledProcessError as error:
        return f"no time namespaces: {error.stderr.strip()}"
    if shift < UP / 2:
        return "unshare does not bring a command into its time namespace"
    return None
