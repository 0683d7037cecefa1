/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank_page.h - the page this rank shares with its agent (ckpt/wire.h).
 */
#ifndef CKPT_RANK_PAGE_H
#define CKPT_RANK_PAGE_H

#include "ckpt/snapshot.h"
#include "ckpt/wire.h"

/*
 * Makes a new page, as a memory file. The slots taken before stay taken; all
 * clocks are at zero. At a restart the page has another address: see
 * ckpt_communicators_rebind.
 * Returns 0 or -errno. Context: normal or quiesced.
 */
int ckpt_rank_page_open(int rank, int rank_count);

/* The memory file, which goes to the agent with HELLO. */
int ckpt_rank_page_descriptor(void);

struct ckpt_rank_page *ckpt_rank_page(void);

/* Where it is mapped: never part of an image. */
struct ckpt_range ckpt_rank_page_range(void);

/* A clock slot for the communicator `id`; UINT32_MAX if all are taken. */
uint32_t ckpt_rank_page_take(uint64_t id);
/* Gives it back; its clock is kept for a while, see rank_page.c. */
void ckpt_rank_page_give(uint32_t slot);
struct ckpt_clock *ckpt_rank_page_clock(uint32_t slot);

#endif
