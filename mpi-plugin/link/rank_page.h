/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank_page.h - the page this rank shares with its agent (ckpt/wire.h).
 */
#ifndef CKPT_RANK_PAGE_H
#define CKPT_RANK_PAGE_H

#include "ckpt/snapshot.h"
#include "ckpt/wire.h"

/*
 * Makes a new page, as a memory file. The slots taken before stay taken; all clocks
 * are 0. At a restart the new page has the address of the old one: the checkpoint
 * signal may have come while a register held an address in it. Returns 0 or -errno.
 * Context: normal or quiesced.
 */
int ckpt_rank_page_open(int rank, int rank_count);

/* All clocks begin at 0 again, and the slots stay taken: a new launch in a living process. Context:
 * quiesced. */
void ckpt_rank_page_renew(void);

/* Frees the page; another one may be opened. Context: normal, while no agent knows
 * this rank. */
void ckpt_rank_page_close(void);

/* The memory file, which goes to the agent with HELLO. */
int ckpt_rank_page_descriptor(void);

struct ckpt_rank_page *ckpt_rank_page(void);

/* The page's address range as private memory, for the image. Context: quiesced. */
struct ckpt_region ckpt_rank_page_region(void);

/* Takes a clock slot for the communicator `id`. Returns UINT32_MAX if all are
 * taken. */
uint32_t ckpt_rank_page_take(uint64_t id);
/* Frees the slot; its clock is kept for a while, see rank_page.c. */
void ckpt_rank_page_give(uint32_t slot);
struct ckpt_clock *ckpt_rank_page_clock(uint32_t slot);

#endif
