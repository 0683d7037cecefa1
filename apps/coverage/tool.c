/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tool.c - the tool information interface: control and performance variables,
 * enumerations, categories.
 */
#include "coverage.h"

#define NAME 256

static int changed_before;

/* Reads a control variable's value and writes it back. */
static void check_variables(void)
{
    MPI_T_cvar_handle handle;
    MPI_T_enum choices;
    MPI_Datatype type;
    char name[NAME], text[4096], value[65536];
    int count = -1, length = NAME, text_length = sizeof text;
    int verbosity, bind, scope, index = -1;

    MPI_T_cvar_get_num(&count);
    CHECK(count > 0);
    MPI_T_cvar_get_index("mpi_param_check", &index);
    CHECK(index >= 0 && index < count);
    MPI_T_cvar_get_info(index, name, &length, &verbosity, &type, &choices, text,
                        &text_length, &bind, &scope);
    CHECK(strcmp(name, "mpi_param_check") == 0);
    CHECK(bind == MPI_T_BIND_NO_OBJECT);
    CHECK(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) == MPI_SUCCESS);
    CHECK(count == 1);
    CHECK(MPI_T_cvar_read(handle, value) == MPI_SUCCESS);
    (void)MPI_T_cvar_write(handle, value); /* may be read-only by now */
    CHECK(MPI_T_cvar_handle_free(&handle) == MPI_SUCCESS);
    if (choices != MPI_T_ENUM_NULL) {
        length = NAME;
        MPI_T_enum_get_info(choices, &count, name, &length);
        CHECK(count > 0);
        length = NAME;
        MPI_T_enum_get_item(choices, 0, &index, name, &length);
    }
}

/* Not every counter can be stopped or written; the others return an error. */
static void use_counter(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    uint64_t value[64];

    (void)MPI_T_pvar_start(session, handle);
    (void)MPI_T_pvar_read(session, handle, value);
    (void)MPI_T_pvar_write(session, handle, value);
    (void)MPI_T_pvar_reset(session, handle);
    (void)MPI_T_pvar_readreset(session, handle, value);
    (void)MPI_T_pvar_stop(session, handle);
}

/* Returns 1 if the counter was used: counters of unused components cannot be.
 * One of those crashes Open MPI 4.1 (mtl_psm2_...). */
static int check_counter(int index)
{
    MPI_Comm self = MPI_COMM_SELF;
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    MPI_Datatype type;
    MPI_T_enum choices;
    char name[NAME], text[4096];
    int class, length = NAME, text_length = sizeof text, verbosity, bind;
    int readonly, continuous, atomic, found = -1, count = -1, used;

    MPI_T_pvar_get_info(index, name, &length, &verbosity, &class, &type,
                        &choices, text, &text_length, &bind, &readonly,
                        &continuous, &atomic);
    CHECK(MPI_T_pvar_get_index(name, class, &found) == MPI_SUCCESS);
    CHECK(found >= 0); /* names need not be unique in Open MPI */
    CHECK(MPI_T_pvar_session_create(&session) == MPI_SUCCESS);
    used = (bind == MPI_T_BIND_NO_OBJECT || bind == MPI_T_BIND_MPI_COMM) &&
           strncmp(name, "mtl_", 4) != 0 &&
           MPI_T_pvar_handle_alloc(session, index, &self, &handle, &count) ==
               MPI_SUCCESS;
    if (used) {
        use_counter(session, handle);
        CHECK(MPI_T_pvar_handle_free(session, &handle) == MPI_SUCCESS);
    }
    CHECK(MPI_T_pvar_session_free(&session) == MPI_SUCCESS);
    return used;
}

static void check_categories(void)
{
    char name[NAME], text[4096];
    int count = -1, index = -1, stamp = -1, length = NAME;
    int text_length = sizeof text, cvars, pvars, inner, list[4];

    MPI_T_category_get_num(&count);
    CHECK(count > 0);
    MPI_T_category_get_info(0, name, &length, text, &text_length, &cvars,
                            &pvars, &inner);
    CHECK(MPI_T_category_get_index(name, &index) == MPI_SUCCESS && index == 0);
    CHECK(MPI_T_category_get_cvars(0, 4, list) == MPI_SUCCESS);
    CHECK(MPI_T_category_get_pvars(0, 4, list) == MPI_SUCCESS);
    CHECK(MPI_T_category_get_categories(0, 4, list) == MPI_SUCCESS);
    CHECK(MPI_T_category_changed(&stamp) == MPI_SUCCESS);
    CHECK(stamp >= changed_before);
}

static void begin(void)
{
    int provided = -1, counters = -1, used = 0;

    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    CHECK(provided >= MPI_THREAD_SINGLE);
    check_variables();
    MPI_T_pvar_get_num(&counters);
    CHECK(counters > 0);
    for (int i = 0; i < counters; i++) {
        used += check_counter(i);
    }
    CHECK(used > 0);
    check_categories();
    CHECK(MPI_T_finalize() == MPI_SUCCESS);
}

static void end(void)
{
    begin();
}

const struct section tool_section = {"tool", begin, end};
