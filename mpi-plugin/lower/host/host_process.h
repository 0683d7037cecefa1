/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_process.h - keep the lower half from changing the process as a whole.
 *
 * Exports to the lower half: exit, _exit, _Exit, abort, PMIx_Abort, prctl.
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

/*
 * While *whether is not 0, a library that gives up over PMIx stops its rank instead of ending the
 * job. Open MPI does so if it has lost the connection to a peer, for example. If the peer has died,
 * an agent ends this process or lets it become a shell, and all ranks come back (docs/recovery.md);
 * if the job ended, none would. If this does not happen in 10 s, the process ends itself.
 * whether: struct ckpt_lower. Context: normal (lower half).
 */
void ckpt_host_stops_alone(const volatile int32_t *whether);

#endif
