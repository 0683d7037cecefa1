# SPDX-License-Identifier: BSD-3-Clause
"""Writes the functions of the adapter: each has the prototype of Open MPI and
calls the function of MPICH with every argument converted."""

import re

import adapter_constants
import standard
import supplement
from layout import Call, If, render
from tables import banner

# Functions that only the stand-in implements: callbacks with their functions, and functions that
# need no library. They are not adapted: a call is refused as unsupported.
_NOT_ADAPTED = re.compile(
    r"\w+_(create|free)_keyval|Keyval_\w+|Attr_\w+|\w+_(set|delete)_attr|Type_get_attr"
    r"|\w+_(create|call)_errhandler|Errhandler_(create|get|set)|Grequest_\w+"
    r"|Register_datarep|Add_error_\w+|Remove_error_\w+|Pcontrol|Wtime|Wtick|Address"
    r"|Aint_\w+|T_event_(register_callback|set_dropped_handler|handle_free)"
    r"|(?!Status_)\w+_(c2f|f2c)|Status_(c2f08|f082c|f2f08|f082f)"
)

# Written by hand in adapt/.
_BY_HAND = re.compile(
    r"Op_create|Op_free|Type_create_darray|Type_get_contents"
    r"|Group_translate_ranks|(Comm|Win)_get_attr|Finalize|Error_string|Status_(c2f|f2c)"
)

KINDS = {
    "MPI_Comm": "ADAPT_COMM",
    "MPI_Group": "ADAPT_GROUP",
    "MPI_Datatype": "ADAPT_DATATYPE",
    "MPI_Op": "ADAPT_OP",
    "MPI_Request": "ADAPT_REQUEST",
    "MPI_Win": "ADAPT_WIN",
    "MPI_Info": "ADAPT_INFO",
    "MPI_Errhandler": "ADAPT_ERRHANDLER",
    "MPI_Message": "ADAPT_MESSAGE",
    "MPI_Session": "ADAPT_SESSION",
    "MPI_File": "ADAPT_FILE",
}

# Lengths of arrays that the standard gives in prose, by a part of the function's name; the first
# match counts.
_LENGTHS = {
    ("neighbor_alltoallw", "sendtypes"): "adapt_out_degree(comm)",
    ("neighbor_alltoallw", "recvtypes"): "adapt_in_degree(comm)",
    ("alltoallw", "sendtypes"): "adapt_in_place(sendbuf) ? 0 : adapt_peers(comm)",
    ("alltoallw", "recvtypes"): "adapt_peers(comm)",
    ("testall", "array_of_statuses"): "count",
    ("testsome", "array_of_statuses"): "incount",
    ("waitall", "array_of_statuses"): "count",
    ("waitsome", "array_of_statuses"): "incount",
    ("comm_spawn_multiple", "array_of_errcodes"): "adapt_spawned("
    "comm, root, count, array_of_maxprocs)",
    ("comm_spawn", "array_of_errcodes"): "maxprocs",
}

# Sizes of string buffers whose length no argument gives.
_ROOMS = {
    "Comm_get_name": "MAX_OBJECT_NAME",
    "Type_get_name": "MAX_OBJECT_NAME",
    "Win_get_name": "MAX_OBJECT_NAME",
    "File_get_view": "MAX_DATAREP_STRING",
    "Get_library_version": "MAX_LIBRARY_VERSION_STRING",
    "Get_processor_name": "MAX_PROCESSOR_NAME",
    "Info_get_nthkey": "MAX_INFO_KEY",
    "Lookup_name": "MAX_PORT_NAME",
    "Open_port": "MAX_PORT_NAME",
}

# How a constant of each kind is converted; {} is "in" or "out".
_CONSTANTS = {
    **{group: "adapt_constant_{}(ADAPT_%s, " % group for group in adapter_constants.GROUPS},
    **{group: "adapt_flags_{}(ADAPT_%s, " % group for group in adapter_constants.FLAGS},
    "RANK": "adapt_rank_{}(",
    "RANK_NNI": "adapt_rank_{}(",
    "ERROR_CODE": "adapt_constant_{}(ADAPT_ERROR, ",
    "ERROR_CLASS": "adapt_constant_{}(ADAPT_ERROR, ",
}


