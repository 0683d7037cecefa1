/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * constants.c - convert the constants of one library to those of the other.
 */
#include "adapt/constants.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>

/* A bit that no assertion or file mode of MPICH uses. */
#define NO_FLAG (1 << 30)
_Static_assert(((MPI_MODE_RDONLY | MPI_MODE_RDWR | MPI_MODE_WRONLY | MPI_MODE_CREATE |
                 MPI_MODE_EXCL | MPI_MODE_DELETE_ON_CLOSE | MPI_MODE_UNIQUE_OPEN |
                 MPI_MODE_APPEND | MPI_MODE_SEQUENTIAL) &
                NO_FLAG) == 0,
               "MPICH refuses an unknown file mode");
_Static_assert(((MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE |
                 MPI_MODE_NOSUCCEED) &
                NO_FLAG) == 0,
               "MPICH refuses an unknown assertion");
_Static_assert(ADAPT_NO_VALUE < MPI_UNDEFINED && ADAPT_NO_VALUE < MPI_ROOT &&
                   ADAPT_NO_VALUE < MPI_ANY_SOURCE && ADAPT_NO_VALUE < MPI_PROC_NULL,
               "no special rank has the value of none");

static int find(const struct adapt_values *values, int wanted)
{
    for (int i = 0; i < values->count; i++) {
        if (values->value[i] == wanted) {
            return i;
        }
    }
    return -1;
}

int adapt_constant_in(enum adapt_group group, int openmpi)
{
    int i = find(&adapt_openmpi_values[group], openmpi);

    return i < 0 ? ADAPT_NO_VALUE : adapt_mpich_values[group].value[i];
}

int adapt_constant_out(enum adapt_group group, int mpich)
{
    int i = find(&adapt_mpich_values[group], mpich);

    return i < 0 ? mpich : adapt_openmpi_values[group].value[i];
}

/* Converts a combination of flags from one library to the other; *rest receives
 * the unknown flags. */
static int convert_flags(const struct adapt_values *from,
                         const struct adapt_values *to, int flags, int *rest)
{
    int result = 0;

    for (int i = 0; i < from->count; i++) {
        if ((flags & from->value[i]) != 0) {
            flags &= ~from->value[i];
            result |= to->value[i];
        }
    }
    *rest = flags;
    return result;
}

int adapt_flags_in(enum adapt_group group, int openmpi)
{
    int rest, mpich;

    mpich = convert_flags(&adapt_openmpi_values[group],
                          &adapt_mpich_values[group], openmpi, &rest);
    return rest == 0 ? mpich : mpich | NO_FLAG;
}

int adapt_flags_out(enum adapt_group group, int mpich)
{
    int rest;

    return convert_flags(&adapt_mpich_values[group],
                         &adapt_openmpi_values[group], mpich, &rest);
}

int adapt_code_other(int code)
{
    int class, i;

    if (PMPI_Error_class(code, &class) != MPI_SUCCESS) {
        class = MPI_ERR_OTHER;
    }
    i = find(&adapt_mpich_values[ADAPT_ERROR], class);
    if (i < 0) { /* a class that only MPICH has */
        i = find(&adapt_mpich_values[ADAPT_ERROR], MPI_ERR_OTHER);
    }
    return adapt_openmpi_values[ADAPT_ERROR].value[i];
}

/* As Open MPI's, the text begins with the name of the class. */
int adapt_Error_string(int code, char *string, int *length)
{
    int i = find(&adapt_openmpi_values[ADAPT_ERROR], code);
    char text[MPI_MAX_ERROR_STRING] = "";
    int ignored, error = MPI_ERR_ARG;

    if (i >= 0) {
        error = PMPI_Error_string(adapt_mpich_values[ADAPT_ERROR].value[i], text,
                                  &ignored);
    }
    if (error == MPI_SUCCESS) {
        snprintf(string, (size_t)adapt_openmpi_room[ADAPT_MAX_ERROR_STRING],
                 "%s: %s", adapt_error_names[i], text);
        *length = (int)strlen(string);
    }
    return adapt_code(error);
}

int adapt_constants_check(void)
{
    const struct adapt_values *openmpi = &adapt_openmpi_values[ADAPT_SAME];
    const struct adapt_values *mpich = &adapt_mpich_values[ADAPT_SAME];

    for (int i = 0; i < openmpi->count; i++) {
        if (openmpi->value[i] != mpich->value[i]) {
            return i + 1;
        }
    }
    return 0;
}
