/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * regions.c - finds and classifies the memory regions of this process.
 *
 * The kernel merges neighbouring mappings, so a line of its list can include both saved and
 * excluded memory. Each line is split at the excluded ranges.
 */
#include "memory/regions.h"

#include "base/arena.h"
#include "base/invariant.h"
#include "base/text.h"
#include "ipc/system_v.h"
#include "memory/maps.h"
#include "memory/shared_memory.h"
#include "sys/syscall.h"

#include <errno.h>
#include <linux/magic.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

/* Minimum characters in a line of the kernel's list. */
#define SHORTEST_LINE 40u

#define SHARED_ANONYMOUS "/dev/zero (deleted)"
#define SECRET_MEMORY    "/secretmem"

/* The kernel's placement of vDSO and stack when this program started. */
static struct {
    struct ckpt_range vdso;
    uint64_t stack; /* an address in the main stack */
} origin;

static void remember_vdso(void)
{
    struct ckpt_failure failure;
    struct ckpt_mapping mapping;
    struct ckpt_arena arena;
    uint64_t start = getauxval(AT_SYSINFO_EHDR);
    char *text;
    size_t size;

    if (start == 0 || ckpt_arena_open(&arena) != 0) {
        return;
    }
    if (ckpt_proc_read(&arena, "/proc/self/maps", &text, &size, &failure) ==
        0) {
        while (ckpt_maps_next(&text, &mapping) > 0) {
            if (mapping.start == start) {
                origin.vdso =
                    (struct ckpt_range){mapping.start, mapping.end};
            }
        }
    }
    ckpt_arena_close(&arena);
}

void ckpt_regions_open(void)
{
    remember_vdso();
    origin.stack = getauxval(AT_RANDOM); /* the kernel placed these bytes on the stack */
}

struct ckpt_range ckpt_regions_vdso(void)
{
    return origin.vdso;
}

static int is_skipped(const struct ckpt_mapping *mapping)
{
    if (ckpt_text_equal(mapping->name, "[vdso]")) {
        return mapping->start != origin.vdso.start;
    }
    return ckpt_text_starts(mapping->name, "[vvar") ||
           ckpt_text_equal(mapping->name, "[vsyscall]") ||
           ckpt_text_equal(mapping->name, "[uprobes]");
}

static int refuse(const struct ckpt_mapping *mapping, const char *what,
                  struct ckpt_failure *failure)
{
    return ckpt_refuse(failure, CKPT_REFUSAL_UNSAVABLE_MEMORY, -ENOTSUP,
                       "memory %x-%x (%s) cannot be saved: it is %s",
                       mapping->start, mapping->end,
                       mapping->name[0] != '\0' ? mapping->name : "no name",
                       what);
}

/* Returns 1 if opening `name` would open the mapped file. btrfs and overlayfs report other
 * device numbers in the list than in stat(), so only inodes are compared. */
static int same_file(const struct ckpt_mapping *mapping, struct stat *status)
{
    return mapping->name[0] == '/' &&
           ckpt_sys_stat(mapping->name, status) == 0 &&
           status->st_ino == mapping->inode;
}

/* Describes memory of a file that is written through the mapping, or that has no name: the
 * memory is the file's content. status: of a file with a name, or NULL. Other ranks may map the
 * file, too; the agent, which sees all ranks, handles that. */
static void be_shared_file(const struct ckpt_mapping *mapping,
                           const struct stat *status,
                           struct ckpt_region *region)
{
    region->kind = CKPT_REGION_SHARED;
    region->inode = mapping->inode;
    if (status != NULL) {
        region->device = (uint64_t)status->st_size;
        region->mode = status->st_mode & 07777;
    }
}

/* Returns 1 for a file of hugetlbfs, which can only be mapped in whole huge pages. */
static int is_of_huge_pages(const char *path)
{
    struct statfs system;

    return ckpt_syscall3(SYS_statfs, (long)path, (long)&system, 0) == 0 &&
           system.f_type == HUGETLBFS_MAGIC;
}

static int classify_shared(const struct ckpt_mapping *mapping,
                           struct ckpt_region *region,
                           struct ckpt_failure *failure)
{
    const char *name = mapping->name;
    struct stat status;

