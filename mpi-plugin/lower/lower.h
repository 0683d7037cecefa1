/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lower.h - what the two halves know of each other.
 *
 * The upper half (the stand-in) loads the lower half: a second dynamic linker
 * with the program ckpt-host, which opens the real MPI library and fills this
 * table. Calls go through the table with the lower thread pointer set.
 */
#ifndef CKPT_LOWER_H
#define CKPT_LOWER_H

#include "ckpt/failure.h"
#include "ckpt/snapshot.h"

#include <stdint.h>

#define CKPT_LOWER_VERSION 5u

struct ckpt_lower {
    uint32_t version;
    uint32_t function_count; /* length of names and of function */
    uint32_t object_count;   /* length of object_names and of object */
    int32_t status;          /* set by ckpt-host: 0 or -errno, then `failure` */

    /* Given by the upper half. */
    const char *library;              /* path of libmpi.so.40, or that soname */
    const char *const *function_names; /* PMPI_Send ... */
    const char *const *object_names;   /* ompi_mpi_comm_world ... */
    void **function;  /* filled: address, or NULL if this MPI lacks it */
    void **object;    /* filled: address, or NULL */
    volatile int *interrupt; /* the wait loops of ckpt-host return when != 0 */
    /* While either is != 0, a checkpoint of this rank or of others is under way,
     * and who waits in the library sleeps between looks. NULL: never. */
    const volatile int *armed;
    const volatile int *open;
    void (*back)(struct ckpt_lower *); /* ckpt-host's main ends in this call */

    /* Given by ckpt-host. */
    uintptr_t thread_pointer; /* of its main thread */

    /* Services of ckpt-host; call with the lower thread pointer set. Handles
     * are lower handles, statuses MPI_Status as the library lays it out.
     * Each returns an MPI error code, or CKPT_INTERRUPTED. */
    int (*send)(const void *buffer, int count, void *datatype, int peer, int tag,
                void *communicator, void **request_p);
    int (*ssend)(const void *buffer, int count, void *datatype, int peer, int tag,
                 void *communicator, void **request_p);
    int (*receive)(void *buffer, int count, void *datatype, int peer, int tag,
                   void *communicator, void *status, void **request_p);
    int (*wait)(void **request, void *status);

    /* What a nonblocking send returns that was complete at once; NULL if this
     * library has no such request. Needs no test. */
    void *complete_request;

    /* Gives a thread pointer that no other thread goes by, for a thread of the
     * application that is to be in the lower half while others are. Nobody
     * takes it back. Call with the lower thread pointer set. 0 or -errno. */
    int (*lend)(uintptr_t *thread_pointer);

    /* Which memory, threads and descriptors are the lower half's own.
     * ranges: disjoint, in order of address; returns the count, or -E2BIG
     *     (a few dozen are usual, one per library at most). What is unmapped
     *     inside them stays reserved for the lower half. Call from the upper
     *     half with the lower thread pointer set. */
    int (*ranges)(struct ckpt_range *ranges, int capacity);
    /* The next two use only lower memory that may be read at any time, no
     * TLS and no locks: callable from a signal handler in either half. Both
     * wait for a lower thread that is just making such a thing (microseconds,
     * a second at most). A descriptor that is not open is never the
     * application's: owns_descriptor() returns 1. */
    int (*owns_thread)(int tid);
    int (*owns_descriptor)(int fd);
    /* As owns_thread: whether the lower half has started this process. */
    int (*owns_process)(int pid);

    /* From now on requests for checkpoints that come from the launcher, by way of
     * the PMIx that the MPI library uses, go to the agent with this control socket.
     * Does nothing where there is no PMIx. Once, after MPI_Init of the library; call
     * with the lower thread pointer set. */
    void (*heed_launcher)(const char *control);

    struct ckpt_failure failure;
};

/* The wait loop was left because *interrupt became non-zero; the request is
 * still pending in *request_p. Not an MPI error code. */
#define CKPT_INTERRUPTED (-4242)

/*
 * Loads ckpt-host at `host_path` (with the library of table->library) into
 * this process and fills the table. The caller's registrations with the kernel
 * (tid address, robust list, rseq) are replaced by the second libc's: call
 * ckpt_threads_record_leader() before and ckpt_threads_repair_leader() after.
 * environment: of the application; the lower half gets a copy without what is
 *     meant for the application's libc (LD_PRELOAD, MALLOC_*; lower/environment.c).
 *     LD_LIBRARY_PATH is searched after the directory of table->library.
 * vdso: address of this kernel's vDSO (AT_SYSINFO_EHDR).
 * Used by MPI_Init and by a restart alike. Signals are blocked meanwhile.
 * Context: normal or quiesced. Returns 0 or -errno with a reason; a library
 * that cannot be loaded, or ends the program while it is, is such a reason.
 */
int ckpt_lower_load(struct ckpt_lower *table, const char *host_path,
                    char *const environment[], uint64_t vdso,
                    struct ckpt_failure *failure);

/* Memory mapped by the loader itself (dynamic linker, stack, retained until
 * the process ends): part of the lower half; may overlap what table->ranges
 * tells. Returns count (at most 3). Context: any. */
int ckpt_lower_loader_ranges(struct ckpt_range *ranges, int capacity);

#endif
