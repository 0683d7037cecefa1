/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * world.h - what a restart and a change of worlds have in common: from a process without a lower
 * half to a rank that goes on. A *world* is one lower half with the environment of its launch.
 */
#ifndef CKPT_WORLD_H
#define CKPT_WORLD_H

#include "ckpt/failure.h"

#include <stdint.h>

/* Ends this process with a message: it has no world. what: what has failed. Context: any. */
void ckpt_world_give_up(const char *what, const struct ckpt_failure *failure)
    __attribute__((noreturn));

/*
 * Loads a lower half, begins its MPI, and checks that MPI_COMM_WORLD is as before. Collective:
 * returns when all ranks are here. environment: of the launch; vdso: of this kernel.
 * Context: quiesced. Returns 0 or -errno with a reason.
 */
int ckpt_world_load(char *const environment[], uint64_t vdso, struct ckpt_failure *failure);

/* Goes on in the context that was described last: begins the nonblocking collectives again that
 * the description has left out. The threads have been thawed. is_in_handler: 1 if that context
 * is in the handler of the checkpoint signal, unless it enters a collective again. what: as
 * above. Context: normal, as a service. */
void ckpt_world_go_on(int is_in_handler, const char *what) __attribute__((noreturn));

#endif
