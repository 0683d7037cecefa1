/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * deprecated.c - Fortran bindings of functions that MPI-2 deprecated and MPI 3
 * removed. They have INTEGER where C has MPI_Aint, so larger addresses are
 * truncated, as in Open MPI.
 */
#include "fortran/fortran.h"

#include <stdlib.h>

#pragma GCC visibility push(default)

void ompi_address_f(const void *location, MPI_Fint *address, MPI_Fint *ierror)
{
    MPI_Aint c_address;
    int code = PMPI_Get_address(ckpt_fortran_buffer(location), &c_address);

    if (code == MPI_SUCCESS) {
        *address = (MPI_Fint)c_address;
    }
    ckpt_fortran_return(ierror, code);
}
CKPT_FORTRAN_NAMES(address, ADDRESS, Address);

#define EXTENT(lower, upper, mixed)                                  \
    void ompi_##lower##_f(const MPI_Fint *datatype, MPI_Fint *value, \
                          MPI_Fint *ierror)                          \
    {                                                                \
        MPI_Aint c_value;                                            \
        int code = PMPI_##mixed(PMPI_Type_f2c(*datatype), &c_value); \
                                                                     \
        if (code == MPI_SUCCESS) {                                   \
            *value = (MPI_Fint)c_value;                              \
        }                                                            \
        ckpt_fortran_return(ierror, code);                           \
    }                                                                \
    CKPT_FORTRAN_NAMES(lower, upper, mixed)

EXTENT(type_extent, TYPE_EXTENT, Type_extent);
EXTENT(type_lb, TYPE_LB, Type_lb);
EXTENT(type_ub, TYPE_UB, Type_ub);

void ompi_type_hvector_f(const MPI_Fint *count, const MPI_Fint *blocklength,
                         const MPI_Fint *stride, const MPI_Fint *oldtype,
                         MPI_Fint *newtype, MPI_Fint *ierror)
{
    MPI_Datatype type;
    int code = PMPI_Type_create_hvector(*count, *blocklength, *stride,
                                        PMPI_Type_f2c(*oldtype), &type);

    if (code == MPI_SUCCESS) {
        *newtype = PMPI_Type_c2f(type);
    }
    ckpt_fortran_return(ierror, code);
}
CKPT_FORTRAN_NAMES(type_hvector, TYPE_HVECTOR, Type_hvector);

static MPI_Aint *addresses(int count, const MPI_Fint *integers)
{
    MPI_Aint *copy = calloc(count > 0 ? (size_t)count : 1, sizeof(*copy));

    for (int i = 0; copy != NULL && i < count; i++) {
        copy[i] = integers[i];
    }
    return copy;
}

void ompi_type_hindexed_f(const MPI_Fint *count, const MPI_Fint *blocklengths,
                          const MPI_Fint *displacements, const MPI_Fint *oldtype,
                          MPI_Fint *newtype, MPI_Fint *ierror)
{
    MPI_Aint *c_displacements = addresses(*count, displacements);
    MPI_Datatype type;
    int code;

    if (c_displacements == NULL) {
        ckpt_fortran_no_memory(ierror, "MPI_Type_hindexed");
        return;
    }
    code = PMPI_Type_create_hindexed(*count, blocklengths, c_displacements,
                                     PMPI_Type_f2c(*oldtype), &type);
    if (code == MPI_SUCCESS) {
        *newtype = PMPI_Type_c2f(type);
    }
    free(c_displacements);
    ckpt_fortran_return(ierror, code);
}
CKPT_FORTRAN_NAMES(type_hindexed, TYPE_HINDEXED, Type_hindexed);

void ompi_type_struct_f(const MPI_Fint *count, const MPI_Fint *blocklengths,
                        const MPI_Fint *displacements, const MPI_Fint *oldtypes,
                        MPI_Fint *newtype, MPI_Fint *ierror)
{
    MPI_Aint *c_displacements = addresses(*count, displacements);
    MPI_Datatype *c_oldtypes = ckpt_fortran_types(*count, oldtypes);
    MPI_Datatype type;
    int code;

    if (c_displacements == NULL || c_oldtypes == NULL) {
        free(c_displacements);
        free(c_oldtypes);
        ckpt_fortran_no_memory(ierror, "MPI_Type_struct");
        return;
    }
    code = PMPI_Type_create_struct(*count, blocklengths, c_displacements,
                                   c_oldtypes, &type);
    if (code == MPI_SUCCESS) {
        *newtype = PMPI_Type_c2f(type);
    }
    free(c_displacements);
    free(c_oldtypes);
    ckpt_fortran_return(ierror, code);
}
CKPT_FORTRAN_NAMES(type_struct, TYPE_STRUCT, Type_struct);

void ompi_errhandler_get_f(const MPI_Fint *comm, MPI_Fint *errhandler,
                           MPI_Fint *ierror)
{
    MPI_Errhandler handler;
    int code = PMPI_Comm_get_errhandler(PMPI_Comm_f2c(*comm), &handler);

    if (code == MPI_SUCCESS) {
        *errhandler = PMPI_Errhandler_c2f(handler);
    }
    ckpt_fortran_return(ierror, code);
}
CKPT_FORTRAN_NAMES(errhandler_get, ERRHANDLER_GET, Errhandler_get);

void ompi_errhandler_set_f(const MPI_Fint *comm, const MPI_Fint *errhandler,
                           MPI_Fint *ierror)
{
    int code = PMPI_Comm_set_errhandler(PMPI_Comm_f2c(*comm),
                                        PMPI_Errhandler_f2c(*errhandler));

    ckpt_fortran_return(ierror, code);
}
CKPT_FORTRAN_NAMES(errhandler_set, ERRHANDLER_SET, Errhandler_set);
