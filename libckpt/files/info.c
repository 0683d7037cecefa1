/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * info.c - reads a descriptor's entry in /proc/self/fdinfo.
 */
#include "files/file_kind.h"

#include "base/descriptor_info.h"
#include "base/text.h"
#include "memory/maps.h"

#include <string.h>

int ckpt_file_whole_info(const struct ckpt_file_save *save, int fd,
                         char **text, struct ckpt_failure *failure)
{
    char path[CKPT_INFO_PATH_SIZE];
    size_t size;

    ckpt_descriptor_info_path(path, fd);
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
