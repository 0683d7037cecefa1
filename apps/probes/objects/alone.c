/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alone.c - one rank that has an object of each kind, messages to itself under way, and a thread.
 */
#include "probes/probe.h"

#include <pthread.h>

#define COUNT 1000

static volatile long turns;
static volatile int ends;

static void *turn(void *argument)
{
    while (!ends) {
        turns++;
        usleep(1000);
    }
    return argument;
}

struct objects {
    MPI_Comm comm;
    MPI_Datatype every_second;
    MPI_Request persistent[2], early, late;
    MPI_Win window;
    MPI_File file;
    int *memory; /* of the window */
    int key;
    int in[2 * COUNT], out[2 * COUNT], unexpected[COUNT];
};
static struct objects o;

static void make(void)
{
    MPI_Comm_dup(MPI_COMM_WORLD, &o.comm);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &o.key, NULL);
    MPI_Comm_set_attr(o.comm, o.key, &o);
    MPI_Type_vector(COUNT, 1, 2, MPI_INT, &o.every_second);
    MPI_Type_commit(&o.every_second);
    MPI_Win_allocate(COUNT * sizeof(int), sizeof(int), MPI_INFO_NULL, o.comm, &o.memory,
                     &o.window);
    for (int i = 0; i < COUNT; i++) {
        o.memory[i] = 3 * i;
        o.unexpected[i] = 7 * i;
        o.out[2 * i] = 5 * i;
    }
    MPI_Send_init(o.out, 1, o.every_second, 0, 1, o.comm, &o.persistent[0]);
    MPI_Recv_init(o.in, 1, o.every_second, 0, 1, o.comm, &o.persistent[1]);
    MPI_Start(&o.persistent[1]); /* its message comes after the gate */
    MPI_Isend(o.unexpected, COUNT, MPI_INT, 0, 2, o.comm, &o.early);
    MPI_Irecv(&o.unexpected[0], 1, MPI_INT, 0, 3, MPI_COMM_WORLD, &o.late);
    MPI_File_open(o.comm, "alone.bin", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &o.file);
    MPI_File_write(o.file, o.memory, COUNT, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_seek(o.file, 10 * sizeof(int), MPI_SEEK_SET);
}

static void use(void)
{
    int got[COUNT], number = -1, found = 0, ten = 10, size;
    void *attribute = NULL;

    MPI_Comm_get_attr(o.comm, o.key, &attribute, &found);
    CHECK(found && attribute == &o);
    MPI_Recv(got, COUNT, MPI_INT, 0, 2, o.comm, MPI_STATUS_IGNORE);
    CHECK(got[COUNT - 1] == 7 * (COUNT - 1));
    MPI_Wait(&o.early, MPI_STATUS_IGNORE);
    MPI_Start(&o.persistent[0]);
    MPI_Waitall(2, o.persistent, MPI_STATUSES_IGNORE);
    CHECK(o.in[2 * COUNT - 2] == 5 * (COUNT - 1) && o.in[1] == 0);
    MPI_Send(&ten, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
    MPI_Wait(&o.late, MPI_STATUS_IGNORE);
    CHECK(o.unexpected[0] == 10);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, o.window);
    MPI_Get(&number, 1, MPI_INT, 0, 9, 1, MPI_INT, o.window);
    MPI_Win_unlock(0, o.window);
    CHECK(number == 27 && o.memory[COUNT - 1] == 3 * (COUNT - 1));
    MPI_File_read(o.file, &number, 1, MPI_INT, MPI_STATUS_IGNORE);
    CHECK(number == 30);
    MPI_Comm_size(o.comm, &size);
    CHECK(size == 1);
}

static void release(void)
{
    MPI_File_close(&o.file);
    CHECK(access("alone.bin", F_OK) != 0);
    MPI_Win_free(&o.window);
    MPI_Request_free(&o.persistent[0]);
    MPI_Request_free(&o.persistent[1]);
    MPI_Type_free(&o.every_second);
    MPI_Comm_free_keyval(&o.key);
    MPI_Comm_free(&o.comm);
}

int main(int argc, char **argv)
{
    pthread_t thread;
    long seen;

    probe_begin(argc, argv, 1);
    make();
    CHECK(pthread_create(&thread, NULL, turn, NULL) == 0);
    probe_gate();
    use();
    for (seen = turns; turns == seen;) { /* the thread runs */
        usleep(1000);
    }
    ends = 1;
    pthread_join(thread, NULL);
    release();
    return probe_end();
}
