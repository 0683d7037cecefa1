/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stay.c - no-checkpoint regions and safe points, at which application threads stay
 * until they have been saved.
 */
#include "user/deferral.h"

#include "cut/messages/report.h"
#include "cut/service/attach.h"
#include "cut/service/service.h"
#include "link/agent_link.h"
#include "link/rank_page.h"
#include "base/invariant.h"
#include "runtime/crossing.h"
#include "sys/syscall.h"
#include "user/deferral_state.h"
#include "user/hooks.h"

#define CKPT_INTERFACE_ONLY
#include "user/ckpt.h"

#define STAY_MS       1     /* between two checks */
#define STAY_LIMIT_MS 60000 /* the longest stay, whatever the other ranks do */

/* Variables of the calling thread. */
#define OWN static __thread __attribute__((tls_model("initial-exec")))
OWN int own_regions;
OWN int own_stay;

/* Returns 1 if other ranks are inside a collective that this rank must enter before
 * any rank can be saved. */
static int is_needed(void)
{
    const struct ckpt_rank_page *page = ckpt_rank_page();

    if (!ckpt_checkpoint.armed || page == NULL) {
        return 0;
    }
    CKPT_INVARIANT(page->clock_count <= CKPT_CLOCK_SLOTS);
    for (uint32_t i = 0; i < page->clock_count; i++) {
        const struct ckpt_clock *clock = &page->clock[i];

        if (clock->id != 0 && clock->entered < GET(clock->target)) {
            return 1;
        }
    }
    return 0;
}

/* Progresses messages that other ranks may wait for. Only the thread that calls MPI
 * may do this, unless all threads may call MPI. */
static void pause_and_progress(void)
{
    (void)ckpt_sys_poll(NULL, 0, STAY_MS);
    if (!ckpt_multiple && (int)ckpt_sys_gettid() != ckpt_attached_thread()) {
        return;
    }
    if (ckpt_state == CKPT_STATE_IDLE || ckpt_multiple) {
        ckpt_service_progress();
    }
}

/* The state when a thread reached its safe point. */
struct moment {
    uint64_t captured, restarts, number;
    int64_t at; /* ms */
};

static int is_over(const struct ckpt_stay *stay, const struct moment *begin)
{
    const uint64_t wanted = GET(ckpt_deferral.stop_at);

    if (!ckpt_checkpoint.open || !ckpt_agent_connected() || is_needed() ||
        wanted > begin->number) {
        return 1; /* no save will come, or a later safe point is wanted */
    }
    return stay != NULL
               ? stay->is_done(stay)
               : wanted == 0 || ckpt_deferral_now_ms() - begin->at > STAY_LIMIT_MS;
}

static int what_happened(const struct moment *before)
{
    return GET(ckpt_deferral.restarts) != before->restarts   ? CKPT_RESTARTED
           : GET(ckpt_deferral.captured) != before->captured ? CKPT_TAKEN
                                                             : CKPT_ABSENT;
}

static void wait_here(struct ckpt_stay *stay, const struct moment *before)
{
    if (stay != NULL) {
        stay->begin(stay);
    }
    while (GET(ckpt_deferral.restarts) == before->restarts && !is_over(stay, before)) {
        pause_and_progress();
    }
}

static int stay_with_hooks(struct ckpt_stay *stay, const struct moment *before)
{
    int answer;

    if (!ckpt_hooks_before()) {
        return CKPT_ABSENT;
    }
    CKPT_INVARIANT(GET(ckpt_deferral.staying) == 0);
    ADD(ckpt_deferral.staying, 1);
    ckpt_deferral_tell_if_over();
    wait_here(stay, before);
    ADD(ckpt_deferral.staying, -1);
    answer = what_happened(before);
    ckpt_hooks_after(answer == CKPT_ABSENT ? (int)CKPT_REFUSED : answer);
    return answer;
}

/* Stays at the safe point `number`. */
static int stay_at(uint64_t number, struct ckpt_stay *stay)
{
    const struct moment before = {GET(ckpt_deferral.captured), GET(ckpt_deferral.restarts),
                                  number, ckpt_deferral_now_ms()};
    uint64_t none = 0;
    int answer;

    if (own_regions > 0 || own_stay) {
        return CKPT_ABSENT; /* cannot be saved here, or a hook calls this */
    }
    CKPT_INVARIANT(number > 0); /* 0: nobody stays */
    own_stay = 1;
    if (__atomic_compare_exchange_n(&ckpt_deferral.stays_at, &none, number, 0,
                                    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
        answer = stay_with_hooks(stay, &before);
        CKPT_INVARIANT(GET(ckpt_deferral.stays_at) == number);
        SET(ckpt_deferral.stays_at, 0);
    } else { /* another thread runs the hooks */
        wait_here(stay, &before);
        answer = what_happened(&before);
    }
    own_stay = 0;
    return answer;
}

int ckpt_deferral_stay(struct ckpt_stay *stay)
{
    return stay_at(ADD(ckpt_deferral.places, 1), stay);
}

/* Reaches a place where the rank can be saved: tells the agent if it waits to hear so.
 * Stays here, unless the rank must stay at a later safe point. */
static int reach_safe_point(void)
{
    const uint64_t number = ADD(ckpt_deferral.places, 1), wanted = GET(ckpt_deferral.stop_at);

    ckpt_deferral_tell_if_over();
    if (__builtin_expect(wanted == 0 || number < wanted, 1)) {
        return CKPT_ABSENT;
    }
    return stay_at(number, NULL);
}

int ckpt_deferral_in_region(void)
{
    return own_regions > 0;
}

/* ---- For the program ------------------------------------------------------------ */

void ckpt_deferral_disable(void)
{
    own_regions++;
    ADD(ckpt_deferral.regions, 1);
}

int ckpt_deferral_enable(void)
{
    int now = GET(ckpt_deferral.regions);

    own_regions -= own_regions > 0;
    do { /* an unmatched call leaves both at 0 */
        if (now == 0) {
            return CKPT_ABSENT;
        }
    } while (!__atomic_compare_exchange_n(&ckpt_deferral.regions, &now, now - 1, 0,
                                          __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
    if (now != 1) {
        return CKPT_ABSENT;
    }
    return reach_safe_point();
}

int ckpt_deferral_safe_point(void)
{
    if (own_regions > 0 || !ckpt_deferral_must_be_at_safe_point()) {
        ADD(ckpt_deferral.places, 1); /* all ranks count alike */
        return CKPT_ABSENT;
    }
    return reach_safe_point();
}

void ckpt_deferral_only_at_safe_points(int only)
{
    SET(ckpt_deferral.only_at_safe_points, only != 0);
    ckpt_deferral_tell_if_over();
}

void ckpt_deferral_count_hooks(int change)
{
    ADD(ckpt_deferral.hooks, change);
    CKPT_INVARIANT(GET(ckpt_deferral.hooks) >= 0);
    ckpt_deferral_tell_if_over();
}
