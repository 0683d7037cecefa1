/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * clock.c - a program that no replay can repeat: in each step a rank reads a word of its neighbour
 * repeatedly, and the clock determines how often.
 *
 * The result does not depend on that.
 */
#include "program.h"

#include <time.h>

static long times_now(const struct program *program)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_nsec / 100 % program->size;
}

int main(int argc, char **argv)
{
    struct program program = {.name = "clock", .steps = 2000, .size = 4, .seed = 1};
    struct area area;
    uint64_t sum = 0;

    program_begin(&program, argc, argv);
    area_make(&area, sizeof(uint64_t), 0);
    for (long step = 0; step < program.steps; step++) {
        const int next = (program.rank + 1) % program.ranks;

        program_step(&program, step);
        for (long i = times_now(&program); i >= 0; i--) {
            (void)area_fetch(&area, next, 0);
        }
        area_fetch_add(&area, next, 0, 1);
        area_meet(&area);
    }
    sum = area_fetch(&area, program.rank, 0);
    area_free(&area);
    return program_end(&program, program.rank == 0 ? sum : 0,
                       sum == (uint64_t)program.steps);
}
