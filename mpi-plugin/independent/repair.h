/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * repair.h - what a rank that was killed has left half done (docs/windows.md, section 6).
 */
#ifndef CKPT_INDEPENDENT_REPAIR_H
#define CKPT_INDEPENDENT_REPAIR_H

#pragma GCC visibility push(hidden)

/*
 * Drops from this rank's log what was not delivered, brings what was into place, tells
 * that its last interval is closed, that memory is quiet again in which nothing is half
 * done (independent/quiet.h), and lets go of what nobody else may change. At the
 * beginning of its replay, before its memory becomes private.
 */
void ckpt_repair(void);

#pragma GCC visibility pop

#endif
