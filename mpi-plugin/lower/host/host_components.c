/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_components.c - the components that Open MPI has open.
 *
 * Each open component has the variable FRAMEWORK_COMPONENT_major_version; a component that is
 * closed loses its variables. These are the variables of MPI_T. They are read as ompi_info reads
 * them, because MPI_T_init_thread opens every component of every framework (Open MPI 4.1: 215 ms).
 */
#include "config.h"
#include "lower/host/host_components.h"

#include "base/invariant.h"
#include "base/text.h"
#include "lower/host/host_library.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* mca_base_var_dump_type_t: lines of ompi_info --parsable, or one line NAME=VALUE (SOURCE). */
enum {
    DUMP_PARSABLE = 1,
    DUMP_SIMPLE = 2,
};

static struct {
    int (*count)(void);
    int (*dump)(int index, char ***lines, int type);
} variables;

static int open_variables(void)
{
    *(void **)&variables.count = ckpt_host_library_function("mca_base_var_get_count");
    *(void **)&variables.dump = ckpt_host_library_function("mca_base_var_dump");
    return variables.count != NULL && variables.dump != NULL;
}

static void free_lines(char **lines)
{
    for (char **line = lines; *line != NULL; line++) {
        free(*line);
    }
    free(lines);
}

/* Returns the lines about a variable, which the caller frees; NULL if it is no longer valid. */
static char **describe(int index, int type)
{
    char **lines = NULL;

    if (variables.dump(index, &lines, type) != 0) {
        return NULL;
    }
    if (lines != NULL && lines[0] == NULL) {
        free_lines(lines);
        lines = NULL;
    }
    return lines;
}

/* Returns 1 if the variable is another name of one that counts already: Open MPI 5 has btl_vader
 * for btl_sm. */
static int is_synonym(int index)
{
    char **lines = describe(index, DUMP_PARSABLE);
    int found = 0;

    if (lines == NULL) {
        return 1;
    }
    for (char **line = lines; *line != NULL; line++) {
        found = found || strstr(*line, ":synonym_of:") != NULL;
    }
    free_lines(lines);
    return found;
}

/* Appends to a list with commas. Returns 0 or -E2BIG. */
static int append(char *list, size_t size, const char *text, size_t length)
{
    const size_t used = strlen(list);
    const size_t comma = used > 0;

    CKPT_INVARIANT(used < size);
    if (length == 0 || used + comma + length + 1 > size) {
        return length == 0 ? 0 : -E2BIG;
    }
    if (comma) {
        list[used] = ',';
    }
    memcpy(list + used + comma, text, length);
    list[used + comma + length] = '\0';
    return 0;
}

/* Takes the component from FRAMEWORK_COMPONENT_major_version=N (SOURCE). */
static int take_component(int index, const char *line, struct ckpt_components *found)
{
    static const char suffix[] = "_major_version=";
    const char *end = strstr(line, suffix);

    for (enum ckpt_framework i = 0; end != NULL && i < CKPT_FRAMEWORKS; i++) {
        const char *framework = ckpt_framework_name(i);
        const char *name = line + strlen(framework) + 1;

        if (ckpt_text_starts(line, framework) && name[-1] == '_' && name < end &&
            !is_synonym(index)) {
            return append(found->names[i], sizeof(found->names[i]), name, (size_t)(end - name));
        }
    }
    return 0;
}

/* Appends the value of a variable to found->files. Its line is ...:VARIABLE:value:VALUE; a value
 * with colons is in quotes. */
static int take_value(int index, struct ckpt_components *found)
{
    static const char before[] = ":value:";
    char **lines = describe(index, DUMP_PARSABLE);
    int error = -EPROTO;

    for (char **line = lines; line != NULL && *line != NULL && error != 0; line++) {
        const char *value = strstr(*line, before);

        if (value != NULL && value[strlen(before)] != '"') {
            value += strlen(before);
            error = append(found->files, sizeof(found->files), value, strlen(value));
        }
    }
    if (lines != NULL) {
        free_lines(lines);
    }
    return error;
}

/* Takes the paths of the variables that hold such. */
static int take_files(int index, const char *line, struct ckpt_components *found)
{
    static const char *const names[] = {"mca_base_param_files=", "mca_base_override_param_file="};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (ckpt_text_starts(line, names[i])) {
            return take_value(index, found);
        }
    }
    return 0;
}

int ckpt_host_components(struct ckpt_components *found)
{
    int count, error = 0;

    memset(found, 0, sizeof(*found));
    if (!open_variables()) {
        return -ENOTSUP;
    }
    count = variables.count();
    for (int i = 0; i < count && error == 0; i++) {
        char **lines = describe(i, DUMP_SIMPLE);

        if (lines == NULL) {
            continue;
        }
        error = take_component(i, lines[0], found);
        if (error == 0) {
            error = take_files(i, lines[0], found);
        }
        free_lines(lines);
    }
    return error;
}

int ckpt_host_set_variable(const char *name, const char *value)
{
    CKPT_INVARIANT(name[0] != '\0' && strchr(name, '=') == NULL);
    return setenv(name, value, 1) == 0 ? 0 : -errno;
}
