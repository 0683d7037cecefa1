/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * conversion.c - Fortran handles (MPI 3.1, section 17.2.4).
 *
 * Predefined objects have the numbers that Open MPI's mpif.h gives them, which
 * are part of its binary interface. All others get numbers of our own, which
 * mean the same in every lower half.
 */
#include "base/invariant.h"
#include "handles/communicator.h"
#include "handles/fortran_handles.h"
#include "handles/message_log.h"
#include "handles/request.h"
#include "handles/window.h"
#include "handles/wrapper.h"

#include <stdlib.h>

#define FIRST_NUMBER (1 << 20)

/* Slots of numbers, in chunks that never move, so a lookup needs no lock. A
 * free slot holds the index of the next free one. Its lowest bit marks it as
 * free; no address of an object has that bit. */
#define CHUNK_SLOTS 4096
#define CHUNK_COUNT 4096

_Static_assert(FIRST_NUMBER > CKPT_FORTRAN_HANDLES &&
                   FIRST_NUMBER + CHUNK_SLOTS * CHUNK_COUNT <= INT32_MAX,
               "all numbers differ, and fit into an MPI_Fint");

static uintptr_t *chunks[CHUNK_COUNT];
static uint32_t slots;     /* in use or on the list of free ones */
static uint32_t free_slot; /* index + 1 of the first free slot; 0: none */

static uintptr_t *slot_at(uint32_t index)
{
    CKPT_INVARIANT(index < CHUNK_SLOTS * CHUNK_COUNT && chunks[index / CHUNK_SLOTS] != NULL);
    return &chunks[index / CHUNK_SLOTS][index % CHUNK_SLOTS];
}

/* Returns the index of an unused slot, or -1. */
static int64_t slot_take(void)
{
    uint32_t index = free_slot;

    if (index != 0) {
        CKPT_INVARIANT((*slot_at(index - 1) & 1) != 0);
        free_slot = (uint32_t)(*slot_at(index - 1) >> 1);
        return index - 1;
    }
    if (slots == CHUNK_SLOTS * CHUNK_COUNT) {
        return -1;
    }
    if (slots % CHUNK_SLOTS == 0) {
        uintptr_t *chunk = calloc(CHUNK_SLOTS, sizeof(*chunk));

        if (chunk == NULL) {
            return -1;
        }
        chunks[slots / CHUNK_SLOTS] = chunk;
    }
    return slots++;
}

/* Returns the number of an object that mpif.h names, or -1. */
static MPI_Fint predefined_number(const struct ckpt_handle *handle)
{
    for (int i = 0; i < CKPT_FORTRAN_HANDLES; i++) {
        if (ckpt_fortran_handles[handle->kind][i] == handle) {
            return i;
        }
    }
    return -1;
}

/* Gives an object its number. Context: normal, outside of begin/end. */
static MPI_Fint number_new(struct ckpt_handle *handle)
{
    MPI_Fint number = -1;
    int64_t index;

    if (handle->flags & CKPT_HANDLE_PREDEFINED) {
        number = predefined_number(handle);
    }
    ckpt_begin();
    if (handle->number != 0) { /* another thread was first */
        number = (MPI_Fint)(handle->number - 1);
    } else if (number < 0 && (index = slot_take()) >= 0) {
        CKPT_INVARIANT(((uintptr_t)handle & 1) == 0);
        *slot_at((uint32_t)index) = (uintptr_t)handle;
        number = FIRST_NUMBER + (MPI_Fint)index;
    }
    handle->number = (uint32_t)(number + 1);
    ckpt_end();
    return number;
}

static MPI_Fint number_of(struct ckpt_handle *handle)
{
    if (handle == NULL) {
        return -1;
    }
    return handle->number != 0 ? (MPI_Fint)(handle->number - 1)
                               : number_new(handle);
}

/* Returns the object of this kind with the number, or NULL. */
static void *object_of(enum ckpt_kind kind, MPI_Fint number)
{
    uint32_t index = (uint32_t)number - FIRST_NUMBER;
    uintptr_t slot;

    if (number >= 0 && number < CKPT_FORTRAN_HANDLES) {
        return ckpt_fortran_handles[kind][number];
    }
    if (number < FIRST_NUMBER || index >= slots) {
        return NULL;
    }
    slot = *slot_at(index);
    if ((slot & 1) != 0 || ((struct ckpt_handle *)slot)->kind != kind) {
        return NULL;
    }
    return (void *)slot;
}

void ckpt_number_forget(struct ckpt_handle *handle)
{
    uint32_t index = handle->number - 1 - FIRST_NUMBER;

    if (handle->number > FIRST_NUMBER) {
        CKPT_INVARIANT(*slot_at(index) == (uintptr_t)handle);
        *slot_at(index) = (uintptr_t)free_slot << 1 | 1;
        free_slot = index + 1;
        handle->number = 0;
    }
}

#define CONVERSIONS(name, type, kind)                   \
    MPI_Fint PMPI_##name##_c2f(type object)             \
    {                                                   \
        CKPT_INSIDE("MPI_" #name "_c2f");               \
        return number_of((struct ckpt_handle *)object); \
    }                                                   \
    CKPT_ALIAS(name##_c2f);                             \
                                                        \
    type PMPI_##name##_f2c(MPI_Fint number)             \
    {                                                   \
        CKPT_INSIDE("MPI_" #name "_f2c");               \
        return object_of(kind, number);                 \
    }                                                   \
    CKPT_ALIAS(name##_f2c)

CONVERSIONS(Comm, MPI_Comm, CKPT_COMM);
CONVERSIONS(Group, MPI_Group, CKPT_GROUP);
CONVERSIONS(Type, MPI_Datatype, CKPT_DATATYPE);
CONVERSIONS(Op, MPI_Op, CKPT_OP);
CONVERSIONS(Request, MPI_Request, CKPT_REQUEST);
CONVERSIONS(Message, MPI_Message, CKPT_MESSAGE);
CONVERSIONS(Win, MPI_Win, CKPT_WIN);
CONVERSIONS(File, MPI_File, CKPT_FILE);
CONVERSIONS(Info, MPI_Info, CKPT_INFO);
CONVERSIONS(Errhandler, MPI_Errhandler, CKPT_ERRHANDLER);
CONVERSIONS(Session, MPI_Session, CKPT_SESSION);
