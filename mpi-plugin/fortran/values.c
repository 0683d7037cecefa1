/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * values.c - convert strings and arrays of handles between Fortran and C.
 */
#include "fortran/fortran.h"

#include <stdlib.h>
#include <string.h>

void ckpt_fortran_no_memory(MPI_Fint *ierror, const char *function)
{
    ckpt_fortran_return(ierror, ckpt_error(NULL, MPI_ERR_NO_MEM, function));
}

char *ckpt_fortran_string(const char *string, int length)
{
    char *copy;

    while (length > 0 && string[length - 1] == ' ') {
        length--;
    }
    while (length > 0 && *string == ' ') {
        string++;
        length--;
    }
    copy = malloc((size_t)length + 1);
    if (copy != NULL) {
        memcpy(copy, string, (size_t)length);
        copy[length] = '\0';
    }
    return copy;
}

void ckpt_fortran_string_set(char *string, int length, const char *c_string)
{
    size_t size = (size_t)length, used = strnlen(c_string, size);

    memcpy(string, c_string, used);
    memset(string + used, ' ', size - used);
}

/* Allocates an array. The C function will refuse a negative count. */
static void *room(int count, size_t size)
{
    return calloc(count > 0 ? (size_t)count : 1, size);
}

#define HANDLES(function, type, convert)                     \
    type *function(int count, const MPI_Fint *numbers)       \
    {                                                        \
        type *handles = room(count, sizeof(*handles));       \
                                                             \
        for (int i = 0; handles != NULL && i < count; i++) { \
            handles[i] = convert(numbers[i]);                \
        }                                                    \
        return handles;                                      \
    }

HANDLES(ckpt_fortran_types, MPI_Datatype, PMPI_Type_f2c)
HANDLES(ckpt_fortran_infos, MPI_Info, PMPI_Info_f2c)
HANDLES(ckpt_fortran_requests, MPI_Request, PMPI_Request_f2c)
