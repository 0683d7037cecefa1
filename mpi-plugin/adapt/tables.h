/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tables.h - tables of the adapter, generated from both mpi.h.
 */
#ifndef CKPT_ADAPT_TABLES_H
#define CKPT_ADAPT_TABLES_H

#include "adapt/handle.h"

/* One function; sorted by name. */
struct adapt_function {
    const char *name;      /* PMPI_X */
    void (*adapted)(void); /* with Open MPI's types */
    void (*real)(void);    /* of MPICH, NULL if this release lacks it */
};
extern const struct adapt_function adapt_functions[];
extern const int adapt_function_count;

/* One predefined object. */
struct adapt_object {
    const char *symbol; /* of Open MPI, ompi_mpi_int */
    enum adapt_kind kind;
    int handle; /* of MPICH */
    int null;   /* 1: the null handle of its kind */
};
extern const struct adapt_object adapt_objects[];
extern const int adapt_object_count;

/* Returns the null handle of a kind. */
int adapt_null(enum adapt_kind kind);

/* Returns 1 if MPICH has the object. */
static inline int adapt_object_exists(const struct adapt_object *object)
{
    return object->null || object->kind == ADAPT_FILE ||
           object->handle != adapt_null(object->kind);
}

#endif
