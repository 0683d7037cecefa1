/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank_cut.c - this rank's cut, and the time until the checkpoint is over.
 */
#include "cut/messages/rank_cut.h"

#include "base/arena.h"
#include "base/invariant.h"
#include "base/text.h"
#include "cut/messages/channel_recording.h"
#include "cut/messages/history.h"
#include "cut/messages/log_file.h"
#include "cut/messages/markers.h"
#include "cut/messages/report.h"
#include "cut/messages/synchronous_send.h"
#include "handles/channels.h"
#include "handles/kinds.h"
#include "link/agent_link.h"
#include "link/rank_page.h"
#include "runtime/crossing.h"
#include "runtime/uncovered.h"
#include "sys/syscall.h"

#include <errno.h>

#define UNTOLD  (~0ull)
#define UNKNOWN (~0ull)

static struct ckpt_rank_cut_peer *peers; /* [world size] */
static uint64_t epoch;
static enum ckpt_cut kind;
static int synchronous;                  /* some rank uses synchronous sends */
static uint64_t sent_before = UNKNOWN;   /* messages, at the last cut that was closed */
static int unfinished;                   /* cut inside a collective: lower-half calls are due */
static int answered;                     /* LOGGED was sent */
static uint64_t told_complete, told_all; /* by COMPLETE: ckpt_cut_done(), `all` */
static int swept;                        /* old_expected is known */
static uint64_t old_expected;            /* messages to this rank, from all */
static uint64_t old_received;            /* old-colour messages received so far */

/* ---- Before ------------------------------------------------------------------ */

static int is_pending(MPI_Request request)
{
    return !request->complete && request->request_kind == CKPT_REQUEST_FILE;
}

uint64_t ckpt_rank_cut_needs(void)
{
    struct ckpt_handle *handle = ckpt_live(CKPT_REQUEST);
    uint64_t needs = 0;

    needs |= ckpt_channels_all() ? 0 : CKPT_NEEDS_CHANNELS;
    needs |= ckpt_live(CKPT_WIN) == NULL && ckpt_independent == NULL
                 ? 0
                 : CKPT_NEEDS_WINDOWS;
    needs |= ckpt_live(CKPT_FILE) == NULL ? 0 : CKPT_NEEDS_FILES;
    needs |= ckpt_multiple ? CKPT_NEEDS_THREADS : 0;
    for (; handle != NULL; handle = ckpt_live_next(handle)) {
        needs |= is_pending((MPI_Request)handle) ? CKPT_NEEDS_PENDING : 0;
    }
    return needs;
}

int ckpt_rank_cut_has_sent(void)
{
    const struct ckpt_peer *counted = ckpt_page_peers(ckpt_rank_page());
    uint64_t sent = 0;

    ckpt_communicators_count(ckpt_page_peers(ckpt_rank_page()),
                             MPI_COMM_WORLD->size);
    for (int i = 0; i < MPI_COMM_WORLD->size; i++) {
        sent += counted[i].sent;
    }
    return sent != sent_before;
}

/* ---- The cut ------------------------------------------------------------------ */

struct ckpt_rank_cut_peer *ckpt_rank_cut_peer(int rank)
{
    CKPT_INVARIANT(peers != NULL && rank >= 0 && rank < MPI_COMM_WORLD->size);
    return &peers[rank];
}

static int make_peers(void)
{
    if (peers == NULL) {
        peers = ckpt_memory_alloc((size_t)MPI_COMM_WORLD->size * sizeof(*peers));
    }
    return peers == NULL ? -ENOMEM : 0;
}

static void count_peers(void)
{
    const int size = MPI_COMM_WORLD->size;
    struct ckpt_peer *counted = ckpt_page_peers(ckpt_rank_page());

    ckpt_communicators_count(counted, size);
    CKPT_INVARIANT(size == (int)ckpt_rank_page()->rank_count);
    for (int i = 0; i < size; i++) {
        peers[i] = (struct ckpt_rank_cut_peer){
            .cut_sent = counted[i].sent, .old_received = counted[i].received};
    }
    old_received = 0;
    for (int i = 0; i < size; i++) {
        old_received += peers[i].old_received;
    }
    peers[MPI_COMM_WORLD->rank].has_told = 1;
    peers[MPI_COMM_WORLD->rank].was_told = 1;
    peers[MPI_COMM_WORLD->rank].expected = peers[MPI_COMM_WORLD->rank].cut_sent;
}

/* Records an error of a step without which the log is incomplete. */
static void require(int error)
{
    if (error != 0) {
        ckpt_log_file_fail(error);
    }
}

static void tell(int rank, enum ckpt_seen_kind reason)
{
    CKPT_INVARIANT(ckpt_rank_cut_open && !peers[rank].was_told);
    peers[rank].was_told = 1;
    ckpt_history_add(reason, rank, peers[rank].cut_sent);
    require(ckpt_marker_send(rank, epoch, peers[rank].cut_sent));
}

