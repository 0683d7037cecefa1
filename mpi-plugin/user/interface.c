/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * interface.c - the interface that ckpt.h finds in a process with this library.
 */
#include "cut/messages/report.h"
#include "link/agent_link.h"
#include "link/rank_page.h"
#include "user/ask.h"
#include "user/excluded.h"
#include "user/deferral.h"
#include "user/hooks.h"

#define CKPT_INTERFACE_ONLY
#include "user/ckpt.h"

static int active(void)
{
    return ckpt_checkpoint.open && ckpt_agent_connected();
}

/* The agent writes the number to the rank page; a restart begins with
 * WELCOME's. */
static uint64_t last(void)
{
    const struct ckpt_rank_page *page = ckpt_rank_page();

    return page == NULL ? 0 : __atomic_load_n(&page->committed, __ATOMIC_ACQUIRE);
}

static void enable(void)
{
    (void)ckpt_deferral_enable();
}

static int exclude(const volatile void *address, size_t size)
{
    return ckpt_excluded_add((uint64_t)(uintptr_t)address, size);
}

static int include(const volatile void *address, size_t size)
{
    return ckpt_excluded_remove((uint64_t)(uintptr_t)address, size);
}

extern const struct ckpt_interface ckpt_interface_1;
__attribute__((visibility("default"))) const struct ckpt_interface ckpt_interface_1 = {
    .version = 1,
    .size = sizeof(struct ckpt_interface),
    .active = active,
    .restarts = ckpt_deferral_restarts,
    .last = last,
    .wanted = ckpt_deferral_is_wanted,
    .checkpoint = ckpt_ask,
    .reason = ckpt_ask_reason,
    .disable = ckpt_deferral_disable,
    .enable = enable,
    .safe_point = ckpt_deferral_safe_point,
    .only_at_safe_points = ckpt_deferral_only_at_safe_points,
    .exclude = exclude,
    .include = include,
    .hooks_add = ckpt_hooks_insert,
    .hooks_remove = ckpt_hooks_erase,
};
