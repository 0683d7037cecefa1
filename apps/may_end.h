/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * may_end.h - a program does not end before its test lets it.
 *
 * A test that saves a running program must not find, on a slow machine, that the
 * program has just ended. The test puts the file WAIT_FILE into the working
 * directory, and removes it when the program may end.
 */
#ifndef MAY_END_H
#define MAY_END_H

#include <stdio.h>
#include <unistd.h>

#define WAIT_FILE     ".may-not-end"
#define FURTHEST_STEP "step 1000000000" /* further than any step: there is progress */
#define LOOKS_APART   50000             /* microseconds */

static inline int may_end(void)
{
    return access(WAIT_FILE, F_OK) != 0;
}

/* Returns when the program may end. To be called when its work is done. */
static inline void wait_to_end(void)
{
    while (!may_end()) {
        printf("%s\n", FURTHEST_STEP);
        fflush(stdout);
        usleep(LOOKS_APART);
    }
}

#endif
