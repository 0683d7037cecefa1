/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * infos.c - MPI_Info_get_string, MPI_Info_create_env, MPI_Comm_idup_with_info that not all ranks
 * have called, statuses of mpi_f08, and the objects that Open MPI 5.0 has added.
 */
#include "probes/probe.h"

static MPI_Info made, from_arguments;

static void check_made(void)
{
    char value[20] = "untouched";
    int length = 0, flag = 0;

    MPI_Info_get_string(made, "key", &length, NULL, &flag);
    CHECK(flag && length == (int)sizeof("a value"));
    MPI_Info_get_string(made, "key", &length, value, &flag);
    CHECK(flag && strcmp(value, "a value") == 0);
    length = 4;
    MPI_Info_get_string(made, "key", &length, value, &flag);
    CHECK(flag && strcmp(value, "a v") == 0 && length == (int)sizeof("a value"));
    MPI_Info_get_string(made, "no such key", &length, value, &flag);
    CHECK(!flag && strcmp(value, "a v") == 0);
}

static void check_arguments(const char *program)
{
    char value[MPI_MAX_INFO_VAL + 1] = "";
    int length = sizeof value, flag = 0;

    MPI_Info_get_string(from_arguments, "command", &length, value, &flag);
    CHECK(flag && strstr(value, strrchr(program, '/') + 1) != NULL);
}

static void check_statuses(void)
{
    MPI_Fint fortran[MPI_F_STATUS_SIZE], back[MPI_F_STATUS_SIZE];
    MPI_Status status = {.MPI_SOURCE = 3, .MPI_TAG = 4, .MPI_ERROR = 5}, again;
    MPI_F08_status first, second;
    MPI_Count count = -1;

    MPI_Status_set_elements_x(&status, MPI_DOUBLE, 6);
    MPI_Status_set_cancelled(&status, 0);
    MPI_Status_c2f(&status, fortran);
    MPI_Status_c2f08(&status, &first);
    CHECK(first.MPI_SOURCE == 3 && first.MPI_TAG == 4 && first.MPI_ERROR == 5);
    MPI_Status_f2f08(fortran, &second);
    CHECK(memcmp(&first, &second, sizeof first) == 0);
    MPI_Status_f082f(&first, back);
    CHECK(memcmp(fortran, back, sizeof fortran) == 0);
    MPI_Status_f082c(&second, &again);
    MPI_Get_elements_x(&again, MPI_DOUBLE, &count);
    CHECK(count == 6 && again.MPI_SOURCE == 3 && again.MPI_TAG == 4);
}

int main(int argc, char **argv)
{
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Request request;
    MPI_Errhandler handler;
    int result, sum;

    probe_begin(argc, argv, 2);
    MPI_Info_create(&made);
    MPI_Info_set(made, "key", "a value");
    MPI_Info_create_env(argc, argv, &from_arguments);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ABORT);
    if (probe_rank == 0) {
        MPI_Comm_idup_with_info(MPI_COMM_WORLD, made, &comm, &request);
    }
    check_made();
    check_arguments(argv[0]);
    probe_gate();
    if (probe_rank == 1) {
        MPI_Comm_idup_with_info(MPI_COMM_WORLD, made, &comm, &request);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_compare(comm, MPI_COMM_WORLD, &result);
    CHECK(result == MPI_CONGRUENT);
    MPI_Allreduce(&probe_rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK(sum == 1);
    MPI_Comm_free(&comm);
    check_made();
    check_arguments(argv[0]);
    check_statuses();
    MPI_Comm_get_errhandler(MPI_COMM_SELF, &handler);
    CHECK(handler == MPI_ERRORS_ABORT);
    MPI_Info_free(&made);
    MPI_Info_free(&from_arguments);
    return probe_end();
}
