/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coverage.h - a program that calls every function of mpi.h, in sections.
 *
 * A section makes objects of one subject in `begin`, and uses, checks and frees
 * them in `end`. The program runs begin and end once, and begin again. Then it
 * waits at the gate, where a test can take a checkpoint, kill and restart.
 * After that it runs end, and both once more. So each function of a section is
 * called before and after the gate, and objects made before the gate are used
 * after it.
 *
 * Definitions of MPI_X in this program count the calls (counted.c, which is
 * generated from mpi.h), as in a profiling tool.
 */
#ifndef COVERAGE_H
#define COVERAGE_H

#include "selfcheck.h"

#define RANKS 2
#define OTHER (1 - this_rank)

extern int this_rank; /* of RANKS in MPI_COMM_WORLD */

struct section {
    const char *name;
    void (*begin)(void);
    void (*end)(void);
};

extern const struct section attributes_section, collectives_section,
    communicators_section, datatypes_section, dynamic_section,
    environment_section, errhandlers_section, files_section, groups_section,
    info_section, messages_section, neighbors_section, nonblocking_section,
    operations_section, packing_section, requests_section, tool_section,
    topologies_section, windows_section;
#if OMPI_MAJOR_VERSION >= 5
extern const struct section mpi4_section;
#endif

/* The program's own name and its second argument after the gate, for sections
 * that need a file or start a process. */
extern const char *coverage_program, *coverage_scratch;

/* Attaches and detaches the buffer for buffered sends: a process has one
 * buffer, and sections overlap. */
void coverage_buffer_attach(void);
void coverage_buffer_detach(void);

/* From now on calls count as made after the gate. */
void coverage_gate_passed(void);

/*
 * Adds up the counts of all ranks, or takes this rank's alone, and prints one
 * line `called NAME BEFORE AFTER` for each function that was called since the
 * last report. Rank 0 prints.
 */
void coverage_report(void);
void coverage_report_alone(void);

#endif
