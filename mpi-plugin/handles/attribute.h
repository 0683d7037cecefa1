/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * attribute.h - attributes and key values, kept entirely in the upper half (MPI
 * 3.1, section 6.7), so a restart need not replay them.
 */
#ifndef CKPT_ATTRIBUTE_H
#define CKPT_ATTRIBUTE_H

#include "handles/handles.h"

/* Key values of the library (MPI_TAG_UB ...) are small; ours begin here. */
#define CKPT_FIRST_KEYVAL 1024

/*
 * The value of an attribute, by the language that set it (MPI 3.1, section
 * 17.2.7). C sets a pointer. Fortran sets an integer, which C sees as a pointer
 * to it. Fortran sees C's pointer as an integer.
 */
struct ckpt_value {
    enum ckpt_language language; /* C, FORTRAN, FORTRAN_INTEGER */
    union {
        void *pointer;
        MPI_Aint address;
        MPI_Fint integer;
    };
};

/* One attribute of one object, in a list in the order in which they were first
 * set. */
struct ckpt_attribute {
    struct ckpt_attribute *next;
    int keyval;
    struct ckpt_value value;
};

/* The value as C and as Fortran see it. */
static inline void *ckpt_value_pointer(struct ckpt_value *value)
{
    return value->language == CKPT_C ? value->pointer : &value->address;
}

static inline MPI_Aint ckpt_value_address(const struct ckpt_value *value)
{
    return value->language == CKPT_FORTRAN_INTEGER ? value->integer
                                                   : value->address;
}

/*
 * MPI_X_create_keyval for functions in any language; kind is X's. Returns an
 * MPI error code. Context: normal.
 */
int ckpt_keyval_create(enum ckpt_kind kind, enum ckpt_language language,
                       void *copy, void *delete, void *extra, int *keyval);

/* MPI_X_free_keyval: makes *keyval invalid. The key value is freed with the
 * last attribute that uses it. Returns an MPI error code. Context: normal. */
int ckpt_keyval_free(enum ckpt_kind kind, int *keyval);

/* Gives a key value ownership of memory from malloc. Context: normal. */
void ckpt_keyval_own(int keyval, void *memory);

/* MPI_X_set_attr and MPI_X_get_attr for the application's key values. Return an
 * MPI error code. Context: normal, outside of begin/end. */
int ckpt_attribute_set(struct ckpt_handle *handle, int keyval,
                       struct ckpt_value value);
int ckpt_attribute_get(struct ckpt_handle *handle, int keyval,
                       struct ckpt_value **value, int *flag);

/* MPI_X_delete_attr. Returns an MPI error code, or the delete function's.
 * Context: normal, outside of begin/end. */
int ckpt_attribute_delete(struct ckpt_handle *handle, int keyval);

/* Returns whether a key value is one of the library's (MPI_TAG_UB ...). */
static inline int ckpt_keyval_predefined(int keyval)
{
    return keyval >= 0 && keyval < CKPT_FIRST_KEYVAL;
}

/*
 * Calls the copy functions of `from`'s attributes and sets the results on `to`
 * (MPI_Comm_dup, MPI_Type_dup). Returns the first error of a callback. Context:
 * normal, outside of begin/end.
 */
int ckpt_attributes_copy(struct ckpt_handle *from, struct ckpt_handle *to);

/*
 * Calls the delete functions of all attributes, newest first, and frees the
 * attributes. Stops at the first error of a callback and returns it; the
 * attributes not yet deleted stay. Context: normal, outside of begin/end.
 */
int ckpt_attributes_delete(struct ckpt_handle *handle);

#endif
