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
#include "cut/message_log.h"
#include "handles/communicator.h"
#include "handles/kinds.h"
#include "runtime/crossing.h"

#include <errno.h>
#include <string.h>

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

static MPI_Request under_way; /* linked by next_synchronous */
static uint64_t last_serial;
static struct note *questions, **last_question = &questions;
static struct note *due;
static MPI_Comm channel;   /* lower */
static uint64_t *counters; /* [world size] sent, [world size] received */

int ckpt_synchronous_open(void)
{
    return ckpt_communicator_private(MPI_COMM_WORLD, &channel);
}

/* ---- The sender ---------------------------------------------------------- */

static int used;

int ckpt_synchronous_used(void)
{
    return used;
}

void ckpt_synchronous_announce(void)
{
    used = 1;
}

void ckpt_synchronous_started(MPI_Request request)
{
    used = 1;
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

static int have_counters(void)
{
    const size_t size = 2 * (size_t)MPI_COMM_WORLD->size * sizeof(*counters);

    if (counters == NULL) {
        counters = ckpt_memory_alloc(size);
        if (counters != NULL) {
            memset(counters, 0, size);
        }
    }
    return counters != NULL;
}

static void send_message(int to, int kind, const struct question *question)
{
    int code;

    CKPT_CALL(code, Send, question, (int)sizeof(*question), CKPT_LOWER(MPI_BYTE),
              to, kind, channel);
    if (code == MPI_SUCCESS) {
        counters[to]++;
    }
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
    send_message(comm->members[request->peer], QUESTION, &question);
}

int ckpt_synchronous_hold(uint64_t epoch)
{
    MPI_Request request = under_way;

    for (; request != NULL; request = request->next_synchronous) {
        const int freed = (request->handle.flags & CKPT_HANDLE_FREED) != 0;

        (void)ckpt_request_progress(request);
        if (request->handle.lower == NULL || freed) {
            continue; /* complete below, perhaps held before */
        }
        if (!have_counters()) {
            return -ENOMEM;
        }
        ask(request, epoch);
    }
    return 0;
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
    request->complete = request->handle.lower == NULL;
}

void ckpt_synchronous_release(void)
{
    MPI_Request request = under_way;

    for (; request != NULL; request = request->next_synchronous) {
        if (request->held_now) {
            request->held_now = 0;
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

int ckpt_synchronous_receive(void)
{
    struct question question;
    MPI_Message message;
    MPI_Status status;
    int code, flag = 1;

    for (;;) { /* matched: several threads may be here (runtime/lane.h) */
        CKPT_CALL(code, Improbe, MPI_ANY_SOURCE, MPI_ANY_TAG, channel, &flag,
                  &message, &status);
        if (code != MPI_SUCCESS || !flag) {
            return 0;
        }
        if (!have_counters()) {
            return -ENOMEM;
        }
        CKPT_CALL(code, Mrecv, &question, (int)sizeof(question),
                  CKPT_LOWER(MPI_BYTE), &message, MPI_STATUS_IGNORE);
        counters[MPI_COMM_WORLD->size + status.MPI_SOURCE]++;
        if (status.MPI_TAG == ANSWER) {
            take_answer(&question);
        } else if (add_question(status.MPI_SOURCE, &question) != 0) {
            return -ENOMEM;
        }
    }
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

void ckpt_synchronous_match(uint64_t epoch)
{
    struct note *note = questions, *next;

    for (; note != NULL; note = next) {
        const struct question *question = &note->question;
        struct ckpt_log_entry *entry = find(question);

        next = note->next;
        if (question->epoch == epoch && entry != NULL) {
            entry->waiter = question->serial;
            entry->waiter_rank = note->from;
        } else if (question->epoch == epoch) {
            note->next = due;
            due = note;
            continue;
        }
        ckpt_memory_free(note, sizeof(*note));
    }
    questions = NULL;
    last_question = &questions;
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

void ckpt_synchronous_counters(struct ckpt_peer *peers, int rank_count)
{
    for (int i = 0; counters != NULL && i < rank_count; i++) {
        peers[i].sent += counters[i];
        peers[i].received += counters[rank_count + i];
    }
}