/* Sends a marker on each channel that has been used (Plank 1993, section 2.5). */
static void send_markers(void)
{
    const int size = kind == CKPT_CUT_MARKERS ? MPI_COMM_WORLD->size : 0;

    for (int i = 0; i < size; i++) {
        if (peers[i].cut_sent > 0 && !peers[i].was_told) {
            tell(i, CKPT_SEEN_MARKER_SENT);
        }
    }
}

static uint64_t sent_by_cut(void)
{
    uint64_t sent = 0;

    for (int i = 0; i < MPI_COMM_WORLD->size; i++) {
        sent += peers[i].cut_sent;
    }
    return sent;
}

static uint64_t channels_used(void)
{
    uint64_t used = 0;

    for (int i = 0; i < MPI_COMM_WORLD->size; i++) {
        used += peers[i].cut_sent > 0;
    }
    return used;
}

void ckpt_rank_cut_describe_cut(struct ckpt_cut_report *cut)
{
    *cut = (struct ckpt_cut_report){.kind = CKPT_CUT_NONE};
    if (ckpt_rank_cut_open) {
        cut->kind = kind;
        cut->channels = kind == CKPT_CUT_MARKERS ? channels_used() : 0;
        cut->has_sent = kind == CKPT_CUT_QUIET && sent_by_cut() != sent_before;
    }
}

uint64_t ckpt_rank_cut_last(void)
{
    return epoch;
}

int ckpt_rank_cut_cut(const struct ckpt_message *message, int inside,
                      struct ckpt_failure *failure)
{
    int error;

    if (make_peers() != 0) { /* the rank keeps the old colour, and its receives */
        return ckpt_fail(failure, -ENOMEM, "no memory for the counts of messages");
    }
    error = ckpt_log_file_open(message->text, failure);
    if (!inside && ckpt_recording_begin() != 0) {
        error = ckpt_fail(failure, -ENOMEM, "no memory for the message log");
    }
    if (!inside) { /* a rank inside a collective has none under way */
        ckpt_synchronous_hold(message->epoch);
        ckpt_synchronous_keep();
    }
    count_peers();
    ckpt_history_begin();
    ckpt_recording_mark();
    ckpt_channels_turn();
    CKPT_INVARIANT(epoch != message->epoch); /* see ckpt_is_cut() */
    epoch = message->epoch;
    kind = (enum ckpt_cut)message->as.cut.kind;
    synchronous = message->as.cut.synchronous != 0;
    unfinished = inside;
    answered = 0;
    told_complete = told_all = 0;
    swept = 0;
    ckpt_rank_cut_open = 1;
    if (!inside) {
        send_markers();
    }
    return error;
}

/* ---- The time after it -------------------------------------------------------- */

void ckpt_rank_cut_sent(MPI_Comm comm, int peer)
{
    const int rank = peer < 0 || peer >= comm->peers ? -1 : comm->members[peer];

    CKPT_INVARIANT(peers != NULL && rank < MPI_COMM_WORLD->size);
    if (rank >= 0 && !peers[rank].was_told) {
        tell(rank, CKPT_SEEN_FIRST_USE_SENT);
    }
}

void ckpt_rank_cut_received(MPI_Comm comm, int source)
{
    CKPT_INVARIANT(peers != NULL && source >= 0 && source < comm->peers);
    peers[comm->members[source]].old_received++;
    old_received++;
}

static int is_complete_with(const struct ckpt_rank_cut_peer *peer)
{
    return peer->has_told && peer->old_received == peer->expected;
}

/* A sweep gives no counts per peer, only the total. That suffices: no peer can
 * deliver more messages than it has sent. */
static int has_all_of_sweep(void)
{
    return swept && old_received == old_expected;
}

static int has_all_from(int rank)
{
    return has_all_of_sweep() || is_complete_with(&peers[rank]);
}

int ckpt_rank_cut_complete(MPI_Comm comm, int peer)
{
    return has_all_from(comm->members[peer]);
}

static void take_questions(void)
{
    const int error = ckpt_synchronous_receive();

    require(error == -ENOMEM ? 0 : error); /* -ENOMEM: the next turn retries */
    ckpt_synchronous_match(epoch, has_all_from);
    ckpt_synchronous_answer();
}

/* Receives markers, and ignores those of an earlier checkpoint, which did not need
 * them. */
static void receive_markers(void)
{
    uint64_t of, count;
    int rank, found;

    while ((found = ckpt_marker_receive(&rank, &of, &count)) > 0) {
        if (of == epoch) {
            CKPT_INVARIANT(rank >= 0 && rank < MPI_COMM_WORLD->size);
            ckpt_history_add(CKPT_SEEN_MARKER_RECEIVED, rank, count);
            peers[rank].expected = count;
            peers[rank].has_told = 1;
        }
    }
    require(found);
}

