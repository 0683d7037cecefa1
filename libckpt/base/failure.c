/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * failure.c - the reason of a failure, as a text for the user.
 */
#include "ckpt/failure.h"

#include "base/text.h"

int ckpt_fail(struct ckpt_failure *failure, int error, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    ckpt_text_vformat(failure->text, sizeof(failure->text), format, arguments);
    va_end(arguments);
    return error;
}
