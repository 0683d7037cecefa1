/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memory.c - memory and addresses (MPI 3.1, sections 8.2 and 4.1.5).
 *
 * MPI_Alloc_mem returns memory of the upper half: a restart would lose memory
 * of the lower half.
 */
#include "handles/wrapper.h"

/* mpi.h has macros with these names. */
#undef MPI_Aint_add
#undef PMPI_Aint_add
#undef MPI_Aint_diff
#undef PMPI_Aint_diff

#include <stdlib.h>

#define ALIGNMENT 64 /* a cache line */
_Static_assert((ALIGNMENT & (ALIGNMENT - 1)) == 0 && ALIGNMENT % sizeof(void *) == 0,
               "posix_memalign() requires that");

int PMPI_Alloc_mem(MPI_Aint size, MPI_Info info, void *baseptr)
{
    CKPT_INSIDE("MPI_Alloc_mem");
    CKPT_REQUIRE(baseptr != NULL, NULL, MPI_ERR_ARG, "MPI_Alloc_mem");
    CKPT_REQUIRE(info != NULL && info->handle.references != 0, NULL,
                 MPI_ERR_INFO, "MPI_Alloc_mem");
    void *memory = NULL;

    (void)info; /* the hints are ignored */
    CKPT_REQUIRE(size >= 0, NULL, MPI_ERR_ARG, "MPI_Alloc_mem");
    if (posix_memalign(&memory, ALIGNMENT, (size_t)size) != 0) {
        return ckpt_error(NULL, MPI_ERR_NO_MEM, "MPI_Alloc_mem");
    }
    *(void **)baseptr = memory;
    return MPI_SUCCESS;
}
CKPT_ALIAS(Alloc_mem);

int PMPI_Free_mem(void *base)
{
    CKPT_INSIDE("MPI_Free_mem");
    free(base);
    return MPI_SUCCESS;
}
CKPT_ALIAS(Free_mem);

int PMPI_Get_address(const void *location, MPI_Aint *address)
{
    CKPT_INSIDE("MPI_Get_address");
    CKPT_REQUIRE(address != NULL, NULL, MPI_ERR_ARG, "MPI_Get_address");
    *address = (MPI_Aint)location;
    return MPI_SUCCESS;
}
CKPT_ALIAS(Get_address);

int PMPI_Address(void *location, MPI_Aint *address)
{
    CKPT_INSIDE("MPI_Address");
    CKPT_REQUIRE(location != NULL && address != NULL, NULL, MPI_ERR_ARG,
                 "MPI_Address");
    *address = (MPI_Aint)location;
    return MPI_SUCCESS;
}
CKPT_ALIAS(Address);

MPI_Aint PMPI_Aint_add(MPI_Aint base, MPI_Aint disp)
{
    return base + disp;
}
CKPT_ALIAS(Aint_add);

MPI_Aint PMPI_Aint_diff(MPI_Aint addr1, MPI_Aint addr2)
{
    return addr1 - addr2;
}
CKPT_ALIAS(Aint_diff);
