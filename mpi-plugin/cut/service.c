/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * service.c - answer the agent: where this rank is, stop, drain, save, go on.
 *
 * Runs on the MPI thread, either at the end of a wrapper or in the handler of
 * the checkpoint signal. A rank that is found inside a call of the lower half
 * that it cannot leave answers from the handler (serve_inside) and stays there.
 */
#include "cut/service.h"
#include "cut/service_thread.h"

#include "base/text.h"
#include "cut/agent_link.h"
#include "cut/attach.h"
#include "cut/collective.h"
#include "cut/drain.h"
#include "cut/file_content.h"
#include "cut/forked.h"
#include "cut/message_log.h"
#include "cut/nonblocking.h"
#include "cut/process_image.h"
#include "cut/rank_page.h"
#include "cut/resume.h"
#include "cut/synchronous_send.h"
#include "handles/kinds.h"
#include "runtime/callback.h"
#include "runtime/runtime.h"
#include "sys/syscall.h"
#include "task/signals.h"
#include "task/threads.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <stdio.h>

#define FREEZE_TIMEOUT_MS 10000
#define HELP_TURNS 50  /* of a millisecond */
#define VAIN_LIMIT 256 /* tests in vain before this rank counts as waiting */
#define VAIN_US 16     /* so long a pause counts as one of them */
#define TURN_MS 1      /* of the service thread in a checkpoint */

struct ckpt_collective ckpt_collective;

static void obey_inside(const struct ckpt_message *message, uint64_t flags);
static void wait_in_vain(void);

static struct {
    int open;          /* between MPI_Init and MPI_Finalize */
    int armed;         /* a checkpoint is under way: the gate is closed */
    int hold;          /* waiting for the agent's next word */
    int inside_told;   /* the agent believes this rank to be inside */
    int waiting_told;  /* the agent believes this rank to be waiting */
    int vain;          /* tests in vain in a row */
    int helping;       /* turns for which it keeps the lower half working, for
                          another rank's sake, before it runs on */
    volatile int kicked; /* a signal came while serving */
    uint64_t epoch;
} service;

/* Leaves the checkpoint that is under way: the gate opens. */
static void disarm(void)
{
    ckpt_synchronous_release();
    ckpt_file_content_release();
    service.armed = 0;
    service.hold = 0;
    service.inside_told = 0;
    service.waiting_told = 0;
    service.vain = 0;
    service.helping = 0;
}

/* Everything the agent knows of this rank is in what it is told: of several
 * threads each gate is told on its own, with what the clock shows there. */
static void send_gate(const struct ckpt_clock *clock, uint64_t slot)
{
    struct ckpt_message message = {.type = CKPT_MSG_REPORT,
                                   .epoch = service.epoch};

    message.arg[0] = CKPT_PLACE_GATE;
    message.arg[1] = slot;
    message.arg[4] = clock->entered;
    (void)ckpt_agent_send(&message, -1);
}

static void send_place(uint32_t type, enum ckpt_place place, uint64_t slot,
                       uint64_t flags, int holding)
{
    struct ckpt_message message = {.type = type, .epoch = service.epoch};

    message.arg[0] = place;
    message.arg[1] = slot;
    message.arg[2] = flags;
    message.arg[3] = (uint64_t)holding;
    (void)ckpt_agent_send(&message, -1); /* a lost agent shows at receive */
}

static void send_refusal(const struct ckpt_failure *failure)
{
    struct ckpt_message message = {.type = CKPT_MSG_REFUSED,
                                   .epoch = service.epoch};

    ckpt_text_copy(message.text, sizeof(message.text), failure->text);
    (void)ckpt_agent_send(&message, -1);
}

/* The agent is gone. Whatever was under way is off; a new agent serves the
 * next request. */
static void agent_lost(void)
{
    struct ckpt_failure failure = {""};

    ckpt_agent_disconnect();
    disarm();
    (void)ckpt_attach(0, &service.epoch, &failure);
}

static int given_up(void)
{
    struct ckpt_message message;
    int got = ckpt_agent_receive(&message, 0);

    if (got < 0) {
        agent_lost();
        return 1;
    }
    if (got == 1 && message.type == CKPT_MSG_RESUME) {
        disarm();
        return 1;
    }
    return 0;
}

