/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank_page.c - collective clocks and message counters, shared with the agent.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* F_ADD_SEALS */
#endif
#include "link/rank_page.h"

#include "base/invariant.h"
#include "sys/descriptor.h"
#include "sys/syscall.h"
#include "task/busy.h"

#include <linux/memfd.h>
#include <stddef.h>
#include <sys/mman.h>

static struct ckpt_rank_page *page;
static size_t page_size;
static int page_descriptor = -1;

/* Ids of the slots, kept in saved memory, as the page itself is not saved. */
static uint64_t slot_ids[CKPT_CLOCK_SLOTS];
static uint32_t slot_count;

/* Clocks of recently freed communicators, oldest first. Another member may still be inside the
 * last collective on one of them, and a cut must know that this rank has left it. A clock is kept
 * until LINGERING others have been freed.
 */
#define LINGERING 1024u
static uint32_t lingering[LINGERING];
static uint64_t lingering_count;

static void clear_slot(uint32_t slot)
{
    CKPT_INVARIANT(slot < slot_count);
    page->clock[slot].id = 0;
    slot_ids[slot] = 0;
}

static void forget_lingering(void)
{
    uint64_t first = lingering_count > LINGERING ? lingering_count - LINGERING : 0;

    for (; first < lingering_count; first++) {
        clear_slot(lingering[first % LINGERING]);
    }
    lingering_count = 0;
}

/* A new launch: all clocks begin at 0. */
static void begin_clocks(void)
{
    CKPT_INVARIANT(slot_count <= CKPT_CLOCK_SLOTS);
    page->clock_count = slot_count;
    forget_lingering();
    for (uint32_t i = 0; i < slot_count; i++) {
        page->clock[i] = (struct ckpt_clock){.id = slot_ids[i]};
    }
}

void ckpt_rank_page_renew(void)
{
    CKPT_INVARIANT(page != NULL && page->clock_count == slot_count);
    begin_clocks();
}

int ckpt_rank_page_open(int rank, int rank_count)
{
    size_t size = (CKPT_RANK_PAGE_SIZE((size_t)rank_count) + 4095) & ~4095ul;
    long fd, address;

    CKPT_INVARIANT(rank >= 0 && rank < rank_count && slot_count <= CKPT_CLOCK_SLOTS);
    fd = ckpt_descriptor_raise(
        (int)ckpt_sys_memfd_create("ckpt-rank-page", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (fd < 0) {
        return (int)fd;
    }
    address = ckpt_sys_ftruncate((int)fd, (long)size);
    if (address == 0) {
        address = ckpt_sys_fcntl((int)fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    }
    if (address == 0) {
        address = (long)ckpt_sys_mmap(page, size, PROT_READ | PROT_WRITE,
                                      MAP_SHARED | (page != NULL ? MAP_FIXED : 0),
                                      (int)fd, 0);
    }
    if (address < 0 && address > -4096) {
        ckpt_sys_close((int)fd);
        return (int)address;
    }
    page = (struct ckpt_rank_page *)address;
    page_size = size;
    page->magic = CKPT_PAGE_MAGIC;
    page->version = CKPT_WIRE_VERSION;
    page->rank = (uint32_t)rank;
    page->rank_count = (uint32_t)rank_count;
    begin_clocks();
    page_descriptor = (int)fd;
    ckpt_busy_tell(&page->signal);
    return 0;
}

void ckpt_rank_page_close(void)
{
    if (page != NULL) {
        ckpt_busy_tell(NULL);
        ckpt_sys_munmap(page, page_size);
        ckpt_sys_close(page_descriptor);
        page = NULL;
        page_descriptor = -1;
    }
}

int ckpt_rank_page_descriptor(void)
{
    return page_descriptor;
}

struct ckpt_rank_page *ckpt_rank_page(void)
{
    return page;
}

struct ckpt_region ckpt_rank_page_region(void)
{
    return (struct ckpt_region){.start = (uint64_t)page,
                                .end = (uint64_t)page + page_size,
                                .protection = PROT_READ | PROT_WRITE,
                                .kind = CKPT_REGION_ANONYMOUS};
}

uint32_t ckpt_rank_page_take(uint64_t id)
{
    uint32_t slot;

    CKPT_INVARIANT(id != 0 && page->clock_count == slot_count); /* 0: a free slot */
    for (slot = 0; slot < slot_count && slot_ids[slot] != 0; slot++) {
    }
    if (slot == CKPT_CLOCK_SLOTS) {
        return UINT32_MAX;
    }
    page->clock[slot] = (struct ckpt_clock){.id = id};
    slot_ids[slot] = id;
    if (slot == slot_count) {
        page->clock_count = ++slot_count;
    }
    return slot;
}

void ckpt_rank_page_give(uint32_t slot)
{
    uint32_t *place = &lingering[lingering_count % LINGERING];

    CKPT_INVARIANT(slot < slot_count);
    if (lingering_count >= LINGERING) {
        clear_slot(*place);
    }
    *place = slot;
    lingering_count++;
}

struct ckpt_clock *ckpt_rank_page_clock(uint32_t slot)
{
    CKPT_INVARIANT(slot < slot_count);
    return &page->clock[slot];
}
