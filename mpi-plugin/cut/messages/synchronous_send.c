/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * synchronous_send.c - ask the receivers of synchronous sends, and answer.
 *
 * A message is named by its communicator, its sender, its tag, and the number
 * of messages with the same three that were sent after it. Such messages are
 * received in order, so if one is in the log, all later ones are. Counted from
 * the end of the log, the message has the same place at the receiver.
 */
#include "cut/messages/synchronous_send.h"

#include "base/arena.h"
#include "cut/messages/rank_cut.h"
#include "base/invariant.h"
#include "handles/channels.h"
#include "handles/kinds.h"
#include "handles/message_log.h"
#include "runtime/crossing.h"

#include <errno.h>

enum {
    QUESTION = 1,
    ANSWER
};

/* What travels. */
struct question {
    uint64_t serial; /* number of the hold; an answer repeats it */
    uint64_t epoch;
    uint64_t communicator;
    int32_t rank; /* of the sender in the communicator */
    int32_t tag;
    uint32_t later; /* number of like messages sent after it */
};

/* A received question, or an answer that is due. */
struct note {
    struct note *next;
    int from; /* rank in MPI_COMM_WORLD */
    struct question question;
};

int ckpt_synchronous_pending;
int ckpt_synchronous_used;

static MPI_Request under_way; /* linked by next_synchronous */
static uint64_t last_serial;
static struct note *questions, **last_question = &questions;
static struct note *due;
static int has_failed; /* a question or answer was not sent */
static MPI_Comm desk;  /* hidden: where questions and answers travel */

int ckpt_synchronous_open(void)
{
    return ckpt_communicator_hidden(&desk);
}

/* ---- The sender ---------------------------------------------------------- */

void ckpt_synchronous_started(MPI_Request request)
{
    request->next_synchronous = under_way;
    request->held = 0;
    request->later = 0;
    request->held_now = 0;
    under_way = request;
    ckpt_synchronous_pending++;
    ckpt_retain(request->communicator); /* its receiver may have to be asked */
}

void ckpt_synchronous_ended(MPI_Request request)
{
    CKPT_INVARIANT((under_way == NULL) == (ckpt_synchronous_pending == 0));
    MPI_Request *link = &under_way;

    while (*link != NULL && *link != request) {
        link = &(*link)->next_synchronous;
    }
    if (*link == request) {
        *link = request->next_synchronous;
        CKPT_INVARIANT(ckpt_synchronous_pending > 0);
        ckpt_synchronous_pending--;
        ckpt_drop(request->communicator);
    }
}

void ckpt_synchronous_later(MPI_Comm comm, int peer, int tag)
{
    MPI_Request request = under_way;

    for (; request != NULL; request = request->next_synchronous) {
        if (request->communicator == comm && request->peer == peer &&
            request->tag == tag) {
            request->later++;
        }
    }
}

/* The library copies so short a message at once, so the call does not wait for
 * the receiver. */
static void send_message(int to, int kind, const struct question *question)
{
    int code;

    CKPT_INVARIANT(to >= 0 && to < desk->peers);
    desk->sent[to]++;
    if (ckpt_rank_cut_open) {
        ckpt_rank_cut_sent(desk, to);
    }
    CKPT_CALL(code, Send, question, (int)sizeof(*question),
              CKPT_LOWER(MPI_BYTE), to, kind, CKPT_CHANNEL(desk));
    has_failed |= code != MPI_SUCCESS;
}

static void ask(MPI_Request request, uint64_t epoch)
{
    const MPI_Comm comm = request->communicator;
    struct question question = {.serial = ++last_serial,
                                .epoch = epoch,
                                .communicator = comm->id,
                                .rank = comm->rank,
                                .tag = request->tag,
                                .later = request->later};

    CKPT_INVARIANT(request->held == 0); /* its receiver was not asked yet */
    request->held = question.serial;
    request->held_now = 1;
    request->deferred = 0; /* the receiver's answer is decisive */
    send_message(comm->members[request->peer], QUESTION, &question);
}

/* Returns whether to ask about a send. A held send was asked about already, and
 * its receiver knows. */
static int is_open_question(MPI_Request request)
{
    return !ckpt_request_progress(request) && request->held == 0 &&
           request->peer >= 0 &&
           (request->handle.flags & CKPT_HANDLE_FREED) == 0;
}

void ckpt_synchronous_hold(uint64_t epoch)
{
    MPI_Request request = under_way;

    has_failed = 0;
    for (; request != NULL; request = request->next_synchronous) {
        if (is_open_question(request)) {
            ask(request, epoch);
        }
    }
}

void ckpt_synchronous_keep(void)
{
    MPI_Request request = under_way;

    for (; request != NULL; request = request->next_synchronous) {
        request->held_now = 0;
    }
}

static void let_complete(MPI_Request request)
{
    request->held = 0;
    request->held_now = 0;
    request->complete = request->handle.lower == NULL;
}

