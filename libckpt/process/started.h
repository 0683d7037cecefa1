/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * started.h - a process reports its start before it does anything else.
 *
 * Only this lets a process that is not their parent see the end of all processes of a launcher:
 * some live for a millisecond.
 */
#ifndef CKPT_STARTED_H
#define CKPT_STARTED_H

/*
 * Connects to the socket in CKPT_STARTED_VARIABLE (ckpt/wire.h), if that is set, and waits
 * until `ckpt run` closes the connection: then it knows this process. Does nothing if no
 * process listens. Waits at most CKPT_STARTED_TIMEOUT_MS, since the listener may be suspended.
 * Context: normal, also in a constructor.
 */
void ckpt_tell_started(void);

#define CKPT_STARTED_TIMEOUT_MS 5000

#endif
