/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * loader.h - what the loader remembers of a lower half, besides the table.
 */
#ifndef CKPT_LOADER_H
#define CKPT_LOADER_H

/* Forgets the memory that the loader has mapped: it is gone. Context: quiesced. */
void ckpt_lower_loader_forget(void);

#endif
