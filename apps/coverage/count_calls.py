# SPDX-License-Identifier: BSD-3-Clause
"""Writes counted.c of the coverage program: defines every function of mpi.h as a
profiling tool would, with a count of its calls.

    count_calls.py PATH_OF_MPI_PLUGIN_GENERATE PREPROCESSOR_COMMAND...
"""

import sys

TEXT = """\
/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * counted.c - counts the calls of every function of mpi.h.
 * Generated from mpi.h by count_calls.py; changes will be lost.
 */
#include "coverage.h"

enum {{
{numbers}
    COUNT
}};

static const char *const names[COUNT] = {{
{names}
}};

static long calls[2][COUNT]; /* before the gate, after it */
static char reported[COUNT];
static int passed;

void coverage_gate_passed(void)
{{
    passed = 1;
}}

static void print_news(long (*sums)[COUNT])
{{
    for (int i = 0; i < COUNT; i++) {{
        if (sums[0][i] + sums[1][i] > 0 && !reported[i]) {{
            reported[i] = 1;
            printf("called %s %ld %ld\\n", names[i], sums[0][i], sums[1][i]);
        }}
    }}
    fflush(stdout);
}}

void coverage_report(void)
{{
    long sums[2][COUNT];

    PMPI_Reduce(calls, sums, 2 * COUNT, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (this_rank == 0) {{
        print_news(sums);
    }}
}}

void coverage_report_alone(void)
{{
    if (this_rank == 0) {{
        print_news(calls);
    }}
}}
{functions}"""

FUNCTION = """
{result} MPI_{name}({parameters})
{{
    calls[passed][I_{name}]++;{before}
    return PMPI_{name}({arguments});
}}
"""


def function_text(function):
    """Returns one counting function. Arguments without a name get one. Variable
    arguments (`...`) are not passed on: only MPI_Pcontrol has them."""
    declared, passed = [], []
    for number, parameter in enumerate(function.parameters):
        if parameter.type == "...":
            declared.append("...")
            continue
        name = parameter.name or f"argument_{number}"
        space = "" if parameter.type.endswith("*") else " "
        declared.append(f"{parameter.type}{space}{name}{parameter.suffix}")
        passed.append(name)
    return FUNCTION.format(
        result=function.result,
        name=function.name,
        parameters=", ".join(declared) or "void",
        before="\n    coverage_report_alone();" if function.name == "Abort" else "",
        arguments=", ".join(passed),
    )


def main():
    sys.path.insert(0, sys.argv[1])
    import header  # its folder is an argument

    functions = header.read(sys.argv[2:]).functions
    names = sorted(functions)
    print(
        TEXT.format(
            numbers="\n".join(f"    I_{name}," for name in names),
            names="\n".join(f'    "{name}",' for name in names),
            functions="".join(function_text(functions[name]) for name in names),
        ),
        end="",
    )


if __name__ == "__main__":
    main()
