/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shell.c - recognise programs that only start others.
 */
#include "non_mpi/shell.h"

#include "base/text.h"
#include "lower/ancestors.h"

#include <limits.h>
#include <string.h>

/* Debian's shells, by their names in /proc/PID/exe. `ckpt run` has the same
 * list (launcher/cli/launchers/program_file.cpp). */
static const char *const shells[] = {"sh", "bash", "dash", "zsh", "zsh5", "ksh93",
                                     "mksh", "csh", "tcsh", "bsd-csh", "fish",
                                     "busybox"};

int ckpt_is_shell(void)
{
    char program[PATH_MAX];
    const char *name;

    if (!ckpt_link_target("/proc/self/exe", program, sizeof(program))) {
        return 0;
    }
    name = strrchr(program, '/');
    name = name != NULL ? name + 1 : program;
    for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++) {
        if (ckpt_text_equal(name, shells[i])) {
            return 1;
        }
    }
    return 0;
}
