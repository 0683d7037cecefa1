/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * undescribed.c - removes the memory that a process has not described.
 */
#include "memory/undescribed.h"

#include "base/invariant.h"
#include "base/text.h"
#include "memory/maps.h"
#include "sys/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE 4096u

int ckpt_mappings_list(char *buffer, size_t size, struct ckpt_failure *failure)
{
    const long fd = ckpt_sys_open("/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
    long got = fd;
    size_t used = 0;

    while (fd >= 0 && used < size) {
        got = ckpt_sys_read((int)fd, buffer + used, size - used);
        if (got > 0) {
            used += (size_t)got;
        } else if (got != -EINTR) {
            break;
        }
    }
    if (fd >= 0) {
        (void)ckpt_sys_close((int)fd);
    }
    if (got < 0 || used == size) {
        return ckpt_fail(failure, got < 0 ? (int)got : -E2BIG,
                         "the list of mappings cannot be read (error %l)", got < 0 ? -got : E2BIG);
    }
    buffer[used] = '\0';
    return 0;
}

/* A removal in progress. */
struct removal {
    const struct ckpt_region *regions;
    size_t count;
    size_t next; /* the first region that ends behind the present address */
    struct ckpt_range kept;
    struct ckpt_range due; /* to be unmapped with what follows it; start 0: nothing */
};

static int is_private(const struct ckpt_region *region)
{
    return region->kind == CKPT_REGION_ANONYMOUS || region->kind == CKPT_REGION_STACK ||
           region->kind == CKPT_REGION_HEAP;
}

static int is_of_kernel(const struct ckpt_mapping *mapping)
{
    return ckpt_text_equal(mapping->name, "[vdso]") ||
           ckpt_text_starts(mapping->name, "[vvar") ||
           ckpt_text_equal(mapping->name, "[vsyscall]") ||
           ckpt_text_equal(mapping->name, "[uprobes]");
}

/* Returns the first range that stays and ends behind `at`; an empty one at UINT64_MAX if there is
 * none. *region_p: its region, or NULL. */
static struct ckpt_range next_kept(struct removal *removal, uint64_t at,
                                   const struct ckpt_region **region_p)
{
    struct ckpt_range next = {UINT64_MAX, UINT64_MAX};

    while (removal->next < removal->count && removal->regions[removal->next].end <= at) {
        removal->next++;
    }
    *region_p = NULL;
    if (removal->next < removal->count) {
        *region_p = &removal->regions[removal->next];
        next = (struct ckpt_range){(*region_p)->start, (*region_p)->end};
    }
    if (removal->kept.end > at && removal->kept.start < next.start) {
        *region_p = NULL;
        next = removal->kept;
    }
    return next;
}

/* Puts private memory with the same bytes in the place of shared memory. */
static long make_private(uint64_t start, uint64_t end, uint32_t protection)
{
    const size_t size = end - start;
    const long fresh = ckpt_sys_mmap(NULL, size, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    long result = fresh;

    CKPT_INVARIANT(start % PAGE == 0 && end % PAGE == 0 && start < end);
    if (!ckpt_sys_failed(fresh)) {
        memcpy((void *)fresh, (const void *)start, size);
        result = ckpt_sys_mprotect((void *)fresh, size, (int)protection);
    }
    if (result == 0) {
        result = ckpt_sys_mremap((void *)fresh, size, size, MREMAP_MAYMOVE | MREMAP_FIXED,
                                 (void *)start);
    }
    return result == (long)start ? 0 : result;
}

/* Unmaps the range that is due. Returns 0 or -errno. */
static long remove_due(struct removal *removal)
{
    const struct ckpt_range due = removal->due;

    removal->due = (struct ckpt_range){0, 0};
    return due.start == due.end ? 0 : ckpt_sys_munmap((void *)due.start, due.end - due.start);
}

/* Adds a range to the one that is due, if it is its neighbour: a hole between two may have been
 * filled since the list was made, with memory that stays. Returns 0 or -errno. */
static long remove_later(struct removal *removal, uint64_t start, uint64_t end)
{
    long error = 0;

    CKPT_INVARIANT(start < end && removal->due.end <= start);
    if (removal->due.end != start) {
        error = remove_due(removal);
        removal->due.start = start;
    }
    removal->due.end = end;
    return error;
}

/* Removes the parts of a mapping that are not described. Returns 0 or -errno. */
static long settle(struct removal *removal, const struct ckpt_mapping *mapping)
{
    uint64_t at = mapping->start;
    long error = 0;

    while (at < mapping->end && error == 0) {
        const struct ckpt_region *region;
        const struct ckpt_range next = next_kept(removal, at, &region);
        const uint64_t from = next.start < mapping->end ? next.start : mapping->end;
        const uint64_t to = next.end < mapping->end ? next.end : mapping->end;

        if (at < from) {
            error = remove_later(removal, at, from);
            at = from;
            continue;
        }
        error = remove_due(removal);
        if (error == 0 && region != NULL && mapping->shared && is_private(region)) {
            error = make_private(at, to, region->protection);
        }
        CKPT_INVARIANT(to > at); /* each turn comes nearer to the end */
        at = to;
    }
    return error;
}

static int refuse(uint64_t address, long error, struct ckpt_failure *failure)
{
    return ckpt_fail(failure, (int)error,
                     "memory at %x cannot be removed or discarded: error %l",
                     (unsigned long)address, -error);
}

/* Discards the part of an excluded range that is private memory without a file. */
static long discard(const struct removal *removal, const struct ckpt_range *excluded)
{
    long error = 0;

    for (size_t i = 0; i < removal->count && error == 0; i++) {
        const struct ckpt_region *region = &removal->regions[i];
        const uint64_t from =
            region->start > excluded->start ? region->start : excluded->start;
        const uint64_t to = region->end < excluded->end ? region->end : excluded->end;

        if (is_private(region) && from < to) {
            error = ckpt_sys_madvise((void *)from, to - from, MADV_DONTNEED);
        }
    }
    return error;
}

static int discard_excluded(const struct removal *removal, const char *list,
                            struct ckpt_failure *failure)
{
    struct ckpt_range range;

    while (list != NULL && *list != '\0') {
        long error;

        list = ckpt_text_hexadecimal(list, &range.start);
        list = list != NULL && *list == '-' ? ckpt_text_hexadecimal(list + 1, &range.end) : NULL;
        if (!CKPT_INVARIANT(list != NULL && (*list == ' ' || *list == '\0'))) {
            return ckpt_unsound_refuse(failure);
        }
        error = discard(removal, &range);
        if (error != 0) {
            return refuse(range.start, error, failure);
        }
        list += *list == ' ';
    }
    return 0;
}

int ckpt_undescribed_remove(const struct ckpt_snapshot *snapshot, char *list,
                            struct ckpt_range kept, struct ckpt_failure *failure)
{
    struct removal removal = {
        .regions = (const struct ckpt_region *)(uintptr_t)snapshot->regions,
        .count = snapshot->region_count,
        .kept = kept,
    };
    const char *strings = (const char *)(uintptr_t)snapshot->strings;
    struct ckpt_mapping mapping;
    long last;
    int more;

    CKPT_INVARIANT(removal.count > 0 && kept.start < kept.end);
    CKPT_INVARIANT(snapshot->excluded < snapshot->strings_size);
    while ((more = ckpt_maps_next(&list, &mapping)) > 0) {
        const long error =
            is_of_kernel(&mapping) ? remove_due(&removal) : settle(&removal, &mapping);

        if (error != 0) {
            return refuse(mapping.start, error, failure);
        }
    }
    if (more < 0) {
        return ckpt_fail(failure, more, "/proc/self/maps is not understood");
    }
    last = remove_due(&removal);
    if (last != 0) {
        return refuse(removal.kept.end, last, failure);
    }
    return discard_excluded(&removal, strings + snapshot->excluded, failure);
}
