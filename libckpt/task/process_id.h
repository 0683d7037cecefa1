/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * process_id.h - a process keeps its id, as far as it can tell.
 *
 * A restart gives a process another id, but programs remember theirs: libraries
 * compare it to notice a fork (ZeroMQ refuses to work in what it takes for a
 * child), others name files by it. So the application goes on to see the id that
 * it had at its first start, the shown one, and what it does with that is done
 * to the kernel's (mpi-plugin/interpose/process_id.c). Raw system calls, what
 * other programs are told, senders in a signalfd, and ids of other ranks are not
 * translated.
 *
 * Context of all functions: any, unless told otherwise.
 */
#ifndef CKPT_PROCESS_ID_H
#define CKPT_PROCESS_ID_H

#include <signal.h>
#include <stddef.h>

/* Before the process is described: which id it shows. Context: quiesced. */
void ckpt_process_id_save(void);

/* After a restart. Context: single-threaded. */
void ckpt_process_id_restore(void);

/* What the application sees for the kernel's id of a process. */
int ckpt_process_id_shown(int kernel_id);

/* The kernel's id of the process that the application means. */
int ckpt_process_id_of_kernel(int shown_id);

/* The same for the id of a thread: each keeps the one it had, and the shown process id is
 * that of the thread that was the first one. */
int ckpt_thread_id_shown(int kernel_id);
int ckpt_thread_id_of_kernel(int shown_id);

/* The same for the sender of a signal. */
void ckpt_process_id_show_sender(siginfo_t *info);

/* `path`, or if that leads below /proc by way of the shown id, the path to the
 * same in `buffer`; what does not fit stays as it is. The id of a thread below
 * /proc/PID/task may be one that it had before a restart, unless another thread
 * has this id now. */
const char *ckpt_process_path(const char *path, char *buffer, size_t capacity);

/* The same for a path that begins at `directory` (AT_FDCWD, or a descriptor), if
 * that is /proc or /proc/PID/task. */
const char *ckpt_process_path_at(int directory, const char *path, char *buffer,
                                 size_t capacity);

#endif
