/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * launch_name.c - the name by which all ranks of a launch know it.
 *
 * A launcher without PMIx, such as MPICH's hydra, sets no variable that is
 * equal in all ranks of a launch and different in every other launch.
 */
#include "link/launch_name.h"

#include "base/text.h"
#include "ckpt/wire.h"
#include "link/identity.h"
#include "link/rank_page.h"
#include "runtime/runtime.h"
#include "sys/syscall.h"

static char name[CKPT_LAUNCH_NAME_SIZE];
static int began_alone;

void ckpt_launch_name_alone(void)
{
    began_alone = 1;
}

static void make_name(void)
{
    unsigned long random[2] = {0, 0};

    if (ckpt_rank_page()->rank_count == 1) {
        ckpt_text_format(name, sizeof(name), "singleton-%d",
                         (int)ckpt_sys_getpid());
        return;
    }
    (void)ckpt_syscall3(SYS_getrandom, (long)random, sizeof(random), 0);
    ckpt_text_format(name, sizeof(name), "launch-%x%x", random[0], random[1]);
}

char *ckpt_launch_name_choose(void)
{
    const char *given = ckpt_runtime_getenv("PMIX_NAMESPACE");
    char identity[CKPT_IDENTITY_SIZE];

    if (began_alone) {
        ckpt_identity(identity);
        ckpt_text_format(name, sizeof(name), CKPT_LAUNCH_ALONE "%s", identity);
        return NULL;
    }
    if (given != NULL) {
        ckpt_text_copy(name, sizeof(name), given);
        return NULL;
    }
    make_name();
    return name;
}

int ckpt_launch_name_is_made(void)
{
    return !began_alone && ckpt_runtime_getenv("PMIX_NAMESPACE") == NULL;
}

const char *ckpt_launch_name(void)
{
    return name;
}
