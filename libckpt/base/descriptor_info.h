/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * descriptor_info.h - reads a descriptor's entry in /proc/self/fdinfo.
 */
#ifndef CKPT_DESCRIPTOR_INFO_H
#define CKPT_DESCRIPTOR_INFO_H

#include <stddef.h>

#define CKPT_INFO_PATH_SIZE 64

/* Writes the path of the entry of `fd`. Context: any. */
void ckpt_descriptor_info_path(char path[CKPT_INFO_PATH_SIZE], int fd);

/* Reads the entry as text, as much of it as fits. Returns 0, or -errno with an empty text if
 * the entry cannot be read. Context: any. */
int ckpt_descriptor_info(int fd, char *text, size_t size);

#endif
