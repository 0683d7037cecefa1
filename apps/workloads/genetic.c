/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * genetic.c [MEBIBYTES [SIDE [GENERATIONS [FILE]]]] - draws a bitmap of how
 * fast, and to what, a genetic algorithm converges, like the tool of Plank
 * 1993, section 4.2.9. A pixel is a population with an initial share of ones
 * (from left to right) and a mutation rate (from top to bottom).
 *
 * Ranks draw rows without a message, and write each complete row into their own
 * file. At the end rank 0 makes one picture of them, FILE (PPM). Red has found
 * the best of all genomes, blue the one to which most paths lead; dark is slow.
 * A rank's memory is a table of fitnesses, which is checked at the end, as are
 * some pixels.
 */
#include "workload.h"

#define POPULATION    64
#define BLOCK_BITS    8 /* genome bits with a joint fitness */
#define BLOCKS        8
#define MOST_MUTATION 0.05 /* probability for a bit */
#define CONVERGED     0.9  /* share of equal bits */
#define CHECKED       7    /* pixels that rank 0 draws again */
#define NAME_LENGTH   4096

struct known_fitness {
    uint64_t genome; /* 0, which has no fitness here: free */
    double fitness;
};

struct tool {
    struct known_fitness *table;
    uint64_t places;
    int side, generations;
};

struct colour {
    unsigned char red, green, blue;
};

static int rank, size;

/* ---- Fitness ------------------------------------------------------------- */

/* For each block of bits: all ones are best, otherwise fewer ones are
 * better. */
static double compute_fitness(uint64_t genome)
{
    double sum = 0;

    for (int block = 0; block < BLOCKS; block++) {
        unsigned bits = (unsigned)(genome >> (block * BLOCK_BITS)) & 0xff;
        int ones = __builtin_popcount(bits);

        sum += ones == BLOCK_BITS ? BLOCK_BITS + 2 : BLOCK_BITS - ones;
    }
    return sum;
}

static double fitness(struct tool *tool, uint64_t genome)
{
    struct known_fitness *known = &tool->table[mix(genome) % tool->places];

    if (known->genome != genome) {
        *known = (struct known_fitness){genome, compute_fitness(genome)};
    }
    return known->fitness;
}

static int table_is_right(const struct tool *tool)
{
    for (uint64_t i = 0; i < tool->places; i++) {
        const struct known_fitness *known = &tool->table[i];

        if (known->genome == 0
                ? known->fitness != 0
                : known->fitness != compute_fitness(known->genome)) {
            return 0;
        }
    }
    return 1;
}

/* ---- A population -------------------------------------------------------- */

static double uniform(uint64_t *random)
{
    *random = mix(*random);
    return fraction_of(*random);
}

/* Returns a word whose bits are ones with this probability, to 1/1024. */
static uint64_t biased_bits(uint64_t *random, double probability)
{
    unsigned threshold = (unsigned)(probability * 1024);
    uint64_t word = 0;

    for (int bit = 0; bit < 10; bit++) {
        *random = mix(*random);
        word = (threshold >> bit) % 2 == 1 ? word | *random : word & *random;
    }
    return word;
}

/* Returns the fitter of two random genomes. */
static uint64_t select_parent(struct tool *tool, const uint64_t *genomes,
                              uint64_t *random)
{
    uint64_t one = genomes[(int)(uniform(random) * POPULATION)];
    uint64_t other = genomes[(int)(uniform(random) * POPULATION)];

    return fitness(tool, one) >= fitness(tool, other) ? one : other;
}

static void next_generation(struct tool *tool, uint64_t *genomes,
                            double mutation, uint64_t *random)
{
    uint64_t children[POPULATION];

    for (int i = 0; i < POPULATION; i++) {
        uint64_t mother = select_parent(tool, genomes, random);
        uint64_t father = select_parent(tool, genomes, random);
        uint64_t mask = biased_bits(random, 0.5);
        uint64_t child = (mother & mask) | (father & ~mask);

        child ^= biased_bits(random, mutation);
        children[i] = child != 0 ? child : 1;
    }
    memcpy(genomes, children, sizeof children);
}

/* Returns the share of ones among all bits. */
static double ones_of(const uint64_t *genomes)
{
    int ones = 0;

    for (int i = 0; i < POPULATION; i++) {
        ones += __builtin_popcountll(genomes[i]);
    }
    return (double)ones / (64 * POPULATION);
}

/* Runs until the population has converged; returns the number of generations,
 * or tool->generations if it has not. */
