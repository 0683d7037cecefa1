/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * failure.c - why something could not be done, as a text for the user.
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
