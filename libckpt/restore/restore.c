/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * restore.c - checks a snapshot and stages its memory.
 */
#include "restore/restore.h"

#include "base/arena.h"
#include "base/invariant.h"
#include "memory/maps.h"
#include "restore/restore_state.h"
#include "sys/cpu.h"
#include "process/xsave.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE 4096u

/* Free bytes kept below a stack without a limit. */
#define STACK_ROOM ((uint64_t)64 << 20)

static int is_file(const struct ckpt_region *region)
{
    return region->kind == CKPT_REGION_FILE ||
           region->kind == CKPT_REGION_FILE_SHARED;
}

static int check_region(const struct ckpt_snapshot *snapshot,
                        const struct ckpt_region *region, uint64_t free_from,
                        struct ckpt_failure *failure)
{
    if (region->start >= region->end || region->start % PAGE != 0 ||
        region->end % PAGE != 0 || region->start < free_from ||
        region->kind < CKPT_REGION_ANONYMOUS ||
        region->kind > CKPT_REGION_FILE_CONTENT ||
        region->path >= snapshot->strings_size) {
        return ckpt_refuse(failure, CKPT_REFUSAL_UNUSABLE_CHECKPOINT, -EINVAL,
                           "region %x-%x of the image is wrong",
                           region->start, region->end);
    }
    if (region->end > CKPT_SPACE_END || region->start < CKPT_SPACE_START) {
        return ckpt_refuse(failure, CKPT_REFUSAL_OTHER_KERNEL, -ENOTSUP,
                           "region %x-%x is outside of this host's addresses",
                           region->start, region->end);
    }
    return 0;
}

static int check_snapshot(const struct ckpt_snapshot *snapshot,
                          const struct ckpt_region *regions,
                          const char *strings, struct ckpt_failure *failure)
{
    uint64_t free_from = 0;

    if (snapshot->magic != CKPT_SNAPSHOT_MAGIC) {
        return ckpt_refuse(failure, CKPT_REFUSAL_UNUSABLE_CHECKPOINT, -EINVAL, "not a snapshot");
    }
    if (snapshot->version < CKPT_SNAPSHOT_OLDEST ||
        snapshot->version > CKPT_SNAPSHOT_VERSION) {
        return ckpt_refuse(failure, CKPT_REFUSAL_UNUSABLE_CHECKPOINT, -EINVAL,
                           "the snapshot has version %u, this program reads %u",
                           snapshot->version, CKPT_SNAPSHOT_VERSION);
    }
    if (snapshot->strings_size == 0 ||
        strings[snapshot->strings_size - 1] != '\0' ||
        snapshot->executable >= snapshot->strings_size) {
        return ckpt_refuse(failure, CKPT_REFUSAL_UNUSABLE_CHECKPOINT, -EINVAL,
                           "the image's names are wrong");
    }
    for (uint32_t i = 0; i < snapshot->region_count; i++) {
        int error = check_region(snapshot, &regions[i], free_from, failure);

        if (error != 0) {
            return error;
        }
        free_from = regions[i].end;
    }
    return 0;
}

static int check_cpu(const struct ckpt_snapshot *snapshot,
                     struct ckpt_failure *failure)
{
    uint32_t here[CKPT_CPU_FEATURE_WORDS];
    struct ckpt_xsave xsave;
    char names[256];
    int error;

    ckpt_cpu_read(here);
    if (ckpt_cpu_missing(snapshot->cpu_features, here, names, sizeof names) !=
        0) {
        return ckpt_refuse(failure, CKPT_REFUSAL_OTHER_CPU, -ENOTSUP,
                           "this CPU lacks what the program was using: %s",
                           names);
    }
    if (ckpt_cpu_unexpected(snapshot->cpu_features, here, names,
                            sizeof names) != 0) {
        return ckpt_refuse(failure, CKPT_REFUSAL_OTHER_CPU, -ENOTSUP,
                           "this CPU has registers that the program leaves no "
                           "room for when it binds functions lazily: %s",
                           names);
    }
    ckpt_xsave_read(&xsave);
    error = ckpt_xsave_check(&snapshot->xsave, &xsave, failure);
    return error != 0 ? error
                      : ckpt_xsave_permit(&snapshot->xsave, ckpt_xsave_ask_kernel, failure);
}

