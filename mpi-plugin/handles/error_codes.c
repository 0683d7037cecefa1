/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * error_codes.c - the error classes and codes that the application adds (MPI 3.1,
 * section 8.5).
 *
 * The upper half alone keeps the codes that the application adds, so they
 * survive a restart. They begin after the last code of the library.
 */
#include "handles/error_codes.h"

#include "runtime/crossing.h"

#include <stdlib.h>
#include <string.h>

static struct ckpt_error_code *added;
static int added_count;

int ckpt_error_last_used(void)
{
    return MPI_ERR_LASTCODE + added_count;
}

struct ckpt_error_code *ckpt_error_find(int code)
{
    int index = code - MPI_ERR_LASTCODE - 1;

    return index >= 0 && index < added_count ? &added[index] : NULL;
}

int ckpt_error_add(int class, int *code_p)
{
    struct ckpt_error_code *larger =
        realloc(added, (size_t)(added_count + 1) * sizeof(*added));

    if (larger == NULL) {
        return MPI_ERR_NO_MEM;
    }
    added = larger;
    memset(&added[added_count], 0, sizeof(*added));
    added_count++;
    *code_p = ckpt_error_last_used();
    added[added_count - 1].class = class == 0 ? *code_p : class;
    return MPI_SUCCESS;
}

int ckpt_error_string(int code, char *text, int *length_p)
{
    const struct ckpt_error_code *entry = ckpt_error_find(code);
    int result = MPI_SUCCESS;

    if (entry != NULL) {
        strcpy(text, entry->text);
        *length_p = (int)strlen(text);
    } else {
        CKPT_CALL(result, Error_string, code, text, length_p);
    }
    return result;
}
