# SPDX-License-Identifier: BSD-3-Clause
"""Writes the values that Open MPI and MPICH give to the same names, one file
for each library: no file can include both mpi.h."""

import re

from tables import banner

# Names that belong together: kinds of the standard, and names without a kind.
GROUPS = {
    "ERROR": r"MPI_SUCCESS|MPI_(T_)?ERR_(?!LASTCODE)\w+",
    "RANK": r"MPI_(ANY_SOURCE|PROC_NULL|ROOT)",
    "COMM_COMPARISON": r"MPI_(IDENT|CONGRUENT|SIMILAR|UNEQUAL)",
    "GROUP_COMPARISON": r"MPI_(IDENT|SIMILAR|UNEQUAL)",
    "ASSERT": r"MPI_MODE_(NOCHECK|NOPRECEDE|NOPUT|NOSTORE|NOSUCCEED)",
    "ACCESS_MODE": r"MPI_MODE_(APPEND|CREATE|DELETE_ON_CLOSE|EXCL|RDONLY|RDWR"
    r"|SEQUENTIAL|UNIQUE_OPEN|WRONLY)",
    "LOCK_TYPE": r"MPI_LOCK_(EXCLUSIVE|SHARED)",
    "ORDER": r"MPI_ORDER_(C|FORTRAN)",
    "DISTRIB_ENUM": r"MPI_DISTRIBUTE_(BLOCK|CYCLIC|NONE)",
    "DTYPE_DISTRIBUTION": r"MPI_DISTRIBUTE_DFLT_DARG",
    "COMBINER": r"MPI_COMBINER_(?!\w+_INTEGER$)\w+|MPI_COMBINER_F90_INTEGER",
    "TOPOLOGY_TYPE": r"MPI_(CART|GRAPH|DIST_GRAPH|UNDEFINED)",
    "THREAD_LEVEL": r"MPI_THREAD_\w+",
    "SPLIT_TYPE": r"MPI_COMM_TYPE_\w+|MPI_UNDEFINED",
    "TYPECLASS": r"MPI_TYPECLASS_\w+",
    "UPDATE_MODE": r"MPI_SEEK_\w+",
    "VARIABLE_SCOPE": r"MPI_T_SCOPE_\w+",
    "BIND_TYPE": r"MPI_T_BIND_\w+",
    "PVAR_CLASS": r"MPI_T_PVAR_CLASS_\w+",
    "TOOL_VAR_VERBOSITY": r"MPI_T_VERBOSITY_\w+",
    "KEYVAL": r"MPI_(TAG_UB|HOST|IO|WTIME_IS_GLOBAL|APPNUM|LASTUSEDCODE|UNIVERSE_SIZE"
    r"|WIN_BASE|WIN_SIZE|WIN_DISP_UNIT|WIN_CREATE_FLAVOR|WIN_MODEL)",
    "WIN_FLAVOR": r"MPI_WIN_FLAVOR_\w+",
    "WIN_MODEL": r"MPI_WIN_(UNIFIED|SEPARATE)",
    # Passed on unchanged.
    "SAME": r"MPI_(UNDEFINED|ANY_TAG|DISPLACEMENT_CURRENT|SUCCESS)",
}

# Groups whose members can be combined.
FLAGS = ("ASSERT", "ACCESS_MODE")

# Lengths of strings that MPI returns.
ROOMS = (
    "MAX_DATAREP_STRING",
    "MAX_ERROR_STRING",
    "MAX_INFO_KEY",
    "MAX_LIBRARY_VERSION_STRING",
    "MAX_OBJECT_NAME",
    "MAX_PORT_NAME",
    "MAX_PROCESSOR_NAME",
)

_OPENMPI_KEYVALS = r"I?MPI_(CLIENT_SIZE|CLIENT_COLOR|HOST_SIZE|HOST_COLOR|FT)"


def _common(openmpi, mpich):
    """Returns the names of each group that both libraries have."""
    both = sorted(openmpi.constants & mpich.constants)
    return {group: [n for n in both if re.fullmatch(p, n)] for group, p in GROUPS.items()}


def groups_h():
    lines = [banner("adapt_groups.h", "numbers for groups of constants.")]
    lines += ["#ifndef CKPT_ADAPT_GROUPS_H", "#define CKPT_ADAPT_GROUPS_H", ""]
    lines += ["enum adapt_group {", *(f"    ADAPT_{group}," for group in GROUPS), "};", ""]
    lines += ["enum adapt_room {", *(f"    ADAPT_{room}," for room in ROOMS), "};", ""]
    return "\n".join([*lines, "#endif", ""])


def _array(name, values):
    lines = [f"static const int {name}[] = {{", *(f"    {value}," for value in values)]
    return [*lines, "};", f"#define N_{name} (int)(sizeof({name}) / sizeof(int))", ""]


def _values(side, common):
    lines = []
    for group, names in common.items():
        lines += _array(group.lower(), names)
    lines += [f"const struct adapt_values adapt_{side}_values[] = {{"]
    lines += [f"    [ADAPT_{g}] = {{N_{g.lower()}, {g.lower()}}}," for g in common]
    return [*lines, "};", ""]


def mpich_c(openmpi, mpich):
    lines = [banner("adapt_mpich.c", "the constants of MPICH.")]
    lines += ['#include "adapt/constants.h"', "", "#include <mpi.h>", ""]
    common = _common(openmpi, mpich)
    lines += _values("mpich", common)
    lines += ["const char *const adapt_error_names[] = {"]
    lines += [f'    "{name}",' for name in common["ERROR"]]
    return "\n".join([*lines, "};", ""])


def openmpi_c(openmpi, mpich):
    keyvals = sorted(n for n in openmpi.constants if re.fullmatch(_OPENMPI_KEYVALS, n))
    lines = [banner("adapt_openmpi.c", "the constants of Open MPI.")]
    lines += ['#include "adapt/constants.h"', '#include "handles/mpi4.h"', ""]
    lines += _values("openmpi", _common(openmpi, mpich))
    lines += _array("only", keyvals)
    lines += ["const struct adapt_values adapt_openmpi_keyvals = {N_only, only};", ""]
    lines += ["const int adapt_openmpi_room[] = {"]
    lines += [f"    [ADAPT_{room}] = MPI_{room}," for room in ROOMS]
    lines += ["};", ""]
    for name in ("IN_PLACE", "UNWEIGHTED", "WEIGHTS_EMPTY"):
        lines.append(f"const void *const adapt_openmpi_{name.lower()} = MPI_{name};")
    return "\n".join([*lines, ""])
