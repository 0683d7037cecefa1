/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * protection.h - pages of this process that an agent has write-protected because it has not
 * saved them yet (launcher/image/memory/write_protection.hpp).
 */
#ifndef CKPT_PROTECTION_H
#define CKPT_PROTECTION_H

#include <stddef.h>

/*
 * Makes the agent save such pages of the range, with a fault that writes nothing. Call it
 * before the program unmaps or moves them, which would lose their content for the agent. The
 * range is extended to whole pages. Read-only memory, or Linux before 6.7, does not allow this;
 * the agent then detects the missing pages. Context: normal.
 */
void ckpt_protection_save(const void *start, size_t size);

#endif
