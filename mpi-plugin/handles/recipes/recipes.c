/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * recipes.c - record how all live objects were made.
 */
#include "base/invariant.h"
#include "ckpt/failure.h"
#include "handles/files/file.h"
#include "handles/kinds.h"
#include "handles/window.h"
#include "runtime/crossing.h"

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

void ckpt_recipes_mark(void)
{
    for (size_t i = 0; i < RECORDED; i++) {
        ckpt_kind_calls[recorded[i].kind].is_recorded = 1;
    }
}

void ckpt_recipes_catch_up(void)
{
    struct ckpt_failure ignored = {0};

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
                return ckpt_refuse(failure, CKPT_REFUSAL_UNSAVABLE_OBJECT, error,
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
