/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_files.h - files in /dev/shm that the lower half shares with other processes.
 */
#ifndef CKPT_HOST_FILES_H
#define CKPT_HOST_FILES_H

#include <sys/types.h>

/* Opens a file as openat(2) does, and records it if this call has made it in /dev/shm.
 * Returns a descriptor or -errno. Context: normal (lower half), within a change. */
long ckpt_host_file_open(int directory, const char *path, int flags, mode_t mode);

/* Notes that the file is mapped, if it is a recorded one. Context: as above. */
void ckpt_host_file_mapped(int fd);

/* Removes the recorded files that were mapped and still have their names. Context: any; uses
 * no TLS and no locks; no other lower thread runs. */
void ckpt_host_files_remove(void);

#endif