void ckpt_rank_cut_counts(void)
{
    const struct ckpt_peer *counted = ckpt_page_peers(ckpt_rank_page());

    for (int i = 0; ckpt_rank_cut_open && i < MPI_COMM_WORLD->size; i++) {
        peers[i].expected = counted[i].expected;
        peers[i].has_told = 1;
    }
    told_complete = UNTOLD; /* the sender of COUNTS expects COMPLETE */
}

void ckpt_rank_cut_swept(uint64_t messages)
{
    if (ckpt_rank_cut_open) {
        old_expected = messages;
        swept = 1;
    }
}

static uint64_t markers_complete(void)
{
    uint64_t count = 0;

    for (int i = 0; i < MPI_COMM_WORLD->size; i++) {
        count += is_complete_with(&peers[i]) && peers[i].expected > 0;
    }
    return count;
}

/* Returns whether all old messages are here: by the sweep, or by COUNTS if the agents
 * could not sweep. */
static int has_all(void)
{
    int all = 1;

    for (int i = 0; i < MPI_COMM_WORLD->size && all; i++) {
        all = is_complete_with(&peers[i]);
    }
    return all || has_all_of_sweep();
}

static void tell_complete(void)
{
    struct ckpt_message message = {.type = CKPT_MSG_COMPLETE, .epoch = epoch};
    struct ckpt_msg_complete *complete = &message.as.complete;

    complete->kind = kind;
    complete->channels = kind == CKPT_CUT_MARKERS ? markers_complete() : 0;
    complete->all = (uint64_t)has_all();
    if (ckpt_cut_done(complete) != told_complete || complete->all != told_all) {
        told_all = complete->all;
        told_complete = ckpt_cut_done(complete);
        (void)ckpt_agent_send(&message, -1);
    }
}

static void answer_close(void)
{
    struct ckpt_message message = {.type = CKPT_MSG_LOGGED, .epoch = epoch};
    struct ckpt_failure failure = {0};

    answered = 1;
    sent_before = sent_by_cut(); /* all these messages have been received */
    if (ckpt_log_file_close(&message.as.total.messages, &message.as.total.bytes, &failure) != 0 ||
        ckpt_unsound_refuse(&failure) != 0) {
        ckpt_report_refusal(&failure);
    } else {
        (void)ckpt_agent_send(&message, -1);
    }
}

void ckpt_rank_cut_turn(void)
{
    CKPT_INVARIANT(ckpt_rank_cut_open);
    if (unfinished) {
        unfinished = 0;
        ckpt_recording_begin_late();
        send_markers();
    }
    receive_markers();
    require(ckpt_recording_turn());
    take_questions();
    if (!answered) {
        tell_complete();
    } else {
        ckpt_rank_cut_open = 0;     /* a receive that cannot be posted now */
        (void)ckpt_recording_end(); /* reports that in its wait */
    }
}

/* A question belongs to the old colour. When all old messages are here at a turn, all
 * questions are answered or wait for the application. */
int ckpt_rank_cut_may_be_asked(void)
{
    return ckpt_rank_cut_open && synchronous && !told_all;
}

int ckpt_rank_cut_is_closing(void)
{
    return ckpt_rank_cut_open && answered;
}

void ckpt_rank_cut_close(int inside)
{
    if (!ckpt_rank_cut_open) {
        return;
    }
    if (!inside) {
        receive_markers(); /* COUNTS may have come first: record the markers, too */
    }
    answer_close();
    if (!inside) {
        ckpt_rank_cut_turn();
    } else if (!ckpt_recording_is_due()) { /* the rank can be cut again where it is */
        unfinished = 0;
        ckpt_rank_cut_open = 0;
    }
}

/* ---- Restart ------------------------------------------------------------------- */

static const void *loaded;
static uint64_t loaded_size;

void ckpt_rank_cut_restarted(const void *log, uint64_t size)
{
    ckpt_rank_cut_open = 0;
    epoch = 0;
    unfinished = 0;
    ckpt_log_file_forget();
    loaded = log;
    loaded_size = size;
}

int ckpt_rank_cut_reload(struct ckpt_failure *failure)
{
    int error = ckpt_log_load(loaded, loaded_size, failure);

    if (loaded != NULL) {
        (void)ckpt_sys_munmap((void *)loaded, loaded_size);
        loaded = NULL;
    }
    if (error == 0 && ckpt_recording_restarted() != 0) {
        error = ckpt_refuse(failure, CKPT_REFUSAL_INTERNAL_ERROR, -EBADMSG,
                            "a message is not in the log");
    }
    return error;
}
