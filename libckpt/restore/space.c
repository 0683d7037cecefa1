/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * space.c - fills the largest hole of the address space, upwards from its
 * middle: far from heaps that grow up and from stacks that grow down.
 */
#include "restore/space.h"

#include "base/invariant.h"

#include <errno.h>
#include <stdlib.h>

#define PAGE             4096u
#define ALIGNMENT        0x200000u
#define INITIAL_CAPACITY 256u

static int append(struct ckpt_space *space, uint64_t start, uint64_t end)
{
    CKPT_INVARIANT(start <= end && space->count <= space->capacity);
    if (space->count == space->capacity) {
        size_t capacity =
            space->capacity == 0 ? INITIAL_CAPACITY : 2 * space->capacity;
        struct ckpt_range *used =
            realloc(space->used, capacity * sizeof *used);

        if (used == NULL) {
            return -ENOMEM;
        }
        space->used = used;
        space->capacity = capacity;
    }
    space->used[space->count++] = (struct ckpt_range){start, end};
    return 0;
}

int ckpt_space_use(struct ckpt_space *space, uint64_t start, uint64_t end)
{
    space->room = (struct ckpt_range){0, 0}; /* the new range may overlap it */
    return append(space, start, end);
}

static int compare_starts(const void *left, const void *right)
{
    const struct ckpt_range *a = left;
    const struct ckpt_range *b = right;

    return (a->start > b->start) - (a->start < b->start);
}

/* Returns the largest gap between the used ranges. */
static struct ckpt_range largest_hole(struct ckpt_space *space)
{
    struct ckpt_range hole = {0, 0};
    uint64_t next = CKPT_SPACE_START;

    qsort(space->used, space->count, sizeof *space->used, compare_starts);
    for (size_t i = 0; i <= space->count; i++) {
        uint64_t start =
            i < space->count ? space->used[i].start : CKPT_SPACE_END;

        if (start > next && start - next > hole.end - hole.start) {
            hole = (struct ckpt_range){next, start};
        }
        if (i < space->count && space->used[i].end > next) {
            next = space->used[i].end;
        }
    }
    CKPT_INVARIANT(hole.start == 0 ||
                   (hole.start >= CKPT_SPACE_START && hole.end <= CKPT_SPACE_END));
    return hole;
}

static uint64_t align_up(uint64_t address, uint64_t congruent)
{
    uint64_t remainder = congruent % ALIGNMENT;

    return address + (remainder - address) % ALIGNMENT;
}

uint64_t ckpt_space_place(struct ckpt_space *space, uint64_t size,
                          uint64_t congruent)
{
    uint64_t start;
    uint64_t end;

    /* A free page on either side prevents the kernel from merging
     * neighbours. */
    size = (size + PAGE - 1) / PAGE * PAGE;
    start = align_up(space->room.start + PAGE, congruent);
    if (space->room.end < start || space->room.end - start < size + PAGE) {
        struct ckpt_range hole = largest_hole(space);

        space->room = hole;
        space->room.start = hole.start + (hole.end - hole.start) / 2;
        start = align_up(space->room.start + PAGE, congruent);
        if (space->room.end < start || space->room.end - start < size + PAGE) {
            space->room.start = hole.start;
            start = align_up(hole.start + PAGE, congruent);
        }
        if (hole.end < start || hole.end - start < size + PAGE) {
            return 0;
        }
    }
    end = start + size;
    CKPT_INVARIANT(start % PAGE == 0 && end <= space->room.end && end <= CKPT_SPACE_END);
    if (append(space, start, end) != 0) {
        return 0;
    }
    space->room.start = end;
    return start;
}

void ckpt_space_close(struct ckpt_space *space)
{
    free(space->used);
    *space = (struct ckpt_space){0};
}
