/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * message.h - sends and receives in all the ways of MPI. Each message carries
 * its number in its channel and its sender's clock, and each event is logged.
 */
#ifndef EVENTS_MESSAGE_H
#define EVENTS_MESSAGE_H

#include "pending.h"

#define TAGS            4
#define LARGEST_MESSAGE (1 << 17) /* bytes */

struct envelope {
    int peer; /* in MPI_COMM_WORLD, or MPI_ANY_SOURCE */
    enum communicator comm;
    int tag;   /* or MPI_ANY_TAG */
    int extra; /* of a message to be sent: bytes after its header */
};

enum send_way {
    SEND,
    SSEND,
    ISEND,
    ISSEND,
    ISEND_TESTED,
    SEND_WAYS
};

enum receive_way {
    RECV,
    IRECV,
    IRECV_TESTED,
    PROBE,
    MPROBE,
    IPROBE,
    IMPROBE,
    IMRECV,
    RECEIVE_WAYS
};

/* Sends a message; ISEND and ISSEND are completed before act `due`. */
void message_send(struct envelope to, enum send_way way, uint64_t due);

/* Receives a message; IRECV and IMRECV are completed before act `due`. */
void message_receive(struct envelope from, enum receive_way way, uint64_t due);

/* The total number of messages that each rank has sent to another on a
 * communicator, at the end. */
uint64_t messages_sent(enum communicator comm, int to);

/* The number of messages that this rank has received on a communicator. */
uint64_t messages_received(enum communicator comm);

/* Parts of receives: */

/* Returns a receive that is not posted yet, with room for any message. */
struct operation message_to_come(enum communicator comm, uint64_t due);
void message_post(struct operation *receive, struct envelope from);

/* Receives the message of a probe; `message` is MPI_MESSAGE_NULL if the probe
 * did not match it. Frees the buffer. */
void message_fetch(struct operation *receive, MPI_Message message,
                   const MPI_Status *found);

/* Logs a complete message. */
void message_note(const struct operation *receive, const MPI_Status *status);

#endif
