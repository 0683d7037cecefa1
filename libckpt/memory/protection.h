/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * protection.h - pages of this process that an agent has write-protected, as it has not
 * saved them yet (launcher/image/write_protection.hpp).
 */
#ifndef CKPT_PROTECTION_H
#define CKPT_PROTECTION_H

#include <stddef.h>

/*
 * Has such pages of the range saved, by writing nothing to them: before the program gives
 * them back, or moves them, and their content is lost for the agent. Not page-aligned:
 * whole pages. What cannot be saved in this way, as memory that is not writable, or with
 * Linux before 6.7, the agent will miss, and notice that. Context: normal.
 */
void ckpt_protection_save(const void *start, size_t size);

#endif
