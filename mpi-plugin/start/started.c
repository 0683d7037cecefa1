/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * started.c - report every process that loads the plugin, if `ckpt run` asks
 * how the launcher's processes end (docs/protocol.md, section 12).
 */
#include "process/started.h"

__attribute__((constructor)) static void tell(void)
{
    ckpt_tell_started();
}
