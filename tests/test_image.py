# SPDX-License-Identifier: BSD-3-Clause
"""An image is an HDF5 file that the standard tools read."""

import os
import subprocess
from pathlib import Path

import h5py
import hdf5plugin
import pytest

from ckpttest import programs
from ckpttest.lab import Lab


@pytest.fixture(scope="module", params=["zstd", "lz4", "auto"])
def image(request, tmp_path_factory):
    """The node file of one checkpoint."""
    lab = Lab(tmp_path_factory.mktemp("image"), holds=True, CKPT_CODEC=request.param)
    program = programs.memory(10, 100000)
    try:
        job = lab.start(program)
        job.wait_for(program.progress)
        path = lab.checkpoint(job)["path"]
        job.kill()
    finally:
        lab.close()
    (node_file,) = Path(path).glob("node-*.h5")
    return node_file


def run(*command):
    """Returns the standard output of a tool that must succeed."""
    settings = {**os.environ, "HDF5_PLUGIN_PATH": hdf5plugin.PLUGIN_PATH}
    return subprocess.run(
        command, env=settings, capture_output=True, text=True, check=True
    ).stdout


def datasets(node_file):
    """Returns all datasets of a file."""
    names = []
    node_file.visit(names.append)
    items = (node_file[name] for name in names)
    return [item for item in items if isinstance(item, h5py.Dataset)]


def test_h5ls(image):
    listing = run("h5ls", "-r", str(image))
    assert listing.count("Dataset") > 10
    assert "Group" in listing


def test_h5dump_decodes_chunks(image):
    with h5py.File(image, "r") as node_file:
        name = max(datasets(node_file), key=lambda item: item.size).name
    out = run("h5dump", "-d", name, "-s", "0", "-c", "16", str(image))
    assert "DATA {" in out


def test_h5py_reads_everything(image):
    """The datasets contain the random words of both ranks."""
    with h5py.File(image, "r") as node_file:
        total = sum(item[...].nbytes for item in datasets(node_file))
    assert total > 2 * 10 * 2**20