void ckpt_synchronous_release(void)
{
    MPI_Request request = under_way;

    for (; request != NULL; request = request->next_synchronous) {
        if (request->held_now) {
            let_complete(request);
        }
    }
}

static void take_answer(const struct question *answer)
{
    MPI_Request request = under_way;

    for (; request != NULL; request = request->next_synchronous) {
        if (request->held == answer->serial) {
            let_complete(request);
        }
    }
}

/* ---- The receiver -------------------------------------------------------- */

static int add_question(int from, const struct question *question)
{
    struct note *note = ckpt_memory_alloc(sizeof(*note));

    if (note == NULL) {
        return -ENOMEM;
    }
    CKPT_INVARIANT(*last_question == NULL);
    *note = (struct note){NULL, from, *question};
    *last_question = note;
    last_question = &note->next;
    return 0;
}

static int take_in(const struct ckpt_log_entry *entry)
{
    if (entry->code != MPI_SUCCESS) {
        return -EIO;
    }
    if (entry->tag == QUESTION) {
        return add_question(entry->source, entry->data);
    }
    take_answer(entry->data);
    return 0;
}

/* Reads the messages in the log of the desk. A message that crosses a cut is in
 * the log from when it begins to arrive; such an entry is left for later. */
static int read_log(void)
{
    struct ckpt_log_entry *entry = desk->log_first, *next;
    int error = 0;

    for (; entry != NULL && error == 0; entry = next) {
        next = entry->next;
        if (entry->arrival != NULL) {
            continue;
        }
        error = take_in(entry);
        if (error == 0) {
            ckpt_log_take(desk, entry);
            ckpt_log_free(entry);
        }
    }
    return error;
}

int ckpt_synchronous_receive(void)
{
    int error = ckpt_log_waiting(desk);

    if (error == 0) {
        error = read_log();
    }
    return error == 0 && has_failed ? -EIO : error;
}

static MPI_Comm communicator_of(uint64_t id)
{
    struct ckpt_handle *handle = ckpt_live(CKPT_COMM);

    if (id == MPI_COMM_WORLD->id) {
        return MPI_COMM_WORLD;
    }
    if (id == MPI_COMM_SELF->id) {
        return MPI_COMM_SELF;
    }
    for (; handle != NULL; handle = ckpt_live_next(handle)) {
        if (((MPI_Comm)handle)->id == id) {
            return (MPI_Comm)handle;
        }
    }
    return NULL;
}

static int is_like(const struct ckpt_log_entry *entry,
                   const struct question *question)
{
    return entry->source == question->rank && entry->tag == question->tag;
}

/* Returns the message that a question means, or NULL if it is not in the log.
 * `later` like messages follow it in the log. */
static struct ckpt_log_entry *find(const struct question *question)
{
    MPI_Comm comm = communicator_of(question->communicator);
    struct ckpt_log_entry *entry = comm == NULL ? NULL : comm->log_first;
    struct ckpt_log_entry *first = entry;
    uint32_t count = 0;

    for (; entry != NULL; entry = entry->next) {
        count += is_like(entry, question) ? 1 : 0;
    }
    for (entry = first; entry != NULL; entry = entry->next) {
        if (is_like(entry, question) && --count == question->later) {
            return entry;
        }
    }
    return NULL;
}

/* Finds the note's message in the log, to answer when the application receives
 * it. If it is not there, it was received and the answer is due. */
static void resolve(struct note *note)
{
    struct ckpt_log_entry *entry = find(&note->question);

    if (entry == NULL) {
        note->next = due;
        due = note;
        return;
    }
    entry->waiter = note->question.serial;
    entry->waiter_rank = note->from;
    ckpt_memory_free(note, sizeof(*note));
}

void ckpt_synchronous_match(uint64_t epoch, int (*has_all)(int rank))
{
    struct note **link = &questions, *note;

    while ((note = *link) != NULL) {
        if (has_all != NULL && !has_all(note->from)) {
            link = &note->next;
            continue;
        }
        *link = note->next;
        if (note->question.epoch == epoch) {
            resolve(note);
        } else { /* of an attempt that was given up */
            ckpt_memory_free(note, sizeof(*note));
        }
    }
    last_question = link;
}

void ckpt_synchronous_consumed(const struct ckpt_log_entry *entry)
{
    const struct question answer = {.serial = entry->waiter};

    send_message(entry->waiter_rank, ANSWER, &answer);
}

void ckpt_synchronous_answer(void)
{
    while (due != NULL) {
        struct note *note = due;

        due = note->next;
        send_message(note->from, ANSWER, &note->question);
        ckpt_memory_free(note, sizeof(*note));
    }
}

int ckpt_synchronous_restarted(uint64_t epoch)
{
    (void)read_log(); /* if out of memory, a sender waits for the next cut */
    ckpt_synchronous_match(epoch, NULL);
    return due != NULL;
}
