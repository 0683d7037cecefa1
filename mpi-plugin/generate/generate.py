# SPDX-License-Identifier: BSD-3-Clause
"""Writes the MPI wrappers and tables of the stand-in for libmpi.so.40.

Reads the MPI standard as data (pympistandard, supplement.py) and the installed
mpi.h. Fails if the header has functions for which no wrapper can be written, and
names them.
"""

import argparse
import sys
from pathlib import Path

import exported
import header as header_module
import library
import standard
import tables
import wrapper_files
import wrappers

HERE = Path(__file__).resolve().parent

_ERRORS = (
    exported.ExportError,
    header_module.HeaderError,
    standard.StandardError,
    wrappers.WrapperError,
)


def _arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--preprocessor", required=True, help="command, as 'gcc -E -I...'")
    parser.add_argument("--library", required=True, type=Path, help="the real libmpi.so.40")
    parser.add_argument("--readelf", default="readelf")
    parser.add_argument("--handwritten", required=True, type=Path)
    parser.add_argument("--handwritten-fortran", required=True, type=Path)
    parser.add_argument("--output", required=True, type=Path, help="directory to write to")
    return parser.parse_args()


def write(directory, name, text):
    """Writes a file unless it has this text already, so that make rebuilds less."""
    path = directory / name
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def _names(path):
    """Returns the names in a list with one name per line and # comments."""
    lines = (line.partition("#")[0].strip() for line in path.read_text().splitlines())
    return [line for line in lines if line]


def _files(arguments):
    header = header_module.read(arguments.preprocessor.split())
    real = library.symbols(arguments.readelf, arguments.library)
    binding_symbols = exported.BindingSymbols.read(HERE / "binding_symbols.txt")
    exported.check_bindings(
        header, binding_symbols, real, arguments.readelf, arguments.library.parent
    )
    names = sorted(header.functions)
    objects = exported.objects(header, binding_symbols, real)
    numbers = exported.fortran_numbers(HERE / "fortran_handles.txt")
    return {
        "functions.h": tables.functions_h(names),
        "functions.c": tables.functions_c(names),
        "predefined.S": tables.predefined_s(objects),
        "predefined_table.c": tables.predefined_table_c(objects),
        "bindings.c": tables.bindings_c(binding_symbols),
        "fortran_handles.c": tables.fortran_handles_c(numbers, objects),
        **wrapper_files.files(standard.wrapped(header, _names(arguments.handwritten))),
        **wrapper_files.fortran_files(
            standard.bound(header, _names(arguments.handwritten_fortran))
        ),
    }


def main():
    arguments = _arguments()
    try:
        files = _files(arguments)
    except _ERRORS as error:
        print(f"generate: {error}", file=sys.stderr)
        return 1
    for name, text in files.items():
        write(arguments.output, name, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
