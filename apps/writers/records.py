# SPDX-License-Identifier: BSD-3-Clause
"""records.py LIBRARY STEPS - in each step, opens, extends and closes a netCDF4 or an HDF5 file, and
replaces a small file by a new one."""

import os
import sys
import time

import numpy


def extend_netcdf(name, step):
    """Adds a record; row N is computed from row N - 1."""
    import netCDF4  # Does the same for HDF5.

    with netCDF4.Dataset(name, "a" if os.path.exists(name) else "w") as file:
        if "rows" not in file.variables:
            file.createDimension("step", None)
            file.createDimension("column", 300)
            file.createVariable("rows", "i8", ("step", "column"))
        rows = file.variables["rows"]
        assert rows.shape[0] == step, f"BAD {rows.shape} before step {step}"
        last = rows[step - 1, :] if step else numpy.zeros(300, "i8")
        rows[step, :] = (last * 31 + step) % 1000003
        file.steps = step + 1


def extend_hdf5(name, step):
    """The same."""
    import h5py  # pylint: disable=import-outside-toplevel

    with h5py.File(name, "a") as file:
        if "rows" not in file:
            file.create_dataset("rows", (0, 300), "i8", maxshape=(None, 300), compression="gzip")
        rows = file["rows"]
        assert rows.shape[0] == step, f"BAD {rows.shape} before step {step}"
        rows.resize(step + 1, 0)
        last = rows[step - 1, :] if step else numpy.zeros(300, "i8")
        rows[step, :] = (last * 31 + step) % 1000003
        file.attrs["steps"] = step + 1


extend = {"netcdf": extend_netcdf, "hdf5": extend_hdf5}[sys.argv[1]]
steps = int(sys.argv[2])
for step in range(steps):
    extend("long", step)
    extend("short.new", 0)
    os.replace("short.new", "short")
    print("step", step, flush=True)
    time.sleep(0.005)
print("OK", steps)
