/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * channels.c - two lower communicators for each communicator's messages.
 */
#include "handles/channels.h"

#include "base/invariant.h"
#include "handles/kinds.h"
#include "runtime/crossing.h"
#include "runtime/runtime.h"

#include <string.h>

static int twofold; /* 1 if there are second channels; equal on all ranks */
static int colour;

static int is_wanted(void)
{
    const char *protocol = ckpt_runtime_getenv("CKPT_PROTOCOL");

    return protocol != NULL && protocol[0] != '\0' && strcmp(protocol, "sns") != 0;
}

int ckpt_channels_make(MPI_Comm lower, MPI_Comm *second)
{
    int code = MPI_SUCCESS;

    *second = NULL;
    if (twofold) {
        code = CKPT_FUNCTION(Comm_dup)(lower, second);
    }
    if (twofold && code == MPI_SUCCESS) {
        code = CKPT_FUNCTION(Comm_set_errhandler)(
            *second, CKPT_LOWER(MPI_ERRORS_RETURN));
    }
    return code;
}

int ckpt_channels_begin(MPI_Comm comm, MPI_Comm twin)
{
    twin->making = NULL;
    twin->channels[1] = NULL;
    return comm->channels[1] == NULL
               ? MPI_SUCCESS
               : CKPT_FUNCTION(Comm_idup)(comm->channels[1], &twin->channels[1],
                                          &twin->making);
}

int ckpt_channels_rebuild(MPI_Comm comm)
{
    MPI_Comm second;
    uintptr_t upper = ckpt_enter();
    int code = ckpt_channels_make(comm->handle.lower, &second);

    ckpt_leave(upper);
    ckpt_channels_bind(comm, second);
    return code;
}

int ckpt_channels_open(void)
{
    int code;

    twofold = is_wanted();
    CKPT_CALL(code, Bcast, &twofold, 1, CKPT_LOWER(MPI_INT), 0,
              CKPT_LOWER(MPI_COMM_WORLD));
    if (code == MPI_SUCCESS) {
        code = ckpt_channels_rebuild(MPI_COMM_WORLD);
    }
    return code == MPI_SUCCESS ? ckpt_channels_rebuild(MPI_COMM_SELF) : code;
}

static void set_channel(MPI_Comm comm)
{
    CKPT_INVARIANT(comm->channels[1] == NULL || twofold);
    comm->channel = comm->channels[comm->channels[1] == NULL ? 0 : colour];
}

void ckpt_channels_bind(MPI_Comm comm, MPI_Comm second)
{
    comm->channels[0] = comm->handle.lower;
    comm->channels[1] = second;
    set_channel(comm);
}

void ckpt_channels_free(MPI_Comm comm)
{
    int code;

    if (comm->channels[1] != NULL) {
        CKPT_CALL(code, Comm_free, &comm->channels[1]);
        (void)code; /* an error cannot be reported here */
    }
}

int ckpt_channels_colour(void)
{
    return colour;
}

void ckpt_channels_turn(void)
{
    struct ckpt_handle *handle = ckpt_live(CKPT_COMM);

    colour = !colour;
    set_channel(MPI_COMM_WORLD);
    set_channel(MPI_COMM_SELF);
    for (; handle != NULL; handle = ckpt_live_next(handle)) {
        set_channel((MPI_Comm)handle);
    }
}

int ckpt_channels_all(void)
{
    struct ckpt_handle *handle = ckpt_live(CKPT_COMM);

    while (handle != NULL && ((MPI_Comm)handle)->channels[1] != NULL) {
        handle = ckpt_live_next(handle);
    }
    return twofold && handle == NULL;
}