    if (ckpt_text_equal(name, SHARED_ANONYMOUS) ||
        ckpt_text_starts(name, "[anon_shmem:") ||
        ckpt_text_starts(name, "/anon_hugepage")) {
        region->kind = CKPT_REGION_SHARED;
        return 0;
    }
    if (ckpt_text_starts(name, "/SYSV")) {
        return ckpt_system_v_describe((int)mapping->inode, region, failure);
    }
    if (ckpt_text_starts(name, SECRET_MEMORY)) {
        return refuse(mapping,
                      "secret memory (memfd_secret), which only the program itself "
                      "can read",
                      failure);
    }
    if (name[0] != '/' || ckpt_text_starts(name, "/dev/zero")) {
        return refuse(mapping, "no file", failure);
    }
    if (!same_file(mapping, &status)) {
        be_shared_file(mapping, NULL, region);
        return 0;
    }
    if (!S_ISREG(status.st_mode)) {
        return refuse(mapping, "a device", failure);
    }
    if (is_of_huge_pages(name)) {
        return refuse(mapping, "a file of huge pages", failure);
    }
    if ((mapping->protection & PROT_WRITE) != 0 ||
        ckpt_is_shared_memory(mapping, &status)) {
        be_shared_file(mapping, &status, region);
        return 0;
    }
    region->kind = CKPT_REGION_FILE_SHARED;
    region->device = status.st_dev;
    region->inode = status.st_ino;
    return 0;
}

/* Device 0 (no real device) marks a file that can no longer be opened by its name, or cannot be
 * mapped in small pages. A lookup by name would find another file or none. */
static int classify_private(const struct ckpt_mapping *mapping,
                            struct ckpt_region *region,
                            struct ckpt_failure *failure)
{
    struct stat status;

    if (mapping->inode == 0) {
        region->kind = CKPT_REGION_ANONYMOUS;
        return 0;
    }
    if (mapping->name[0] != '/') {
        return refuse(mapping, "no regular file", failure);
    }
    region->kind = CKPT_REGION_FILE;
    region->inode = mapping->inode;
    if (!same_file(mapping, &status) || is_of_huge_pages(mapping->name)) {
        return 0;
    }
    if (S_ISREG(status.st_mode)) {
        region->device = status.st_dev;
        return 0;
    }
    if (ckpt_text_equal(mapping->name, "/dev/zero")) {
        region->kind = CKPT_REGION_ANONYMOUS;
        region->inode = 0;
        return 0;
    }
    return refuse(mapping, "a device", failure);
}

/* Fills in *region except its range and path. */
static int classify(const struct ckpt_mapping *mapping,
                    struct ckpt_region *region, struct ckpt_failure *failure)
{
    *region = (struct ckpt_region){.protection = mapping->protection};
    if (ckpt_text_equal(mapping->name, "[vdso]")) {
        region->kind = CKPT_REGION_VDSO;
        return 0;
    }
    if (mapping->shared) {
        return classify_shared(mapping, region, failure);
    }
    if (ckpt_text_equal(mapping->name, "[stack]") ||
        (origin.stack >= mapping->start && origin.stack < mapping->end)) {
        region->kind = CKPT_REGION_STACK;
        return 0;
    }
    if (ckpt_text_equal(mapping->name, "[heap]")) {
        region->kind = CKPT_REGION_HEAP;
        return 0;
    }
    return classify_private(mapping, region, failure);
}

/* Returns the lowest excluded range that ends after `start`, or NULL. */
static const struct ckpt_range *next_excluded(const struct ckpt_range *excluded,
                                              size_t count, uint64_t start)
{
    const struct ckpt_range *next = NULL;

    CKPT_INVARIANT(count == 0 || excluded != NULL);
    for (size_t i = 0; i < count; i++) {
        if (excluded[i].end > start && excluded[i].start < excluded[i].end &&
            (next == NULL || excluded[i].start < next->start)) {
            next = &excluded[i];
        }
    }
    return next;
}

/* Finds the first piece of [*start_p, end) that is not excluded, and advances *start_p beyond
 * it. Returns 0 if nothing is left. */
static int next_piece(const struct ckpt_range *excluded, size_t count,
                      uint64_t *start_p, uint64_t end, struct ckpt_range *piece)
{
    while (*start_p < end) {
        const struct ckpt_range *cut =
            next_excluded(excluded, count, *start_p);

        if (cut == NULL || cut->start >= end) {
            *piece = (struct ckpt_range){*start_p, end};
            *start_p = end;
            return 1;
        }
        *piece = (struct ckpt_range){*start_p, cut->start};
        CKPT_INVARIANT(cut->end > *start_p); /* each turn comes nearer to the end */
        *start_p = cut->end;
        if (piece->start < piece->end) {
            return 1;
        }
    }
    return 0;
}

/* The list of regions under construction. */
struct scan {
    struct ckpt_arena *arena;
    const struct ckpt_range *excluded;
    size_t excluded_count;
    struct ckpt_region *regions;
    size_t count;
    size_t capacity;
};

/* Neighbouring mappings often have the same name, which is then stored once. */
static ckpt_string_t store_name(struct scan *scan, const char *name)
{
    if (scan->count > 0) {
        ckpt_string_t last = scan->regions[scan->count - 1].path;

        CKPT_INVARIANT(last < scan->arena->strings_used);
        if (ckpt_text_equal(scan->arena->strings + last, name)) {
            return last;
        }
    }
    return ckpt_arena_string(scan->arena, name);
}

