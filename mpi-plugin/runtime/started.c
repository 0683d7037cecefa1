/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * started.c - every process that the plugin is loaded into says so, if `ckpt run` wants to
 * know how the launcher's processes end (docs/protocol.md, section 12).
 */
#include "task/started.h"

__attribute__((constructor)) static void tell(void)
{
    ckpt_tell_started();
}
