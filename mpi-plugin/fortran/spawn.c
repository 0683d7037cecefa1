/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * spawn.c - Fortran bindings of MPI 3.1, section 10.3: arrays of strings.
 * Only the root's arrays count.
 */
#include "fortran/fortran.h"

#include <stdlib.h>

#pragma GCC visibility push(default)

static void free_strings(char **strings)
{
    for (int i = 0; strings != NULL && strings[i] != NULL; i++) {
        free(strings[i]);
    }
    free(strings);
}

static int is_blank(const char *string, int length)
{
    while (length > 0 && string[length - 1] == ' ') {
        length--;
    }
    return length == 0;
}

/*
 * Makes a C array, ended by NULL, of `count` strings that are `stride` bytes
 * apart; -1: up to the first blank one. From malloc; NULL if out of memory.
 */
static char **strings_new(int count, const char *array, int length, size_t stride)
{
    char **strings;
    int i;

    if (count < 0) {
        for (count = 0; !is_blank(array + stride * count, length); count++) {
        }
    }
    strings = calloc((size_t)count + 1, sizeof(*strings));
    for (i = 0; strings != NULL && i < count; i++) {
        strings[i] = ckpt_fortran_string(array + stride * i, length);
        if (strings[i] == NULL) {
            free_strings(strings);
            return NULL;
        }
    }
    return strings;
}

static int *error_codes(MPI_Fint *codes)
{
    return codes == &mpi_fortran_errcodes_ignore_ ? MPI_ERRCODES_IGNORE : codes;
}

static int is_root(MPI_Comm comm, int root)
{
    int rank = MPI_UNDEFINED;

    return PMPI_Comm_rank(comm, &rank) == MPI_SUCCESS && rank == root;
}

void ompi_comm_spawn_f(const char *command, const char *argv,
                       const MPI_Fint *maxprocs, const MPI_Fint *info,
                       const MPI_Fint *root, const MPI_Fint *comm,
                       MPI_Fint *intercomm, MPI_Fint *codes, MPI_Fint *ierror,
                       int command_length, int argv_length)
{
    MPI_Comm c_comm = PMPI_Comm_f2c(*comm), c_intercomm;
    int here = is_root(c_comm, *root);
    char *c_command = ckpt_fortran_string(command, here ? command_length : 0);
    char **c_argv = MPI_ARGV_NULL;
    int code = MPI_ERR_NO_MEM;

    if (here && argv != &mpi_fortran_argv_null_) {
        c_argv = strings_new(-1, argv, argv_length, (size_t)argv_length);
    }
    if (c_command == NULL) {
        code = ckpt_error(c_comm, code, "MPI_Comm_spawn");
    } else {
        code = PMPI_Comm_spawn(c_command, c_argv, *maxprocs,
                               PMPI_Info_f2c(*info), *root, c_comm,
                               &c_intercomm, error_codes(codes));
    }
    if (code == MPI_SUCCESS) {
        *intercomm = PMPI_Comm_c2f(c_intercomm);
    }
    free(c_command);
    free_strings(c_argv);
    ckpt_fortran_return(ierror, code);
}
CKPT_FORTRAN_NAMES(comm_spawn, COMM_SPAWN, Comm_spawn);

/* Makes the arguments of all commands: each command has a column of the Fortran
 * array. */
static char ***argvs_new(int count, const char *argvs, int length)
{
    char ***arrays = calloc((size_t)count + 1, sizeof(*arrays));

    for (int i = 0; arrays != NULL && i < count; i++) {
        arrays[i] = strings_new(-1, argvs + (size_t)length * i, length,
                                (size_t)length * count);
    }
    return arrays;
}

static void free_argvs(char ***arrays)
{
    for (int i = 0; arrays != NULL && arrays[i] != NULL; i++) {
        free_strings(arrays[i]);
    }
    free(arrays);
}

void ompi_comm_spawn_multiple_f(const MPI_Fint *count, const char *commands,
                                const char *argvs, const MPI_Fint *maxprocs,
                                const MPI_Fint *infos, const MPI_Fint *root,
                                const MPI_Fint *comm, MPI_Fint *intercomm,
                                MPI_Fint *codes, MPI_Fint *ierror,
                                int command_length, int argv_length)
{
    MPI_Comm c_comm = PMPI_Comm_f2c(*comm), c_intercomm;
    int n = is_root(c_comm, *root) && *count > 0 ? *count : 0;
    char **c_commands = strings_new(n, commands, command_length,
                                    (size_t)command_length);
    MPI_Info *c_infos = ckpt_fortran_infos(n, infos);
    char ***c_argvs = MPI_ARGVS_NULL;
    int code = MPI_ERR_NO_MEM;

    if (n > 0 && argvs != &mpi_fortran_argvs_null_) {
        c_argvs = argvs_new(n, argvs, argv_length);
    }
    if (c_commands == NULL || c_infos == NULL) {
        code = ckpt_error(c_comm, code, "MPI_Comm_spawn_multiple");
    } else {
        code = PMPI_Comm_spawn_multiple(n > 0 ? n : *count, c_commands, c_argvs,
                                        maxprocs, c_infos, *root, c_comm,
                                        &c_intercomm, error_codes(codes));
    }
    if (code == MPI_SUCCESS) {
        *intercomm = PMPI_Comm_c2f(c_intercomm);
    }
    free_strings(c_commands);
    free(c_infos);
    free_argvs(c_argvs);
    ckpt_fortran_return(ierror, code);
}
CKPT_FORTRAN_NAMES(comm_spawn_multiple, COMM_SPAWN_MULTIPLE,
                   Comm_spawn_multiple);
