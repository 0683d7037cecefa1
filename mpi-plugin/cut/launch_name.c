/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * launch_name.c - the name by which all ranks of a launch know it.
 *
 * A launcher without PMIx, such as MPICH's hydra, sets no variable that is
 * equal in all ranks of a launch and different in every other launch.
 */
#include "cut/launch_name.h"

#include "alone/alone.h"
#include "base/text.h"
#include "handles/communicator.h"
#include "runtime/crossing.h"
#include "runtime/runtime.h"
#include "sys/syscall.h"

#include <errno.h>

static char name[256];

static void make_name(void)
{
    unsigned long random[2] = {0, 0};

    if (MPI_COMM_WORLD->size == 1) {
        ckpt_text_format(name, sizeof(name), "singleton-%d",
                         (int)ckpt_sys_getpid());
        return;
    }
    (void)ckpt_syscall3(SYS_getrandom, (long)random, sizeof(random), 0);
    ckpt_text_format(name, sizeof(name), "launch-%x%x", random[0], random[1]);
}

int ckpt_launch_name_agree(void)
{
    const char *given = ckpt_runtime_getenv("PMIX_NAMESPACE");
    int code;

    if (ckpt_alone_launch_name(name, sizeof(name))) {
        return 0;
    }
    if (given != NULL) {
        ckpt_text_copy(name, sizeof(name), given);
        return 0;
    }
    make_name();
    CKPT_CALL(code, Bcast, name, (int)sizeof(name), CKPT_LOWER(MPI_BYTE), 0,
              CKPT_LOWER(MPI_COMM_WORLD));
    return code == MPI_SUCCESS ? 0 : -EPROTO;
}

const char *ckpt_launch_name(void)
{
    return name;
}
