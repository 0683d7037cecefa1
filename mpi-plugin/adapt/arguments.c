/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * arguments.c - strings and arrays that MPICH returns.
 */
#include "adapt/arguments.h"

#include <string.h>

void adapt_text_out(const char *text, char *to, enum adapt_room room,
                    int *length_p)
{
    size_t length = strlen(text);

    if (length >= (size_t)adapt_openmpi_room[room]) {
        length = (size_t)adapt_openmpi_room[room] - 1;
    }
    memcpy(to, text, length);
    to[length] = '\0';
    if (length_p != NULL) {
        *length_p = (int)length;
    }
}

void adapt_codes_out(int codes[], int count)
{
    for (int i = 0; codes != NULL && i < count; i++) {
        codes[i] = adapt_code(codes[i]);
    }
}