static int converge(struct tool *tool, uint64_t *genomes, double mutation,
                    uint64_t *random)
{
    for (int generation = 0; generation < tool->generations; generation++) {
        double ones = ones_of(genomes);

        if (ones > CONVERGED || ones < 1 - CONVERGED) {
            return generation;
        }
        next_generation(tool, genomes, mutation, random);
    }
    return tool->generations;
}

static struct colour draw(struct tool *tool, int row, int column)
{
    const double mutation = MOST_MUTATION * row / tool->side;
    const double first_ones = (double)column / tool->side;
    uint64_t random = mix4((uint64_t)row, (uint64_t)column, 5, 0);
    uint64_t genomes[POPULATION];
    unsigned char light;
    int generations;

    for (int i = 0; i < POPULATION; i++) {
        genomes[i] = biased_bits(&random, first_ones) | 1;
    }
    generations = converge(tool, genomes, mutation, &random);
    light = (unsigned char)(255 - 255 * generations / tool->generations);
    return ones_of(genomes) > 0.5 ? (struct colour){light, 0, 0}
                                  : (struct colour){0, 0, light};
}

/* ---- Files --------------------------------------------------------------- */

struct path {
    char text[NAME_LENGTH];
};

/* The path of a rank's rows, next to the picture. */
static struct path rows_path(const char *name, int of_rank)
{
    struct path path;

    snprintf(path.text, sizeof path.text, "%s.%d", name, of_rank);
    return path;
}

static FILE *open_file(const char *path, const char *mode)
{
    FILE *file = fopen(path, mode);

    CHECK(file != NULL);
    return file;
}

static void draw_rows(struct tool *tool, const char *name)
{
    struct colour *pixels = malloc((size_t)tool->side * sizeof *pixels);
    FILE *file = open_file(rows_path(name, rank).text, "w");

    CHECK(pixels != NULL);
    for (int row = rank; row < tool->side; row += size) {
        show_step(rank, row);
        for (int column = 0; column < tool->side; column++) {
            pixels[column] = draw(tool, row, column);
        }
        CHECK(fwrite(pixels, sizeof *pixels, (size_t)tool->side, file) ==
              (size_t)tool->side);
        CHECK(fflush(file) == 0);
    }
    CHECK(fclose(file) == 0);
    free(pixels);
}

/* Returns all rows in order, from the files of the ranks. */
static struct colour *gather_rows(const struct tool *tool, const char *name)
{
    const size_t side = (size_t)tool->side;
    struct colour *picture = malloc(side * side * sizeof *picture);

    CHECK(picture != NULL);
    for (int of = 0; of < size; of++) {
        const struct path path = rows_path(name, of);
        FILE *file = open_file(path.text, "r");

        for (size_t row = (size_t)of; row < side; row += (size_t)size) {
            CHECK(fread(picture + row * side, sizeof *picture, side, file) ==
                  side);
        }
        CHECK(fgetc(file) == EOF);
        fclose(file);
        CHECK(remove(path.text) == 0);
    }
    return picture;
}

static uint64_t make_picture(struct tool *tool, const char *name)
{
    const size_t pixels = (size_t)tool->side * (size_t)tool->side;
    struct colour *picture = gather_rows(tool, name);
    FILE *file = open_file(name, "w");
    uint64_t sum;

    for (uint64_t i = 0; i < CHECKED; i++) {
        size_t pixel = mix(i) % pixels;
        struct colour again = draw(tool, (int)(pixel / (size_t)tool->side),
                                   (int)(pixel % (size_t)tool->side));

        CHECK(memcmp(&again, &picture[pixel], sizeof again) == 0);
    }
    fprintf(file, "P6\n%d %d\n255\n", tool->side, tool->side);
    CHECK(fwrite(picture, sizeof *picture, pixels, file) == pixels);
    CHECK(fclose(file) == 0);
    sum = checksum(0, picture, pixels * sizeof *picture);
    free(picture);
    return sum;
}

int main(int argc, char **argv)
{
    const char *name = argc > 4 ? argv[4] : "basins.ppm";
    struct tool tool;
    uint64_t sum = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    tool.places = bytes_argument(argc, argv, 1) / sizeof *tool.table;
    tool.side = (int)number_argument(argc, argv, 2, 64);
    tool.generations = (int)number_argument(argc, argv, 3, 200);
    tool.table = calloc(tool.places, sizeof *tool.table);
    CHECK(tool.table != NULL);
    MPI_Bcast(&tool.side, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Bcast(&tool.generations, 1, MPI_INT, 0, MPI_COMM_WORLD);

    draw_rows(&tool, name);
    CHECK(table_is_right(&tool));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        sum = make_picture(&tool, name);
    }

    print_answer(sum);
    free(tool.table);
    MPI_Finalize();
    return 0;
}
