/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * maps.c - parses the kernel's list of this process's mappings, line by line.
 *
 *   start-end perms offset major:minor inode   name
 */
#include "memory/maps.h"

#include "base/invariant.h"
#include "base/text.h"
#include "sys/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#define INITIAL_SIZE ((size_t)64 << 10)

/* Reads to `buffer` + `used` until the file ends or the buffer is full. Returns the bytes then
 * in the buffer, or -errno. */
static long read_on(int fd, char *buffer, size_t used, size_t capacity)
{
    long result;

    do {
        result = ckpt_sys_read(fd, buffer + used, capacity - used);
        if (result > 0) {
            used += (size_t)result;
        }
    } while (result == -EINTR || (result > 0 && used < capacity));
    CKPT_INVARIANT(used <= capacity);
    return result < 0 ? result : (long)used;
}

/* Reads the whole file. If the buffer is full, continues in a larger one instead of starting
 * again: the kernel takes a millisecond for the list of a thousand mappings. */
static int read_whole(struct ckpt_arena *arena, int fd, char **text_p, size_t *size_p)
{
    size_t capacity = INITIAL_SIZE;
    char *text = (char *)ckpt_arena_alloc(arena, capacity + 1);
    long size = text == NULL ? -ENOMEM : read_on(fd, text, 0, capacity);

    while (size == (long)capacity) {
        char *larger = (char *)ckpt_arena_alloc(arena, 2 * capacity + 1);

        if (larger == NULL) {
            return -ENOMEM;
        }
        memcpy(larger, text, capacity);
        text = larger;
        size = read_on(fd, text, capacity, 2 * capacity);
        capacity *= 2;
    }
    if (size < 0) {
        return (int)size;
    }
    text[size] = '\0';
    *text_p = text;
    *size_p = (size_t)size;
    return 0;
}

int ckpt_proc_read(struct ckpt_arena *arena, const char *path, char **text_p,
                   size_t *size_p, struct ckpt_failure *failure)
{
    const int fd = (int)ckpt_sys_open(path, O_RDONLY | O_CLOEXEC, 0);
    int error = fd;

    if (fd >= 0) {
        error = read_whole(arena, fd, text_p, size_p);
        ckpt_sys_close(fd);
    }
    if (error == -ENOMEM) {
        return ckpt_fail(failure, error, "no room for %s", path);
    }
    return error < 0 ? ckpt_fail(failure, error, "cannot read %s: error %l", path, -(long)error)
                     : 0;
}

static int octal_digit(char digit)
{
    return digit >= '0' && digit <= '7';
}

/* Replaces \012 in place, the only escape that the kernel uses in this file. */
static void unescape(char *name)
{
    char *to = name;

    while (*name != '\0') {
        if (name[0] == '\\' && octal_digit(name[1]) && octal_digit(name[2]) &&
            octal_digit(name[3])) {
            *to++ = (char)((name[1] - '0') << 6 | (name[2] - '0') << 3 |
                           (name[3] - '0'));
            name += 4;
        } else {
            *to++ = *name++;
        }
    }
    *to = '\0';
}

/* Parses a number in `base`, followed by `separator`. Returns the next field, or NULL. */
static const char *field(const char *text, int base, char separator,
                         uint64_t *value_p)
{
    if (text == NULL) {
        return NULL;
    }
    CKPT_INVARIANT(base == 10 || base == 16);
    text = base == 16 ? ckpt_text_hexadecimal(text, value_p)
                      : ckpt_text_decimal(text, value_p);
    if (text == NULL || *text != separator) {
        return NULL;
    }
    return text + 1;
}

static const char *permissions(const char *text, struct ckpt_mapping *mapping)
{
    if (text == NULL || ckpt_text_length(text) < 5 || text[4] != ' ') {
        return NULL;
    }
    mapping->protection = (text[0] == 'r' ? PROT_READ : 0u) |
                          (text[1] == 'w' ? PROT_WRITE : 0u) |
                          (text[2] == 'x' ? PROT_EXEC : 0u);
    mapping->shared = text[3] == 's';
    return text + 5;
}

int ckpt_maps_next(char **text_p, struct ckpt_mapping *mapping)
{
    char *line = *text_p;
    char *end = line;
    const char *at = line;
    uint64_t device;

    if (*line == '\0') {
        return 0;
    }
    while (*end != '\0' && *end != '\n') {
        end++;
    }
    *text_p = *end == '\0' ? end : end + 1;
    *end = '\0';

    at = field(at, 16, '-', &mapping->start);
    at = field(at, 16, ' ', &mapping->end);
    at = permissions(at, mapping);
    at = at == NULL ? NULL : field(at, 16, ' ', &mapping->file_offset);
    at = field(at, 16, ':', &device);
    at = field(at, 16, ' ', &device);
    if (at == NULL || (at = ckpt_text_decimal(at, &mapping->inode)) == NULL) {
        return -EINVAL;
    }
    CKPT_INVARIANT(mapping->start < mapping->end);
    while (*at == ' ') {
        at++;
    }
    mapping->name = line + (at - line);
    unescape(mapping->name);
    return 1;
}
