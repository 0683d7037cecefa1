/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * library.c - the MPI library may be another one after a restart.
 */
#include "probes/probe.h"

static void say_library(const char *when)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length, version, subversion;

    MPI_Get_library_version(text, &length);
    CHECK(length >= (int)strlen(text)); /* Open MPI counts the NUL */
    MPI_Get_version(&version, &subversion);
    CHECK(version >= 3);
    if (probe_rank == 0) {
        printf("%s: %.24s\n", when, text);
        fflush(stdout);
    }
}

int main(int argc, char **argv)
{
    probe_begin(argc, argv, 2);
    say_library("before");
    probe_gate();
    say_library("after");
    return probe_end();
}
