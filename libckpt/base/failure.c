/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * failure.c - the reason of a failure: its identity, and a text for the user.
 */
#include "ckpt/failure.h"

#include "base/text.h"

#include <errno.h>

static enum ckpt_refusal identity_of(int error)
{
    switch (error) {
    case -ENOMEM:
        return CKPT_REFUSAL_NO_MEMORY;
    case -ENOSPC:
    case -EDQUOT:
        return CKPT_REFUSAL_NO_SPACE;
    case -EMFILE:
    case -ENFILE:
        return CKPT_REFUSAL_TOO_MANY_DESCRIPTORS;
    default:
        return CKPT_REFUSAL_SYSTEM_ERROR;
    }
}

int ckpt_refuse(struct ckpt_failure *failure, enum ckpt_refusal identity, int error,
                const char *format, ...)
{
    va_list arguments;

    failure->identity = identity;
    va_start(arguments, format);
    ckpt_text_vformat(failure->text, sizeof(failure->text), format, arguments);
    va_end(arguments);
    return error;
}

int ckpt_fail(struct ckpt_failure *failure, int error, const char *format, ...)
{
    va_list arguments;

    failure->identity = identity_of(error);
    va_start(arguments, format);
    ckpt_text_vformat(failure->text, sizeof(failure->text), format, arguments);
    va_end(arguments);
    return error;
}
