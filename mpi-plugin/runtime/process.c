/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * process.c - record the process as it was started.
 */
#include "files/files.h"
#include "memory/regions.h"
#include "runtime/leaked_descriptors.h"
#include "runtime/runtime.h"
#include "sys/thread_pointer.h"
#include "task/signals.h"

#include <stdlib.h>

void ckpt_runtime_open_process(void)
{
    static int opened;

    if (opened) {
        return;
    }
    opened = 1;
    ckpt_thread_pointer_open();
    ckpt_regions_open();
    ckpt_leaked_descriptors_close();
    ckpt_files_open();
    /* Before a lower half exists that a handler could interrupt. */
    (void)ckpt_signals_open(ckpt_signals_number(getenv("CKPT_SIGNAL")));
}
