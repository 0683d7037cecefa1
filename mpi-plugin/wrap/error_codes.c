/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * error_codes.c - error classes and codes (MPI 3.1, section 8.4 and 8.5).
 */
#include "handles/error_codes.h"

#include "handles/wrapper.h"

#include <string.h>

int PMPI_Add_error_class(int *errorclass)
{
    CKPT_REQUIRE(errorclass != NULL, NULL, MPI_ERR_ARG, "MPI_Add_error_class");
    int code;

    ckpt_begin();
    code = ckpt_error_add(0, errorclass);
    CKPT_RETURN(NULL, code, "MPI_Add_error_class");
}
CKPT_ALIAS(Add_error_class);

int PMPI_Add_error_code(int errorclass, int *errorcode)
{
    CKPT_REQUIRE(errorcode != NULL, NULL, MPI_ERR_ARG, "MPI_Add_error_code");
    const struct ckpt_error_code *class;
    int code = MPI_ERR_ARG;

    ckpt_begin();
    class = ckpt_error_find(errorclass);
    if ((errorclass >= 0 && errorclass <= MPI_ERR_LASTCODE) ||
        (class != NULL && class->class == errorclass)) {
        code = ckpt_error_add(errorclass, errorcode);
    }
    CKPT_RETURN(NULL, code, "MPI_Add_error_code");
}
CKPT_ALIAS(Add_error_code);

int PMPI_Add_error_string(int errorcode, const char *string)
{
    struct ckpt_error_code *entry;
    int code = MPI_ERR_ARG;

    ckpt_begin();
    entry = ckpt_error_find(errorcode);
    if (entry != NULL && strlen(string) < sizeof(entry->text)) {
        strcpy(entry->text, string);
        code = MPI_SUCCESS;
    }
    CKPT_RETURN(NULL, code, "MPI_Add_error_string");
}
CKPT_ALIAS(Add_error_string);

int PMPI_Error_class(int errorcode, int *errorclass)
{
    const struct ckpt_error_code *entry;
    int code = MPI_SUCCESS;

    ckpt_begin();
    entry = ckpt_error_find(errorcode);
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
    int code;

    ckpt_begin();
    code = ckpt_error_string(errorcode, string, resultlen);
    CKPT_RETURN(NULL, code, "MPI_Error_string");
}
CKPT_ALIAS(Error_string);
