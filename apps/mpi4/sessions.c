/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sessions.c - two sessions without MPI_Init, and a third one while MPI_COMM_WORLD exists: their
 * groups, communicators, error handlers and infos, with a message and a collective under way.
 */
#include "probes/probe.h"

static MPI_Info made;
static MPI_Session first, second;
static MPI_Errhandler handler;
static MPI_Group everybody;
static MPI_Comm all, own, inter;
static int calls;

static void count_calls(MPI_Session *session, int *code, ...)
{
    (void)session, (void)code; /* Open MPI 5.0 returns wrong ones */
    calls++;
}

/* Calls that are allowed before any initialisation. */
static void check_early(void)
{
    char value[MPI_MAX_INFO_VAL + 1], key[MPI_MAX_INFO_KEY + 1];
    MPI_Info copy;
    int flag, length, count;

    MPI_Initialized(&flag);
    CHECK(!flag);
    MPI_Info_create(&made);
    MPI_Info_set(made, "thread_level", "MPI_THREAD_FUNNELED");
    MPI_Info_set(made, "unwanted", "1");
    MPI_Info_set(made, "kept", "a");
    MPI_Info_set(made, "kept", "bc");
    MPI_Info_delete(made, "unwanted");
    MPI_Info_dup(made, &copy);
    MPI_Info_set(copy, "more", "x");
    MPI_Info_get_nkeys(made, &count);
    CHECK(count == 2);
    MPI_Info_get_nkeys(copy, &count);
    CHECK(count == 3);
    MPI_Info_get_nthkey(copy, 0, key);
    CHECK(strcmp(key, "thread_level") == 0);
    MPI_Info_get(made, "kept", MPI_MAX_INFO_VAL, value, &flag);
    CHECK(flag && strcmp(value, "bc") == 0);
    MPI_Info_get_valuelen(made, "kept", &length, &flag);
    CHECK(flag && length == 2);
    MPI_Info_get(made, "unwanted", MPI_MAX_INFO_VAL, value, &flag);
    CHECK(!flag);
    MPI_Info_set(copy, "unwanted", "longer than what is set next");
    MPI_Info_set(copy, "last", "its bytes must not remain behind it");
    MPI_Info_delete(copy, "unwanted");
    MPI_Info_set(copy, "new", "y");
    MPI_Info_get_nkeys(copy, &count);
    CHECK(count == 5);
    MPI_Info_free(&copy);
    CHECK(copy == MPI_INFO_NULL);
    MPI_Session_create_errhandler((MPI_Session_errhandler_function *)count_calls,
                                  &handler);
}

static void check_sets(MPI_Session session)
{
    char name[MPI_MAX_PSET_NAME_LEN], size[16];
    int count = 0, length = 0, flag, world = 0;
    MPI_Info info;

    MPI_Session_get_num_psets(session, MPI_INFO_NULL, &count);
    CHECK(count >= 2);
    for (int i = 0; i < count; i++) {
        length = 0;
        MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, NULL);
        CHECK(length > 1);
        length = sizeof name;
        MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, name);
        world += strcmp(name, "mpi://WORLD") == 0;
    }
    CHECK(world == 1);
    MPI_Session_get_pset_info(session, "mpi://WORLD", &info);
    length = sizeof size;
    MPI_Info_get_string(info, MPI_INFO_KEY_SESSION_PSET_SIZE, &length, size,
                        &flag);
    CHECK(flag && atoi(size) == 2);
    MPI_Info_free(&info);
}

static void check_hints(void)
{
    char value[64];
    int length = sizeof value, flag = 0;
    MPI_Info info;

    MPI_Session_get_info(first, &info);
    MPI_Info_get_string(info, "thread_level", &length, value, &flag);
    CHECK(flag && strncmp(value, "MPI_THREAD_", 11) == 0);
    MPI_Info_free(&info);
    length = sizeof value;
    MPI_Info_get_string(made, "kept", &length, value, &flag);
    CHECK(flag && strcmp(value, "bc") == 0);
}

static void check_handler(MPI_Session session)
{
    const int before = calls;
    MPI_Errhandler now;

    MPI_Session_set_errhandler(session, handler);
    MPI_Session_get_errhandler(session, &now);
    CHECK(now == handler);
    MPI_Errhandler_free(&now);
    MPI_Session_call_errhandler(session, MPI_ERR_OTHER);
    CHECK(calls == before + 1);
}

