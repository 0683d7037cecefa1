/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * system_v.h - System V objects after a restart.
 */
#ifndef CKPT_CUT_SYSTEM_V_H
#define CKPT_CUT_SYSTEM_V_H

#include "ckpt/failure.h"

#include <stdint.h>

/*
 * Makes the ranks' semaphores and queues again, and checks that ranks that had
 * some on one node are on one node again. Collective over all ranks; none may
 * go on before all have been here.
 * since: seconds of CLOCK_REALTIME at which the restart began.
 * Returns 0 or -errno with the reason. Context: quiesced, at a restart, with
 * the lower half loaded.
 */
int ckpt_system_v_rejoin(int64_t since, struct ckpt_failure *failure);

/* The same for a rank that still has its objects, in a process that lives on: other ranks may be
 * restarted ones. Context: quiesced, in a change of worlds. */
int ckpt_system_v_attend(struct ckpt_failure *failure);

#endif
