/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_semaphores.c - named semaphores of the lower half.
 *
 * libc maps them internally, not by our mmap, so a checkpoint would take the
 * page for the application's. So this code maps them, in libc's format (a file
 * in /dev/shm that contains a sem_t). Other processes may have mapped them with
 * libc.
 *
 * Context of the exported functions: normal (lower half).
 */
#include "config.h"

#include "lower/host/export.h"

#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define DIRECTORY     "/dev/shm/"
#define NAME_CAPACITY 300

static int path_of(const char *name, char *path)
{
    name += strspn(name, "/");
    if (*name == '\0' || strchr(name, '/') != NULL ||
        strlen(name) + sizeof(DIRECTORY "sem.") > NAME_CAPACITY) {
        errno = EINVAL;
        return -1;
    }
    snprintf(path, NAME_CAPACITY, DIRECTORY "sem.%s", name);
    return 0;
}

static sem_t *map(int fd)
{
    struct stat status;
    void *memory = MAP_FAILED;

    if (fstat(fd, &status) == 0) {
        if (status.st_size < (off_t)sizeof(sem_t)) {
            errno = EINVAL;
        } else {
            memory = mmap(NULL, sizeof(sem_t), PROT_READ | PROT_WRITE,
                          MAP_SHARED, fd, 0);
        }
    }
    return memory == MAP_FAILED ? SEM_FAILED : (sem_t *)memory;
}

/* Creates the file under another name first, so that no process sees it
 * incomplete. Returns a descriptor; -1 with EEXIST if another process was
 * first. */
static int create(const char *path, mode_t mode, unsigned value)
{
    char fresh[] = DIRECTORY "sem.XXXXXX";
    sem_t semaphore;
    int fd, made = -1;

    memset(&semaphore, 0, sizeof(semaphore));
    if (sem_init(&semaphore, 1, value) != 0) {
        return -1;
    }
    fd = mkstemp(fresh);
    if (fd < 0) {
        return -1;
    }
    if (fchmod(fd, mode) == 0 &&
        write(fd, &semaphore, sizeof(semaphore)) == sizeof(semaphore)) {
        made = link(fresh, path);
    }
    (void)unlink(fresh);
    if (made != 0) {
        int error = errno;

        close(fd);
        errno = error;
        return -1;
    }
    return fd;
}

CKPT_EXPORT sem_t *sem_open(const char *name, int flags, ...)
{
    char path[NAME_CAPACITY];
    unsigned value = 0;
    mode_t mode = 0;
    sem_t *semaphore;
    va_list arguments;
    int fd;

    if ((flags & O_CREAT) != 0) {
        mode_t mask = umask(077);

        umask(mask);
        va_start(arguments, flags);
        mode = va_arg(arguments, mode_t) & ~mask;
        value = va_arg(arguments, unsigned);
        va_end(arguments);
    }
    if (path_of(name, path) != 0) {
        return SEM_FAILED;
    }
    do { /* again if it appeared or vanished meanwhile */
        fd = -1;
        errno = ENOENT;
        if ((flags & (O_CREAT | O_EXCL)) != (O_CREAT | O_EXCL)) {
            fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
        }
        if (fd < 0 && errno == ENOENT && (flags & O_CREAT) != 0) {
            fd = create(path, mode, value);
        }
    } while (fd < 0 && errno == EEXIST && (flags & O_EXCL) == 0);
    if (fd < 0) {
        return SEM_FAILED;
    }
    semaphore = map(fd);
    close(fd);
    return semaphore;
}

CKPT_EXPORT int sem_close(sem_t *semaphore)
{
    return munmap(semaphore, sizeof(*semaphore));
}
