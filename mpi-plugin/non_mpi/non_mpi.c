/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * non_mpi.c - a program without MPI, from the start of its main to its end.
 */
#include "non_mpi/non_mpi.h"

#include "non_mpi/no_lower_half.h"
#include "non_mpi/shell.h"
#include "base/invariant.h"
#include "base/text.h"
#include "ckpt/wire.h"
#include "cut/messages/report.h"
#include "cut/service/service.h"
#include "files/input.h"
#include "link/agent_link.h"
#include "link/identity.h"
#include "link/launch_name.h"
#include "link/rank_page.h"
#include "runtime/crossing.h"
#include "runtime/runtime.h"
#include "runtime/state.h"
#include "sys/syscall.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>

static int process; /* pid of the program, not of its forks */

static void open_program(void)
{
    extern char **environ;
    int error;

    CKPT_INVARIANT(!ckpt_non_mpi);
    ckpt_runtime_enter(environ, getauxval(AT_SYSINFO_EHDR));
    ckpt_runtime_open_process();
    ckpt_no_lower_half(&ckpt_lower);
    error = ckpt_rank_page_open(0, 1);
    if (error != 0) {
        fprintf(stderr, "ckpt: no checkpoints: no memory (error %d)\n", -error);
        return;
    }
    process = ckpt_sys_getpid();
    ckpt_non_mpi = 1;
    ckpt_launch_name_alone();
    ckpt_service_open();
}

/* Runs in every process that has the library, not only in a program without
 * MPI. The linker initialises a preloaded library after the libraries it
 * depends on, and before the program (ld.so(8), LD_PRELOAD). */
__attribute__((constructor)) static void begin(void)
{
    const char *started = getenv(CKPT_IDENTITY_VARIABLE);
    char own[CKPT_IDENTITY_SIZE];

    ckpt_input_open(); /* before other code uses the streams */
    if (started == NULL) {
        return;
    }
    ckpt_identity(own);
    if (ckpt_text_equal(started, own) && !ckpt_is_shell()) {
        open_program();
    }
}

void ckpt_non_mpi_end(void)
{
    if (!ckpt_non_mpi) {
        return;
    }
    ckpt_service_close();
    ckpt_agent_disconnect();
    ckpt_rank_page_close();
    ckpt_non_mpi = 0;
}

/* Runs at exit(3), in any thread. The agent then gives up a checkpoint under
 * way. */
__attribute__((destructor)) static void end(void)
{
    struct ckpt_message message = {.type = CKPT_MSG_FINALIZED};

    if (ckpt_non_mpi && process == ckpt_sys_getpid() && ckpt_agent_connected()) {
        (void)ckpt_agent_send(&message, -1);
    }
}

void ckpt_non_mpi_resume(const struct ckpt_resume_info *info)
{
    extern char **environ;

    ckpt_runtime_enter((char *const *)(uintptr_t)info->environment, info->vdso);
    ckpt_identity_renew(environ);
    process = ckpt_sys_getpid();
}
