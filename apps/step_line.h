/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * step_line.h - progress lines of long programs.
 */
#ifndef STEP_LINE_H
#define STEP_LINE_H

#include <stdint.h>
#include <stdio.h>
#include <time.h>

#define STEP_LINE_NS INT64_C(100000000) /* between two lines */

/* Prints "step N", at most once in STEP_LINE_NS. */
static inline void print_step(long step)
{
    static int64_t printed;
    struct timespec now;
    int64_t ns;

    clock_gettime(CLOCK_MONOTONIC, &now);
    ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    if (printed == 0 || ns - printed >= STEP_LINE_NS) {
        printed = ns;
        printf("step %ld\n", step);
        fflush(stdout);
    }
}

#endif
