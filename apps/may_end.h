/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * may_end.h - keeps a program from ending before its test lets it.
 *
 * On a slow machine, a test that saves a running program must not find that the program has just
 * ended. The test creates the file WAIT_FILE in the working directory, and removes it when the
 * program may end.
 */
#ifndef MAY_END_H
#define MAY_END_H

#include <stdio.h>
#include <unistd.h>

#define WAIT_FILE ".may-not-end"
/* This is larger than any step: it shows progress. */
#define FURTHEST_STEP "step 1000000000"
#define LOOKS_APART   50000 /* microseconds */

static inline int may_end(void)
{
    return access(WAIT_FILE, F_OK) != 0;
}

/* Returns when the program may end. Call it when the program's work is done. */
static inline void wait_to_end(void)
{
    while (!may_end()) {
        printf("%s\n", FURTHEST_STEP);
        fflush(stdout);
        usleep(LOOKS_APART);
    }
}

#endif
