# SPDX-License-Identifier: BSD-3-Clause
"""Joins the prototypes of mpi.h with their descriptions in the standard."""

from dataclasses import dataclass

import pympistandard

import supplement

# Kinds of the standard whose values are handles, and their C type.
HANDLES = {
    "COMMUNICATOR": "MPI_Comm",
    "GROUP": "MPI_Group",
    "DATATYPE": "MPI_Datatype",
    "OPERATION": "MPI_Op",
    "REQUEST": "MPI_Request",
    "WINDOW": "MPI_Win",
    "FILE": "MPI_File",
    "INFO": "MPI_Info",
    "ERRHANDLER": "MPI_Errhandler",
    "MESSAGE": "MPI_Message",
    "SESSION": "MPI_Session",
}

# C types that pass unchanged between the halves.
_PLAIN_TYPES = {
    "char", "double", "int", "void", "MPI_Aint", "MPI_Count", "MPI_F08_status",
    "MPI_Datarep_conversion_function", "MPI_Datarep_extent_function",
    "MPI_Fint", "MPI_Offset", "MPI_Status", "MPI_T_cb_safety", "MPI_T_cvar_handle",
    "MPI_T_enum", "MPI_T_event_instance", "MPI_T_event_registration",
    "MPI_T_pvar_handle", "MPI_T_pvar_session", "MPI_T_source_order",
}  # fmt: skip


class StandardError(Exception):
    """A function of mpi.h for which no wrapper can be written."""


@dataclass(frozen=True)
class Argument:
    """A parameter of a function: type and suffix from mpi.h, the rest from the
    standard. handle: MPI_Comm ..., or empty if the value is not a handle."""

    type: str
    name: str
    suffix: str
    kind: str
    direction: str  # in, out, inout
    handle: str
    length: str  # length of an array: a parameter's name; empty if not known
    root_only: bool

    @property
    def is_array(self):
        return bool(self.suffix)

    def declaration(self):
        space = "" if self.type.endswith("*") else " "
        return f"{self.type}{space}{self.name}{self.suffix}"


@dataclass(frozen=True)
class Wrapped:
    name: str  # without MPI_
    result: str
    arguments: tuple

    def first(self, *handles):
        """Returns the first argument that is a handle of one of the types, or None."""
        for argument in self.arguments:
            if argument.handle in handles and not argument.is_array:
                return argument
        return None


class _Description:
    """One parameter as the supplement gives it."""

    def __init__(self, kind, direction):
        self.kind, self.direction = kind, direction
        self.name, self.length, self.root_only = "", "", False


class _StandardParameter:
    """One parameter as pympistandard gives it."""

    def __init__(self, parameter):
        self.name = parameter.name
        self.kind = parameter.kind.name
        self.direction = parameter.direction.value.lower()
        # The module has no public access to these two.
        length = parameter._parseset["length"]
        self.length = length if isinstance(length, str) and length.isidentifier() else ""
        self.root_only = parameter._parseset["root_only"]


def descriptions(name):
    """Returns the parameters of a function in the standard, or None."""
    if name in supplement.PARAMETERS:
        return [_Description(*entry) for entry in supplement.PARAMETERS[name]]
    key = "mpi_" + supplement.SAME_AS.get(name, name).lower()
    if key not in pympistandard.PROCEDURES:
        return None
    parameters = pympistandard.PROCEDURES[key].express.iso_c.parameters
    return [_StandardParameter(parameter) for parameter in parameters]


def _plain_words(c_type):
    return c_type.replace("const", "").replace("*", " ").split()


def _check_type(function, parameter, description):
    """Returns the handle type; the C type and the standard must agree about it."""
    words = _plain_words(parameter.type)
    handle = HANDLES.get(description.kind, "")
    base = words[0] if len(words) == 1 else None
    if handle:
        pointer = parameter.type.endswith("*")
        expected = description.direction != "in" and not parameter.suffix
        if base != handle or pointer != expected:
            raise StandardError(
                f"MPI_{function}: {parameter.declaration()} is no {description.direction} {handle}"
            )
    elif base not in _PLAIN_TYPES:
        raise StandardError(
            f"MPI_{function}: no rule for the type of {parameter.declaration()}"
        )
    return handle


def _argument(function, parameter, description):
    return Argument(
        type=parameter.type,
        name=parameter.name or description.name,
        suffix=parameter.suffix,
        kind=description.kind,
        direction=description.direction,
        handle=_check_type(function, parameter, description),
        length=description.length,
        root_only=description.root_only,
    )


def _join(function):
    described = descriptions(function.name)
    if described is None:
        raise StandardError(f"MPI_{function.name} is not known to the standard")
    if len(described) != len(function.parameters):
        raise StandardError(f"MPI_{function.name} has other parameters in the standard")
    if function.result != "int":
        raise StandardError(f"MPI_{function.name} returns {function.result}")
    pairs = zip(function.parameters, described)
    return Wrapped(
        function.name,
        function.result,
        tuple(_argument(function.name, *pair) for pair in pairs),
    )


def _refused(function):
    """Describes a call that is refused: only its prototype is needed."""
    return Wrapped(
        function.name,
        function.result,
        tuple(
            Argument(p.type, p.name, p.suffix, "", "in", "", "", False)
            for p in function.parameters
        ),
    )


def _has_fortran(name):
    key = "mpi_" + name.lower()
    if key not in pympistandard.PROCEDURES:
        return True
    express = pympistandard.PROCEDURES[key].express
    return express.f90 is not None or express.f08 is not None


def bound(header, handwritten):
    """Returns all functions of the header that have a Fortran binding which is not
    written by hand, by name. A call that is refused in C keeps the binding of
    libmpi_mpifh, which leads to the refusal."""
    pympistandard.use_api_version(1, force_bundled=True)
    names = set(header.functions) - set(handwritten) - set(supplement.REFUSED)
    return {
        name: _join(header.functions[name]) for name in sorted(names) if _has_fortran(name)
    }


def wrapped(header, handwritten):
    """Returns all functions of the header that are not written by hand, by name.
    Raises StandardError naming every function that cannot be wrapped."""
    pympistandard.use_api_version(1, force_bundled=True)
    functions, errors = {}, []
    for name in sorted(set(header.functions) - set(handwritten)):
        function = header.functions[name]
        try:
            refused = name in supplement.REFUSED
            functions[name] = _refused(function) if refused else _join(function)
        except StandardError as error:
            errors.append(str(error))
    if errors:
        raise StandardError(
            "no wrapper can be generated:\n  " + "\n  ".join(errors) + "\nDescribe them in "
            "generate/supplement.py or write them by hand (wrap/handwritten.txt)."
        )
    return functions
