/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_memory.c - record which memory belongs to the lower half.
 *
 * Three kinds of memory are known to be lower. The first is the reservation,
 * into which the functions below put everything that the lower half maps. The
 * second is the objects that its dynamic linker has loaded, which are never
 * unloaded. The third is memory that appeared before main() while no other
 * thread ran. Memory that libc maps internally is not known as lower; it only
 * makes the image larger.
 *
 * Context of the exported functions: normal (lower half).
 */
#include "base/invariant.h"
#include "config.h"
#include "lower/host/host_memory.h"

#include "lower/host/change.h"
#include "lower/host/export.h"
#include "lower/host/host_files.h"
#include "lower/host/reservation.h"
#include "lower/mappings.h"
#include "sys/mremap.h"
#include "sys/syscall.h"

#include <link.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

#define PAGE              UINT64_C(4096)
#define HUGE_PAGE         (UINT64_C(2) << 20)
#define APPEARED_MAX      64
#define ATTACHED_MAX      256
#define HUGE_SHIFT(flags) (((flags) >> 26) & 63) /* MAP_HUGE_SHIFT */
#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif
#define PLACED (MAP_FIXED | MAP_FIXED_NOREPLACE | MAP_32BIT | MAP_GROWSDOWN)
_Static_assert(HUGE_PAGE % PAGE == 0, "memory aligned for huge pages begins at a page");

static struct ckpt_range appeared[APPEARED_MAX];
static int appeared_count;

/* System V segments that are attached inside the reservation. */
static struct ckpt_range attached[ATTACHED_MAX];
static struct ckpt_spinlock attached_lock;

static uint64_t round_up(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) & ~(unit - 1);
}

static uint64_t alignment_for(size_t size, int flags)
{
    if ((flags & MAP_HUGETLB) && HUGE_SHIFT(flags) > 21) {
        return UINT64_C(1) << HUGE_SHIFT(flags);
    }
    return (flags & MAP_HUGETLB) || size >= HUGE_PAGE ? HUGE_PAGE : PAGE;
}

/* Maps at an address of the kernel's choice, then moves the mapping to `to`. So
 * an mmap that fails because of the file leaves the reservation intact. */
static long map_and_move(struct ckpt_range to, int protection, int flags,
                         int fd, off_t offset)
{
    size_t size = to.end - to.start;
    long from, result;

    from = ckpt_sys_mmap(NULL, size, protection, flags, fd, offset);
    if (ckpt_sys_failed(from)) {
        ckpt_reservation_give(to);
        return from;
    }
    result = ckpt_sys_mremap((void *)from, size, size,
                             MREMAP_MAYMOVE | MREMAP_FIXED, (void *)to.start);
    if (ckpt_sys_failed(result)) {
        /* The mapping stays outside: it works, but is not known as lower. */
        ckpt_reservation_undo(to);
        return from;
    }
    return result;
}

static long map_inside(size_t size, int protection, int flags, int fd,
                       off_t offset)
{
    uint64_t alignment = alignment_for(size, flags);
    struct ckpt_range to;
    long result;

    size = round_up(size, (flags & MAP_HUGETLB) ? alignment : PAGE);
    to.start = ckpt_reservation_take(size, alignment);
    if (to.start == 0) {
        return ckpt_sys_mmap(NULL, size, protection, flags, fd, offset);
    }
    CKPT_INVARIANT(to.start % alignment == 0 && size % PAGE == 0);
    to.end = to.start + size;
    if (!(flags & MAP_ANONYMOUS) || (flags & MAP_HUGETLB)) {
        return map_and_move(to, protection, flags, fd, offset);
    }
    result = ckpt_sys_mmap((void *)to.start, size, protection,
                           flags | MAP_FIXED, fd, offset);
    if (ckpt_sys_failed(result)) {
        ckpt_reservation_undo(to);
    }
    return result;
}

/* Maps at an address that the caller requires (MAP_FIXED) or prefers. PMIx
 * prefers one for shared memory, which has the same address in several
 * processes. */
