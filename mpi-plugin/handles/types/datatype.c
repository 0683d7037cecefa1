/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * datatype.c - derived datatypes: record their constructors, and make them
 * again.
 *
 * The library itself remembers the constructor and its arguments
 * (MPI_Type_get_contents, MPI 3.1 section 4.1.13). Before a cut
 * ckpt_datatype_record() writes these down, with all inner types, as one array
 * of words:
 *   named type:  COMBINER_NAMED, address of our predefined object
 *   others:      combiner, counts of integers, addresses, types, then these
 */
#include "base/arena.h"
#include "base/invariant.h"
#include "handles/attribute.h"
#include "handles/kinds.h"
#include "handles/types/datatype_contents.h"
#include "handles/wrapper.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(int64_t) == sizeof(MPI_Aint), "words are as wide as addresses");

/* A growing array of words outside the application's malloc. */
struct words {
    int64_t *word;
    size_t count;
    size_t capacity;
};

static int words_add(struct words *words, int64_t value)
{
    if (words->count == words->capacity) {
        size_t capacity = words->capacity == 0 ? 32 : 2 * words->capacity;
        int64_t *grown = ckpt_memory_alloc(capacity * sizeof(*grown));

        if (grown == NULL) {
            return -ENOMEM;
        }
        if (words->word != NULL) {
            memcpy(grown, words->word, words->count * sizeof(*grown));
            ckpt_memory_free(words->word, words->capacity * sizeof(*grown));
        }
        words->word = grown;
        words->capacity = capacity;
    }
    CKPT_INVARIANT(words->count < words->capacity);
    words->word[words->count++] = value;
    return 0;
}

static int describe(MPI_Datatype lower, struct words *words)
{
    MPI_Datatype predefined = ckpt_predefined_find(lower);
    struct ckpt_contents contents;
    int error = 0, i;

    if (predefined != NULL) {
        error = words_add(words, MPI_COMBINER_NAMED);
        return error != 0 ? error : words_add(words, (int64_t)(intptr_t)predefined);
    }
    if (ckpt_contents_read(lower, &contents) != MPI_SUCCESS ||
        contents.size == 0) {
        return -EINVAL;
    }
    error |= words_add(words, contents.combiner);
    error |= words_add(words, contents.integer_count);
    error |= words_add(words, contents.address_count);
    error |= words_add(words, contents.type_count);
    for (i = 0; i < contents.integer_count; i++) {
        error |= words_add(words, contents.integers[i]);
    }
    for (i = 0; i < contents.address_count; i++) {
        error |= words_add(words, contents.addresses[i]);
    }
    for (i = 0; i < contents.type_count; i++) {
        error |= describe(contents.types[i], words);
    }
    ckpt_contents_free(&contents);
    return error;
}

int ckpt_datatype_record(MPI_Datatype datatype)
{
    struct words words = {NULL, 0, 0};
    int error = describe(CKPT_LOWER(datatype), &words);

    if (error == 0) {
        datatype->handle.recipe = words.word;
        datatype->handle.recipe_size = words.capacity * sizeof(*words.word);
    } else if (words.word != NULL) {
        ckpt_memory_free(words.word, words.capacity * sizeof(*words.word));
    }
    return error;
}

/* Calls the constructor `combiner`, with integers and addresses in the order of
 * the standard's table for MPI_Type_get_contents. */
