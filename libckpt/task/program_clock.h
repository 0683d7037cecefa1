/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * program_clock.h - the program's view of the clocks that count from the start of a host. The
 * time between a checkpoint and a restart does not count, whatever the clock of the new host
 * shows (docs/clocks.md).
 *
 * These clocks are CLOCK_MONOTONIC and CLOCK_BOOTTIME with their variants. Program time is
 * kernel time plus an offset. The offset is 0 until the first restart. After it the program's
 * vDSO adds the offset.
 */
#ifndef CKPT_PROGRAM_CLOCK_H
#define CKPT_PROGRAM_CLOCK_H

#include "ckpt/failure.h"

#include <stdint.h>
#include <time.h>

/* Returns program time minus kernel time in nanoseconds; 0 for all other clocks. Context:
 * any. */
int64_t ckpt_clock_offset(clockid_t clock);

/* Returns the change of that offset by the last restart, in nanoseconds. Context: any. */
int64_t ckpt_clock_change(clockid_t clock);

/* Returns the number of restarts of this process. Context: any. */
uint32_t ckpt_clock_restarts(void);
extern uint32_t ckpt_clock_restart_count;

/* Returns the program's CLOCK_MONOTONIC in nanoseconds, read by a system call. Context: any. */
int64_t ckpt_clock_now(void);

/*
 * Adds `nanoseconds` to `time`, an absolute time for the kernel. Returns `time` unchanged if
 * the kernel would refuse it, or if it is too large for the addition. A result before the
 * kernel's zero becomes 1 ns, which has also passed, and which does not disarm a timer.
 * Context: any.
 */
struct timespec ckpt_clock_add(const struct timespec *time, int64_t nanoseconds);

/* Converts an absolute time on the program's clock to the kernel's. Context: any. */
struct timespec ckpt_clock_to_kernel(clockid_t clock,
                                     const struct timespec *program);

/* Records the program's time at a checkpoint. Call it after the remaining times of the timers
 * have been read; otherwise these would expire early. Context: quiesced. */
void ckpt_clock_stop(void);

/*
 * After a restart: lets the clocks continue from the time of ckpt_clock_stop(). vdso: address
 * of this kernel's vDSO. Returns 0, or -errno if the program's vDSO cannot be changed. Context:
 * quiesced.
 */
int ckpt_clock_start(uint64_t vdso, struct ckpt_failure *failure);

/* Returns 1 if the code at this address reads a clock. Such code holds a partial time of this
 * host, or runs in a vDSO that another host may not have. Context: any. */
int ckpt_clock_is_reading(uint64_t address);

#endif
