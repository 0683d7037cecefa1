# SPDX-License-Identifier: BSD-3-Clause
"""failing.py - a file system on which calls of ckpt's own programs fail by chance.

The library apps/failing_io is preloaded into every program of a mount namespace in which
/etc/ld.so.preload names it: our programs take LD_PRELOAD away from each other. It makes calls
fail below some directories, and only in programs of ours.
"""

import shutil
import subprocess

from .settings import APPS

LIBRARY = APPS / "failing_io/libfailing-io.so"


class FailingFiles:
    """Failures below some directories. directory: a place of its own, for what it needs."""

    def __init__(self, directory, failing):
        self.directory = directory
        self.log = directory / "failures"
        self.slow = directory / "slow"
        self.failing = failing
        shutil.copytree("/etc", directory / "etc", symlinks=True)
        (directory / "etc/ld.so.preload").write_text(f"{LIBRARY}\n", encoding="utf-8")

    def wrap(self, command):
        """The command as it is run with failures."""
        mount = f'mount --bind "{self.directory}/etc" /etc && exec "$@"'
        return ["unshare", "-m", "--propagation", "private", "sh", "-c", mount, "sh", *command]

    def settings(self, seed, rate):
        """Environment of such a command. rate: how many of 10000 calls fail."""
        return {
            "FAILING_IO_DIRS": ":".join(map(str, self.failing)),
            "FAILING_IO_SEED": str(seed),
            "FAILING_IO_RATE": str(rate),
            "FAILING_IO_LOG": str(self.log),
        }

    def slow_settings(self):
        """Environment of a command for which writes to the disk take 2 s while there is a file
        self.slow."""
        return {"FAILING_IO_DIRS": self.settings(0, 0)["FAILING_IO_DIRS"],
                "FAILING_IO_SLOW": str(self.slow)}

    def count(self):
        """How many calls have failed."""
        return len(self.log.read_text(encoding="utf-8").splitlines()) if self.log.exists() else 0


def is_possible():
    """Whether this user may have such a namespace."""
    done = subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False)
    return done.returncode == 0
