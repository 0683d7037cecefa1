/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * partition.h - partitioned communication (MPI 4.0, chapter 4) by way of messages.
 *
 * Each ready partition is packed and sent as a message on a communicator of our own,
 * the channel, which the application cannot see. Partitioned operations match only each
 * other, in the order of their creation. The receiver puts arrived messages into the
 * log of the channel (handles/message_log.h), and takes from there those that belong to a
 * request. So a cut finds only ordinary messages, in the network or in a log, and
 * requests in saved memory.
 */
#ifndef CKPT_PARTITION_H
#define CKPT_PARTITION_H

#include "handles/communicator.h"
#include "handles/request.h"

#include <stddef.h>

struct ckpt_partitioned {
    struct ckpt_partition_transfer transfer;
    int sends; /* 1: sends; 0: receives */
    int partitions;
    MPI_Count count;  /* elements of a partition */
    MPI_Aint extent;  /* of an element */
    size_t element;   /* bytes of one, packed */
    int at_once;      /* elements of a message */
    size_t size;      /* bytes of a partition, packed */
    int left;         /* send: partitions that are not ready */
    int messages;     /* receive: messages that came in this round, */
    size_t arrived;   /*   with so many bytes */
    size_t *filled;   /* [partitions]: send: 1 if ready; receive: bytes */
    char *stream;     /* receive: all partitions, packed */
    size_t allocated; /* bytes of this allocation */
};

/* Creates the channel; collective over MPI_COMM_WORLD. Context: normal, between
 * ckpt_begin and ckpt_end. Returns an MPI error code. */
int ckpt_partition_open(void);

/* Waits until all messages have been sent, before MPI ends. Context: normal, between
 * ckpt_begin and ckpt_end. */
void ckpt_partition_close(void);

/*
 * Completes the description of a new request (buffer, datatype, peer, tag and
 * communicator are set). Context: normal, between ckpt_begin and ckpt_end.
 * Returns an MPI error code.
 */
int ckpt_partition_describe(MPI_Request request, int sends, int partitions,
                            MPI_Count count);
void ckpt_partition_forget(MPI_Request request);

/* MPI_Start. Context: as above. */
void ckpt_partition_start(MPI_Request request);

/* MPI_Pready of one partition. Context: as above. Returns an MPI error code. */
int ckpt_partition_ready(MPI_Request request, int partition);

/* Receives the messages that have arrived; marks the request complete if that was all.
 * Context: place for lower-half calls. */
void ckpt_partition_progress(MPI_Request request);

#endif
