/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * datatype.c - datatypes whose integers are constants: darray and subarray
 * (MPI 3.1, section 4.1.13).
 *
 * Context of all: normal (lower half).
 */
#include "adapt/constants.h"
#include "adapt/handle.h"

#include <stdlib.h>

static int darg_in(int darg)
{
    return darg > 0 ? darg : adapt_constant_in(ADAPT_DTYPE_DISTRIBUTION, darg);
}

int adapt_Type_create_darray(int size, int rank, int ndims, const int gsizes[],
                             const int distribs[], const int dargs[],
                             const int psizes[], int order, void *oldtype,
                             void **newtype)
{
    size_t count = ndims > 0 ? (size_t)ndims : 0;
    int *mpich = malloc((2 * count + 1) * sizeof(*mpich));
    MPI_Datatype type = MPI_DATATYPE_NULL;
    int code;

    if (mpich == NULL) {
        return adapt_code(MPI_ERR_NO_MEM);
    }
    for (size_t i = 0; i < count; i++) {
        mpich[i] = adapt_constant_in(ADAPT_DISTRIB_ENUM, distribs[i]);
        mpich[count + i] = darg_in(dargs[i]);
    }
    code = PMPI_Type_create_darray(size, rank, ndims, gsizes, mpich,
                                   mpich + count, psizes,
                                   adapt_constant_in(ADAPT_ORDER, order),
                                   adapt_in(oldtype), &type);
    free(mpich);
    if (code == MPI_SUCCESS) {
        *newtype = adapt_out(ADAPT_DATATYPE, type);
    }
    return adapt_code(code);
}

static void order_out(int *order)
{
    *order = adapt_constant_out(ADAPT_ORDER, *order);
}

/* The order is size, rank, ndims, gsizes, distribs, dargs, psizes, order. */
static void darray_out(int integers[])
{
    int ndims = integers[2];

    for (int i = 0; i < ndims; i++) {
        int *distribution = &integers[3 + ndims + i];
        int *darg = &integers[3 + 2 * ndims + i];

        *distribution = adapt_constant_out(ADAPT_DISTRIB_ENUM, *distribution);
        *darg = adapt_constant_out(ADAPT_DTYPE_DISTRIBUTION, *darg);
    }
    order_out(&integers[3 + 4 * ndims]);
}

int adapt_Type_get_contents(void *datatype, int max_integers, int max_addresses,
                            int max_datatypes, int integers[],
                            MPI_Aint addresses[], void *datatypes[])
{
    int ignored, count, combiner;
    int code = PMPI_Type_get_envelope(adapt_in(datatype), &ignored, &ignored,
                                      &count, &combiner);

    if (code == MPI_SUCCESS) {
        code = PMPI_Type_get_contents(adapt_in(datatype), max_integers,
                                      max_addresses, max_datatypes, integers,
                                      addresses, (MPI_Datatype *)datatypes);
    }
    if (code == MPI_SUCCESS) {
        adapt_widen(ADAPT_DATATYPE, datatypes, count);
        if (combiner == MPI_COMBINER_DARRAY) {
            darray_out(integers);
        } else if (combiner == MPI_COMBINER_SUBARRAY) {
            order_out(&integers[1 + 3 * integers[0]]);
        }
    }
    return adapt_code(code);
}
