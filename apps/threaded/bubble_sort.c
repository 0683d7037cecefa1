/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bubble_sort.c [MEBIBYTES [THREADS [RECORDS]]] - sorts an index of records.
 *
 * The records take the memory, and are not moved. Each thread sorts a block of
 * their index by bubble sort. Then neighbours merge their blocks, each keeping
 * its half, in as many phases as there are threads (odd-even transposition).
 */
#include "records.h"

#include <pthread.h>
#include <stdatomic.h>

struct sort {
    struct records records;
    size_t *index[2]; /* positions of records; merges alternate between them */
    pthread_barrier_t barrier;
    _Atomic uint64_t answer;
    _Atomic uint64_t difference; /* between the two indexes */
};

static void make_part(void *shared, int index, int count)
{
    const struct sort *sort = shared;
    struct range part = part_of(sort->records.count, index, count);

    for (size_t place = part.from; place < part.to; place++) {
        make_record(&sort->records, place);
        sort->index[0][place] = place;
    }
}

/* All blocks except the last have the same size, as if the index were padded
 * there; otherwise the transposition might not sort. Blocks outside of the
 * index are empty. */
static struct range block_of(const struct sort *sort, int block, int blocks)
{
    size_t records = sort->records.count;
    size_t size = (records + (size_t)blocks - 1) / (size_t)blocks;
    size_t from = block < 0 ? 0 : (size_t)block * size;
    size_t to = block < 0 ? 0 : from + size;

    return (struct range){from < records ? from : records,
                          to < records ? to : records};
}

static int is_ordered(const struct sort *sort, size_t first, size_t second)
{
    return is_before(record_at(&sort->records, first),
                     record_at(&sort->records, second));
}

static void bubble(const struct sort *sort, struct range block)
{
    size_t *index = sort->index[0];
    size_t unsorted = block.to; /* end of the possibly unsorted part */

    while (unsorted > block.from) {
        size_t last_swap = block.from;

        for (size_t i = block.from + 1; i < unsorted; i++) {
            if (is_ordered(sort, index[i], index[i - 1])) {
                size_t lower = index[i];

                index[i] = index[i - 1];
                index[i - 1] = lower;
                last_swap = i;
            }
        }
        unsorted = last_swap;
        show_progress();
    }
}

/* Merges two adjacent blocks, and writes the part of the result within
 * `kept`. */
static void merge(const struct sort *sort, int phase, struct range low,
                  struct range high, struct range kept)
{
    const size_t *source = sort->index[phase % 2];
    size_t *target = sort->index[(phase + 1) % 2];
    size_t left = low.from, right = high.from;

    for (size_t i = low.from; i < kept.to; i++) {
        int is_low =
            right == high.to ||
            (left < low.to && is_ordered(sort, source[left], source[right]));
        size_t next = source[is_low ? left++ : right++];

        if (i >= kept.from) {
            target[i] = next;
        }
    }
}

static void sort_block(void *shared, int index, int count)
{
    struct sort *sort = shared;

    bubble(sort, block_of(sort, index, count));
    for (int phase = 0; phase < count; phase++) {
        int low = index - (index + phase) % 2;

        pthread_barrier_wait(&sort->barrier);
        merge(sort, phase, block_of(sort, low, count),
              block_of(sort, low + 1, count), block_of(sort, index, count));
    }
}

/* The record at a place in the sorted index. */
static const struct record *sorted_record(const struct sort *sort,
                                          const size_t *sorted, size_t place)
{
    CHECK(sorted[place] < sort->records.count);
    return record_at(&sort->records, sorted[place]);
}

static void check_part(void *shared, int index, int count)
{
    struct sort *sort = shared;
    struct range part = part_of(sort->records.count, index, count);
    const size_t *sorted = sort->index[count % 2];
    const size_t *spare = sort->index[(count + 1) % 2];

    for (size_t place = part.from; place < part.to; place++) {
        const struct record *record = sorted_record(sort, sorted, place);

        check_record(&sort->records, record);
        CHECK(record->origin == sorted[place]);
        /* The order is strict, so each record occurs once. */
        CHECK(place == 0 ||
              is_before(sorted_record(sort, sorted, place - 1), record));
        atomic_fetch_add(&sort->answer,
                         record_answer(&sort->records, record, place));
        atomic_fetch_add(&sort->difference,
                         mix(sorted[place]) - mix(spare[place]));
    }
}

int main(int argc, char **argv)
{
    size_t bytes = memory_argument(argc, argv, 1);
    int threads = threads_argument(argc, argv, 2);
    size_t count = count_argument(argc, argv, 3, 3000);
    size_t index_size = count * sizeof(size_t);
    struct sort sort = {0};

    CHECK(2 * index_size < bytes);
    sort.records = allocate_records(count, bytes - 2 * index_size);
    sort.index[0] = allocate(index_size);
    sort.index[1] = allocate(index_size);
    CHECK(pthread_barrier_init(&sort.barrier, NULL, (unsigned)threads) == 0);

    run_threads(threads, make_part, &sort);
    run_threads(threads, sort_block, &sort);
    run_threads(threads, check_part, &sort);
    CHECK(sort.difference == 0);

    print_answer(sort.answer);
    pthread_barrier_destroy(&sort.barrier);
    free(sort.index[0]);
    free(sort.index[1]);
    free(sort.records.memory);
    return 0;
}
