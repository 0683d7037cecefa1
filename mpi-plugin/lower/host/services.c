/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * services.c - blocking MPI calls that can be interrupted.
 *
 * Each is the nonblocking call and a loop of tests, until the upper half
 * requests attention. The loop runs in the lower half, so the whole call needs
 * one crossing. Handles are Open MPI's, or those of the adapter in front of
 * another MPI.
 *
 * Context of all: normal (lower half).
 */
#include "config.h"
#include "lower/host/services.h"

#include "base/invariant.h"
#include "lower/host/host_library.h"

#include <errno.h>
#include <stdio.h>

static struct {
    int (*isend)(const void *, int, void *, int, int, void *, void **);
    int (*issend)(const void *, int, void *, int, int, void *, void **);
    int (*irecv)(void *, int, void *, int, int, void *, void **);
    int (*test)(void **, int *, void *);
    /* The request of a send that completed at once; NULL if unknown. */
    void *complete;
    volatile int *interrupt;
} mpi;

/* Returns 0 when the request is complete, CKPT_INTERRUPTED, or MPI's error. */
static int finish(void **request, void *status)
{
    int interrupted, error, done;

    do {
        interrupted = *mpi.interrupt; /* test again after it is set */
        done = 0;
        error = mpi.test(request, &done, status);
        if (done || error != 0) {
            return error;
        }
    } while (!interrupted);
    return CKPT_INTERRUPTED;
}

/* As finish(); a send's status contains no valid fields. */
static int finish_send(void *request, void **request_p)
{
    int error;

    if (request == mpi.complete) {
        return 0;
    }
    error = finish(&request, NULL);
    if (error != 0) {
        *request_p = request;
    }
    return error;
}

static int send_service(const void *buffer, int count, void *datatype,
                        int peer, int tag, void *communicator,
                        void **request_p)
{
    void *request;
    int error;

    error = mpi.isend(buffer, count, datatype, peer, tag, communicator,
                      &request);
    return error != 0 ? error : finish_send(request, request_p);
}

static int ssend_service(const void *buffer, int count, void *datatype,
                         int peer, int tag, void *communicator,
                         void **request_p)
{
    void *request;
    int error;

    error = mpi.issend(buffer, count, datatype, peer, tag, communicator,
                       &request);
    return error != 0 ? error : finish_send(request, request_p);
}

static int receive_service(void *buffer, int count, void *datatype, int peer,
                           int tag, void *communicator, void *status,
                           void **request_p)
{
    void *request;
    int error;

    error = mpi.irecv(buffer, count, datatype, peer, tag, communicator,
                      &request);
    if (error != 0) {
        return error;
    }
    error = finish(&request, status);
    if (error != 0) {
        *request_p = request;
    }
    return error;
}

static int wait_service(void **request, void *status)
{
    return finish(request, status);
}

static int look_up(const char *name, void *address_p, struct ckpt_lower *table)
{
    void *address = ckpt_host_library_function(name);

    if (address == NULL) {
        snprintf(table->failure.text, sizeof(table->failure.text),
                 "%s has no function %s", table->library, name);
        return -ENOTSUP;
    }
    *(void **)address_p = address;
    return 0;
}

int ckpt_services_open(struct ckpt_lower *table)
{
    if (look_up("PMPI_Isend", &mpi.isend, table) != 0 ||
        look_up("PMPI_Issend", &mpi.issend, table) != 0 ||
        look_up("PMPI_Irecv", &mpi.irecv, table) != 0 ||
        look_up("PMPI_Test", &mpi.test, table) != 0) {
        return -ENOTSUP;
    }
    mpi.complete = ckpt_host_library_object("ompi_request_empty");
    CKPT_INVARIANT(table->interrupt != NULL); /* the wait loops read it */
    mpi.interrupt = table->interrupt;
    table->complete_request = mpi.complete;
    table->send = send_service;
    table->ssend = ssend_service;
    table->receive = receive_service;
    table->wait = wait_service;
    return 0;
}
