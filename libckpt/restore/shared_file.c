/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shared_file.c - shared memory of a file that is written through the mapping.
 *
 * The file is opened by its name, or through a descriptor that is already
 * restored (a deleted file, a memfd), or else created. If no descriptor leads
 * to the file, its size is set here.
 */
#include "restore/restore.h"

#include "base/invariant.h"
#include "base/text.h"
#include "restore/restore_state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static struct ckpt_shared_file *find(const struct ckpt_restore *restore,
                                     const struct ckpt_region *region)
{
    const char *path = restore->strings + region->path;

    for (size_t i = 0; i < restore->shared_file_count; i++) {
        struct ckpt_shared_file *file = &restore->shared_files[i];

        if (file->inode == region->inode && strcmp(file->path, path) == 0) {
            return file;
        }
    }
    return NULL;
}

/* Returns the descriptor, or -errno. */
static int open_file(const struct ckpt_region *region, const char *path,
                     int descriptor)
{
    char link[64];
    int fd;

    if (descriptor >= 0) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
        fd = open(link, O_RDWR | O_CLOEXEC);
    } else if (!ckpt_text_ends(path, CKPT_TEXT_DELETED)) {
        fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, region->mode);
    } else {
        fd = memfd_create("ckpt-shared", MFD_CLOEXEC);
    }
    return fd < 0 ? -errno : fd;
}

/* Opens the file of a region and records it. Returns NULL with *error_p set on
 * failure. */
static struct ckpt_shared_file *add(struct ckpt_restore *restore,
                                    const struct ckpt_region *region,
                                    int descriptor, int *error_p)
{
    const char *path = restore->strings + region->path;
    struct ckpt_shared_file *files =
        realloc(restore->shared_files,
                (restore->shared_file_count + 1) * sizeof *files);
    struct stat status = {.st_mode = 0};
    int fd;

    if (files == NULL) {
        *error_p = -ENOMEM;
        return NULL;
    }
    restore->shared_files = files;
    fd = open_file(region, path, descriptor);
    if (fd >= 0 && (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))) {
        close(fd);
        fd = -ESTALE;
    }
    if (fd < 0) {
        *error_p = fd;
        return NULL;
    }
    files += restore->shared_file_count++;
    *files = (struct ckpt_shared_file){region->inode, path, fd,
                                       descriptor >= 0};
    return files;
}

/* Sets the size of a file without a descriptor. The size is known if the file
 * has a name. Returns 0 or -errno. */
static int make_room(const struct ckpt_shared_file *file,
                     const struct ckpt_region *region)
{
    uint64_t end = region->file_offset + (region->end - region->start);
    struct stat status;

    if (file->has_size) {
        return 0;
    }
    if (fstat(file->fd, &status) != 0) {
        return -errno;
    }
    if (region->mode != 0) {
        end = region->device;
    } else if ((uint64_t)status.st_size >= end) {
        return 0;
    }
    return ftruncate(file->fd, (off_t)end) == 0 ? 0 : -errno;
}

/* Maps the region of the file at a free address; read-only if the file is
 * sealed against writing. Returns the address or -errno. */
static int64_t map(struct ckpt_restore *restore,
                   const struct ckpt_region *region,
                   const struct ckpt_shared_file *file, int *protection)
{
    uint64_t size = region->end - region->start;
    int64_t address;

    *protection = PROT_READ | PROT_WRITE;
    address = ckpt_restore_map_somewhere(restore, size, region->start,
                                         *protection, MAP_SHARED, file->fd,
                                         region->file_offset);
    if (address == -EPERM && (region->protection & PROT_WRITE) == 0) {
        *protection = PROT_READ;
        address = ckpt_restore_map_somewhere(restore, size, region->start,
                                             *protection, MAP_SHARED, file->fd,
                                             region->file_offset);
    }
    return address;
}

int ckpt_restore_stage_shared(struct ckpt_restore *restore, size_t index,
                              int descriptor, void **address_p,
                              struct ckpt_failure *failure)
{
    const struct ckpt_region *region = &restore->regions[index];
    struct ckpt_stage *stage = &restore->stages[index];
    struct ckpt_shared_file *file = find(restore, region);
    int protection = 0;
    int64_t result;
    int error = 0;

    CKPT_INVARIANT(index < restore->snapshot.region_count);
    if (stage->address != 0) {
        return ckpt_refuse(failure, CKPT_REFUSAL_UNUSABLE_CHECKPOINT, -EEXIST,
                           "region %x-%x is already staged",
                           region->start, region->end);
    }
    if ((region->inode & CKPT_REGION_SYSTEM_V) != 0) {
        error = ckpt_restore_stage_system_v(restore, index, failure);
        *address_p = (void *)stage->address;
        return error;
    }
    if (file == NULL) {
        file = add(restore, region, descriptor, &error);
    }
    result = file == NULL ? error : make_room(file, region);
    if (result == 0) {
        result = map(restore, region, file, &protection);
    }
    if (result < 0) {
        return ckpt_fail(failure, (int)result,
                         "cannot make the memory of region %x-%x (%s): %s",
                         region->start, region->end,
                         restore->strings + region->path,
                         strerror((int)-result));
    }
    stage->address = (uint64_t)result;
    stage->protection = (uint32_t)protection;
    *address_p =
        (protection & PROT_WRITE) != 0 ? (void *)stage->address : NULL;
    return 0;
}

void ckpt_restore_close_shared_files(struct ckpt_restore *restore)
{
    for (size_t i = 0; i < restore->shared_file_count; i++) {
        close(restore->shared_files[i].fd);
    }
    free(restore->shared_files);
    restore->shared_files = NULL;
    restore->shared_file_count = 0;
}
