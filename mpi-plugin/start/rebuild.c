/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rebuild.c - make the MPI objects again in a new lower half.
 */
#include "start/rebuild.h"

#include "base/invariant.h"
#include "cut/messages/rank_cut.h"
#include "handles/buffer.h"
#include "handles/files/file.h"
#include "handles/kinds.h"
#include "handles/recipes/replay.h"
#include "handles/recipes/tool.h"
#include "handles/window.h"
#include "task/threads.h"

#include <errno.h>

static int rebuild_kind(enum ckpt_kind kind, int (*rebuild)(struct ckpt_handle *))
{
    struct ckpt_handle *handle = ckpt_live(kind);
    int code = MPI_SUCCESS;

    for (; handle != NULL && code == MPI_SUCCESS;
         handle = ckpt_live_next(handle)) {
        CKPT_INVARIANT(handle->kind == kind && (handle->flags & CKPT_HANDLE_PREDEFINED) == 0);
        code = rebuild(handle);
        CKPT_INVARIANT(code != MPI_SUCCESS || kind == CKPT_REQUEST || handle->lower != NULL);
    }
    return code;
}

int ckpt_rebuild(int (*restore_files)(struct ckpt_failure *failure),
                 struct ckpt_failure *failure)
{
    static const struct {
        enum ckpt_kind kind;
        const char *name;
        int (*rebuild)(struct ckpt_handle *);
    } order[] = {
        {CKPT_INFO, "infos", (int (*)(struct ckpt_handle *))ckpt_info_rebuild},
        {CKPT_GROUP, "groups", (int (*)(struct ckpt_handle *))ckpt_group_rebuild},
        {CKPT_DATATYPE, "datatypes",
         (int (*)(struct ckpt_handle *))ckpt_datatype_rebuild},
        {CKPT_OP, "operations", (int (*)(struct ckpt_handle *))ckpt_op_rebuild},
        {CKPT_REQUEST, "requests",
         (int (*)(struct ckpt_handle *))ckpt_request_rebuild},
    };
    const char *variable;
    int code, error;

    CKPT_INVARIANT(ckpt_threads_are_frozen()); /* no thread sees an object without a handle */
    code = ckpt_communicators_replay();
    if (code == MPI_SUCCESS) {
        code = ckpt_buffer_rebuild();
    }
    if (code != MPI_SUCCESS) {
        return ckpt_refuse(failure, CKPT_REFUSAL_MPI_ERROR, -EIO,
                           "the communicators cannot be made again (MPI error %d)",
                           code);
    }
    error = ckpt_rank_cut_reload(failure);
    if (error != 0) {
        return error;
    }
    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
        code = rebuild_kind(order[i].kind, order[i].rebuild);
        if (code != MPI_SUCCESS) {
            return ckpt_refuse(failure, CKPT_REFUSAL_MPI_ERROR, -EIO,
                               "the %s cannot be made again (MPI error %d)",
                               order[i].name, code);
        }
    }
    code = ckpt_windows_rebuild();
    if (code != MPI_SUCCESS) {
        return ckpt_refuse(failure, CKPT_REFUSAL_MPI_ERROR, -EIO,
                           "the windows cannot be made again (MPI error %d)",
                           code);
    }
    code = ckpt_tool_rebuild(&variable);
    if (code != MPI_SUCCESS) {
        return ckpt_refuse(failure, CKPT_REFUSAL_OTHER_MPI, -ENOTSUP,
                           "this MPI library has no variable %s for MPI_T (error %d)",
                           variable, code);
    }
    return ckpt_mpi_files_rebuild(restore_files, failure);
}
