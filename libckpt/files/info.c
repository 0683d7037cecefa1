/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * info.c - what the kernel tells of a descriptor in /proc/self/fdinfo.
 */
#include "files/file_kind.h"

#include "base/text.h"
#include "memory/maps.h"
#include "sys/syscall.h"

#include <fcntl.h>
#include <string.h>

enum { PATH_SIZE = 64 };

static void info_path(char path[PATH_SIZE], int fd)
{
    ckpt_text_format(path, PATH_SIZE, "/proc/self/fdinfo/%d", fd);
}

void ckpt_file_info(int fd, char *text, size_t size)
{
    char path[PATH_SIZE];
    long length = 0;
    int info;

    info_path(path, fd);
    info = (int)ckpt_sys_open(path, O_RDONLY | O_CLOEXEC, 0);
    if (info >= 0) {
        length = ckpt_sys_read(info, text, size - 1);
        ckpt_sys_close(info);
    }
    text[length > 0 ? length : 0] = '\0';
}

int ckpt_file_whole_info(const struct ckpt_file_save *save, int fd,
                         char **text, struct ckpt_failure *failure)
{
    char path[PATH_SIZE];
    size_t size;

    info_path(path, fd);
    return ckpt_proc_read(save->arena, path, text, &size, failure);
}

int ckpt_file_info_value(const char *info, const char *name, int is_hexadecimal,
                         uint64_t *value_p)
{
    const char *at = strstr(info, name);

    if (at == NULL) {
        return 0;
    }
    at += ckpt_text_length(name);
    while (*at == ' ' || *at == '\t') {
        at++;
    }
    return (is_hexadecimal ? ckpt_text_hexadecimal(at, value_p)
                           : ckpt_text_decimal(at, value_p)) != NULL;
}
