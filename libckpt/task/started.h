/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * started.h - a process says that it has been started, before it does anything else.
 *
 * Only so can all ends of a launcher's processes be seen by somebody who is not their parent:
 * some live for a millisecond.
 */
#ifndef CKPT_STARTED_H
#define CKPT_STARTED_H

/*
 * Connects to CKPT_STARTED_VARIABLE (ckpt/wire.h), if it is set, and waits until the
 * connection is closed: then this process is known. Does nothing if nobody listens, and gives
 * up on one that does not answer (it may be suspended) after CKPT_STARTED_PATIENCE_MS.
 * Context: normal, also in a constructor.
 */
void ckpt_tell_started(void);

#define CKPT_STARTED_PATIENCE_MS 5000

#endif