static long map_at(void *address, size_t size, int protection, int flags,
                   int fd, off_t offset)
{
    long result = ckpt_sys_mmap(address, size, protection, flags, fd, offset);
    struct ckpt_range range;

    if (ckpt_sys_failed(result)) {
        return result;
    }
    range.start = (uint64_t)result;
    range.end = range.start + round_up(size, PAGE);
    if (ckpt_reservation_part(range).start < range.end) {
        ckpt_reservation_claim(range);
    } else if (flags & MAP_FIXED_NOREPLACE) {
        ckpt_reservation_add(range);
    }
    return result;
}

static long map(void *address, size_t size, int protection, int flags, int fd,
                off_t offset)
{
    long result;

    if ((flags & PLACED) != 0 || size == 0 || size > UINT64_C(1) << 46) {
        return map_at(address, size, protection, flags, fd, offset);
    }
    if (address != NULL && !(flags & MAP_ANONYMOUS)) {
        result = map_at(address, size, protection, flags | MAP_FIXED_NOREPLACE,
                        fd, offset);
        if (result != -EEXIST) {
            return result;
        }
    }
    return map_inside(size, protection, flags, fd, offset);
}

CKPT_EXPORT void *mmap(void *address, size_t size, int protection, int flags,
                       int fd, off_t offset)
{
    uint64_t mask;
    long result;

    ckpt_change_begin(&mask);
    result = map(address, size, protection, flags, fd, offset);
    if ((flags & (MAP_SHARED | MAP_ANONYMOUS)) == MAP_SHARED && !ckpt_sys_failed(result)) {
        ckpt_host_file_mapped(fd);
    }
    ckpt_change_end(&mask);
    return (void *)ckpt_libc_result(result);
}

_Static_assert(sizeof(off64_t) == sizeof(off_t), "mmap64 is mmap");

CKPT_EXPORT void *mmap64(void *address, size_t size, int protection, int flags,
                         int fd, off64_t offset)
{
    return mmap(address, size, protection, flags, fd, offset);
}

/* The upper half may map here next, so the range must no longer count as
 * lower. */
static void forget_appeared(struct ckpt_range range)
{
    for (int i = 0; i < appeared_count; i++) {
        if (range.start < appeared[i].end && appeared[i].start < range.end) {
            appeared[i] = (struct ckpt_range){0, 0};
        }
    }
}

static long unmap(struct ckpt_range range)
{
    struct ckpt_range part;
    long result = 0;

    while (range.start < range.end && result == 0) {
        part = ckpt_reservation_part(range);
        if (range.start < part.start) {
            forget_appeared(
                (struct ckpt_range){range.start, part.start});
            result = ckpt_sys_munmap((void *)range.start,
                                     part.start - range.start);
        }
        if (result == 0 && part.start < part.end) {
            result = ckpt_reservation_give(part);
        }
        range.start = part.end;
    }
    return result;
}

CKPT_EXPORT int munmap(void *address, size_t size)
{
    uint64_t start = (uint64_t)address;
    struct ckpt_range range = {start, start + round_up(size, PAGE)};
    uint64_t mask;
    long result = -EINVAL;

    if (size != 0 && start % PAGE == 0 && range.end > start) {
        ckpt_change_begin(&mask);
        result = unmap(range);
        ckpt_change_end(&mask);
    }
    return (int)ckpt_libc_result(result);
}

/* Moves memory that is outside the reservation. As in map_at(), the destination
 * may be inside. */
static long move_outside(struct ckpt_range old, size_t old_size, size_t new_size, int flags,
                         void *place)
{
    const long result =
        ckpt_sys_mremap((void *)old.start, old_size, new_size, flags, place);
    struct ckpt_range range;

    if (ckpt_sys_failed(result)) {
        return result;
    }
    if ((uint64_t)result != old.start && (flags & MREMAP_DONTUNMAP) == 0) {
        forget_appeared(old);
    }
    range.start = (uint64_t)result;
    range.end = range.start + round_up(new_size, PAGE);
    if (ckpt_reservation_part(range).start < range.end) {
        ckpt_reservation_claim(range);
    }
    return result;
}

/* Inside the reservation memory can only shrink. To grow or move it the caller
 * must copy, as mremap may fail for any caller. */