/* Whether anything this rank has made forbids a checkpoint now. */
static int savable(struct ckpt_failure *failure)
{
    struct ckpt_handle *handle = ckpt_first_unsavable();
    char site[200];

    if (handle == NULL) {
        return 1;
    }
    ckpt_site_name(handle->site, site, sizeof(site));
    (void)ckpt_fail(failure, -ENOTSUP,
                    "rank %d holds an object of %s, made at %s, which cannot be "
                    "saved yet",
                    (int)ckpt_rank_page()->rank, handle->creator, site);
    return 0;
}

static void answer_request(const struct ckpt_message *message)
{
    struct ckpt_failure failure = {""};

    service.epoch = message->epoch;
    service.armed = 1;
    if (!savable(&failure)) {
        send_refusal(&failure);
    }
}

/* This rank's message counters, for the agent to compare. */
static void publish_counters(void)
{
    struct ckpt_rank_page *page = ckpt_rank_page();

    ckpt_communicators_count(ckpt_page_peers(page), (int)page->rank_count);
}

/* STOP, outside of the lower half. */
static void answer_stop(void)
{
    struct ckpt_failure failure = {""};
    int error = ckpt_synchronous_hold(service.epoch);

    if (error != 0) {
        (void)ckpt_fail(&failure, error, "no memory for synchronous sends");
        send_refusal(&failure);
    }
    publish_counters();
    service.hold = 1;
    send_place(CKPT_MSG_STOPPED, CKPT_PLACE_FREE, 0, 0, 1);
}

static void drain(void)
{
    struct ckpt_message message = {.type = CKPT_MSG_DRAINED,
                                   .epoch = service.epoch};
    struct ckpt_failure failure = {""};
    int error = ckpt_drain(ckpt_rank_page(), given_up, &failure);

    if (error == 0) {
        error = ckpt_recipes_record(&failure);
    }
    if (error == 0) {
        error = ckpt_file_content_flush(&failure);
    }
    if (!service.armed) {
        return; /* given up meanwhile */
    }
    if (error != 0) {
        send_refusal(&failure);
        return;
    }
    ckpt_synchronous_match(service.epoch);
    ckpt_log_totals(&message.arg[0], &message.arg[1]);
    (void)ckpt_agent_send(&message, -1);
}

/* Stands still while the agent copies our memory: until RESUME, or RUN if the
 * ranks have to align once more. */
static void await_resume(void)
{
    struct ckpt_message message;
    int got;

    do {
        got = ckpt_agent_receive(&message, 1);
    } while (got == 1 && message.type != CKPT_MSG_RESUME &&
             message.type != CKPT_MSG_RUN);
    ckpt_threads_thaw();
    service.hold = 0;
    if (got < 0) {
        agent_lost();
    } else if (message.type == CKPT_MSG_RESUME) {
        disarm();
    }
}

/*
 * Describes this process to the agent. context: where a restart goes on.
 * Returns 0 when the agent has what it needs, -errno when the rank was not
 * saved (the agent knows why). Threads are frozen and thawed here.
 */
static int save_as(struct ckpt_context *context)
{
    struct ckpt_message message = {.type = CKPT_MSG_READY,
                                   .epoch = service.epoch};
    struct ckpt_failure failure = {""};
    struct ckpt_snapshot *snapshot;
    int error = ckpt_threads_freeze(FREEZE_TIMEOUT_MS, &failure);

    if (error != 0) {
        send_refusal(&failure);
        return error;
    }
    ckpt_nonblocking_record();
    error = ckpt_process_image(context, &snapshot, &failure);
    if (error == -EAGAIN) {
        ckpt_threads_thaw();
        return error;
    }
    if (error != 0) {
        ckpt_threads_thaw();
        send_refusal(&failure);
        return error;
    }
    message.arg[0] = (uint64_t)(uintptr_t)snapshot;
    message.arg[1] = ckpt_live(CKPT_WIN) != NULL ? CKPT_READY_SHARED : 0;
    (void)ckpt_agent_send(&message, -1);
    await_resume();
    return 0;
}

