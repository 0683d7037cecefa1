/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_control.h - commands of the lower half to the agent, as those of `ckpt`
 * (docs/protocol.md, section 8).
 */
#ifndef CKPT_HOST_CONTROL_H
#define CKPT_HOST_CONTROL_H

#include <stddef.h>

/*
 * Sends a command, a line of JSON with its newline, and does not wait for what
 * becomes of it. path: of the agent's control socket. Returns 0, or -errno:
 * nobody has heard it. Context: normal (lower half), also where nobody may wait.
 */
int ckpt_host_control_tell(const char *path, const char *line);

/*
 * Sends a request for a checkpoint and waits until it is done. text: gets the name
 * of the checkpoint, or why there is none. Returns 0; -ECANCELED if the agent has
 * said that it could not be done; else -errno.
 * Context: normal (lower half), on a thread that may wait.
 */
int ckpt_host_control_ask(const char *path, const char *line, char *text,
                          size_t size);

#endif
