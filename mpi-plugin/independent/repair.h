/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * repair.h - complete or undo the last step of a killed rank (docs/windows.md, section
 * 6).
 */
#ifndef CKPT_INDEPENDENT_REPAIR_H
#define CKPT_INDEPENDENT_REPAIR_H

#pragma GCC visibility push(hidden)

/*
 * Removes undelivered records from this rank's log, applies delivered ones, and marks its
 * last interval as closed. Restores the quiet of memory in which no put is undelivered
 * (independent/log/quiet.h), and gives up the pieces that it holds. Called at the beginning
 * of its replay, before its memory becomes private.
 */
void ckpt_repair(void);

#pragma GCC visibility pop

#endif
