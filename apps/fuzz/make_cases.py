# SPDX-License-Identifier: BSD-3-Clause
"""Writes cases.c of the fuzz program from mpi.h and the standard. For every function it has a call
with good arguments, a call for each bad value of each argument, and a call with lengths 0 and no
arrays.

    make_cases.py PATH_OF_MPI_PLUGIN_GENERATE PREPROCESSOR_COMMAND...
"""

import re
import sys

import values

sys.path.insert(0, sys.argv[1])
import header as header_module  # noqa: E402  (its folder is an argument)
import pympistandard  # noqa: E402
import standard  # noqa: E402

HEAD = """\
/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cases.c - every function of mpi.h, with good and with bad arguments.
 * Generated from mpi.h and the standard by make_cases.py; changes will be lost.
 */
#include "stage.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const int block_distribution[] = {MPI_DISTRIBUTE_BLOCK};
static const int default_arguments[] = {MPI_DISTRIBUTE_DFLT_DARG};

static int added_code(void)
{
    int code = 0;

    MPI_Add_error_code(MPI_ERR_OTHER, &code);
    return code;
}

static void *allocated(void)
{
    void *memory = NULL;

    MPI_Alloc_mem(64, MPI_INFO_NULL, &memory);
    return memory;
}

static char *long_text(void)
{
    static char text[1 << 17];

    memset(text, 'x', sizeof text - 1);
    return text;
}

static const char *deletable(void)
{
    static char path[5000];

    snprintf(path, sizeof path, "%s.deletable", stage_path);
    fclose(fopen(path, "w"));
    return path;
}

static void *attached(void)
{
    MPI_Win_attach(good.dynamic_win, stage_areas[0], 64);
    return stage_areas[0];
}
"""

FUNCTION = """
static const char *const names_{name}[] = {{
{names}
    NULL,
}};

static long call_{name}(int which)
{{
{declarations}

    long returned;

    switch (which) {{
{cases}
    default:
        break;
    }}
{first}    returned = {call};
{notes}    return returned;
}}
"""

# Functions whose old names the standard's description lacks.
OLD = {
    "Address": "Get_address",
    "Errhandler_create": "Comm_create_errhandler",
    "Errhandler_get": "Comm_get_errhandler",
    "Errhandler_set": "Comm_set_errhandler",
}


