/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * synchronous_send.c - ask the receivers of synchronous sends, and answer.
 *
 * How a message is named: by its communicator, sender, tag, and the number of
 * messages with these that were sent after it. Such messages are received in
 * order, so if one is in the log, all later ones are: counted from the end of
 * the log it has the same place at the receiver.
 */
#include "cut/synchronous_send.h"

#include "base/arena.h"
#include "cut/epoch.h"
#include "cut/message_log.h"
#include "handles/channels.h"
#include "handles/kinds.h"
#include "runtime/crossing.h"

#include <errno.h>

enum { QUESTION = 1, ANSWER };

/* What travels. */
struct question {
    uint64_t serial; /* of the hold; an answer repeats it */
    uint64_t epoch;
    uint64_t communicator;
    int32_t rank; /* of the sender in the communicator */
    int32_t tag;
    uint32_t later; /* like messages sent after it */
};

/* A question that was received, or an answer that is due. */
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
static int has_failed; /* to send a question or an answer, in this attempt */
static MPI_Comm desk; /* hidden: where questions and answers travel */

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
    MPI_Request *link = &under_way;

    while (*link != NULL && *link != request) {
        link = &(*link)->next_synchronous;
    }
    if (*link == request) {
        *link = request->next_synchronous;
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

/* So short a message is copied by the library at once: it waits for nobody. */
static void send_message(int to, int kind, const struct question *question)
{
    int code;

    desk->sent[to]++;
    if (ckpt_epoch_open) {
        ckpt_epoch_sent(desk, to);
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

    request->held = question.serial;
    request->held_now = 1;
    request->withheld = 0; /* the receiver knows better */
    send_message(comm->members[request->peer], QUESTION, &question);
}

/* One that is held already has been asked for, and its receiver knows. */
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

/* Reads what is in the log of the desk; of what crosses a cut, the log takes
 * note when it begins to arrive. */
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

/* The message that a question means, if it is in the log: the one after which
 * there are as many like it as the question says. */
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

/* Its message is in the log, to be answered when it is taken out; or it was
 * received. */
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
    (void)read_log(); /* without memory, some sender waits for the next cut */
    ckpt_synchronous_match(epoch, NULL);
    return due != NULL;
}
