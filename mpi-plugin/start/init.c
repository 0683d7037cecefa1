/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * init.c - what MPI_Init and MPI_Finalize do besides the library's own.
 */
#include "start/init.h"

#include "non_mpi/non_mpi.h"
#include "base/invariant.h"
#include "cut/messages/partition.h"
#include "cut/messages/synchronous_send.h"
#include "cut/service/service.h"
#include "handles/communicator.h"
#include "handles/early_info.h"
#include "independent/page.h"
#include "link/rank_page.h"
#include "runtime/crossing.h"
#include "runtime/abi_check.h"
#include "runtime/runtime.h"
#include "start/load.h"

#include <errno.h>

/* Thread levels may differ from rank to rank, but all ranks must run
 * collectives alike. */
static int agree_on_collectives(void)
{
    int code, highest = MPI_THREAD_SINGLE;

    CKPT_CALL(code, Allreduce, &ckpt_thread_level, &highest, 1, CKPT_LOWER(MPI_INT),
              CKPT_LOWER(MPI_MAX), CKPT_LOWER(MPI_COMM_WORLD));
    CKPT_INVARIANT(code != MPI_SUCCESS || highest >= ckpt_thread_level);
    ckpt_collectives_split = highest == MPI_THREAD_MULTIPLE;
    return code;
}

/* Makes MPI ready for the application's threads. Returns 0 or -errno. */
static int allow_threads(void)
{
    int error = 0;

    if (ckpt_thread_level == MPI_THREAD_MULTIPLE) {
        error = ckpt_thread_contexts_open();
    }
    if (ckpt_thread_level >= MPI_THREAD_SERIALIZED) {
        ckpt_allow_threads();
    }
    return error;
}

void ckpt_start_library(void)
{
    extern char **environ;
    struct ckpt_failure failure = {0};

    ckpt_non_mpi_end();
    if (ckpt_check_mpi_abi(&failure) != 0) {
        ckpt_runtime_give_up(&failure);
    }
    ckpt_runtime_open_process();
    if (ckpt_load(environ, ckpt_runtime_vdso(), &failure) != 0) {
        ckpt_runtime_give_up(&failure);
    }
}

void ckpt_start(int required)
{
    struct ckpt_failure failure = {0};
    int rank, size, code, error;

    CKPT_INVARIANT(ckpt_runtime_phase() == CKPT_RUNTIME_BEFORE);
    ckpt_slow_path &= ~CKPT_SLOW_OUTSIDE;
    ckpt_runtime_need_library();
    ckpt_thread_level = required;
    if (ckpt_load_start(&failure) != 0) {
        ckpt_runtime_give_up(&failure);
    }
    CKPT_CALL(code, Comm_rank, CKPT_LOWER(MPI_COMM_WORLD), &rank);
    CKPT_CALL(code, Comm_size, CKPT_LOWER(MPI_COMM_WORLD), &size);
    error = ckpt_rank_page_open(rank, size);
    if (code != MPI_SUCCESS || error != 0) {
        (void)ckpt_fail(&failure, error, "no memory for the rank page");
        ckpt_runtime_give_up(&failure);
    }
    ckpt_communicators_open();
    if (agree_on_collectives() != MPI_SUCCESS || allow_threads() != 0) {
        (void)ckpt_fail(&failure, -EAGAIN, "no thread for the MPI library");
        ckpt_runtime_give_up(&failure);
    }
    ckpt_begin();
    code = ckpt_early_infos_rebuild();
    if (code == MPI_SUCCESS) {
        code = ckpt_partition_open();
    }
    if (code == MPI_SUCCESS) {
        code = ckpt_synchronous_open();
    }
    if (code == MPI_SUCCESS) {
        code = ckpt_independent_open(rank, size);
    }
    ckpt_end();
    if (code != MPI_SUCCESS) {
        (void)ckpt_refuse(&failure, CKPT_REFUSAL_MPI_ERROR, -EIO, "the MPI library fails, code %d",
                          code);
        ckpt_runtime_give_up(&failure);
    }
    ckpt_runtime_set_phase(CKPT_RUNTIME_ACTIVE);
    ckpt_service_open();
}

void ckpt_start_leave(void)
{
    CKPT_INVARIANT(ckpt_runtime_phase() == CKPT_RUNTIME_ACTIVE);
    ckpt_begin();
    ckpt_partition_close();
    ckpt_end();
    ckpt_service_close();
}
