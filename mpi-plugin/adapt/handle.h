/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * handle.h - handles of MPICH in the form of Open MPI's.
 *
 * Open MPI's handles are pointers, MPICH's are ints (except files). A handle of
 * MPICH is passed on as a pointer. Its lower half is the int, and its upper
 * half is the kind. MPICH gives null handles of different kinds the same value,
 * and the kind distinguishes them. No code dereferences these pointers, so each
 * conversion costs one instruction.
 */
#ifndef CKPT_ADAPT_HANDLE_H
#define CKPT_ADAPT_HANDLE_H

#include <mpi.h>

#include <stdint.h>

enum adapt_kind {
    ADAPT_COMM = 1,
    ADAPT_GROUP,
    ADAPT_DATATYPE,
    ADAPT_OP,
    ADAPT_REQUEST,
    ADAPT_WIN,
    ADAPT_INFO,
    ADAPT_ERRHANDLER,
    ADAPT_MESSAGE,
    ADAPT_SESSION,
    ADAPT_FILE,
};

/* An array of MPICH's handles fits into the array of pointers that it replaces (adapt_narrow). */
_Static_assert(sizeof(MPI_Comm) == 4 && sizeof(MPI_Group) == 4 && sizeof(MPI_Datatype) == 4 &&
                   sizeof(MPI_Op) == 4 && sizeof(MPI_Request) == 4 && sizeof(MPI_Win) == 4 &&
                   sizeof(MPI_Info) == 4 && sizeof(MPI_Errhandler) == 4 && sizeof(MPI_Message) == 4,
               "a handle is the lower half of a pointer");
_Static_assert(sizeof(MPI_File) == sizeof(void *), "a file is passed on as it is");
_Static_assert(sizeof(void *) == 2 * sizeof(int), "the kind is the upper half of a pointer");

static inline void *adapt_out(enum adapt_kind kind, int handle)
{
    return (void *)((uintptr_t)kind << 32 | (uint32_t)handle);
}

/* A NULL pointer is an invalid handle, which MPICH refuses. */
static inline int adapt_in(const void *handle)
{
    return (int)(uint32_t)(uintptr_t)handle;
}

/* MPI_FILE_NULL is a NULL pointer in MPICH. */
static inline void *adapt_file_out(MPI_File file)
{
    return file == MPI_FILE_NULL ? adapt_out(ADAPT_FILE, 0) : (void *)file;
}

static inline MPI_File adapt_file_in(const void *file)
{
    return file == adapt_out(ADAPT_FILE, 0) ? MPI_FILE_NULL : (MPI_File)file;
}

/*
 * Convert an array of Open MPI's handles to MPICH's in the same memory, and
 * back. The array is the stand-in's own copy. MPICH may read it until a request
 * completes; until then the stand-in keeps the array, and it stays narrow.
 * Context: any (lower half).
 */
static inline int *adapt_narrow(const void *array, int count)
{
    int *narrow = (int *)array;

    for (int i = 0; i < count; i++) {
        narrow[i] = adapt_in(((void *volatile const *)array)[i]);
    }
    return narrow;
}

static inline void adapt_widen(enum adapt_kind kind, const void *array,
                               int count)
{
    while (count-- > 0) {
        ((void *volatile *)array)[count] =
            adapt_out(kind, ((const volatile int *)array)[count]);
    }
}

#endif
