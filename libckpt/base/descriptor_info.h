/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * descriptor_info.h - what the kernel tells of a descriptor in /proc/self/fdinfo.
 */
#ifndef CKPT_DESCRIPTOR_INFO_H
#define CKPT_DESCRIPTOR_INFO_H

#include <stddef.h>

#define CKPT_INFO_PATH_SIZE 64

/* The name of that file. Context: any. */
void ckpt_descriptor_info_path(char path[CKPT_INFO_PATH_SIZE], int fd);

/* As much of it as there is room for, as text; "" and -errno if it cannot be read, else 0.
 * Context: any. */
int ckpt_descriptor_info(int fd, char *text, size_t size);

#endif
