/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * xsave.h - the layout of a thread's registers in memory, which differs between processors with
 * the same registers.
 *
 * A restored thread returns through the signal frame that the kernel wrote at the checkpoint.
 * Another kernel reads the frame at its own offsets. If the frame is longer than its own, it
 * silently restores only the x87 and SSE registers. So both layouts must agree.
 */
#ifndef CKPT_XSAVE_H
#define CKPT_XSAVE_H

#include "ckpt/failure.h"
#include "ckpt/snapshot.h"

/* Reads CPUID leaf 0xD for the components that this kernel has enabled, and this process's
 * permissions for components that need one. Context: normal or quiesced. */
void ckpt_xsave_read(struct ckpt_xsave *xsave);

/* Returns the bytes of registers in a signal frame of a thread that has used no component that
 * needs a permission. Context: any. */
uint32_t ckpt_xsave_frame_size(const struct ckpt_xsave *xsave);

/* Returns 0 if frames of `recorded` are valid on `here`, else -ENOTSUP with the name of the
 * first component that differs. Context: any. */
int ckpt_xsave_check(const struct ckpt_xsave *recorded, const struct ckpt_xsave *here,
                     struct ckpt_failure *failure);

/* Requests the permissions that the process had. ask: requests one component, returns 0 or
 * -errno; ckpt_xsave_ask_kernel except in tests. Returns 0, or -errno with the component's
 * name. Context: normal, in the process that becomes the saved one; execve drops
 * permissions. */
int ckpt_xsave_permit(const struct ckpt_xsave *recorded, long (*ask)(unsigned component),
                      struct ckpt_failure *failure);
long ckpt_xsave_ask_kernel(unsigned component);

/* Returns 0 if a thread with a frame of `frame_size` bytes of registers can be recreated; else
 * -ENOTSUP, naming the thread and the component that it has used. Context: any. */
int ckpt_xsave_check_frame(const struct ckpt_xsave *xsave, uint32_t frame_size,
                           const char *thread, struct ckpt_failure *failure);

/* Returns the bytes of registers in the signal frame with this ucontext; 0: only x87 and SSE.
 * Context: any. */
uint32_t ckpt_xsave_size_in(const void *ucontext);

#endif
