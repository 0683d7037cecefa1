/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * environment.c - the library itself, time, memory, addresses, error codes.
 */
#include "coverage.h"

static double started;
static int *memory;
static int error_class, error_code;

static void check_library(void)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int major = 0, minor = -1, length = 0, level = -1, flag = 0;

    MPI_Get_version(&major, &minor);
    CHECK(major >= 3 && minor >= 0);
    MPI_Get_library_version(text, &length);
    CHECK(length > 0 && strstr(text, "Open MPI") != NULL);
    MPI_Get_processor_name(text, &length);
    CHECK(length > 0 && strlen(text) == (size_t)length);
    MPI_Query_thread(&level);
    CHECK(level >= MPI_THREAD_SINGLE && level <= MPI_THREAD_MULTIPLE);
    MPI_Is_thread_main(&flag);
    CHECK(flag == 1);
    MPI_Initialized(&flag);
    CHECK(flag == 1);
    MPI_Finalized(&flag);
    CHECK(flag == 0);
    CHECK(MPI_Pcontrol(1) == MPI_SUCCESS);
}

static void check_addresses(void)
{
    int numbers[4] = {0};
    MPI_Aint first = 0, last = 0, old = 0;

    MPI_Get_address(&numbers[0], &first);
    MPI_Get_address(&numbers[3], &last);
    MPI_Address(&numbers[3], &old);
    CHECK(old == last);
    CHECK(MPI_Aint_diff(last, first) == 3 * (MPI_Aint)sizeof(int));
    CHECK(MPI_Aint_add(first, 3 * sizeof(int)) == last);
}

static void begin(void)
{
    started = MPI_Wtime();
    MPI_Alloc_mem(100 * sizeof *memory, MPI_INFO_NULL, &memory);
    fill(memory, 100 * sizeof *memory, 5);
    MPI_Add_error_class(&error_class);
    MPI_Add_error_code(error_class, &error_code);
    MPI_Add_error_string(error_code, "made by the coverage program");
    check_library();
    check_addresses();
}

static void end(void)
{
    char text[MPI_MAX_ERROR_STRING];
    int class = -1, length = 0;

    CHECK(MPI_Wtime() >= started);
    CHECK(MPI_Wtick() > 0 && MPI_Wtick() < 1);
    CHECK(is_filled(memory, 100 * sizeof *memory, 5));
    MPI_Free_mem(memory);
    MPI_Error_class(error_code, &class);
    CHECK(class == error_class);
    MPI_Error_class(MPI_ERR_TAG, &class);
    CHECK(class == MPI_ERR_TAG);
    MPI_Error_string(error_code, text, &length);
    CHECK(strcmp(text, "made by the coverage program") == 0);
    MPI_Error_string(MPI_ERR_RANK, text, &length);
    CHECK(length > 0 && strlen(text) == (size_t)length);
    check_library();
    check_addresses();
}

const struct section environment_section = {"environment", begin, end};