static void save(void)
{
    static struct ckpt_context here;

    ckpt_synchronous_keep();
    if (ckpt_context_capture(&here) != 0) {
        return; /* restarted: see cut/resume.c */
    }
    if (save_as(&here) == -EAGAIN) {
        struct ckpt_failure failure = {"the lower half is busy"};

        send_refusal(&failure);
    }
}

static void obey(const struct ckpt_message *message)
{
    switch (message->type) {
    case CKPT_MSG_REQUEST:
        answer_request(message);
        service.hold = 1;
        send_place(CKPT_MSG_REPORT, CKPT_PLACE_FREE, 0, 0, 1);
        break;
    case CKPT_MSG_RUN:
        ckpt_synchronous_release();
        service.hold = 0;
        service.helping = message->arg[0] != 0 ? HELP_TURNS : 0;
        service.waiting_told = 0; /* the agent forgets it, too */
        service.vain = 0;
        break;
    case CKPT_MSG_STOP:
        answer_stop();
        break;
    case CKPT_MSG_DRAIN:
        drain();
        break;
    case CKPT_MSG_SAVE:
        save();
        break;
    case CKPT_MSG_RESUME:
        disarm();
        break;
    default:
        break; /* a newer agent's message that asks for nothing we know */
    }
}

/* A rank that was inside has come out: the agent must know before it goes on,
 * and may want it to stand still. */
static void tell_outside(void)
{
    if (service.armed && service.inside_told && ckpt_lanes_open_count() == 0) {
        service.inside_told = 0;
        service.hold = 1;
        send_place(CKPT_MSG_REPORT, CKPT_PLACE_FREE, 0, 0, 1);
    }
}

/*
 * The next message: 1, 0 for none, or -errno. A rank that holds waits for one,
 * and keeps its lower half working: another rank may need the rest of what
 * this one has sent in order to come to a stop.
 */
static int next_message(struct ckpt_message *message)
{
    int got = ckpt_agent_receive(message, 0);

    while (got == 0 && (service.hold || service.helping > 0)) {
        if (!ckpt_agent_poll(1)) {
            ckpt_log_progress();
        }
        service.helping -= service.helping > 0 ? 1 : 0;
        got = ckpt_agent_receive(message, 0);
    }
    return got;
}

static void serve_messages(void)
{
    struct ckpt_message message;
    int got = 1;

    tell_outside();
    while (got == 1) {
        if (!ckpt_agent_connected()) {
            disarm();
            return;
        }
        got = next_message(&message);
        if (got < 0) {
            agent_lost();
        } else if (got == 1 && ckpt_lanes_open_count() != 0) {
            obey_inside(&message, 0); /* another thread is */
        } else if (got == 1) {
            obey(&message);
        }
    }
}

/* A call made by application code inside a call cannot serve. The handler can,
 * if that is a collective: have it look again. */
static void serve_around(void)
{
    if (ckpt_state == CKPT_STATE_COLLECTIVE) {
        (void)ckpt_sys_tgkill((int)ckpt_sys_getpid(), (int)ckpt_sys_gettid(),
                              ckpt_checkpoint_signal());
    }
}

void ckpt_service(void)
{
    if (ckpt_multiple) {
        return; /* cut/service_thread.c does it */
    }
    if (ckpt_in_callback()) {
        serve_around();
        return;
    }
    if (!service.open || ckpt_state == CKPT_STATE_SERVICE) {
        service.kicked = 1;
        return;
    }
    ckpt_begin();
    ckpt_state = CKPT_STATE_SERVICE;
    do {
        do {
            service.kicked = 0;
            ckpt_pending = 0;
            serve_messages();
        } while (service.kicked);
        if (!service.armed) {
            ckpt_synchronous_answer();
        }
        ckpt_pending = service.armed;
        ckpt_end_quietly();
        /* A signal up to here has set kicked; from now on it serves itself. */
    } while (service.kicked);
}

/* Answers from the signal handler, without leaving the lower half. */

static uint64_t inside_flags(int in_callback)
{
    uint64_t flags = 0;

    if (ckpt_state == CKPT_STATE_COLLECTIVE) {
        flags |= CKPT_INSIDE_CLOCKED;
        if (ckpt_collective.redo && !in_callback && ckpt_recipes_complete() &&
            ckpt_synchronous_pending == 0) {
            flags |= CKPT_INSIDE_REDO;
        }
    }
    return flags;
}

