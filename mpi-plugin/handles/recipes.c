/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * recipes.c - record how all live objects were made; make them again.
 */
#include "base/arena.h"
#include "base/invariant.h"
#include "ckpt/failure.h"
#include "cut/collective.h"
#include "cut/epoch.h"
#include "cut/message_log.h"
#include "cut/nonblocking.h"
#include "handles/file.h"
#include "handles/kinds.h"
#include "handles/replay.h"
#include "handles/tool.h"
#include "handles/window.h"
#include "runtime/crossing.h"

#include <errno.h>

static int never(struct ckpt_handle *handle)
{
    (void)handle;
    return 0;
}

/* The kinds whose recipe is read from the lower half. */
static const struct {
    enum ckpt_kind kind;
    const char *name;
    int (*record)(struct ckpt_handle *);
    /* For an object that may change after it was recorded: returns 1 if the record
     * is up to date. NULL: the object never changes. */
    int (*known)(struct ckpt_handle *);
} recorded[] = {
    {CKPT_GROUP, "group", (int (*)(struct ckpt_handle *))ckpt_group_record,
     NULL},
    {CKPT_DATATYPE, "datatype",
     (int (*)(struct ckpt_handle *))ckpt_datatype_record, NULL},
    {CKPT_INFO, "info", (int (*)(struct ckpt_handle *))ckpt_info_record, never},
    {CKPT_FILE, "file", (int (*)(struct ckpt_handle *))ckpt_mpi_file_record,
     (int (*)(struct ckpt_handle *))ckpt_mpi_file_complete},
};
#define RECORDED (sizeof(recorded) / sizeof(recorded[0]))

int ckpt_recipes_missing;

void ckpt_recipes_expect(enum ckpt_kind kind)
{
    for (size_t i = 0; i < RECORDED; i++) {
        if (recorded[i].kind == kind) {
            ckpt_recipes_missing = 1;
        }
    }
}

void ckpt_recipes_catch_up(void)
{
    struct ckpt_failure ignored = {""};

    if (ckpt_multiple) {
        return; /* such a rank is not saved inside a collective */
    }
    ckpt_begin();
    (void)ckpt_recipes_record(&ignored); /* a checkpoint records again */
    ckpt_end();
}

int ckpt_recipes_record(struct ckpt_failure *failure)
{
    ckpt_recipes_missing = 0;
    for (size_t i = 0; i < RECORDED; i++) {
        struct ckpt_handle *handle = ckpt_live(recorded[i].kind);

        for (; handle != NULL; handle = ckpt_live_next(handle)) {
            int error = 0;

            if (handle->recipe == NULL || recorded[i].known != NULL) {
                error = recorded[i].record(handle);
            }
            if (error != 0) {
                return ckpt_fail(failure, error,
                                 "the %s made by %s cannot be described",
                                 recorded[i].name, handle->creator);
            }
        }
    }
    CKPT_INVARIANT(!ckpt_recipes_missing); /* a description makes no object */
    return 0;
}

int ckpt_recipes_complete(void)
{
    for (size_t i = 0; i < RECORDED; i++) {
        struct ckpt_handle *handle = ckpt_live(recorded[i].kind);

        for (; handle != NULL; handle = ckpt_live_next(handle)) {
            if (recorded[i].known != NULL ? !recorded[i].known(handle)
                                          : handle->recipe == NULL) {
                return 0;
            }
        }
    }
    /* A request or a matched message may need a lower-half call, too. */
    for (struct ckpt_handle *handle = ckpt_live(CKPT_REQUEST); handle != NULL;
         handle = ckpt_live_next(handle)) {
        MPI_Request request = (MPI_Request)handle;

        if (ckpt_request_is_drained(request) && !request->complete) {
            return 0;
        }
    }
    return ckpt_live(CKPT_MESSAGE) == NULL && !ckpt_windows_dirty();
}

struct ckpt_handle *ckpt_first_unsavable(void)
{
    struct ckpt_handle *handle;

    for (handle = ckpt_live(CKPT_COMM); handle != NULL;
         handle = ckpt_live_next(handle)) {
        if (((MPI_Comm)handle)->foreign || ((MPI_Comm)handle)->unclocked) {
            return handle;
        }
    }
    return NULL;
}

static int rebuild_kind(enum ckpt_kind kind, int (*rebuild)(struct ckpt_handle *))
{
    struct ckpt_handle *handle = ckpt_live(kind);
    int code = MPI_SUCCESS;

    for (; handle != NULL && code == MPI_SUCCESS;
         handle = ckpt_live_next(handle)) {
        code = rebuild(handle);
    }
    return code;
}

int ckpt_recipes_rebuild(struct ckpt_failure *failure)
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
    int code = ckpt_communicators_replay(), error;

    if (code == MPI_SUCCESS) {
        code = ckpt_buffer_rebuild();
    }
    if (code != MPI_SUCCESS) {
        return ckpt_fail(failure, -EIO,
                         "the communicators cannot be made again (MPI error %d)",
                         code);
    }
    error = ckpt_epoch_reload(failure);
    if (error != 0) {
        return error;
    }
    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
        code = rebuild_kind(order[i].kind, order[i].rebuild);
        if (code != MPI_SUCCESS) {
            return ckpt_fail(failure, -EIO,
                             "the %s cannot be made again (MPI error %d)",
                             order[i].name, code);
        }
    }
    code = ckpt_windows_rebuild();
    if (code != MPI_SUCCESS) {
        return ckpt_fail(failure, -EIO,
                         "the windows cannot be made again (MPI error %d)",
                         code);
    }
    code = ckpt_tool_rebuild(&variable);
    if (code != MPI_SUCCESS) {
        return ckpt_fail(failure, -ENOTSUP,
                         "this MPI library has no variable %s for MPI_T (error %d)",
                         variable, code);
    }
    return ckpt_mpi_files_rebuild(failure);
}
