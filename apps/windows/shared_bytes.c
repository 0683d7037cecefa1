/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shared_bytes.c - ranks that access the same pages of a shared window, only by loads and stores.
 *
 * The --size bytes are dealt out like cards, so each page has bytes of all ranks. In a step each
 * rank reads the neighbours of its bytes, which belong to other ranks. After a barrier it stores to
 * its own bytes, from any starting point: first a wrong value to all of them, then a value that
 * follows from byte, neighbour and step, which mostly equals the previous one.
 */
#include "program.h"
#include "seen.h"

struct shared_bytes {
    struct program *program;
    MPI_Win window;
    unsigned char *byte; /* all bytes */
    unsigned char *next; /* new values of this rank's bytes */
};

/* All bytes belong to rank 0's part, and all ranks store to them. */
static void make(struct shared_bytes *shared, struct program *program)
{
    const MPI_Aint size = program->size;
    MPI_Aint whole;
    char *base;
    int unit;

    MPI_Win_allocate_shared(program->rank == 0 ? size : 0, 1, MPI_INFO_NULL,
                            MPI_COMM_WORLD, &base, &shared->window);
    MPI_Win_shared_query(shared->window, 0, &whole, &unit, &base);
    CHECK(whole == size);
    shared->program = program;
    shared->byte = (unsigned char *)base;
    shared->next = calloc((size_t)program->size, 1);
    CHECK(shared->next != NULL);
    if (program->rank == 0) {
        memset(base, 0, (size_t)size);
    }
}

static void meet(const struct shared_bytes *shared)
{
    MPI_Win_sync(shared->window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(shared->window);
}

static long own_count(const struct program *program)
{
    return (program->size - program->rank + program->ranks - 1) / program->ranks;
}

/* Returns this rank's i-th byte in the order of a step. */
static long own_byte(const struct shared_bytes *shared, long step, long i)
{
    const struct program *program = shared->program;
    const long count = own_count(program);
    const long turn = (long)(mix((uint64_t)step) % (uint64_t)count);

    return (i + turn) % count * program->ranks + program->rank;
}

static void step_all(struct shared_bytes *shared, long step)
{
    const long count = own_count(shared->program);
    volatile unsigned char *byte = shared->byte;

    for (long i = 0; i < count; i++) {
        const long at = own_byte(shared, step, i);
        const unsigned char own = byte[at];
        const unsigned char other = byte[(at + 1) % shared->program->size];

        shared->next[at] = mix4((uint64_t)at, own, other, (uint64_t)step) % 3
                               ? own
                               : (unsigned char)(31 * own + other + step);
    }
    seen(shared->next, (size_t)shared->program->size);
    meet(shared);
    for (long i = 0; i < count; i++) {
        byte[own_byte(shared, step, i)] += (unsigned char)(1 + i % 200);
    }
    for (long i = 0; i < count; i++) {
        const long at = own_byte(shared, step, i);

        byte[at] = shared->next[at];
    }
    meet(shared);
}

int main(int argc, char **argv)
{
    struct program program = {.name = "shared_bytes",
                              .steps = 3000,
                              .size = 10000,
                              .seed = 1};
    struct shared_bytes shared;
    uint64_t sum = 0;

    program_begin(&program, argc, argv);
    make(&shared, &program);
    meet(&shared);
    for (long step = 0; step < program.steps; step++) {
        program_step(&program, step);
        step_all(&shared, step);
    }
    meet(&shared);
    if (program.rank == 0) {
        sum = checksum(program.seed, shared.byte, (size_t)program.size);
    }
    MPI_Win_free(&shared.window);
    free(shared.next);
    return program_end(&program, sum, 1);
}