static uint64_t inside_slot(void)
{
    return ckpt_state == CKPT_STATE_COLLECTIVE ? ckpt_collective.communicator->slot
                                               : UINT32_MAX;
}

static void save_inside(uint64_t flags)
{
    if ((flags & CKPT_INSIDE_REDO) == 0 ||
        save_as(&ckpt_collective.again) == -EAGAIN) {
        /* Not now: the agent aligns once more and comes back. */
        send_place(CKPT_MSG_REPORT, CKPT_PLACE_INSIDE, inside_slot(), flags, 0);
    }
}

static void stop_inside(uint64_t flags)
{
    struct ckpt_failure failure = {""};

    /* Only a rank that may be saved here has nothing half-done about files. */
    if ((flags & CKPT_INSIDE_REDO) != 0 &&
        ckpt_file_content_flush(&failure) != 0) {
        send_refusal(&failure);
    }
    publish_counters();
    service.inside_told = 1;
    send_place(CKPT_MSG_STOPPED, CKPT_PLACE_INSIDE, inside_slot(), flags, 0);
}

static void obey_inside(const struct ckpt_message *message, uint64_t flags)
{
    switch (message->type) {
    case CKPT_MSG_REQUEST:
        answer_request(message);
        service.inside_told = 1;
        send_place(CKPT_MSG_REPORT, CKPT_PLACE_INSIDE, inside_slot(), flags, 0);
        break;
    case CKPT_MSG_STOP:
        stop_inside(flags);
        break;
    case CKPT_MSG_SAVE:
        save_inside(flags);
        break;
    case CKPT_MSG_RESUME:
        disarm();
        break;
    default:
        break; /* RUN: it runs; DRAIN: never sent to a rank inside */
    }
}

static void serve_inside(int in_callback)
{
    struct ckpt_message message;
    int got = 1;

    ckpt_pending = 1; /* the wrapper looks again when it comes out */
    while (got == 1 && ckpt_agent_connected()) {
        got = ckpt_agent_receive(&message, 0);
        if (got == 1) {
            /* The flags anew each time: the targets may have changed. */
            obey_inside(&message, inside_flags(in_callback));
        }
    }
    /* A lost agent is noticed, and replaced, outside. */
}

static int inside_collective(void)
{
    const struct ckpt_clock *clock = ckpt_collective.communicator->clock;

    return clock->entered != clock->left;
}

/* The checkpoint signal, on the MPI thread, with the upper thread pointer. */
static void notify(int in_lower)
{
    if (ckpt_multiple) {
        return; /* the service thread looks at its connection anyway */
    }
    switch (ckpt_state) {
    case CKPT_STATE_IDLE:
        ckpt_service();
        break;
    case CKPT_STATE_SERVICE:
        service.kicked = 1;
        break;
    case CKPT_STATE_COLLECTIVE:
        if (inside_collective()) {
            serve_inside(!in_lower);
        } else {
            ckpt_pending = 1;
        }
        break;
    case CKPT_STATE_CRITICAL:
        if (in_lower) {
            serve_inside(0);
        } else {
            ckpt_pending = 1;
        }
        break;
    default: /* WAITING: the loop in ckpt-host sees this and comes out */
        ckpt_pending = 1;
        break;
    }
}

void ckpt_collective_again(void)
{
    const uint64_t mask = ckpt_threads_interrupted_mask();

    (void)ckpt_sys_sigprocmask(SIG_SETMASK, &mask, NULL);
}

static void wait_in_vain(void)
{
    if (service.armed && !service.waiting_told && ++service.vain >= VAIN_LIMIT) {
        service.waiting_told = 1;
        send_place(CKPT_MSG_REPORT, CKPT_PLACE_WAIT, 0, 0, 0);
    }
}

/* The gate. */

static int is_shut(const struct ckpt_clock *clock)
{
    return service.armed && clock->left >= clock->target;
}

