/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * info.c - functions on infos that MPI 4.0 has added (sections 10 and 11.2.1), by
 * means of those that every library has.
 */
#include "handles/handles.h"
#include "wrap/wrapper.h"

#include <string.h>

/* The value of a key that is set, as far as there is room. */
static int give_value(MPI_Info lower, const char *key, int room, char *value)
{
    char whole[MPI_MAX_INFO_VAL + 1];
    int code, flag;

    CKPT_CALL(code, Info_get, lower, key, MPI_MAX_INFO_VAL, whole, &flag);
    if (code == MPI_SUCCESS) {
        strncpy(value, whole, (size_t)room - 1);
        value[room - 1] = '\0';
    }
    return code;
}

int PMPI_Info_get_string(MPI_Info info, const char *key, int *buflen,
                         char *value, int *flag)
{
    static const char name[] = "MPI_Info_get_string";
    int code, length = 0;

    CKPT_REQUIRE(info != NULL && info != MPI_INFO_NULL, NULL, MPI_ERR_INFO, name);
    CKPT_REQUIRE(key != NULL && key[0] != '\0' &&
                     strlen(key) <= MPI_MAX_INFO_KEY,
                 NULL, MPI_ERR_INFO_KEY, name);
    CKPT_REQUIRE(buflen != NULL && *buflen >= 0 && flag != NULL, NULL,
                 MPI_ERR_ARG, name);
    CKPT_REQUIRE(value != NULL || *buflen == 0, NULL, MPI_ERR_INFO_VALUE, name);
    ckpt_begin();
    CKPT_CALL(code, Info_get_valuelen, CKPT_LOWER(info), key, &length, flag);
    if (code == MPI_SUCCESS && *flag) {
        if (*buflen > 0) {
            code = give_value(CKPT_LOWER(info), key, *buflen, value);
        }
        *buflen = length + 1;
    }
    CKPT_RETURN(NULL, code, name);
}
CKPT_ALIAS(Info_get_string);

static int set_unless_there(MPI_Info lower, const char *key, const char *value)
{
    int code, flag = 0, length;

    CKPT_CALL(code, Info_get_valuelen, lower, key, &length, &flag);
    if (code == MPI_SUCCESS && !flag && value[0] != '\0') {
        CKPT_CALL(code, Info_set, lower, key, value);
    }
    return code;
}

/* The arguments behind the program's name, as Open MPI joins them. */
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

/* What MPI_INFO_ENV says; and, where it is silent, what the arguments tell. */
int PMPI_Info_create_env(int argc, char *argv[], MPI_Info *info)
{
    static const char name[] = "MPI_Info_create_env";
    char text[MPI_MAX_INFO_VAL];
    MPI_Info lower = NULL;
    int code;

    CKPT_REQUIRE(info != NULL, NULL, MPI_ERR_INFO, name);
    ckpt_begin();
    CKPT_CALL(code, Info_dup, CKPT_LOWER(MPI_INFO_ENV), &lower);
    if (code == MPI_SUCCESS && argc > 0 && argv != NULL && argv[0] != NULL) {
        text[0] = '\0';
        strncat(text, argv[0], sizeof(text) - 1);
        code = set_unless_there(lower, "command", text);
        if (code == MPI_SUCCESS) {
            join(argv, argc, text, sizeof(text));
            code = set_unless_there(lower, "argv", text);
        }
    }
    if (code == MPI_SUCCESS) {
        *info = ckpt_adopt(CKPT_INFO, lower, name, CKPT_SITE);
    }
    CKPT_RETURN(NULL, code, name);
}
CKPT_ALIAS(Info_create_env);
