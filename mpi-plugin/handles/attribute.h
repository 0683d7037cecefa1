/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * attribute.h - attributes and key values, kept wholly in the upper half
 * (MPI 3.1, section 6.7): nothing of them has to be replayed.
 */
#ifndef CKPT_ATTRIBUTE_H
#define CKPT_ATTRIBUTE_H

#include "handles/handles.h"

/* One attribute of one object; a list in the order they were first set. */
struct ckpt_attribute {
    struct ckpt_attribute *next;
    int keyval;
    void *value;
};

/*
 * Calls the copy functions of `from`'s attributes and gives the results to
 * `to` (MPI_Comm_dup, MPI_Type_dup). Returns the first error of a callback.
 * Context: normal, outside of begin/end.
 */
int ckpt_attributes_copy(struct ckpt_handle *from, struct ckpt_handle *to);

/*
 * Calls the delete functions of all attributes, newest first, and forgets
 * them. Stops at the first error of a callback and returns it; the attributes
 * not yet deleted stay. Context: normal, outside of begin/end.
 */
int ckpt_attributes_delete(struct ckpt_handle *handle);

#endif