/* One of several threads waits at a gate while the others run on. */
static void gate_of_thread(MPI_Comm communicator)
{
    const struct ckpt_clock *clock = communicator->clock;
    uint64_t told = 0;

    ckpt_lane_lock();
    while (is_shut(clock)) {
        if (told != service.epoch) {
            told = service.epoch;
            send_gate(clock, communicator->slot);
        }
        service.vain += VAIN_LIMIT / 4; /* a turn is long */
        wait_in_vain();
        ckpt_lane_unlock();
        (void)ckpt_sys_poll(NULL, 0, 1);
        ckpt_lane_lock();
    }
    ckpt_lane_unlock();
}

void ckpt_collective_gate(MPI_Comm communicator)
{
    const struct ckpt_clock *clock = communicator->clock;

    if (ckpt_multiple) {
        if (service.armed) {
            gate_of_thread(communicator);
        }
        return;
    }
    ckpt_service();
    while (is_shut(clock)) {
        service.hold = 1;
        send_place(CKPT_MSG_REPORT, CKPT_PLACE_GATE, communicator->slot, 0, 1);
        ckpt_service();
    }
}

void ckpt_wait_in_vain(void)
{
    const unsigned us = ckpt_multiple ? ckpt_lane_back_off(service.armed) : 0;

    if (service.armed) {
        ckpt_guard();
        service.vain += (int)(us / VAIN_US);
        wait_in_vain();
        ckpt_unguard();
    }
}

void ckpt_wait_over(void)
{
    if (ckpt_multiple) {
        ckpt_lane_wait_over();
    }
    service.vain = 0;
    if (service.armed && service.waiting_told) {
        service.waiting_told = 0;
        send_place(CKPT_MSG_REPORT, CKPT_PLACE_FREE, 0, 0, 0);
    }
}

static int is_lower_thread(int tid)
{
    return ckpt_lower.owns_thread(tid);
}

void ckpt_service_open(void)
{
    struct ckpt_failure failure = {""};
    int error;

    error = ckpt_threads_open(ckpt_checkpoint_signal(), notify, is_lower_thread);
    if (error == 0) {
        error = ckpt_process_image_open();
    }
    if (error != 0) {
        (void)ckpt_fail(&failure, error, "error %d of this process", -error);
    }
    ckpt_forked_open();
    if (ckpt_multiple) {
        ckpt_service_thread_start(error == 0, &failure);
    } else if (ckpt_service_attach(error == 0, &failure)) {
        ckpt_service(); /* what came before the signal was asked for */
    }
}

int ckpt_service_attach(int able, const struct ckpt_failure *reason)
{
    struct ckpt_failure failure = *reason;

    if (ckpt_attach(1, &service.epoch, &failure) != 0 || !able) {
        fprintf(stderr, "ckpt: no checkpoints for this rank: %s\n", failure.text);
        return 0;
    }
    service.open = 1;
    return 1;
}

int ckpt_service_turn(void)
{
    ckpt_begin();
    if (service.open) {
        ckpt_state = CKPT_STATE_SERVICE;
        serve_messages();
        if (service.armed) {
            ckpt_log_progress(); /* no thread may be in MPI just now */
        } else {
            ckpt_synchronous_answer();
        }
    }
    ckpt_end_quietly();
    return !service.open ? -2 : service.armed ? TURN_MS : -1;
}

int ckpt_service_reopen(struct ckpt_failure *failure)
{
    ckpt_pending = ckpt_multiple;
    ckpt_service_thread_restarted();
    disarm();
    return ckpt_attach(1, &service.epoch, failure);
}

void ckpt_service_close(void)
{
    struct ckpt_message message = {.type = CKPT_MSG_GOODBYE};

    if (!service.open) {
        return;
    }
    ckpt_service(); /* an answer that is due */
    ckpt_guard();
    service.open = 0;
    if (ckpt_agent_connected()) {
        (void)ckpt_agent_send(&message, -1);
    }
    ckpt_unguard();
    if (ckpt_multiple) {
        ckpt_service_thread_end();
    }
}

void ckpt_service_forget(void)
{
    service.open = 0;
    service.armed = 0;
    ckpt_pending = ckpt_multiple;
}

/* Descriptors of ours among the application's. */
int ckpt_service_owns_descriptor(int fd)
{
    return fd == ckpt_rank_page_descriptor() || fd == ckpt_agent_descriptor() ||
           ckpt_lower.owns_descriptor(fd);
}