static int construct(const struct ckpt_contents *c, MPI_Datatype *made)
{
    const int *n = c->integers;
    const MPI_Aint *a = c->addresses;
    const MPI_Datatype *t = c->types;
    int code = MPI_ERR_TYPE;

    switch (c->combiner) {
    case MPI_COMBINER_DUP:
        CKPT_CALL(code, Type_dup, t[0], made);
        break;
    case MPI_COMBINER_CONTIGUOUS:
        CKPT_CALL(code, Type_contiguous, n[0], t[0], made);
        break;
    case MPI_COMBINER_VECTOR:
        CKPT_CALL(code, Type_vector, n[0], n[1], n[2], t[0], made);
        break;
    case OMPI_WAS_MPI_COMBINER_HVECTOR_INTEGER:
    case MPI_COMBINER_HVECTOR:
        CKPT_CALL(code, Type_create_hvector, n[0], n[1], a[0], t[0], made);
        break;
    case MPI_COMBINER_INDEXED:
        CKPT_CALL(code, Type_indexed, n[0], n + 1, n + 1 + n[0], t[0], made);
        break;
    case OMPI_WAS_MPI_COMBINER_HINDEXED_INTEGER:
    case MPI_COMBINER_HINDEXED:
        CKPT_CALL(code, Type_create_hindexed, n[0], n + 1, a, t[0], made);
        break;
    case MPI_COMBINER_INDEXED_BLOCK:
        CKPT_CALL(code, Type_create_indexed_block, n[0], n[1], n + 2, t[0], made);
        break;
    case MPI_COMBINER_HINDEXED_BLOCK:
        CKPT_CALL(code, Type_create_hindexed_block, n[0], n[1], a, t[0], made);
        break;
    case OMPI_WAS_MPI_COMBINER_STRUCT_INTEGER:
    case MPI_COMBINER_STRUCT:
        CKPT_CALL(code, Type_create_struct, n[0], n + 1, a, t, made);
        break;
    case MPI_COMBINER_SUBARRAY:
        CKPT_CALL(code, Type_create_subarray, n[0], n + 1, n + 1 + n[0],
                  n + 1 + 2 * n[0], n[1 + 3 * n[0]], t[0], made);
        break;
    case MPI_COMBINER_DARRAY:
        CKPT_CALL(code, Type_create_darray, n[0], n[1], n[2], n + 3,
                  n + 3 + n[2], n + 3 + 2 * n[2], n + 3 + 3 * n[2],
                  n[3 + 4 * n[2]], t[0], made);
        break;
    case MPI_COMBINER_F90_REAL:
        CKPT_CALL(code, Type_create_f90_real, n[0], n[1], made);
        break;
    case MPI_COMBINER_F90_COMPLEX:
        CKPT_CALL(code, Type_create_f90_complex, n[0], n[1], made);
        break;
    case MPI_COMBINER_F90_INTEGER:
        CKPT_CALL(code, Type_create_f90_integer, n[0], made);
        break;
    case MPI_COMBINER_RESIZED:
        CKPT_CALL(code, Type_create_resized, t[0], a[0], a[1], made);
        break;
    }
    return code;
}

/* Makes the type that `*word` describes and moves `*word` past it. */
static int make(const int64_t **word, MPI_Datatype *made)
{
    struct ckpt_contents c = {0};
    const int64_t *w = *word;
    int code = MPI_SUCCESS, ignored, i;

    if (w[0] == MPI_COMBINER_NAMED) {
        *made = CKPT_LOWER((MPI_Datatype)(intptr_t)w[1]);
        *word = w + 2;
        return MPI_SUCCESS;
    }
    c.combiner = (int)w[0];
    c.integer_count = (int)w[1];
    c.address_count = (int)w[2];
    c.type_count = (int)w[3];
    w += 4;
    CKPT_INVARIANT(c.integer_count >= 0 && c.address_count >= 0 && c.type_count >= 0);
    c.size = (size_t)(c.integer_count + c.type_count) * 8 + 16;
    c.types = ckpt_memory_alloc(c.size);
    if (c.types == NULL) {
        return MPI_ERR_NO_MEM;
    }
    c.integers = (int *)(c.types + c.type_count);
    for (i = 0; i < c.integer_count; i++) {
        c.integers[i] = (int)*w++;
    }
    c.addresses = (MPI_Aint *)w; /* words are as wide as addresses */
    w += c.address_count;
    for (i = 0; i < c.type_count && code == MPI_SUCCESS; i++) {
        code = make(&w, &c.types[i]);
    }
    if (code == MPI_SUCCESS) {
        code = construct(&c, made);
    }
    for (i = 0; i < c.type_count && code == MPI_SUCCESS; i++) {
        if (ckpt_predefined_find(c.types[i]) == NULL) {
            CKPT_CALL(ignored, Type_free, &c.types[i]);
        }
    }
    (void)ignored;
    ckpt_memory_free(c.types, c.size);
    *word = w;
    return code;
}

int ckpt_datatype_rebuild(MPI_Datatype datatype)
{
    const int64_t *word = datatype->handle.recipe;
    MPI_Datatype lower = NULL;
    int code = make(&word, &lower);

    CKPT_INVARIANT((const char *)word <=
                   (const char *)datatype->handle.recipe + datatype->handle.recipe_size);
    if (code == MPI_SUCCESS) {
        CKPT_CALL(code, Type_commit, &lower); /* even if never committed */
        datatype->handle.lower = lower;
    }
    return code;
}

MPI_Datatype ckpt_datatype_of(MPI_Datatype lower)
{
    void *object = ckpt_predefined_find(lower);

    if (object == NULL) {
        object = ckpt_live_find(CKPT_DATATYPE, lower);
    }
    return object != NULL ? object : MPI_DATATYPE_NULL;
}

