# SPDX-License-Identifier: BSD-3-Clause
"""settings.py - the paths of built and installed files."""

import os
import shutil
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("CKPT_TEST_BUILD", TOP / "build")).resolve()
INSTALL = Path(os.environ.get("CKPT_TEST_INSTALL", BUILD / "inst")).resolve()
APPS = BUILD / "apps"
SOURCES = TOP / "apps"
TUNE = INSTALL / "share/openmpi/amca-param-sets/ckpt"
MPIRUN = shutil.which("mpirun.openmpi") or "mpirun"
OPENMPI5 = BUILD / "ompi5"
MPICH5 = Path(os.environ.get("CKPT_TEST_MPICH", BUILD / "mpich5"))

# Whether the tests run that take minutes, and whose code paths others cover.
FULL = os.environ.get("CKPT_TEST_FULL", "") == "1"

# Seconds after which a test gives up waiting for something that ends by itself.
TIMEOUT = float(os.environ.get("CKPT_TEST_TIMEOUT", "120"))


def environment(**more):
    """Returns this process's environment, without settings of ckpt, and `more`.

    Without PYTHONUNBUFFERED: it makes a Python program write a line in pieces, between which
    another process may write."""
    clean = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("CKPT_", "OMPI_", "PMIX_", "PYTHONUNBUFFERED"))
    }
    clean["PATH"] = f"{INSTALL / 'bin'}:{clean['PATH']}"
    clean["OMPI_ALLOW_RUN_AS_ROOT"] = "1"
    clean["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
    clean.update({name: str(value) for name, value in more.items()})
    return clean
