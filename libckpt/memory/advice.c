/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * advice.c - reads the flags of all mappings from /proc/self/smaps, and sets them again after a
 * restart.
 *
 * A mapping there is a line as in maps, followed by lines "Name: value". The last one is
 * "VmFlags: rd wr mr mw me dd hg ", with two letters for each flag. The list of many mappings
 * is too long to be held, so it is read in parts. The kernel walks all pages to produce it. So
 * it is read only if the program has called a function that may have set a flag, for example
 * syscall(), or if libc may set flags itself.
 */
#include "memory/advice.h"

#include "base/invariant.h"
#include "base/text.h"
#include "memory/regions.h"
#include "sys/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#define LIST  "/proc/self/smaps"
#define FLAGS "VmFlags:"

/* Values in place of an advice. */
#define LOCKED    (-1)
#define DROPPABLE (-2) /* MAP_DROPPABLE: a copy may lack this memory */
#define SEALED    (-3) /* mseal() */

/* Missing from older headers. */
#ifndef MAP_DROPPABLE
#define MAP_DROPPABLE 0x08
#endif
#define SYSTEM_CALL_MSEAL 462

/* Longer than any line: a name has up to PATH_MAX characters, some escaped as four. */
#define PART_SIZE ((size_t)32 << 10)

static const struct {
    char letters[3];
    int advice;
} known[] = {
    {"lo", LOCKED},
    {"dc", MADV_DONTFORK},
    {"dd", MADV_DONTDUMP},
    {"wf", MADV_WIPEONFORK},
    {"hg", MADV_HUGEPAGE},
    {"nh", MADV_NOHUGEPAGE},
    {"mg", MADV_MERGEABLE},
    {"sr", MADV_SEQUENTIAL},
    {"rr", MADV_RANDOM},
    {"dp", DROPPABLE},
    {"sl", SEALED},
};
#define KNOWN (sizeof known / sizeof known[0])
_Static_assert(KNOWN <= 64, "a known advice is a bit of `which`");

struct advised {
    struct advised *next; /* next element; it has a lower address */
    uint64_t start;
    uint64_t end;
    uint64_t which; /* bit i: known[i] applies */
    int protection;
};

static int is_given;
static int lock_all; /* flags of mlockall(), MCL_* */
static struct advised *list;

void ckpt_advice_given(void)
{
    is_given = 1;
}

void ckpt_advice_mapping(int flags)
{
    if ((flags & MAP_LOCKED) != 0 || (flags & MAP_TYPE) == MAP_DROPPABLE) {
        is_given = 1;
    }
}

void ckpt_advice_lock_all(int flags)
{
    lock_all = flags;
    is_given = 1;
}

/* Returns 1 if the range has that advice. */
static int has(const struct advised *range, int advice)
{
    for (size_t i = 0; i < KNOWN; i++) {
        if (known[i].advice == advice && (range->which >> i & 1) != 0) {
            return 1;
        }
    }
    return 0;
}

/* Returns the protection in a line of flags. */
static int parse_protection(const char *line)
{
    int protection = PROT_NONE;

    for (const char *at = line + sizeof FLAGS - 1;
         at[0] == ' ' && at[1] != '\0' && at[2] != '\0'; at += 3) {
        protection |= ckpt_text_starts(at, " rd") ? PROT_READ : 0;
        protection |= ckpt_text_starts(at, " wr") ? PROT_WRITE : 0;
        protection |= ckpt_text_starts(at, " ex") ? PROT_EXEC : 0;
    }
    return protection;
}

/* Returns the bits of known[] in a line of flags. */
static uint64_t parse_flags(const char *line)
{
    uint64_t which = 0;

    for (const char *at = line + sizeof FLAGS - 1; at[0] == ' ' &&
                                                   at[1] != '\0' && at[2] != '\0';
         at += 3) {
        for (size_t i = 0; i < KNOWN; i++) {
            if (at[1] == known[i].letters[0] && at[2] == known[i].letters[1]) {
                which |= UINT64_C(1) << i;
            }
        }
    }
    return which;
}

/* Parses "START-END ..." at the beginning of a line; ignores other lines. */
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

/* The state of reading the list of mappings. */
struct scan {
    struct ckpt_arena *arena;
    const struct ckpt_range *excluded;
    size_t excluded_count;
    struct advised range; /* the mapping whose lines are being read */
    char *part;
    size_t used; /* bytes in `part`, which begins with a whole line */
};

static int is_excluded(const struct scan *scan)
{
    if (scan->range.start == ckpt_regions_vdso().start) {
        return 1; /* the kernel may have sealed it; a restart replaces it with a copy */
    }
    for (size_t i = 0; i < scan->excluded_count; i++) {
        if (scan->excluded[i].start < scan->range.end &&
            scan->range.start < scan->excluded[i].end) {
            return 1;
        }
    }
    return 0;
}