class Argument:
    """One parameter: its declaration, its good value, and its bad ones."""

    areas = 0  # buffers used up by the function

    def __init__(self, function, number, parameter, description):
        self.function = function
        self.name = parameter.name or description.name or f"argument_{number}"
        self.kind = description.kind
        self.direction = description.direction
        self.type = parameter.type + (" *" if parameter.suffix == "[]" else "")
        self.base = re.sub(r"const|\*", " ", parameter.type).split()[-1]
        self.is_array = bool(parameter.suffix)
        self.suffix = parameter.suffix
        self.before = []  # further declarations
        self.note = None  # the statement that notes an output
        self.bad = []  # name and expression
        self.good = self._good()

    def _special(self, otherwise):
        return values.GOOD.get(f"{self.function}.{self.name}", otherwise)

    def _good(self):
        if self.base in values.FUNCTIONS:
            self.bad.append(("NULL", "NULL"))
            return values.FUNCTIONS[self.base]
        if self.base in values.GOOD_HANDLES:
            return self._handle()
        if self.suffix == "[][3]":
            self.bad.append(("NULL", "NULL"))
            return self._special("stage_ranges")
        if "char" in self.type:
            return self._text()
        if "void" in self.type:
            return self._buffer()
        if "*" in self.type:
            return self._pointer()
        if self.base in values.GOOD_OTHERS:
            self.bad += values.BAD_OTHERS[self.base]
            return values.GOOD_OTHERS[self.base]
        return self._integer()

    def _handle(self):
        good = self._special(values.GOOD_HANDLES[self.base])
        bad = values.BAD_HANDLES[self.base]
        if "*" not in self.type:
            self.bad += bad
            return good
        variable = f"value_{self.name}"
        if self.direction == "out":
            good = f"({self.base})UNTOUCHED"
            null = values.NULL_HANDLES[self.base]
            self.note = (
                f'note_handle("{self.name}", {variable}[0] != {good}, '
                f"{variable}[0] == {null});"
            )
        self.before.append(f"{self.base} {variable}[8] = {{{good}}};")
        if self.direction != "out":
            self.bad += [
                (name, f"({variable}[0] = {value}, {variable})")
                for name, value in bad
            ]
        self.bad.append(("NULL", "NULL"))
        return variable

    def _text(self):
        self.bad.append(("NULL", "NULL"))
        if self.direction == "out":
            self.before.append(f"static char value_{self.name}[65536];")
            return f"value_{self.name}"
        if "*" in self.type.replace("*", "", 1):  # an array of strings
            return "NULL"
        self.bad.append(("empty", '""'))
        if self.name in ("key", "value"):
            self.bad.append(("long", "long_text()"))
        return self._special('"key"')

    def _buffer(self):
        if self.kind in ("C_BUFFER", "C_BUFFER2", "ATTRIBUTE_VAL",
                         "ATTRIBUTE_VAL_10") and self.direction == "out":  # fmt: skip
            self.before.append(f"void *value_{self.name} = NULL;")
            self.bad.append(("NULL", "NULL"))
            return f"&value_{self.name}"
        if self.kind in ("EXTRA_STATE", "EXTRA_STATE2"):
            return "NULL"
        self.bad.append(("NULL", "NULL"))
        if "buf" in self.name and self.name != "buf":
            self.bad.append(("in place", "MPI_IN_PLACE"))
        Argument.areas = (Argument.areas + 1) % 3
        return self._special(f"stage_areas[{Argument.areas}]")

    def _pointer(self):
        self.bad.append(("NULL", "NULL"))
        if self.base == "MPI_Status":
            variable = f"value_{self.name}"
            self.before.append(f"MPI_Status {variable}[8] = {{stage_status}};")
            self.bad.append(("ignored", "MPI_STATUS_IGNORE"))
            return variable
        if self.is_array and self.direction == "in":
            return self._special(self._array())
        return self._result()

    def _array(self):
        if self.base == "MPI_Aint":
            return "stage_aints"
        zero = self.kind in values.ZERO_ARRAYS
        self.before.append(f"int minus_{self.name}[8] = {{-99, -99}};")
        self.bad.append(("of -99", f"minus_{self.name}"))
        return "stage_zeros" if zero else "stage_ones"

    def _result(self):
        """Declares memory for an output, or for an argument that the call changes."""
        variable = f"value_{self.name}"
        start = "0"
        if self.direction == "out" and self.base == "int":
            start = "UNTOUCHED"
            self.note = (
                f'note_number("{self.name}", {variable}[0], {self._is_known()});'
            )
        if self.direction == "inout" or self.base in values.GOOD_OTHERS:
            start = values.GOOD_OTHERS.get(self.base, "0")
            start = values.GOOD_INTEGERS.get(self.kind, start)
            start = self._special(start)
        if start == "NULL":
            return "NULL"
        if not start[0].isdigit() and "." not in start and start != "UNTOUCHED":
            return start  # an array
        self.before.append(f"{self.base} {variable}[64] = {{{start}}};")
        if self.kind == "KEYVAL" and self.direction == "inout":
            self.bad += [
                (name, f"({variable}[0] = {value}, {variable})")
                for name, value in self._bad_keys()
            ]
        return variable

    def _is_known(self):
        """Returns 1 if the standard defines the number, 0 if the library chooses it."""
        return int(self.kind not in values.CHOSEN_BY_LIBRARY)

    def _bad_keys(self):
        own = self.function.partition("_")[0].lower()
        for name, value in values.BAD_INTEGERS["KEYVAL"]:
            if own in ("type", "win"):
                value = value.replace("freed_comm", f"freed_{own}")
            if value != f"good.{own}_key":
                yield name, value

    def _integer(self):
        if self.kind == "KEYVAL":
            self.bad += self._bad_keys()
        else:
            self.bad += values.BAD_INTEGERS.get(self.kind, values.BAD_INTEGER)
        if self.name in values.NO_PEER:
            return "MPI_PROC_NULL"
        return self._special(values.GOOD_INTEGERS.get(self.kind, "1"))

    def nothing(self):
        """Returns the value for a call without elements; None if the argument stays."""
        if self.is_array or self.kind == "BUFFER":
            return "NULL"
        is_length = re.search("ARRAY_LENGTH|NUM_(DIMS|ELEM|BYTES|PARAM)", self.kind)
        return "0" if is_length and "*" not in self.type else None

    def declaration(self):
        if self.suffix == "[][3]":
            return f"int(*{self.name})[3] = {self.good};"
        space = "" if self.type.endswith("*") else " "
        cast = f"({self.type})" if "*" in self.type and self.good != "NULL" else ""
        if self.base in values.FUNCTIONS:
            cast = ""
        return f"{self.type}{space}{self.name} = {cast}{self.good};"


