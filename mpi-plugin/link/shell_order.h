/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shell_order.h - the agent's order BECOME_SHELL: another process is the rank, and this one only
 * stays for its launcher (docs/protocol.md, section 5).
 */
#ifndef CKPT_SHELL_ORDER_H
#define CKPT_SHELL_ORDER_H

#include "ckpt/messages.h"

/*
 * Obeys the order, wherever this thread is: executes ckpt-shell, which ends all other threads and
 * gives up all memory, and which answers SHELL. Every receipt of a message calls it. Returns only
 * if that fails: then it has answered REFUSED, and the agent ends this process.
 * Context: any, upper half; also while another thread has any lock.
 */
void ckpt_shell_obey(const struct ckpt_message *order);

/* Obeys the order if it has come, also behind other messages, which are void then. Context: as
 * above, on the thread that receives the agent's messages. */
void ckpt_shell_look(void);

#endif
