/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * maps.c - the kernel's list of this process's mappings, line by line.
 *
 *   start-end perms offset major:minor inode   name
 */
#include "memory/maps.h"

#include "base/text.h"
#include "sys/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>

#define INITIAL_SIZE ((size_t)64 << 10)

/* Bytes read, `capacity` if the file may be longer, or -errno. */
static long read_whole(const char *path, char *buffer, size_t capacity)
{
    size_t used = 0;
    long result;
    int fd;

    fd = (int)ckpt_sys_open(path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0) {
        return fd;
    }
    do {
        result = ckpt_sys_read(fd, buffer + used, capacity - used);
        if (result > 0) {
            used += (size_t)result;
        }
    } while (result == -EINTR || (result > 0 && used < capacity));
    ckpt_sys_close(fd);
    return result < 0 ? result : (long)used;
}

int ckpt_proc_read(struct ckpt_arena *arena, const char *path, char **text_p,
                   size_t *size_p, struct ckpt_failure *failure)
{
    const struct ckpt_arena_place mark = ckpt_arena_mark(arena);

    for (size_t capacity = INITIAL_SIZE;; capacity *= 2) {
        char *text = (char *)ckpt_arena_alloc(arena, capacity + 1);
        long size;

        if (text == NULL) {
            return ckpt_fail(failure, -ENOMEM, "no room for %s", path);
        }
        size = read_whole(path, text, capacity);
        if (size < 0) {
            return ckpt_fail(failure, (int)size, "cannot read %s: error %l",
                             path, -size);
        }
        if ((size_t)size < capacity) {
            text[size] = '\0';
            *text_p = text;
            *size_p = (size_t)size;
            return 0;
        }
        ckpt_arena_rewind(arena, mark); /* too small: read it all again */
    }
}

static int octal_digit(char digit)
{
    return digit >= '0' && digit <= '7';
}

/* Undoes \012, the only escape the kernel makes in this file, in place. */
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

/* Number in `base`, then `separator`: where the next field starts, or NULL. */
static const char *field(const char *text, int base, char separator,
                         uint64_t *value_p)
{
    if (text == NULL) {
        return NULL;
    }
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
    while (*at == ' ') {
        at++;
    }
    mapping->name = line + (at - line);
    unescape(mapping->name);
    return 1;
}
