/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * recipes.c - write down how all live objects were made; make them again.
 */
#include "base/arena.h"
#include "ckpt/failure.h"
#include "cut/message_log.h"
#include "generate/support.h"
#include "handles/kinds.h"
#include "handles/replay.h"
#include "runtime/crossing.h"

#include <errno.h>

/* The parts that have a recipe taken from the lower half. */
static const struct {
    enum ckpt_kind kind;
    const char *name;
    int (*record)(struct ckpt_handle *);
    int changes; /* the object may change after it was recorded */
} recorded[] = {
    {CKPT_GROUP, "group", (int (*)(struct ckpt_handle *))ckpt_group_record, 0},
    {CKPT_DATATYPE, "datatype",
     (int (*)(struct ckpt_handle *))ckpt_datatype_record, 0},
    {CKPT_INFO, "info", (int (*)(struct ckpt_handle *))ckpt_info_record, 1},
};
#define RECORDED (sizeof(recorded) / sizeof(recorded[0]))

int ckpt_recipes_record(struct ckpt_failure *failure)
{
    for (size_t i = 0; i < RECORDED; i++) {
        struct ckpt_handle *handle = ckpt_live(recorded[i].kind);

        for (; handle != NULL; handle = ckpt_live_next(handle)) {
            int error = 0;

            if (handle->recipe == NULL || recorded[i].changes) {
                error = recorded[i].record(handle);
            }
            if (error != 0) {
                return ckpt_fail(failure, error,
                                 "the %s made by %s cannot be described",
                                 recorded[i].name, handle->creator);
            }
        }
    }
    return 0;
}

int ckpt_recipes_complete(void)
{
    for (size_t i = 0; i < RECORDED; i++) {
        struct ckpt_handle *handle = ckpt_live(recorded[i].kind);

        for (; handle != NULL; handle = ckpt_live_next(handle)) {
            if (handle->recipe == NULL || recorded[i].changes) {
                return 0;
            }
        }
    }
    /* A request or a matched message may need a call of the lower half, too. */
    for (struct ckpt_handle *handle = ckpt_live(CKPT_REQUEST); handle != NULL;
         handle = ckpt_live_next(handle)) {
        const struct ompi_request_t *request = (MPI_Request)handle;

        if (request->request_kind == CKPT_REQUEST_COLLECTIVE &&
            !request->complete) {
            return 0;
        }
    }
    return ckpt_live(CKPT_MESSAGE) == NULL;
}

struct ckpt_handle *ckpt_first_unsavable(void)
{
    static const enum ckpt_kind kinds[] = {CKPT_WIN, CKPT_FILE};
    struct ckpt_handle *handle;

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (ckpt_live(kinds[i]) != NULL) {
            return ckpt_live(kinds[i]);
        }
    }
    for (handle = ckpt_live(CKPT_COMM); handle != NULL;
         handle = ckpt_live_next(handle)) {
        if (((MPI_Comm)handle)->foreign || ((MPI_Comm)handle)->unclocked) {
            return handle;
        }
    }
    for (handle = ckpt_live(CKPT_REQUEST); handle != NULL;
         handle = ckpt_live_next(handle)) {
        if (((MPI_Request)handle)->request_kind == CKPT_REQUEST_FOREIGN) {
            return handle;
        }
    }
    return ckpt_tool_in_use();
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
    int code = ckpt_communicators_replay();

    if (code == MPI_SUCCESS) {
        code = ckpt_buffer_rebuild();
    }
    if (code != MPI_SUCCESS) {
        return ckpt_fail(failure, -EIO,
                         "the communicators cannot be made again (MPI error %d)",
                         code);
    }
    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
        code = rebuild_kind(order[i].kind, order[i].rebuild);
        if (code != MPI_SUCCESS) {
            return ckpt_fail(failure, -EIO,
                             "the %s cannot be made again (MPI error %d)",
                             order[i].name, code);
        }
    }
    return 0;
}
