/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * keep.c - independent checkpoints.
 */
#include "independent/keep.h"

#include "ckpt/failure.h"
#include "cut/agent_link.h"
#include "cut/answer.h"
#include "cut/attach.h"
#include "cut/process_image.h"
#include "cut/rank_page.h"
#include "cut/report.h"
#include "cut/service.h"
#include "files/files.h"
#include "handles/kinds.h"
#include "independent/delivery.h"
#include "independent/direct.h"
#include "independent/expense.h"
#include "independent/fault.h"
#include "independent/interval.h"
#include "independent/log_limit.h"
#include "independent/page.h"
#include "independent/private_memory.h"
#include "independent/replay.h"
#include "independent/staging.h"
#include "runtime/crossing.h"
#include "runtime/runtime.h"
#include "sys/syscall.h"
#include "task/frozen_copy.h"
#include "task/threads.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND         UINT64_C(1000000000)
#define LONGEST        (10 * SECOND) /* between two, of a rank that does anything */
#define SHARE          20 /* of the time at most goes into them: one part of so many */
#define FREEZE_TIMEOUT_MS 1000
#define LEAST_LOGGED   (UINT64_C(1) << 20)

static struct {
    int taken;          /* in this launch */
    uint64_t at;        /* CLOCK_MONOTONIC, nanoseconds */
    uint64_t took;      /* ns: how long the last one took */
    uint64_t ever;      /* what the log had seen by then */
    uint64_t uncovered; /* what could not be replayed by then */
    uint64_t wanted;    /* how often others had asked by then */
    uint64_t invitations; /* and had invited all */
    uint64_t due_at;    /* when one was due, which waits for a barrier; 0: none is */
    uint64_t due;       /* what had been logged by then */
    int has_met;        /* others, in a barrier or fence, since */
    int has_invited;    /* them, since */
} last;

static uint64_t wanted; /* how often others had asked when this attempt began */

/* ---- When ---------------------------------------------------------------------- */

/* A tenth of the memory of this rank's windows (Sultan 2004, table 4.1), but no less than
 * is worth it, and no more than logs have room for. */
static uint64_t much(void)
{
    const uint64_t most = ckpt_log->writes.capacity / 4;
    uint64_t bytes = 0;

    for (MPI_Win win = ckpt_independent_first(); win != NULL;
         win = ckpt_independent_next(win)) {
        bytes += win->shared->segment[win->comm->rank].size;
    }
    bytes = bytes / 10 < LEAST_LOGGED ? LEAST_LOGGED : bytes / 10;
    return bytes < most ? bytes : most;
}

static uint64_t logged(void)
{
    return ckpt_log->ever - last.ever;
}

/* A rank that takes a checkpoint has the others wait in the next barrier. So those that are
 * near to one take it behind the same barrier as the first one (Sultan 2004, section 4.7, on
 * Barnes); where there are barriers, one is worth waiting for. */
static int is_aligned(void)
{
    static int answer = -1;
    const char *text;

    if (answer < 0) {
        text = ckpt_runtime_getenv("CKPT_BARRIER_ALIGNED");
        answer = text == NULL || strcmp(text, "no") != 0;
    }
    return answer;
}

static int is_reason(uint64_t time)
{
    return !last.taken || ckpt_independent_self->uncovered != last.uncovered ||
           ckpt_independent_self->wanted != last.wanted || time - last.at > LONGEST;
}

static int is_due_with_others(void)
{
    return __atomic_load_n(&ckpt_independent->invitations, __ATOMIC_ACQUIRE) !=
               last.invitations &&
           logged() > much() / 2;
}

static int is_rested(uint64_t time)
{
    return !last.taken || time - last.at > SHARE * last.took;
}

static int is_due(uint64_t time)
{
    return (is_reason(time) || logged() > much()) && is_rested(time);
}

/* For one that is due: where there are barriers the next one is waited for, but not until as
 * much has been logged again, or as much time has gone by, as between two checkpoints. */
static int has_waited(uint64_t time)
{
    if (!last.has_met || !is_aligned()) {
        return 1;
    }
    if (last.due_at == 0) {
        last.due_at = time;
        last.due = logged();
    }
    return logged() - last.due > much() || time - last.due_at > SHARE * last.took;
}

void ckpt_keep_invite(void)
{
    if (!ckpt_replaying && !last.has_invited && is_aligned() &&
        is_due(ckpt_expense_clock())) {
        last.has_invited = 1;
        (void)__atomic_add_fetch(&ckpt_independent->invitations, 1, __ATOMIC_ACQ_REL);
    }
}

