/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * guest_variables.c - the part of lower_guest that stands for Open MPI's variables. The texts are
 * those of ompi_info.
 *
 * guest_case chooses among the lists of variables below.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GUEST __attribute__((visibility("default")))

struct variable {
    const char *name;
    const char *value;
    const char *source;
    const char *synonym; /* the variable that this one is another name of, or NULL */
    int is_closed;       /* its component was closed */
};

#define LONG "a_component_whose_name_is_so_long_that_only_some_of_its_kind_fit"
static const struct variable lists[][12] = {
    {
        {"mca_base_param_files", "/a (b)/x.conf,/c/y.conf", "default", NULL, 0},
        {"mca_base_override_param_file", "/c/z.conf", "file (/d/e.conf:4)", NULL, 0},
        {"btl", "^two,three", "environment", NULL, 0},
        {"btl_self_major_version", "5", "default", NULL, 0},
        {"btl_sm_major_version", "5", "default", NULL, 0},
        {"btl_vader_major_version", "5", "default", "btl_sm_major_version", 0},
        {"btl_gone_major_version", "5", "default", NULL, 1},
        {"btl_two_words_major_version", "5", "default", NULL, 0},
        {"pml_ob1_priority", "20", "default", NULL, 0},
        {"pml_ob1_major_version", "5", "default", NULL, 0},
        {"pmlx_ob2_major_version", "5", "default", NULL, 0},
    },
    {
        {"pml_" LONG "1_major_version", "4", "default", NULL, 0},
        {"pml_" LONG "2_major_version", "4", "default", NULL, 0},
        {"pml_" LONG "3_major_version", "4", "default", NULL, 0},
        {"pml_" LONG "4_major_version", "4", "default", NULL, 0},
        {"pml_" LONG "5_major_version", "4", "default", NULL, 0},
        {"pml_" LONG "6_major_version", "4", "default", NULL, 0},
        {"pml_" LONG "7_major_version", "4", "default", NULL, 0},
        {"pml_" LONG "8_major_version", "4", "default", NULL, 0},
    },
    {{"mca_base_param_files", "\"a:b\"", "default", NULL, 0}},
};

GUEST int guest_case;

int mca_base_var_get_count(void);
int mca_base_var_dump(int index, char ***lines, int type);

GUEST int mca_base_var_get_count(void)
{
    int count = 0;

    while (count < 12 && lists[guest_case][count].name != NULL) {
        count++;
    }
    return count;
}

GUEST int mca_base_var_dump(int index, char ***lines, int type)
{
    const struct variable *variable = &lists[guest_case][index];
    char text[256];

    if (variable->is_closed) {
        return -13;
    }
    *lines = calloc(3, sizeof(char *));
    if (type == 2) {
        snprintf(text, sizeof(text), "%s=%s (%s)", variable->name, variable->value,
                 variable->source);
        (*lines)[0] = strdup(text);
        return 0;
    }
    snprintf(text, sizeof(text), "mca:framework:component:param:%s:value:%s", variable->name,
             variable->value);
    (*lines)[0] = strdup(text);
    if (variable->synonym != NULL) {
        snprintf(text, sizeof(text), "mca:framework:component:param:%s:synonym_of:name:%s",
                 variable->name, variable->synonym);
        (*lines)[1] = strdup(text);
    }
    return 0;
}

GUEST int guest_variable(const char *name, const char *value);

/* Returns 1 if the environment of this half has the value. */
GUEST int guest_variable(const char *name, const char *value)
{
    const char *found = getenv(name);

    return found != NULL && strcmp(found, value) == 0;
}

GUEST int guest_end(int code);

/* Ends the process as a library does that cannot go on. */
GUEST int guest_end(int code)
{
    exit(code);
}

int PMIx_Abort(int status, const char message[], void *processes, size_t count); /* ckpt-host's */

GUEST int guest_give_up(int code);

/* Ends the job as Open MPI does. */
GUEST int guest_give_up(int code)
{
    return PMIx_Abort(code, "a peer has gone", NULL, 0);
}
