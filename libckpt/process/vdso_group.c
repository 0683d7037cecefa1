/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vdso_group.c - finds this kernel's vDSO, and moves it away from the place of the saved one.
 */
#include "process/vdso_group.h"

#include "base/invariant.h"
#include "base/text.h"
#include "process/vdso.h"
#include "sys/syscall.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

void ckpt_vdso_group_add(struct ckpt_vdso_group *group, const struct ckpt_mapping *mapping)
{
    const struct ckpt_range range = {mapping->start, mapping->end};
    const int is_image = ckpt_text_equal(mapping->name, "[vdso]");

    if (!is_image && !ckpt_text_starts(mapping->name, "[vvar")) {
        return;
    }
    if (group->part_count == sizeof group->parts / sizeof group->parts[0]) {
        return;
    }
    CKPT_INVARIANT(group->part_count == 0 ||
                   group->parts[group->part_count - 1].end <= range.start);
    group->parts[group->part_count++] = range;
    if (is_image) {
        group->image = range;
    }
}

struct ckpt_range ckpt_vdso_group_range(const struct ckpt_vdso_group *group)
{
    struct ckpt_range range = {0, 0};

    if (group->part_count > 0) {
        range.start = group->parts[0].start;
        range.end = group->parts[group->part_count - 1].end;
    }
    return range;
}

/* Moves the first `count` parts from `from` bytes behind their home to `to` bytes behind it.
 * *moved_p: how many have moved. Returns 0 or -errno. */
static long move_parts(const struct ckpt_vdso_group *group, size_t count, uint64_t from,
                       uint64_t to, size_t *moved_p)
{
    for (*moved_p = 0; *moved_p < count; (*moved_p)++) {
        const struct ckpt_range *part = &group->parts[*moved_p];
        const size_t size = part->end - part->start;
        const long there = ckpt_sys_mremap((void *)(part->start + from), size, size,
                                           MREMAP_MAYMOVE | MREMAP_FIXED,
                                           (void *)(part->start + to));

        if (there != (long)(part->start + to)) {
            return there;
        }
    }
    return 0;
}

/* Puts zero pages and a copy of the vDSO where the group was. Returns 0 or -errno. */
static long fill_home(const struct ckpt_vdso_group *group, uint64_t distance)
{
    const struct ckpt_range home = ckpt_vdso_group_range(group);
    const struct ckpt_range *image = &group->image;
    long result;

    CKPT_INVARIANT(home.start <= image->start && image->end <= home.end);
    result = ckpt_sys_mmap((void *)home.start, home.end - home.start,
                           PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

    if (result != (long)home.start) {
        return result;
    }
    memcpy((void *)image->start, (const void *)(image->start + distance),
           image->end - image->start);
    return image->start == home.start
               ? 0
               : ckpt_sys_mprotect((void *)home.start, image->start - home.start, PROT_READ);
}

/* Moves the group to another place, or leaves it where it is. Returns the distance; 0 with
 * *error_p if that fails. */
static uint64_t leave_home(const struct ckpt_vdso_group *group, long *error_p)
{
    const struct ckpt_range home = ckpt_vdso_group_range(group);
    const size_t size = home.end - home.start;
    const long place = ckpt_sys_mmap(NULL, size, PROT_NONE,
                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    const uint64_t distance = (uint64_t)place - home.start;
    size_t moved, back;

    if (ckpt_sys_failed(place)) {
        *error_p = place;
        return 0;
    }
    *error_p = move_parts(group, group->part_count, 0, distance, &moved);
    if (*error_p == 0) {
        *error_p = fill_home(group, distance);
    }
    if (*error_p == 0) {
        return distance;
    }
    CKPT_INVARIANT(move_parts(group, moved, distance, 0, &back) == 0);
    (void)ckpt_sys_munmap((void *)place, size);
    return 0;
}

int ckpt_vdso_group_leave(const struct ckpt_vdso_group *group, struct ckpt_range saved,
                          uint64_t *vdso_p, struct ckpt_failure *failure)
{
    const struct ckpt_range *image = &group->image;
    const size_t size = saved.end - saved.start;
    uint64_t distance = 0;
    long error = 0;
    int redirected;

    *vdso_p = image->start;
    if (saved.start == saved.end) {
        return 0;
    }
    if (image->start == 0) {
        return ckpt_refuse(failure, CKPT_REFUSAL_OTHER_KERNEL, -ENOTSUP,
                           "this kernel offers no vDSO");
    }
    if (image->start == saved.start) {
        CKPT_INVARIANT(image->end == saved.end);
        distance = leave_home(group, &error);
    } else {
        error = ckpt_sys_mprotect((void *)saved.start, size, PROT_READ | PROT_WRITE);
    }
    if (error != 0) {
        return ckpt_refuse(failure, CKPT_REFUSAL_OTHER_KERNEL, (int)error,
                           "this kernel does not let its vDSO be moved: error %l", -error);
    }
    *vdso_p = image->start + distance;
    CKPT_INVARIANT(*vdso_p != saved.start); /* the functions would lead to themselves */
    redirected = ckpt_vdso_redirect((unsigned char *)saved.start, size,
                                    (const unsigned char *)*vdso_p, image->end - image->start,
                                    *vdso_p, failure);
    error = ckpt_sys_mprotect((void *)saved.start, size, PROT_READ | PROT_EXEC);
    if (redirected == 0 && error != 0) {
        return ckpt_fail(failure, (int)error, "the saved vDSO cannot be made executable");
    }
    return redirected;
}
