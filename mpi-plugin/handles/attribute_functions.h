/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * attribute_functions.h - the copy and delete functions of key values, called
 * as each language expects (MPI 3.1, sections 6.7.2 and 17.2.7).
 */
#ifndef CKPT_ATTRIBUTE_FUNCTIONS_H
#define CKPT_ATTRIBUTE_FUNCTIONS_H

#include "handles/attribute.h"

struct ckpt_attribute_functions {
    enum ckpt_language language;
    void *copy;   /* NULL: not copied */
    void *delete; /* NULL: nothing to call */
    void *extra;  /* extra state: a pointer, or the integer itself */
};

/*
 * Call the functions of `keyval` for an attribute of `handle`. The copy
 * function sets `flag`, and `out` if `flag` is true. Return the function's
 * error code. Context: normal, outside of begin/end.
 */
int ckpt_attribute_call_copy(const struct ckpt_attribute_functions *functions,
                             struct ckpt_handle *handle, int keyval,
                             struct ckpt_value *in, struct ckpt_value *out,
                             int *flag);
int ckpt_attribute_call_delete(const struct ckpt_attribute_functions *functions,
                               struct ckpt_handle *handle, int keyval,
                               struct ckpt_value *value);

#endif
