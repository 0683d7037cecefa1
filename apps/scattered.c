/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * scattered.c [MEGABYTES [STEPS [PER_MILLE [MICROSECONDS [LIBC [HURRY]]]]]] - ranks that write a
 * few scattered pages at each step, and map and unmap memory.
 *
 * Pages of a large array get new content, sometimes by the kernel (read). There are also blocks
 * that are mapped, unmapped, moved, zeroed or made read-only. An allreduce follows, and perhaps a
 * pause. All untouched memory is checked at the end, and a part of it at each step. LIBC 1: all
 * memory except the blocks comes from malloc() and moves at each step: free() returns it to the
 * kernel. The pauses are skipped when the file HURRY exists.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "selfcheck.h"

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE           4096
#define BLOCKS         24
#define BLOCK_PAGES    16
#define STEPS_PER_LINE 10
#define CHECKS         64 /* pages checked in each step */

enum block_state {
    ABSENT,
    FILLED,
    ZERO
};

struct block {
    unsigned char *memory;
    enum block_state state;
    long version;
};

static unsigned char *array;
static long *version; /* the step that last wrote a page; 0: it is zero */
static long pages;
static int rank, content_pipe[2];
static struct block block[BLOCKS];

static uint64_t page_key(long page)
{
    return mix4((uint64_t)rank, (uint64_t)page, (uint64_t)version[page], 11);
}

/* Writes a page; every other time, the kernel does it. */
static void write_page(long page, long step)
{
    unsigned char *at = array + page * PAGE, content[PAGE];

    version[page] = step;
    if (mix((uint64_t)(page + step)) % 2 == 0) {
        fill(at, PAGE, page_key(page));
    } else {
        fill(content, PAGE, page_key(page));
        CHECK(write(content_pipe[1], content, PAGE) == PAGE);
        CHECK(read(content_pipe[0], at, PAGE) == PAGE);
    }
}

static int is_zero(const unsigned char *at, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (at[i] != 0) {
            return 0;
        }
    }
    return 1;
}

static void check_page(long page)
{
    const unsigned char *at = array + page * PAGE;

    CHECK(version[page] == 0 ? is_zero(at, PAGE) : is_filled(at, PAGE, page_key(page)));
}

static uint64_t block_key(int i)
{
    return mix4((uint64_t)rank, (uint64_t)i, (uint64_t)block[i].version, 12);
}

static void check_block(int i)
{
    const struct block *b = &block[i];
    const size_t size = BLOCK_PAGES * PAGE;

    CHECK(b->state != ZERO || is_zero(b->memory, size));
    CHECK(b->state != FILLED || is_filled(b->memory, size, block_key(i)));
}

static void map_block(struct block *b)
{
    b->memory = mmap(NULL, BLOCK_PAGES * PAGE, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(b->memory != MAP_FAILED);
    b->state = ZERO;
}

/* Moves a block to a place where another block may have been. */
static void move_block(struct block *b)
{
    const size_t size = BLOCK_PAGES * PAGE;
    void *place = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK(place != MAP_FAILED);
    b->memory = mremap(b->memory, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, place);
    CHECK(b->memory == place);
}

/* Moves a block onto the next one, which this unmaps; does nothing if the next one is absent. */
static void move_onto(struct block *b, struct block *next)
{
    const size_t size = BLOCK_PAGES * PAGE;
    void *place = next->memory;

    if (next == b || next->state == ABSENT) {
        return;
    }
    b->memory = mremap(b->memory, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, place);
    CHECK(b->memory == place);
    next->state = ABSENT;
}

static void map_anew(struct block *b)
{
    CHECK(mmap(b->memory, BLOCK_PAGES * PAGE, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == b->memory);
    b->state = ZERO;
}

static void change_block(int i, long step)
{
    const size_t size = BLOCK_PAGES * PAGE;
    struct block *b = &block[i];

    check_block(i);
    if (b->state == ABSENT) {
        map_block(b);
        return;
    }
    switch (mix4((uint64_t)rank, (uint64_t)i, (uint64_t)step, 13) % 8) {
    case 0:
        CHECK(munmap(b->memory, size) == 0);
        b->state = ABSENT;
        break;
    case 1:
        CHECK(madvise(b->memory, size, MADV_DONTNEED) == 0);
        b->state = ZERO;
        break;
    case 2:
        move_block(b);
        break;
    case 3: /* unchanged */
        CHECK(mprotect(b->memory, size, PROT_READ) == 0);
        check_block(i);
        CHECK(mprotect(b->memory, size, PROT_READ | PROT_WRITE) == 0);
        break;
    case 4:
        map_anew(b);
        break;
    case 5:
        move_onto(b, &block[(i + 1) % BLOCKS]);
        break;
    default:
        b->version = step;
        b->state = FILLED;
        fill(b->memory, size, block_key(i));
    }
}

/* Copies the array to another place. */
static void renew_array(void)
{
    unsigned char *place = malloc((size_t)pages * PAGE);

    CHECK(place != NULL);
    memcpy(place, array, (size_t)pages * PAGE);
    free(array);
    array = place;
}

static uint64_t do_step(long step, long writes)
{
    uint64_t word, sum;

    for (long i = 0; i < writes; i++) {
        write_page((long)(mix4((uint64_t)rank, (uint64_t)step, (uint64_t)i, 14) %
                          (uint64_t)pages),
                   step);
    }
    for (long i = 0; i < CHECKS; i++) {
        check_page((long)(mix4((uint64_t)rank, (uint64_t)step, (uint64_t)i, 15) %
                          (uint64_t)pages));
    }
    change_block((int)(mix4((uint64_t)rank, (uint64_t)step, 0, 16) % BLOCKS), step);
    word = page_key(step % pages);
    MPI_Allreduce(&word, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return mix(sum + (uint64_t)step);
}

static void rest(long microseconds, const char *hurry)
{
    if (hurry == NULL || access(hurry, F_OK) != 0) {
        usleep((useconds_t)microseconds);
    }
}

static void check_all(void)
{
    for (long page = 0; page < pages; page++) {
        check_page(page);
    }
    for (int i = 0; i < BLOCKS; i++) {
        check_block(i);
    }
}

int main(int argc, char **argv)
{
    long steps, writes, pause, from_libc;
    uint64_t sum = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pages = number_argument(argc, argv, 1, 64) << 8;
    steps = number_argument(argc, argv, 2, 100);
    writes = pages * number_argument(argc, argv, 3, 10) / 1000;
    pause = number_argument(argc, argv, 4, 0);
    from_libc = number_argument(argc, argv, 5, 0);
    /* Larger allocations get separate mappings. */
    CHECK(mallopt(M_MMAP_THRESHOLD, 1 << 20) == 1);
    array = from_libc ? calloc((size_t)pages, PAGE)
                      : mmap(NULL, (size_t)pages * PAGE, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    version = calloc((size_t)pages, sizeof *version);
    CHECK(array != MAP_FAILED && array != NULL && version != NULL && pipe(content_pipe) == 0);
    for (long page = 0; page < pages; page++) {
        if (page % 8 != 0) { /* the others are zero until written */
            write_page(page, -1);
        }
    }
    for (long step = 1; step <= steps; step++) {
        if (rank == 0 && step % STEPS_PER_LINE == 1) {
            printf("step %ld\n", step);
            fflush(stdout);
        }
        sum += do_step(step, writes);
        if (from_libc) {
            renew_array();
        }
        rest(pause, argc > 6 ? argv[6] : NULL);
    }
    check_all();
    print_answer(sum);
    MPI_Finalize();
    return 0;
}
