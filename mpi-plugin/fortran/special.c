/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * special.c - Fortran bindings that differ from their C functions: functions
 * that return values, names for C pointers, results of several types.
 */
#include "fortran/fortran.h"

#include <stdlib.h>

#pragma GCC visibility push(default)

void ompi_init_f(MPI_Fint *ierror)
{
    int argc = 0;
    char **argv = NULL;

    ckpt_fortran_return(ierror, PMPI_Init(&argc, &argv));
}
CKPT_FORTRAN_NAMES(init, INIT, Init);

void ompi_init_thread_f(const MPI_Fint *required, MPI_Fint *provided,
                        MPI_Fint *ierror)
{
    int argc = 0;
    char **argv = NULL;

    ckpt_fortran_return(ierror,
                        PMPI_Init_thread(&argc, &argv, *required, provided));
}
CKPT_FORTRAN_NAMES(init_thread, INIT_THREAD, Init_thread);

void ompi_pcontrol_f(const MPI_Fint *level)
{
    (void)PMPI_Pcontrol(*level);
}
CKPT_FORTRAN_NAMES(pcontrol, PCONTROL, Pcontrol);

double ompi_wtime_f(void)
{
    return PMPI_Wtime();
}
CKPT_FORTRAN_NAMES(wtime, WTIME, Wtime);

double ompi_wtick_f(void)
{
    return PMPI_Wtick();
}
CKPT_FORTRAN_NAMES(wtick, WTICK, Wtick);

MPI_Aint ompi_aint_add_f(const MPI_Aint *base, const MPI_Aint *disp)
{
    return *base + *disp;
}
CKPT_FORTRAN_NAMES(aint_add, AINT_ADD, Aint_add);

MPI_Aint ompi_aint_diff_f(const MPI_Aint *addr1, const MPI_Aint *addr2)
{
    return *addr1 - *addr2;
}
CKPT_FORTRAN_NAMES(aint_diff, AINT_DIFF, Aint_diff);

/* Makes the compiler assume that a buffer has changed: the call suffices. */
void ompi_f_sync_reg_f(void *buf)
{
    (void)buf;
}
CKPT_FORTRAN_NAMES(f_sync_reg, F_SYNC_REG, F_sync_reg);

/* The forms with TYPE(C_PTR) differ only in the name (MPI 3.1, section
 * 17.1.5). */

void ompi_alloc_mem_cptr_f(const MPI_Aint *size, const MPI_Fint *info,
                           void *baseptr, MPI_Fint *ierror)
{
    ckpt_fortran_return(ierror,
                        PMPI_Alloc_mem(*size, PMPI_Info_f2c(*info), baseptr));
}
CKPT_FORTRAN_NAMES(alloc_mem_cptr, ALLOC_MEM_CPTR, Alloc_mem_cptr);

void ompi_win_allocate_f(const MPI_Aint *, const int *, const MPI_Fint *,
                         const MPI_Fint *, void *, MPI_Fint *, MPI_Fint *);
void ompi_win_allocate_cptr_f(const MPI_Aint *size, const int *disp_unit,
                              const MPI_Fint *info, const MPI_Fint *comm,
                              void *baseptr, MPI_Fint *win, MPI_Fint *ierror)
{
    ompi_win_allocate_f(size, disp_unit, info, comm, baseptr, win, ierror);
}
CKPT_FORTRAN_NAMES(win_allocate_cptr, WIN_ALLOCATE_CPTR, Win_allocate_cptr);

void ompi_win_allocate_shared_f(const MPI_Aint *, const int *, const MPI_Fint *,
                                const MPI_Fint *, void *, MPI_Fint *,
                                MPI_Fint *);
void ompi_win_allocate_shared_cptr_f(const MPI_Aint *size, const int *disp_unit,
                                     const MPI_Fint *info, const MPI_Fint *comm,
                                     void *baseptr, MPI_Fint *win,
                                     MPI_Fint *ierror)
{
    ompi_win_allocate_shared_f(size, disp_unit, info, comm, baseptr, win, ierror);
}
CKPT_FORTRAN_NAMES(win_allocate_shared_cptr, WIN_ALLOCATE_SHARED_CPTR,
                   Win_allocate_shared_cptr);

void ompi_win_shared_query_cptr_f(const MPI_Fint *win, const MPI_Fint *rank,
                                  MPI_Aint *size, MPI_Fint *disp_unit,
                                  void *baseptr, MPI_Fint *ierror)
{
    int code = PMPI_Win_shared_query(PMPI_Win_f2c(*win), *rank, size, disp_unit,
                                     baseptr);

    ckpt_fortran_return(ierror, code);
}
CKPT_FORTRAN_NAMES(win_shared_query_cptr, WIN_SHARED_QUERY_CPTR,
                   Win_shared_query_cptr);

/* The buffer's address is useless in Fortran, so the argument is not
 * changed. */