/* Returns 1 if /proc/self/smaps (in `text`) shows the mapping as sealed. A kernel may seal its
 * vDSO. */
static int is_sealed(const char *text, const char *mapping)
{
    const char *at = strstr(text, mapping);
    const char *flags = at == NULL ? NULL : strstr(at, "VmFlags:");
    const char *end = flags == NULL ? NULL : strchr(flags, '\n');
    const char *seal = end == NULL ? NULL : strstr(flags, " sl");

    return seal != NULL && seal < end;
}

/* Sets vdso->is_sealed. Returns 0 or -errno with the reason. */
static int look_for_seal(struct ckpt_arena *arena, struct ckpt_vdso_group *vdso,
                         struct ckpt_failure *failure)
{
    char *text;
    size_t size;
    int error;

    error = ckpt_proc_read(arena, "/proc/self/smaps", &text, &size, failure);
    if (error == 0) {
        vdso->is_sealed = is_sealed(text, "[vdso]") || is_sealed(text, "[vvar");
    }
    return error;
}

/*
 * Checks the room below the saved stack. The kernel places new mappings below its mmap base,
 * which is close above the highest mapping of this program except its stack. New mappings must
 * not lie in the range into which the saved stack may grow.
 */
static int check_stack_room(const struct ckpt_restore *restore,
                            uint64_t highest, struct ckpt_failure *failure)
{
    uint64_t room = STACK_ROOM;
    struct rlimit limit;

    if (getrlimit(RLIMIT_STACK, &limit) == 0 &&
        limit.rlim_cur != RLIM_INFINITY) {
        room = limit.rlim_cur;
    }
    for (uint32_t i = 0; i < restore->snapshot.region_count; i++) {
        const struct ckpt_region *region = &restore->regions[i];

        if (region->kind == CKPT_REGION_STACK && highest + room > region->end) {
            return ckpt_refuse(failure, CKPT_REFUSAL_ID_IN_USE, -EAGAIN,
                               "new memory could block the growth of the stack "
                               "at %x",
                               region->start);
        }
    }
    return 0;
}

/* Marks this program's mappings as used, and finds the vDSO. */
static int look_around(struct ckpt_restore *restore,
                       struct ckpt_failure *failure)
{
    struct ckpt_arena arena;
    struct ckpt_mapping mapping;
    uint64_t highest = 0;
    char *text;
    size_t size;
    int more;
    int error;

    error = ckpt_arena_open(&arena);
    if (error != 0) {
        return ckpt_fail(failure, error, "out of memory");
    }
    error = ckpt_proc_read(&arena, "/proc/self/maps", &text, &size, failure);
    if (error != 0) {
        goto out;
    }
    while ((more = ckpt_maps_next(&text, &mapping)) > 0) {
        if (mapping.start >= CKPT_SPACE_END) {
            continue; /* [vsyscall] */
        }
        if (strcmp(mapping.name, "[stack]") != 0) {
            highest = mapping.end;
        }
        ckpt_vdso_group_add(&restore->vdso, &mapping);
        error = ckpt_space_use(&restore->space, mapping.start, mapping.end);
        if (error != 0) {
            ckpt_fail(failure, error, "out of memory");
            goto out;
        }
    }
    if (more < 0) {
        error = ckpt_fail(failure, more, "/proc/self/maps is not understood");
        goto out;
    }
    error = look_for_seal(&arena, &restore->vdso, failure);
    if (error == 0) {
        error = check_stack_room(restore, highest, failure);
    }
out:
    ckpt_arena_close(&arena);
    return error;
}

/* More than the kernel maps there at a program's start, and far from the stack. */
#define BEYOND_SAVED_VDSO ((uint64_t)16 << 20)

