# SPDX-License-Identifier: BSD-3-Clause
"""Data and functions that the stand-in exports besides the MPI functions."""

from dataclasses import dataclass

import library

# enum ckpt_kind of handles/handles.h, by handle type of mpi.h.
KINDS = {
    "MPI_Comm": "CKPT_COMM",
    "MPI_Group": "CKPT_GROUP",
    "MPI_Datatype": "CKPT_DATATYPE",
    "MPI_Op": "CKPT_OP",
    "MPI_Request": "CKPT_REQUEST",
    "MPI_Win": "CKPT_WIN",
    "MPI_File": "CKPT_FILE",
    "MPI_Info": "CKPT_INFO",
    "MPI_Errhandler": "CKPT_ERRHANDLER",
    "MPI_Message": "CKPT_MESSAGE",
    "MPI_Session": "CKPT_SESSION",
}

# Objects of Open MPI 5.0 that an older library lacks, with their sizes in 5.0.
NEWER = {
    "MPI_F08_STATUSES_IGNORE": 8,
    "MPI_F08_STATUS_IGNORE": 8,
    "ompi_mpi_c_short_float_complex": 512,
    "ompi_mpi_complex4": 512,
    "ompi_mpi_cxx_sfltcplex": 512,
    "ompi_mpi_errors_abort": 1024,
    "ompi_mpi_instance_null": 512,
    "ompi_mpi_short_float": 512,
}

# Handle types of objects that no macro names, by Open MPI's type.
_OBJECT_TYPES = {"struct ompi_predefined_datatype_t": "MPI_Datatype"}


class ExportError(Exception):
    """The stand-in would lack a symbol."""


@dataclass(frozen=True)
class Object:
    name: str
    handle: str  # MPI_Comm ...; empty for plain data
    size: int


@dataclass(frozen=True)
class BindingSymbols:
    """The contents of binding_symbols.txt."""

    data: dict  # by name: handle type or ""
    functions: dict  # by name: the part of MPI they belong to
    zeros: tuple  # functions that return 0
    own: tuple  # functions written by hand

    @staticmethod
    def read(path):
        data, functions, zeros, own = {}, {}, [], []
        for number, line in enumerate(path.read_text().splitlines(), 1):
            fields = line.partition("#")[0].split(maxsplit=2)
            if not fields:
                continue
            keyword, name = fields[0], fields[1] if len(fields) > 1 else ""
            rest = fields[2] if len(fields) > 2 else ""
            if keyword == "data" and (not rest or rest in KINDS):
                data[name] = rest
            elif keyword == "function" and rest:
                functions[name] = rest
            elif keyword == "zero" and name and not rest:
                zeros.append(name)
            elif keyword == "own" and name and not rest:
                own.append(name)
            else:
                raise ExportError(f"{path.name}:{number}: not understood: {line}")
        return BindingSymbols(data, functions, tuple(zeros), tuple(own))

    def names(self):
        return {*self.data, *self.functions, *self.zeros, *self.own}


@dataclass(frozen=True)
class Number:
    """The number of a predefined handle in Fortran."""

    handle: str  # MPI_Comm ...
    value: int
    symbol: str


def fortran_numbers(path):
    """Returns the contents of fortran_handles.txt."""
    lines = (line.partition("#")[0].split() for line in path.read_text().splitlines())
    return [Number(line[0], int(line[1]), line[2]) for line in lines if line]


def _handle_type(header, name):
    handle = header.predefined.get(name) or _OBJECT_TYPES.get(header.data[name], "")
    if handle in KINDS or handle == "":
        return handle
    raise ExportError(f"{name} has the unknown handle type {handle}")


def objects(header, binding_symbols, real):
    """Returns all data that the stand-in defines, by name. real: symbols of the library."""
    handles = {name: _handle_type(header, name) for name in header.data}
    sizes = {**NEWER, **{name: symbol.size for name, symbol in real.items()}}
    missing = [name for name in handles if name not in sizes]
    if missing:
        raise ExportError("mpi.h and libmpi differ; not in libmpi: " + ", ".join(missing))
    handles.update(
        {name: kind for name, kind in binding_symbols.data.items() if name in sizes}
    )
    return [Object(name, handles[name], sizes[name]) for name in sorted(handles)]


def check_bindings(header, binding_symbols, real, readelf, directory):
    """Checks that the stand-in exports everything that the language bindings in
    `directory` import from libmpi."""
    ours = binding_symbols.names() | set(header.data) | set(header.other_functions)
    ours.update(f"{p}MPI_{name}" for name in header.functions for p in ("", "P"))
    for path in sorted(directory.glob("libmpi_*.so.40")):
        imported = library.symbols(readelf, path).values()
        missing = sorted(
            symbol.name
            for symbol in imported
            if not symbol.defined
            and symbol.name not in ours
            and symbol.name in real
            and real[symbol.name].defined
        )
        if missing:
            raise ExportError(
                f"{path.name} imports symbols from libmpi that are not in "
                f"binding_symbols.txt: {', '.join(missing)}"
            )
