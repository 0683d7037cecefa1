/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * xsave.h - where the registers of a thread stand in memory, which differs between
 * processors that have the same registers.
 *
 * A thread comes back by the signal frame that the kernel wrote where it was saved. Another
 * kernel takes from it what stands at its own offsets, and without a word nothing but x87
 * and SSE registers if the whole is longer than its own. So both must agree.
 */
#ifndef CKPT_XSAVE_H
#define CKPT_XSAVE_H

#include "ckpt/failure.h"
#include "ckpt/snapshot.h"

/* CPUID leaf 0xD for the components that this kernel has enabled, and what the process may
 * use of those that need a permission. Context: normal or quiesced. */
void ckpt_xsave_read(struct ckpt_xsave *xsave);

/* Bytes of the registers in a signal frame of a thread that has used none of the
 * components that need a permission. Context: any. */
uint32_t ckpt_xsave_frame_size(const struct ckpt_xsave *xsave);

/* 0 if frames of `recorded` are right on `here`, else -ENOTSUP with the name of the first
 * component that differs. Context: any. */
int ckpt_xsave_check(const struct ckpt_xsave *recorded, const struct ckpt_xsave *here,
                     struct ckpt_failure *failure);

/* Asks for the permissions that the process had. ask: 0 or -errno, for one component;
 * ckpt_xsave_ask_kernel but in tests. 0, or -errno with the component's name. Context:
 * normal, in the process that the saved one becomes; execve takes permissions away. */
int ckpt_xsave_permit(const struct ckpt_xsave *recorded, long (*ask)(unsigned component),
                      struct ckpt_failure *failure);
long ckpt_xsave_ask_kernel(unsigned component);

/* 0 if a thread with a frame of so many bytes of registers can be made again; else
 * -ENOTSUP, naming the thread and what it has used. Context: any. */
int ckpt_xsave_check_frame(const struct ckpt_xsave *xsave, uint32_t frame_size,
                           const char *thread, struct ckpt_failure *failure);

/* The bytes of registers in the signal frame with this ucontext; 0: only x87 and SSE.
 * Context: any. */
uint32_t ckpt_xsave_size_in(const void *ucontext);

#endif
