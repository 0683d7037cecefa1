/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * drain.h - empty the network of messages for this rank.
 */
#ifndef CKPT_DRAIN_H
#define CKPT_DRAIN_H

#include "ckpt/failure.h"
#include "ckpt/wire.h"

/*
 * Takes messages off the lower half until this rank has received as many from
 * each peer as the page says to expect, and completes nonblocking collectives.
 * Messages that match a posted receive complete it; the others go to the log.
 * given_up: asked now and then; non-zero ends the drain (nothing is lost).
 * Returns 0, -ECANCELED (other threads of the rank have run, too), -EPROTO (more
 * messages have come than that), -EIO (the lower half fails), or -ENOMEM. Context: place for lower-half calls.
 */
int ckpt_drain(struct ckpt_rank_page *page, int (*given_up)(void),
               struct ckpt_failure *failure);

/* Completes nonblocking collectives that all members have begun before the cut,
 * and nothing else. 0 or -ECANCELED. Context: the same. */
int ckpt_drain_collectives(int (*given_up)(void), struct ckpt_failure *failure);

#endif
