/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * open_epoch.c - puts of an epoch that is open for long, while other ranks work.
 *
 * In each step a reader gets the words in the memory of a target. Then an origin puts new words
 * there, and does not flush before the other ranks have done their work. The work is to compute
 * --size times, each time with a write of a page to the next such rank. The reader always gets the
 * previous words, and after the flush the new words are there.
 *
 * --mode: the hint for the puts, if any: that they go to the target's memory at once (ckpt_direct
 * of ckpt), or not.
 *
 * A rank reports the beginning of a step when it has computed for a while. The reader reports it
 * when it has also got the previous words.
 */
#include "program.h"

#include <sched.h>

#define WORDS 4096
#define PUTS  4     /* number of the words, in each step */
#define PIECE 2048  /* bytes that are written to the next rank */
#define SPIN  10000 /* numbers computed for one piece */

/* Offsets in rank 0's part of the window of marks. */
#define OPENED 0                /* number of opened epochs */
#define DONE   sizeof(uint64_t) /* a rank's finished work */

enum mode {
    HINT_NONE,
    HINT_STAGED,
    HINT_DIRECT
};

static const char *const modes[] = {"none", "staged", "direct", NULL};

struct epochs {
    struct program *program;
    struct area words; /* at the target */
    struct area work;
    struct area marks;
    int origin, target, reader;
    uint64_t read[WORDS];
};

static void make_words(struct epochs *epochs)
{
    const struct program *program = epochs->program;
    const size_t bytes = program->rank == epochs->target ? sizeof epochs->read : 0;
    MPI_Info info;

    MPI_Info_create(&info);
    if (program->mode != HINT_NONE) {
        MPI_Info_set(info, "ckpt_direct", program->mode == HINT_DIRECT ? "true" : "false");
    }
    area_make_with(&epochs->words, bytes, 0, info);
    MPI_Info_free(&info);
}

static void make(struct epochs *epochs, struct program *program)
{
    epochs->program = program;
    epochs->origin = 0;
    epochs->target = 1 % program->ranks;
    epochs->reader = 2 % program->ranks;
    make_words(epochs);
    area_make(&epochs->work, PIECE, 0);
    area_make(&epochs->marks,
              program->rank == 0 ? DONE + sizeof(uint64_t) : 0, 0);
}

static void free_all(struct epochs *epochs)
{
    area_free(&epochs->marks);
    area_free(&epochs->work);
    area_free(&epochs->words);
}

/* Returns the word that the origin puts in a step; before the first step there are zeros. */
static uint64_t word_of(const struct epochs *epochs, long step, size_t i)
{
    return step < 0 ? 0 : mix4(epochs->program->seed, (uint64_t)step, i, 1);
}

static int are_of(const struct epochs *epochs, long step, const uint64_t *words)
{
    int right = 1;

    for (size_t i = 0; i < WORDS; i++) {
        right &= words[i] == word_of(epochs, step, i);
    }
    return right;
}

static uint64_t compute(const struct epochs *epochs, long step, long round)
{
    uint64_t number = mix4(epochs->program->seed, (uint64_t)step, (uint64_t)round, 2);

    for (uint64_t i = 0; i < SPIN; i++) {
        number = mix4(number, i, 0, 3);
    }
    return number;
}

/* ---- The parts of a step -------------------------------------------------- */

/* Gets the words; all of them determine the reader's number. */
static uint64_t read_old(struct epochs *epochs, long step, int *right)
{
    uint64_t sum = 0;

    area_read(&epochs->words, epochs->target, 0, epochs->read, sizeof epochs->read);
    *right &= are_of(epochs, step - 1, epochs->read);
    for (size_t i = 0; i < WORDS; i++) {
        sum = mix4(sum, epochs->read[i], (uint64_t)step, 4);
    }
    return sum;
}

static void put_new(struct epochs *epochs, long step)
{
    const size_t count = WORDS / PUTS;
    uint64_t words[WORDS / PUTS];

    for (size_t part = 0; part < PUTS; part++) {
        for (size_t i = 0; i < count; i++) {
            words[i] = word_of(epochs, step, part * count + i);
        }
        area_write(&epochs->words, epochs->target, part * sizeof words, words, sizeof words);
    }
    area_fetch_add(&epochs->marks, 0, OPENED, 1);
}

static void await(const struct epochs *epochs, size_t mark, uint64_t number)
{
    while (area_fetch(&epochs->marks, 0, mark) < number) {
        sched_yield();
    }
}

/* Writes to the next rank that is not the origin. */
static void work(struct epochs *epochs, long step)
{
    const int ranks = epochs->program->ranks;
    const int next = epochs->program->rank % (ranks - 1) + 1;
    uint64_t piece[PIECE / sizeof(uint64_t)];

    for (long round = 0; round < epochs->program->size; round++) {
        const uint64_t number = compute(epochs, step, round);

        for (size_t i = 0; i < PIECE / sizeof(uint64_t); i++) {
            piece[i] = number + i;
        }
        area_write(&epochs->work, next, 0, piece, sizeof piece);
        area_flush(&epochs->work, next);
    }
    area_fetch_add(&epochs->marks, 0, DONE, 1);
}

/* Whether the other ranks' writes to this rank have arrived. */
static int are_there(const struct epochs *epochs, long step)
{
    const struct program *program = epochs->program;
    const uint64_t last = compute(epochs, step, program->size - 1);
    const uint64_t *piece = (const uint64_t *)epochs->work.own;
    int right = 1;

    if (program->rank == epochs->target) {
        right &= are_of(epochs, step, (const uint64_t *)epochs->words.own);
    }
    if (program->rank != epochs->origin) {
        right &= piece[1] == last + 1;
    }
    return right;
}

static uint64_t think(const struct epochs *epochs, long step)
{
    uint64_t number = 0;

    for (long round = 0; round < epochs->program->size / 8; round++) {
        number += compute(epochs, step, round);
    }
    return number;
}

/* Returns the reader's number, 0 in other ranks; errors clear *right. */
static uint64_t step_all(struct epochs *epochs, long step, int *right)
{
    struct program *program = epochs->program;
    uint64_t number = think(epochs, step);

    number = program->rank == epochs->reader ? number + read_old(epochs, step, right) : 0;
    program_step(program, step);
    area_meet(&epochs->words);
    if (program->rank == epochs->origin) {
        put_new(epochs, step);
        await(epochs, DONE, (uint64_t)(step + 1) * (uint64_t)(program->ranks - 1));
    } else {
        await(epochs, OPENED, (uint64_t)step + 1);
        work(epochs, step);
    }
    area_meet(&epochs->words);
    *right &= are_there(epochs, step);
    return number;
}

int main(int argc, char **argv)
{
    struct program program = {
        .name = "open_epoch", .steps = 20, .size = 1000, .seed = 1, .modes = modes};
    struct epochs epochs;
    uint64_t sum = 0;
    int right = 1;

    program_begin(&program, argc, argv);
    make(&epochs, &program);
    for (long step = 0; step < program.steps; step++) {
        sum += step_all(&epochs, step, &right);
    }
    free_all(&epochs);
    return program_end(&program, sum, right);
}
