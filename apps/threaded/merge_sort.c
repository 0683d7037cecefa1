/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * merge_sort.c [MEBIBYTES [THREADS [ROUNDS]]] - sorts records by moving them.
 *
 * 250,000 records and the second buffer for their merge take the memory.
 * Threads sort parts of the records. The parts are merged pair by pair in
 * parallel, the last pair by one thread alone. All contents of both buffers are
 * checked after each round.
 */
#include "records.h"

#include <stdatomic.h>

#define RECORDS          250000
#define RECORDS_PER_STEP 4096

struct sort {
    struct records sorted; /* at the end; both always have all records */
    struct records spare;
    _Atomic uint64_t answer;
    _Atomic uint64_t difference; /* between the records of the two buffers */
};

/* Sorts the records of a range, which is the same in both buffers, into
 * `target`. */
struct task {
    const struct records *target;
    const struct records *source; /* is overwritten */
    struct range range;
    int threads; /* if one or none, it starts no other */
};

static void make_part(void *shared, int index, int count)
{
    const struct sort *sort = shared;
    struct range part = part_of(RECORDS, index, count);

    for (size_t place = part.from; place < part.to; place++) {
        make_record(&sort->sorted, place);
        make_record(&sort->spare, place);
    }
}

/* Returns the start of the second half of a range, in proportion to its
 * threads. */
static size_t middle_of(const struct task *task)
{
    size_t length = task->range.to - task->range.from;
    size_t threads = (size_t)task->threads;
    size_t first = threads <= 1 ? length / 2 : length * (threads / 2) / threads;

    return task->range.from + first;
}

/* Merges the halves, which are sorted in `source`. */
static void merge(const struct task *task)
{
    size_t middle = middle_of(task);
    size_t left = task->range.from, right = middle;

    for (size_t place = left; place < task->range.to; place++) {
        int is_low =
            right == task->range.to ||
            (left < middle && is_before(record_at(task->source, left),
                                        record_at(task->source, right)));
        size_t next = is_low ? left++ : right++;

        memcpy(record_at(task->target, place), record_at(task->source, next),
               task->target->size);
        if (place % RECORDS_PER_STEP == 0) {
            show_progress();
        }
    }
}

static void sort_range(struct task *task);

/* Sorts each `count`th half from `index` on, into the buffer that the merge
 * reads. */
static void sort_halves(void *shared, int index, int count)
{
    const struct task *whole = shared;
    struct range range = whole->range;
    size_t middle = middle_of(whole);
    int fewer = whole->threads / 2;
    const struct records *target = whole->source, *source = whole->target;
    struct task halves[] = {
        {target, source, {range.from, middle}, fewer},
        {target, source, {middle, range.to}, whole->threads - fewer},
    };

    for (int half = index; half < 2; half += count) {
        sort_range(&halves[half]);
    }
}

static void sort_range(struct task *task)
{
    if (task->range.to - task->range.from < 2) {
        return;
    }
    if (task->threads > 1) {
        run_threads(2, sort_halves, task);
    } else {
        sort_halves(task, 0, 1);
    }
    merge(task);
}

static void check_part(void *shared, int index, int count)
{
    struct sort *sort = shared;
    struct range part = part_of(RECORDS, index, count);
    uint64_t answer = 0, difference = 0;

    for (size_t place = part.from; place < part.to; place++) {
        const struct record *record = record_at(&sort->sorted, place);
        const struct record *spare = record_at(&sort->spare, place);

        check_record(&sort->sorted, record);
        check_record(&sort->spare, spare);
        /* The order is strict, so each record occurs once. */
        CHECK(place == 0 ||
              is_before(record_at(&sort->sorted, place - 1), record));
        answer += record_answer(&sort->sorted, record, place);
        difference += mix(record->origin) - mix(spare->origin);
    }
    atomic_fetch_add(&sort->answer, answer);
    atomic_fetch_add(&sort->difference, difference);
}

static void run_round(struct sort *sort, uint64_t round, int threads)
{
    struct task whole = {&sort->sorted, &sort->spare, {0, RECORDS}, threads};

    sort->sorted.round = sort->spare.round = round;
    run_threads(threads, make_part, sort);
    sort_range(&whole);
    run_threads(threads, check_part, sort);
    CHECK(sort->difference == 0);
}

int main(int argc, char **argv)
{
    size_t bytes = memory_argument(argc, argv, 1);
    int threads = threads_argument(argc, argv, 2);
    size_t rounds = count_argument(argc, argv, 3, 1);
    struct sort sort = {.sorted = allocate_records(RECORDS, bytes / 2),
                        .spare = allocate_records(RECORDS, bytes / 2)};

    for (size_t round = 0; round < rounds; round++) {
        run_round(&sort, round, threads);
    }

    print_answer(sort.answer);
    free(sort.sorted.memory);
    free(sort.spare.memory);
    return 0;
}
