# SPDX-License-Identifier: BSD-3-Clause
"""clocks.py - simulated hosts with other boot times, by way of time namespaces."""

import functools
import subprocess
import sys

from .settings import TIMEOUT

# Seconds added to the uptime of a simulated host. The real host then looks as if it had been
# started later.
UP = 200_000

CLOCK = [sys.executable, "-c", "import time; print(time.monotonic())"]


def on_host(up):
    """Returns the words before a command that runs with `up` more seconds of uptime."""
    return ["unshare", "-T", "--monotonic", str(up), "--boottime", str(up), "--"]


def _read(*words):
    return float(
        subprocess.run(
            [*words, *CLOCK], capture_output=True, check=True, text=True, timeout=TIMEOUT
        ).stdout
    )


@functools.cache
def why_not():
    """Says why this machine cannot simulate such hosts, or returns None."""
    try:
        shift = _read(*on_host(UP)) - _read()
    except OSError as error:
        return f"no unshare: {error}"
    except subprocess.CalledProcessError as error:
        return f"no time namespaces: {error.stderr.strip()}"
    if shift < UP / 2:
        return "unshare does not bring a command into its time namespace"
    return None