static int add_mapping(struct scan *scan, struct ckpt_mapping *mapping,
                       struct ckpt_failure *failure)
{
    uint64_t start = mapping->start;
    struct ckpt_range piece;
    int classified = 0;
    struct ckpt_region region;

    if (is_skipped(mapping)) {
        return 0;
    }
    ckpt_shared_memory_rename(scan->arena, mapping);
    while (next_piece(scan->excluded, scan->excluded_count, &start,
                      mapping->end, &piece)) {
        if (!classified) {
            int error = classify(mapping, &region, failure);

            if (error != 0) {
                return error;
            }
            region.path = store_name(scan, mapping->name);
            if (region.path == 0 && mapping->name[0] != '\0') {
                return ckpt_fail(failure, -ENOMEM,
                                 "no room for the names of the mappings");
            }
            classified = 1;
        }
        if (scan->count == scan->capacity) {
            return ckpt_refuse(failure, CKPT_REFUSAL_TOO_MANY_OBJECTS, -ENOMEM,
                               "too many memory regions");
        }
        CKPT_INVARIANT(piece.start >= mapping->start && piece.start < piece.end &&
                       piece.end <= mapping->end);
        CKPT_INVARIANT(scan->count == 0 || scan->regions[scan->count - 1].end <= piece.start);
        region.start = piece.start;
        region.end = piece.end;
        region.file_offset =
            region.inode == 0
                ? 0
                : mapping->file_offset + (piece.start - mapping->start);
        scan->regions[scan->count++] = region;
    }
    return 0;
}

/* A file that one mapping writes to may have changed by the restart. So a read-only mapping of
 * the file uses the saved content of the writable mapping. */
static void join_writable(struct scan *scan)
{
    for (size_t i = 0; i < scan->count; i++) {
        struct ckpt_region *region = &scan->regions[i];

        for (size_t k = 0; k < scan->count &&
                           region->kind == CKPT_REGION_FILE_SHARED;
             k++) {
            if (scan->regions[k].kind == CKPT_REGION_SHARED &&
                scan->regions[k].inode == region->inode) {
                region->kind = CKPT_REGION_SHARED;
                region->device = scan->regions[k].device;
                region->mode = scan->regions[k].mode;
            }
        }
    }
}

/* Fills scan->regions from the kernel's list. */
static int scan_list(struct scan *scan, struct ckpt_failure *failure)
{
    struct ckpt_mapping mapping;
    char *text;
    size_t size;
    int more;
    int error;

    error = ckpt_proc_read(scan->arena, "/proc/self/maps", &text, &size, failure);
    if (error != 0) {
        return error;
    }
    /* An excluded range inside a mapping adds one region. The caller may add one region of its
     * own for each excluded range. */
    scan->capacity = size / SHORTEST_LINE + 2 * scan->excluded_count + 1;
    scan->count = 0;
    scan->regions = (struct ckpt_region *)ckpt_arena_alloc(
        scan->arena, scan->capacity * sizeof *scan->regions);
    if (scan->regions == NULL) {
        return ckpt_fail(failure, -ENOMEM, "no room for the list of regions");
    }
    while ((more = ckpt_maps_next(&text, &mapping)) > 0) {
        error = add_mapping(scan, &mapping, failure);
        if (error != 0) {
            return error;
        }
    }
    if (more < 0) {
        return ckpt_fail(failure, more, "/proc/self/maps is not understood");
    }
    return 0;
}

/* If the arena had to map memory for the list, the list lacks that memory. The function then
 * scans again, with enough room. */
int ckpt_regions_scan(struct ckpt_arena *arena,
                      const struct ckpt_range *excluded, size_t excluded_count,
                      struct ckpt_region **regions_p,
                      size_t *count_p, struct ckpt_failure *failure)
{
    struct scan scan = {
        .arena = arena,
        .excluded = excluded,
        .excluded_count = excluded_count,
    };
    const struct ckpt_arena_place mark = ckpt_arena_mark(arena);
    const size_t strings_used = arena->strings_used;
    unsigned long changes;
    int error;

    do {
        changes = arena->changes;
        ckpt_arena_rewind(arena, mark);
        arena->strings_used = strings_used;
        error = scan_list(&scan, failure);
    } while (error == 0 && arena->changes != changes);
    if (error != 0) {
        return error;
    }
    CKPT_INVARIANT(scan.count + excluded_count <= scan.capacity); /* as the caller was promised */
    join_writable(&scan);
    *regions_p = scan.regions;
    *count_p = scan.count;
    return 0;
}
