/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * keep.c - take independent checkpoints.
 */
#include "independent/keep.h"

#include "base/invariant.h"
#include "ckpt/failure.h"
#include "cut/image/process_image.h"
#include "cut/messages/report.h"
#include "cut/service/answer.h"
#include "cut/service/attach.h"
#include "cut/service/service.h"
#include "files/files.h"
#include "handles/kinds.h"
#include "independent/delivery.h"
#include "independent/direct.h"
#include "independent/fault_injection.h"
#include "independent/interval.h"
#include "independent/log_limit.h"
#include "independent/overhead.h"
#include "independent/page.h"
#include "independent/private_memory.h"
#include "independent/replay.h"
#include "independent/staging.h"
#include "link/agent_link.h"
#include "link/rank_page.h"
#include "runtime/crossing.h"
#include "runtime/runtime.h"
#include "sys/syscall.h"
#include "process/frozen_copy.h"
#include "task/threads.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND            UINT64_C(1000000000)
#define LONGEST           (10 * SECOND) /* between two, unless the rank is idle */
#define SHARE             20            /* at most one part in SHARE of the time */
#define FREEZE_TIMEOUT_MS 1000
#define LEAST_LOGGED      (UINT64_C(1) << 20)

static struct {
    int taken;            /* 0: none in this launch, or the last try got -EAGAIN */
    uint64_t at;          /* CLOCK_MONOTONIC, nanoseconds */
    uint64_t took;        /* ns: how long the last one took */
    uint64_t ever;        /* bytes that had been logged by then */
    uint64_t uncovered;   /* unrepeatable operations by then */
    uint64_t wanted;      /* requests of other ranks by then */
    uint64_t invitations; /* invitations of all ranks by then */
    uint64_t due_at;      /* when one became due that waits for a barrier; 0: none */
    uint64_t due;         /* bytes that had been logged by then */
    int has_met;          /* other ranks in a barrier or fence, since */
    int has_invited;      /* the other ranks, since */
} last;

static uint64_t wanted; /* other ranks' requests when this attempt began */

static struct ckpt_context here; /* where a rank that comes back from the copy goes on */

/* ---- When to take one ---------------------------------------------------------- */

/* Returns how many logged bytes are a reason: a tenth of the memory of this rank's windows
 * (Sultan 2004, table 4.1). It is at least a useful amount, and at most what the log has room
 * for. */
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

/* A rank that takes a checkpoint makes the others wait in the next barrier. So ranks that need
 * one soon take it after the same barrier as the first one (Sultan 2004, section 4.7, on
 * Barnes). If the program has barriers, waiting for one is worthwhile. */
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

/* Returns whether a due checkpoint should wait no longer. If the program has barriers it waits
 * for the next one. It waits at most until as much has been logged again, or as much time has
 * passed, as between two checkpoints. */
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
        is_due(ckpt_overhead_clock())) {
        last.has_invited = 1;
        (void)__atomic_add_fetch(&ckpt_independent->invitations, 1, __ATOMIC_ACQ_REL);
    }
}

/* Returns whether all of this rank's windows can be replayed. Operations on other windows would
 * be repeated in a replay, or would see their later memory. */
static int is_covered(struct ckpt_failure *failure)
{
    const MPI_Win win = ckpt_independent_uncovered();
    char site[256];

    if (win == NULL) {
        return 1;
    }
    ckpt_site_name(win->handle.site, site, sizeof(site));
    (void)ckpt_refuse(failure, CKPT_REFUSAL_UNSAVABLE_OBJECT, -ENOTSUP,
                      "it has a window of %s, called at %s",
                      win->handle.creator, site);
    return 0;
}

/* Returns whether a copy of this rank could be saved and restarted. Only the lower half knows
 * requests under way. Staged records would have to be delivered first, in intervals that a
 * replay does not know if the rank is killed before the copy exists. */
static int is_possible(void)
{
    return ckpt_staged_count == 0 && ckpt_service_is_free() && ckpt_live(CKPT_REQUEST) == NULL &&
           ckpt_first_unsavable() == NULL && ckpt_live(CKPT_FILE) == NULL;
}

/* ---- Taking one ------------------------------------------------------------------ */

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

/* Makes the copy. The process is described in its own memory, and so in the copy's. */
static int make_copy(struct ckpt_message *message, struct ckpt_frozen_copy *copy,
                     struct ckpt_failure *failure)
{
    struct ckpt_snapshot *snapshot;
    int error = ckpt_recipes_record(failure);

    if (error == 0) {
        error = ckpt_threads_freeze(FREEZE_TIMEOUT_MS, failure);
    }
    if (error != 0) {
        return error;
    }
    ckpt_files_allow_mappings(0); /* the copy must not see later changes of the files */
    CKPT_INVARIANT(ckpt_threads_are_frozen() && ckpt_staged_count == 0);
    error = ckpt_process_image(&here, &snapshot, failure);
    ckpt_files_allow_mappings(1);
    if (error == 0) {
        error = ckpt_frozen_copy_make(copy, ckpt_agent_pid(), failure);
    }
    if (error == 0 && ckpt_unsound() != NULL) {
        ckpt_sys_close(copy->connection); /* ends the copy */
        error = ckpt_unsound_refuse(failure);
    }
    ckpt_threads_thaw();
    ckpt_runtime_hold_memory();
    message->as.cow_snapshot.pid = (uint64_t)copy->pid;
    message->as.cow_snapshot.snapshot = (uint64_t)(uintptr_t)snapshot;
    return error;
}

