/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pattern_matching.c [MEBIBYTES [THREADS [ROUNDS]]] - finds the best match of a
 * pattern.
 *
 * A text takes the memory. Each thread searches a part of it for the ten
 * characters with the least edit distance from a pattern, and takes the first
 * if there are several. Copies of the pattern, with one character changed, are
 * at places that the generator determines. All of the text is checked after
 * each round.
 */
#include "threaded.h"

#include <pthread.h>

#define LENGTH 10                /* of the pattern */
#define BLOCK  ((size_t)1 << 16) /* size of a generated or searched step */
#define COPIES 3                 /* of the pattern in the text */

struct match {
    unsigned distance;
    size_t place;
};

struct search {
    uint64_t round; /* other rounds have other texts and patterns */
    unsigned char pattern[LENGTH];
    unsigned char *text;
    size_t blocks;
    struct match best;
    pthread_mutex_t lock; /* guards the best match */
};

static const struct match NO_MATCH = {.distance = LENGTH + 1};

static uint64_t pattern_key(const struct search *search)
{
    return mix4(search->round, 0, 0, 1);
}

/* The places of the copies, in ascending order; each copy is within one
 * block. */
static size_t place_of(const struct search *search, size_t copy)
{
    uint64_t key = mix4(search->round, copy, 0, 2);
    size_t stretch = search->blocks / COPIES;

    return (copy * stretch + key % stretch) * BLOCK +
           (key >> 32) % (BLOCK - LENGTH + 1);
}

static void make_block(const struct search *search, size_t block,
                       unsigned char *made)
{
    fill(made, BLOCK, mix4(search->round, block, 0, 3));
    for (size_t copy = 0; copy < COPIES; copy++) {
        size_t place = place_of(search, copy);

        if (place / BLOCK == block) {
            memcpy(made + place % BLOCK, search->pattern, LENGTH);
            made[place % BLOCK + copy] ^= 1;
        }
    }
}

static void make_part(void *shared, int index, int count)
{
    struct search *search = shared;
    struct range part = part_of(search->blocks, index, count);

    for (size_t block = part.from; block < part.to; block++) {
        make_block(search, block, search->text + block * BLOCK);
    }
}

static void check_part(void *shared, int index, int count)
{
    const struct search *search = shared;
    struct range part = part_of(search->blocks, index, count);
    unsigned char made[BLOCK];

    for (size_t block = part.from; block < part.to; block++) {
        make_block(search, block, made);
        CHECK(memcmp(search->text + block * BLOCK, made, BLOCK) == 0);
    }
}

static unsigned lesser(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* The number of characters to change, leave out or add: Wagner and Fischer's
 * dynamic programming, with one row of the table. */
static unsigned edit_distance(const unsigned char *a, const unsigned char *b)
{
    unsigned row[LENGTH + 1];

    for (unsigned j = 0; j <= LENGTH; j++) {
        row[j] = j;
    }
    for (unsigned i = 1; i <= LENGTH; i++) {
        unsigned diagonal = row[0];

        row[0] = i;
        for (unsigned j = 1; j <= LENGTH; j++) {
            unsigned changed = diagonal + (a[i - 1] != b[j - 1]);

            diagonal = row[j];
            row[j] = lesser(changed, 1 + lesser(row[j], row[j - 1]));
        }
    }
    return row[LENGTH];
}

static int is_better(struct match a, struct match b)
{
    return a.distance < b.distance ||
           (a.distance == b.distance && a.place < b.place);
}

static void search_part(void *shared, int index, int count)
{
    struct search *search = shared;
    size_t places = search->blocks * BLOCK - LENGTH + 1;
    struct range part = part_of(places, index, count);
    struct match best = NO_MATCH;

    for (size_t place = part.from; place < part.to; place++) {
        struct match match = {
            edit_distance(search->pattern, search->text + place), place};

        best = is_better(match, best) ? match : best;
        if (place % BLOCK == 0) {
            show_progress();
        }
    }
    pthread_mutex_lock(&search->lock);
    search->best = is_better(best, search->best) ? best : search->best;
    pthread_mutex_unlock(&search->lock);
}

static void run_round(struct search *search, uint64_t round, int threads)
{
    search->round = round;
    search->best = NO_MATCH;
    fill(search->pattern, LENGTH, pattern_key(search));
    run_threads(threads, make_part, search);
    run_threads(threads, search_part, search);
    run_threads(threads, check_part, search);
    CHECK(is_filled(search->pattern, LENGTH, pattern_key(search)));
    CHECK(search->best.distance == 1);
    CHECK(search->best.place == place_of(search, 0));
}

int main(int argc, char **argv)
{
    struct search search = {.lock = PTHREAD_MUTEX_INITIALIZER};
    size_t bytes = memory_argument(argc, argv, 1);
    int threads = threads_argument(argc, argv, 2);
    size_t rounds = count_argument(argc, argv, 3, 1);
    uint64_t answer = 0;

    search.blocks = bytes / BLOCK;
    search.text = allocate(bytes);
    for (size_t round = 0; round < rounds; round++) {
        run_round(&search, round, threads);
        answer = mix4(answer, search.best.place, search.best.distance, 4);
    }

    print_answer(answer);
    free(search.text);
    return 0;
}
