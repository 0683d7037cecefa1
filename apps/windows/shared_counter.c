/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shared_counter.c - numbers in a shared window to which all ranks add, by loads and stores under a
 * lock.
 *
 * In a step the ranks share --size words. Under the exclusive lock of rank 0 they add each word to
 * rank 0's sum, and one to rank 0's count. Then they add one to the count in their own part, which
 * is not next to it. A repeated or lost addition shows there.
 */
#include "blocks.h"
#include "program.h"
#include "seen.h"

struct numbers {
    uint64_t sum;
    uint64_t count;
};

static struct numbers *part_of(MPI_Win window, int rank)
{
    struct numbers *part;
    MPI_Aint size;
    int unit;

    MPI_Win_shared_query(window, rank, &size, &unit, &part);
    CHECK(size >= (MPI_Aint)sizeof *part); /* some libraries give whole pages */
    return part;
}

static void meet(MPI_Win window)
{
    MPI_Win_sync(window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(window);
}

static MPI_Win make(void)
{
    struct numbers *own;
    MPI_Info info;
    MPI_Win window;

    MPI_Info_create(&info);
    MPI_Info_set(info, "alloc_shared_noncontig", "true");
    MPI_Win_allocate_shared(sizeof *own, 1, info, MPI_COMM_WORLD, &own, &window);
    MPI_Info_free(&info);
    *own = (struct numbers){0, 0};
    meet(window);
    return window;
}

static void step_all(const struct program *program, long step, MPI_Win window)
{
    volatile struct numbers *numbers = part_of(window, 0);
    volatile struct numbers *own = part_of(window, program->rank);
    const long first = blocks_first(program->size, program->ranks, program->rank);
    const long count = blocks_count(program->size, program->ranks, program->rank);

    for (long i = first; i < first + count; i++) {
        const uint64_t word = mix4(program->seed, (uint64_t)step, (uint64_t)i, 0);

        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
        numbers->sum += word;
        numbers->count++;
        seen((const void *)numbers, sizeof *numbers);
        if (own != numbers) {
            own->count++;
        }
        MPI_Win_unlock(0, window);
    }
}

/* Whether rank 0's count covers all words, and the other counts their shares. */
static int is_right(const struct program *program, MPI_Win window)
{
    int right = part_of(window, 0)->count == (uint64_t)(program->steps * program->size);

    for (int i = 1; i < program->ranks; i++) {
        const long share = blocks_count(program->size, program->ranks, i);

        right &= part_of(window, i)->count == (uint64_t)(program->steps * share);
    }
    return right;
}

int main(int argc, char **argv)
{
    struct program program = {
        .name = "shared_counter", .steps = 3000, .size = 50, .seed = 1};
    uint64_t sum;
    MPI_Win window;
    int right;

    program_begin(&program, argc, argv);
    window = make();
    for (long step = 0; step < program.steps; step++) {
        program_step(&program, step);
        step_all(&program, step, window);
    }
    meet(window);
    right = is_right(&program, window);
    sum = program.rank == 0 ? part_of(window, 0)->sum : 0;
    MPI_Win_free(&window);
    return program_end(&program, sum, right);
}
