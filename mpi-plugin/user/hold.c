/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hold.c - no-checkpoint regions and safe points.
 *
 * What threads of the application change is atomic: the thread that serves looks
 * at it, in a signal's handler too. All of it is saved with the process.
 */
#include "user/hold.h"

#include "base/text.h"
#include "cut/agent_link.h"
#include "cut/attach.h"
#include "cut/rank_page.h"
#include "cut/report.h"
#include "cut/service.h"
#include "runtime/crossing.h"
#include "sys/syscall.h"
#include "user/ask.h"
#include "user/hooks.h"

#define CKPT_INTERFACE_ONLY
#include "user/ckpt.h"

#include <signal.h>
#include <time.h>

#define STAY_MS       1   /* between two looks */
#define STAY_LIMIT_MS 60000 /* whatever the others do */
#define VAIN_MS       100 /* so long a wait may be for a rank that stays */

static int regions;             /* how deep in them the threads are, together */
static int only_at_safe_points;
static int hooks;
static int staying;             /* threads that stay at a safe point */
static uint64_t stays_at;       /* the safe point of the one that looks after the hooks;
                                   0: there is none */
static uint64_t places;         /* safe points that have been reached */
static int refused;             /* the agent waits to hear that it can be saved */
static int can_be_saved;        /* to be told */
static uint64_t stop_at;        /* the safe point to stay at; 0: nothing waits */
static uint64_t captured;       /* how often its memory was saved */
static uint64_t restarts;
static int stuck_told;
static int64_t vain_since;      /* ms; 0: it does not wait */

/* The calling thread's. */
#define OWN static __thread __attribute__((tls_model("initial-exec")))
OWN int own_regions;
OWN int own_stay;

#define GET(variable) __atomic_load_n(&(variable), __ATOMIC_SEQ_CST)
#define SET(variable, value) __atomic_store_n(&(variable), value, __ATOMIC_SEQ_CST)
#define ADD(variable, value) __atomic_add_fetch(&(variable), value, __ATOMIC_SEQ_CST)
#define SWAP(variable, value)                                                  \
    __atomic_exchange_n(&(variable), value, __ATOMIC_SEQ_CST)

