/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vdso.h - redirects saved code, which calls the vDSO of its first start, to
 * the functions of this kernel's vDSO.
 */
#ifndef CKPT_VDSO_H
#define CKPT_VDSO_H

#include "ckpt/failure.h"
#include "ckpt/snapshot.h"

#include <stddef.h>

/*
 * Overwrites each function of a copy of the saved vDSO with a jump to the
 * function of the same name in this kernel's vDSO. If that lacks the function,
 * writes the system call itself. The copy keeps its ELF tables, so that it can
 * be redirected again after the next restart.
 * saved: the copy, writable. kernel: this kernel's vDSO.
 * kernel_address: address of this kernel's vDSO when the saved code runs.
 * Returns 0; -EINVAL if either is not a vDSO; -ENOTSUP with the name of a
 * function that cannot be replaced. Context: quiesced.
 */
int ckpt_vdso_redirect(unsigned char *saved, size_t saved_size,
                       const unsigned char *kernel, size_t kernel_size,
                       uint64_t kernel_address, struct ckpt_failure *failure);

/*
 * Redirects one function of a redirected vDSO to other code. name: of the
 * function. target: address of that code. before_p: receives the address of
 * this kernel's function, or 0 if only the system call implements it. Returns
 * 0; -EINVAL if `saved` is not a redirected vDSO; -ENOENT if it lacks the
 * function. Context: quiesced.
 */
int ckpt_vdso_divert(unsigned char *saved, size_t size, const char *name,
                     uint64_t target, uint64_t *before_p);

#endif
