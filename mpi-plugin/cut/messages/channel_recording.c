/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * channel_recording.c - queue the messages that cross the cut, hold receives, and match them.
 */
#include "cut/messages/channel_recording.h"

#include "cut/messages/rank_cut.h"
#include "cut/messages/history.h"
#include "cut/messages/log_file.h"
#include "base/invariant.h"
#include "handles/channels.h"
#include "handles/kinds.h"
#include "handles/message_log.h"
#include "runtime/crossing.h"

#include <errno.h>

static struct ckpt_log_entry *arriving; /* linked by next_arriving */
static uint64_t order;
static int is_cut; /* take_back() runs after the cut */

/* ---- Messages of the old colour -------------------------------------------- */

static void write_to_log(MPI_Comm comm, const struct ckpt_log_entry *entry,
                         const void *request)
{
    ckpt_history_add(CKPT_SEEN_LOGGED, comm->members[entry->source],
                     entry->size);
    ckpt_log_file_write(comm, entry, request);
}

/* Finishes a message that is complete, or never will be: logs it, or fails the
 * log. */
static void arrived(struct ckpt_log_entry *entry)
{
    CKPT_INVARIANT(entry->source >= 0 && entry->source < entry->communicator->peers);
    entry->arrival = NULL;
    entry->communicator->received[entry->source]++;
    ckpt_rank_cut_received(entry->communicator, entry->source);
    if (entry->code == MPI_SUCCESS) {
        write_to_log(entry->communicator, entry, entry->request);
    } else {
        ckpt_log_file_fail(-EIO);
    }
}

/* Begins to receive a matched message into its room. Returns 0, or -EIO as
 * ckpt_log_receive(). */
static int take(MPI_Comm comm, MPI_Message *lower, struct ckpt_log_room *room)
{
    struct ckpt_log_entry *entry = room->entry;

    entry->communicator = comm;
    entry->order = ++order;
    CKPT_CALL(entry->code, Imrecv, entry->data, room->bytes.count,
              room->bytes.type, lower, (MPI_Request *)&entry->arrival);
    ckpt_bytes_free(&room->bytes);
    return entry->code == MPI_SUCCESS ? 0 : -EIO;
}

static void await(struct ckpt_log_entry *entry)
{
    entry->next_arriving = arriving;
    arriving = entry;
}

static int take_from(MPI_Comm comm)
{
    const MPI_Comm old = comm->channels[!ckpt_channels_colour()];
    struct ckpt_log_room room;
    MPI_Message lower;
    int found, error = 0;

    while (error == 0 && (found = ckpt_log_match_waiting(old, &room, &lower)) != 0) {
        if (found < 0) {
            return found;
        }
        error = take(comm, &lower, &room);
        ckpt_log_append(comm, room.entry);
        if (error == 0) {
            await(room.entry);
        } else {
            arrived(room.entry);
        }
    }
    return error;
}

static int take_all(void)
{
    struct ckpt_handle *handle = ckpt_live(CKPT_COMM);
    int error = take_from(MPI_COMM_WORLD);

    if (error == 0) {
        error = take_from(MPI_COMM_SELF);
    }
    for (; handle != NULL && error == 0; handle = ckpt_live_next(handle)) {
        error = take_from((MPI_Comm)handle);
    }
    return error;
}

static void test_arriving(void)
{
    struct ckpt_log_entry **link = &arriving;

    while (*link != NULL) {
        struct ckpt_log_entry *entry = *link;
        MPI_Status ignored;
        int flag = 0;

        CKPT_CALL(entry->code, Test, (MPI_Request *)&entry->arrival, &flag,
                  &ignored);
        if (flag || entry->code != MPI_SUCCESS) {
            *link = entry->next_arriving;
            arrived(entry);
        } else {
            link = &entry->next_arriving;
        }
    }
}

/* ---- Receives ---------------------------------------------------------------- */

void ckpt_recording_claim(MPI_Request request, struct ckpt_log_entry *entry)
{
    CKPT_INVARIANT(request->claimed == NULL || request->claimed == entry);
    request->claimed = entry;
    if (entry->arrival == NULL) {
        request->claimed = NULL;
        request->code = ckpt_log_deliver(entry, request->buffer, request->count,
                                         request->datatype, &request->status);
        request->complete = 1;
    }
}

