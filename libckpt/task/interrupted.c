/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * interrupted.c - system calls that the checkpoint signal interrupted.
 *
 * With SA_RESTART the kernel restarts most calls, but never those with a
 * timeout (signal(7) lists them): they fail with EINTR, which a program that
 * has no handlers may not expect. The frame no longer tells which call it was,
 * but libc puts the number right before it: `mov $number, %eax; syscall`. A
 * call made in another way keeps its EINTR.
 *
 * Again is as if the signal had come just before the call, which may happen
 * to any program. So calls whose purpose is to be ended by a signal (pause,
 * sigsuspend, those that swap the mask) are left alone: a signal that comes
 * in between would be lost to them. A timeout starts anew, unless the kernel
 * has put what is left of it where the call reads it.
 */
#include "task/interrupted.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>

#define SYSCALL_SIZE 2 /* 0f 05 */
#define MOVE_SIZE 5    /* b8 and 32 bits */

/* The number of the system call that ends at `end`, or -1. */
static long number_before(const unsigned char *end)
{
    int32_t number;

    if (end[-2] != 0x0f || end[-1] != 0x05 ||
        end[-SYSCALL_SIZE - MOVE_SIZE] != 0xb8) {
        return -1;
    }
    memcpy(&number, end - SYSCALL_SIZE - MOVE_SIZE + 1, sizeof(number));
    return number;
}

/* Sleeping on for what is left, or no one was told what is left. */
static int sleeps_on(greg_t request, greg_t remainder)
{
    return remainder == 0 || remainder == request;
}

static int may_restart(long number, const greg_t *registers)
{
    switch (number) {
    case SYS_poll:
    case SYS_select:
    case SYS_epoll_wait:
    case SYS_futex:
    case SYS_rt_sigtimedwait:
    case SYS_semop:
    case SYS_semtimedop:
    case SYS_msgrcv:
    case SYS_msgsnd:
        return 1;
    case SYS_nanosleep:
        return sleeps_on(registers[REG_RDI], registers[REG_RSI]);
    case SYS_clock_nanosleep:
        return sleeps_on(registers[REG_RDX], registers[REG_R10]);
    case SYS_epoll_pwait:
        return registers[REG_R8] == 0; /* no mask to swap */
    case SYS_ppoll:
        return registers[REG_R10] == 0;
    case SYS_pselect6:
        return registers[REG_R9] == 0 || *(uint64_t *)registers[REG_R9] == 0;
    default:
        return 0;
    }
}

void ckpt_interrupted_restart(ucontext_t *context)
{
    greg_t *registers = context->uc_mcontext.gregs;
    long number;

    if (registers[REG_RAX] != -EINTR) {
        return;
    }
    number = number_before((const unsigned char *)registers[REG_RIP]);
    if (number >= 0 && may_restart(number, registers)) {
        registers[REG_RAX] = number;
        registers[REG_RIP] -= SYSCALL_SIZE;
    }
}
