/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * held_lock.c LOCK - a checkpoint comes while the program holds a lock of libc.
 *
 * Rank 1 has freed the requests of receives, and also their datatypes and communicators. These
 * objects disappear with the last message, which the checkpoint drains. Then rank 1 holds the lock
 * until the file "go" exists:
 *
 *   malloc       it is inside malloc(), and counts the calls of that family of
 *                functions meanwhile
 *   stdio        another thread has locked stdout and stderr
 *   loader       another thread is inside dl_iterate_phdr()
 *   environment  another thread is inside setenv()
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <link.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OBJECTS 40
#define STALE   300 /* more datatypes than freed handles that are kept */

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void __libc_free(void *memory);

static const char *lock;
static volatile int wants_hold, is_held, calls;
static volatile int has_lock;
static __thread int is_in_setenv;

static void wait_for_file(void)
{
    while (access("go", F_OK) != 0) {
        usleep(1000);
    }
}

static void hold(void)
{
    has_lock = 1;
    wait_for_file();
}

void *malloc(size_t size)
{
    calls += is_held;
    if (wants_hold) {
        wants_hold = 0;
        is_held = 1;
        hold();
        is_held = 0;
    }
    if (is_in_setenv) {
        is_in_setenv = 0;
        hold();
    }
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    calls += is_held;
    return __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
    calls += is_held;
    if (is_in_setenv) {
        is_in_setenv = 0;
        hold();
    }
    return __libc_realloc(memory, size);
}

void free(void *memory)
{
    calls += is_held && memory != NULL;
    __libc_free(memory);
}

static int look_at_library(struct dl_phdr_info *info, size_t size, void *argument)
{
    (void)info, (void)size, (void)argument;
    hold();
    return 1;
}

static void *hold_in_thread(void *argument)
{
    if (strcmp(lock, "stdio") == 0) {
        flockfile(stdout);
        flockfile(stderr);
        hold();
        funlockfile(stderr);
        funlockfile(stdout);
    } else if (strcmp(lock, "loader") == 0) {
        dl_iterate_phdr(look_at_library, NULL);
    } else {
        is_in_setenv = 1;
        setenv("HELD_LOCK", "environment", 1);
    }
    return argument;
}

/* Holds the lock until the file exists. */
static void hold_lock(void)
{
    pthread_t thread;

    if (strcmp(lock, "malloc") == 0) {
        /* Otherwise the compiler may remove calls. */
        void *volatile memory;

        wants_hold = 1;
        memory = malloc(100);
        free(memory);
        return;
    }
    pthread_create(&thread, NULL, hold_in_thread, NULL);
    while (!has_lock) {
        usleep(1000);
    }
    wait_for_file();
    pthread_join(thread, NULL);
}

/* Posts a receive of an int, and frees its request. */
static void forget_receive(int *place, int tag)
{
    MPI_Comm comm;
    MPI_Datatype type;
    MPI_Request request;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Type_contiguous(1, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Type_set_name(type, "to be forgotten");
    MPI_Irecv(place, 1, type, 0, tag, comm, &request);
    MPI_Barrier(comm); /* rank 0 has `comm`, too */
    MPI_Request_free(&request);
    MPI_Type_free(&type);
    MPI_Comm_free(&comm);
}

static void receive(void)
{
    int place[OBJECTS] = {0}, wrong = 0;

    for (int i = 0; i < OBJECTS; i++) {
        forget_receive(&place[i], i);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    printf("begun\n");
    fflush(stdout);
    hold_lock();
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < OBJECTS; i++) {
        wrong += place[i] != i + 1;
    }
    printf("%s %d calls inside malloc, %d messages wrong\n",
           calls == 0 && wrong == 0 ? "OK" : "WRONG", calls, wrong);
}

static void send(void)
{
    static MPI_Comm comm[OBJECTS];

    for (int i = 0; i < OBJECTS; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
        MPI_Barrier(comm[i]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < OBJECTS; i++) {
        const int value = i + 1;

        MPI_Send(&value, 1, MPI_INT, 1, i, comm[i]);
        MPI_Comm_free(&comm[i]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int rank;

    lock = argc > 1 ? argv[1] : "malloc";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < STALE; i++) {
        MPI_Datatype type;

        MPI_Type_contiguous(2, MPI_INT, &type);
        MPI_Type_free(&type);
    }
    if (rank == 0) {
        send();
    } else {
        receive();
    }
    return MPI_Finalize();
}