class AdapterError(Exception):
    """The rules here do not cover a function."""


def _c_type(text):
    """Returns the type without MPI's own names, which have another meaning here."""
    text = re.sub(r"\bMPI_Status\b", "struct adapt_status", text)
    pattern = r"(const )?\b(?:" + "|".join(KINDS) + r")\b"
    return re.sub(pattern, "void *", text).replace("* *", "**")


class _Argument:
    """A parameter: type and suffix from Open MPI's mpi.h, the rest from the
    standard."""

    def __init__(self, parameter, description):
        self.type, self.suffix = parameter.type, parameter.suffix
        self.name = parameter.name or description.name
        self.kind, self.direction = description.kind, description.direction
        self.length = description.length
        self.base = self.type.replace("const", "").replace("*", " ").split()[0]
        self.is_array = bool(self.suffix)
        self.is_pointer = self.type.endswith("*") and not self.is_array

    def declaration(self):
        c_type = _c_type(self.type)
        space = "" if c_type.endswith("*") else " "
        return f"{c_type}{space}{self.name}{self.suffix}"


class Adapted:
    """The function that replaces one of MPICH."""

    def __init__(self, function, arguments):
        self.name = function.name
        self.arguments = arguments
        self.declarations, self.before, self.passed = [], [], []
        self.success, self.last = [], []
        for argument in arguments:
            self._add(argument)

    def _length(self, argument):
        """Returns the length of an array as an expression."""
        for (part, name), text in _LENGTHS.items():
            if part in self.name.lower() and name == argument.name:
                return text
        return argument.length

    def _add(self, argument):
        if argument.base in KINDS:
            self._add_handle(argument)
        elif argument.base == "MPI_Status":
            self._add_status(argument)
        elif argument.kind == "BUFFER":
            self.passed.append(f"adapt_buffer({argument.name})")
        elif argument.kind == "WEIGHT":
            self.passed.append(f"adapt_weights({argument.name})")
        elif argument.kind == "STRING" and argument.direction == "out" and self.name in _ROOMS:
            self._add_string(argument)
        elif argument.kind in _CONSTANTS and not (self.name == "Abort" and argument.base == "int"):
            self._add_constant(argument)
        else:
            self.passed.append(argument.name)

    def _optional(self, argument, statement):
        """Makes a statement conditional for MPI_T, where any output may be omitted."""
        if self.name.startswith("T_"):
            return If(f"{argument.name} != NULL", [statement])
        return statement

    def _add_handle(self, argument):
        if argument.is_array:
            self._add_array(argument)
        elif argument.is_pointer:
            self._add_pointer(argument)
        else:
            self.passed.append(f"{self._converter(argument, 'in')}{argument.name})")

    @staticmethod
    def _converter(argument, direction):
        if argument.base == "MPI_File":
            return f"adapt_file_{direction}("
        return "adapt_in(" if direction == "in" else f"adapt_out({KINDS[argument.base]}, "

    def _add_pointer(self, argument):
        name, local = argument.name, f"mpich_{argument.name}"
        is_output = argument.direction == "out"
        null = {"MPI_File": "MPI_FILE_NULL"}.get(argument.base, "0")
        first = null if is_output else f"{self._converter(argument, 'in')}*{name})"
        self.declarations.append(f"{argument.base} {local} = {first};")
        back = self._optional(argument, f"*{name} = {self._converter(argument, 'out')}{local});")
        (self.success if is_output else self.last).append(back)
        is_left_out = self.name.startswith("T_")
        self.passed.append(f"{name} != NULL ? &{local} : NULL" if is_left_out else f"&{local}")

    def _add_array(self, argument):
        length = self._length(argument)
        if not length or argument.base == "MPI_File" or argument.direction == "out":
            raise AdapterError(f"MPI_{self.name}: no rule for {argument.declaration()}")
        count = f"n_{argument.name}"
        self.declarations.append(f"int {count} = {length};")
        self.passed.append(f"adapt_narrow({argument.name}, {count})")
        if not any(a.base == "MPI_Request" and a.is_pointer for a in self.arguments):
            items = [KINDS[argument.base], argument.name, count]
            self.last.append(Call("adapt_widen(", items))

    def _add_status(self, argument):
        name, local = argument.name, f"mpich_{argument.name}"
        if argument.is_array:
            items = [name, self._length(argument)]
            self.declarations.append(f"MPI_Status *{local};")
            self.before.append(Call(f"{local} = adapt_statuses_begin(", items))
            self.passed.append(local)
            self.last.append(Call("adapt_statuses_end(", [local, *items]))
            return
        self.declarations.append(f"MPI_Status {local};")
        if argument.direction == "out":
            self.passed.append(f"adapt_status_begin({name}, &{local})")
        else:
            self.before.append(f"adapt_status_in({name}, &{local});")
            self.passed.append(f"&{local}")
        if argument.direction != "in":
            self.last.append(f"adapt_status_end(&{local}, {name});")

    def _add_string(self, argument):
        room, local = _ROOMS[self.name], f"mpich_{argument.name}"
        self.declarations.append(f"char {local}[MPI_{room}] = \"\";")
        self.passed.append(local)
        lengths = [a.name for a in self.arguments if a.kind == "STRING_LENGTH"]
        items = [local, argument.name, f"ADAPT_{room}", *(lengths or ["NULL"])]
        self.success.append(Call("adapt_text_out(", items))

    def _add_constant(self, argument):
        convert = _CONSTANTS[argument.kind]
        if not argument.is_array and not argument.is_pointer:
            self.passed.append(f"{convert.format('in')}{argument.name})")
            return
        self.passed.append(argument.name)
        if argument.is_pointer and argument.direction == "out":
            statement = f"*{argument.name} = {convert.format('out')}*{argument.name});"
            self.success.append(self._optional(argument, statement))
        elif argument.is_pointer:
            raise AdapterError(f"MPI_{self.name}: no rule for {argument.declaration()}")
        elif argument.kind == "ERROR_CODE":
            self.last.append(Call("adapt_codes_out(", [argument.name, self._length(argument)]))
        # Other arrays contain ranks, where only real ranks are allowed.

    def text(self):
        parameters = [a.declaration() for a in self.arguments] or ["void"]
        head = Call(f"int adapt_{self.name}(", parameters, ")")
        body = [*self.declarations, "int code;", "", *self.before]
        body.append(Call(f"code = PMPI_{self.name}(", self.passed or [""]))
        if self.success:
            body.append(If("code == MPI_SUCCESS", self.success))
        body += [*self.last, "return adapt_code(code);"]
        lines = [f"#pragma weak PMPI_{self.name}", *head.lines(0), "{", *render(body, 1), "}", ""]
        return "\n".join(lines)


def _adapted(function):
    described = standard.descriptions(function.name)
    if described is None or len(described) != len(function.parameters):
        raise AdapterError(f"MPI_{function.name} is not known to the standard")
    pairs = zip(function.parameters, described)
    return Adapted(function, [_Argument(*pair) for pair in pairs])


def names(openmpi, mpich):
    """Returns the functions that the adapter has, written by hand or generated."""
    both = sorted(set(openmpi.functions) & set(mpich.functions))
    return [
        name
        for name in both
        if not _NOT_ADAPTED.fullmatch(name) and name not in supplement.UPPER_ALONE
    ]


def functions_c(openmpi, mpich):
    lines = [banner("adapt_functions.c", "Open MPI's functions on top of MPICH.")]
    headers = ("arguments", "handle", "status", "topology")
    lines += [f'#include "adapt/{name}.h"' for name in headers]
    lines.append("")
    errors = []
    for name in names(openmpi, mpich):
        if _BY_HAND.fullmatch(name):
            continue
        try:
            lines.append(_adapted(openmpi.functions[name]).text())
        except AdapterError as error:
            errors.append(str(error))
    if errors:
        raise AdapterError("no adapter can be generated:\n  " + "\n  ".join(errors))
    return "\n".join(lines)
