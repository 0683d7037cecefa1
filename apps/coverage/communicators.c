/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * communicators.c - making, comparing and naming communicators.
 */
#include "coverage.h"

enum {
    COPY,
    COPY_WITH_INFO,
    COPY_LATER,
    MADE,
    MADE_OF_GROUP,
    PART,
    NODE,
    INTER,
    MERGED,
    PARTED,
    COUNT
};

static MPI_Comm comms[COUNT];
static MPI_Fint number;

static void make_copies(void)
{
    MPI_Request request;
    MPI_Info info;

    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[COPY]);
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comms[COPY_WITH_INFO]);
    MPI_Comm_set_info(comms[COPY_WITH_INFO], info);
    MPI_Comm_idup(MPI_COMM_WORLD, &comms[COPY_LATER], &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[PARTED]);
    MPI_Info_free(&info);
}

static void begin(void)
{
    MPI_Group group;

    make_copies();
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Comm_create(MPI_COMM_WORLD, group, &comms[MADE]);
    MPI_Comm_create_group(MPI_COMM_WORLD, group, 3, &comms[MADE_OF_GROUP]);
    MPI_Group_free(&group);
    MPI_Comm_split(MPI_COMM_WORLD, this_rank, 0, &comms[PART]);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, OTHER,
                        MPI_INFO_NULL, &comms[NODE]);
    MPI_Intercomm_create(comms[PART], 0, MPI_COMM_WORLD, OTHER, 4,
                         &comms[INTER]);
    MPI_Intercomm_merge(comms[INTER], this_rank, &comms[MERGED]);
    MPI_Comm_set_name(comms[COPY], "copy of all");
    number = MPI_Comm_c2f(comms[INTER]);
}

static void check_size(int which, int expected_size, int expected_rank)
{
    int size = -1, rank = -1;

    MPI_Comm_size(comms[which], &size);
    MPI_Comm_rank(comms[which], &rank);
    CHECK(size == expected_size && rank == expected_rank);
}

/* Sends a message in each communicator, which detects an exchange of two
 * communicators. */
static void check_traffic(int which, int peer)
{
    int out = 100 * which + this_rank, in = -1;

    MPI_Sendrecv(&out, 1, MPI_INT, peer, 1, &in, 1, MPI_INT, peer, 1,
                 comms[which], MPI_STATUS_IGNORE);
    CHECK(in == 100 * which + OTHER);
}

static void check_inter(void)
{
    MPI_Group group;
    int flag = -1, size = -1;

    MPI_Comm_test_inter(comms[INTER], &flag);
    CHECK(flag == 1);
    MPI_Comm_test_inter(comms[MERGED], &flag);
    CHECK(flag == 0);
    MPI_Comm_remote_size(comms[INTER], &size);
    CHECK(size == 1);
    MPI_Comm_remote_group(comms[INTER], &group);
    MPI_Group_size(group, &size);
    CHECK(size == 1);
    MPI_Group_free(&group);
    CHECK(MPI_Comm_f2c(number) == comms[INTER]);
    check_traffic(INTER, 0);
}

static void check_names(void)
{
    char name[MPI_MAX_OBJECT_NAME] = "";
    MPI_Comm parent;
    MPI_Info info;
    int length = -1, result = -1;

    MPI_Comm_get_name(comms[COPY], name, &length);
    CHECK(strcmp(name, "copy of all") == 0 && length == (int)strlen(name));
    MPI_Comm_get_info(comms[COPY_WITH_INFO], &info);
    CHECK(info != MPI_INFO_NULL);
    MPI_Info_free(&info);
    MPI_Comm_compare(comms[COPY], MPI_COMM_WORLD, &result);
    CHECK(result == MPI_CONGRUENT);
    MPI_Comm_compare(comms[NODE], MPI_COMM_WORLD, &result);
    CHECK(result == MPI_SIMILAR);
    MPI_Comm_get_parent(&parent);
    CHECK(parent == MPI_COMM_NULL);
}

static void end(void)
{
    check_inter();
    check_names();
    check_size(PART, 1, 0);
    check_size(NODE, 2, OTHER);
    check_size(MERGED, 2, this_rank);
    check_traffic(NODE, this_rank);
    for (int i = COPY; i <= MADE_OF_GROUP; i++) {
        check_size(i, 2, this_rank);
        check_traffic(i, OTHER);
    }
    check_traffic(MERGED, OTHER);
    MPI_Comm_disconnect(&comms[PARTED]);
    CHECK(comms[PARTED] == MPI_COMM_NULL);
    for (int i = 0; i < PARTED; i++) {
        MPI_Comm_free(&comms[i]);
        CHECK(comms[i] == MPI_COMM_NULL);
    }
}

const struct section communicators_section = {"communicators", begin, end};
