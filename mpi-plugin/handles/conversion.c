/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * conversion.c - Fortran handles (MPI 3.1, section 17.2.4).
 *
 * Predefined objects have the numbers that the library gives them. All others
 * get numbers of our own, which mean the same after a restart.
 */
#include "handles/communicator.h"
#include "handles/request.h"
#include "cut/message_log.h"
#include "wrap/wrapper.h"

#include <stdlib.h>

#define FIRST_NUMBER (1 << 20)

static struct ckpt_handle **numbered;
static uint32_t numbered_count;
static uint32_t numbered_capacity;

/* Number of an object that is not predefined; given at the first question. */
static MPI_Fint number_of(struct ckpt_handle *handle)
{
    if (handle->number == 0) {
        if (numbered_count == numbered_capacity) {
            uint32_t capacity = numbered_capacity == 0 ? 64 : 2 * numbered_capacity;
            void *grown = realloc(numbered, capacity * sizeof(*numbered));

            if (grown == NULL) {
                return -1;
            }
            numbered = grown;
            numbered_capacity = capacity;
        }
        numbered[numbered_count] = handle;
        handle->number = FIRST_NUMBER + numbered_count++;
    }
    return (MPI_Fint)handle->number;
}

static void *object_of(MPI_Fint number)
{
    uint32_t index = (uint32_t)number - FIRST_NUMBER;

    return number >= FIRST_NUMBER && index < numbered_count ? numbered[index]
                                                            : NULL;
}

void ckpt_number_forget(struct ckpt_handle *handle)
{
    if (handle->number != 0) {
        numbered[handle->number - FIRST_NUMBER] = NULL;
        handle->number = 0;
    }
}

#define CONVERSIONS(name, type, null)                                          \
    MPI_Fint PMPI_##name##_c2f(type object)                                    \
    {                                                                          \
        MPI_Fint number;                                                       \
                                                                               \
        if (object == NULL) {                                                  \
            return -1;                                                         \
        }                                                                      \
        if ((object->handle.flags & CKPT_HANDLE_PREDEFINED) == 0) {            \
            return number_of(&object->handle);                                 \
        }                                                                      \
        CKPT_CALL(number, name##_c2f, CKPT_LOWER(object));                     \
        return number;                                                         \
    }                                                                          \
    CKPT_ALIAS(name##_c2f);                                                    \
                                                                               \
    type PMPI_##name##_f2c(MPI_Fint number)                                    \
    {                                                                          \
        type object = object_of(number);                                       \
        type lower;                                                            \
                                                                               \
        if (object == NULL) {                                                  \
            CKPT_CALL(lower, name##_f2c, number);                              \
            object = ckpt_predefined_find(lower);                              \
        }                                                                      \
        return object != NULL ? object : null;                                 \
    }                                                                          \
    CKPT_ALIAS(name##_f2c)

CONVERSIONS(Comm, MPI_Comm, MPI_COMM_NULL);
CONVERSIONS(Group, MPI_Group, MPI_GROUP_NULL);
CONVERSIONS(Type, MPI_Datatype, MPI_DATATYPE_NULL);
CONVERSIONS(Op, MPI_Op, MPI_OP_NULL);
CONVERSIONS(Request, MPI_Request, MPI_REQUEST_NULL);
CONVERSIONS(Message, MPI_Message, MPI_MESSAGE_NULL);
CONVERSIONS(Win, MPI_Win, MPI_WIN_NULL);
CONVERSIONS(File, MPI_File, MPI_FILE_NULL);
CONVERSIONS(Info, MPI_Info, MPI_INFO_NULL);
CONVERSIONS(Errhandler, MPI_Errhandler, MPI_ERRHANDLER_NULL);
