/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_process.h - keep the lower half from changing the process as a whole.
 *
 * Exports to the lower half: exit, _exit, _Exit, abort, prctl.
 */
#ifndef CKPT_HOST_PROCESS_H
#define CKPT_HOST_PROCESS_H

#include "lower/lower.h"

/*
 * From now on an attempt to end the process makes the load fail instead, by way
 * of table->back(). With NULL it ends the process again.
 * Context: normal (lower half).
 */
void ckpt_host_loading(struct ckpt_lower *table);

/*
 * If the library ends the process while *words is not NULL, that line is written to standard error.
 * words: struct ckpt_lower; NULL: never. Context: normal (lower half).
 */
void ckpt_host_last_words(const char *const volatile *words);

#endif
