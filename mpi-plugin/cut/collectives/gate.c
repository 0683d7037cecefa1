/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gate.c - where a rank stops by itself: before a collective that the cut leaves
 * for later, and in waits that may not end before the cut.
 */
#include "cut/collectives/collective.h"
#include "cut/messages/channel_recording.h"
#include "cut/messages/rank_cut.h"
#include "cut/messages/report.h"
#include "cut/participant.h"
#include "link/agent_link.h"
#include "base/invariant.h"
#include "runtime/callback.h"
#include "sys/syscall.h"

#define VAIN_LIMIT 256 /* unsuccessful tests before this rank counts as waiting */
#define VAIN_US    16  /* a pause of that many microseconds counts as one test */

struct ckpt_collective ckpt_collective;
char ckpt_something[2];

static void poll_failed(void)
{
    if (ckpt_checkpoint.armed && !ckpt_checkpoint.waiting_told &&
        ++ckpt_checkpoint.vain >= VAIN_LIMIT) {
        ckpt_checkpoint.waiting_told = 1;
        ckpt_report_place(CKPT_MSG_REPORT, CKPT_PLACE_WAIT, 0, 0, 0);
    }
}

static int is_shut(MPI_Comm communicator)
{
    const struct ckpt_clock *clock = communicator->clock;

    return ckpt_checkpoint.armed && clock->left >= clock->target;
}

/* Waits at the gate as one of several threads; the others run on. */
static void gate_of_thread(MPI_Comm communicator)
{
    uint64_t told = 0;

    ckpt_thread_context_lock();
    while (is_shut(communicator)) {
        if (told != ckpt_checkpoint.epoch) {
            told = ckpt_checkpoint.epoch;
            ckpt_report_gate(communicator->clock, communicator->slot);
        }
        ckpt_checkpoint.vain += VAIN_LIMIT / 4; /* a turn of this loop is long */
        poll_failed();
        ckpt_thread_context_unlock();
        ckpt_service(); /* if the service thread cannot answer the agent */
        (void)ckpt_sys_poll(NULL, 0, 1);
        ckpt_thread_context_lock();
    }
    ckpt_thread_context_unlock();
}

/* An open rank gives its receives their messages itself, and tells senders which
 * messages it has received. It cannot do so while it is inside a collective. */
static void wait_for_messages(void)
{
    while (ckpt_rank_cut_open && (ckpt_recording_is_due() || ckpt_rank_cut_may_be_asked()) &&
           ckpt_agent_connected()) {
        (void)ckpt_agent_poll(1);
        ckpt_service();
        ckpt_begin();
        ckpt_recording_post();
        ckpt_end_quietly();
    }
}

static void wait_at_gate(MPI_Comm communicator)
{
    if (ckpt_multiple) {
        if (ckpt_checkpoint.armed) {
            gate_of_thread(communicator);
        }
        return;
    }
    ckpt_service();
    while (is_shut(communicator)) {
        CKPT_INVARIANT(communicator->slot < CKPT_CLOCK_SLOTS); /* others have no target */
        ckpt_checkpoint.hold = 1;
        ckpt_report_place(CKPT_MSG_REPORT, CKPT_PLACE_GATE, communicator->slot,
                          0, 1);
        ckpt_service();
    }
    wait_for_messages();
}

/* The handler may shut the gate again at the last moment before ckpt_begin(). */
void ckpt_collective_gate(MPI_Comm communicator)
{
    do {
        ckpt_end();
        wait_at_gate(communicator);
        ckpt_begin();
    } while (is_shut(communicator));
}

void ckpt_gate_poll_failed(void)
{
    const unsigned us =
        ckpt_multiple ? ckpt_thread_context_back_off(ckpt_checkpoint.armed) : 0;

    if (ckpt_checkpoint.armed) {
        ckpt_guard();
        ckpt_checkpoint.vain += (int)(us / VAIN_US);
        poll_failed();
        ckpt_unguard();
    }
    ckpt_participants_poll_failed();
}

void ckpt_gate_poll_succeeded(void)
{
    if (ckpt_multiple) {
        ckpt_thread_context_wait_over();
    }
    ckpt_checkpoint.vain = 0;
    ckpt_participants_wait_over();
    if (ckpt_checkpoint.armed && ckpt_checkpoint.waiting_told) {
        ckpt_checkpoint.waiting_told = 0;
        ckpt_report_place(CKPT_MSG_REPORT, CKPT_PLACE_FREE, 0, 0, 0);
    }
}
