/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hints.c - infos of communicators.
 */
#include "handles/hints.h"

#include "handles/info.h"
#include "runtime/crossing.h"

#include <string.h>

void ckpt_hints_note(MPI_Comm comm)
{
    MPI_Info lower;
    int code;

    comm->hinted = 1;
    CKPT_CALL(code, Comm_get_info, CKPT_LOWER(comm), &lower);
    if (code == MPI_SUCCESS) {
        ckpt_info_take(&comm->hints, &comm->hints_size, &lower);
    }
}

int ckpt_hints_expect(MPI_Comm twin, MPI_Info info)
{
    twin->hinted = 1;
    twin->hints = ckpt_info_pairs(CKPT_LOWER(info), &twin->hints_size);
    return twin->hints == NULL ? MPI_ERR_INFO : MPI_SUCCESS;
}

int ckpt_hints_info(MPI_Comm comm, MPI_Info *lower)
{
    int code = CKPT_FUNCTION(Info_create)(lower);

    return code == MPI_SUCCESS && comm->hints != NULL
               ? ckpt_info_add(*lower, comm->hints, NULL)
               : code;
}

/* Removes from `info` the values that the library shows for `lower` anyway:
 * setting a default explicitly may have another meaning. */
static int but_defaults(MPI_Comm comm, MPI_Comm lower, MPI_Info info)
{
    const char *key = comm->hints == NULL ? "" : comm->hints, *value;
    char shown[MPI_MAX_INFO_VAL + 1];
    MPI_Info defaults;
    int code = CKPT_FUNCTION(Comm_get_info)(lower, &defaults), flag;

    for (; code == MPI_SUCCESS && *key != '\0';
         key = value + strlen(value) + 1) {
        value = key + strlen(key) + 1;
        code = CKPT_FUNCTION(Info_get)(defaults, key, MPI_MAX_INFO_VAL, shown,
                                       &flag);
        if (code == MPI_SUCCESS && flag && strcmp(shown, value) == 0) {
            code = CKPT_FUNCTION(Info_delete)(info, key);
        }
    }
    return code == MPI_SUCCESS ? CKPT_FUNCTION(Info_free)(&defaults) : code;
}

/* Duplicates with the hints, or sets them (`to` is NULL). Runs with the lower
 * thread pointer. */
static int tell(MPI_Comm comm, MPI_Comm lower, MPI_Comm *to)
{
    MPI_Info info;
    int code = ckpt_hints_info(comm, &info);

    if (code == MPI_SUCCESS) {
        code = but_defaults(comm, lower, info);
    }
    if (code == MPI_SUCCESS) {
        code = to == NULL
                   ? CKPT_FUNCTION(Comm_set_info)(lower, info)
                   : CKPT_FUNCTION(Comm_dup_with_info)(lower, info, to);
        (void)CKPT_FUNCTION(Info_free)(&info);
    }
    return code;
}

int ckpt_hints_rebuild(MPI_Comm comm, MPI_Comm *lower)
{
    MPI_Comm plain = *lower;
    uintptr_t upper = ckpt_enter();
    int code = tell(comm, plain, lower);

    if (code == MPI_SUCCESS) {
        code = CKPT_FUNCTION(Comm_free)(&plain);
    }
    ckpt_leave(upper);
    return code;
}

int ckpt_hints_rebuild_predefined(void)
{
    MPI_Comm const comms[] = {MPI_COMM_WORLD, MPI_COMM_SELF};
    int code = MPI_SUCCESS;

    for (int i = 0; i < 2 && code == MPI_SUCCESS; i++) {
        if (comms[i]->hinted) {
            uintptr_t upper = ckpt_enter();

            code = tell(comms[i], CKPT_LOWER(comms[i]), NULL);
            ckpt_leave(upper);
        }
    }
    return code;
}
