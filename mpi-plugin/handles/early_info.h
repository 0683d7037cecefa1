/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * early_info.h - infos before MPI has begun, which MPI 4.0 allows (section
 * 11.4.1): a program makes an info for MPI_Session_init. The lower half is not
 * loaded yet, so such an info consists of its recipe (handles/info.c) only.
 */
#ifndef CKPT_EARLY_INFO_H
#define CKPT_EARLY_INFO_H

#include "handles/handles.h"
#include "runtime/runtime.h"

/* 1 if MPI has not begun. Context: normal. */
static inline int ckpt_info_is_early(void)
{
    return ckpt_runtime_phase() == CKPT_RUNTIME_BEFORE;
}

/* The MPI functions of the same names. Context: normal. Return MPI error
 * codes. */
int ckpt_early_Info_create(MPI_Info *info);
int ckpt_early_Info_set(MPI_Info info, const char *key, const char *value);
int ckpt_early_Info_delete(MPI_Info info, const char *key);
int ckpt_early_Info_get(MPI_Info info, const char *key, int valuelen,
                        char *value, int *flag);
int ckpt_early_Info_get_valuelen(MPI_Info info, const char *key, int *valuelen,
                                 int *flag);
int ckpt_early_Info_get_nkeys(MPI_Info info, int *nkeys);
int ckpt_early_Info_get_nthkey(MPI_Info info, int n, char *key);
int ckpt_early_Info_dup(MPI_Info info, MPI_Info *newinfo);
int ckpt_early_Info_free(MPI_Info *info);

/* Makes these infos in the lower half when MPI has begun. Context: normal,
 * between ckpt_begin and ckpt_end. Returns an MPI error code. */
int ckpt_early_infos_rebuild(void);

#endif
