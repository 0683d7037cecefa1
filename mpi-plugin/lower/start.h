/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * start.h - data that the loader passes to ckpt-host on its command line.
 *
 * argv[1] of ckpt-host is the address of this structure, in hexadecimal.
 */
#ifndef CKPT_START_H
#define CKPT_START_H

#include "lower/lower.h"

struct ckpt_lower_start {
    struct ckpt_lower *table;
    /* Every mapping of the process just before the dynamic linker was entered,
     * with adjacent ones merged, in order of address. The count is 0 if the
     * list is unknown, or if another application thread may have mapped memory
     * since. */
    const struct ckpt_range *before;
    int before_count;
};

#endif
