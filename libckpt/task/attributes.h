/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * attributes.h - what the kernel keeps for a process that a program may set:
 * resource limits, priority, scheduling policy, personality, prctl settings.
 *
 * The launcher sets them first. So what the program has never changed is the
 * new launcher's after a restart, and what it has changed is the program's.
 */
#ifndef CKPT_ATTRIBUTES_H
#define CKPT_ATTRIBUTES_H

/* Remembers what the process was started with. Context: normal. */
void ckpt_attributes_open(void);

/* Notes what is set now, and what of it is the program's doing. Of priority and
 * policy those of the calling thread count. Context: quiesced. */
void ckpt_attributes_save(void);

/*
 * After a restart: sets what the program had set, as far as this user may here; a
 * limit that may not be raised is set as high as allowed. _raise: what may need a
 * privilege that the program has given up since, and what threads take from their
 * maker. Limits that are lower come last: they hold for us, too. Context: quiesced.
 */
void ckpt_attributes_raise(void);
void ckpt_attributes_restore(void);

#endif
