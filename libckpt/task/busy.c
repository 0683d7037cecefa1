/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * busy.c - publishes the state of the checkpoint signal.
 */
#include "task/busy.h"

#include "base/invariant.h"

#include <stddef.h>

static struct ckpt_signal_state nowhere;
static struct ckpt_signal_state *told = &nowhere;

static struct ckpt_signal_state *state(void)
{
    return __atomic_load_n(&told, __ATOMIC_RELAXED);
}

static uint64_t *word(void)
{
    return &state()->busy;
}

void ckpt_busy_tell(struct ckpt_signal_state *where)
{
    __atomic_store_n(&told, where != NULL ? where : &nowhere, __ATOMIC_RELAXED);
}

void ckpt_busy_took(void)
{
    (void)__atomic_fetch_add(&state()->taken, 1, __ATOMIC_RELEASE);
}

void ckpt_busy_set(enum ckpt_busy why)
{
    CKPT_INVARIANT(why < CKPT_BUSY_HOLD && (why & (why - 1)) == 0); /* one of the states */
    (void)__atomic_fetch_or(word(), (uint64_t)why, __ATOMIC_RELEASE);
}

void ckpt_busy_clear(enum ckpt_busy why)
{
    CKPT_INVARIANT(why < CKPT_BUSY_HOLD && (why & (why - 1)) == 0);
    (void)__atomic_fetch_and(word(), ~(uint64_t)why, __ATOMIC_RELEASE);
}

void ckpt_busy_hold(void)
{
    (void)__atomic_fetch_add(word(), CKPT_BUSY_HOLD, __ATOMIC_RELEASE);
}

void ckpt_busy_release(void)
{
    (void)__atomic_fetch_sub(word(), CKPT_BUSY_HOLD, __ATOMIC_RELEASE);
}
