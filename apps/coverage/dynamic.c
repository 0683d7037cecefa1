/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dynamic.c - processes that the program spawns, joins and connects.
 */
#include "coverage.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define SERVICE "ckpt-coverage"

/* Sends a number to the child and receives its double. */
static void check_child(MPI_Comm child)
{
    int number = 21;

    if (this_rank == 0) {
        MPI_Send(&number, 1, MPI_INT, 0, 1, child);
        MPI_Recv(&number, 1, MPI_INT, 0, 1, child, MPI_STATUS_IGNORE);
        CHECK(number == 42);
    }
    MPI_Comm_disconnect(&child);
}

static void be_child(MPI_Comm parent)
{
    int number = 0;

    MPI_Recv(&number, 1, MPI_INT, 0, 1, parent, MPI_STATUS_IGNORE);
    number *= 2;
    MPI_Send(&number, 1, MPI_INT, 0, 1, parent);
    MPI_Comm_disconnect(&parent);
    MPI_Finalize();
}

static void check_spawn(void)
{
    char *arguments[] = {"no-gate", "no-scratch", "dynamic", NULL};
    char *commands[] = {(char *)coverage_program, (char *)coverage_program};
    char **all_arguments[] = {arguments, arguments};
    const int ones[] = {1, 1};
    MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
    MPI_Comm child;
    int codes[2] = {-1, -1};

    MPI_Comm_spawn(coverage_program, arguments, 1, MPI_INFO_NULL, 0,
                   MPI_COMM_WORLD, &child, codes);
    CHECK(codes[0] == MPI_SUCCESS);
    check_child(child);
    MPI_Comm_spawn_multiple(1, commands, all_arguments, ones, infos, 0,
                            MPI_COMM_WORLD, &child, codes);
    CHECK(codes[0] == MPI_SUCCESS);
    check_child(child);
}

static void exchange(MPI_Comm comm)
{
    int out = this_rank + 5, in = -1;

    MPI_Sendrecv(&out, 1, MPI_INT, 0, 2, &in, 1, MPI_INT, 0, 2, comm,
                 MPI_STATUS_IGNORE);
    CHECK(in == OTHER + 5);
    MPI_Comm_disconnect(&comm);
}

/* Rank 0 offers a port under a name, rank 1 looks it up. */
static void check_ports(void)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm peer;

    if (this_rank == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Publish_name(SERVICE, MPI_INFO_NULL, port);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (this_rank == 0) {
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &peer);
    } else {
        MPI_Lookup_name(SERVICE, MPI_INFO_NULL, port);
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &peer);
    }
    exchange(peer);
    if (this_rank == 0) {
        MPI_Unpublish_name(SERVICE, MPI_INFO_NULL, port);
        MPI_Close_port(port);
    }
}

/* Connects the two ranks over a socket; rank 0 listens. */
static void check_join(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int listener, connection;
    MPI_Comm peer;

    snprintf(address.sun_path, sizeof address.sun_path, "%s", coverage_scratch);
    listener = socket(AF_UNIX, SOCK_STREAM, 0);
    CHECK(listener >= 0);
    if (this_rank == 0) {
        unlink(address.sun_path);
        CHECK(bind(listener, (struct sockaddr *)&address, sizeof address) == 0);
        CHECK(listen(listener, 1) == 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (this_rank == 0) {
        connection = accept(listener, NULL, NULL);
        close(listener);
        unlink(address.sun_path);
    } else {
        connection = listener;
        CHECK(connect(connection, (struct sockaddr *)&address,
                      sizeof address) == 0);
    }
    MPI_Comm_join(connection, &peer);
    CHECK(peer != MPI_COMM_NULL);
    exchange(peer);
    close(connection);
}

/* Only one child: Open MPI 4.1 loses a process now and then if there are
 * many. */
static void begin(void)
{
    static int done;

    if (!done) {
        check_spawn();
        check_ports();
        check_join();
        done = 1;
    }
}

static void end(void)
{
    MPI_Comm parent;

    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        be_child(parent);
    }
}

const struct section dynamic_section = {"dynamic", begin, end};
