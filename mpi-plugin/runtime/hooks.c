/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hooks.c - call what the higher folders have put into the table.
 */
#include "runtime/hooks.h"

#include "runtime/crossing.h"
#include "runtime/runtime.h"

struct ckpt_runtime_hooks ckpt_runtime_hooks;

void ckpt_service(void)
{
    ckpt_runtime_hooks.serve();
}

void ckpt_notice(void)
{
    ckpt_runtime_hooks.notice();
}

void ckpt_poll_failed(void)
{
    ckpt_runtime_hooks.poll_failed();
}

void ckpt_poll_succeeded(void)
{
    ckpt_runtime_hooks.poll_succeeded();
}

void ckpt_runtime_need_library(void)
{
    if (ckpt_require_lower() != 0) {
        ckpt_runtime_hooks.need_library();
    }
}

void ckpt_runtime_begin(int required)
{
    ckpt_runtime_hooks.begin(required);
}

void ckpt_runtime_leave(void)
{
    ckpt_runtime_hooks.leave();
}