static int64_t now_ms(void)
{
    struct timespec now = {0};

    (void)ckpt_sys_clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int must_be_at_safe_point(void)
{
    return GET(only_at_safe_points) != 0 || GET(hooks) != 0;
}

int ckpt_hold_is_on(void)
{
    return GET(regions) != 0 || (must_be_at_safe_point() && GET(staying) == 0);
}

int ckpt_hold_in_region(void)
{
    return own_regions > 0;
}

int ckpt_hold_is_wanted(void)
{
    return GET(stop_at) != 0;
}

int ckpt_hold_matters(void)
{
    return GET(stop_at) != 0 && ckpt_hold_is_on();
}

uint64_t ckpt_hold_restarts(void)
{
    return GET(restarts);
}

/* ---- To and from the agent ---------------------------------------------------- */

static const char *why(void)
{
    if (GET(regions) != 0) {
        return "it is in a no-checkpoint region";
    }
    return GET(hooks) != 0 ? "it has hooks to run, at its next safe point"
                           : "it has not come to a safe point";
}

/* One that a thread has come to, while another one is in a region, is not passed. */
static uint64_t reached(void)
{
    const uint64_t stays = GET(stays_at);

    return stays != 0 ? stays - 1 : GET(places);
}

void ckpt_hold_refuse(void)
{
    struct ckpt_message message = {.type = CKPT_MSG_REFUSED,
                                   .epoch = ckpt_checkpoint.epoch};

    SET(refused, 1);
    message.arg[4] = CKPT_REFUSED_FOR_NOW;
    message.arg[5] = reached();
    ckpt_text_copy(message.text, sizeof(message.text), why());
    (void)ckpt_agent_send(&message, -1);
    if (!ckpt_hold_is_on() && SWAP(refused, 0)) { /* just now */
        SET(can_be_saved, 1);
    }
}

void ckpt_hold_told(const struct ckpt_message *message)
{
    if (message->type == CKPT_MSG_HELD) {
        SET(stop_at, message->arg[0]);
        stuck_told = 0;
        vain_since = 0;
    } else if (message->arg[0] == CKPT_CAPTURED) {
        ADD(captured, 1);
        SET(stop_at, 0);
        SET(refused, 0);
    }
}

void ckpt_hold_tell(void)
{
    struct ckpt_message message = {.type = CKPT_MSG_ALLOWED};

    if (SWAP(can_be_saved, 0)) {
        message.arg[0] = GET(places);
        (void)ckpt_agent_send(&message, -1);
    }
}

void ckpt_hold_forget(void)
{
    SET(stop_at, 0);
    SET(refused, 0);
    SET(can_be_saved, 0);
    vain_since = 0;
}

void ckpt_hold_restarted(void)
{
    ckpt_hold_forget();
    ADD(restarts, 1);
}

/* The MPI thread serves at a signal, wherever it is; the service thread too. One that
 * tgkill(2) sends within the process would mean something else (task/threads.c). */
void ckpt_hold_kick(void)
{
    siginfo_t info = {.si_code = SI_QUEUE};

    if (!ckpt_checkpoint.open || !ckpt_agent_connected()) {
        return;
    }
    info.si_signo = ckpt_checkpoint_signal();
    info.si_pid = (pid_t)ckpt_sys_getpid();
    (void)ckpt_syscall4(SYS_rt_tgsigqueueinfo, info.si_pid, ckpt_attached_thread(),
                        info.si_signo, (long)&info);
}

static void tell_if_it_can_be_saved(void)
{
    if (!ckpt_hold_is_on() && SWAP(refused, 0)) {
        SET(can_be_saved, 1);
        ckpt_hold_kick();
    }
}

/* ---- Waiting for those that stay ------------------------------------------------ */

void ckpt_hold_waits_in_vain(void)
{
    struct ckpt_message message = {.type = CKPT_MSG_STUCK};

    if (!ckpt_hold_matters() || stuck_told) {
        return;
    }
    if (vain_since == 0) {
        vain_since = now_ms();
    } else if (now_ms() - vain_since >= VAIN_MS) {
        stuck_told = 1;
        message.arg[0] = GET(places);
        (void)ckpt_agent_send(&message, -1);
    }
}

void ckpt_hold_wait_over(void)
{
    vain_since = 0;
}

/* ---- Staying -------------------------------------------------------------------- */

/* Others are inside a collective that this rank has to enter before any can be
 * saved. */
static int is_needed(void)
{
    const struct ckpt_rank_page *page = ckpt_rank_page();

    if (!ckpt_checkpoint.armed || page == NULL) {
        return 0;
    }
    for (uint32_t i = 0; i < page->clock_count; i++) {
        const struct ckpt_clock *clock = &page->clock[i];

        if (clock->id != 0 && clock->entered < GET(clock->target)) {
            return 1;
        }
    }
    return 0;
}

/* What others wait for may be half on its way. Only the thread that calls MPI may
 * look after that, unless all may. */
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

/* When a thread came to its safe point. */
struct moment {
    uint64_t captured, restarts, number;
    int64_t at; /* ms */
};

static int is_over(const struct ckpt_stay *stay, const struct moment *begin)
{
    const uint64_t wanted = GET(stop_at);

    if (!ckpt_checkpoint.open || !ckpt_agent_connected() || is_needed() ||
        wanted > begin->number) {
        return 1; /* nobody will come, or it is to go on to a later one */
    }
    return stay != NULL ? stay->is_done(stay)
                        : wanted == 0 || now_ms() - begin->at > STAY_LIMIT_MS;
}

static int what_happened(const struct moment *before)
{
    return GET(restarts) != before->restarts   ? CKPT_RESTARTED
           : GET(captured) != before->captured ? CKPT_TAKEN
                                               : CKPT_ABSENT;
}

static void wait_here(struct ckpt_stay *stay, const struct moment *before)
{
    if (stay != NULL) {
        stay->begin(stay);
    }
    while (GET(restarts) == before->restarts && !is_over(stay, before)) {
        pause_and_progress();
    }
}

static int stay_with_hooks(struct ckpt_stay *stay, const struct moment *before)
{
    int answer;

    if (!ckpt_hooks_before()) {
        return CKPT_ABSENT;
    }
    ADD(staying, 1);
    tell_if_it_can_be_saved();
    wait_here(stay, before);
    ADD(staying, -1);
    answer = what_happened(before);
    ckpt_hooks_after(answer == CKPT_ABSENT ? (int)CKPT_REFUSED : answer);
    return answer;
}

/* number: of this safe point. */
static int stay_at(uint64_t number, struct ckpt_stay *stay)
{
    const struct moment before = {GET(captured), GET(restarts), number, now_ms()};
    uint64_t none = 0;
    int answer;

    if (own_regions > 0 || own_stay) {
        return CKPT_ABSENT; /* it cannot be saved here, or this is a hook */
    }
    own_stay = 1;
    if (__atomic_compare_exchange_n(&stays_at, &none, number, 0, __ATOMIC_SEQ_CST,
                                    __ATOMIC_SEQ_CST)) {
        answer = stay_with_hooks(stay, &before);
        SET(stays_at, 0);
    } else { /* another thread looks after the hooks */
        wait_here(stay, &before);
        answer = what_happened(&before);
    }
    own_stay = 0;
    return answer;
}

int ckpt_hold_stay(struct ckpt_stay *stay)
{
    return stay_at(ADD(places, 1), stay);
}

/* A place where the rank can be saved: those that wait for it hear of it, and it
 * stays, unless that is to be at a later one. */
static int reach_safe_point(void)
{
    const uint64_t number = ADD(places, 1), wanted = GET(stop_at);

    tell_if_it_can_be_saved();
    if (__builtin_expect(wanted == 0 || number < wanted, 1)) {
        return CKPT_ABSENT;
    }
    return stay_at(number, NULL);
}

/* ---- For the program ------------------------------------------------------------ */

void ckpt_hold_disable(void)
{
    own_regions++;
    ADD(regions, 1);
}

int ckpt_hold_enable(void)
{
    int now = GET(regions);

    own_regions--;
    do { /* one that belongs to none does nothing */
        if (now == 0) {
            return CKPT_ABSENT;
        }
    } while (!__atomic_compare_exchange_n(&regions, &now, now - 1, 0, __ATOMIC_SEQ_CST,
                                          __ATOMIC_SEQ_CST));
    if (now != 1) {
        return CKPT_ABSENT;
    }
    return reach_safe_point();
}

int ckpt_hold_safe_point(void)
{
    if (own_regions > 0 || !must_be_at_safe_point()) {
        ADD(places, 1); /* as other ranks do */
        return CKPT_ABSENT;
    }
    return reach_safe_point();
}

void ckpt_hold_only_at_safe_points(int only)
{
    SET(only_at_safe_points, only != 0);
    tell_if_it_can_be_saved();
}

void ckpt_hold_count_hooks(int change)
{
    ADD(hooks, change);
    tell_if_it_can_be_saved();
}
