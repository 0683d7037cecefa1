/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * components.c - the components that the former world has chosen.
 */
#include "start/components.h"

#include "base/invariant.h"
#include "base/text.h"
#include "lower/components.h"
#include "runtime/runtime.h"
#include "start/surroundings.h"
#include "sys/syscall.h"

#include <mpi.h>
#include <string.h>

#define SYSTEM         "/sys"
#define PARAMETER      "OMPI_MCA_"
#define SETTING        "CKPT_COMPONENTS"        /* --components */
#define HAS_FAILED     "CKPT_COMPONENTS_FAILED" /* set by `ckpt run` */
#define WITH_TRANSPORT "cm"                     /* the only pml above an mtl */

/* In the image. known: the other fields are valid. */
static struct {
    int known;
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    struct ckpt_surroundings surroundings;
    struct ckpt_components components;
} former;

static char line[2 * CKPT_COMPONENT_NAMES_SIZE];
static const char *volatile last_words;

/* Gets the version text of the library that is loaded; "": unknown. */
static void read_version(char *version)
{
    int code, length;

    CKPT_CALL(code, Get_library_version, version, &length);
    if (code != MPI_SUCCESS) {
        version[0] = '\0';
    }
}

/* Returns 1 if there is exactly one name. */
static int is_one(const char *names)
{
    return names[0] != '\0' && strchr(names, ',') == NULL;
}

/* Returns 1 if the names are those of a library after MPI_Init: one way to send messages. */
static int are_complete(const struct ckpt_components *found)
{
    const char *pml = found->names[CKPT_FRAMEWORK_PML];

    return is_one(pml) && (!ckpt_text_equal(pml, WITH_TRANSPORT) ||
                           is_one(found->names[CKPT_FRAMEWORK_MTL]));
}

void ckpt_components_learn(void)
{
    uintptr_t upper;
    int error;

    CKPT_INVARIANT(ckpt_lower.components != NULL);
    former.known = 0;
    upper = ckpt_enter();
    error = ckpt_lower.components(&former.components);
    ckpt_leave(upper);
    if (error != 0 || !are_complete(&former.components)) {
        return;
    }
    read_version(former.library);
    former.known = former.library[0] != '\0' &&
                   ckpt_surroundings_read(ckpt_runtime_environment(), former.components.files,
                                          SYSTEM, &former.surroundings);
}

static int is_wanted(void)
{
    const char *setting = ckpt_runtime_getenv(SETTING);

    return (setting == NULL || strcmp(setting, "search") != 0) &&
           ckpt_runtime_getenv(HAS_FAILED) == NULL;
}

static int is_same(void)
{
    static char version[MPI_MAX_LIBRARY_VERSION_STRING];
    struct ckpt_surroundings now;

    read_version(version);
    return version[0] != '\0' && strcmp(version, former.library) == 0 &&
           ckpt_surroundings_read(ckpt_runtime_environment(), former.components.files, SYSTEM,
                                  &now) &&
           ckpt_surroundings_equal(&now, &former.surroundings);
}

/* Names the components of a framework. Returns 1 if the library will use them: it has the names, or
 * the user's. */
static int name_framework(enum ckpt_framework framework)
{
    const char *names = former.components.names[framework];
    char variable[sizeof(PARAMETER) + 8];
    uintptr_t upper;
    int error;

    ckpt_text_format(variable, sizeof(variable), PARAMETER "%s", ckpt_framework_name(framework));
    if (names[0] == '\0' || ckpt_runtime_getenv(variable) != NULL) {
        return 1;
    }
    upper = ckpt_enter();
    error = ckpt_lower.set_variable(variable, names);
    ckpt_leave(upper);
    return error == 0;
}

const char *const volatile *ckpt_components_last_words(void)
{
    return &last_words;
}

static void prepare_last_words(void)
{
    const char *mtl = former.components.names[CKPT_FRAMEWORK_MTL];

    ckpt_text_format(line, sizeof(line),
                     "ckpt: the MPI library fails with the components of the former world (pml %s, "
                     "btl %s%s%s); a restart with --components search looks for others\n",
                     former.components.names[CKPT_FRAMEWORK_PML],
                     former.components.names[CKPT_FRAMEWORK_BTL], mtl[0] == '\0' ? "" : ", mtl ",
                     mtl);
    last_words = line;
}

int ckpt_components_name(void)
{
    if (!former.known || !is_wanted() || !is_same()) {
        return 0;
    }
    CKPT_INVARIANT(are_complete(&former.components));
    for (enum ckpt_framework i = 0; i < CKPT_FRAMEWORKS; i++) {
        if ((i != CKPT_FRAMEWORK_MTL ||
             ckpt_text_equal(former.components.names[CKPT_FRAMEWORK_PML], WITH_TRANSPORT)) &&
            !name_framework(i)) {
            return 0; /* the library searches for this one */
        }
    }
    prepare_last_words();
    return 1;
}

void ckpt_components_named(int code)
{
    CKPT_INVARIANT(last_words != NULL); /* after ckpt_components_name() */
    if (code != MPI_SUCCESS) {
        (void)ckpt_sys_write(2, line, ckpt_text_length(line));
    }
    last_words = NULL;
}
