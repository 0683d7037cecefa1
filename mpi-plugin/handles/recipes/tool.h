/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tool.h - the program's objects of the tool information interface (MPI 3.1, section
 * 14.3). A restart makes them again by the names of the variables; the values of
 * performance variables start again.
 */
#ifndef CKPT_TOOL_H
#define CKPT_TOOL_H

#include <mpi.h>

enum ckpt_tool_kind {
    CKPT_TOOL_CVAR,
    CKPT_TOOL_CVAR_ENUM,
    CKPT_TOOL_SESSION,
    CKPT_TOOL_PVAR,
    CKPT_TOOL_PVAR_ENUM,
};

#define CKPT_TOOL_NAME 256 /* bytes of a variable's name that are kept */

/* An MPI_T handle of the application points to this structure. */
struct ckpt_tool {
    void *lower;            /* the library's handle */
    struct ckpt_tool *next; /* made after this one */
    enum ckpt_tool_kind kind;
    int class;                 /* of a performance variable */
    char name[CKPT_TOOL_NAME]; /* of the variable */
    void *bound;               /* the MPI object it is bound to; NULL: none */
    struct ckpt_tool *session; /* of a performance variable's handle */
    int running;               /* started, and not stopped since */
};

/* Count calls of MPI_T_init_thread and MPI_T_finalize. The last finalize forgets all
 * objects. Context: normal, between ckpt_begin and ckpt_end. */
void ckpt_tool_opened(void);
void ckpt_tool_closed(void);

/* Returns 1 between them. Context: any. */
int ckpt_tool_is_open(void);

/*
 * Records a handle of the library. Returns NULL if out of memory. For a variable,
 * `index` is its number, else 0. Context: as above.
 */
struct ckpt_tool *ckpt_tool_keep(enum ckpt_tool_kind kind, void *lower, int index);

/* Forgets an object, and with a session all its handles. Context: as above. */
void ckpt_tool_forget(struct ckpt_tool *tool);

/* Return 1 if the variable is bound to an MPI object. Context: as above. */
int ckpt_tool_cvar_bound(int index);
int ckpt_tool_pvar_bound(int index);

/* Returns the enumeration's handle for the application, the same in each call;
 * MPI_T_ENUM_NULL if out of memory. Context: as above. */
MPI_T_enum ckpt_tool_enum(enum ckpt_tool_kind kind, MPI_T_enum lower, int index);

/* Records that a handle, or all of a session (MPI_T_PVAR_ALL_HANDLES), was started
 * or stopped. Context: as above. */
void ckpt_tool_run(struct ckpt_tool *session, MPI_T_pvar_handle handle, int running);

/*
 * Makes everything again in a new lower half. Returns 0, or an MPI error code with
 * the variable's name in *name. Context: quiesced.
 */
int ckpt_tool_rebuild(const char **name);

#endif
