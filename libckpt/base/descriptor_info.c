/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * descriptor_info.c - reads a descriptor's entry in /proc/self/fdinfo.
 */
#include "base/descriptor_info.h"

#include "base/invariant.h"
#include "base/text.h"
#include "sys/syscall.h"

#include <fcntl.h>

void ckpt_descriptor_info_path(char path[CKPT_INFO_PATH_SIZE], int fd)
{
    ckpt_text_format(path, CKPT_INFO_PATH_SIZE, "/proc/self/fdinfo/%d", fd);
}

int ckpt_descriptor_info(int fd, char *text, size_t size)
{
    char path[CKPT_INFO_PATH_SIZE];
    long length;
    int info;

    CKPT_INVARIANT(size > 0); /* room for the NUL */
    ckpt_descriptor_info_path(path, fd);
    info = (int)ckpt_sys_open(path, O_RDONLY | O_CLOEXEC, 0);
    length = info < 0 ? info : ckpt_sys_read(info, text, size - 1);
    if (info >= 0) {
        ckpt_sys_close(info);
    }
    CKPT_INVARIANT(length < (long)size);
    text[length > 0 ? length : 0] = '\0';
    return length < 0 ? (int)length : 0;
}
