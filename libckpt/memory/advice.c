/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * advice.c - read the flags of all mappings from /proc/self/smaps, and set them
 * again after a restart.
 *
 * A mapping there is a line as in maps, and lines "Name: value"; the last is
 * "VmFlags: rd wr mr mw me dd hg ", two letters for each flag.
 */
#include "memory/advice.h"

#include "base/text.h"
#include "memory/maps.h"
#include "sys/syscall.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#define FLAGS "VmFlags:"
#define LOCKED (-1) /* in place of an advice */

static const struct {
    char letters[3];
    int advice;
} known[] = {
    {"lo", LOCKED},         {"dc", MADV_DONTFORK},
    {"dd", MADV_DONTDUMP},  {"wf", MADV_WIPEONFORK},
    {"hg", MADV_HUGEPAGE},  {"nh", MADV_NOHUGEPAGE},
    {"mg", MADV_MERGEABLE}, {"sr", MADV_SEQUENTIAL},
    {"rr", MADV_RANDOM},
};
#define KNOWN (sizeof known / sizeof known[0])

struct advised {
    uint64_t start;
    uint64_t end;
    uint64_t which; /* bits: indices of known[] */
};

static int is_given;
static int lock_all; /* MCL_* */
static struct advised *list;
static size_t count;

void ckpt_advice_given(void)
{
    is_given = 1;
}

void ckpt_advice_lock_all(int flags)
{
    lock_all = flags;
    is_given = 1;
}

/* The bits of a line of flags. */
static uint64_t parse_flags(const char *line)
{
    uint64_t which = 0;

    for (const char *at = line + sizeof FLAGS - 1; at[0] == ' ' &&
         at[1] != '\0' && at[1] != '\n' && at[2] != '\0'; at += 3) {
        for (size_t i = 0; i < KNOWN; i++) {
            if (at[1] == known[i].letters[0] && at[2] == known[i].letters[1]) {
                which |= UINT64_C(1) << i;
            }
        }
    }
    return which;
}

/* "START-END ..." at the beginning of a line; of others nothing is taken. */
static void parse_range(const char *line, struct advised *range)
{
    uint64_t start, end;
    const char *at = ckpt_text_hexadecimal(line, &start);

    if (at != NULL && *at == '-' &&
        ckpt_text_hexadecimal(at + 1, &end) != NULL) {
        range->start = start;
        range->end = end;
    }
}

static int is_excluded(const struct advised *range,
                       const struct ckpt_range *excluded, size_t excluded_count)
{
    for (size_t i = 0; i < excluded_count; i++) {
        if (excluded[i].start < range->end && range->start < excluded[i].end) {
            return 1;
        }
    }
    return 0;
}

/* Fills list[] from the text; with list NULL only counts. */
static size_t parse(const char *text, const struct ckpt_range *excluded,
                    size_t excluded_count, struct advised *to)
{
    struct advised range = {0, 0, 0};
    size_t found = 0;

    for (const char *line = text; line != NULL && *line != '\0';) {
        if (ckpt_text_starts(line, FLAGS)) {
            range.which = parse_flags(line);
            if (range.which != 0 && range.end > range.start &&
                !is_excluded(&range, excluded, excluded_count)) {
                if (to != NULL) {
                    to[found] = range;
                }
                found++;
            }
            range.end = 0;
        } else {
            parse_range(line, &range);
        }
        line = strchr(line, '\n');
        line = line == NULL ? NULL : line + 1;
    }
    return found;
}

int ckpt_advice_save(struct ckpt_arena *arena,
                     const struct ckpt_range *excluded, size_t excluded_count,
                     struct ckpt_failure *failure)
{
    char *text;
    size_t size;
    int error;

    count = 0;
    if (!is_given) {
        return 0;
    }
    error = ckpt_proc_read(arena, "/proc/self/smaps", &text, &size, failure);
    if (error != 0) {
        return error;
    }
    count = parse(text, excluded, excluded_count, NULL);
    list = (struct advised *)ckpt_arena_alloc(arena, count * sizeof *list);
    if (list == NULL && count != 0) {
        count = 0;
        return ckpt_fail(failure, -ENOMEM, "no room for the flags of the memory");
    }
    parse(text, excluded, excluded_count, list);
    return 0;
}

int ckpt_advice_against_copies(void)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < KNOWN; k++) {
            if ((list[i].which >> k & 1) != 0 &&
                (known[k].advice == MADV_DONTFORK ||
                 known[k].advice == MADV_WIPEONFORK)) {
                return 1;
            }
        }
    }
    return 0;
}

void ckpt_advice_restore(void)
{
    for (size_t i = 0; i < count; i++) {
        void *start = (void *)list[i].start;
        size_t size = list[i].end - list[i].start;

        for (size_t k = 0; k < KNOWN; k++) {
            if ((list[i].which >> k & 1) == 0) {
                continue;
            }
            if (known[k].advice == LOCKED) {
                ckpt_syscall3(SYS_mlock, (long)start, (long)size, 0);
            } else {
                ckpt_sys_madvise(start, size, known[k].advice);
            }
        }
    }
    if ((lock_all & MCL_FUTURE) != 0) {
        ckpt_syscall3(SYS_mlockall, lock_all, 0, 0);
    }
}
