/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ckpt_host.c - the program of the lower half.
 *
 * Opens the real MPI library, enters its functions into the table of the upper
 * half and jumps back there. It never returns: its main thread's stack stays in
 * the middle of main() for the life of the process.
 *
 * The functions that the host_*.c files export replace libc's for the whole
 * lower half.
 */
#include "config.h"
#include "lower/start.h"

#include "lower/host/host_children.h"
#include "lower/host/host_components.h"
#include "lower/host/host_descriptors.h"
#include "lower/host/host_files.h"
#include "lower/host/host_launch.h"
#include "lower/host/host_lend.h"
#include "lower/host/host_library.h"
#include "lower/host/host_memory.h"
#include "lower/host/host_pmix.h"
#include "lower/host/host_process.h"
#include "lower/host/host_threads.h"
#include "lower/host/host_yield.h"
#include "lower/host/services.h"
#include "sys/syscall.h"
#include "sys/thread_pointer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static int open_library(struct ckpt_lower *table, const char *host_path)
{
    int status = ckpt_host_library_open(table, host_path);

    if (status != 0) {
        return status;
    }
    for (uint32_t i = 0; i < table->function_count; i++) {
        table->function[i] = ckpt_host_library_function(table->function_names[i]);
    }
    for (uint32_t i = 0; i < table->object_count; i++) {
        table->object[i] = ckpt_host_library_object(table->object_names[i]);
    }
    return ckpt_services_open(table);
}

int main(int argc, char **argv)
{
    struct ckpt_lower_start *start;
    struct ckpt_lower *table;

    if (argc != 2) {
        fprintf(stderr, "ckpt-host is started by ckpt inside an MPI program, "
                        "not by hand\n");
        return 2;
    }
    start = (struct ckpt_lower_start *)strtoull(argv[1], NULL, 16);
    table = start->table;
    ckpt_host_memory_open(start);
    ckpt_thread_pointer_open();
    if (table->version != CKPT_LOWER_VERSION) {
        snprintf(table->failure.text, sizeof(table->failure.text),
                 "ckpt-host is of another version than the program's library");
        table->status = -EPROTO;
    } else {
        ckpt_invariant_report_to(table->invariant_failed);
        table->launcher_channel = ckpt_host_launch_open();
        ckpt_host_yield_open(table);
        ckpt_host_last_words(table->last_words);
        ckpt_host_stops_alone(&table->stops_alone);
        table->status = open_library(table, argv[0]);
    }
    table->ranges = ckpt_host_ranges;
    table->lend = ckpt_host_lend;
    table->owns_thread = ckpt_host_owns_thread;
    table->owns_descriptor = ckpt_host_owns_descriptor;
    table->owns_process = ckpt_host_owns_process;
    table->heed_launcher = ckpt_host_pmix_open;
    table->components = ckpt_host_components;
    table->set_variable = ckpt_host_set_variable;
    table->remove_files = ckpt_host_files_remove;
    table->thread_pointer = ckpt_thread_pointer_get();
    table->back(table);
    abort(); /* back() does not return */
}