static void make_communicators(void)
{
    MPI_Group self, mine, other;
    int size, ranks[2];

    MPI_Group_from_session_pset(first, "mpi://WORLD", &everybody);
    MPI_Group_size(everybody, &size);
    CHECK(size == 2);
    MPI_Group_rank(everybody, &probe_rank);
    MPI_Comm_create_from_group(everybody, "org.example.all", made,
                               MPI_ERRORS_RETURN, &all);
    MPI_Group_from_session_pset(second, "mpi://SELF", &self);
    MPI_Comm_create_from_group(self, "org.example.own", MPI_INFO_NULL,
                               MPI_ERRORS_ARE_FATAL, &own);
    MPI_Group_free(&self);
    ranks[0] = probe_rank;
    ranks[1] = 1 - probe_rank;
    MPI_Group_incl(everybody, 1, &ranks[0], &mine);
    MPI_Group_incl(everybody, 1, &ranks[1], &other);
    MPI_Intercomm_create_from_groups(mine, 0, other, 0, "org.example.inter",
                                     MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &inter);
    MPI_Group_free(&mine);
    MPI_Group_free(&other);
}

static void check_communicators(void)
{
    MPI_Errhandler now;
    int size, sum = 0, in = -1;

    MPI_Allreduce(&probe_rank, &sum, 1, MPI_INT, MPI_SUM, all);
    CHECK(sum == 1);
    MPI_Comm_get_errhandler(all, &now);
    CHECK(now == MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&now);
    MPI_Comm_size(own, &size);
    CHECK(size == 1);
    MPI_Comm_remote_size(inter, &size);
    CHECK(size == 1);
    MPI_Sendrecv(&probe_rank, 1, MPI_INT, 0, 1, &in, 1, MPI_INT, 0, 1, inter,
                 MPI_STATUS_IGNORE);
    CHECK(in == 1 - probe_rank);
}

/* A session during and after MPI_COMM_WORLD. */
static void check_world(void)
{
    MPI_Session third;
    MPI_Comm copy;
    MPI_Group group;
    int flag, size;

    MPI_Init(NULL, NULL);
    MPI_Initialized(&flag);
    CHECK(flag);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &third);
    MPI_Group_from_session_pset(third, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "org.example.third", MPI_INFO_NULL,
                               MPI_ERRORS_RETURN, &copy);
    MPI_Comm_size(copy, &size);
    CHECK(size == 2);
    MPI_Group_free(&group);
    MPI_Comm_free(&copy);
    MPI_Session_finalize(&third);
    MPI_Finalize();
    MPI_Finalized(&flag);
    CHECK(flag);
    check_communicators();
}

int main(int argc, char **argv)
{
    MPI_Request requests[2];
    int in = -1, out, sum = -1;

    CHECK(argc >= 2);
    probe_gate_file = argv[1];
    check_early();
    MPI_Session_init(made, MPI_ERRORS_RETURN, &first);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &second);
    CHECK(MPI_Session_f2c(MPI_Session_c2f(first)) == first);
    make_communicators();
    check_communicators();
    check_sets(first);
    check_handler(second);
    out = probe_rank + 40;
    MPI_Irecv(&in, 1, MPI_INT, 1 - probe_rank, 9, all, &requests[0]);
    if (probe_rank == 0) {
        MPI_Send(&out, 1, MPI_INT, 1, 9, all);
        MPI_Iallreduce(&out, &sum, 1, MPI_INT, MPI_SUM, all, &requests[1]);
    }
    probe_gate();
    if (probe_rank == 1) {
        MPI_Iallreduce(&out, &sum, 1, MPI_INT, MPI_SUM, all, &requests[1]);
        MPI_Send(&out, 1, MPI_INT, 0, 9, all);
    }
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(in == 41 - probe_rank && sum == 81);
    check_communicators();
    check_sets(second);
    check_hints();
    check_handler(second);
    check_world();
    MPI_Group_free(&everybody);
    MPI_Comm_free(&all);
    MPI_Comm_free(&own);
    MPI_Comm_free(&inter);
    MPI_Errhandler_free(&handler);
    MPI_Info_free(&made);
    MPI_Session_finalize(&first);
    MPI_Session_finalize(&second);
    CHECK(second == MPI_SESSION_NULL);
    if (probe_rank == 0) {
        printf("OK sessions\n");
    }
    return 0;
}
