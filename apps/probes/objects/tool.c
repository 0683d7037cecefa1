/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tool.c - the tool information interface, opened before MPI_Init: a control
 * variable with its choices, and a performance variable of a communicator.
 */
#include "probes/probe.h"

#define NAME 256

static MPI_T_cvar_handle checks;
static MPI_T_enum choices;
static MPI_T_pvar_session session;
static MPI_T_pvar_handle queue;

static void open_control(void)
{
    MPI_Datatype type;
    char name[NAME];
    int index, count, length = NAME, verbosity, bind, scope;

    CHECK(MPI_T_cvar_get_index("mpi_param_check", &index) == MPI_SUCCESS);
    CHECK(MPI_T_cvar_get_info(index, name, &length, &verbosity, &type, &choices,
                              NULL, NULL, &bind, &scope) == MPI_SUCCESS);
    CHECK(strcmp(name, "mpi_param_check") == 0 && choices != MPI_T_ENUM_NULL);
    CHECK(MPI_T_cvar_handle_alloc(index, NULL, &checks, &count) == MPI_SUCCESS);
}

static void open_performance(MPI_Comm comm)
{
    int index, count;

    CHECK(MPI_T_pvar_session_create(&session) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_get_index("pml_ob1_unexpected_msgq_length",
                               MPI_T_PVAR_CLASS_SIZE, &index) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_handle_alloc(session, index, &comm, &queue, &count) ==
          MPI_SUCCESS);
    CHECK(count == probe_size);
    MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES);
}

int main(int argc, char **argv)
{
    unsigned lengths[2] = {99, 99};
    char name[NAME], value[64] = {99}; /* Open MPI 4.1 writes a bool */
    int provided, count = -1, length = NAME;
    MPI_Comm comm;

    CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS);
    open_control();
    probe_begin(argc, argv, 2);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    open_performance(comm);
    probe_gate();
    CHECK(MPI_T_cvar_read(checks, value) == MPI_SUCCESS);
    CHECK(value[0] == 0 || value[0] == 1);
    CHECK(MPI_T_enum_get_info(choices, &count, name, &length) == MPI_SUCCESS);
    CHECK(count >= 2);
    CHECK(MPI_T_pvar_read(session, queue, lengths) == MPI_SUCCESS);
    CHECK(lengths[0] == 0 && lengths[1] == 0);
    CHECK(MPI_T_pvar_handle_free(session, &queue) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_session_free(&session) == MPI_SUCCESS);
    CHECK(MPI_T_cvar_handle_free(&checks) == MPI_SUCCESS);
    MPI_Comm_free(&comm);
    MPI_T_finalize();
    return probe_end();
}
