/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * representation.c - user-defined data representations (MPI 3.1, section
 * 13.5.3): application code called by the lower half.
 */
#include "handles/files/file.h"

#include "base/invariant.h"
#include "handles/kinds.h"
#include "handles/wrapper.h"
#include "runtime/callback.h"

#include <stdlib.h>
#include <string.h>

/* A registered representation. MPI has no call to unregister it. */
struct representation {
    struct representation *next;
    MPI_Datarep_conversion_function *read; /* NULL: none */
    MPI_Datarep_conversion_function *write;
    MPI_Datarep_extent_function *extent;
    void *extra;
    char name[MPI_MAX_DATAREP_STRING];
};

static struct representation *first;

/* Switches from the lower half into application code, and back. */
struct visit {
    uintptr_t lower;
    struct ckpt_callback outer;
};

static void visit_begin(struct visit *visit)
{
    const struct ckpt_halves *halves;

    visit->lower = ckpt_thread_pointer_get();
    halves = ckpt_halves_below(visit->lower);
    CKPT_INVARIANT(halves != NULL && halves->upper != 0); /* called by the lower half */
    ckpt_thread_pointer_set(halves->upper);
    ckpt_callback_enter(&visit->outer);
}

static void visit_end(const struct visit *visit)
{
    ckpt_callback_leave(&visit->outer);
    ckpt_thread_pointer_set(visit->lower);
}

/* Called by the lower half; its extra state is our representation. */

static int convert(MPI_Datarep_conversion_function *function, void *user,
                   MPI_Datatype type, int count, void *file,
                   MPI_Offset position, void *extra)
{
    struct visit visit;
    int code;

    visit_begin(&visit);
    code = function(user, ckpt_datatype_of(type), count, file, position, extra);
    visit_end(&visit);
    return code;
}

static int read_lower(void *user, MPI_Datatype type, int count, void *file,
                      MPI_Offset position, void *state)
{
    const struct representation *own = state;

    return convert(own->read, user, type, count, file, position, own->extra);
}

static int write_lower(void *user, MPI_Datatype type, int count, void *file,
                       MPI_Offset position, void *state)
{
    const struct representation *own = state;

    return convert(own->write, user, type, count, file, position, own->extra);
}

static int extent_lower(MPI_Datatype type, MPI_Aint *extent, void *state)
{
    const struct representation *own = state;
    struct visit visit;
    int code;

    visit_begin(&visit);
    code = own->extent(ckpt_datatype_of(type), extent, own->extra);
    visit_end(&visit);
    return code;
}

static int register_lower(struct representation *own)
{
    int code;

    CKPT_CALL(code, Register_datarep, own->name,
              own->read == NULL ? NULL : read_lower,
              own->write == NULL ? NULL : write_lower,
              own->extent == NULL ? NULL : extent_lower, own);
    return code;
}

void ckpt_representations_rebuild(void)
{
    for (struct representation *own = first; own != NULL; own = own->next) {
        (void)register_lower(own);
    }
}

int PMPI_Register_datarep(const char *name,
                          MPI_Datarep_conversion_function *read_function,
                          MPI_Datarep_conversion_function *write_function,
                          MPI_Datarep_extent_function *extent_function,
                          void *extra_state)
{
    struct representation *own = calloc(1, sizeof(*own));
    int code;

    if (own == NULL || name == NULL ||
        strlen(name) >= MPI_MAX_DATAREP_STRING) {
        code = own == NULL ? MPI_ERR_NO_MEM : MPI_ERR_ARG;
        free(own);
        return ckpt_error(MPI_FILE_NULL, code, "MPI_Register_datarep");
    }
    own->read = read_function;
    own->write = write_function;
    own->extent = extent_function;
    own->extra = extra_state;
    strcpy(own->name, name);
    ckpt_begin();
    code = register_lower(own);
    if (code == MPI_SUCCESS) {
        own->next = first;
        first = own;
    } else {
        free(own);
    }
    CKPT_RETURN(MPI_FILE_NULL, code, "MPI_Register_datarep");
}
CKPT_ALIAS(Register_datarep);
