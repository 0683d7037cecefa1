# SPDX-License-Identifier: BSD-3-Clause
"""failing.py - a file system on which calls of ckpt's own programs fail at random.

The library apps/failing_io is preloaded into every program of a mount namespace, by
/etc/ld.so.preload: ckpt's programs remove LD_PRELOAD from the environment of their children. The
library makes calls fail below some directories, and only in ckpt's programs.
"""

import shutil
import subprocess

from .settings import APPS

LIBRARY = APPS / "failing_io/libfailing-io.so"


class FailingFiles:
    """Makes calls fail below some directories. directory: a scratch directory for this object
    alone."""

    def __init__(self, directory, failing):
        self.directory = directory
        self.log = directory / "failures"
        self.slow = directory / "slow"
        self.failing = failing
        shutil.copytree("/etc", directory / "etc", symlinks=True)
        (directory / "etc/ld.so.preload").write_text(f"{LIBRARY}\n", encoding="utf-8")

    def wrap(self, command):
        """Returns the command that runs `command` with failures."""
        mount = f'mount --bind "{self.directory}/etc" /etc && exec "$@"'
        return ["unshare", "-m", "--propagation", "private", "sh", "-c", mount, "sh", *command]

    def settings(self, seed, rate):
        """Returns the environment of such a command. rate: how many of 10000 calls fail."""
        return {
            "FAILING_IO_DIRS": ":".join(map(str, self.failing)),
            "FAILING_IO_SEED": str(seed),
            "FAILING_IO_RATE": str(rate),
            "FAILING_IO_LOG": str(self.log),
        }

    def slow_settings(self):
        """Returns the environment of a command whose writes to the disk take 2 s while the file
        self.slow exists."""
        return {"FAILING_IO_DIRS": self.settings(0, 0)["FAILING_IO_DIRS"],
                "FAILING_IO_SLOW": str(self.slow)}

    def count(self):
        """How many calls have failed."""
        return len(self.log.read_text(encoding="utf-8").splitlines()) if self.log.exists() else 0


def is_possible():
    """Whether this user may make such a namespace."""
    done = subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False)
    return done.returncode == 0
