/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * held_allocator.c - a thread is inside the allocator all the time, with its lock: neither a
 * checkpoint nor a restart may allocate before that thread runs.
 */
#include "probes/probe.h"

#include <pthread.h>
#include <sched.h>
#include <stddef.h>

#define BLOCKS 40 /* more blocks than fit on a stack */

/* glibc's own functions, which ours call. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void __libc_free(void *memory);

/* Identifies the thread that is inside, by the address of its variable; NULL: none. */
static void *volatile holder;
static __thread char self __attribute__((tls_model("initial-exec")));

static void enter(void)
{
    while (holder != NULL && holder != &self) {
        sched_yield();
    }
}

void *malloc(size_t size)
{
    enter();
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    enter();
    return __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
    enter();
    return __libc_realloc(memory, size);
}

void free(void *memory)
{
    enter();
    __libc_free(memory);
}

static void *hold(void *unused)
{
    holder = &self;
    while (access(probe_gate_file, F_OK) != 0) {
        usleep(10000);
    }
    holder = NULL;
    return unused;
}

struct objects {
    MPI_Datatype type;
    MPI_Comm duplicate, half;
    MPI_Group group;
    MPI_Info info;
    MPI_Win window;
    MPI_Errhandler handler;
    MPI_Request receive;
    int *counters, received;
};

static void on_error(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
}

static void make(struct objects *all)
{
    int lengths[BLOCKS];
    MPI_Aint places[BLOCKS];
    MPI_Datatype types[BLOCKS];

    for (int i = 0; i < BLOCKS; i++) {
        lengths[i] = 1 + i % 3;
        places[i] = 64 * i;
        types[i] = i % 2 == 0 ? MPI_INT : MPI_DOUBLE;
    }
    MPI_Type_create_struct(BLOCKS, lengths, places, types, &all->type);
    MPI_Type_commit(&all->type);
    MPI_Comm_dup(MPI_COMM_WORLD, &all->duplicate);
    MPI_Comm_split(MPI_COMM_WORLD, probe_rank, 0, &all->half);
    MPI_Comm_group(all->duplicate, &all->group);
    MPI_Info_create(&all->info);
    MPI_Info_set(all->info, "colour", "green");
    MPI_Win_allocate(sizeof(int), sizeof(int), all->info, MPI_COMM_WORLD, &all->counters,
                     &all->window);
    *all->counters = 5;
    MPI_Comm_create_errhandler(on_error, &all->handler);
    MPI_Comm_set_errhandler(all->duplicate, all->handler);
    MPI_Irecv(&all->received, 1, MPI_INT, 1 - probe_rank, 3, all->duplicate, &all->receive);
}

static void use(struct objects *all)
{
    const int other = 1 - probe_rank;
    int value = 0, size;

    MPI_Type_size(all->type, &size);
    CHECK(size == 40 * (int)sizeof(int) + 39 * (int)sizeof(double));
    MPI_Send(&other, 1, MPI_INT, other, 3, all->duplicate);
    MPI_Wait(&all->receive, MPI_STATUS_IGNORE);
    CHECK(all->received == probe_rank);
    MPI_Win_fence(0, all->window);
    MPI_Get(&value, 1, MPI_INT, other, 0, 1, MPI_INT, all->window);
    MPI_Win_fence(0, all->window);
    CHECK(value == 5);
    MPI_Comm_size(all->half, &size);
    CHECK(size == 1);
}

static void release(struct objects *all)
{
    MPI_Win_free(&all->window);
    MPI_Info_free(&all->info);
    MPI_Group_free(&all->group);
    MPI_Errhandler_free(&all->handler);
    MPI_Comm_free(&all->half);
    MPI_Comm_free(&all->duplicate);
    MPI_Type_free(&all->type);
}

int main(int argc, char **argv)
{
    struct objects all;
    pthread_t thread;

    probe_begin(argc, argv, 2);
    make(&all);
    printf("begun\n"); /* stdio has allocated its buffer now */
    fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    pthread_create(&thread, NULL, hold, NULL);
    while (holder == NULL) {
        sched_yield();
    }
    probe_gate();
    pthread_join(thread, NULL);
    use(&all);
    release(&all);
    return probe_end();
}
