# SPDX-License-Identifier: BSD-3-Clause
"""Writes the tables: function numbers and names, predefined objects, and the
functions of the language bindings."""

import supplement
from exported import KINDS

BANNER = """\
/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * {name} - {purpose}
 * Generated from mpi.h by mpi-plugin/generate; changes will be lost.
 */
"""

# The structure of each kind's objects; it must fit into the symbol.
_STRUCTURES = {
    "MPI_Comm": "ompi_communicator_t",
    "MPI_Group": "ompi_group_t",
    "MPI_Datatype": "ompi_datatype_t",
    "MPI_Op": "ompi_op_t",
    "MPI_Request": "ompi_request_t",
    "MPI_Win": "ompi_win_t",
    "MPI_File": "ompi_file_t",
    "MPI_Info": "ompi_info_t",
    "MPI_Errhandler": "ompi_errhandler_t",
    "MPI_Message": "ompi_message_t",
    "MPI_Session": "ompi_instance_t",
}
assert set(_STRUCTURES) == set(KINDS)


def banner(name, purpose):
    return BANNER.format(name=name, purpose=purpose)


def functions_h(names):
    lines = [banner("functions.h", "a number for every MPI function.")]
    lines += ["#ifndef CKPT_FUNCTIONS_H", "#define CKPT_FUNCTIONS_H", ""]
    lines += ["enum ckpt_function {"]
    lines += [f"    CKPT_FN_{name}," for name in names]
    lines += ["    CKPT_FN_COUNT", "};", ""]
    lines += ["/* Whether the library's function may have to wait for other ranks. */"]
    lines += [f"#define CKPT_MAY_WAIT_{name} {int(supplement.may_wait(name))}" for name in names]
    lines += [""]
    lines += ["/* PMPI_Send ..., by enum ckpt_function. */"]
    lines += ["extern const char *const ckpt_function_names[];", "", "#endif", ""]
    return "\n".join(lines)


def functions_c(names):
    lines = [banner("functions.c", "the names of the MPI functions, by number.")]
    lines += ['#include "functions.h"', ""]
    lines += ["const char *const ckpt_function_names[] = {"]
    lines += [f'    "PMPI_{name}",' for name in names]
    lines += ["};", ""]
    return "\n".join(lines)


def predefined_s(objects):
    """Returns the assembly source of the symbols. An executable that is not
    position-independent may have its own copy of each, with the size of the library's
    symbol."""
    lines = [banner("predefined.S", "objects behind MPI_COMM_WORLD, MPI_INT ...")]
    lines += ["    .macro object name, size"]
    lines += ["    .globl \\name", "    .type \\name, @object", "    .size \\name, \\size"]
    lines += ["    .balign 32", "\\name:", "    .zero \\size", "    .endm", ""]
    lines += ["    .bss"]
    lines += [f"    object {item.name}, {item.size}" for item in objects]
    lines += ["", '    .section .note.GNU-stack, "", @progbits', ""]
    return "\n".join(lines)


def _fits(objects):
    smallest = {}
    for item in objects:
        if item.handle:
            size = min(item.size, smallest.get(item.handle, item.size))
            smallest[item.handle] = size
    for handle in sorted(smallest):
        yield f"_Static_assert(sizeof(struct {_STRUCTURES[handle]}) <= {smallest[handle]},"
        yield f'               "a predefined {handle} must fit into its symbol");'


def predefined_table_c(objects):
    lines = [banner("predefined_table.c", "table of the predefined objects.")]
    for name in (
        "handles/message_log",
        "handles/communicator",
        "handles/handles",
        "handles/request",
        "handles/session",
        "handles/window",
    ):
        lines.append(f'#include "{name}.h"')
    lines += ["", *_fits(objects), ""]
    lines += ["/* Only addresses count here; mpi.h does not declare all of them. */"]
    lines += [f'extern char ckpt_object_{item.name}[] __asm__("{item.name}");' for item in objects]
    lines += ["", "const struct ckpt_predefined ckpt_predefined[] = {"]
    for item in objects:
        kind = KINDS.get(item.handle, "0")
        lines.append(f'    {{ckpt_object_{item.name}, "{item.name}", {kind}, {item.size}}},')
    lines += ["};", ""]
    lines += ["const uint32_t ckpt_predefined_count ="]
    lines += ["    sizeof(ckpt_predefined) / sizeof(ckpt_predefined[0]);", ""]
    return "\n".join(lines)


def fortran_handles_c(numbers, objects):
    """Returns a table of the predefined objects by Fortran number. numbers: Number list."""
    names = {item.name for item in objects}
    known = [number for number in numbers if number.symbol in names]
    lines = [banner("fortran_handles.c", "the numbers of predefined handles in mpif.h.")]
    lines += ['#include "handles/fortran_handles.h"', ""]
    symbols = sorted({number.symbol for number in known})
    lines += [f'extern char ckpt_object_{name}[] __asm__("{name}");' for name in symbols]
    lines += ["", "void *const ckpt_fortran_handles[CKPT_KIND_COUNT][CKPT_FORTRAN_HANDLES] = {"]
    for number in known:
        kind, name = KINDS[number.handle], number.symbol
        lines.append(f"    [{kind}][{number.value}] = ckpt_object_{name},")
    return "\n".join([*lines, "};", ""])


def bindings_c(binding_symbols):
    lines = [banner("bindings.c", "functions that language bindings take from libmpi.")]
    lines += ['#include "wrap/support.h"', ""]
    lines += ["#pragma GCC visibility push(default)", ""]
    for name, what in sorted(binding_symbols.functions.items()):
        lines += [f"void {name}(void);", f"void {name}(void)", "{"]
        lines += [f'    ckpt_unsupported("{name}", "{what}");', "}", ""]
    for name in sorted(binding_symbols.zeros):
        lines += [f"int {name}(void);", f"int {name}(void)", "{", "    return 0;", "}", ""]
    lines += ["#pragma GCC visibility pop", ""]
    return "\n".join(lines)
