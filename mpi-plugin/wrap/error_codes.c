/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * error_codes.c - error classes and codes (MPI 3.1, section 8.4 and 8.5).
 *
 * The upper half alone keeps the codes that the application adds, so they
 * survive a restart. They begin after the last code of the library.
 */
#include "wrap/error_codes.h"

#include "wrap/wrapper.h"

#include <stdlib.h>
#include <string.h>

struct added_code {
    int class;
    char text[MPI_MAX_ERROR_STRING];
};

static struct added_code *added;
static int added_count;

int ckpt_error_last_used(void)
{
    return MPI_ERR_LASTCODE + added_count;
}

/* Returns the entry of a code that the application added, or NULL. */
static struct added_code *find(int code)
{
    int index = code - MPI_ERR_LASTCODE - 1;

    return index >= 0 && index < added_count ? &added[index] : NULL;
}

/* Adds an entry; if `class` is 0 the entry is its own class. Returns an MPI
 * error code. */
static int add(int class, int *code_p)
{
    struct added_code *larger =
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

int PMPI_Add_error_class(int *errorclass)
{
    CKPT_REQUIRE(errorclass != NULL, NULL, MPI_ERR_ARG, "MPI_Add_error_class");
    int code;

    ckpt_begin();
    code = add(0, errorclass);
    CKPT_RETURN(NULL, code, "MPI_Add_error_class");
}
CKPT_ALIAS(Add_error_class);

int PMPI_Add_error_code(int errorclass, int *errorcode)
{
    CKPT_REQUIRE(errorcode != NULL, NULL, MPI_ERR_ARG, "MPI_Add_error_code");
    const struct added_code *class;
    int code = MPI_ERR_ARG;

    ckpt_begin();
    class = find(errorclass);
    if ((errorclass >= 0 && errorclass <= MPI_ERR_LASTCODE) ||
        (class != NULL && class->class == errorclass)) {
        code = add(errorclass, errorcode);
    }
    CKPT_RETURN(NULL, code, "MPI_Add_error_code");
}
CKPT_ALIAS(Add_error_code);

int PMPI_Add_error_string(int errorcode, const char *string)
{
    struct added_code *entry;
    int code = MPI_ERR_ARG;

    ckpt_begin();
    entry = find(errorcode);
    if (entry != NULL && strlen(string) < sizeof(entry->text)) {
        strcpy(entry->text, string);
        code = MPI_SUCCESS;
    }
    CKPT_RETURN(NULL, code, "MPI_Add_error_string");
}
CKPT_ALIAS(Add_error_string);

int PMPI_Error_class(int errorcode, int *errorclass)
{
    const struct added_code *entry;
    int code = MPI_SUCCESS;

    ckpt_begin();
    entry = find(errorcode);
    if (entry != NULL) {
        *errorclass = entry->class;
    } else {
        CKPT_CALL(code, Error_class, errorcode, errorclass);
    }
    CKPT_RETURN(NULL, code, "MPI_Error_class");
}
CKPT_ALIAS(Error_class);

int PMPI_Error_string(int errorcode, char *string, int *resultlen)
{
    const struct added_code *entry;
    int code = MPI_SUCCESS;

    ckpt_begin();
    entry = find(errorcode);
    if (entry != NULL) {
        strcpy(string, entry->text);
        *resultlen = (int)strlen(string);
    } else {
        CKPT_CALL(code, Error_string, errorcode, string, resultlen);
    }
    CKPT_RETURN(NULL, code, "MPI_Error_string");
}
CKPT_ALIAS(Error_string);
