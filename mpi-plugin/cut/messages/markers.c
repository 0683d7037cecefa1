/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * markers.c - send and receive markers.
 */
#include "cut/messages/markers.h"

#include "base/invariant.h"
#include "handles/communicator.h"
#include "runtime/crossing.h"

#include <errno.h>

struct marker {
    uint64_t epoch;
    uint64_t count;
};

static MPI_Comm channel; /* lower */

int ckpt_markers_open(void)
{
    return ckpt_communicator_private(MPI_COMM_WORLD, &channel);
}

/* The library copies so short a message at once, so the call does not wait for
 * the receiver. */
int ckpt_marker_send(int rank, uint64_t epoch, uint64_t count)
{
    struct marker marker = {epoch, count};
    int code;

    CKPT_INVARIANT(rank >= 0 && rank < MPI_COMM_WORLD->size);
    CKPT_CALL(code, Send, &marker, (int)sizeof(marker), CKPT_LOWER(MPI_BYTE),
              rank, 0, channel);
    return code == MPI_SUCCESS ? 0 : -EIO;
}

int ckpt_marker_receive(int *rank, uint64_t *epoch, uint64_t *count)
{
    struct marker marker;
    MPI_Message message;
    MPI_Status status;
    int code, flag = 0;

    CKPT_CALL(code, Improbe, MPI_ANY_SOURCE, 0, channel, &flag, &message,
              &status);
    if (code != MPI_SUCCESS || !flag) {
        return code == MPI_SUCCESS ? 0 : -EIO;
    }
    *rank = status.MPI_SOURCE;
    CKPT_CALL(code, Mrecv, &marker, (int)sizeof(marker), CKPT_LOWER(MPI_BYTE),
              &message, &status);
    *epoch = marker.epoch;
    *count = marker.count;
    return code == MPI_SUCCESS ? 1 : -EIO;
}
