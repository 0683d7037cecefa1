/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * thread_pointer.c - determines whether user code may write the fs base itself.
 */
#include "sys/thread_pointer.h"

#include <sys/auxv.h>

#define HWCAP2_FSGSBASE (1ul << 1)

int ckpt_have_fsgsbase;
struct ckpt_halves ckpt_halves[CKPT_HALVES_MAX];
volatile uint32_t ckpt_halves_count = 1;

int ckpt_kernel_allows_fsgsbase(void)
{
    return (getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE) != 0;
}

/* Context: normal; also after a restart, possibly on another kernel. */
void ckpt_thread_pointer_open(void)
{
    ckpt_have_fsgsbase = ckpt_kernel_allows_fsgsbase();
}
