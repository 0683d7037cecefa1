/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * message_log.h - messages drained from the network at a cut.
 *
 * A drained message is kept as the packed stream that travelled, per communicator in
 * the order of arrival. It is unpacked with the receiver's datatype. Receives, probes
 * and matched probes look here first. A logged message was sent before anything that
 * is still in the lower half, and it matched none of the receives posted before it was
 * logged.
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
    int code;     /* MPI error code of its arrival, which its receive returns */
    size_t size;  /* bytes of data */
    size_t space; /* bytes allocated for data */
    void *data;
    uint64_t order;      /* order in which the library matched it, in a log file */
    const void *request; /* receive or message matched at the cut; or NULL */
    MPI_Request arrival; /* lower request while it is arriving (cut/messages/channel_recording.c) */
    struct ckpt_log_entry *next_arriving;
    MPI_Comm communicator; /* set while it is arriving */
    uint64_t waiter;       /* the synchronous send to answer, or 0; */
    int waiter_rank;       /*   rank of its sender in MPI_COMM_WORLD */
};

/* A matched message (MPI_Mprobe), in the lower half or from the log. */
struct ompi_message_t {
    struct ckpt_handle handle; /* lower == NULL: `entry` holds it */
    MPI_Comm communicator;
    MPI_Status status; /* of the probe */
    struct ckpt_log_entry *entry;
};

/* Returns an empty entry for `size` bytes, or NULL if out of memory. Context: any. */
struct ckpt_log_entry *ckpt_log_entry_new(int source, int tag, size_t size);

/*
 * Sets *entry_p to the message that a completed receive with these arguments has put
 * into its buffer. Returns 0, or -ENOMEM or -EIO with *entry_p NULL. Context: any
 * place for lower-half calls.
 */
int ckpt_log_collect(void *buffer, int count, MPI_Datatype datatype,
                     const MPI_Status *status, struct ckpt_log_entry **entry_p);

/* An entry for a message, and the lower type that describes its bytes. */
struct ckpt_log_room {
    struct ckpt_log_entry *entry;
    struct ckpt_bytes bytes;
};

/* Makes room for the message whose probe gave this status. The caller frees
 * room->bytes when the receive has begun. Returns 0, or -ENOMEM or -EIO: then there is
 * nothing to free. Context of this and the following: any place for lower-half
 * calls. */
int ckpt_log_prepare(const MPI_Status *status, struct ckpt_log_room *room);

/*
 * Matches the first message that waits on a lower communicator, and allocates its room.
 * Returns 1: the caller owns the room and must receive *lower into it. Returns 0 if no
 * message waits. After -ENOMEM or -EIO the message stays in the lower half.
 */
int ckpt_log_match_waiting(MPI_Comm channel, struct ckpt_log_room *room,
                           MPI_Message *lower);

/*
 * Receives a matched message into the room. The message is in neither half's queue, so
 * no other thread may look for it before this returns. Does not put the message into a
 * log. Frees room->bytes. Returns 0, or -EIO: then the entry has the MPI error code,
 * which the application's receive returns.
 */
int ckpt_log_receive(struct ckpt_log_room *room, MPI_Message *lower);

void ckpt_log_append(MPI_Comm comm, struct ckpt_log_entry *entry);

/* Moves every message of the present colour that waits unmatched on a communicator
 * into its log. Returns 0, -ENOMEM or -EIO. Context: place for lower-half calls.
 */
int ckpt_log_waiting(MPI_Comm comm);

/* As ckpt_log_append, for an entry with an `order`. Such entries may come in any
 * sequence. */
void ckpt_log_insert(MPI_Comm comm, struct ckpt_log_entry *entry);

/* Returns the first logged message that source and tag match, or NULL. */
struct ckpt_log_entry *ckpt_log_match(MPI_Comm comm, int source, int tag);

/* Takes an entry out of its log; the caller then owns it. */
void ckpt_log_take(MPI_Comm comm, struct ckpt_log_entry *entry);

/* Writes the status that a probe would return for the entry. */
void ckpt_log_status(const struct ckpt_log_entry *entry, MPI_Status *status);

/*
 * Unpacks a taken entry into the application's buffer and frees it. Returns
 * MPI_SUCCESS, MPI_ERR_TRUNCATE ... as the receive would have.
 */
int ckpt_log_deliver(struct ckpt_log_entry *entry, void *buffer, int count,
                     MPI_Datatype datatype, MPI_Status *status);

/* Frees an entry that was taken. */
void ckpt_log_free(struct ckpt_log_entry *entry);

/* Frees all messages of a communicator that is about to be freed. */
void ckpt_log_discard(MPI_Comm comm);

/* Sets the function to call when an entry is taken that a sender waits for (`waiter`). Called
 * once, before any message is logged. Context: normal. */
void ckpt_log_tell(void (*tell)(const struct ckpt_log_entry *entry));

/* Creates the lower communicator through which messages are unpacked; once for each
 * lower half. Returns an MPI error code. */
int ckpt_log_open(void);

/* Lets the lower half progress transfers that are under way. Context: place for
 * lower-half calls. */
void ckpt_log_progress(void);

/* Returns the number of messages and bytes in all logs. */
void ckpt_log_totals(uint64_t *messages_p, uint64_t *bytes_p);

#endif