/* Finds the first message of the new colour, from peers that are complete, that a
 * receive or probe would take. Returns 1 if there is one. */
static int find_new(MPI_Request request, MPI_Status *status)
{
    MPI_Comm comm = request->communicator;
    const int any = request->peer == MPI_ANY_SOURCE;
    const int last = any ? comm->peers - 1 : request->peer;
    int flag = 0, code = MPI_SUCCESS;

    for (int peer = any ? 0 : last; peer <= last && !flag; peer++) {
        if (ckpt_rank_cut_complete(comm, peer)) {
            CKPT_CALL(code, Iprobe, peer, request->tag, CKPT_CHANNEL(comm),
                      &flag, status);
        }
    }
    return code == MPI_SUCCESS && flag;
}

/* Returns the first held receive up to `last` for which a message is there, or NULL.
 * `last` itself may be a probe, which is not in the list. */
static MPI_Request first_served(MPI_Request last, MPI_Status *status)
{
    struct ckpt_handle *handle = ckpt_live(CKPT_REQUEST);

    for (; handle != NULL && handle != &last->handle;
         handle = ckpt_live_next(handle)) {
        MPI_Request request = (MPI_Request)handle;

        if (ckpt_request_is_held(request) && request->claimed == NULL &&
            find_new(request, status)) {
            return request;
        }
    }
    return last != NULL && find_new(last, status) ? last : NULL;
}

/*
 * As first_served(), but the found receive would also get the message if all
 * receives were posted. A message may arrive during the search and belong to an
 * earlier receive. A second search would find it. So the result is final when a
 * second search finds no earlier receive.
 */
static MPI_Request next_served(MPI_Request last, MPI_Status *status)
{
    MPI_Request found = first_served(last, status), earlier = NULL;
    MPI_Status other;

    while (found != NULL && found != earlier) {
        earlier = first_served(found, &other);
        if (earlier != found && earlier != NULL) {
            found = earlier;
            *status = other;
            earlier = NULL;
        }
    }
    return found;
}

/* Receives a message with the found source and tag. The first one below belongs to
 * this receive. */
static void receive_new(MPI_Request request, const MPI_Status *found)
{
    MPI_Comm channel = CKPT_CHANNEL(request->communicator);
    MPI_Message message;
    MPI_Status ignored;
    int code, flag;

    CKPT_CALL(code, Improbe, found->MPI_SOURCE, found->MPI_TAG, channel, &flag,
              &message, &ignored);
    if (code == MPI_SUCCESS && flag) {
        CKPT_CALL(code, Imrecv, request->buffer, request->count,
                  CKPT_LOWER(request->datatype), &message,
                  (MPI_Request *)&request->handle.lower);
    }
}

static void receive_all_new(void)
{
    MPI_Status found;
    MPI_Request request;

    while ((request = next_served(NULL, &found)) != NULL) {
        receive_new(request, &found);
    }
}

int ckpt_recording_probe(int source, int tag, MPI_Comm comm, int *flag,
                         MPI_Message *message, MPI_Status *status)
{
    struct ompi_request_t probe = {
        .request_kind = CKPT_REQUEST_RECEIVE,
        .communicator = comm,
        .peer = source,
        .tag = tag,
    };
    MPI_Status found;
    int code = MPI_SUCCESS;

    *flag = next_served(&probe, &found) == &probe;
    if (*flag && message != NULL) {
        CKPT_CALL(code, Improbe, found.MPI_SOURCE, found.MPI_TAG,
                  CKPT_CHANNEL(comm), flag, message, status);
    } else if (*flag && status != MPI_STATUS_IGNORE) {
        found.MPI_ERROR = status->MPI_ERROR;
        *status = found;
    }
    return code;
}

/* Gives a held receive the first queued message that it matches. */
static void match(MPI_Request request)
{
    MPI_Comm comm = request->communicator;
    struct ckpt_log_entry *entry = request->claimed;

    if (entry == NULL) {
        entry = ckpt_log_match(comm, request->peer, request->tag);
        if (entry != NULL) {
            ckpt_log_take(comm, entry);
        }
    }
    if (entry != NULL) {
        ckpt_recording_claim(request, entry);
    }
}

