/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fortran.h - common parts of every Fortran binding.
 *
 * libmpi_mpifh.so.40 accesses structures of the real libmpi, which ours do not
 * have. So the stand-in defines its functions itself, on top of the C
 * functions. As it is preloaded, it is found first, also by the modules mpi and
 * mpi_f08 (libmpi_usempi*.so.40), which call ompi_*_f and pmpi_*_.
 *
 * Fortran passes everything by reference, handles as numbers, and the lengths
 * of strings after all arguments. INTEGER is int, and gfortran's LOGICAL is 0
 * or 1. A status is the C structure as an array of integers (Open MPI's
 * choice).
 */
#ifndef CKPT_FORTRAN_H
#define CKPT_FORTRAN_H

#include "handles/wrapper.h"

#include <stddef.h>

/* mpi.h has macros with these names. */
#undef MPI_COMM_DUP_FN
#undef MPI_COMM_NULL_COPY_FN
#undef MPI_COMM_NULL_DELETE_FN
#undef MPI_CONVERSION_FN_NULL
#undef MPI_DUP_FN
#undef MPI_NULL_COPY_FN
#undef MPI_NULL_DELETE_FN
#undef MPI_TYPE_DUP_FN
#undef MPI_TYPE_NULL_COPY_FN
#undef MPI_TYPE_NULL_DELETE_FN
#undef MPI_WIN_DUP_FN
#undef MPI_WIN_NULL_COPY_FN
#undef MPI_WIN_NULL_DELETE_FN

_Static_assert(sizeof(MPI_Fint) == sizeof(int), "INTEGER is int");
_Static_assert(sizeof(MPI_Aint) == 8 && sizeof(MPI_Offset) == 8 && sizeof(MPI_Count) == 8,
               "MPI_ADDRESS_KIND, MPI_OFFSET_KIND and MPI_COUNT_KIND of mpif.h");
_Static_assert(sizeof(MPI_Status) == 6 * sizeof(MPI_Fint), "MPI_STATUS_SIZE of mpif.h");
_Static_assert(offsetof(MPI_Status, MPI_SOURCE) == 0 &&
                   offsetof(MPI_Status, MPI_TAG) == sizeof(MPI_Fint) &&
                   offsetof(MPI_Status, MPI_ERROR) == 2 * sizeof(MPI_Fint),
               "MPI_SOURCE, MPI_TAG and MPI_ERROR of mpif.h are 1, 2 and 3");

#define CKPT_FORTRAN_NAME(name, function) \
    extern __typeof__(function) name __attribute__((weak, alias(#function)))

/*
 * Defines the names that compilers give one external procedure, except the bare
 * lower-case one of -fno-underscoring. Libraries in C have functions with such
 * names (Rmpi's mpi_comm_rank), which a preloaded function would replace.
 */
#define CKPT_FORTRAN_MANGLED(function, lower, upper) \
    CKPT_FORTRAN_NAME(lower##_, function);           \
    CKPT_FORTRAN_NAME(lower##__, function);          \
    CKPT_FORTRAN_NAME(upper, function)

/* Defines all names of ompi_<lower>_f in Open MPI's library. */
#define CKPT_FORTRAN_NAMES(lower, upper, mixed)                         \
    CKPT_FORTRAN_MANGLED(ompi_##lower##_f, mpi_##lower, MPI_##upper);   \
    CKPT_FORTRAN_MANGLED(ompi_##lower##_f, pmpi_##lower, PMPI_##upper); \
    CKPT_FORTRAN_NAME(MPI_##mixed##_f, ompi_##lower##_f);               \
    CKPT_FORTRAN_NAME(MPI_##mixed##_f08, ompi_##lower##_f);             \
    CKPT_FORTRAN_NAME(PMPI_##mixed##_f, ompi_##lower##_f);              \
    CKPT_FORTRAN_NAME(PMPI_##mixed##_f08, ompi_##lower##_f)

#pragma GCC visibility push(default) /* the program's own definitions win */
extern int mpi_fortran_bottom_;
extern int mpi_fortran_in_place_;
extern int mpi_fortran_unweighted_;
extern int mpi_fortran_weights_empty_;
extern MPI_Fint mpi_fortran_errcodes_ignore_;
extern char mpi_fortran_argv_null_;
extern char mpi_fortran_argvs_null_;
extern MPI_Fint *mpi_fortran_status_ignore_;
extern MPI_Fint *mpi_fortran_statuses_ignore_;
#pragma GCC visibility pop

/* Converts a choice buffer: MPI_BOTTOM and MPI_IN_PLACE are addresses in
 * Fortran. */
static inline void *ckpt_fortran_buffer(const void *buffer)
{
    if (__builtin_expect(buffer == &mpi_fortran_bottom_, 0)) {
        return MPI_BOTTOM;
    }
    if (__builtin_expect(buffer == &mpi_fortran_in_place_, 0)) {
        return MPI_IN_PLACE;
    }
    return (void *)buffer;
}

/* Converts an array of weights of a distributed graph. */
static inline int *ckpt_fortran_weights(const MPI_Fint *weights)
{
    if (weights == &mpi_fortran_unweighted_) {
        return MPI_UNWEIGHTED;
    }
    return weights == &mpi_fortran_weights_empty_ ? MPI_WEIGHTS_EMPTY
                                                  : (int *)weights;
}

/* Converts one status, or an array of statuses. */
static inline MPI_Status *ckpt_fortran_status(MPI_Fint *status)
{
    return (void *)status == &mpi_fortran_status_ignore_ ||
                   (void *)status == &mpi_fortran_statuses_ignore_
               ? MPI_STATUS_IGNORE
               : (MPI_Status *)status;
}

/* IERROR is optional in mpi_f08. */
static inline void ckpt_fortran_return(MPI_Fint *ierror, int code)
{
    if (ierror != NULL) {
        *ierror = code;
    }
}

/* ckpt_fortran_return for a call that ran out of memory before it began. */
void ckpt_fortran_no_memory(MPI_Fint *ierror, const char *function);

/*
 * Returns a C string from a Fortran string, without blanks at both ends. From
 * malloc; NULL if out of memory. Context: normal.
 */
char *ckpt_fortran_string(const char *string, int length);

/* Copies a C string to a Fortran string, padded with blanks. Context:
 * normal. */
void ckpt_fortran_string_set(char *string, int length, const char *c_string);

/* Size of a buffer for a string that MPI returns. */
#define CKPT_FORTRAN_STRING (MPI_MAX_PORT_NAME + 1)
_Static_assert(CKPT_FORTRAN_STRING > MPI_MAX_ERROR_STRING &&
                   CKPT_FORTRAN_STRING > MPI_MAX_LIBRARY_VERSION_STRING &&
                   CKPT_FORTRAN_STRING > MPI_MAX_PROCESSOR_NAME &&
                   CKPT_FORTRAN_STRING > MPI_MAX_OBJECT_NAME &&
                   CKPT_FORTRAN_STRING > MPI_MAX_INFO_KEY &&
                   CKPT_FORTRAN_STRING > MPI_MAX_DATAREP_STRING,
               "the port name is the longest of these strings");

/* Return handles from an array of numbers. From malloc, the caller frees them;
 * NULL if out of memory. Context: normal. */
MPI_Datatype *ckpt_fortran_types(int count, const MPI_Fint *types);
MPI_Info *ckpt_fortran_infos(int count, const MPI_Fint *infos);
MPI_Request *ckpt_fortran_requests(int count, const MPI_Fint *requests);

#endif
