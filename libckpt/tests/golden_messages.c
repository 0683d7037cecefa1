/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * golden_messages.c - the messages of golden_messages.h as C makes them.
 */
#include "tests/golden_messages.h"

const struct ckpt_message *golden_message_of_c(unsigned index);

const struct ckpt_message *golden_message_of_c(unsigned index)
{
    return index < GOLDEN_COUNT ? &golden_messages[index] : NULL;
}