/* Reserves a place above the saved vDSO, if it overlaps no saved memory. */
static int reserve_vdso_place(struct ckpt_restore *restore)
{
    const struct ckpt_range *home = &restore->vdso_home;
    const struct ckpt_range place = {home->start + BEYOND_SAVED_VDSO,
                                     home->end + BEYOND_SAVED_VDSO};

    if (restore->vdso.is_sealed || place.end > CKPT_SPACE_END ||
        ckpt_restore_uses(restore, place)) {
        return 0;
    }
    restore->vdso_place = place;
    return ckpt_space_use(&restore->space, place.start, place.end);
}

/* Checks that a vDSO that cannot be moved overlaps nothing of the saved process. It is at
 * another address when this program is executed again. Returns 0 or -EAGAIN. */
static int check_sealed_vdso(const struct ckpt_restore *restore, struct ckpt_failure *failure)
{
    const struct ckpt_range group = ckpt_vdso_group_range(&restore->vdso);
    const struct ckpt_range *home = &restore->vdso_home;

    if (restore->vdso.is_sealed &&
        (ckpt_restore_uses(restore, group) ||
         (group.start < home->end && home->start < group.end))) {
        return ckpt_refuse(failure, CKPT_REFUSAL_OTHER_KERNEL, -EAGAIN,
                           "this kernel has sealed its vDSO, and the program has memory in its "
                           "place (%x-%x)",
                           group.start, group.end);
    }
    return 0;
}

/* Reserves all final addresses of saved memory and of the saved vDSO. */
static int reserve_final_addresses(struct ckpt_restore *restore,
                                   struct ckpt_failure *failure)
{
    const struct ckpt_process_layout *layout = &restore->snapshot.layout;
    struct ckpt_range group = ckpt_vdso_group_range(&restore->vdso);
    int error = 0;

    if (layout->vdso_start < layout->vdso_end && group.start < group.end) {
        CKPT_INVARIANT(restore->vdso.image.start >= group.start &&
                       restore->vdso.image.end <= group.end);
        restore->vdso_home.start =
            layout->vdso_start - (restore->vdso.image.start - group.start);
        restore->vdso_home.end =
            restore->vdso_home.start + (group.end - group.start);
        error = ckpt_space_use(&restore->space, restore->vdso_home.start,
                               restore->vdso_home.end);
        error = error == 0 ? reserve_vdso_place(restore) : error;
    }
    for (uint32_t i = 0; i < restore->snapshot.region_count && error == 0;
         i++) {
        error = ckpt_space_use(&restore->space, restore->regions[i].start,
                               restore->regions[i].end);
    }
    return error == 0 ? 0 : ckpt_fail(failure, error, "out of memory");
}

/* Returns a copy. bytes: may be NULL if size is 0. */
static void *copy(const void *bytes, size_t size)
{
    void *memory = malloc(size + 1);

    return memory == NULL || size == 0 ? memory : memcpy(memory, bytes, size);
}

int ckpt_restore_open(const struct ckpt_snapshot *snapshot,
                      const struct ckpt_region *regions, const char *strings,
                      struct ckpt_restore **restore_p,
                      struct ckpt_failure *failure)
{
    struct ckpt_restore *restore;
    int error;

    error = check_snapshot(snapshot, regions, strings, failure);
    if (error == 0) {
        error = check_cpu(snapshot, failure);
    }
    if (error != 0) {
        return error;
    }
    restore = calloc(1, sizeof *restore);
    if (restore == NULL) {
        return ckpt_fail(failure, -ENOMEM, "out of memory");
    }
    restore->snapshot = *snapshot;
    restore->lazy_faults = restore->page_server = -1;
    restore->regions = copy(regions, snapshot->region_count * sizeof *regions);
    restore->strings = copy(strings, snapshot->strings_size);
    restore->stages =
        calloc(snapshot->region_count + 1, sizeof *restore->stages);
    if (restore->regions == NULL || restore->strings == NULL ||
        restore->stages == NULL) {
        error = ckpt_fail(failure, -ENOMEM, "out of memory");
        goto fail;
    }
    error = look_around(restore, failure);
    if (error == 0) {
        error = reserve_final_addresses(restore, failure);
    }
    if (error == 0) {
        error = check_sealed_vdso(restore, failure);
    }
    if (error != 0) {
        goto fail;
    }
    *restore_p = restore;
    return 0;

fail:
    ckpt_restore_close(restore);
    return error;
}

