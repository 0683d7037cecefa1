/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * main.c - runs sections of the coverage program around a gate.
 *
 *   coverage GATE SCRATCH [--thread] [--abort] SECTION...
 */
#include "coverage.h"
#include "probes/probe.h"

#define ABORT_CODE 7

static const struct section *const sections[] = {
    &attributes_section,
    &collectives_section,
    &communicators_section,
    &datatypes_section,
    &dynamic_section,
    &environment_section,
    &errhandlers_section,
    &files_section,
    &groups_section,
    &info_section,
    &messages_section,
    &neighbors_section,
    &nonblocking_section,
    &operations_section,
    &packing_section,
    &requests_section,
    &tool_section,
    &topologies_section,
    &windows_section,
#if OMPI_MAJOR_VERSION >= 5
    &mpi4_section,
#endif
};

int this_rank;
const char *coverage_program, *coverage_scratch;

static const struct section *chosen[sizeof sections / sizeof sections[0]];
static int chosen_count, with_thread, with_abort;

static void choose(const char *name)
{
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++) {
        if (strcmp(sections[i]->name, name) == 0) {
            chosen[chosen_count++] = sections[i];
            return;
        }
    }
    fprintf(stderr, "coverage: no section %s\n", name);
    exit(2);
}

static void read_arguments(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: coverage GATE SCRATCH [OPTION] SECTION...\n");
        exit(2);
    }
    coverage_program = argv[0];
    coverage_scratch = argv[2];
    for (int i = 3; i < argc; i++) {
        if (strcmp(argv[i], "--thread") == 0) {
            with_thread = 1;
        } else if (strcmp(argv[i], "--abort") == 0) {
            with_abort = 1;
        } else {
            choose(argv[i]);
        }
    }
}

static void begin_all(void)
{
    for (int i = 0; i < chosen_count; i++) {
        chosen[i]->begin();
    }
}

static void end_all(void)
{
    for (int i = 0; i < chosen_count; i++) {
        chosen[i]->end();
    }
}

static void start_mpi(int argc, char **argv)
{
    int provided = -1, started = 1;

    MPI_Initialized(&started);
    CHECK(!started);
    if (with_thread) {
        MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &provided);
        CHECK(provided >= MPI_THREAD_SINGLE);
    } else {
        MPI_Init(&argc, &argv);
    }
}

static void end_mpi(void)
{
    int ended = 0;

    coverage_report();
    if (with_abort) {
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Abort(MPI_COMM_WORLD, ABORT_CODE);
    }
    MPI_Finalize();
    MPI_Finalized(&ended);
    CHECK(ended);
    coverage_report_alone();
    if (probe_rank == 0) {
        printf("OK\n");
    }
}

int main(int argc, char **argv)
{
    MPI_Comm parent;

    read_arguments(argc, argv);
    start_mpi(argc, argv);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        dynamic_section.end(); /* this is the child */
        return 0;
    }
    probe_begin_initialized(argc, argv, RANKS);
    this_rank = probe_rank;
    begin_all();
    end_all();
    begin_all();
    probe_gate_together();
    coverage_gate_passed();
    end_all();
    begin_all();
    end_all();
    end_mpi();
    return 0;
}
