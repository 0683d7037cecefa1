/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * process_id.h - lets a process keep its id, as far as it can see.
 *
 * A restart gives a process a new id, but programs remember the old one. Libraries compare it
 * to detect a fork (ZeroMQ refuses to work in a supposed child); other programs use it in file
 * names. So the application still sees the id of its first start, the shown id. When it passes
 * that id to a call, the call gets the kernel's id (mpi-plugin/interpose/process_id.c). Raw
 * system calls, values shown to other programs, senders in a signalfd, and ids of other ranks
 * are not translated.
 *
 * Context of all functions: any, unless noted otherwise.
 */
#ifndef CKPT_PROCESS_ID_H
#define CKPT_PROCESS_ID_H

#include <signal.h>
#include <stddef.h>

/* Before the process is described: fixes the id that it shows. Context: quiesced. */
void ckpt_process_id_save(void);

/* After a restart. Context: single-threaded. */
void ckpt_process_id_restore(void);

/* Returns the id that the application sees for the kernel's id of a process. */
int ckpt_process_id_shown(int kernel_id);

/* Returns the kernel's id of the process that the application means. */
int ckpt_process_id_of_kernel(int shown_id);

/* The same for thread ids. Each thread keeps its first id; the shown process id is the id of
 * the first thread. */
int ckpt_thread_id_shown(int kernel_id);
int ckpt_thread_id_of_kernel(int shown_id);

/* The same for the sender of a signal. */
void ckpt_process_id_show_sender(siginfo_t *info);

/* Returns `path`; or, if that leads below /proc through the shown id, the translated path in
 * `buffer`. Returns `path` if the buffer is too small. A thread id below /proc/PID/task may be
 * one from before a restart, unless another thread has this id now. */
const char *ckpt_process_path(const char *path, char *buffer, size_t capacity);

/* The same for a path relative to `directory` (AT_FDCWD, or a descriptor), if that is /proc or
 * /proc/PID/task. */
const char *ckpt_process_path_at(int directory, const char *path, char *buffer,
                                 size_t capacity);

#endif
