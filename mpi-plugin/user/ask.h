/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ask.h - the program asks for a checkpoint itself.
 */
#ifndef CKPT_ASK_H
#define CKPT_ASK_H

#include "ckpt/wire.h"

#include <stdint.h>

/* As ckpt_checkpoint() and ckpt_reason() (user/ckpt.h). Context: normal. */
int ckpt_ask(unsigned flags);
const char *ckpt_ask_reason(void);

/* Sends what threads have asked for. Context: service. */
void ckpt_ask_tell(void);

/* The agent's ANSWER. Context: service. */
void ckpt_ask_answered(const struct ckpt_message *message);

/* Nobody will answer any more: `reason`. Context: service; quiesced. */
void ckpt_ask_forget(const char *reason);

#endif
