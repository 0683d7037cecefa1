# SPDX-License-Identifier: BSD-3-Clause
"""extra_builds.py - builds with other flags, in directories of their own."""

import subprocess

from .settings import BUILD, TOP


def configure(directory, *words):
    """Configures a build with these words, if that has not been done.

    The build has no programs but its own: those of the other MPIs come from the usual build."""
    directory.mkdir(parents=True, exist_ok=True)
    if (directory / "config.status").exists():
        return
    for name in ("ompi5", "mpich5"):
        link = directory / name
        link.unlink(missing_ok=True)
        link.symlink_to(BUILD / name)
    call = [TOP / "configure", "-q", f"--prefix={directory}/inst", *words]
    call += [f"PYTHON={BUILD}/venv/bin/python"]
    subprocess.run(call, cwd=directory, check=True)


def make(directory, folder, *words):
    """Runs make in a folder of the build."""
    subprocess.run(["make", "-s", "-C", folder, *words], cwd=directory, check=True)