/* Its own windows can be replayed, others cannot: all that this rank does there would be
 * done once more, or with memory as it is then. */
static int is_covered(struct ckpt_failure *failure)
{
    const MPI_Win win = ckpt_independent_uncovered();
    char site[256];

    if (win == NULL) {
        return 1;
    }
    ckpt_site_name(win->handle.site, site, sizeof(site));
    (void)ckpt_fail(failure, -ENOTSUP, "it has a window of %s, called at %s",
                    win->handle.creator, site);
    return 0;
}

/* Whether a copy of this rank could be saved and restarted. Requests that are under way
 * are known to the lower half alone. What is staged would have to be delivered first, in
 * intervals that a replay knows nothing of, if the rank is killed before there is a copy. */
static int is_possible(void)
{
    return ckpt_staged_count == 0 && ckpt_service_is_free() && ckpt_live(CKPT_REQUEST) == NULL &&
           ckpt_first_unsavable() == NULL && ckpt_live(CKPT_FILE) == NULL;
}

/* ---- How ------------------------------------------------------------------------- */

static void take_own_memory(void)
{
    for (MPI_Win win = ckpt_independent_first(); win != NULL;
         win = ckpt_independent_next(win)) {
        ckpt_record_take(win, ckpt_own_piece(win));
    }
}

static void give_own_memory(void)
{
    for (MPI_Win win = ckpt_independent_first(); win != NULL;
         win = ckpt_independent_next(win)) {
        ckpt_record_give(win, ckpt_own_piece(win));
    }
}

/* The process is described in its own memory, and so in that of its copy. */
static int make_copy(struct ckpt_context *here, struct ckpt_message *message,
                     struct ckpt_frozen_copy *copy, struct ckpt_failure *failure)
{
    struct ckpt_snapshot *snapshot;
    int error = ckpt_recipes_record(failure);

    if (error == 0) {
        error = ckpt_threads_freeze(FREEZE_TIMEOUT_MS, failure);
    }
    if (error != 0) {
        return error;
    }
    ckpt_files_allow_mappings(0); /* the copy must not see what becomes of the files */
    error = ckpt_process_image(here, &snapshot, failure);
    ckpt_files_allow_mappings(1);
    if (error == 0) {
        error = ckpt_frozen_copy_make(copy, ckpt_agent_pid(), failure);
    }
    ckpt_threads_thaw();
    message->arg[0] = (uint64_t)copy->pid;
    message->arg[1] = (uint64_t)(uintptr_t)snapshot;
    return error;
}

/* What is logged from now on counts. Without a copy the one before remains, and what it
 * lacks. To wait for the memory may have taken long: a checkpoint of all may have begun. */
static int copy_memory_and_process(struct ckpt_context *here, struct ckpt_message *message,
                                   struct ckpt_frozen_copy *copy,
                                   struct ckpt_failure *failure)
{
    struct ckpt_independent_rank *self = ckpt_independent_self;
    uint64_t lost;
    int error = -EAGAIN;

    take_own_memory();
    lost = __atomic_exchange_n(&self->lost, 0, __ATOMIC_ACQ_REL);
    if (is_possible() && ckpt_direct_is_quiet()) {
        ckpt_replay_remember();
        error = make_copy(here, message, copy, failure);
    }
    if (error != 0 && lost) {
        self->lost = lost;
    }
    give_own_memory();
    return error;
}

/* For tests: others may hear late what is in a checkpoint, at one of ten. That costs room in
 * their logs, and nothing else (Sultan 2004, section 4.5.5). */
static int is_told(void)
{
    static int seldom = -1;
    const char *fault;

    if (seldom < 0) {
        fault = ckpt_runtime_getenv("CKPT_FAULT");
        seldom = fault != NULL && strcmp(fault, "rank-tells-seldom") == 0;
    }
    return !seldom || ckpt_independent_self->kept % 10 == 1;
}

/* V of each window: what others need not keep for this rank. */
static void tell_seen(void)
{
    for (MPI_Win win = ckpt_independent_first(); win != NULL;
         win = ckpt_independent_next(win)) {
        for (int i = 0; i < win->comm->size; i++) {
            ckpt_record_pair(win->independent->record, i, win->comm->rank)->kept =
                ckpt_private_seen(win, i);
        }
        ckpt_independent_self->control_bytes += (uint64_t)win->comm->size * sizeof(uint64_t);
    }
}

/* Tells of it, and lets go of what only its predecessors needed: events before it (Sultan
 * 2004, lemma 3), and what others know to be in it (theorem 1). */