CKPT_EXPORT void *mremap(void *address, size_t old_size, size_t new_size,
                         int flags, ...)
{
    uint64_t start = (uint64_t)address;
    struct ckpt_range old = {start, start + round_up(old_size, PAGE)};
    struct ckpt_range part = ckpt_reservation_part(old);
    va_list arguments;
    void *place;

    va_start(arguments, flags);
    place = ckpt_mremap_place(flags, arguments);
    va_end(arguments);
    if (part.start == part.end) {
        uint64_t mask;
        long result;

        ckpt_change_begin(&mask);
        result = move_outside(old, old_size, new_size, flags, place);
        ckpt_change_end(&mask);
        return (void *)ckpt_libc_result(result);
    }
    new_size = round_up(new_size, PAGE);
    if (new_size == 0 || new_size > old.end - start ||
        (flags & ~MREMAP_MAYMOVE) != 0) {
        return (void *)ckpt_libc_result(-ENOMEM);
    }
    if (new_size < old.end - start &&
        munmap((char *)address + new_size, old.end - start - new_size) != 0) {
        return MAP_FAILED;
    }
    return address;
}

static int remember_attached(struct ckpt_range range)
{
    int done = 0;

    ckpt_spinlock_take(&attached_lock);
    for (int i = 0; i < ATTACHED_MAX && !done; i++) {
        if (attached[i].end == 0) {
            attached[i] = range;
            done = 1;
        }
    }
    ckpt_spinlock_give(&attached_lock);
    return done;
}

static struct ckpt_range forget_attached(uint64_t start)
{
    struct ckpt_range range = {0, 0};

    ckpt_spinlock_take(&attached_lock);
    for (int i = 0; i < ATTACHED_MAX; i++) {
        if (attached[i].end != 0 && attached[i].start == start) {
            range = attached[i];
            attached[i] = (struct ckpt_range){0, 0};
            break;
        }
    }
    ckpt_spinlock_give(&attached_lock);
    return range;
}

static long attach_inside(int id, int flags)
{
    struct shmid_ds segment;
    struct ckpt_range to;
    long result;

    result = ckpt_syscall3(SYS_shmctl, id, IPC_STAT, (long)&segment);
    if (result < 0) {
        return result;
    }
    to.start = ckpt_reservation_take(segment.shm_segsz,
                                     alignment_for(segment.shm_segsz, 0));
    to.end = to.start + round_up(segment.shm_segsz, PAGE);
    if (to.start == 0 || !remember_attached(to)) {
        if (to.start != 0) {
            ckpt_reservation_give(to);
        }
        return ckpt_syscall3(SYS_shmat, id, 0, flags);
    }
    result = ckpt_syscall3(SYS_shmat, id, (long)to.start, flags | SHM_REMAP);
    if (ckpt_sys_failed(result)) {
        forget_attached(to.start);
        ckpt_reservation_undo(to);
    }
    CKPT_INVARIANT(ckpt_sys_failed(result) || (uint64_t)result == to.start);
    return result;
}

CKPT_EXPORT void *shmat(int id, const void *address, int flags)
{
    uint64_t mask;
    long result;

    ckpt_change_begin(&mask);
    if (address != NULL) {
        result = ckpt_syscall3(SYS_shmat, id, (long)address, flags);
    } else {
        result = attach_inside(id, flags);
    }
    ckpt_change_end(&mask);
    return (void *)ckpt_libc_result(result);
}

CKPT_EXPORT int shmdt(const void *address)
{
    struct ckpt_range range;
    uint64_t mask;
    long result;

    ckpt_change_begin(&mask);
    range = forget_attached((uint64_t)address);
    if (range.end == 0) {
        result = ckpt_syscall3(SYS_shmdt, (long)address, 0, 0);
    } else {
        result = ckpt_reservation_give(range); /* mapping over it detaches it */
    }
    ckpt_change_end(&mask);
    return (int)ckpt_libc_result(result);
}

/* The program break is the application's: it never moves for the lower half. */
CKPT_EXPORT int brk(void *address)
{
    (void)address;
    errno = ENOMEM;
    return -1;
}

CKPT_EXPORT void *sbrk(intptr_t increment)
{
    if (increment != 0) {
        errno = ENOMEM;
        return (void *)-1;
    }
    return (void *)ckpt_sys_brk(NULL);
}

