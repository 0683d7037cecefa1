/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_launch.c - resources other than variables that the launcher gives the
 * MPI library.
 */
#include "config.h"
#include "lower/host/host_launch.h"

#include "base/text.h"
#include "lower/host/change.h"
#include "lower/host/host_descriptors.h"

#include <stdio.h>
#include <stdlib.h>

#define VARIABLE "PMI_FD"

int ckpt_host_launch_open(void)
{
    const char *value = getenv(VARIABLE);
    uint64_t number, mask;
    const char *end;
    char text[16];
    long moved;

    end = value == NULL ? NULL : ckpt_text_decimal(value, &number);
    if (end == NULL || *end != '\0' || number <= 2 || number > 65535) {
        return -1;
    }
    ckpt_change_begin(&mask);
    moved = ckpt_host_adopt((long)number, 0);
    ckpt_change_end(&mask);
    snprintf(text, sizeof(text), "%ld", moved);
    setenv(VARIABLE, text, 1);
    return (int)moved;
}
