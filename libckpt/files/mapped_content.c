/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mapped_content.c - gives the agent the content of large files as mappings, so that no copy of
 * it takes memory.
 *
 * A file's content has one range of addresses. Data of the file is mapped there; holes have no
 * memory. The ranges are described as regions of the process. They are unmapped when the agent
 * has read them. A restart writes the bytes to the file and does not recreate these ranges.
 *
 * The program itself may have mapped parts of a file without a name, shared and writable. Such
 * parts are saved with the program's memory and return to the file with that memory. So here
 * they count as holes.
 */
#include "files/file_kind.h"

#include "base/invariant.h"
#include "base/text.h"
#include "memory/maps.h"
#include "sys/syscall.h"

#include <fcntl.h>
#include <sys/mman.h>

#define PAGE_SIZE  ((uint64_t)4096)
#define MOST_VIEWS 256 /* mappings of one file by the program; further ones are saved twice */

static int is_forbidden;
static struct ckpt_region regions[CKPT_FILES_CONTENT_REGIONS];
static size_t region_count;

/* The program's mappings of the current file, as offsets in the file. */
static struct ckpt_range views[MOST_VIEWS];
static size_t view_count;

static uint64_t page_down(uint64_t offset)
{
    return offset & ~(PAGE_SIZE - 1);
}

static uint64_t page_up(uint64_t offset)
{
    return page_down(offset + PAGE_SIZE - 1);
}

/* Adds the next part of a file's range, up to `end`. Returns 0 if the list of regions is
 * full. */
static int add_part(uint64_t *at, uint64_t end, uint32_t protection)
{
    CKPT_INVARIANT(*at <= end && *at % PAGE_SIZE == 0 && end % PAGE_SIZE == 0);
    if (*at == end) {
        return 1;
    }
    if (region_count == CKPT_FILES_CONTENT_REGIONS) {
        return 0;
    }
    regions[region_count++] = (struct ckpt_region){
        .start = *at,
        .end = end,
        .protection = protection,
        .kind = CKPT_REGION_FILE_CONTENT,
    };
    *at = end;
    return 1;
}

static int is_made_anew(const struct ckpt_file *file)
{
    return file->kind == CKPT_FILE_UNNAMED ||
           (file->kind == CKPT_FILE_MEMFD &&
            (file->detail & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE)) == 0);
}

/* Fills the list of views. Returns 0 or -errno with the reason. */
static int find_views(const struct ckpt_file_save *save, const struct ckpt_file *file,
                      struct ckpt_failure *failure)
{
    const char *path = save->arena->strings + file->path;
    const int wanted = PROT_READ | PROT_WRITE;
    struct ckpt_mapping mapping;
    char *text;
    size_t size;
    int error;

    view_count = 0;
    if (!is_made_anew(file)) {
        return 0;
    }
    error = ckpt_proc_read(save->arena, "/proc/self/maps", &text, &size, failure);
    while (error == 0 && view_count < MOST_VIEWS && ckpt_maps_next(&text, &mapping) > 0) {
        if (mapping.shared && mapping.inode == file->inode &&
            ((int)mapping.protection & wanted) == wanted &&
            ckpt_text_equal(mapping.name, path)) {
            views[view_count++] = (struct ckpt_range){
                mapping.file_offset, mapping.file_offset + (mapping.end - mapping.start)};
        }
    }
    return error;
}

/* Returns the first range inside `part` that is outside all views; an empty one at its end if
 * none is left. */
static struct ckpt_range outside_views(struct ckpt_range part)
{
    for (size_t i = 0; i < view_count; i++) {
        if (part.start < part.end && views[i].start <= part.start &&
            views[i].end > part.start) {
            part.start = views[i].end < part.end ? views[i].end : part.end;
            i = (size_t)-1; /* start again with the first view */
        }
    }
    for (size_t i = 0; i < view_count; i++) {
        if (views[i].start > part.start && views[i].start < part.end) {
            part.end = views[i].start;
        }
    }
    return part;
}

/* Adds the parts of [data.start, data.end) outside the views, and the holes before them.
 * Returns 0 if the list of regions is full. */
static int add_data(struct ckpt_range data, uint64_t start, uint64_t *at)
{
    struct ckpt_range left = {page_down(data.start), page_up(data.end)};

    while (left.start < left.end) {
        const struct ckpt_range part = outside_views(left);
        const uint64_t from = start + part.start, to = start + part.end;

        CKPT_INVARIANT(part.start >= left.start && part.end <= left.end);
        if (part.start == part.end) {
            break;
        }
        if ((from > *at && !add_part(at, from, PROT_NONE)) ||
            (to > *at && !add_part(at, to, PROT_READ))) {
            return 0;
        }
        left.start = part.end;
    }
    return 1;
}

/* Adds holes and data of the file, whose range begins at `start`. Returns 0 if the list of
 * regions is full. */
static int add_parts(int fd, uint64_t size, uint64_t start)
{
    struct ckpt_range part = {0, 0};
    uint64_t at = start;

    while (part.end < size) {
        part = ckpt_file_next_data(fd, part.end, size);
        if (part.start == part.end) {
            break; /* only a hole is left */
        }
        if (!add_data(part, start, &at)) {
            return 0;
        }
    }
    return add_part(&at, start + page_up(size), PROT_NONE);
}

/* Maps the data parts of the file's range. Returns 0 if a mapping fails. */
static int map_parts(int fd, size_t first, uint64_t start)
{
    for (size_t i = first; i < region_count; i++) {
        const struct ckpt_region *part = &regions[i];

        if (part->protection != PROT_NONE &&
            ckpt_sys_failed(ckpt_sys_mmap((void *)part->start, part->end - part->start,
                                          PROT_READ, MAP_PRIVATE | MAP_FIXED, fd,
                                          (int64_t)(part->start - start)))) {
            return 0;
        }
    }
    return 1;
}

int ckpt_file_map_content(const struct ckpt_file_save *save, int fd, struct ckpt_file *file,
                          struct ckpt_failure *failure)
{
    const size_t first = region_count;
    const uint64_t size = page_up(file->size);
    long start;
    int error;

    if (is_forbidden) {
        return 0;
    }
    error = find_views(save, file, failure);
    if (error != 0) {
        return error;
    }
    start = ckpt_sys_mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                          -1, 0);
    if (ckpt_sys_failed(start)) {
        return 0;
    }
    if (!add_parts(fd, file->size, (uint64_t)start) || !map_parts(fd, first, (uint64_t)start)) {
        region_count = first;
        (void)ckpt_sys_munmap((void *)start, size);
        return 0;
    }
    CKPT_INVARIANT(region_count > first && regions[first].start == (uint64_t)start &&
                   regions[region_count - 1].end == (uint64_t)start + size);
    for (size_t i = first; i < region_count; i++) {
        regions[i].path = file->path;
    }
    file->payload = (uint64_t)start;
    file->payload_size = file->size;
    return 1;
}

void ckpt_files_allow_mappings(int allowed)
{
    is_forbidden = !allowed;
}

size_t ckpt_files_content_regions(const struct ckpt_region **regions_p)
{
    CKPT_INVARIANT(region_count <= CKPT_FILES_CONTENT_REGIONS);
    *regions_p = regions;
    return region_count;
}

void ckpt_files_release(void)
{
    for (size_t i = 0; i < region_count; i++) {
        (void)ckpt_sys_munmap((void *)regions[i].start, regions[i].end - regions[i].start);
    }
    region_count = 0;
}

void ckpt_file_contents_gone(void)
{
    region_count = 0;
}
