/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * launch_environment.c - the environment of a process that leaves one launcher for another.
 */
#include "lower/launch_environment.h"

#include "base/invariant.h"
#include "base/launcher_variables.h"
#include "base/text.h"

#include <errno.h>
#include <string.h>

/* Length of the variable's name; 0 if the setting has none. */
static size_t name_length(const char *setting)
{
    size_t length = 0;

    while (setting[length] != '\0' && setting[length] != '=') {
        length++;
    }
    return setting[length] == '=' ? length : 0;
}

static int is_list(const char *block, size_t size)
{
    size_t at = 0;

    if (size > 0 && block[size - 1] != '\0') {
        return 0;
    }
    for (; at < size; at += ckpt_text_length(block + at) + 1) {
        if (name_length(block + at) == 0) {
            return 0;
        }
    }
    return 1;
}

struct writer {
    struct ckpt_launch_environment *to;
    size_t count, used;
};

static int put(struct writer *writer, const char *setting)
{
    const size_t length = ckpt_text_length(setting) + 1;

    if (writer->count + 1 >= CKPT_ENVIRONMENT_ENTRIES ||
        length > CKPT_ENVIRONMENT_BYTES - writer->used) {
        return -E2BIG;
    }
    CKPT_INVARIANT(writer->used <= CKPT_ENVIRONMENT_BYTES);
    writer->to->entries[writer->count++] = writer->to->text + writer->used;
    memcpy(writer->to->text + writer->used, setting, length);
    writer->used += length;
    return 0;
}

/* Returns 1 if one of the first `count` settings written is of the same variable. */
static int is_given(const struct writer *writer, size_t count, const char *setting)
{
    const size_t length = name_length(setting);

    for (size_t i = 0; i < count; i++) {
        const char *given = writer->to->entries[i];

        if (name_length(given) == length && memcmp(given, setting, length) == 0) {
            return 1;
        }
    }
    return 0;
}

int ckpt_launch_environment_make(char *const old[], const char *block, size_t size,
                                 struct ckpt_launch_environment *to,
                                 struct ckpt_failure *failure)
{
    struct writer writer = {.to = to};
    size_t given;
    int error = 0;

    if (!is_list(block, size)) {
        return ckpt_refuse(failure, CKPT_REFUSAL_INTERNAL_ERROR, -EPROTO,
                           "the environment of the new launch is not a list of settings");
    }
    for (size_t at = 0; at < size && error == 0; at += ckpt_text_length(block + at) + 1) {
        error = put(&writer, block + at);
    }
    given = writer.count;
    for (; *old != NULL && error == 0; old++) {
        if (!ckpt_is_of_launcher(*old) && !is_given(&writer, given, *old)) {
            error = put(&writer, *old);
        }
    }
    CKPT_INVARIANT(writer.count < CKPT_ENVIRONMENT_ENTRIES);
    to->entries[writer.count] = NULL;
    return error == 0 ? 0
                      : ckpt_refuse(failure, CKPT_REFUSAL_TOO_MANY_OBJECTS, error,
                                    "the environment of the new launch is too large");
}