def arguments_of(function):
    """Returns the arguments of a function of the header."""
    Argument.areas = 0
    descriptions = standard.descriptions(OLD.get(function.name, function.name))
    return [
        Argument(function.name, number, parameter, description)
        for number, (parameter, description) in enumerate(
            zip(function.parameters, descriptions, strict=True)
        )
    ]


def call_of(function, arguments):
    """Returns the call as an expression of type long, and the kind of its result."""
    call = f"MPI_{function.name}({', '.join(a.name for a in arguments)})"
    if function.result != "int":
        null = values.NULL_HANDLES[function.result]
        return f"{call} != {null}", 1
    return call, -1 if function.name.endswith("_c2f") and len(arguments) == 1 else 0


def cases_of(function, arguments):
    """Yields the cases after the good one: the name of each, and the changed arguments with their
    values."""
    spoiled = values.ONLY_BAD.get(function.name)
    cases = [
        (f"{argument.name}: {name}", [(argument, value)])
        for argument in arguments
        for name, value in argument.bad
        if spoiled is None or argument.name in spoiled
    ]
    nothing = [(a, a.nothing()) for a in arguments if a.nothing() is not None]
    if {value for _, value in nothing} == {"0", "NULL"} and spoiled is None:
        cases.append(("no elements", nothing))
    return cases


def case_text(number, changes):
    """Returns the branch of one case."""
    lines = [f"        {a.name} = (__typeof__({a.name}))({value});\n" for a, value in changes]
    return f"    case {number}:\n{''.join(lines)}        break;"


def function_text(function):
    arguments = arguments_of(function)
    spoiled = values.ONLY_BAD.get(function.name)
    cases = cases_of(function, arguments)
    before = [line for a in arguments for line in a.before]
    declarations = [*before, *(a.declaration() for a in arguments)]
    first = values.FIRST.get(function.name)
    call, _ = call_of(function, arguments)
    switch = [case_text(number, changes) for number, (_, changes) in enumerate(cases, 1)]
    return FUNCTION.format(
        name=function.name,
        names="\n".join(
            f'    "{name}",'
            for name in ("good" if spoiled is None else "", *(name for name, _ in cases))
        ),
        declarations="\n".join(f"    {line}" for line in declarations),
        cases="\n".join(switch),
        first=f"    {first}\n" if first else "",
        call=call,
        notes="".join(f"    {a.note}\n" for a in arguments if a.note),
    )


def main():
    header = header_module.read(sys.argv[2:])
    pympistandard.use_api_version(1, force_bundled=True)
    functions = [
        header.functions[name]
        for name in sorted(set(header.functions) - set(values.LEFT_OUT))
    ]
    print(HEAD, end="")
    for function in functions:
        print(function_text(function), end="")
    print("\nconst struct fuzzed fuzzed[] = {")
    for function in functions:
        name = function.name
        _, kind = call_of(function, arguments_of(function))
        print(f'    {{"{name}", call_{name}, names_{name}, {kind}}},')
    print("};\n\nconst int fuzzed_count = sizeof fuzzed / sizeof fuzzed[0];")


if __name__ == "__main__":
    main()
