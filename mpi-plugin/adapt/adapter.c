/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * adapter.c - find functions and objects of MPICH by the names of Open MPI.
 */
#include "adapt/adapter.h"

#include "adapt/constants.h"
#include "adapt/tables.h"

#include <stdlib.h>
#include <string.h>

int adapt_null(enum adapt_kind kind)
{
    switch (kind) {
    case ADAPT_COMM:
        return MPI_COMM_NULL;
    case ADAPT_GROUP:
        return MPI_GROUP_NULL;
    case ADAPT_DATATYPE:
        return MPI_DATATYPE_NULL;
    case ADAPT_OP:
        return MPI_OP_NULL;
    case ADAPT_REQUEST:
        return MPI_REQUEST_NULL;
    case ADAPT_WIN:
        return MPI_WIN_NULL;
    case ADAPT_INFO:
        return MPI_INFO_NULL;
    case ADAPT_ERRHANDLER:
        return MPI_ERRHANDLER_NULL;
    case ADAPT_MESSAGE:
        return MPI_MESSAGE_NULL;
    default:
        return 0;
    }
}

static const char *refuse(void)
{
    return adapt_constants_check() == 0
               ? NULL
               : "a constant of this MPICH differs from Open MPI's";
}

static int compare(const void *name, const void *function)
{
    return strcmp(name, ((const struct adapt_function *)function)->name);
}

static void *find_function(const char *name)
{
    const struct adapt_function *found =
        bsearch(name, adapt_functions, (size_t)adapt_function_count,
                sizeof(*adapt_functions), compare);

    return found != NULL && found->real != NULL ? (void *)found->adapted : NULL;
}

static void *find_object(const char *symbol)
{
    for (int i = 0; i < adapt_object_count; i++) {
        const struct adapt_object *object = &adapt_objects[i];

        if (strcmp(object->symbol, symbol) == 0) {
            return adapt_object_exists(object)
                       ? adapt_out(object->kind, object->handle)
                       : NULL;
        }
    }
    return NULL;
}

__attribute__((visibility("default"))) const struct ckpt_adapter ckpt_adapter_1 =
    {refuse, find_function, find_object};
