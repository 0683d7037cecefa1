/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * descriptor_room.h - a checkpoint reads files of the kernel, also in a program that has all
 * the descriptors open which it may have.
 */
#ifndef CKPT_DESCRIPTOR_ROOM_H
#define CKPT_DESCRIPTOR_ROOM_H

#include <sys/resource.h>

/* If hardly a descriptor is left, raises the limit as far as the process may, until
 * ckpt_descriptor_room_leave(). Context: normal or quiesced. */
void ckpt_descriptor_room_make(void);
void ckpt_descriptor_room_leave(void);

/* In the saved code after a restart: the limit is the new launcher's. Context: quiesced. */
void ckpt_descriptor_room_gone(void);

/* The limit (RLIMIT_NOFILE) that the program has, of which *limit is the one that the kernel
 * tells. Context: quiesced. */
void ckpt_descriptor_room_correct(struct rlimit *limit);

#endif
