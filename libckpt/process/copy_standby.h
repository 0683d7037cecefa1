/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * copy_standby.h - a copy that has obeyed STAND waits, with another lower half, for GO
 * (ckpt/copy_orders.h).
 */
#ifndef CKPT_PROCESS_COPY_STANDBY_H
#define CKPT_PROCESS_COPY_STANDBY_H

#include "process/copy_orders.h"

/*
 * This copy obeys STAND: keeps what it needs for the orders to come. order: STAND. From now on the
 * kernel ends the process when its connection ends, wherever it is, as a call of MPI may wait for
 * ranks that do not come. Returns 0 or -errno. Context: quiesced.
 */
int ckpt_copy_standby_begin(const struct ckpt_copy_state *state,
                            const struct ckpt_copy_order *order);

/* Returns 1 if this process is a copy that has obeyed STAND, and has not got GO. Context: any. */
int ckpt_copy_stands(void);

/*
 * Says STANDING, and waits until the copy has got its descriptors and GO; ends the process if the
 * connection ends. info: gets what GO says. Returns the connection to the agent, which is the
 * caller's. Context: quiesced.
 */
int ckpt_copy_stand_by(struct ckpt_resume_info *info);

#endif