/* Handles one line of the list. Returns 0 or -ENOMEM. */
static int take_line(struct scan *scan, const char *line)
{
    struct advised *advised;

    if (!ckpt_text_starts(line, FLAGS)) {
        parse_range(line, &scan->range);
        return 0;
    }
    scan->range.which = parse_flags(line);
    scan->range.protection = parse_protection(line);
    if (scan->range.which == 0 || is_excluded(scan)) {
        return 0;
    }
    CKPT_INVARIANT(scan->range.start < scan->range.end); /* the line of a range came before */
    CKPT_INVARIANT(list == NULL || list->end <= scan->range.start);
    advised = ckpt_arena_alloc(scan->arena, sizeof *advised);
    if (advised == NULL) {
        return -ENOMEM;
    }
    *advised = scan->range;
    advised->next = list;
    list = advised;
    return 0;
}

/* Handles all whole lines of the part, and keeps the rest. Returns 0 or -errno. */
static int take_lines(struct scan *scan)
{
    char *line = scan->part;
    char *end;
    int error = 0;

    CKPT_INVARIANT(scan->used <= PART_SIZE);
    while (error == 0 &&
           (end = memchr(line, '\n',
                         scan->used - (size_t)(line - scan->part))) != NULL) {
        *end = '\0';
        error = take_line(scan, line);
        line = end + 1;
    }
    scan->used -= (size_t)(line - scan->part);
    memmove(scan->part, line, scan->used);
    return error != 0 ? error : scan->used < PART_SIZE ? 0
                                                       : -EINVAL;
}

static int read_list(struct scan *scan)
{
    const int fd = (int)ckpt_sys_open(LIST, O_RDONLY | O_CLOEXEC, 0);
    long got = fd;

    while (got >= 0) {
        got = ckpt_sys_read(fd, scan->part + scan->used, PART_SIZE - scan->used);
        if (got == -EINTR) {
            got = 0;
        } else if (got == 0) {
            break;
        } else if (got > 0) {
            scan->used += (size_t)got;
            got = take_lines(scan);
        }
    }
    if (fd >= 0) {
        ckpt_sys_close(fd);
    }
    return (int)got;
}

int ckpt_advice_save(struct ckpt_arena *arena,
                     const struct ckpt_range *excluded, size_t excluded_count,
                     struct ckpt_failure *failure)
{
    struct scan scan = {
        .arena = arena,
        .excluded = excluded,
        .excluded_count = excluded_count,
    };
    int error;

    list = NULL;
    if (!is_given) {
        return 0;
    }
    scan.part = ckpt_arena_alloc(arena, PART_SIZE);
    if (scan.part == NULL) {
        return ckpt_fail(failure, -ENOMEM, "no room for the flags of the memory");
    }
    error = read_list(&scan);
    memset(scan.part, 0, PART_SIZE); /* the image includes this memory */
    return error == 0 ? 0
                      : ckpt_fail(failure, error,
                                  "the flags of the memory cannot be read from " LIST
                                  ": error %d",
                                  -error);
}

int ckpt_advice_against_copies(void)
{
    for (const struct advised *range = list; range != NULL; range = range->next) {
        if ((has(range, MADV_DONTFORK) || has(range, MADV_WIPEONFORK)) &&
            !has(range, DROPPABLE)) {
            return 1;
        }
    }
    return 0;
}

/*
 * Makes memory droppable again, without its content. It holds the state of random numbers
 * (getrandom() of the vDSO), which must not repeat after a restart. If the kernel lacks such
 * memory, or generates random numbers differently, zeros make the program ask the kernel.
 */
static void make_droppable(void *start, size_t size, int protection)
{
    if (ckpt_sys_failed(ckpt_sys_mmap(start, size, protection,
                                      MAP_DROPPABLE | MAP_ANONYMOUS | MAP_FIXED, -1, 0))) {
        ckpt_sys_madvise(start, size, MADV_DONTNEED);
    }
}

static void advise(const struct advised *range)
{
    void *start = (void *)range->start;
    size_t size = range->end - range->start;

    CKPT_INVARIANT(size > 0 && (uintptr_t)start + size == range->end);
    if (has(range, DROPPABLE)) {
        make_droppable(start, size, range->protection);
    }
    for (size_t i = 0; i < KNOWN; i++) {
        if ((range->which >> i & 1) == 0 || known[i].advice == DROPPABLE) {
            continue;
        }
        if (known[i].advice == SEALED) { /* the last one: a sealed mapping takes no further
                                            advice */
            ckpt_syscall3(SYSTEM_CALL_MSEAL, (long)start, (long)size, 0);
        } else if (known[i].advice == LOCKED) {
            ckpt_syscall3(SYS_mlock, (long)start, (long)size, 0);
        } else {
            ckpt_sys_madvise(start, size, known[i].advice);
        }
    }
}

void ckpt_advice_restore(void)
{
    for (const struct advised *range = list; range != NULL; range = range->next) {
        advise(range);
    }
    if ((lock_all & MCL_FUTURE) != 0) {
        ckpt_syscall3(SYS_mlockall, lock_all, 0, 0);
    }
}
