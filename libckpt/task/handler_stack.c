/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * handler_stack.c - implements handler_stack.h.
 *
 * A thread takes a stack by setting a bit, and maps it at the first use. It holds the stack
 * from its signal to the end of its handler, which is longer than its slot in the table of
 * parked threads. The code has no locks, since a child of fork() could inherit them locked.
 */
#include "task/handler_stack.h"

#include "base/invariant.h"
#include "sys/syscall.h"
#include "sys/thread_pointer.h"
#include "task/parking.h"

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>

#define BITS  64u
#define GUARD 4096ul
_Static_assert(CKPT_PARKING_CAPACITY % BITS == 0 && CKPT_HALVES_MAX % BITS == 0,
               "bits are looked at in words");

/* One thread answers; other threads in the lower half are told to leave it. */
#define MOST_ANSWERS (CKPT_HALVES_MAX + BITS)

struct pool {
    unsigned long size; /* bytes of a stack, including its guard */
    unsigned long guard;
    uint32_t capacity;
    uint64_t *taken; /* bit i: stack i is taken */
    char **memory;   /* [capacity] NULL: not mapped yet */
};

static uint64_t taken_to_park[CKPT_PARKING_CAPACITY / BITS];
static char *memory_to_park[CKPT_PARKING_CAPACITY];
static uint64_t taken_to_answer[MOST_ANSWERS / BITS];
static char *memory_to_answer[MOST_ANSWERS];

/* Parking uses one or two kilobytes of stack. Many threads may park, so guards would need too
 * many mappings. */
static const struct pool pools[CKPT_HANDLER_WORKS] = {
    [CKPT_HANDLER_PARKS] = {32ul << 10, 0, CKPT_PARKING_CAPACITY, taken_to_park,
                            memory_to_park},
    [CKPT_HANDLER_ANSWERS] = {256ul << 10, GUARD, MOST_ANSWERS, taken_to_answer,
                              memory_to_answer},
};

/* Takes a free stack. Returns its index, or -1. */
static int take(const struct pool *pool)
{
    for (uint32_t word = 0; word < pool->capacity / BITS; word++) {
        uint64_t taken = __atomic_load_n(&pool->taken[word], __ATOMIC_RELAXED);

        while (taken != ~UINT64_C(0)) {
            const uint64_t bit = ~taken & (taken + 1); /* the lowest bit that is 0 */

            if (__atomic_compare_exchange_n(&pool->taken[word], &taken, taken | bit, 0,
                                            __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
                return (int)(word * BITS) + __builtin_ctzll(bit);
            }
        }
    }
    return -1;
}

static void give(const struct pool *pool, int stack)
{
    const uint64_t bit = UINT64_C(1) << ((unsigned)stack % BITS);
    const uint64_t before = __atomic_fetch_and(&pool->taken[(unsigned)stack / BITS], ~bit,
                                               __ATOMIC_RELEASE);

    CKPT_INVARIANT((before & bit) != 0); /* the caller had it */
}

/* Maps the memory of a stack; only its owner calls this. Returns 0 or -ENOMEM. */
static int map(const struct pool *pool, int stack)
{
    long memory;

    CKPT_INVARIANT(stack >= 0 && (uint32_t)stack < pool->capacity);
    if (pool->memory[stack] != NULL) {
        return 0;
    }
    memory = ckpt_sys_mmap(NULL, pool->size, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (ckpt_sys_failed(memory)) {
        return -ENOMEM;
    }
    if (pool->guard != 0 &&
        ckpt_sys_mprotect((void *)memory, pool->guard, PROT_NONE) != 0) {
        (void)ckpt_sys_munmap((void *)memory, pool->size);
        return -ENOMEM;
    }
    pool->memory[stack] = (char *)memory;
    return 0;
}

int ckpt_handler_stacks_open(void)
{
    return map(&pools[CKPT_HANDLER_ANSWERS], 0);
}

int ckpt_handler_stack_run(enum ckpt_handler_work work, void (*function)(void *argument),
                           void *argument)
{
    const struct pool *const pool = &pools[work];
    const int stack = take(pool);
    int error;

    if (stack < 0) {
        return -ENOMEM;
    }
    error = map(pool, stack);
    if (error == 0) {
        CKPT_INVARIANT((uintptr_t)(pool->memory[stack] + pool->size) % 16 == 0);
        ckpt_context_call(function, argument, pool->memory[stack] + pool->size);
    }
    give(pool, stack);
    return error;
}

void ckpt_handler_stacks_left(enum ckpt_handler_work work)
{
    for (uint32_t word = 0; word < pools[work].capacity / BITS; word++) {
        pools[work].taken[word] = 0;
    }
}
