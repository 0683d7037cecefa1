/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * message_log.h - messages drained from the network at a cut.
 *
 * A drained message is kept as the packed stream that travelled, per
 * communicator in the order of arrival, and is unpacked with the receiver's
 * datatype. Receives, probes and matched probes look here first: a logged
 * message was sent before anything that is still in the lower half, and it
 * matched none of the receives posted before it was logged.
 */
#ifndef CKPT_MESSAGE_LOG_H
#define CKPT_MESSAGE_LOG_H

#include "handles/byte_type.h"
#include "handles/communicator.h"

#include <stddef.h>

struct ckpt_log_entry {
    struct ckpt_log_entry *next;
    int source; /* rank in the communicator's peers */
    int tag;
    int code;     /* MPI error code of its arrival, which its receive gives */
    size_t size;  /* bytes of data */
    size_t space; /* bytes allocated for data */
    void *data;
    uint64_t order; /* in which the library matched it, in a log file */
    const void *request; /* whose it is, if matched at the cut; or NULL */
    MPI_Request arrival; /* lower: not here in full yet (cut/intake.c) */
    struct ckpt_log_entry *next_arriving;
    MPI_Comm communicator; /* of one that is arriving */
    uint64_t waiter; /* of a synchronous send that must be answered, or 0; */
    int waiter_rank; /*   its rank in MPI_COMM_WORLD */
};

/* A matched message (MPI_Mprobe): in the lower half, or from the log. */
struct ompi_message_t {
    struct ckpt_handle handle; /* lower == NULL: `entry` holds it */
    MPI_Comm communicator;
    MPI_Status status; /* of the probe */
    struct ckpt_log_entry *entry;
};

/* An empty entry for so many bytes, or NULL if out of memory. Context: any. */
struct ckpt_log_entry *ckpt_log_entry_new(int source, int tag, size_t size);

/*
 * Makes *entry_p with the message that a completed receive with these arguments has
 * put into its buffer. 0, -ENOMEM or -EIO; then *entry_p is NULL. Context: any place
 * for lower-half calls.
 */
int ckpt_log_collect(void *buffer, int count, MPI_Datatype datatype,
                     const MPI_Status *status, struct ckpt_log_entry **entry_p);

/* An entry for a message, and how a lower receive is told of its bytes. */
struct ckpt_log_room {
    struct ckpt_log_entry *entry;
    struct ckpt_bytes bytes;
};

/* Makes room for the message that a probe has given this status of. The caller frees
 * room->bytes when the receive has begun. 0, -ENOMEM or -EIO: then there is nothing to
 * free. Context of this and the following: any place for lower-half calls. */
int ckpt_log_prepare(const MPI_Status *status, struct ckpt_log_room *room);

/*
 * Matches the first message that waits on a lower communicator, with room for it.
 * Returns 1 (*lower is to be received into the room, which belongs to the caller), 0
 * if none waits, -ENOMEM or -EIO: then the message stays in the lower half.
 */
int ckpt_log_match_waiting(MPI_Comm channel, struct ckpt_log_room *room,
                  MPI_Message *lower);

/*
 * Receives a matched message, which is in neither half's order, into the room before
 * anyone else can look for it. Does not put it into a log. Frees room->bytes.
 * Returns 0, or -EIO: the entry then has the MPI error code, which the application's
 * receive will give.
 */
int ckpt_log_receive(struct ckpt_log_room *room, MPI_Message *lower);

void ckpt_log_append(MPI_Comm comm, struct ckpt_log_entry *entry);

/* Moves every message of the present colour that waits unmatched on a
 * communicator into its log. 0, -ENOMEM or -EIO. Context: place for lower-half calls.
 */
int ckpt_log_waiting(MPI_Comm comm);

/* As ckpt_log_append for one of several with an `order`, which come in any
 * order. */
void ckpt_log_insert(MPI_Comm comm, struct ckpt_log_entry *entry);

/* The first logged message that source and tag match, or NULL. */
struct ckpt_log_entry *ckpt_log_match(MPI_Comm comm, int source, int tag);

/* Takes an entry out of its log; it then belongs to the caller. */
void ckpt_log_take(MPI_Comm comm, struct ckpt_log_entry *entry);

/* What a probe would say about it. */
void ckpt_log_status(const struct ckpt_log_entry *entry, MPI_Status *status);

/*
 * Unpacks an entry that was taken into the application's buffer and frees it.
 * Returns MPI_SUCCESS, MPI_ERR_TRUNCATE ... as the receive would have.
 */
int ckpt_log_deliver(struct ckpt_log_entry *entry, void *buffer, int count,
                     MPI_Datatype datatype, MPI_Status *status);

/* Frees an entry that was taken. */
void ckpt_log_free(struct ckpt_log_entry *entry);

/* Forgets all messages of a communicator that is going away. */
void ckpt_log_discard(MPI_Comm comm);

/* Makes the lower communicator that messages are unpacked through; once for
 * each lower half. Returns an MPI error code. */
int ckpt_log_open(void);

/* Lets the lower half work on transfers that are under way. Context: place for
 * lower-half calls. */
void ckpt_log_progress(void);

/* Messages and bytes in all logs. */
void ckpt_log_totals(uint64_t *messages_p, uint64_t *bytes_p);

#endif
