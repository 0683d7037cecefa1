/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memory.c [MEGABYTES [STEPS [MICROSECONDS]]] - ranks with much memory.
 *
 * Each rank fills its memory with random words. At each step it changes a
 * twentieth of the memory. In between there are a strided message, an
 * allreduce, a barrier on half of the ranks and a broadcast. It may pause
 * between steps. All contents are checked, and the whole memory at the end.
 */
#include "selfcheck.h"

#include <unistd.h>

#define BLOCKS         20 /* one of them changes at each step */
#define STRIDE         3  /* of the message, in words */
#define WORDS          64 /* in the message */
#define STEPS_PER_LINE 10

struct memory {
    uint64_t *words;
    size_t block_words;
    long version[BLOCKS]; /* the step that last wrote the block */
    int rank;
    int size;
};

static uint64_t block_key(const struct memory *m, int block)
{
    return mix4((uint64_t)m->rank, (uint64_t)block, (uint64_t)m->version[block],
                5);
}

static void write_block(struct memory *m, int block, long step)
{
    m->version[block] = step;
    fill(m->words + (size_t)block * m->block_words,
         m->block_words * sizeof *m->words, block_key(m, block));
}

static int block_is_right(const struct memory *m, int block)
{
    return is_filled(m->words + (size_t)block * m->block_words,
                     m->block_words * sizeof *m->words, block_key(m, block));
}

/* Sends every third word to the right neighbour, over `comm`. */
static void pass_strided(const struct memory *m, MPI_Comm comm,
                         MPI_Datatype strided, long step)
{
    uint64_t mine[WORDS * STRIDE], theirs[WORDS * STRIDE];
    int left = (m->rank + m->size - 1) % m->size;
    int right = (m->rank + 1) % m->size;

    memset(theirs, 0, sizeof theirs);
    for (int i = 0; i < WORDS * STRIDE; i++) {
        mine[i] = mix4((uint64_t)step, (uint64_t)m->rank, (uint64_t)i, 6);
    }
    MPI_Sendrecv(mine, 1, strided, right, 7, theirs, 1, strided, left, 7, comm,
                 MPI_STATUS_IGNORE);
    for (int i = 0; i < WORDS * STRIDE; i++) {
        uint64_t sent = mix4((uint64_t)step, (uint64_t)left, (uint64_t)i, 6);

        CHECK(theirs[i] == (i % STRIDE == 0 ? sent : 0));
    }
}

static uint64_t agree(const struct memory *m, MPI_Comm half, long step)
{
    uint64_t word = m->words[(size_t)step % m->block_words];
    uint64_t sum, root_word = word;

    MPI_Allreduce(&word, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    MPI_Barrier(half);
    MPI_Bcast(&root_word, 1, MPI_UINT64_T, (int)(step % m->size),
              MPI_COMM_WORLD);
    return mix(sum + root_word);
}

int main(int argc, char **argv)
{
    struct memory m;
    MPI_Comm dup, half;
    MPI_Datatype strided;
    uint64_t sum = 0;
    long steps, pause;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &m.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &m.size);
    m.block_words =
        ((size_t)number_argument(argc, argv, 1, 100) << 17) / BLOCKS;
    steps = number_argument(argc, argv, 2, 100);
    pause = number_argument(argc, argv, 3, 0);
    m.words = malloc(BLOCKS * m.block_words * sizeof *m.words);
    CHECK(m.words != NULL);
    for (int block = 0; block < BLOCKS; block++) {
        write_block(&m, block, 0);
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_split(MPI_COMM_WORLD, m.rank % 2, m.rank, &half);
    MPI_Type_vector(WORDS, 1, STRIDE, MPI_UINT64_T, &strided);
    MPI_Type_commit(&strided);

    for (long step = 0; step < steps; step++) {
        if (m.rank == 0 && step % STEPS_PER_LINE == 0) {
            printf("step %ld\n", step);
            fflush(stdout);
        }
        CHECK(block_is_right(&m, (int)(step % BLOCKS)));
        write_block(&m, (int)(step % BLOCKS), step);
        pass_strided(&m, dup, strided, step);
        sum += agree(&m, half, step);
        usleep((useconds_t)pause);
    }

    for (int block = 0; block < BLOCKS; block++) {
        CHECK(block_is_right(&m, block));
    }
    print_answer(sum);
    MPI_Type_free(&strided);
    MPI_Comm_free(&half);
    MPI_Comm_free(&dup);
    free(m.words);
    MPI_Finalize();
    return 0;
}
