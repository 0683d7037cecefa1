/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lower.h - the interface between the two halves.
 *
 * The upper half (the stand-in) loads the lower half: a second dynamic linker with
 * the program ckpt-host. That program opens the real MPI library and fills this
 * table. Calls go through the table with the lower thread pointer set.
 */
#ifndef CKPT_LOWER_H
#define CKPT_LOWER_H

#include "base/invariant.h"
#include "ckpt/failure.h"
#include "ckpt/snapshot.h"
#include "lower/components.h"

#include <stddef.h>
#include <stdint.h>

#define CKPT_LOWER_VERSION 9u

struct ckpt_lower {
    uint32_t version;
    uint32_t function_count; /* length of names and of function */
    uint32_t object_count;   /* length of object_names and of object */
    int32_t status;          /* set by ckpt-host: 0, or -errno with `failure` */

    /* Set by the upper half. */
    const char *library;               /* path of libmpi.so.40, or that soname */
    const char *const *function_names; /* PMPI_Send ... */
    const char *const *object_names;   /* ompi_mpi_comm_world ... */
    void **function;                   /* filled: addresses; NULL if this MPI lacks it */
    void **object;                     /* filled: address, or NULL */
    volatile int *interrupt;           /* the wait loops of ckpt-host return when != 0 */
    /* While either is non-zero, a checkpoint of this rank or of other ranks is under
     * way. Then a rank that waits in the library sleeps between checks. NULL:
     * never. */
    const volatile int *armed;
    const volatile int *open;
    ckpt_invariant_handler *invariant_failed; /* of the upper half; NULL: none */
    void (*back)(struct ckpt_lower *);        /* ckpt-host's main ends in this call */

    /* Set by ckpt-host. */
    uintptr_t thread_pointer; /* of its main thread */

    /* Services of ckpt-host; call them with the lower thread pointer set. Handles
     * are lower handles; statuses have the library's layout of MPI_Status. Each
     * returns an MPI error code, or CKPT_INTERRUPTED. */
    int (*send)(const void *buffer, int count, void *datatype, int peer, int tag,
                void *communicator, void **request_p);
    int (*ssend)(const void *buffer, int count, void *datatype, int peer, int tag,
                 void *communicator, void **request_p);
    int (*receive)(void *buffer, int count, void *datatype, int peer, int tag,
                   void *communicator, void *status, void **request_p);
    int (*wait)(void **request, void *status);

    /* The request that a nonblocking send returns if it completes at once; it needs
     * no test. NULL if this library has no such request. */
    void *complete_request;

    /* Lends a thread pointer that no other thread uses, for an application thread
     * that will be in the lower half while others are. It is never returned. Call
     * with the lower thread pointer set. Returns 0 or -errno. */
    int (*lend)(uintptr_t *thread_pointer);

    /* Report the lower half's own memory, threads and descriptors.
     * ranges: disjoint, in order of address; returns the count, or -E2BIG (a few
     * dozen are usual, one per library at most). Unmapped memory inside them stays
     * reserved for the lower half. Call from the upper half with the lower thread
     * pointer set. */
    int (*ranges)(struct ckpt_range *ranges, int capacity);
    /* The next two read only lower memory that is always readable, and use no TLS
     * and no locks: a signal handler in either half may call them. Both wait for a
     * lower thread that is just making such a thing (microseconds, a second at
     * most). A descriptor that is not open never belongs to the application:
     * owns_descriptor() returns 1. */
    int (*owns_thread)(int tid);
    int (*owns_descriptor)(int fd);
    /* As owns_thread: returns whether the lower half has started this process. */
    int (*owns_process)(int pid);

    /* From now on the launcher's requests for checkpoints, which arrive over the MPI
     * library's PMIx, go to the agent with this control socket. Does nothing without
     * PMIx. Called once, after MPI_Init of the library, with the lower thread
     * pointer set. */
    void (*heed_launcher)(const char *control);

    /* The components that the library has open, after its MPI_Init; and a variable of the lower
     * half's environment, before: lower/host/host_components.h. */
    int (*components)(struct ckpt_components *found);
    int (*set_variable)(const char *name, const char *value);

    /* Set by the upper half: a line that ckpt-host writes to standard error if the library ends
     * the process while *last_words is not NULL. NULL: none. */
    const char *const volatile *last_words;

    /* Removes the files in /dev/shm that the lower half has made and mapped, and which
     * only MPI_Finalize would remove; never one that another process has made. Uses no
     * TLS and no locks: for lower/discard.c, while all lower threads are ended. While they run
     * (link/shell_order.c), a file that is just being made may remain. */
    void (*remove_files)(void);

    /* The connection to the launcher that it has passed to this process (PMI_FD), or -1.
     * Hydra ends the job if it closes. */
    int32_t launcher_channel;
    /* Set by the upper half: if non-zero, a library that gives up over PMIx stops this rank instead
     * of ending the job, and ends the rank later. */
    volatile int32_t stops_alone;

    struct ckpt_failure failure;
};

/* A ckpt-host of another version reads `version`, and returns through the other two. */
_Static_assert(offsetof(struct ckpt_lower, version) == 0 &&
                   offsetof(struct ckpt_lower, status) == 12 &&
                   offsetof(struct ckpt_lower, back) == 88,
               "the same in all versions");
_Static_assert(offsetof(struct ckpt_lower, failure) == 232 && CKPT_LOWER_VERSION == 9u,
               "another layout is another version");

/* The wait loop ended because *interrupt became non-zero; the request is still
 * pending in *request_p. Not an MPI error code. */
#define CKPT_INTERRUPTED (-4242)

/*
 * Loads ckpt-host at `host_path` (with the library of table->library) into this
 * process and fills the table. The second libc replaces the caller's registrations
 * with the kernel (tid address, robust list, rseq): call
 * ckpt_threads_record_leader() before and ckpt_threads_repair_leader() after.
 * environment: of the application; the lower half gets a copy without the variables
 *     for the application's libc (LD_PRELOAD, MALLOC_*; lower/environment.c).
 *     LD_LIBRARY_PATH is searched after the directory of table->library.
 * vdso: address of this kernel's vDSO (AT_SYSINFO_EHDR).
 * alone: 1 if no other thread maps memory meanwhile. Otherwise memory that the dynamic
 *     linker maps for itself is known as lower only if the process has one thread.
 * Both MPI_Init and a restart use it. It blocks signals meanwhile. Context: normal
 * or quiesced. Returns 0 or -errno with a reason, also for a library that cannot be
 * loaded, or that ends the program during the load.
 */
int ckpt_lower_load(struct ckpt_lower *table, const char *host_path,
                    char *const environment[], uint64_t vdso, int alone,
                    struct ckpt_failure *failure);

/* Lists memory that the loader itself mapped (dynamic linker, notes, stack), which
 * stays until the lower half is discarded. It belongs to the lower half, and may overlap the
 * ranges of table->ranges. Returns the count (at most 3). Context: any. */
int ckpt_lower_loader_ranges(struct ckpt_range *ranges, int capacity);

#endif
