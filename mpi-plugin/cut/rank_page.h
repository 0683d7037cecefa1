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
 * clocks are at zero. At a restart it takes the place of the old one: the signal for
 * the checkpoint may have come when an address in it was in a register.
 * Returns 0 or -errno. Context: normal or quiesced.
 */
int ckpt_rank_page_open(int rank, int rank_count);

/* Gives the page up; another one may be opened. Context: normal, while no agent
 * knows this rank. */
void ckpt_rank_page_close(void);

/* The memory file, which goes to the agent with HELLO. */
int ckpt_rank_page_descriptor(void);

struct ckpt_rank_page *ckpt_rank_page(void);

/* Its place, as private memory: what an image keeps of it. Context: quiesced. */
struct ckpt_region ckpt_rank_page_region(void);

/* A clock slot for the communicator `id`; UINT32_MAX if all are taken. */
uint32_t ckpt_rank_page_take(uint64_t id);
/* Gives it back; its clock is kept for a while, see rank_page.c. */
void ckpt_rank_page_give(uint32_t slot);
struct ckpt_clock *ckpt_rank_page_clock(uint32_t slot);

#endif