/* Keeps objects loaded: the upper half could reuse the addresses of an unloaded
 * object before we notice. */
CKPT_EXPORT int dlclose(void *object)
{
    (void)object;
    return 0;
}

static void append_appeared(struct ckpt_range range)
{
    struct ckpt_range part;

    /* The reservation lists its own memory. */
    while (range.start < range.end) {
        part = ckpt_reservation_part(range);
        if (range.start < part.start && appeared_count < APPEARED_MAX) {
            appeared[appeared_count++] =
                (struct ckpt_range){range.start, part.start};
        }
        range.start = part.end;
    }
}

/* Appends those parts of `now` that were not mapped before. */
static void append_new(const struct ckpt_lower_start *start,
                       struct ckpt_range now)
{
    const struct ckpt_range *before = start->before;

    for (int i = 0; i < start->before_count && now.start < now.end; i++) {
        if (before[i].end <= now.start || before[i].start >= now.end) {
            continue;
        }
        append_appeared((struct ckpt_range){now.start, before[i].start});
        now.start = before[i].end;
    }
    append_appeared(now);
}

void ckpt_host_memory_open(const struct ckpt_lower_start *start)
{
    int capacity = 2 * start->before_count + 1024;
    struct ckpt_range *now;
    int count;

    if (start->before_count == 0) {
        return; /* another thread may have mapped memory since */
    }
    now = malloc((size_t)capacity * sizeof(*now));
    if (now == NULL) {
        return;
    }
    count = ckpt_mappings_read(now, capacity);
    CKPT_INVARIANT(count <= capacity);
    for (int i = 0; i < count; i++) {
        append_new(start, now[i]);
    }
    free(now);
}

/* A list of disjoint ranges in order of address, under construction. */
struct list {
    struct ckpt_range *ranges;
    int count;
    int capacity;
    int overflow;
};

static void list_add(void *argument, struct ckpt_range range)
{
    struct list *list = argument;
    struct ckpt_range *ranges = list->ranges;
    int first = 0, last;

    /* [first, last) are the ranges that touch this one. */
    while (first < list->count && ranges[first].end < range.start) {
        first++;
    }
    last = first;
    while (last < list->count && ranges[last].start <= range.end) {
        range.start = ranges[last].start < range.start ? ranges[last].start
                                                       : range.start;
        range.end = ranges[last].end > range.end ? ranges[last].end : range.end;
        last++;
    }
    CKPT_INVARIANT(range.start < range.end && first <= last && last <= list->count);
    if (first == last && list->count == list->capacity) {
        list->overflow = 1;
        return;
    }
    memmove(&ranges[first + 1], &ranges[last],
            (size_t)(list->count - last) * sizeof(*ranges));
    list->count += first + 1 - last;
    ranges[first] = range;
}

static int add_object(struct dl_phdr_info *object, size_t size, void *list)
{
    uint64_t vdso = getauxval(AT_SYSINFO_EHDR);
    struct ckpt_range range = {UINT64_MAX, 0};
    uint64_t start, end;

    (void)size;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        if (object->dlpi_phdr[i].p_type != PT_LOAD) {
            continue;
        }
        start = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;
        end = start + object->dlpi_phdr[i].p_memsz;
        range.start = start < range.start ? start : range.start;
        range.end = end > range.end ? end : range.end;
    }
    range.start &= ~(PAGE - 1);
    range.end = round_up(range.end, PAGE);
    if (range.start < range.end && range.start != vdso) {
        list_add(list, range);
    }
    return 0;
}

int ckpt_host_ranges(struct ckpt_range *ranges, int capacity)
{
    struct list list = {.ranges = ranges, .capacity = capacity};

    ckpt_change_wait();
    ckpt_reservation_visit(list_add, &list);
    for (int i = 0; i < appeared_count; i++) {
        if (appeared[i].end != 0) {
            list_add(&list, appeared[i]);
        }
    }
    dl_iterate_phdr(add_object, &list);
    CKPT_INVARIANT(list.count <= capacity);
    return list.overflow ? -E2BIG : list.count;
}
