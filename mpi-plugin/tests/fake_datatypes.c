/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fake_datatypes.c - the answers of the library, and the other things that a call into the lower
 * half needs.
 */
#include "tests/fake_datatypes.h"

#include "handles/handles.h"
#include "handles/types/datatype_contents.h"
#include "runtime/crossing.h"
#include "sys/thread_pointer.h"

#include <stdlib.h>
#include <string.h>

void *ckpt_lower_function[CKPT_FN_COUNT];
int ckpt_multiple; /* so no thread contexts exist: */
__thread struct ckpt_thread_context *ckpt_thread_context_own;

struct ckpt_thread_context *ckpt_thread_context_get(void)
{
    abort();
}

void ckpt_thread_context_close(void)
{
    abort();
}

static int contents_open;

static const struct fake_datatype *behind(const void *handle)
{
    return handle;
}

static int get_extent(MPI_Datatype type, MPI_Aint *bound, MPI_Aint *extent)
{
    *bound = 0;
    *extent = behind(type)->extent;
    return MPI_SUCCESS;
}

/* Both halves share one thread pointer. */
void fake_datatypes_open(void)
{
    ckpt_thread_pointer_open();
    ckpt_halves[0].lower = ckpt_thread_pointer_load();
    ckpt_lower_function[CKPT_FN_Type_get_extent] = (void *)get_extent;
}

int fake_contents_open(void)
{
    return contents_open;
}

void *ckpt_predefined_find(const void *lower)
{
    return behind(lower)->combiner == MPI_COMBINER_NAMED ? (void *)(uintptr_t)lower : NULL;
}

static void *copy_of(const void *from, size_t bytes)
{
    void *copy = malloc(bytes + 1);

    if (copy != NULL && bytes > 0) {
        memcpy(copy, from, bytes);
    }
    return copy;
}

int ckpt_contents_read(MPI_Datatype lower, struct ckpt_contents *contents)
{
    const struct fake_datatype *type = behind(lower);

    *contents = (struct ckpt_contents){
        .integer_count = type->integer_count,
        .address_count = type->address_count,
        .type_count = type->type_count,
        .combiner = type->combiner,
        .integers = copy_of(type->integers, (size_t)type->integer_count * sizeof(int)),
        .addresses =
            copy_of(type->addresses, (size_t)type->address_count * sizeof(MPI_Aint)),
        .types = copy_of(type->types, (size_t)type->type_count * sizeof(MPI_Datatype)),
        .size = 1,
    };
    contents_open++;
    return MPI_SUCCESS;
}

void ckpt_contents_free(struct ckpt_contents *contents)
{
    free(contents->integers);
    free(contents->addresses);
    free(contents->types);
    contents_open--;
}