static void publish(struct ckpt_message *message, int connection)
{
    struct ckpt_independent_rank *self = ckpt_independent_self;

    self->kept++;
    self->kept_interval = ckpt_time[ckpt_time_rank];
    self->kept_uncovered = self->uncovered;
    self->kept_wanted = wanted;
    message->arg[2] = self->kept;
    message->arg[3] = self->kept_interval;
    self->control_bytes += sizeof(self->kept) + sizeof(self->kept_interval) +
                           sizeof(self->kept_uncovered);
    (void)ckpt_agent_send(message, connection);
    ckpt_rank_fault_kill(CKPT_FAULT_AT_KEPT);
    if (is_told()) {
        tell_seen();
    }
    ckpt_rank_fault_kill(CKPT_FAULT_AT_TRIM);
    ckpt_log_trim(&ckpt_log->events, ckpt_log->events.tail);
    ckpt_writes_trim();
}

/* 0, or -errno: there is none. A restart from the copy returns 1. */
static int keep(struct ckpt_failure *failure)
{
    static struct ckpt_context here;
    struct ckpt_message message = {.type = CKPT_MSG_KEPT};
    struct ckpt_frozen_copy copy = {.pid = 0, .connection = -1};
    int error;

    if (ckpt_private_prepare() != 0) {
        return ckpt_fail(failure, -ENOMEM, "no memory for a copy of its windows");
    }
    ckpt_publish_counters();
    if (ckpt_context_capture(&here) != 0) {
        return 1;
    }
    error = copy_memory_and_process(&here, &message, &copy, failure);
    if (error == 0) {
        ckpt_rank_fault_kill(CKPT_FAULT_AT_COPY);
        publish(&message, copy.connection);
        ckpt_sys_close(copy.connection);
    }
    ckpt_private_dismiss();
    return error;
}

static void note(uint64_t began)
{
    last.taken = 1;
    last.at = ckpt_expense_clock();
    last.took = last.at - began;
    ckpt_independent_self->keeping_ns += last.took;
    last.ever = ckpt_log->ever;
    last.uncovered = ckpt_independent_self->uncovered;
    last.wanted = wanted;
    last.invitations = __atomic_load_n(&ckpt_independent->invitations, __ATOMIC_ACQUIRE);
    last.has_met = last.has_invited = 0;
    last.due_at = 0;
}

/* Once in a launch: a program that cannot be saved at one time cannot be at another. */
static void tell(int error, const struct ckpt_failure *failure)
{
    static int told;

    if (error < 0 && error != -EAGAIN && !told) {
        told = 1;
        fprintf(stderr, "ckpt: rank %d takes no independent checkpoint: %s\n",
                ckpt_time_rank, failure->text);
    }
}

/* Now, if it can be. Not while the memory has direct puts that are not delivered: what is to
 * come from them is not to be seen in a replay. Then others are asked to deliver, and to
 * stage until there is a checkpoint; it is taken when this rank synchronises after that. */
static void take(void)
{
    struct ckpt_failure failure = {""};
    uint64_t began;
    int error;

    if (!ckpt_direct_is_quiet()) {
        ckpt_direct_ask(1);
        return;
    }
    began = ckpt_expense_clock();
    wanted = __atomic_load_n(&ckpt_independent_self->wanted, __ATOMIC_ACQUIRE);
    error = is_covered(&failure) ? keep(&failure) : -ENOTSUP;
    if (error == 1) {
        ckpt_state = CKPT_STATE_CRITICAL; /* as it was when this was captured */
        ckpt_replay_begin();
        return;
    }
    ckpt_direct_ask(0);
    note(began); /* also if there is none: not again at once */
    last.taken = error != -EAGAIN;
    tell(error, &failure);
}

void ckpt_keep_if_due(void)
{
    const uint64_t time = ckpt_expense_clock();

    ckpt_log_limit_look();
    if (!ckpt_replaying && is_due(time) && has_waited(time) && is_possible()) {
        take();
    }
}

void ckpt_keep_if_due_with_others(void)
{
    const uint64_t time = ckpt_expense_clock();

    if (!is_aligned()) {
        ckpt_keep_if_due();
        return;
    }
    last.has_met = 1;
    ckpt_log_limit_look();
    if (!ckpt_replaying && (is_due(time) || is_due_with_others()) && is_possible()) {
        take();
    }
}

void ckpt_keep_restarted(void)
{
    struct ckpt_independent_rank *self = ckpt_independent_self;

    self->uncovered_done = self->uncovered; /* a collective may be entered once more */
    last.taken = 0;
    last.took = 0;
    ckpt_rank_fault = CKPT_FAULT_NOWHERE; /* once is enough */
}
