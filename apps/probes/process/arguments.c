/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * arguments.c - arguments and environment that are read only after the
 * checkpoint.
 */
#include "probes/probe.h"

extern char **environ;

/* argv: GATE "two words" "" 'quote"'; environment: PROBE_VALUE="a b=c". */
int main(int argc, char **argv)
{
    char line[4096] = "";
    const char *last = line;
    FILE *file;
    size_t size;

    probe_begin(argc, argv, 2);
    setenv("PROBE_OWN", "set by the program", 1);
    probe_gate();
    CHECK(argc == 5);
    CHECK(strcmp(argv[1], probe_gate_file) == 0);
    CHECK(strcmp(argv[2], "two words") == 0);
    CHECK(strcmp(argv[3], "") == 0);
    CHECK(strcmp(argv[4], "quote\"") == 0);
    CHECK(argv[5] == NULL);
    CHECK(getenv("PROBE_VALUE") && !strcmp(getenv("PROBE_VALUE"), "a b=c"));
    CHECK(getenv("PROBE_OWN") &&
          !strcmp(getenv("PROBE_OWN"), "set by the program"));
    CHECK(environ != NULL && getenv("PROBE_NEVER_SET") == NULL);
    /* The kernel also returns the arguments. */
    file = fopen("/proc/self/cmdline", "r");
    CHECK(file != NULL);
    size = fread(line, 1, sizeof line - 1, file);
    fclose(file);
    for (size_t i = 0; i + 1 < size; i++) {
        if (line[i] == '\0') {
            last = line + i + 1;
        }
    }
    CHECK(strcmp(last, "quote\"") == 0);
    return probe_end();
}
