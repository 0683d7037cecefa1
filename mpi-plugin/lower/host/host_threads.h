/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_threads.h - record which threads belong to the lower half.
 *
 * Also exports to the lower half: pthread_create, pthread_join, pthread_detach.
 */
#ifndef CKPT_HOST_THREADS_H
#define CKPT_HOST_THREADS_H

/* See struct ckpt_lower. */
int ckpt_host_owns_thread(int tid);

#endif