int PMPI_Type_commit(MPI_Datatype *datatype)
{
    CKPT_REQUIRE(datatype != NULL, NULL, MPI_ERR_TYPE, "MPI_Type_commit");
    MPI_Datatype lower;
    int code;

    ckpt_begin();
    lower = CKPT_LOWER(*datatype);
    CKPT_CALL(code, Type_commit, &lower);
    CKPT_RETURN(NULL, code, "MPI_Type_commit");
}
CKPT_ALIAS(Type_commit);

int PMPI_Type_free(MPI_Datatype *datatype_p)
{
    CKPT_REQUIRE(datatype_p != NULL, NULL, MPI_ERR_TYPE, "MPI_Type_free");
    MPI_Datatype datatype = *datatype_p;
    int code;

    if (datatype == NULL || (datatype->handle.flags & CKPT_HANDLE_PREDEFINED)) {
        return ckpt_error(NULL, MPI_ERR_TYPE, "MPI_Type_free");
    }
    code = ckpt_attributes_delete(&datatype->handle);
    if (code != MPI_SUCCESS) {
        return ckpt_error(NULL, code, "MPI_Type_free");
    }
    ckpt_begin();
    ckpt_release(datatype);
    *datatype_p = MPI_DATATYPE_NULL;
    ckpt_end();
    return MPI_SUCCESS;
}
CKPT_ALIAS(Type_free);

int PMPI_Type_dup(MPI_Datatype datatype, MPI_Datatype *new_type)
{
    CKPT_REQUIRE(new_type != NULL, NULL, MPI_ERR_TYPE, "MPI_Type_dup");
    MPI_Datatype lower = NULL;
    int code;

    ckpt_begin();
    CKPT_CALL(code, Type_dup, CKPT_LOWER(datatype), &lower);
    if (code == MPI_SUCCESS) {
        *new_type = ckpt_adopt(CKPT_DATATYPE, lower, "MPI_Type_dup", CKPT_SITE);
    }
    ckpt_end();
    if (code == MPI_SUCCESS) {
        code = ckpt_attributes_copy(&datatype->handle, &(*new_type)->handle);
        if (code != MPI_SUCCESS) { /* MPI 3.1, section 6.7.4 */
            (void)PMPI_Type_free(new_type);
        }
    }
    return code == MPI_SUCCESS ? code : ckpt_error(NULL, code, "MPI_Type_dup");
}
CKPT_ALIAS(Type_dup);

int PMPI_Type_get_contents(MPI_Datatype datatype, int max_integers,
                           int max_addresses, int max_types, int integers[],
                           MPI_Aint addresses[], MPI_Datatype types[])
{
    int code, count = 0, skip, combiner;

    ckpt_begin();
    CKPT_CALL(code, Type_get_envelope, CKPT_LOWER(datatype), &skip, &skip, &count,
              &combiner);
    CKPT_CALL(code, Type_get_contents, CKPT_LOWER(datatype), max_integers,
              max_addresses, max_types, integers, addresses, types);
    for (int i = 0; code == MPI_SUCCESS && i < count; i++) {
        types[i] = ckpt_adopt(CKPT_DATATYPE, types[i], "MPI_Type_get_contents",
                              CKPT_SITE);
    }
    CKPT_RETURN(NULL, code, "MPI_Type_get_contents");
}
CKPT_ALIAS(Type_get_contents);

int PMPI_Type_set_name(MPI_Datatype datatype, const char *name)
{
    CKPT_REQUIRE(ckpt_datatype_valid(datatype), NULL, MPI_ERR_TYPE,
                 "MPI_Type_set_name");
    CKPT_REQUIRE(name != NULL, NULL, MPI_ERR_ARG, "MPI_Type_set_name");
    char *copy = strndup(name, MPI_MAX_OBJECT_NAME - 1);

    if (copy == NULL) {
        return ckpt_error(NULL, MPI_ERR_NO_MEM, "MPI_Type_set_name");
    }
    ckpt_guard();
    free(datatype->handle.name);
    datatype->handle.name = copy;
    ckpt_unguard();
    return MPI_SUCCESS;
}
CKPT_ALIAS(Type_set_name);

int PMPI_Type_get_name(MPI_Datatype datatype, char *name, int *length)
{
    int code;

    if (datatype != NULL && datatype->handle.name != NULL) {
        strcpy(name, datatype->handle.name);
        *length = (int)strlen(name);
        return MPI_SUCCESS;
    }
    ckpt_begin();
    CKPT_CALL(code, Type_get_name, CKPT_LOWER(datatype), name, length);
    CKPT_RETURN(NULL, code, "MPI_Type_get_name");
}
CKPT_ALIAS(Type_get_name);
