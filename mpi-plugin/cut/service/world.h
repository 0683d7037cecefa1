/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * world.h - obey the agent's order to change worlds: another lower half, under another launcher.
 */
#ifndef CKPT_SERVICE_WORLD_H
#define CKPT_SERVICE_WORLD_H

#include "ckpt/failure.h"

#include <stddef.h>

/* What the folder start/ does for it (start/change_world.h). */
struct ckpt_world_calls {
    int (*change)(const char *settings, size_t size, struct ckpt_failure *failure);
    void (*go_on)(void);
};

/* Sets the calls, once, before any message. calls: static. Context: any. */
void ckpt_world_calls_set(const struct ckpt_world_calls *calls);

/*
 * Obeys CHANGE_WORLD and answers it: WORLD_READY if the rank has a new lower half, REFUSED if it is
 * in its old world as before. Ends the process if neither is possible. environment: the memory file
 * that the message has brought, or -1; it is closed. Context: quiesced, between READY and RESUME.
 * Returns 1 if the world has changed.
 */
int ckpt_world_obey(int environment);

/* Refuses the order: this rank runs. Context: as a service, or in the signal handler. */
void ckpt_world_refuse(void);

/* After a change and RESUME: goes on where the rank has described itself. The frames of the calling
 * code may belong to a call in the former lower half. Context: normal, as a service. */
void ckpt_world_leave(void) __attribute__((noreturn));

#endif
