/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * drain.h - empty the network of the messages to this rank.
 */
#ifndef CKPT_DRAIN_H
#define CKPT_DRAIN_H

#include "ckpt/failure.h"
#include "ckpt/wire.h"

/*
 * Takes messages off the lower half until this rank has received as many from each peer as the rank
 * page says to expect, and completes nonblocking collectives. A message that matches a posted
 * receive completes it; the others go to the log. given_up: called now and then; if it returns
 * non-zero the drain ends without losing messages. Returns 0, -ECANCELED (other threads of the rank
 * have run), -EPROTO (more messages than expected have arrived), -EIO (the lower half fails) or
 * -ENOMEM.
 * Context: place for lower-half calls.
 */
int ckpt_drain(struct ckpt_rank_page *page, int (*given_up)(void),
               struct ckpt_failure *failure);

/* Completes only the nonblocking collectives that all members began before the cut. Returns 0 or
 * -ECANCELED. Context: the same. */
int ckpt_drain_collectives(int (*given_up)(void), struct ckpt_failure *failure);

#endif