/* Calls `visit` for each active receive, in the order of their posting. */
static void each_receive(void (*visit)(MPI_Request))
{
    struct ckpt_handle *handle = ckpt_live(CKPT_REQUEST), *next;

    for (; handle != NULL; handle = next) {
        MPI_Request request = (MPI_Request)handle;

        next = ckpt_live_next(handle);
        if (request->request_kind == CKPT_REQUEST_RECEIVE && !request->complete) {
            visit(request);
        }
    }
}

static void match_if_held(MPI_Request request)
{
    if (ckpt_request_is_held(request)) {
        match(request);
    } else if (request->crossing) {
        (void)ckpt_request_progress(request);
    }
    if (request->complete && (request->handle.flags & CKPT_HANDLE_FREED) != 0) {
        ckpt_request_retire(request);
    }
}

int ckpt_recording_is_due(void)
{
    struct ckpt_handle *handle = ckpt_live(CKPT_REQUEST);

    for (; handle != NULL; handle = ckpt_live_next(handle)) {
        MPI_Request request = (MPI_Request)handle;

        if (request->request_kind == CKPT_REQUEST_RECEIVE && !request->complete &&
            (request->handle.lower == NULL || request->crossing ||
             !ckpt_rank_cut_open)) {
            return 1;
        }
    }
    return 0;
}

int ckpt_recording_turn(void)
{
    int error = take_all();

    test_arriving();
    each_receive(match_if_held);
    receive_all_new();
    return error;
}

void ckpt_recording_cancel(MPI_Request request)
{
    if (request->claimed == NULL) { /* else a message is matched with it */
        request->status = ckpt_empty_status;
        request->status._cancelled = 1;
        request->code = MPI_SUCCESS;
        request->complete = 1;
    }
}

/* ---- The cut ------------------------------------------------------------------ */

static void mark(MPI_Request request)
{
    if (request->handle.lower != NULL) {
        request->crossing = 1;
        request->order = ++order;
    }
}

void ckpt_recording_mark(void)
{
    each_receive(mark);
}

/* Takes a receive back from the lower half. It is held from now on, unless a message
 * has already matched it. */
static void take_back(MPI_Request request)
{
    MPI_Status status;
    int code, flag = 0;

    if (request->handle.lower == NULL ||
        request->crossing != is_cut) { /* of the new colour */
        return;
    }
    CKPT_CALL(code, Cancel, (MPI_Request *)&request->handle.lower);
    CKPT_CALL(code, Test, (MPI_Request *)&request->handle.lower, &flag, &status);
    if (flag && code == MPI_SUCCESS && status._cancelled) {
        ckpt_request_changes++;
        request->handle.lower = NULL;
        request->crossing = 0;
    } else if (flag || code != MPI_SUCCESS) {
        ckpt_request_completed(request, &status, code);
    }
}

/* Takes a message that MPI_Mprobe has matched and that the application has not
 * received yet. */
static int take_message(MPI_Message message)
{
    struct ckpt_log_room room;
    struct ckpt_log_entry *entry;
    MPI_Status ignored;
    int flag = 0, error = ckpt_log_prepare(&message->status, &room);

    if (error != 0) {
        return error;
    }
    entry = room.entry;
    error = take(message->communicator, (MPI_Message *)&message->handle.lower,
                 &room);
    message->entry = entry;
    entry->request = message;
    message->handle.lower = NULL;
    if (error == 0) {
        CKPT_CALL(entry->code, Test, (MPI_Request *)&entry->arrival, &flag,
                  &ignored);
    }
    if (flag || entry->code != MPI_SUCCESS) { /* its data belong into the image */
        CKPT_INVARIANT(entry->source >= 0 && entry->source < entry->communicator->peers);
        entry->arrival = NULL;
        entry->communicator->received[entry->source]++;
    } else {
        await(entry);
    }
    return entry->code == MPI_SUCCESS ? 0 : -EIO;
}

