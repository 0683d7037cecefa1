/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * datatype_contents.c - MPI_Type_get_contents into memory outside the application's
 * malloc.
 */
#include "handles/types/datatype_contents.h"

#include "base/arena.h"
#include "base/invariant.h"
#include "handles/kinds.h"
#include "runtime/crossing.h"

int ckpt_contents_read(MPI_Datatype lower, struct ckpt_contents *contents)
{
    char *memory;
    int code;

    CKPT_CALL(code, Type_get_envelope, lower, &contents->integer_count,
              &contents->address_count, &contents->type_count,
              &contents->combiner);
    contents->size = 0;
    if (code != MPI_SUCCESS || contents->combiner == MPI_COMBINER_NAMED) {
        return code;
    }
    contents->size =
        (size_t)contents->address_count * sizeof(MPI_Aint) +
        (size_t)contents->type_count * sizeof(MPI_Datatype) +
        (size_t)contents->integer_count * sizeof(int) + 16;
    memory = ckpt_memory_alloc(contents->size);
    if (memory == NULL) {
        return MPI_ERR_NO_MEM;
    }
    contents->addresses = (MPI_Aint *)memory;
    contents->types =
        (MPI_Datatype *)(contents->addresses + contents->address_count);
    contents->integers = (int *)(contents->types + contents->type_count);
    CKPT_INVARIANT((char *)(contents->integers + contents->integer_count) <=
                   memory + contents->size);
    CKPT_CALL(code, Type_get_contents, lower, contents->integer_count,
              contents->address_count, contents->type_count, contents->integers,
              contents->addresses, contents->types);
    if (code != MPI_SUCCESS) {
        ckpt_memory_free(memory, contents->size);
    }
    return code;
}

void ckpt_contents_free(struct ckpt_contents *contents)
{
    int code;

    if (contents->size == 0) {
        return;
    }
    for (int i = 0; i < contents->type_count; i++) {
        if (ckpt_predefined_find(contents->types[i]) == NULL) {
            CKPT_CALL(code, Type_free, &contents->types[i]);
            (void)code;
        }
    }
    ckpt_memory_free(contents->addresses, contents->size);
}