void ompi_buffer_detach_f(void *buffer, MPI_Fint *size, MPI_Fint *ierror)
{
    void *detached;

    (void)buffer;
    ckpt_fortran_return(ierror, PMPI_Buffer_detach(&detached, size));
}
CKPT_FORTRAN_NAMES(buffer_detach, BUFFER_DETACH, Buffer_detach);

void ompi_type_get_contents_f(const MPI_Fint *datatype,
                              const MPI_Fint *max_integers,
                              const MPI_Fint *max_addresses,
                              const MPI_Fint *max_datatypes, MPI_Fint *integers,
                              MPI_Aint *addresses, MPI_Fint *datatypes,
                              MPI_Fint *ierror)
{
    int room = *max_datatypes > 0 ? *max_datatypes : 1;
    MPI_Datatype *types = calloc((size_t)room, sizeof(*types));
    int code;

    if (types == NULL) {
        ckpt_fortran_no_memory(ierror, "MPI_Type_get_contents");
        return;
    }
    code = PMPI_Type_get_contents(PMPI_Type_f2c(*datatype), *max_integers,
                                  *max_addresses, *max_datatypes, integers,
                                  addresses, types);
    for (int i = 0; code == MPI_SUCCESS && i < *max_datatypes; i++) {
        if (types[i] != NULL) { /* there may be fewer types */
            datatypes[i] = PMPI_Type_c2f(types[i]);
        }
    }
    free(types);
    ckpt_fortran_return(ierror, code);
}
CKPT_FORTRAN_NAMES(type_get_contents, TYPE_GET_CONTENTS, Type_get_contents);

/* Makes C strings for a query of a key: the key, and an empty one with `room`
 * characters. Returns 0 if out of memory, and sets IERROR. */
static int open_question(const char *key, int key_length, int room,
                         const char *function, MPI_Fint *ierror,
                         char *strings[2])
{
    strings[0] = ckpt_fortran_string(key, key_length);
    strings[1] = calloc((size_t)(room > 0 ? room : 0) + 1, 1);
    if (strings[0] != NULL && strings[1] != NULL) {
        return 1;
    }
    free(strings[0]);
    free(strings[1]);
    ckpt_fortran_no_memory(ierror, function);
    return 0;
}

static void close_question(char *strings[2], MPI_Fint *ierror, int code)
{
    free(strings[0]);
    free(strings[1]);
    ckpt_fortran_return(ierror, code);
}

void ompi_info_get_f(const MPI_Fint *info, const char *key,
                     const MPI_Fint *valuelen, char *value, MPI_Fint *flag,
                     MPI_Fint *ierror, int key_length, int value_length)
{
    char *strings[2];
    int code;

    if (!open_question(key, key_length, *valuelen, "MPI_Info_get", ierror,
                       strings)) {
        return;
    }
    code = PMPI_Info_get(PMPI_Info_f2c(*info), strings[0], *valuelen, strings[1],
                         flag);
    if (code == MPI_SUCCESS && *flag) {
        ckpt_fortran_string_set(value, value_length, strings[1]);
    }
    close_question(strings, ierror, code);
}
CKPT_FORTRAN_NAMES(info_get, INFO_GET, Info_get);

/* In Fortran BUFLEN does not count a NUL. */
void ompi_info_get_string_f(const MPI_Fint *info, const char *key,
                            MPI_Fint *buflen, char *value, MPI_Fint *flag,
                            MPI_Fint *ierror, int key_length, int value_length)
{
    int length = *buflen + 1;
    char *strings[2];
    int code;

    if (!open_question(key, key_length, *buflen, "MPI_Info_get_string", ierror,
                       strings)) {
        return;
    }
    code = PMPI_Info_get_string(PMPI_Info_f2c(*info), strings[0], &length,
                                strings[1], flag);
    if (code == MPI_SUCCESS && *flag) {
        if (*buflen > 0) {
            ckpt_fortran_string_set(value, value_length, strings[1]);
        }
        *buflen = length - 1;
    }
    close_question(strings, ierror, code);
}
CKPT_FORTRAN_NAMES(info_get_string, INFO_GET_STRING, Info_get_string);

void ompi_session_get_nth_pset_f(const MPI_Fint *session, const MPI_Fint *info,
                                 const MPI_Fint *n, MPI_Fint *length, char *name,
                                 MPI_Fint *ierror, int name_length)
{
    char c_name[MPI_MAX_PSET_NAME_LEN + 1] = "";
    int c_length = sizeof(c_name);
    int code = PMPI_Session_get_nth_pset(PMPI_Session_f2c(*session),
                                         PMPI_Info_f2c(*info), *n, &c_length,
                                         c_name);

    if (code == MPI_SUCCESS) {
        if (*length > 0) {
            ckpt_fortran_string_set(name, name_length, c_name);
        }
        *length = c_length - 1;
    }
    ckpt_fortran_return(ierror, code);
}
CKPT_FORTRAN_NAMES(session_get_nth_pset, SESSION_GET_NTH_PSET,
                   Session_get_nth_pset);
