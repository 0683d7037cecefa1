/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * image_fault.c - damages a rank's description of itself, for tests.
 */
#include "cut/image/image_fault.h"

#include "base/text.h"
#include "link/rank_page.h"
#include "runtime/runtime.h"

#define NAME "rank-unsound"

static int is_done;

/* Returns whether CKPT_FAULT chooses this fault for `rank`, and the COUNT. */
static int is_chosen(int rank, uint64_t *count_p)
{
    const char *text = ckpt_runtime_getenv("CKPT_FAULT");
    uint64_t chosen = (uint64_t)rank;

    if (text == NULL || !ckpt_text_starts(text, NAME)) {
        return 0;
    }
    *count_p = 1;
    text += sizeof(NAME) - 1;
    if (*text == ':') {
        text = ckpt_text_decimal(text + 1, count_p);
    }
    if (text != NULL && *text == '@') {
        text = ckpt_text_decimal(text + 1, &chosen);
    }
    return text != NULL && *text == '\0' && chosen == (uint64_t)rank;
}

void ckpt_image_fault(struct ckpt_region *regions, size_t count, int rank)
{
    const uint64_t committed = __atomic_load_n(&ckpt_rank_page()->committed, __ATOMIC_ACQUIRE);
    uint64_t due;

    if (count > 1 && !is_done && is_chosen(rank, &due) && committed + 1 == due) {
        const struct ckpt_region first = regions[0];

        regions[0] = regions[1];
        regions[1] = first;
        is_done = 1;
    }
}
