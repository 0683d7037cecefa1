/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stage.h - objects for the calls of the fuzz program: one good object of each kind, and one freed
 * object of each kind.
 */
#ifndef STAGE_H
#define STAGE_H

#include <mpi.h>

/* The content of outputs before a call. */
#define UNTOUCHED -7770

struct objects {
    MPI_Comm comm, cart, graph, dist_graph;
    MPI_Group group;
    MPI_Datatype type, uncommitted;
    MPI_Op op;
    MPI_Request request, general;
    MPI_Win win, dynamic_win, freed_win;
    MPI_File file;
    MPI_Info info;
    MPI_Errhandler comm_handler, win_handler, file_handler;
    int comm_key, type_key, win_key;
    MPI_T_cvar_handle cvar;
    MPI_T_pvar_session session;
    MPI_T_pvar_handle pvar;
    MPI_T_enum choices;
};

extern struct objects good;
extern char stage_path[];                 /* of the open file */
extern MPI_Status stage_status;           /* of a message of one int */
extern char stage_areas[4][65536];        /* buffers that do not overlap */
extern int stage_ones[8], stage_zeros[8]; /* arrays of counts, places ... */
extern MPI_Aint stage_aints[8];
extern int stage_two[2];
extern int stage_ranges[1][3];
extern MPI_Datatype stage_types[2];
extern MPI_Info stage_infos[2];
extern int stage_cvar, stage_pvar; /* indices of variables that can be used */
extern int stage_pvar_class;
extern char stage_pvar_name[256];

/* Application functions that do nothing. */
int stage_copy_comm(MPI_Comm, int, void *, void *, void *, int *);
int stage_delete_comm(MPI_Comm, int, void *, void *);
int stage_copy_type(MPI_Datatype, int, void *, void *, void *, int *);
int stage_delete_type(MPI_Datatype, int, void *, void *);
int stage_copy_win(MPI_Win, int, void *, void *, void *, int *);
int stage_delete_win(MPI_Win, int, void *, void *);
void stage_reduce(void *, void *, int *, MPI_Datatype *);
int stage_query(void *, MPI_Status *);
int stage_free(void *);
int stage_cancel(void *, int);
int stage_extent(MPI_Datatype, MPI_Aint *, void *);
int stage_convert(void *, MPI_Datatype, int, void *, MPI_Offset, void *);
void stage_comm_error(MPI_Comm *, int *, ...);
void stage_win_error(MPI_Win *, int *, ...);
void stage_file_error(MPI_File *, int *, ...);

/* Return handles of objects that were just made and freed. */
MPI_Comm freed_comm(void);
MPI_Group freed_group(void);
MPI_Datatype freed_type(void);
MPI_Op freed_op(void);
MPI_Request freed_request(void);
MPI_Win freed_win(void);
MPI_File freed_file(void);
MPI_Info freed_info(void);
MPI_Errhandler freed_errhandler(void);
int freed_comm_key(void);
int freed_type_key(void);
int freed_win_key(void);

/* Returns a message from this process to itself, matched but not received. */
MPI_Message stage_message(void);

/* Add the output of a call to the outcome: whether it was written, and whether it is null; or the
 * number, if the standard defines it (`known`). */
void note_handle(const char *name, int written, int is_null);
void note_number(const char *name, int number, int known);

/* One function of mpi.h; `names` of its cases end with NULL, the first is the
 * good one. */
struct fuzzed {
    const char *name;
    long (*call)(int which);
    const char *const *names;
    int returns_handle; /* 1: call says whether it is null; -1: a number */
};
extern const struct fuzzed fuzzed[];
extern const int fuzzed_count;

#endif
