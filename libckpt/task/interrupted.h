/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * interrupted.h - system calls that the checkpoint signal interrupted.
 */
#ifndef CKPT_INTERRUPTED_H
#define CKPT_INTERRUPTED_H

#include <ucontext.h>

/*
 * If the signal interrupted a system call that the kernel does not restart by
 * itself, makes the context execute it again, so that a program without signal
 * handlers never sees EINTR. context: that of the upper half's code, in the
 * signal frame. Context: quiesced.
 */
void ckpt_interrupted_restart(ucontext_t *context);

#endif
