/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * abi_check.c - detect programs whose MPI the stand-in cannot replace.
 */
#include "config.h"
#include "runtime/abi_check.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <string.h>

static int name_other_mpi(struct dl_phdr_info *object, size_t size, void *found)
{
    const char *slash = strrchr(object->dlpi_name, '/');
    const char *name = slash != NULL ? slash + 1 : object->dlpi_name;

    (void)size;
    if ((strncmp(name, "libmpi.so.", 10) == 0 &&
         strcmp(name, "libmpi.so.40") != 0) ||
        strncmp(name, "libmpich.so", 11) == 0) {
        *(const char **)found = object->dlpi_name;
        return 1;
    }
    return 0;
}

int ckpt_check_mpi_abi(struct ckpt_failure *failure)
{
    const char *found = NULL;

    if (dl_iterate_phdr(name_other_mpi, &found) == 0) {
        return 0;
    }
    return ckpt_refuse(failure, CKPT_REFUSAL_OTHER_MPI, -ENOTSUP,
                       "this program needs %s, which belongs to another MPI; "
                       "only programs for Open MPI (libmpi.so.40) can be run",
                       found);
}

int ckpt_check_fortran_abi(const void *caller, struct ckpt_failure *failure)
{
    Dl_info from;

    if (dladdr(caller, &from) == 0 ||
        strstr(from.dli_fname, "/libmpi_mpifh.so") == NULL) {
        return 0;
    }
    return ckpt_refuse(failure, CKPT_REFUSAL_OTHER_MPI, -ENOTSUP,
                       "this program calls MPI from Fortran by names without an "
                       "underscore at the end; compile it without "
                       "-fno-underscoring");
}
