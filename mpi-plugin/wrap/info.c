/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * info.c - info functions that MPI 4.0 added (sections 10 and 11.2.1), built on
 * the functions that every library has.
 */
#include "handles/early_info.h"
#include "handles/wrapper.h"

#include <string.h>

int PMPI_Info_get_string(MPI_Info info, const char *key, int *buflen,
                         char *value, int *flag)
{
    static const char name[] = "MPI_Info_get_string";
    char whole[MPI_MAX_INFO_VAL + 1];
    int code, length = 0;

    CKPT_REQUIRE(info != NULL && info != MPI_INFO_NULL, NULL, MPI_ERR_INFO, name);
    CKPT_REQUIRE(key != NULL && key[0] != '\0' &&
                     strlen(key) <= MPI_MAX_INFO_KEY,
                 NULL, MPI_ERR_INFO_KEY, name);
    CKPT_REQUIRE(buflen != NULL && *buflen >= 0 && flag != NULL, NULL,
                 MPI_ERR_ARG, name);
    CKPT_REQUIRE(value != NULL || *buflen == 0, NULL, MPI_ERR_INFO_VALUE, name);
    code = PMPI_Info_get_valuelen(info, key, &length, flag);
    if (code == MPI_SUCCESS && *flag && *buflen > 0) {
        code = PMPI_Info_get(info, key, MPI_MAX_INFO_VAL, whole, flag);
        if (code == MPI_SUCCESS) {
            strncpy(value, whole, (size_t)*buflen - 1);
            value[*buflen - 1] = '\0';
        }
    }
    if (code == MPI_SUCCESS && *flag) {
        *buflen = length + 1;
    }
    return code;
}
CKPT_ALIAS(Info_get_string);

static int set_unless_there(MPI_Info info, const char *key, const char *value)
{
    int flag = 0, length;
    int code = PMPI_Info_get_valuelen(info, key, &length, &flag);

    if (code == MPI_SUCCESS && !flag && value[0] != '\0') {
        code = PMPI_Info_set(info, key, value);
    }
    return code;
}

/* Joins the arguments after the program's name, as Open MPI does. */
static void join(char *argv[], int argc, char *text, size_t room)
{
    size_t used = 0;

    text[0] = '\0';
    for (int i = 1; i < argc && argv[i] != NULL; i++) {
        const size_t length = strlen(argv[i]) + (used > 0);

        if (used + length >= room) {
            break;
        }
        if (used > 0) {
            strcat(text, " ");
        }
        strcat(text, argv[i]);
        used += length;
    }
}

/* Returns MPI_INFO_ENV's values, and takes missing ones from the arguments. */
int PMPI_Info_create_env(int argc, char *argv[], MPI_Info *info)
{
    char text[MPI_MAX_INFO_VAL] = "";
    int code;

    CKPT_REQUIRE(info != NULL, NULL, MPI_ERR_INFO, "MPI_Info_create_env");
    code = ckpt_info_is_early() ? PMPI_Info_create(info)
                                : PMPI_Info_dup(MPI_INFO_ENV, info);
    if (code == MPI_SUCCESS && argc > 0 && argv != NULL && argv[0] != NULL) {
        strncat(text, argv[0], sizeof(text) - 1);
        code = set_unless_there(*info, "command", text);
        if (code == MPI_SUCCESS) {
            join(argv, argc, text, sizeof(text));
            code = set_unless_there(*info, "argv", text);
        }
    }
    return code;
}
CKPT_ALIAS(Info_create_env);
