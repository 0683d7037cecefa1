# SPDX-License-Identifier: BSD-3-Clause
"""Writes the tables of the adapter: functions and predefined objects by Open
MPI's names."""

from adapter_functions import KINDS
from tables import banner

def _objects(openmpi, mpich):
    for macro in sorted(openmpi.symbols):
        symbol = openmpi.symbols[macro]
        kind = KINDS.get(openmpi.predefined[symbol])
        if kind is None or macro not in mpich.constants:
            continue
        handle = "0" if kind == "ADAPT_FILE" else macro
        null = int(macro.endswith("_NULL"))
        yield f'    {{"{symbol}", {kind}, {handle}, {null}}},'


def tables_c(names, openmpi, mpich):
    lines = [banner("adapt_tables.c", "functions and objects by Open MPI's names.")]
    lines += ['#include "adapt/tables.h"', ""]
    lines += ["/* Only their addresses count here. */"]
    lines += [f"void adapt_{name}(void);" for name in names]
    lines += ["", *(f"#pragma weak PMPI_{name}" for name in names)]
    lines += ["", "const struct adapt_function adapt_functions[] = {"]
    for name in names:
        lines.append(f'    {{"PMPI_{name}", adapt_{name}, (void (*)(void))PMPI_{name}}},')
    lines += ["};", ""]
    lines += [f"const int adapt_function_count = {len(names)};", ""]
    objects = list(_objects(openmpi, mpich))
    lines += ["const struct adapt_object adapt_objects[] = {", *objects, "};", ""]
    lines += [f"const int adapt_object_count = {len(objects)};", ""]
    return "\n".join(lines)