int ckpt_restore_uses(const struct ckpt_restore *restore,
                      struct ckpt_range range)
{
    for (uint32_t i = 0; i < restore->snapshot.region_count; i++) {
        if (restore->regions[i].start < range.end &&
            restore->regions[i].end > range.start) {
            return 1;
        }
    }
    return 0;
}

/* Maps at exactly `address`. Returns 0, -EEXIST if the range is in use, or -errno. If the
 * kernel refuses to commit the memory, maps it with MAP_NORESERVE. */
static int map_at(uint64_t address, uint64_t size, int protection, int flags,
                  int fd, uint64_t offset)
{
    void *memory;

    flags |= MAP_FIXED_NOREPLACE;
    memory = mmap((void *)address, size, protection, flags, fd, (off_t)offset);
    if (memory == MAP_FAILED && errno == ENOMEM) {
        memory = mmap((void *)address, size, protection,
                      flags | MAP_NORESERVE, fd, (off_t)offset);
    }
    if (memory == MAP_FAILED) {
        return -errno;
    }
    if (memory != (void *)address) { /* Linux before 4.17 */
        munmap(memory, size);
        return -EEXIST;
    }
    return 0;
}

int64_t ckpt_restore_map_somewhere(struct ckpt_restore *restore, uint64_t size,
                                   uint64_t congruent, int protection,
                                   int flags, int fd, uint64_t offset)
{
    uint64_t address;
    int error;

    do { /* try the next place if this program has mapped something there meanwhile */
        address = ckpt_space_place(&restore->space, size, congruent);
        error = address == 0 ? -ENOMEM
                             : map_at(address, size, protection, flags, fd,
                                      offset);
    } while (error == -EEXIST);
    return error != 0 ? error : (int64_t)address;
}

int ckpt_restore_map(struct ckpt_restore *restore, uint64_t size,
                     uint64_t *address_p, struct ckpt_failure *failure)
{
    int64_t address =
        ckpt_restore_map_somewhere(restore, size, 0, PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (address < 0) {
        return ckpt_fail(failure, (int)address, "no room for %l bytes: %s",
                         (long)size, strerror((int)-address));
    }
    *address_p = (uint64_t)address;
    return 0;
}

int ckpt_restore_message_log(struct ckpt_restore *restore, uint64_t size,
                             void **address_p, struct ckpt_failure *failure)
{
    int error;

    if (restore->message_log != 0) {
        return ckpt_refuse(failure, CKPT_REFUSAL_UNUSABLE_CHECKPOINT, -EEXIST,
                           "there is a message log already");
    }
    error = ckpt_restore_map(restore, size, &restore->message_log, failure);
    if (error == 0) {
        restore->message_log_size = size;
        *address_p = (void *)restore->message_log;
    }
    return error;
}

/* Opens the file of a region. Returns the descriptor or -errno. */
static int open_file(const char *path, struct ckpt_failure *failure)
{
    struct stat status;
    int fd;

    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status) != 0) {
        int error = errno;

        if (fd >= 0) {
            close(fd);
        }
        return ckpt_refuse(failure, CKPT_REFUSAL_CHANGED_FILE, -error,
                           "the mapped file %s cannot be opened: %s", path,
                           strerror(error));
    }
    if (!S_ISREG(status.st_mode)) { /* a shorter file is allowed: mappings may reach beyond its
                                       end */
        close(fd);
        return ckpt_refuse(failure, CKPT_REFUSAL_CHANGED_FILE, -ESTALE,
                           "the mapped file %s is not the same as at the checkpoint: it is not a "
                           "regular file",
                           path);
    }
    return fd;
}

