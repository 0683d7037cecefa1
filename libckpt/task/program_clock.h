/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * program_clock.h - the clocks that count from the start of a host, as the
 * program sees them: the time between a checkpoint and a restart does not
 * count, whatever the clock of the new host shows (docs/clocks.md).
 *
 * The clocks concerned are CLOCK_MONOTONIC and CLOCK_BOOTTIME with their
 * variants. Program time is kernel time plus an offset. The offset is 0 until
 * the first restart. From then on the program's vDSO adds it.
 */
#ifndef CKPT_PROGRAM_CLOCK_H
#define CKPT_PROGRAM_CLOCK_H

#include "ckpt/failure.h"

#include <stdint.h>
#include <time.h>

/* Program time minus kernel time in nanoseconds; 0 for all other clocks.
 * Context: any. */
int64_t ckpt_clock_offset(clockid_t clock);

/* What the last restart has added to that offset. Context: any. */
int64_t ckpt_clock_change(clockid_t clock);

/* The number of restarts of this process. Context: any. */
uint32_t ckpt_clock_restarts(void);
extern uint32_t ckpt_clock_restart_count;

/* CLOCK_MONOTONIC of the program, by a system call, in nanoseconds. Context:
 * any. */
int64_t ckpt_clock_now(void);

/*
 * `time` later by `nanoseconds`, as an absolute time for the kernel. A time
 * that the kernel refuses, and one too large to add to, stay as they are. A
 * result before the kernel's zero is 1 ns, which is over, too, and does not
 * switch a timer off. Context: any.
 */
struct timespec ckpt_clock_add(const struct timespec *time, int64_t nanoseconds);

/* An absolute time of the program's clock on the kernel's. Context: any. */
struct timespec ckpt_clock_to_kernel(clockid_t clock,
                                     const struct timespec *program);

/* Notes the program's time at a checkpoint. After what its timers have left has been read:
 * else they would end early. Context: quiesced. */
void ckpt_clock_stop(void);

/*
 * After a restart: the clocks go on from the time of ckpt_clock_stop(). vdso:
 * address of this kernel's vDSO. Returns 0, or -errno if the program's vDSO
 * cannot be changed. Context: quiesced.
 */
int ckpt_clock_start(uint64_t vdso, struct ckpt_failure *failure);

/* 1 if the code at this address reads a clock: it has the time of one host on
 * its way, or stands in a vDSO that another host may not have. Context: any. */
int ckpt_clock_is_reading(uint64_t address);

#endif
