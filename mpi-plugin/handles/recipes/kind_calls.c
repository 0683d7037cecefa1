/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kind_calls.c - how objects of each kind are made and freed.
 */
#include "handles/kinds.h"

#include "handles/channels.h"
#include "runtime/crossing.h"

static void free_datatype(struct ckpt_handle *handle)
{
    int code;

    CKPT_CALL(code, Type_free, (MPI_Datatype *)&handle->lower);
    (void)code; /* an error cannot be reported here; likewise below */
}

static void free_op(struct ckpt_handle *handle)
{
    int code;

    CKPT_CALL(code, Op_free, (MPI_Op *)&handle->lower);
    (void)code;
}

static void free_communicator(struct ckpt_handle *handle)
{
    int code;

    CKPT_CALL(code, Comm_free, (MPI_Comm *)&handle->lower);
    (void)code;
    ckpt_channels_free((MPI_Comm)handle);
}

static void destroy_op(struct ckpt_handle *handle)
{
    ckpt_op_close((MPI_Op)handle);
    ckpt_handle_destroy(handle);
}

static void destroy_communicator(struct ckpt_handle *handle)
{
    ckpt_communicator_destroy((MPI_Comm)handle);
}

void ckpt_kind_calls_fill(void)
{
    struct ckpt_kind_calls *const of = ckpt_kind_calls;

    for (int kind = 0; kind < CKPT_KIND_COUNT; kind++) {
        of[kind].size = sizeof(struct ckpt_handle);
        of[kind].destroy = ckpt_handle_destroy;
    }
    of[CKPT_DATATYPE].size = sizeof(struct ompi_datatype_t);
    of[CKPT_OP].size = sizeof(struct ompi_op_t);
    of[CKPT_ERRHANDLER].size = sizeof(struct ompi_errhandler_t);
    of[CKPT_FILE].size = sizeof(struct ompi_file_t);
    of[CKPT_DATATYPE].free_lower = free_datatype;
    of[CKPT_OP].free_lower = free_op;
    of[CKPT_COMM].free_lower = free_communicator;
    of[CKPT_OP].destroy = destroy_op;
    of[CKPT_COMM].destroy = destroy_communicator;
    ckpt_recipes_mark();
}