/* Copies the memory of windows and the process. If that succeeds, a loss before it no longer
 * matters; if it fails, the previous checkpoint stays, with its losses. Waiting for the memory
 * may take long: a checkpoint of the whole job may have begun. */
static int copy_memory_and_process(struct ckpt_message *message, struct ckpt_frozen_copy *copy,
                                   struct ckpt_failure *failure)
{
    struct ckpt_independent_rank *self = ckpt_independent_self;
    uint64_t lost;
    int error = -EAGAIN;

    take_own_memory();
    lost = __atomic_exchange_n(&self->lost, 0, __ATOMIC_ACQ_REL);
    if (is_possible() && ckpt_direct_is_quiet()) {
        ckpt_replay_remember();
        error = make_copy(message, copy, failure);
    }
    if (error != 0 && lost) {
        self->lost = lost;
    }
    give_own_memory();
    return error;
}

/* For tests: tells other ranks only about one in ten checkpoints. That costs space in their
 * logs, and nothing else (Sultan 2004, section 4.5.5). */
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

/* Publishes V of each window: what other ranks need not keep for this one. */
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

/* Announces the checkpoint, and trims data that only earlier checkpoints needed: older events
 * (Sultan 2004, lemma 3), and records that others know to be in the checkpoint (theorem 1). */
static void publish(struct ckpt_message *message, int connection)
{
    struct ckpt_independent_rank *self = ckpt_independent_self;

    CKPT_INVARIANT(!ckpt_replaying && ckpt_staged_count == 0);
    self->kept++;
    self->kept_interval = ckpt_time[ckpt_time_rank];
    self->kept_uncovered = self->uncovered;
    self->kept_wanted = wanted;
    message->as.cow_snapshot.number = self->kept;
    message->as.cow_snapshot.interval = self->kept_interval;
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

/* Takes a checkpoint. Returns 0, or -errno if there is none. A restart from the copy returns
 * 1. */
static int keep(struct ckpt_failure *failure)
{
    struct ckpt_message message = {.type = CKPT_MSG_COW_SNAPSHOT};
    struct ckpt_frozen_copy copy = {.pid = 0, .connection = -1};
    int error;

    if (ckpt_private_prepare() != 0) {
        return ckpt_fail(failure, -ENOMEM, "no memory for a copy of its windows");
    }
    ckpt_publish_counters();
    if (ckpt_context_capture(&here) != 0) {
        return 1;
    }
    error = copy_memory_and_process(&message, &copy, failure);
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
    last.at = ckpt_overhead_clock();
    last.took = last.at - began;
    ckpt_independent_self->keeping_ns += last.took;
    last.ever = ckpt_log->ever;
    last.uncovered = ckpt_independent_self->uncovered;
    last.wanted = wanted;
    last.invitations = __atomic_load_n(&ckpt_independent->invitations, __ATOMIC_ACQUIRE);
    last.has_met = last.has_invited = 0;
    last.due_at = 0;
}

/* Reports a failure once in a launch, as the program probably cannot be saved later either. */
static void tell(int error, const struct ckpt_failure *failure)
{
    static int told;

    if (error < 0 && error != -EAGAIN && !told) {
        told = 1;
        fprintf(stderr, "ckpt: rank %d takes no independent checkpoint: %s [%s]\n",
                ckpt_time_rank, failure->text, ckpt_refusal_name(failure->identity));
    }
}

/* Takes a checkpoint now, if possible. It is not possible while the memory has undelivered
 * direct puts: a replay must not see data that the rank receives later. Then other ranks are
 * asked to deliver, and to stage until there is a checkpoint. The next synchronisation of this
 * rank tries again. */
static void take(void)
{
    struct ckpt_failure failure = {0};
    uint64_t began;
    int error;

    if (!ckpt_direct_is_quiet()) {
        ckpt_direct_ask(1);
        return;
    }
    began = ckpt_overhead_clock();
    wanted = __atomic_load_n(&ckpt_independent_self->wanted, __ATOMIC_ACQUIRE);
    error = is_covered(&failure) ? keep(&failure) : -ENOTSUP;
    if (error == 1) {
        ckpt_state = CKPT_STATE_CRITICAL; /* as at the time of the capture */
        ckpt_replay_begin();
        return;
    }
    ckpt_direct_ask(0);
    note(began); /* also after a failure, so as not to retry at once */
    last.taken = error != -EAGAIN;
    tell(error, &failure);
}

void ckpt_keep_if_due(void)
{
    const uint64_t time = ckpt_overhead_clock();

    ckpt_log_limit_look();
    if (!ckpt_replaying && is_due(time) && has_waited(time) && is_possible()) {
        take();
    }
}

void ckpt_keep_if_due_with_others(void)
{
    const uint64_t time = ckpt_overhead_clock();

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

int ckpt_keep_has_described(void)
{
    return ckpt_process_image_goal() == &here;
}

void ckpt_keep_restarted(void)
{
    struct ckpt_independent_rank *self = ckpt_independent_self;

    self->uncovered_done = self->uncovered; /* a restart may enter a collective again */
    last.taken = 0;
    last.took = 0;
    ckpt_rank_fault = CKPT_FAULT_NOWHERE; /* strike only once */
}
