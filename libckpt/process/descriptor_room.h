/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * descriptor_room.h - lets a checkpoint open files of /proc even if the program has used up its
 * limit on descriptors.
 */
#ifndef CKPT_DESCRIPTOR_ROOM_H
#define CKPT_DESCRIPTOR_ROOM_H

#include <sys/resource.h>

/* make: raises the limit to the maximum if almost no descriptor is left. leave: sets the
 * program's limit again. Context: normal or quiesced. */
void ckpt_descriptor_room_make(void);
void ckpt_descriptor_room_leave(void);

/* In the saved code after a restart: the new launcher's limit is in force. Context: quiesced. */
void ckpt_descriptor_room_gone(void);

/* Replaces *limit, the kernel's RLIMIT_NOFILE, with the program's own limit while ours is in
 * force. Context: quiesced. */
void ckpt_descriptor_room_correct(struct rlimit *limit);

#endif
