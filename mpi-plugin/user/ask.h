/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ask.h - requests of the program itself for a checkpoint.
 */
#ifndef CKPT_ASK_H
#define CKPT_ASK_H

#include "ckpt/refusals.h"
#include "ckpt/wire.h"

#include <stdint.h>

/* Implement ckpt_checkpoint() and ckpt_reason() (user/ckpt.h). Context:
 * normal. */
int ckpt_ask(unsigned flags);
const char *ckpt_ask_reason(void);

/* Sends the threads' requests to the agent. Context: service. */
void ckpt_ask_tell(void);

/* Handles the agent's ANSWER. Context: service. */
void ckpt_ask_answered(const struct ckpt_message *message);

/* Fails all open requests, with a reason: no answer will come. `identity`
 * CKPT_REFUSAL_NONE and an empty text: they are done. Context: service;
 * quiesced. */
void ckpt_ask_forget(enum ckpt_refusal identity, const char *text);

#endif
