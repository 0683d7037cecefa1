/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * init.h - begin and leave MPI (runtime/hooks.h).
 */
#ifndef CKPT_START_INIT_H
#define CKPT_START_INIT_H

/* Implement ckpt_runtime_need_library(), ckpt_runtime_begin() and ckpt_runtime_leave()
 * (runtime/runtime.h). */
void ckpt_start_library(void);
void ckpt_start(int required);
void ckpt_start_leave(void);

#endif
