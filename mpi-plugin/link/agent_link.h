/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * agent_link.h - this rank's connection to its node agent.
 */
#ifndef CKPT_AGENT_LINK_H
#define CKPT_AGENT_LINK_H

#include "ckpt/failure.h"
#include "ckpt/wire.h"

#include <stddef.h>

/*
 * Connects to the node's agent of this launch, and starts the agent if none runs.
 * The rank that holds the lock file starts it; the others find it listening.
 * Context: normal or quiesced. Returns 0 or -errno with a reason.
 */
int ckpt_agent_connect(struct ckpt_failure *failure);

/* Makes a connected socket this rank's connection, which the agent has passed: the next
 * ckpt_agent_take_given() finds it. Moves it above the application's descriptors. Context:
 * quiesced. */
void ckpt_agent_give(int fd);

/* Returns 1, once, if the agent has passed a connection: then this rank is connected by it, and the
 * launch keeps its name. Context: as above. */
int ckpt_agent_take_given(void);

/*
 * Writes to `path` the socket on which this launch's agent takes commands. Returns
 * 0 or -errno with a reason. Context: as above.
 */
int ckpt_agent_control_socket(char *path, size_t size,
                              struct ckpt_failure *failure);

/* Likewise the socket on which it takes connections of ranks. */
int ckpt_agent_socket(char *path, size_t size, struct ckpt_failure *failure);

void ckpt_agent_disconnect(void);

/* 1 while connected. */
int ckpt_agent_connected(void);

/* The connection's descriptor, or -1. It belongs to neither half and is never
 * saved. */
int ckpt_agent_descriptor(void);

/* Asks the kernel to send `signal` to thread `tid` whenever the agent writes or
 * disconnects. */
void ckpt_agent_signal(int signal, int tid);

/* Sends a message, with the descriptor `fd` if it is >= 0. Returns 0 or -errno.
 * Context: any. */
int ckpt_agent_send(struct ckpt_message *message, int fd);

/* Returns 1 if a message of this type has come and waits, perhaps behind others. Context: any, on
 * the thread that receives. */
int ckpt_agent_holds(uint32_t type);

/*
 * Receives one message; BECOME_SHELL is obeyed at once (shell_order.h). Returns 1 if there is one,
 * 0 if there is none (only if wait == 0), -EPIPE if the agent is gone, or -EPROTO if it sent a
 * malformed message.
 * Context: any.
 */
int ckpt_agent_receive(struct ckpt_message *message, int wait);

/* Waits for one message. *fd: the descriptor that it brings, which the caller closes, or -1.
 * Otherwise as above. */
int ckpt_agent_receive_with(struct ckpt_message *message, int *fd);

/* Waits at most `ms` milliseconds for a message. Returns 1 if there may be one. */
int ckpt_agent_poll(int ms);

#endif
