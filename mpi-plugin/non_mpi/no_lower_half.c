/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * no_lower_half.c - the lower half's table in a process without one.
 */
#include "non_mpi/no_lower_half.h"

#include "sys/syscall.h"

#include <fcntl.h>

static int owns_none(int id)
{
    (void)id;
    return 0;
}

/* A descriptor that is not open is not the application's. */
static int owns_descriptor(int fd)
{
    return ckpt_sys_fcntl(fd, F_GETFD, 0) < 0;
}

void ckpt_no_lower_half(struct ckpt_lower *table)
{
    table->owns_thread = owns_none;
    table->owns_process = owns_none;
    table->owns_descriptor = owns_descriptor;
}
