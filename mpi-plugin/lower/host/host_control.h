/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_control.h - send commands to the agent, as `ckpt` does
 * (docs/protocol.md, section 8).
 */
#ifndef CKPT_HOST_CONTROL_H
#define CKPT_HOST_CONTROL_H

#include <stddef.h>

/*
 * Sends a command, a line of JSON with its newline, and does not wait for the
 * answer. path: the agent's control socket. Returns 0, or -errno if the agent
 * did not get the command. Context: normal (lower half), also where the caller
 * must not wait.
 */
int ckpt_host_control_tell(const char *path, const char *line);

/*
 * Sends a request for a checkpoint and waits until it is done. text: receives
 * the name of the checkpoint, or the reason why there is none. Returns 0,
 * -ECANCELED if the agent reports that the checkpoint failed, else -errno.
 * Context: normal (lower half), on a thread that may wait.
 */
int ckpt_host_control_ask(const char *path, const char *line, char *text,
                          size_t size);

#endif
