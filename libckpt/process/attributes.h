/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * attributes.h - attributes of a process that a program may set: resource limits, priority,
 * scheduling policy, personality, prctl settings.
 *
 * The launcher sets them first. A restart restores the attributes that the program has changed,
 * and leaves the others as the new launcher has set them.
 */
#ifndef CKPT_ATTRIBUTES_H
#define CKPT_ATTRIBUTES_H

/* Records the attributes at the start of the process. Context: normal. */
void ckpt_attributes_open(void);

/* Records the present attributes, and which of them the program has changed. Priority and
 * policy are those of the calling thread. Context: quiesced. */
void ckpt_attributes_save(void);

/*
 * After a restart: sets the attributes that the program had changed, as far as this user may. A
 * limit that cannot be raised is set as high as allowed. raise: sets attributes that may need a
 * privilege that the program has dropped since, and those that threads inherit from their
 * creator. restore: sets the rest; lowered limits come last, since they apply to this code,
 * too. Context: quiesced.
 */
void ckpt_attributes_raise(void);
void ckpt_attributes_restore(void);

/* In a copy of the process that goes on as after a restart, before the calls above: the limits that
 * the program has changed are those of the launcher again, as far as this user may, so that they
 * do not yet apply to the work on the restart. Context: quiesced. */
void ckpt_attributes_of_launcher(void);

#endif
