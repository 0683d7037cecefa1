# SPDX-License-Identifier: BSD-3-Clause
"""Writes the adapter that presents MPICH as Open MPI.

Reads the MPI standard as data and both installed mpi.h. Fails if both have
functions for which no adapter can be written, and names them.
"""

import argparse
import sys
from pathlib import Path

import adapter_constants
import adapter_functions
import adapter_tables
import header as header_module
import pympistandard
from generate import write


def _arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--openmpi", required=True, help="preprocessor, as 'gcc -E -I...'")
    parser.add_argument("--mpich", required=True, help="preprocessor that finds MPICH's mpi.h")
    parser.add_argument("--output", required=True, type=Path, help="directory to write to")
    return parser.parse_args()


def _files(arguments):
    openmpi = header_module.read(arguments.openmpi.split())
    mpich = header_module.read(arguments.mpich.split())
    names = adapter_functions.names(openmpi, mpich)
    return {
        "adapt_groups.h": adapter_constants.groups_h(),
        "adapt_openmpi.c": adapter_constants.openmpi_c(openmpi, mpich),
        "adapt_mpich.c": adapter_constants.mpich_c(openmpi, mpich),
        "adapt_functions.c": adapter_functions.functions_c(openmpi, mpich),
        "adapt_tables.c": adapter_tables.tables_c(names, openmpi, mpich),
    }


def main():
    arguments = _arguments()
    pympistandard.use_api_version(1, force_bundled=True)
    try:
        files = _files(arguments)
    except (header_module.HeaderError, adapter_functions.AdapterError) as error:
        print(f"generate_adapter: {error}", file=sys.stderr)
        return 1
    for name, text in files.items():
        write(arguments.output, name, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
