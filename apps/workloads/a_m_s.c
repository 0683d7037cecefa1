/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * a_m_s.c [ITERATIONS [MULTIPLICATIONS [BYTES [RANDOM]]]] - allocate, multiply
 * and synchronise: the synthetic program of Plank 1993, section 4.2.3.
 *
 * Each rank fills BYTES with zeros, or with random bytes if RANDOM is not 0.
 * Then it multiplies and synchronises, ITERATIONS times. Few iterations of many
 * multiplications simulate independent ranks, many iterations of few tightly
 * coupled ones. Memory, product and each synchronising message are checked.
 */
#include "workload.h"

#define FACTOR UINT64_C(6364136223846793005)
#define TAG    1

static int rank, size;

static uint64_t first_product(int of)
{
    return mix((uint64_t)of) | 1; /* odd, so no product becomes zero */
}

static uint64_t multiply(uint64_t product, long times)
{
    for (long i = 0; i < times; i++) {
        product *= FACTOR;
    }
    return product;
}

/* Returns FACTOR to the power of `exponent`, in few multiplications. */
static uint64_t power_of_factor(uint64_t exponent)
{
    uint64_t result = 1, square = FACTOR;

    for (; exponent > 0; exponent /= 2) {
        if (exponent % 2 == 1) {
            result *= square;
        }
        square *= square;
    }
    return result;
}

/* Returns when all ranks have called it: in log2 rounds, each rank hears of
 * twice as many others as before. All products are FACTOR to the power of
 * `power`. */
static void synchronise(uint64_t product, uint64_t power)
{
    for (int distance = 1; distance < size; distance *= 2) {
        const int left = (rank + size - distance) % size;
        uint64_t theirs;

        MPI_Sendrecv(&product, 1, MPI_UINT64_T, (rank + distance) % size, TAG,
                     &theirs, 1, MPI_UINT64_T, left, TAG, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        CHECK(theirs == first_product(left) * power);
    }
}

static unsigned char *allocate(size_t bytes, int is_random)
{
    unsigned char *memory = malloc(bytes);

    CHECK(memory != NULL);
    if (is_random) {
        fill(memory, bytes, first_product(rank));
    } else {
        memset(memory, 0, bytes);
    }
    return memory;
}

static int is_untouched(const unsigned char *memory, size_t bytes,
                        int is_random)
{
    if (is_random) {
        return is_filled(memory, bytes, first_product(rank));
    }
    for (size_t i = 0; i < bytes; i++) {
        if (memory[i] != 0) {
            return 0;
        }
    }
    return 1;
}

int main(int argc, char **argv)
{
    const long iterations = number_argument(argc, argv, 1, 80);
    const long times = number_argument(argc, argv, 2, 336400);
    const size_t bytes = (size_t)number_argument(argc, argv, 3, 10);
    const int is_random = number_argument(argc, argv, 4, 0) != 0;
    const uint64_t each = power_of_factor((uint64_t)times);
    uint64_t product, power = 1;
    unsigned char *memory;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    memory = allocate(bytes, is_random);
    product = first_product(rank);

    for (long i = 0; i < iterations; i++) {
        show_step(rank, i);
        product = multiply(product, times);
        power *= each;
        CHECK(product == first_product(rank) * power);
        synchronise(product, power);
    }

    CHECK(is_untouched(memory, bytes, is_random));
    print_answer(checksum(product, memory, bytes));
    free(memory);
    MPI_Finalize();
    return 0;
}