static int take_matched(void)
{
    struct ckpt_handle *handle = ckpt_live(CKPT_MESSAGE);
    int error = 0;

    for (; handle != NULL && error == 0; handle = ckpt_live_next(handle)) {
        if (((MPI_Message)handle)->entry == NULL) {
            error = take_message((MPI_Message)handle);
        }
    }
    return error;
}

/* Begins with the last receive: a message that arrives meanwhile must not find a
 * later receive posted after an earlier one was taken back. */
static void take_back_all(void)
{
    struct ckpt_handle *handle = ckpt_live_last(CKPT_REQUEST), *previous;

    for (; handle != NULL; handle = previous) {
        MPI_Request request = (MPI_Request)handle;

        previous = ckpt_live_previous(handle);
        if (request->request_kind == CKPT_REQUEST_RECEIVE && !request->complete) {
            take_back(request);
        }
    }
}

int ckpt_recording_begin(void)
{
    is_cut = 0;
    take_back_all();
    return take_matched();
}

void ckpt_recording_begin_late(void)
{
    is_cut = 1;
    take_back_all();
}

/* Recovers the packed bytes of a message from the application's receive buffer:
 * sends them to this rank itself with the receive's arguments. */
static int read_back(MPI_Request request, struct ckpt_log_entry **entry_p)
{
    const int error = ckpt_log_collect(request->buffer, request->count,
                                       request->datatype, &request->status, entry_p);

    if (error == 0) {
        (*entry_p)->order = request->order;
    }
    return error;
}

void ckpt_recording_completed(MPI_Request request)
{
    MPI_Comm comm = request->communicator;
    struct ckpt_log_entry *entry;
    int error;

    if (!request->crossing) {
        return;
    }
    request->crossing = 0;
    if (request->status._cancelled || request->status.MPI_SOURCE < 0) {
        return;
    }
    CKPT_INVARIANT(request->status.MPI_SOURCE < comm->peers);
    ckpt_rank_cut_received(comm, request->status.MPI_SOURCE);
    error = read_back(request, &entry);
    if (error != 0) {
        ckpt_log_file_fail(error);
        return;
    }
    write_to_log(comm, entry, request);
    ckpt_log_free(entry);
}

static int failed_code;

static void post(MPI_Request request)
{
    int code;

    if (ckpt_request_is_held(request) && request->claimed == NULL) {
        CKPT_CALL(code, Irecv, request->buffer, request->count,
                  CKPT_LOWER(request->datatype), request->peer, request->tag,
                  CKPT_CHANNEL(request->communicator),
                  (MPI_Request *)&request->handle.lower);
        failed_code = code != MPI_SUCCESS ? code : failed_code;
    }
}

int ckpt_recording_end(void)
{
    failed_code = MPI_SUCCESS;
    each_receive(post);
    return failed_code;
}

static int can_be_posted(MPI_Request request)
{
    MPI_Comm comm = request->communicator;
    const int any = request->peer == MPI_ANY_SOURCE;
    int complete = !request->crossing && request->claimed == NULL;

    for (int i = 0; any && complete && i < comm->peers; i++) {
        complete = ckpt_rank_cut_complete(comm, i);
    }
    return complete && (any || ckpt_rank_cut_complete(comm, request->peer));
}

void ckpt_recording_post(void)
{
    struct ckpt_handle *handle = ckpt_live(CKPT_REQUEST);
    int possible = 1;

    for (; handle != NULL && possible; handle = ckpt_live_next(handle)) {
        MPI_Request request = (MPI_Request)handle;

        possible = !(ckpt_request_is_held(request) || request->crossing) ||
                   request->request_kind != CKPT_REQUEST_RECEIVE ||
                   can_be_posted(request);
    }
    if (possible) {
        (void)ckpt_recording_end();
    }
}

int ckpt_recording_restarted(void)
{
    struct ckpt_handle *handle = ckpt_live(CKPT_MESSAGE);

    arriving = NULL;
    for (; handle != NULL; handle = ckpt_live_next(handle)) {
        MPI_Message message = (MPI_Message)handle;

        if (message->entry != NULL && message->entry->arrival != NULL) {
            message->entry = ckpt_log_bound(message);
            if (message->entry == NULL) {
                return -EBADMSG;
            }
        }
    }
    return 0;
}