int ckpt_restore_stage(struct ckpt_restore *restore, size_t index, int content,
                       void **address_p, struct ckpt_failure *failure)
{
    const struct ckpt_region *region = &restore->regions[index];
    struct ckpt_stage *stage = &restore->stages[index];
    const char *path = restore->strings + region->path;
    int by_reference = is_file(region) && !content;
    int shared = region->kind == CKPT_REGION_SHARED ||
                 (region->kind == CKPT_REGION_FILE_SHARED && by_reference);
    int flags = shared ? MAP_SHARED : MAP_PRIVATE;
    int protection = content ? PROT_READ | PROT_WRITE : PROT_READ;
    int64_t address;
    int fd = -1;

    CKPT_INVARIANT(index < restore->snapshot.region_count);
    if (stage->address != 0) {
        return ckpt_refuse(failure, CKPT_REFUSAL_UNUSABLE_CHECKPOINT, -EEXIST,
                           "region %x-%x is already staged",
                           region->start, region->end);
    }
    if (by_reference) {
        fd = open_file(path, failure);
        if (fd < 0) {
            return fd;
        }
    } else {
        flags |= MAP_ANONYMOUS;
    }
    address = ckpt_restore_map_somewhere(
        restore, region->end - region->start, region->start, protection, flags,
        fd, by_reference ? region->file_offset : 0);
    if (fd >= 0) {
        close(fd);
    }
    if (address < 0) {
        return ckpt_fail(failure, (int)address,
                         "cannot make the memory of region %x-%x (%s): %s",
                         region->start, region->end, path,
                         strerror((int)-address));
    }
    CKPT_INVARIANT((uint64_t)address % PAGE == 0);
    stage->address = (uint64_t)address;
    stage->protection = (uint32_t)protection;
    *address_p = (void *)address;
    return 0;
}

int ckpt_restore_lazily(struct ckpt_restore *restore, size_t index, struct ckpt_failure *failure)
{
    const struct ckpt_region *region = &restore->regions[index];
    struct ckpt_stage *stage = &restore->stages[index];

    CKPT_INVARIANT(index < restore->snapshot.region_count);
    if (stage->address != 0 ||
        (region->kind != CKPT_REGION_ANONYMOUS && region->kind != CKPT_REGION_HEAP)) {
        return ckpt_refuse(failure, CKPT_REFUSAL_INTERNAL_ERROR, -EINVAL,
                           "region %x-%x cannot be left to the page server", region->start,
                           region->end);
    }
    stage->is_lazy = 1;
    return 0;
}

void ckpt_restore_page_server(struct ckpt_restore *restore, int faults, int server)
{
    CKPT_INVARIANT(faults >= 0 && server >= 0);
    restore->lazy_faults = faults;
    restore->page_server = server;
}

void *ckpt_restore_bytes(struct ckpt_restore *restore, uint64_t address,
                         uint64_t size)
{
    for (uint32_t i = 0; i < restore->snapshot.region_count; i++) {
        const struct ckpt_region *region = &restore->regions[i];
        const struct ckpt_stage *stage = &restore->stages[i];

        if (address >= region->start && address < region->end) {
            if (size > region->end - address || stage->address == 0 ||
                (stage->protection & PROT_WRITE) == 0) {
                return NULL;
            }
            return (void *)(stage->address + (address - region->start));
        }
    }
    return NULL;
}

void ckpt_restore_close(struct ckpt_restore *restore)
{
    if (restore == NULL) {
        return;
    }
    for (uint32_t i = 0;
         restore->stages != NULL && i < restore->snapshot.region_count; i++) {
        if (restore->stages[i].address != 0) {
            munmap((void *)restore->stages[i].address,
                   restore->regions[i].end - restore->regions[i].start);
        }
    }
    if (restore->message_log != 0) {
        munmap((void *)restore->message_log, restore->message_log_size);
    }
    ckpt_restore_close_shared_files(restore);
    ckpt_space_close(&restore->space);
    free(restore->stages);
    free(restore->strings);
    free(restore->regions);
    free(restore);
}
