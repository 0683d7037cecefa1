# SPDX-License-Identifier: BSD-3-Clause
"""Checks the finished stand-in against mpi.h and the real libmpi.so.40: it must
have the name, every function and every object that an application may need."""

import argparse
import re
import subprocess
import sys
from pathlib import Path

import exported
import header as header_module
import library
import supplement

HERE = Path(__file__).resolve().parent
SONAME = "libmpi.so.40"


def missing_functions(header, binding_symbols, standin):
    """Returns the names of functions that the stand-in does not define."""
    wanted = [f"{p}MPI_{name}" for name in header.functions for p in ("", "P")]
    wanted += header.other_functions
    wanted += [*binding_symbols.functions, *binding_symbols.zeros]
    wanted += binding_symbols.own
    return [
        name
        for name in sorted(wanted)
        if name not in standin or not standin[name].defined or standin[name].type != "FUNC"
    ]


# Names in libmpi_mpifh: ompi_send_f, mpi_send_, PMPI_SEND, MPI_Send_f08 ...
_FORTRAN_NAME = re.compile(
    r"ompi_(\w+)_f|P?MPI_([A-Z0-9_]+|[A-Z]\w*_f(?:08)?)|p?mpi_([a-z0-9_]*[a-z0-9])_{0,2}"
)

# The name of MPI_SEND with -fno-underscoring. A library in C, as Rmpi, may have a function
# with such a name, which a preloaded function would replace.
_BARE_NAME = re.compile(r"p?mpi_[a-z0-9_]*[a-z0-9](?<!_f)")


def missing_fortran(bindings, standin):
    """Returns Fortran names of the real library that the stand-in does not define.
    Leaves out MPI_Sizeof, which is Fortran code, functions that C refuses, and
    names that a library in C may have."""
    refused = {name.lower() for name in supplement.REFUSED}
    missing = []
    for name, symbol in sorted(bindings.items()):
        match = _FORTRAN_NAME.fullmatch(name)
        if _BARE_NAME.fullmatch(name):
            continue
        if match is None or symbol.type != "FUNC" or not symbol.defined:
            continue
        base = "".join(filter(None, match.groups())).lower()
        base = base.removesuffix("_f08").removesuffix("_f")
        known = name in standin and standin[name].defined
        if not known and base not in refused and not base.startswith("sizeof_"):
            missing.append(name)
    return missing


def bare_functions(standin):
    """Returns functions of the stand-in that would replace other libraries' functions."""
    return [
        name
        for name, symbol in sorted(standin.items())
        if _BARE_NAME.fullmatch(name) and symbol.defined and symbol.type == "FUNC"
    ]


def strong_functions(header, standin):
    """Returns names of MPI_ functions that a profiling tool could not replace."""
    return [
        f"MPI_{name}"
        for name in sorted(header.functions)
        if f"MPI_{name}" in standin and not standin[f"MPI_{name}"].weak
    ]


def wrong_objects(objects, standin):
    """Returns complaints about objects that are missing or have another size."""
    complaints = []
    for item in objects:
        symbol = standin.get(item.name)
        if symbol is None or not symbol.defined or symbol.type != "OBJECT":
            complaints.append(f"{item.name} is missing")
        elif symbol.size != item.size:
            complaints.append(f"{item.name} has {symbol.size} bytes, not {item.size}")
    return complaints


def complaints(header, binding_symbols, objects, standin, fortran=()):
    """Returns all complaints about the symbols of the stand-in. fortran: symbols of
    libmpi_mpifh by name."""
    missing = missing_functions(header, binding_symbols, standin)
    missing += missing_fortran(dict(fortran), standin)
    return [
        *(f"{name} is missing" for name in missing),
        *(f"{name} may be a function of the application" for name in bare_functions(standin)),
        *(f"{name} is not weak" for name in strong_functions(header, standin)),
        *wrong_objects(objects, standin),
    ]


def _fortran_symbols(readelf, libmpi):
    """Returns the symbols of the Fortran bindings beside libmpi, if it has any."""
    path = libmpi.parent / "libmpi_mpifh.so.40"
    return library.symbols(readelf, path) if path.exists() else {}


def _soname(readelf, path):
    output = subprocess.run(
        [readelf, "--dynamic", path], text=True, capture_output=True, check=True
    ).stdout
    lines = [line for line in output.splitlines() if "(SONAME)" in line]
    return lines[0].partition("[")[2].rstrip("]") if lines else ""


def _arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--preprocessor", required=True, help="command, as 'gcc -E -I...'")
    parser.add_argument("--library", required=True, type=Path, help="the real libmpi.so.40")
    parser.add_argument("--readelf", default="readelf")
    parser.add_argument("standin", type=Path)
    return parser.parse_args()


def main():
    arguments = _arguments()
    header = header_module.read(arguments.preprocessor.split())
    binding_symbols = exported.BindingSymbols.read(HERE / "binding_symbols.txt")
    real = library.symbols(arguments.readelf, arguments.library)
    standin = library.symbols(arguments.readelf, arguments.standin)
    objects = exported.objects(header, binding_symbols, real)
    fortran = _fortran_symbols(arguments.readelf, arguments.library)
    found = complaints(header, binding_symbols, objects, standin, fortran)
    soname = _soname(arguments.readelf, arguments.standin)
    if soname != SONAME:
        found.append(f"the soname is '{soname}', not {SONAME}")
    for complaint in found:
        print(f"{arguments.standin.name}: {complaint}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
