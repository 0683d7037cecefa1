/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * program.c - see program.h. Every rank computes sums and maxima from slots in
 * rank 0's part of a window, in the order of the ranks.
 */
#include "program.h"

#include "seen.h"
#include "step_line.h"

#include <fcntl.h>
#include <getopt.h>
#include <unistd.h>

/* Offsets in rank 0's part of the window of results. */
#define SUM   0
#define WRONG sizeof(uint64_t)

/* ---- Options ------------------------------------------------------------- */

static _Noreturn void usage(const struct program *program)
{
    fprintf(stderr, "usage: %s [--steps N] [--size N] [--seed N]%s",
            program->name, program->has_shared ? " [--shared]" : "");
    for (int i = 0; program->modes != NULL && program->modes[i] != NULL; i++) {
        fprintf(stderr, "%s%s", i == 0 ? " [--mode " : "|", program->modes[i]);
    }
    fprintf(stderr, "%s [--progress PREFIX]\n",
            program->modes != NULL ? "]" : "");
    exit(2);
}

static long positive(const struct program *program, const char *text)
{
    char *end;
    long number = strtol(text, &end, 10);

    if (*end != '\0' || number <= 0) {
        fprintf(stderr, "%s: not a positive number: %s\n", program->name, text);
        usage(program);
    }
    return number;
}

static int mode_named(const struct program *program, const char *name)
{
    for (int i = 0; program->modes != NULL && program->modes[i] != NULL; i++) {
        if (strcmp(program->modes[i], name) == 0) {
            return i;
        }
    }
    fprintf(stderr, "%s: no mode: %s\n", program->name, name);
    usage(program);
}

/* Returns the prefix of the progress files, or NULL. */
static const char *read_options(struct program *program, int argc, char **argv)
{
    static const struct option options[] = {
        {"steps", required_argument, NULL, 'n'},
        {"size", required_argument, NULL, 's'},
        {"seed", required_argument, NULL, 'r'},
        {"shared", no_argument, NULL, 'h'},
        {"mode", required_argument, NULL, 'm'},
        {"progress", required_argument, NULL, 'p'},
        {NULL, 0, NULL, 0},
    };
    const char *prefix = NULL;
    int option;

    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (option == 'n') {
            program->steps = positive(program, optarg);
        } else if (option == 's') {
            program->size = positive(program, optarg);
        } else if (option == 'r') {
            program->seed = (uint64_t)positive(program, optarg);
        } else if (option == 'h' && program->has_shared) {
            program->shared = 1;
        } else if (option == 'm') {
            program->mode = mode_named(program, optarg);
        } else if (option == 'p') {
            prefix = optarg;
        } else {
            usage(program);
        }
    }
    if (optind != argc) {
        usage(program);
    }
    return prefix;
}

/* ---- Progress ------------------------------------------------------------ */

static void set_progress(struct program *program, const char *prefix)
{
    if (prefix != NULL) {
        CHECK(snprintf(program->progress, sizeof program->progress, "%s.%d",
                       prefix, program->rank) < (int)sizeof program->progress);
        seen_begin();
    }
}

/* The file is open no longer than necessary. A rank that rolls back also rolls
 * back its open files, and would hide that it repeats a step. */
static void append_step(const struct program *program, long step)
{
    char line[64];
    int length = snprintf(line, sizeof line, "%ld %016" PRIx64 "\n", step,
                          seen_number());
    int fd = open(program->progress, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC,
                  0666);

    CHECK(fd >= 0);
    CHECK(write(fd, line, (size_t)length) == length);
    CHECK(close(fd) == 0);
}

void program_step(struct program *program, long step)
{
    if (program->progress[0] != '\0') {
        append_step(program, step);
    }
    if (program->rank == 0) {
        print_step(step);
    }
}

/* ---- All ranks' numbers -------------------------------------------------- */

/* Gathers eight bytes of every rank into `all`. Sets of slots alternate: before
 * a rank writes into a set again, it has met all others after their read. */
static void gather(struct program *program, const void *number, void *all)
{
    const size_t word = sizeof(uint64_t);
    const size_t ranks = (size_t)program->ranks;
    const size_t set = program->reductions++ % 2 * ranks;

    area_write(&program->slots, 0, (set + (size_t)program->rank) * word, number,
               word);
    area_meet(&program->slots);
    area_read(&program->slots, 0, set * word, all, ranks * word);
}

uint64_t program_sum(struct program *program, uint64_t number)
{
    uint64_t all[program->ranks], sum = 0;

    gather(program, &number, all);
    for (int i = 0; i < program->ranks; i++) {
        sum += all[i];
    }
    return sum;
}

double program_max(struct program *program, double number)
{
    double all[program->ranks];

    gather(program, &number, all);
    for (int i = 0; i < program->ranks; i++) {
        number = all[i] > number ? all[i] : number;
    }
    return number;
}

/* ---- Begin and end ------------------------------------------------------- */

void program_begin(struct program *program, int argc, char **argv)
{
    const char *prefix = read_options(program, argc, argv);

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &program->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &program->ranks);
    set_progress(program, prefix);
    area_make(&program->results,
              program->rank == 0 ? 2 * sizeof(uint64_t) : 0, 0);
    area_make(&program->slots,
              program->rank == 0
                  ? 2 * (size_t)program->ranks * sizeof(uint64_t)
                  : 0,
              program->shared);
}

int program_end(struct program *program, uint64_t sum, int right)
{
    uint64_t wrong;

    if (program->rank == 0) {
        wait_to_end();
    }
    area_fetch_add(&program->results, 0, SUM, sum);
    area_fetch_add(&program->results, 0, WRONG, !right);
    area_meet(&program->results);
    sum = area_fetch(&program->results, 0, SUM);
    wrong = area_fetch(&program->results, 0, WRONG);
    if (program->rank == 0) {
        printf("%s: result %016" PRIx64 "\n%s: %s\n", program->name, sum,
               program->name, wrong == 0 ? "right" : "wrong");
        fflush(stdout);
    }
    area_free(&program->slots);
    area_free(&program->results);
    MPI_Finalize();
    return wrong == 0 ? 0 : 1;
}
