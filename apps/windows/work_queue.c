/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * work_queue.c - a queue of tasks in rank 0's part of a window, guarded by a
 * ticket lock.
 *
 * There are --size chains of tasks. A task iterates a linear congruential
 * generator some thousand times, from the number at which the chain's previous
 * task ended. It writes the new number into the window of the chain's rank, and
 * puts the chain's next task into the queue. In a step the ranks do one task of
 * each chain, in any order. Timing determines which rank does which task, but
 * no number depends on it. At the end each number is compared with the
 * generator's, which can be computed without iterations.
 */
#include "blocks.h"
#include "program.h"
#include "ticket_lock.h"

#define FACTOR    UINT64_C(6364136223846793005)
#define INCREMENT UINT64_C(1442695040888963407)
#define SHORTEST  10000 /* iterations of a task */
#define VARIATION 40000

/* In rank 0's part: the lock, these numbers, then a ring of tasks. */
#define ENDS_AT  TICKET_LOCK_BYTES
#define TASKS_AT (ENDS_AT + sizeof(struct ends))

struct ends {
    uint64_t taken, put; /* tasks so far */
};

struct task {
    uint64_t chain, number;
};

struct queue {
    struct area area;
    uint64_t room;
};

static size_t task_at(const struct queue *queue, uint64_t index)
{
    return TASKS_AT + (size_t)(index % queue->room) * sizeof(struct task);
}

/* Takes the next of the first `limit` tasks; returns 0 if all have been
 * taken. */
static int take(const struct queue *queue, uint64_t limit, struct task *task)
{
    struct ends ends;
    int is_there;

    ticket_lock(&queue->area, 0, 0);
    area_read(&queue->area, 0, ENDS_AT, &ends, sizeof ends);
    is_there = ends.taken < limit;
    if (is_there) {
        area_read(&queue->area, 0, task_at(queue, ends.taken), task,
                  sizeof *task);
        ends.taken++;
        area_write(&queue->area, 0, ENDS_AT, &ends, sizeof ends);
    }
    ticket_unlock(&queue->area, 0, 0);
    return is_there;
}

static void put(const struct queue *queue, const struct task *task)
{
    struct ends ends;

    ticket_lock(&queue->area, 0, 0);
    area_read(&queue->area, 0, ENDS_AT, &ends, sizeof ends);
    area_write(&queue->area, 0, task_at(queue, ends.put), task, sizeof *task);
    ends.put++;
    area_write(&queue->area, 0, ENDS_AT, &ends, sizeof ends);
    ticket_unlock(&queue->area, 0, 0);
}

static uint64_t first_number(uint64_t seed, uint64_t chain)
{
    return mix4(seed, chain, 0, 0);
}

static uint64_t iterations(uint64_t seed, uint64_t chain, long step)
{
    return SHORTEST + mix4(seed, chain, (uint64_t)step, 1) % VARIATION;
}

/* ---- Steps --------------------------------------------------------------- */

static void fill_queue(const struct program *program, const struct queue *queue)
{
    if (program->rank == 0) {
        for (long chain = 0; chain < program->size; chain++) {
            const uint64_t c = (uint64_t)chain;
            const struct task task = {c, first_number(program->seed, c)};

            put(queue, &task);
        }
    }
    area_meet(&queue->area);
}

/* Does the tasks that it gets in a step; returns their number. */
static uint64_t do_tasks(const struct program *program,
                         const struct queue *queue, const struct area *numbers,
                         long step)
{
    const long chains = program->size;
    const uint64_t limit = (uint64_t)(chains * (step + 1));
    struct task task;
    uint64_t done = 0;

    for (; take(queue, limit, &task); done++) {
        const uint64_t count = iterations(program->seed, task.chain, step);
        const long chain = (long)task.chain;
        const int owner = blocks_owner(chains, program->ranks, chain);
        const long first = blocks_first(chains, program->ranks, owner);

        for (uint64_t i = 0; i < count; i++) {
            task.number = task.number * FACTOR + INCREMENT;
        }
        area_write(numbers, owner,
                   (size_t)(chain - first) * sizeof task.number, &task.number,
                   sizeof task.number);
        put(queue, &task);
    }
    return done;
}

/* ---- The check ----------------------------------------------------------- */

/* Iterates the generator by squaring: as often as `count` has binary digits. */
static uint64_t iterated(uint64_t number, uint64_t count)
{
    uint64_t factor = FACTOR, increment = INCREMENT;

    for (; count > 0; count /= 2) {
        if (count % 2 == 1) {
            number = number * factor + increment;
        }
        increment *= factor + 1;
        factor *= factor;
    }
    return number;
}

/* Checks the numbers that this rank keeps, and adds them to the sum. */
static int is_right(const struct program *program, const struct area *numbers,
                    uint64_t *sum)
{
    const int ranks = program->ranks, rank = program->rank;
    const long first = blocks_first(program->size, ranks, rank);
    const long count = blocks_count(program->size, ranks, rank);
    int right = 1;

    for (long i = 0; i < count; i++) {
        const uint64_t chain = (uint64_t)(first + i);
        uint64_t number, total = 0;

        area_read(numbers, rank, (size_t)i * sizeof number, &number,
                  sizeof number);
        for (long step = 0; step < program->steps; step++) {
            total += iterations(program->seed, chain, step);
        }
        right &= number == iterated(first_number(program->seed, chain), total);
        *sum += mix4(chain, number, 0, 0);
    }
    return right;
}

int main(int argc, char **argv)
{
    struct program program = {.name = "work_queue",
                              .steps = 700,
                              .size = 128,
                              .seed = 1,
                              .has_shared = 1};
    struct queue queue;
    struct area numbers;
    uint64_t done = 0, sum = 0;
    int right;

    program_begin(&program, argc, argv);
    queue.room = 2 * (uint64_t)program.size;
    area_make(&queue.area,
              program.rank == 0 ? task_at(&queue, 0) + queue.room * sizeof(struct task) : 0,
              program.shared);
    area_make(&numbers,
              (size_t)blocks_count(program.size, program.ranks, program.rank) *
                  sizeof(uint64_t),
              program.shared);
    fill_queue(&program, &queue);
    for (long step = 0; step < program.steps; step++) {
        program_step(&program, step);
        done += do_tasks(&program, &queue, &numbers, step);
        area_meet(&numbers);
    }
    right = is_right(&program, &numbers, &sum);
    right &= program_sum(&program, done) ==
             (uint64_t)program.size * (uint64_t)program.steps;
    area_free(&numbers);
    area_free(&queue.area);
    return program_end(&program, sum, right);
}
