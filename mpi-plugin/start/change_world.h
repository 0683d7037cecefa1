/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * change_world.h - a living rank throws its lower half away and loads another one.
 */
#ifndef CKPT_CHANGE_WORLD_H
#define CKPT_CHANGE_WORLD_H

#include "ckpt/failure.h"

#include <stddef.h>

/*
 * Brings a rank that has described itself into the world of another launcher: another lower half,
 * the same MPI objects, clocks at 0. Its memory, threads, descriptors, signals and its connection
 * to the agent stay. Collective over the ranks of that world.
 * settings: the launcher's variables for this rank, `size` bytes, with a NUL after each
 * (lower/launch_environment.h).
 * Context: quiesced. Returns 0; or -errno with a reason, and the rank is in its old world as
 * before. If it fails later, the process ends with a message.
 */
int ckpt_change_world(const char *settings, size_t size, struct ckpt_failure *failure);

/* After a change, and after the thaw: goes on in the context that was described. Never returns.
 * Context: normal, as a service. */
void ckpt_change_world_go_on(void);

#endif
